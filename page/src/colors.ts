// Colours by number, and the two looks of the page.

export type Rgb = [number, number, number];
export type ColorBy = "method" | "phi" | "elongation" | "lam" | "speed";

export const COLOR_WORDS: Record<ColorBy, string> = {
  method: "method", phi: "|Φ|", elongation: "elongation", lam: "λ", speed: "speed",
};

// Dark violet over green to yellow, told apart by colour-blind eyes and in grey (after viridis).
const SCALE: Rgb[] = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
// Blue over grey to red, for numbers with a sign.
const SIGNED: Rgb[] = [[33, 102, 172], [146, 197, 222], [210, 210, 210], [244, 165, 130], [178, 24, 43]];

function between(scale: Rgb[], share: number): Rgb {
  const at = Math.min(Math.max(Number.isFinite(share) ? share : 0, 0), 1) * (scale.length - 1);
  const low = Math.min(Math.floor(at), scale.length - 2);
  const rest = at - low;
  return [0, 1, 2].map((c) => (scale[low][c] * (1 - rest) + scale[low + 1][c] * rest) / 255) as Rgb;
}

/** The stretch of numbers that colours stand for. It widens with what it sees. */
export class Range {
  low = Infinity;
  high = -Infinity;

  constructor(readonly by: ColorBy) {}

  see(value: number): void {
    if (!Number.isFinite(value)) return;
    if (value < this.low) this.low = value;
    if (value > this.high) this.high = value;
  }

  /** Ends of the scale: λ is symmetric, |Φ| (as log10) spans at most six decades, the others begin at zero. */
  ends(): [number, number] {
    if (this.high < this.low) return [0, 1];
    if (this.by === "lam") {
      const most = Math.max(Math.abs(this.low), Math.abs(this.high)) || 1;
      return [-most, most];
    }
    if (this.by === "phi") return [Math.max(this.low, this.high - 6), this.high > this.low ? this.high : this.low + 1];
    return [0, this.high > 0 ? this.high : 1e-9];
  }

  color(value: number): Rgb {
    const [low, high] = this.ends();
    return between(this.by === "lam" ? SIGNED : SCALE, (value - low) / (high - low));
  }

  label(end: 0 | 1): string {
    const value = this.ends()[end];
    if (this.by === "phi") return `1e${value.toFixed(1)}`;
    if (this.by === "elongation") return `${(100 * value).toPrecision(3)} %`;
    return `${Number(value.toPrecision(3))}${this.by === "speed" ? " m/s" : ""}`;
  }

  gradient(): string {
    const stops = (this.by === "lam" ? SIGNED : SCALE).map((c) => `rgb(${c.join(",")})`);
    return `linear-gradient(90deg, ${stops.join(",")})`;
  }
}

export function parse(color: string): Rgb {
  const value = parseInt(color.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  return [0, 1, 2].map((c) => a[c] * (1 - share) + b[c] * share) as Rgb;
}

export interface Theme { background: string; ground: string; grid: string; ink: string; soft: string; fixed: string }
export const THEMES: Record<"light" | "dark", Theme> = {
  light: { background: "#eef1f5", ground: "#e4e8ee", grid: "#c9d0da", ink: "#1c2430", soft: "#5d6b7e", fixed: "#4a5566" },
  dark: { background: "#12161d", ground: "#1a202a", grid: "#2d3746", ink: "#e6eaf0", soft: "#93a1b5", fixed: "#aab6c8" },
};
