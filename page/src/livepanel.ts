// What can be changed while a scene runs.
import { byId, element, select } from "./dom";
import type { LiveControls } from "./scene";
import type { Source } from "./source";

export class LivePanel {
  private button = element("button", { type: "button", id: "live-start" }, "start");
  private state = element("p", { id: "live-state", role: "status" });
  playing = false;

  constructor(controls: LiveControls, private source: Source) {
    const change = (name: string, value: unknown) => {
      this.state.textContent = "changing … (a method is compiled when it is used for the first time)";
      source.send({ do: "change", name, value });
    };
    this.button.addEventListener("click", () => this.toggle());
    const reset = element("button", { type: "button", id: "live-reset" }, "reset");
    reset.addEventListener("click", () => source.send({ do: "reset" }));
    const field = (label: string, value: string, act: (text: string) => void) => {
      const input = element("input", { value, "aria-label": label, name: label });
      input.addEventListener("change", () => act(input.value));
      return element("label", {}, element("span", {}, label), input);
    };
    const rows = [
      element("div", { class: "buttons" }, this.button, reset),
      select("method", controls.methods.map((name) => [name, name]), controls.method, (value) => change("method", value)),
      field("dt", String(controls.dt), (text) => change("dt", Number(text))),
      field("gravity", controls.gravity.join(" "), (text) => change("gravity", text.trim().split(/[\s,]+/).map(Number))),
      ...controls.parameters.map(({ name, value }) =>
        field(name, String(value), (text) => change(name, typeof value === "number" ? Number(text) : typeof value === "boolean" ? text === "true" : text))),
    ];
    byId("live").hidden = false;
    byId("live").replaceChildren(element("h2", {}, "live"), ...rows, this.state,
      element("p", { class: "hint" }, "Drag a body to pull it softly."));
    this.set(controls.playing, "", 1);
  }

  toggle(): void {
    this.source.send({ do: this.playing ? "stop" : "start" });
  }

  set(playing: boolean, problem: string, factor: number): void {
    this.playing = playing;
    this.button.textContent = playing ? "stop" : "start";
    this.state.textContent = problem || (playing && factor < 0.95 ? `at ${(100 * factor).toFixed(0)} % of real time` : "");
    this.state.classList.toggle("problem", Boolean(problem));
  }
}
