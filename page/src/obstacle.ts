// Numbers of an obstacle in the order of its arguments, as taut/view/drawing.py flattens them.
import type { Obstacle } from "./scene";

/** The obstacle with its numbers taken one after the other from `next(0)`, `next(1)`, … */
export function flatNumbers(obstacle: Obstacle, next: (i: number) => number): Obstacle {
  let at = 0;
  const filled: Obstacle = { name: obstacle.name, kind: obstacle.kind, drawn: obstacle.drawn };
  for (const [key, value] of Object.entries(obstacle)) {
    if (key === "name" || key === "kind" || key === "drawn") continue;
    filled[key] = Array.isArray(value) ? value.map(() => next(at++)) : next(at++);
  }
  return filled;
}
