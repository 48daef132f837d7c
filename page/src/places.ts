// Where bodies and points are in a frame.
import * as THREE from "three";
import type { Frame } from "./playback";
import type { Place } from "./scene";

const turn = new THREE.Quaternion();

export function position(frame: Frame, slot: number, out: THREE.Vector3): THREE.Vector3 {
  const x = frame.tables.get("x")!;
  return out.set(x.get(frame.row, 3 * slot), x.get(frame.row, 3 * slot + 1), x.get(frame.row, 3 * slot + 2));
}

/** Orientation of principal axes; taut writes (w, x, y, z). */
export function orientation(frame: Frame, quat: number, out: THREE.Quaternion): THREE.Quaternion {
  const q = frame.tables.get("quat");
  if (!q || quat < 0) return out.identity();
  const at = 4 * quat;
  return out.set(q.get(frame.row, at + 1), q.get(frame.row, at + 2), q.get(frame.row, at + 3), q.get(frame.row, at)).normalize();
}

export function placed(frame: Frame, place: Place, out: THREE.Vector3): THREE.Vector3 {
  const [slot, quat, x, y, z] = place;
  out.set(x, y, z);
  if (slot < 0) return out;
  if (quat >= 0) out.applyQuaternion(orientation(frame, quat, turn));
  const table = frame.tables.get("x")!;
  out.x += table.get(frame.row, 3 * slot);
  out.y += table.get(frame.row, 3 * slot + 1);
  out.z += table.get(frame.row, 3 * slot + 2);
  return out;
}

/** A direction that turns with a body, or stands in the world. */
export function directed(frame: Frame, place: Place, out: THREE.Vector3): THREE.Vector3 {
  const [, quat, x, y, z] = place;
  out.set(x, y, z).normalize();
  return quat >= 0 ? out.applyQuaternion(orientation(frame, quat, turn)) : out;
}

export function value(frame: Frame, name: string, column: number): number {
  const table = frame.tables.get(name);
  return table && column < table.columns ? table.get(frame.row, column) : NaN;
}
