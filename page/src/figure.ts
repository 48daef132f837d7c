// What one run looks like: bodies, links, joints, deformables, contacts and forces, set anew for each frame.
import * as THREE from "three";
import { type ColorBy, mix, parse, type Range, type Rgb } from "./colors";
import { Arrows } from "./arrows";
import { directed, orientation, placed, position, value } from "./places";
import type { Body, Joint, Link, Place, RunInfo, SceneInfo } from "./scene";
import { Deformable } from "./deformable";
import { mesh as triangles, solid } from "./shapes";
import type { Frame } from "./playback";
import { numbers, type Message } from "./messages";

export interface Options {
  color: ColorBy;
  range: Range;
  wire: boolean;
  forces: boolean;
  contacts: boolean;
  scale: number; // of arrows
  fixed: string; // colour of what does not move
}

/** What a pointer can hit. */
export type Hit = { kind: "body"; body: Body } | { kind: "link"; link: Link } | { kind: "joint"; joint: Joint };

const ACCENTS: Rgb[] = ["#e07a3f", "#3d7ea6", "#5b9a68", "#b5548a", "#c9a227", "#6a5acd"].map(parse);
const a = new THREE.Vector3();
const b = new THREE.Vector3();
const way = new THREE.Vector3();
const up = new THREE.Vector3(0, 1, 0);
const turn = new THREE.Quaternion();
const scale = new THREE.Vector3();
const matrix = new THREE.Matrix4();
const color = new THREE.Color();
const HIDDEN = new THREE.Matrix4().makeScale(0, 0, 0);

export class Figure {
  readonly group = new THREE.Group();
  private balls: Body[];
  private ballMesh: THREE.InstancedMesh;
  private rods: Link[];
  private rodMesh: THREE.InstancedMesh;
  private rest: number[] = [];
  private joints: Joint[];
  private jointMesh: THREE.InstancedMesh;
  private axes: { joint: Joint; how: "turn" | "slide"; along: Place }[];
  private axisMesh: THREE.InstancedMesh;
  private rigid: { body: Body; mesh: THREE.Mesh; own: THREE.Quaternion; paint?: Rgb }[] = [];
  private moving: Body[]; // rigid bodies, coloured by turns
  private still: { mesh: THREE.Mesh; color: string | null }[] = []; // visuals in the world
  private deformables: Deformable[];
  private pushes: Arrows;
  private pulls: Arrows;
  private touches: Arrows;
  private base: Rgb;

  constructor(readonly scene: SceneInfo, readonly run: RunInfo, message: Message, readonly size: number, private alone: boolean) {
    this.base = parse(run.color);
    const standard = () => new THREE.MeshStandardMaterial({ roughness: 0.45, metalness: 0.05 });
    this.balls = scene.bodies.filter((body) => body.kind === "particle" && !body.node);
    this.ballMesh = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 28, 18), standard(), Math.max(this.balls.length, 1));
    this.rods = scene.links;
    this.rodMesh = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, 14), standard(), Math.max(this.rods.length, 1));
    this.joints = scene.joints;
    this.jointMesh = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 16, 12), standard(), Math.max(this.joints.length, 1));
    this.axes = scene.joints.flatMap((joint) => joint.axes.map(([how, along]) => ({ joint, how, along })));
    this.axisMesh = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, 14), standard(), Math.max(this.axes.length, 1));
    for (const mesh of [this.ballMesh, this.rodMesh, this.jointMesh, this.axisMesh]) {
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      this.group.add(mesh);
    }
    this.moving = scene.bodies.filter((body) => body.kind === "rigid");
    for (const body of this.moving.filter((body) => !body.visual)) {
      const mesh = new THREE.Mesh(body.shape && body.drawn ? solid(body.drawn, body.shape.slice(1) as number[]) : solid({ as: "sphere" }, [0.02 * size]), standard());
      mesh.castShadow = mesh.receiveShadow = true;
      const own = new THREE.Quaternion();
      if (body.turn && !body.principal) own.set(body.turn[1], body.turn[2], body.turn[3], body.turn[0]);
      this.rigid.push({ body, mesh, own });
      this.group.add(mesh);
    }
    (scene.visuals ?? []).forEach(({ body: name, color }, i) => {
      const [vertices, faces] = ["vertices", "triangles"].map((what) => numbers(message.tables.get(`visual ${i} ${what}`)));
      const mesh = new THREE.Mesh(triangles({ as: "mesh", vertices, triangles: faces }), standard());
      mesh.material.side = THREE.DoubleSide; // files turn triangles as they like
      mesh.castShadow = mesh.receiveShadow = true;
      const body = scene.bodies.find((body) => body.name === name);
      if (body) this.rigid.push({ body, mesh, own: new THREE.Quaternion(), paint: color ? parse(color) : undefined });
      else this.still.push({ mesh, color });
      this.group.add(mesh);
    });
    this.deformables = scene.deformables.map((info, i) => new Deformable(info, i, message, alone ? i : -1, this.base));
    for (const deformable of this.deformables) this.group.add(deformable.group);
    this.pulls = new Arrows(Math.max(run.forces.length, 1), "#d1495b", size);
    this.pushes = new Arrows(Math.max(scene.bodies.length, 1), "#edae49", size);
    this.touches = new Arrows(2000, "#00a676", size, false);
    this.group.add(this.pulls.group, this.pushes.group, this.touches.group);
  }

  set visible(on: boolean) {
    this.group.visible = on;
  }

  get visible(): boolean {
    return this.group.visible;
  }

  private tint(index: number, body: Body, options: Options): Rgb {
    if (body.motion !== "free") return parse(options.fixed);
    if (!this.alone) return this.base;
    if (body.radius > 0 || body.kind === "rigid")
      return mix(ACCENTS[index % ACCENTS.length], this.base, this.balls.length > 6 ? 0.15 : 0);
    return mix(this.base, [0, 0, 0], 0.15);
  }

  private colored(body: Body, index: number, frame: Frame, options: Options): Rgb {
    if (options.color !== "speed" || body.motion === "fixed") return this.tint(index, body, options);
    const speed = value(frame, "speed", body.slot);
    options.range.see(speed);
    return options.range.color(speed);
  }

  /** Ball of a point mass: its own radius, or a dot that can be seen. */
  radius(body: Body): number {
    return body.radius > 0 ? body.radius : (body.motion === "free" ? 0.014 : 0.011) * this.size;
  }

  update(frame: Frame, options: Options): void {
    this.balls.forEach((body, i) => {
      position(frame, body.slot, a);
      if (Number.isNaN(a.x)) return this.ballMesh.setMatrixAt(i, HIDDEN);
      this.ballMesh.setMatrixAt(i, matrix.compose(a, turn.identity(), scale.setScalar(this.radius(body))));
      this.ballMesh.setColorAt(i, color.setRGB(...this.colored(body, i, frame, options), THREE.SRGBColorSpace));
    });
    this.ballMesh.count = this.balls.length;
    this.rods.forEach((link, i) => this.setRod(link, i, frame, options));
    this.rodMesh.count = this.rods.length;
    this.joints.forEach((joint, i) => {
      placed(frame, joint.at, a);
      this.jointMesh.setMatrixAt(i, matrix.compose(a, turn.identity(), scale.setScalar(0.013 * this.size)));
      const row = joint.rows[0];
      this.jointMesh.setColorAt(i, color.setRGB(...this.ofRow(row, frame, options, parse(options.fixed)), THREE.SRGBColorSpace));
    });
    this.jointMesh.count = this.joints.length;
    this.setAxes(frame, options);
    for (const mesh of [this.ballMesh, this.rodMesh, this.jointMesh, this.axisMesh]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
      mesh.boundingSphere = null; // places changed: a pointer must not trust the old one
    }
    for (const { mesh, color } of this.still)
      (mesh.material as THREE.MeshStandardMaterial).color.setRGB(...parse(color ?? options.fixed), THREE.SRGBColorSpace);
    this.rigid.forEach(({ body, mesh, own, paint }) => {
      position(frame, body.slot, mesh.position);
      mesh.visible = !Number.isNaN(mesh.position.x);
      orientation(frame, body.quat, mesh.quaternion).multiply(own);
      const i = this.moving.indexOf(body);
      const tone = paint && this.alone && options.color !== "speed" ? paint : this.colored(body, i, frame, options);
      (mesh.material as THREE.MeshStandardMaterial).color.setRGB(...tone, THREE.SRGBColorSpace);
    });
    for (const deformable of this.deformables) deformable.update(frame, options);
    this.setForces(frame, options);
  }

  private ofRow(row: number | undefined, frame: Frame, options: Options, otherwise: Rgb): Rgb {
    if (row === undefined || (options.color !== "phi" && options.color !== "lam")) return otherwise;
    const number = value(frame, options.color, row);
    options.range.see(number);
    return options.range.color(number);
  }

  private setRod(link: Link, i: number, frame: Frame, options: Options): void {
    placed(frame, link.a, a);
    placed(frame, link.b, b);
    const length = way.subVectors(b, a).length();
    if (!(length > 0)) return this.rodMesh.setMatrixAt(i, HIDDEN);
    this.rest[i] ??= length;
    const width = { rod: 0.0062, strut: 0.004, spring: 0.0035, rope: 0.0026 }[link.style] * this.size;
    turn.setFromUnitVectors(up, way.divideScalar(length));
    this.rodMesh.setMatrixAt(i, matrix.compose(a.add(b).multiplyScalar(0.5), turn, scale.set(width, length, width)));
    let tone = link.style === "spring" ? mix(this.base, [0.5, 0.5, 0.5], 0.6) : this.base;
    if (options.color === "elongation") {
      const share = length / this.rest[i] - 1;
      options.range.see(share);
      tone = options.range.color(share);
    } else tone = this.ofRow(link.rows[0], frame, options, tone);
    this.rodMesh.setColorAt(i, color.setRGB(...tone, THREE.SRGBColorSpace));
  }

  /** Pins that bodies turn about, and thinner rails that they slide along. */
  private setAxes(frame: Frame, options: Options): void {
    this.axes.forEach(({ joint, how, along }, i) => {
      placed(frame, joint.at, a);
      directed(frame, along, way);
      if (Number.isNaN(a.x)) return this.axisMesh.setMatrixAt(i, HIDDEN);
      turn.setFromUnitVectors(up, way);
      const [width, length] = how === "turn" ? [0.0065, 0.135] : [0.003, 0.3];
      this.axisMesh.setMatrixAt(i, matrix.compose(a, turn, scale.set(width, length, width).multiplyScalar(this.size)));
      this.axisMesh.setColorAt(i, color.setRGB(...this.ofRow(joint.rows[0], frame, options, mix(this.base, parse(options.fixed), 0.5)), THREE.SRGBColorSpace));
    });
    this.axisMesh.count = this.axes.length;
  }

  private setForces(frame: Frame, options: Options): void {
    const force = frame.tables.get("force");
    this.pulls.begin(options.forces && Boolean(force));
    if (options.forces && force)
      for (let i = 0; i < force.columns / 6; i++) {
        const get = (c: number) => force.get(frame.row, 6 * i + c);
        this.pulls.add(a.set(get(3), get(4), get(5)), b.set(get(0), get(1), get(2)), options.scale);
      }
    this.pulls.end();
    const push = frame.tables.get("push");
    this.pushes.begin(options.forces && Boolean(push));
    if (options.forces && push)
      for (const body of this.scene.bodies) {
        if (body.kind === "coordinate" || 3 * body.slot >= push.columns) continue;
        const get = (c: number) => push.get(frame.row, 3 * body.slot + c);
        this.pushes.add(position(frame, body.slot, a), b.set(get(0), get(1), get(2)), options.scale);
      }
    this.pushes.end();
    const touch = frame.tables.get("touch");
    const ends = frame.tables.get("touch_at");
    this.touches.begin(options.contacts && Boolean(touch));
    if (options.contacts && touch && ends)
      for (let i = ends.get(frame.row, 0); i < ends.get(frame.row + 1, 0); i++) {
        const get = (c: number) => touch.get(i, c);
        this.touches.mark(a.set(get(0), get(1), get(2)), b.set(get(3), get(4), get(5)), 0.05 * this.size);
      }
    this.touches.end();
  }

  /** The largest force of a frame [N], to which arrows are scaled. */
  largest(frame: Frame): number {
    let most = 0;
    for (const [name, width, used] of [["force", 6, 3], ["push", 3, 3]] as const) {
      const table = frame.tables.get(name);
      for (let i = 0; table && i < table.columns; i += width) {
        let square = 0;
        for (let c = 0; c < used; c++) square += table.get(frame.row, i + c) ** 2;
        if (Number.isFinite(square)) most = Math.max(most, Math.sqrt(square));
      }
    }
    return most;
  }

  hit(ray: THREE.Raycaster): { hit: Hit; point: THREE.Vector3; distance: number } | null {
    if (!this.visible) return null;
    const meshes = [this.ballMesh, this.jointMesh, this.axisMesh, this.rodMesh, ...this.rigid.map((r) => r.mesh)];
    const found = ray.intersectObjects([...meshes, ...this.deformables.flatMap((s) => s.meshes)], false)[0];
    if (!found) return null;
    const at = found.instanceId ?? 0;
    const given = { point: found.point, distance: found.distance };
    if (found.object === this.ballMesh) return { hit: { kind: "body", body: this.balls[at] }, ...given };
    if (found.object === this.rodMesh) return { hit: { kind: "link", link: this.rods[at] }, ...given };
    if (found.object === this.jointMesh) return { hit: { kind: "joint", joint: this.joints[at] }, ...given };
    if (found.object === this.axisMesh) return { hit: { kind: "joint", joint: this.axes[at].joint }, ...given };
    const rigid = this.rigid.find((r) => r.mesh === found.object);
    if (rigid) return { hit: { kind: "body", body: rigid.body }, ...given };
    const deformable = this.deformables.find((s) => s.meshes.includes(found.object as THREE.Mesh))!;
    const slot = deformable.nearest(found);
    const body = this.scene.bodies.find((body) => body.slot === slot);
    return body ? { hit: { kind: "body", body }, ...given } : null;
  }

  dispose(): void {
    this.group.traverse((object) => {
      const mesh = object as THREE.Mesh;
      mesh.geometry?.dispose();
      for (const material of [mesh.material ?? []].flat()) material.dispose();
    });
    this.group.removeFromParent();
  }
}
