// Everything together: the scene, its runs, the clock, what is shown, and what a pointer does.
import * as THREE from "three";
import { Backdrop } from "./backdrop";
import { COLOR_WORDS, type ColorBy, Range } from "./colors";
import { byId, element, select, toggle } from "./dom";
import { DriftBars } from "./drift";
import { Figure, type Hit, type Options } from "./figure";
import { LivePanel } from "./livepanel";
import { Lines } from "./lines";
import type { Message } from "./messages";
import { describe } from "./picked";
import { position } from "./places";
import { Player } from "./player";
import { Plots } from "./plots";
import type { Body, RunInfo, SceneMessage, Vec3 } from "./scene";
import type { Source } from "./source";
import { Stage } from "./stage";
import { Timeline } from "./timeline";
import { type Frame, LivePlayback, Playback } from "./playback";

// Where a scene is seen from: azimuth and elevation in degrees.
const FRONT: [number, number] = [10, 9];
const SLANTED: [number, number] = [32, 20];

export class App {
  readonly player = new Player();
  readonly stage = new Stage(byId<HTMLCanvasElement>("canvas"));
  source!: Source;
  info!: SceneMessage;
  playbacks: Playback[] = [];
  live: LivePlayback | null = null;
  figures: Figure[] = [];
  picked: Hit | null = null;
  frames: (Frame | null)[] = [];
  private backdrop!: Backdrop;
  private timeline: Timeline;
  private plots: Plots;
  private lines!: Lines;
  private bars!: DriftBars;
  panel: LivePanel | null = null;
  private options: Options = {
    color: "method", range: new Range("method"), wire: false, forces: false, contacts: false, scale: 1, fixed: "#4a5566",
  };
  private arrowScale = 1;
  private aside = false;
  private trail = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: "#d1495b" }));
  private stale = true; // figures must be set anew
  private span: [number, number] = [0, 1];
  private drawn = 0; // frames drawn so far
  private version = -1;

  constructor() {
    this.timeline = new Timeline(this.player, () => Math.min(...this.playbacks.map((playback) => playback.interval), this.live ? 1 / 30 : Infinity));
    this.plots = new Plots(byId("plots"), {
      seek: (time) => { this.player.pause(); this.player.seek(time); },
      zoom: (from, to) => this.look([from, to]),
      reset: () => this.look(null),
    }, () => this.stage.theme);
    this.player.onChange(() => { this.stale = true; });
    new ResizeObserver(() => this.stage.resize()).observe(byId("stage"));
    this.stage.scene.add(this.trail);
    this.trail.frustumCulled = false;
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    this.point();
  }

  // Messages

  async receive(message: Message): Promise<void> {
    if (message.header.kind === "scene") await this.receiveScene(message);
    else if (message.header.kind === "live") this.receiveLive(message);
    this.source?.send({ ask: "next" });
  }

  private async receiveScene(message: Message): Promise<void> {
    const info = message.header as unknown as SceneMessage;
    if (info.again && this.playbacks.length === info.runs.length) return this.grow(info);
    const first = !this.info;
    if (first) this.aside = Boolean(info.side_by_side);
    const sameScene = !first && JSON.stringify(info.scene.bodies.map((b) => b.name)) === JSON.stringify(this.info.scene.bodies.map((b) => b.name));
    // Other parameters may have made it larger or smaller.
    const reshaped = JSON.stringify(info.live?.parameters) !== JSON.stringify(this.info?.live?.parameters);
    this.info = info;
    document.title = info.title;
    byId("title").textContent = info.title;
    for (const figure of this.figures) figure.dispose();
    this.backdrop?.group.removeFromParent();
    this.figures = info.runs.map((run) => new Figure(info.scene, run, message, info.size, info.runs.length === 1));
    for (const figure of this.figures) this.stage.scene.add(figure.group);
    this.backdrop = new Backdrop(info.scene, info.size, info.centre);
    this.stage.scene.add(this.backdrop.group);
    this.stage.resize();
    if (!sameScene || reshaped) this.frame();
    this.bars = new DriftBars(this.unit());
    this.showRuns();
    this.showTools();
    if (info.mode === "live") {
      if (!sameScene || !this.live) this.live = new LivePlayback();
      this.panel = new LivePanel(info.live!, this.source ?? { send: (w: Record<string, unknown>) => this.source.send(w) } as Source);
    }
    this.picked = null;
    this.version = info.version ?? 0;
    this.stale = true;
  }

  /** After the source is known: ask for frames and lines. */
  async begin(source: Source): Promise<void> {
    this.source = source;
    const { info } = this;
    source.send({ ask: "next" });
    if (info.mode !== "live") {
      this.playbacks = info.runs.map((run, i) => {
        const stride = info.strides?.[i];
        const fixed = stride ? { start: 0, stop: run.records, stride, block: info.block! } : undefined;
        return new Playback(run, i, source, fixed);
      });
      this.span = this.wholeSpan();
      this.player.limit(...this.span);
      this.timeline.setEvents(info.runs.flatMap((run) => run.events));
      void this.load();
    }
    this.lines = new Lines(this);
    await this.plots.show(this.lines.plots(), this.span);
    if (info.plays) this.player.play();
    requestAnimationFrame((now) => this.tick(now));
  }

  private wholeSpan(): [number, number] {
    return [Math.min(...this.info.runs.map((run) => run.start)), Math.max(...this.info.runs.map((run) => run.end))];
  }

  private grow(info: SceneMessage): void {
    const atEnd = this.player.time >= this.player.end - 1e-9;
    const whole = this.span[1] >= this.player.end - 1e-9;
    this.info = info;
    info.runs.forEach((run, i) => this.playbacks[i].grow(run));
    this.timeline.setEvents(info.runs.flatMap((run) => run.events));
    if (whole) {
      this.span = this.wholeSpan();
      this.player.limit(...this.span);
      if (atEnd && !this.player.playing) this.player.seek(this.player.end);
      void this.plots.look(this.span); // not awaited: its lines come by the way on which this message came
    }
    this.showRuns();
    void this.load();
  }

  private receiveLive(message: Message): void {
    const { playing, problem, factor, version } = message.header as unknown as { playing: boolean; problem: string; factor: number; version: number };
    if (version !== this.version || !this.live) return;
    const follow = this.live.isEmpty || this.player.time >= this.player.end - 1e-9;
    const restarted = message.tables.get("time")!.get(0, 0) < this.live.end;
    this.live.add(message);
    this.player.limit(this.live.start, Math.max(this.live.end, this.live.start + 1e-6));
    if (follow || restarted) this.player.seek(this.player.end);
    this.panel?.set(playing, problem, factor);
    this.span = [this.live.start, Math.max(this.live.end, this.live.start + 1)];
    this.stale = true;
  }

  /** Fetch blocks until all are here, those around the present first. */
  private loading = false;
  private again = false; // what is wanted has changed while blocks were on their way
  private async load(): Promise<void> {
    this.again = true;
    if (this.loading) return;
    this.loading = true;
    try {
      for (let more = true; more || this.again; ) {
        this.again = false;
        const came = await Promise.all(this.playbacks.map((playback) => playback.fetch(this.player.time, 1)));
        more = came.some(Boolean);
        this.stale = true;
      }
    } finally {
      this.loading = false;
      this.lines?.framesCame(this.plots);
    }
    // A block that could not be given, since its folder was just being written, is asked for again.
    if (this.info.mode === "saved" && this.playbacks.some((playback) => playback.loaded < playback.blockCount)) setTimeout(() => void this.load(), 1000);
  }

  /** Look closer at a stretch of time, or (null) at all of it. */
  look(span: [number, number] | null): void {
    this.span = span && span[1] - span[0] > 1e-9 ? span : this.live ? this.span : this.wholeSpan();
    if (!this.live) {
      this.player.limit(...this.span);
      const anew = this.playbacks.map((playback) => playback.window(...this.span)).some(Boolean);
      if (anew || span === null) void this.load();
    }
    this.timeline.drawMarks();
    void this.plots.look(this.span);
  }

  // Drawing

  private lastTick = 0;
  private lastPlot = 0;
  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    this.player.tick(Math.min((now - this.lastTick) / 1000, 0.25));
    this.lastTick = now;
    if (this.stale) this.update();
    if (this.stage.dirty) {
      this.stage.render(this.aside ? this.figures.filter((f) => f.visible).map((f) => [f.group]) : null);
      this.drawn++;
    }
    if (this.live && now - this.lastPlot > 250 && this.lines) {
      this.lastPlot = now;
      void this.plots.look(this.span);
    }
  }

  frameOf(run: number): Frame | null {
    return this.live ? this.live.frame(this.player.time) : this.playbacks[run]?.frame(this.player.time) ?? null;
  }

  /** Set everything to the frames of the present. */
  update(): void {
    this.stale = false;
    this.options.fixed = this.stage.theme.fixed;
    const found = this.figures.map((_, i) => this.frameOf(i));
    const missing = found.some((frame) => !frame);
    // A frame that has not come yet leaves the last one on screen.
    this.frames = found.map((frame, i) => frame ?? this.frames[i] ?? null);
    this.options.scale = this.arrowLength();
    const ends = this.options.range.ends().join();
    this.figures.forEach((figure, i) => {
      const frame = this.frames[i];
      if (frame) figure.update(frame, this.options);
    });
    if (this.options.range.ends().join() !== ends) this.stale = true; // what was painted first had another scale
    if (this.frames[0]) this.backdrop.update(this.frames[0]);
    this.note(missing ? "loading …" : this.ending());
    this.showDrift();
    this.showLegend();
    this.showPicked();
    this.plots.setTime(this.player.time);
    this.stage.dirty = true;
  }

  private largestForce = 0;
  private arrowLength(): number {
    this.figures.forEach((figure, i) => {
      const frame = this.frames[i];
      if (frame && this.options.forces) this.largestForce = Math.max(this.largestForce, figure.largest(frame));
    });
    return this.largestForce > 0 ? (0.3 * this.info.size * this.arrowScale) / this.largestForce : 0;
  }

  /** What to say about runs that did not come to their end. */
  private ending(): string {
    return this.info.runs
      .filter((run) => this.info.mode !== "live" && run.status !== "finished" && this.player.time >= run.end - 1e-9)
      .map((run) => `${run.name}: ${run.status}. ${run.message}`).join("\n");
  }

  note(text: string): void {
    const place = byId("note");
    place.hidden = !text;
    place.textContent = text;
  }

  private bounds(): [Vec3, Vec3] {
    const low: Vec3 = [Infinity, Infinity, Infinity];
    const high: Vec3 = [-Infinity, -Infinity, -Infinity];
    for (const run of this.info.runs)
      for (let c = 0; c < 3; c++) {
        low[c] = Math.min(low[c], run.bounds[0][c]);
        high[c] = Math.max(high[c], run.bounds[1][c]);
      }
    if (this.info.mode === "live") {
      // It will move: there is room for a swing about what is fixed.
      const room = 0.35 * this.info.size;
      for (const c of [0, 1]) { low[c] -= room; high[c] += room / 2; }
    }
    return [low, high];
  }

  unit(): string {
    const units = new Set(this.info.scene.rows.map((row) => row.unit));
    return units.size === 1 ? [...units][0].replace(/^1$/, "") : "";
  }

  private showDrift(): void {
    const drifts = this.info.runs.map((run: RunInfo, i) => ({
      name: run.name, color: run.color, visible: this.figures[i].visible, value: this.driftOf(i),
    }));
    this.bars.update(this.info.scene.rows.length ? drifts : []);
  }

  driftOf(run: number): number {
    const frame = this.frames[run];
    const phi = frame?.tables.get("phi");
    if (!frame || !phi) return NaN;
    let total = 0;
    for (let c = 0; c < phi.columns; c++) {
      const log = phi.get(frame.row, c);
      if (log > -19.9) total += 10 ** log;
    }
    return total;
  }

  private showLegend(): void {
    const place = byId("legend");
    place.hidden = this.options.color === "method";
    if (place.hidden) return;
    const { range } = this.options;
    place.replaceChildren(element("b", {}, COLOR_WORDS[this.options.color]), element("span", {}, range.label(0)),
      element("i", { style: `background:${range.gradient()}` }), element("span", {}, range.label(1)));
  }

  // Choices

  private showRuns(): void {
    const place = byId("runs");
    const chips = this.info.runs.map((run, i) => {
      const chip = toggle(run.name, this.figures[i]?.visible ?? true, (on) => {
        this.figures[i].visible = on;
        this.stale = true;
        void this.plots.look(this.span);
      }, `${run.method}, dt ${run.dt} s, ${run.status}`);
      chip.classList.add("run");
      chip.dataset.run = run.name;
      chip.style.setProperty("--run", run.color);
      return chip;
    });
    place.replaceChildren(...chips);
  }

  private showTools(): void {
    const { scene, runs, mode } = this.info;
    const by: ColorBy[] = ["method", "speed"];
    if (scene.rows.length) by.push("phi", "lam");
    if (scene.deformables.length || scene.links.length) by.push("elongation");
    const set = (change: () => void) => { change(); this.stale = true; };
    const touching = runs.some((run) => run.lines.includes("contacts"));
    byId("tools").replaceChildren(...[
      select("colour", by.map((name) => [name, COLOR_WORDS[name]]), this.options.color, (value) => set(() => {
        this.options.color = value as ColorBy;
        this.options.range = new Range(value as ColorBy);
      })),
      toggle("forces", this.options.forces, (on) => this.setForces(on), this.forceTitle()),
      this.scaleInput(),
      touching ? toggle("contacts", this.options.contacts, (on) => set(() => (this.options.contacts = on))) : null,
      scene.deformables.length ? toggle("wire", this.options.wire, (on) => set(() => (this.options.wire = on))) : null,
      runs.length > 1 ? toggle("side by side", this.aside, (on) => set(() => { this.aside = on; this.frame(); })) : null,
      toggle("plots", true, (on) => byId("app").classList.toggle("bare", !on)),
      toggle("dark", this.stage.theme.background === "#12161d", (on) => { this.setTheme(on ? "dark" : "light"); void this.plots.look(this.span); }),
      this.frameButton(),
      mode === "file" ? null : element("span", { class: "hint" }, ""),
    ].filter((tool) => tool !== null));
  }

  private forceTitle(): string {
    const unshown = this.info.runs[0].unshown;
    return unshown ? `forces of contacts; those of ${unshown} constraints are too many to draw` : "forces of constraints (red) and contacts (yellow)";
  }

  private scaleInput(): HTMLElement {
    const input = element("input", { type: "range", min: "-1", max: "1", step: "0.05", value: String(Math.log10(this.arrowScale)), "aria-label": "length of arrows", title: "length of arrows", id: "arrow-scale" });
    input.addEventListener("input", () => { this.arrowScale = 10 ** Number(input.value); this.stale = true; });
    return input;
  }

  private frameButton(): HTMLElement {
    const button = element("button", { type: "button", title: "show everything" }, "frame");
    button.addEventListener("click", () => this.frame());
    return button;
  }

  /** Show everything, in as many tiles as there are. */
  private frame(): void {
    const tiles = this.aside ? this.figures.filter((figure) => figure.visible).length : 1;
    this.stage.frame(...this.bounds(), this.backdrop.level, tiles, this.info.seen_from ?? (this.info.runs.every((run) => run.flat) ? FRONT : SLANTED));
  }

  private setForces(on: boolean): void {
    this.options.forces = on;
    this.stale = true;
    if (this.live) return this.source.send({ do: "forces", on });
    if (!on || this.info.mode === "file") return;
    for (const playback of this.playbacks) {
      if (playback.forces) continue;
      playback.forces = true;
      playback.clear();
    }
    void this.load();
  }

  setTheme(name: "light" | "dark"): void {
    document.documentElement.dataset.theme = name;
    this.stage.setTheme(name);
    this.stale = Boolean(this.info);
  }

  // The pointer

  private point(): void {
    const canvas = this.stage.canvas;
    let down: { x: number; y: number } | null = null;
    let pulled: { body: Body; plane: THREE.Plane } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      down = { x: event.clientX, y: event.clientY };
      const met = this.live ? this.meet(event) : null;
      if (met?.hit.kind === "body" && met.hit.body.motion === "free") {
        this.stage.controls.enabled = false;
        const facing = this.stage.camera.getWorldDirection(new THREE.Vector3());
        pulled = { body: met.hit.body, plane: new THREE.Plane().setFromNormalAndCoplanarPoint(facing, met.point) };
        canvas.setPointerCapture(event.pointerId);
      }
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      if (!pulled) return;
      const to = this.ray(event).ray.intersectPlane(pulled.plane, new THREE.Vector3());
      if (to) this.source.send({ do: "pull", body: this.info.scene.bodies.indexOf(pulled.body), to: to.toArray() });
    });
    const release = (event: PointerEvent) => {
      if (pulled) this.source.send({ do: "release" });
      const moved = !down || Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4;
      if (event.type === "pointerup" && !moved) {
        this.picked = this.meet(event)?.hit ?? null;
        this.lines?.pick(this.picked, this.plots);
        this.stale = true;
      }
      pulled = down = null;
      this.stage.controls.enabled = true;
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
  }

  private ray(event: MouseEvent): THREE.Raycaster {
    const box = this.stage.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.stage.camera);
    return ray;
  }

  private meet(event: MouseEvent): { hit: Hit; point: THREE.Vector3; distance: number } | null {
    const ray = this.ray(event);
    const met = this.figures.map((figure) => figure.hit(ray)).filter((hit) => hit !== null);
    return met.sort((a, b) => a.distance - b.distance)[0] ?? null;
  }

  private showPicked(): void {
    const place = byId("picked");
    const run = this.figures.findIndex((figure) => figure.visible);
    const frame = this.frames[run];
    place.hidden = !this.picked || !frame;
    this.trail.visible = false;
    if (!this.picked || !frame) return;
    const rows = describe(this.picked, frame, this.info.scene, this.info.runs[run]).map(([name, text]) =>
      element("div", {}, element("span", {}, name), element("b", {}, text)));
    const name = this.picked.kind === "body" ? this.picked.body.name : this.picked.kind === "link" ? this.picked.link.name : this.picked.joint.name;
    place.replaceChildren(element("h2", {}, name), ...rows);
    if (this.picked.kind === "body") this.showTrail(this.picked.body, run);
  }

  private showTrail(body: Body, run: number): void {
    const frames = this.live ? this.live.frames() : this.playbacks[run].frames();
    const points: THREE.Vector3[] = [];
    for (const frame of frames) {
      if (frame.time > this.player.time) break;
      const at = position(frame, body.slot, new THREE.Vector3());
      if (!Number.isNaN(at.x)) points.push(at);
    }
    this.trail.geometry.dispose();
    this.trail.geometry = new THREE.BufferGeometry().setFromPoints(points);
    this.trail.visible = points.length > 1;
  }

  // For tests and for the curious: taut.* in the console of the browser

  get state(): Record<string, unknown> {
    return {
      time: this.player.time, playing: this.player.playing, drawn: this.drawn, span: this.span,
      blocks: this.playbacks.map((playback) => [playback.loaded, playback.blockCount]), stride: this.playbacks.map((playback) => playback.stride),
      ready: this.drawn > 0 && this.frames.length > 0 && this.frames.every(Boolean),
    };
  }

  /** Where a body is: in the world [m], and on the page [px]. */
  where(name: string, run = 0): { world: number[]; page: number[] } | null {
    const body = this.info.scene.bodies.find((b) => b.name === name);
    const frame = this.frames[run];
    if (!body || !frame) return null;
    return this.whereIs(position(frame, body.slot, new THREE.Vector3()).toArray());
  }

  /** Where a place of the world is on the page. */
  whereIs(world: Vec3): { world: number[]; page: number[] } {
    const at = new THREE.Vector3(...world).project(this.stage.camera);
    const box = this.stage.canvas.getBoundingClientRect();
    return { world, page: [box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height] };
  }
}
