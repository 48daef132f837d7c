// Lines over time that follow the scene's clock: a click moves it, dragging looks closer.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { element, select, spoken } from "./dom";

export interface Line { name: string; color: string; dash: number[]; time: number[]; value: (number | null)[] }
export interface Choice { label: string; options: [string, string][]; chosen: string }

export interface Plot {
  id: string;
  title: string;
  unit: string;
  log: boolean;
  choice?: Choice;
  lines: (from: number, to: number) => Promise<Line[]>;
}

export interface Clock {
  seek(time: number): void;
  zoom(from: number, to: number): void;
  reset(): void;
}

const HEIGHT = 118;

export class Plots {
  private drawn: { plot: Plot; chart: uPlot; cursor: HTMLElement; box: HTMLElement }[] = [];
  private time = 0;
  private span: [number, number] = [0, 1];

  constructor(private place: HTMLElement, private clock: Clock, private ink: () => { ink: string; soft: string; grid: string }) {
    new ResizeObserver(() => this.resize()).observe(place);
  }

  async show(plots: Plot[], span: [number, number]): Promise<void> {
    this.span = span;
    const fresh: HTMLElement[] = [];
    for (const { chart } of this.drawn) chart.destroy();
    this.drawn = [];
    for (const plot of plots) {
      const box = element("section", { class: "plot", id: `plot-${plot.id}`, "data-plot": plot.id });
      const head = element("header", {}, element("h2", {}, plot.title), element("span", { class: "unit" }, plot.unit));
      if (plot.choice) {
        const { label, options, chosen } = plot.choice;
        head.append(select(label, options, chosen, (value) => {
          plot.choice!.chosen = value;
          void this.draw(plot);
        }));
      }
      box.append(head);
      fresh.push(box);
    }
    this.place.replaceChildren(...fresh);
    await Promise.all(plots.map((plot) => this.draw(plot)));
  }

  /** Fetch the lines of a plot and draw them. */
  private async draw(plot: Plot): Promise<void> {
    const lines = (await plot.lines(...this.span)).filter((line) => line.time.length);
    const box = this.place.querySelector<HTMLElement>(`#plot-${CSS.escape(plot.id)}`);
    if (!box) return;
    const old = this.drawn.findIndex((d) => d.plot.id === plot.id);
    if (old >= 0) this.drawn.splice(old, 1)[0].chart.destroy();
    const data = lines.length
      ? uPlot.join(lines.map((line) => [line.time, line.value.map((v) => (plot.log && !((v ?? 0) > 0) ? null : v))] as uPlot.AlignedData))
      : ([[]] as unknown as uPlot.AlignedData);
    const nothing = plot.log && lines.length > 0 && !lines.some((line) => line.value.some((v) => (v ?? 0) > 0));
    box.querySelector(".unit")!.textContent = nothing ? `${plot.unit}: 0 throughout` : plot.unit;
    const chart = new uPlot(this.options(plot, lines), data, box);
    const cursor = element("div", { class: "now" });
    chart.over.append(cursor);
    this.drawn.push({ plot, chart, cursor, box });
    this.listen(chart);
    this.setTime(this.time);
  }

  private options(plot: Plot, lines: Line[]): uPlot.Options {
    const { ink, soft, grid } = this.ink();
    const axis = { stroke: soft, grid: { stroke: grid, width: 0.6 }, ticks: { stroke: grid, width: 0.6 }, font: "10px system-ui" };
    // On a logarithmic scale only powers of ten are told.
    const filter = (_u: uPlot, ticks: number[]) => decades(ticks);
    const own = plot.log ? { ...axis, filter, grid: { ...axis.grid, filter }, ticks: { ...axis.ticks, filter } } : axis;
    return {
      width: Math.max(this.place.clientWidth - 4, 120), height: HEIGHT, legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
      scales: {
        x: { time: false, range: () => this.span },
        y: plot.log ? { distr: 3 } : { range: (_u, low, high) => padded(low, high) },
      },
      axes: [{ ...axis, size: 26 }, { ...own, size: 56, space: 18, values: (_u, ticks) => ticks.map((t) => (t === null ? "" : plot.log ? t.toExponential(0) : spoken(t))) }],
      series: [{}, ...lines.map((line) => ({
        label: line.name, stroke: line.color === "#000000" ? ink : line.color, width: 1.4, spanGaps: true, points: { show: false },
        dash: line.dash.map((d) => 1.4 * d),
      }))],
      hooks: { setSelect: [(u) => {
        if (u.select.width < 4) return;
        const from = u.posToVal(u.select.left, "x");
        const to = u.posToVal(u.select.left + u.select.width, "x");
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        this.clock.zoom(from, to);
      }] },
    };
  }

  private listen(chart: uPlot): void {
    let down = 0;
    chart.over.addEventListener("mousedown", (event) => (down = event.clientX));
    chart.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - down) > 3) return; // it was a drag
      this.clock.seek(chart.posToVal(event.clientX - chart.over.getBoundingClientRect().left, "x"));
    });
    chart.over.addEventListener("dblclick", () => this.clock.reset());
  }

  /** Look at another stretch of time: lines come anew, exact where it is short. */
  async look(span: [number, number]): Promise<void> {
    this.span = span;
    await Promise.all(this.drawn.map(({ plot }) => plot).map((plot) => this.draw(plot)));
  }

  async refresh(id: string): Promise<void> {
    const found = this.drawn.find((d) => d.plot.id === id);
    if (found) await this.draw(found.plot);
  }

  setTime(time: number): void {
    this.time = time;
    for (const { chart, cursor } of this.drawn) {
      const at = chart.valToPos(time, "x");
      cursor.hidden = !(at >= 0 && at <= chart.over.clientWidth);
      cursor.style.transform = `translateX(${at}px)`;
    }
  }

  private resize(): void {
    for (const { chart } of this.drawn) chart.setSize({ width: Math.max(this.place.clientWidth - 4, 120), height: HEIGHT });
    this.setTime(this.time);
  }
}

/** Of the ticks of a logarithmic scale the powers of ten, not more than six of them; the others are null. */
export function decades(ticks: number[]): (number | null)[] {
  const powers = ticks.map((t) => (Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-6 ? Math.round(Math.log10(t)) : null));
  const every = Math.ceil(powers.filter((p) => p !== null).length / 6);
  return ticks.map((t, i) => (powers[i] !== null && powers[i]! % every === 0 ? t : null));
}

/** Some room above and below a line; a flat one gets room of its own size. */
export function padded(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !Number.isFinite(low + high)) return [0, 1];
  const room = high > low ? 0.08 * (high - low) : 0.1 * Math.abs(low) || 1;
  return [low - room, high + room];
}
