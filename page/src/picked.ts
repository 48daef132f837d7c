// Name and values of what was clicked on.
import * as THREE from "three";
import { spoken } from "./dom";
import type { Hit } from "./figure";
import { placed, position, value } from "./places";
import type { RunInfo, SceneInfo } from "./scene";
import type { Frame } from "./playback";

export function describe(hit: Hit, frame: Frame, scene: SceneInfo, run: RunInfo): [string, string][] {
  const vector = (at: THREE.Vector3) => at.toArray().map(spoken).join(", ");
  if (hit.kind === "body") {
    const { body } = hit;
    const found: [string, string][] = [
      ["kind", body.motion === "free" ? body.kind : `${body.kind}, ${body.motion}`],
      ["place", `${vector(position(frame, body.slot, new THREE.Vector3()))} m`],
      ["speed", `${spoken(value(frame, "speed", body.slot))} m/s`],
      ["mass", `${spoken(body.mass)} kg`],
    ];
    const push = new THREE.Vector3(...[0, 1, 2].map((c) => value(frame, "push", 3 * body.slot + c)));
    if (push.length() > 0) found.push(["contacts", `${spoken(push.length())} N`]);
    return found;
  }
  const { rows } = hit.kind === "link" ? hit.link : hit.joint;
  const found: [string, string][] = [["kind", hit.kind === "link" ? hit.link.style : hit.joint.kind]];
  if (hit.kind === "link") {
    const length = placed(frame, hit.link.a, new THREE.Vector3()).distanceTo(placed(frame, hit.link.b, new THREE.Vector3()));
    found.push(["length", `${spoken(length)} m`]);
  } else found.push(["place", `${vector(placed(frame, hit.joint.at, new THREE.Vector3()))} m`]);
  if (hit.kind === "joint")
    run.coordinates.forEach(([name, unit], i) => {
      if (!name.startsWith(`${hit.joint.name}.`)) return;
      found.push([name.slice(hit.joint.name.length + 1), `${spoken(value(frame, "joint", i))} ${unit}`]);
    });
  for (const row of rows) {
    const { name, unit } = scene.rows[row];
    const label = rows.length > 1 ? name.slice(name.lastIndexOf("[")) : "";
    found.push([`|Φ|${label}`, `${(10 ** value(frame, "phi", row)).toExponential(2)} ${unit === "1" ? "" : unit}`]);
    found.push([`λ${label}`, spoken(value(frame, "lam", row))]);
  }
  return found;
}
