// Which plots there are, and where their lines come from: the source, or the frames that are here.
import type { App } from "./app";
import type { Hit } from "./figure";
import { numbers } from "./messages";
import { value } from "./places";
import type { Line, Plot, Plots } from "./plots";

const POINTS = 1500;
const MOST_NAMES = 300;
const COMPONENTS: [string, string][] = [["0", "x"], ["1", "y"], ["2", "z"], ["speed", "speed"]];

export class Lines {
  private body: string;
  private row: string;
  private made: Plot[] = [];

  constructor(private app: App) {
    const { bodies, rows } = app.info.scene;
    const moving = bodies.filter((body) => body.motion === "free" && body.kind !== "coordinate" && !body.node);
    this.body = (moving[moving.length - 1] ?? bodies[bodies.length - 1])?.name ?? "";
    this.row = rows[0]?.name ?? "";
  }

  plots(): Plot[] {
    const { scene, runs } = this.app.info;
    const unit = this.app.unit();
    const has = (name: string) => runs.some((run) => run.lines.includes(name));
    const found: Plot[] = [];
    if (has("drift")) found.push(this.named("drift", "drift Σ|Φ|", unit, true, "drift"));
    if (has("rate")) found.push(this.named("rate", "Σ|Φ̇|", unit ? `${unit}/s` : "", true, "rate"));
    if (has("elongation")) found.push(this.named("elongation", "largest elongation", "", false, "elongation"));
    const energy: Plot = {
      id: "energy", title: "energy", unit: "J", log: false,
      choice: { label: "which", options: ["total", "kinetic", "potential", "drift of energy"].map((n) => [n, n]), chosen: "total" },
      lines: (from, to) => this.series(energy.choice!.chosen, from, to),
    };
    found.push(energy);
    if (scene.rows.length) {
      const names = scene.rows.slice(0, MOST_NAMES).map((row) => [row.name, row.name] as [string, string]);
      const force: Plot = {
        id: "lambda", title: "λ", unit: "", log: false, choice: { label: "constraint", options: names, chosen: this.row },
        lines: (from, to) => this.multiplier(force.choice!.chosen, from, to),
      };
      found.push(force);
    }
    if (runs[0].coordinates.length) found.push(this.coordinates());
    if (this.body) found.push(this.trajectory());
    if (has("contacts")) found.push(this.named("contacts", "contacts that push", "", false, "contacts"));
    this.made = found;
    return found;
  }

  private named(id: string, title: string, unit: string, log: boolean, line: string): Plot {
    return { id, title, unit, log, lines: (from, to) => this.series(line, from, to) };
  }

  private shown(): number[] {
    return this.app.figures.flatMap((figure, i) => (figure.visible ? [i] : []));
  }

  private async series(name: string, from: number, to: number): Promise<Line[]> {
    const { app } = this;
    return Promise.all(this.shown().map(async (i) => {
      const { name: label, color, dash } = app.info.runs[i];
      if (app.live) return { name: label, color, dash, ...app.live.line(name) };
      const message = await app.source.series({ run: i, name, from, to, points: POINTS });
      const values = numbers(message?.tables.get("value")).map((v) => (Number.isFinite(v) ? v : null));
      return { name: label, color, dash, time: numbers(message?.tables.get("time")), value: values };
    }));
  }

  private async multiplier(row: string, from: number, to: number): Promise<Line[]> {
    if (this.app.info.mode === "saved") return this.series(`λ ${row}`, from, to);
    const column = this.app.info.scene.rows.findIndex((r) => r.name === row);
    return this.fromFrames("lam", column);
  }

  /** Angles and displacements of joints; one at a time, in its unit. */
  private coordinates(): Plot {
    const { coordinates } = this.app.info.runs[0];
    const plot: Plot = {
      id: "joint", title: "joint", unit: coordinates[0][1], log: false,
      choice: { label: "coordinate", options: coordinates.map(([name]) => [name, name]), chosen: coordinates[0][0] },
      lines: async (from, to) => {
        const column = coordinates.findIndex(([name]) => name === plot.choice!.chosen);
        plot.unit = coordinates[column][1];
        return this.app.info.mode === "saved" ? this.series(`joint ${plot.choice!.chosen}`, from, to) : this.fromFrames("joint", column);
      },
    };
    return plot;
  }

  private trajectory(): Plot {
    const plot: Plot = {
      id: "trajectory", title: this.body, unit: "m", log: false, choice: { label: "component", options: COMPONENTS, chosen: "1" },
      lines: async () => {
        const body = this.app.info.scene.bodies.find((b) => b.name === this.body)!;
        const chosen = plot.choice!.chosen;
        return chosen === "speed" ? this.fromFrames("speed", body.slot) : this.fromFrames("x", 3 * body.slot + Number(chosen));
      },
    };
    return plot;
  }

  private fromFrames(table: string, column: number): Line[] {
    const { app } = this;
    return this.shown().map((i) => {
      const { name, color, dash } = app.info.runs[i];
      const line: Line = { name, color, dash, time: [], value: [] };
      for (const frame of app.live ? app.live.frames() : app.playbacks[i].frames()) {
        const number = value(frame, table, column);
        line.time.push(frame.time);
        line.value.push(Number.isFinite(number) ? number : null);
      }
      return line;
    });
  }

  /** Something was clicked on: its lines are shown. */
  pick(hit: Hit | null, plots: Plots): void {
    if (!hit) return;
    if (hit.kind === "body" && hit.body.kind !== "coordinate") {
      this.body = hit.body.name;
      const title = document.querySelector("#plot-trajectory h2");
      if (title) title.textContent = this.body;
      void plots.refresh("trajectory");
      return;
    }
    const rows = hit.kind === "link" ? hit.link.rows : hit.kind === "joint" ? hit.joint.rows : [];
    if (rows.length) this.choose("lambda", this.app.info.scene.rows[rows[0]].name, plots);
    const own = hit.kind === "joint" && this.app.info.runs[0].coordinates.find(([name]) => name.startsWith(`${hit.joint.name}.`));
    if (own) this.choose("joint", own[0], plots);
  }

  private choose(id: string, name: string, plots: Plots): void {
    const plot = this.made.find((p) => p.id === id);
    if (!plot) return;
    plot.choice!.chosen = name;
    const list = document.querySelector<HTMLSelectElement>(`#plot-${id} select`);
    if (list) list.value = name;
    void plots.refresh(id);
  }

  /** Lines that are read from frames are complete only now. */
  framesCame(plots: Plots): void {
    void plots.refresh("trajectory");
    if (this.app.info.mode !== "saved") for (const id of ["lambda", "joint"]) void plots.refresh(id);
  }
}
