// What taut/view/drawing.py, playback.py and live.py tell: the types of a "scene" message.

/** [slot, quat, x, y, z]: a place on a body by its slot and orientation, with an offset [m]; slot -1: in the world. */
export type Place = [number, number, number, number, number];
export type Vec3 = [number, number, number];

export interface Body {
  name: string;
  kind: "particle" | "rigid" | "coordinate";
  motion: "free" | "fixed" | "driven";
  slot: number;
  quat: number;
  mass: number;
  radius: number;
  node: boolean;
  shape?: [string, ...number[]];
  drawn?: Drawn;
  visual?: boolean; // seen as its visuals alone
  principal?: boolean;
  turn?: [number, number, number, number] | null;
}

export interface Link { name: string; style: "rod" | "rope" | "strut" | "spring"; rows: number[]; a: Place; b: Place }
export interface Joint { name: string; kind: string; at: Place; rows: number[]; axes: [how: "turn" | "slide", along: Place][] }
/** How a shape is drawn: as a solid of shapes.ts, or by triangles; "": not at all. */
export interface Drawn { as: string; inside?: boolean; vertices?: number[]; triangles?: number[] }
export interface Obstacle { name: string; kind: string; drawn: Drawn; [argument: string]: unknown }
/** One mesh of a body in principal axes, or in the world (null); triangles stand in arrays, `visual 0 vertices`. */
export interface Visual { body: string | null; slot: number; quat: number; color: string | null; box: [Vec3, Vec3] }
export interface Guide { name: string; form: string; points?: Vec3[]; center?: Vec3; radius?: number }
export interface DeformableInfo { name: string; kind: "cloth" | "solid"; thickness: number }
export interface Row { name: string; unit: string; sense: string }

export interface SceneInfo {
  name: string;
  gravity: Vec3;
  rows: Row[];
  bodies: Body[];
  links: Link[];
  joints: Joint[];
  obstacles: Obstacle[];
  guides: Guide[];
  deformables: DeformableInfo[];
  visuals: Visual[];
}

export type Event = [time: number, kind: string, name: string];

export interface RunInfo {
  name: string;
  method: string;
  dt: number | null;
  status: string;
  message: string;
  color: string;
  dash: number[];
  records: number;
  start: number;
  end: number;
  events: Event[];
  forces: string[];
  coordinates: [name: string, unit: string][];
  lines: string[];
  bounds: [Vec3, Vec3];
  flat: boolean;
  unshown: number;
}

export interface LiveControls {
  methods: string[];
  method: string;
  dt: number;
  gravity: Vec3;
  parameters: { name: string; value: number | string | boolean }[];
  playing: boolean;
}

export interface SceneMessage {
  title: string;
  mode: "saved" | "file" | "live";
  scene: SceneInfo;
  centre: Vec3;
  size: number;
  runs: RunInfo[];
  strides?: number[];
  block?: number;
  again?: boolean;
  side_by_side?: boolean;
  plays?: boolean;
  seen_from?: [azimuth: number, elevation: number] | null;
  version?: number;
  live?: LiveControls;
}
