// The bar below: play, step, scrub, speed, loop, and marks of events.
import { byId, element, spoken, toggle } from "./dom";
import type { Player } from "./player";
import type { Event } from "./scene";

const SPEEDS = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8];
const MARK_COLORS: Record<string, string> = { impact: "#d1495b", activation: "#edae49", release: "#00a676", "switched on": "#2e86ab", "switched off": "#7b6d8d" };
const STEPS = 10_000; // of the slider

export class Timeline {
  private play = element("button", { type: "button", id: "play", title: "play or pause (space)" });
  private slider = element("input", { type: "range", id: "slider", min: "0", max: String(STEPS), step: "1", "aria-label": "time" });
  private read = element("output", { id: "time" });
  private speed = element("select", { id: "speed", "aria-label": "speed", title: "speed (+ and -)" });
  private marks = element("canvas", { id: "marks" });
  private events: Event[] = [];

  constructor(private player: Player, private frameStep: () => number) {
    const button = (text: string, id: string, title: string, act: () => void) => {
      const made = element("button", { type: "button", id, title }, text);
      made.addEventListener("click", act);
      return made;
    };
    for (const speed of SPEEDS)
      this.speed.append(element("option", { value: String(speed) }, speed >= 1 ? `${speed}×` : `1/${1 / speed}×`));
    this.speed.value = "1";
    this.speed.addEventListener("change", () => player.setSpeed(Number(this.speed.value)));
    this.play.addEventListener("click", () => player.toggle());
    this.slider.addEventListener("input", () => {
      const share = Number(this.slider.value) / STEPS; // before anything sets the slider
      player.pause();
      player.seek(player.start + share * (player.end - player.start));
    });
    const jumps = element("span", { id: "jumps" },
      button("«", "event-back", "event before (shift ←)", () => this.jump(false)),
      button("»", "event-next", "next event (shift →)", () => this.jump(true)));
    byId("timeline").replaceChildren(
      this.play,
      button("‹", "back", "one frame back (←)", () => this.step(-1)),
      button("›", "next", "one frame on (→)", () => this.step(1)),
      jumps,
      element("div", { id: "scrub" }, this.marks, this.slider),
      this.read, this.speed, toggle("loop", player.loop, (on) => (player.loop = on), "begin again at the end (l)"));
    this.marks.addEventListener("click", (event) => this.pick(event));
    window.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.drawMarks()).observe(byId("scrub"));
    player.onChange(() => this.update());
    this.update();
  }

  setEvents(events: Event[]): void {
    this.events = events;
    byId("jumps").hidden = !events.length;
    this.drawMarks();
  }

  private jump(forward: boolean): void {
    this.player.pause();
    this.player.jump(this.events.map((event) => event[0]), forward);
  }

  private step(frames: number): void {
    this.player.pause();
    this.player.seek(this.player.time + frames * this.frameStep());
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (["SELECT", "INPUT"].includes(target.tagName) && target !== this.slider) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const player = this.player;
    const speed = (by: number) => {
      player.setSpeed(player.speed * by);
      this.speed.value = String(player.speed);
    };
    const acts: Record<string, () => void> = {
      " ": () => player.toggle(),
      ArrowLeft: () => (event.shiftKey ? this.jump(false) : this.step(-1)),
      ArrowRight: () => (event.shiftKey ? this.jump(true) : this.step(1)),
      Home: () => player.seek(player.start),
      End: () => player.seek(player.end),
      "+": () => speed(2),
      "-": () => speed(0.5),
      l: () => byId("timeline").querySelector<HTMLButtonElement>("button[aria-pressed]")?.click(),
    };
    if (!(event.key in acts)) return;
    acts[event.key]();
    event.preventDefault();
  }

  private update(): void {
    const { start, end, time, playing } = this.player;
    this.play.textContent = playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", playing ? "pause" : "play");
    this.slider.value = String(end > start ? Math.round(((time - start) / (end - start)) * STEPS) : 0);
    this.read.textContent = `${time.toFixed(digits(end - start))} / ${spoken(end)} s`;
    this.read.dataset.time = String(time);
  }

  drawMarks(): void {
    const { clientWidth: width, clientHeight: height } = this.marks;
    this.marks.width = width;
    this.marks.height = height;
    const pen = this.marks.getContext("2d")!;
    for (const [time, kind] of this.events) {
      pen.fillStyle = MARK_COLORS[kind] ?? "#5d6b7e";
      pen.fillRect(this.toX(time) - 0.5, kind === "impact" ? 0 : height / 2, 1.5, height);
    }
  }

  private toX(time: number): number {
    const { start, end } = this.player;
    return 8 + ((time - start) / Math.max(end - start, 1e-12)) * (this.marks.clientWidth - 16);
  }

  private pick(event: MouseEvent): void {
    const x = event.clientX - this.marks.getBoundingClientRect().left;
    const near = this.events.reduce<Event | null>((best, mark) =>
      !best || Math.abs(this.toX(mark[0]) - x) < Math.abs(this.toX(best[0]) - x) ? mark : best, null);
    if (near && Math.abs(this.toX(near[0]) - x) < 8) {
      this.player.pause();
      this.player.seek(near[0]);
    }
  }
}

/** Decimals that tell frames of a stretch of time apart. */
export function digits(length: number): number {
  return Math.min(Math.max(3 - Math.floor(Math.log10(Math.max(length, 1e-9))), 1), 6) - 1;
}
