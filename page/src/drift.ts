// The bars in the lower left: how far each method is off its constraints, now (after Fig. 1 of the ICRA paper).
import { byId, element, spoken } from "./dom";

export interface Drift { name: string; color: string; value: number; visible: boolean }

const DECADES = 8;

/** The length of a bar, 0 to 1: a logarithmic scale that ends at the largest drift seen. */
export function share(value: number, most: number): number {
  if (!(value > 0) || !(most > 0)) return 0;
  return Math.min(Math.max(1 + Math.log10(value / most) / DECADES, 0.01), 1);
}

export class DriftBars {
  private most = 0;
  private rows = new Map<string, { bar: HTMLElement; text: HTMLElement; row: HTMLElement }>();

  constructor(private unit: string) {
    byId("drift").replaceChildren(element("h2", {}, "drift Σ|Φ|"));
  }

  update(drifts: Drift[]): void {
    const place = byId("drift");
    place.hidden = !drifts.length;
    for (const { value } of drifts) if (Number.isFinite(value)) this.most = Math.max(this.most, value);
    for (const { name, color, value, visible } of drifts) {
      let row = this.rows.get(name);
      if (!row) {
        const bar = element("i", { style: `background:${color}` });
        const text = element("b", {});
        row = { bar, text, row: element("div", { "data-run": name }, element("span", {}, name), text, element("em", {}, bar)) };
        this.rows.set(name, row);
        place.append(row.row);
      }
      row.row.hidden = !visible;
      row.bar.style.width = `${100 * share(value, this.most)}%`;
      row.text.textContent = `${value > 0 ? value.toExponential(1) : "0"} ${this.unit}`;
      row.row.title = `${name}: ${spoken(value)} ${this.unit}`;
    }
  }
}
