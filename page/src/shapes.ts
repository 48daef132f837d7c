// Solids of rigid bodies and obstacles as meshes. The long axis of a cylinder, a capsule or a rod is x.
import * as THREE from "three";
import type { Drawn, Obstacle, Vec3 } from "./scene";

const TO_X = new THREE.Matrix4().makeRotationZ(-Math.PI / 2); // three.js builds them along y

/** The solid of a shape with given sizes [m]: the names are those of Shape.primitive in taut/shapes. */
export function solid(drawn: Drawn, [a, b, c]: number[]): THREE.BufferGeometry {
  switch (drawn.as) {
    case "sphere": return new THREE.SphereGeometry(a, 32, 20);
    case "cylinder": return new THREE.CylinderGeometry(a, a, b, 32).applyMatrix4(TO_X);
    case "capsule": return new THREE.CapsuleGeometry(a, b, 8, 24).applyMatrix4(TO_X);
    case "rod": return new THREE.CapsuleGeometry(Math.max(b, 0.02 * a), a, 6, 16).applyMatrix4(TO_X);
    case "box": {
      const least = 0.03 * Math.max(a, b, c);
      return new THREE.BoxGeometry(Math.max(a, least), Math.max(b, least), Math.max(c, least));
    }
    default: return mesh(drawn);
  }
}

export function mesh(drawn: Drawn): THREE.BufferGeometry {
  const found = new THREE.BufferGeometry();
  found.setAttribute("position", new THREE.Float32BufferAttribute(drawn.vertices ?? [], 3));
  found.setIndex(drawn.triangles ?? []);
  found.computeVertexNormals();
  return found;
}

/** An obstacle as a mesh; null where it has no surface to draw. `reach` [m] is how far endless ones go. */
export function obstacleMesh(obstacle: Obstacle, reach: number, centre: Vec3): THREE.Mesh | null {
  const { as: form, inside = false } = obstacle.drawn;
  const vector = (name: string) => new THREE.Vector3(...(obstacle[name] as Vec3));
  const found = new THREE.Mesh();
  const radius = obstacle.radius as number;
  if (form === "plane") {
    const normal = vector("normal").normalize();
    found.geometry = new THREE.PlaneGeometry(2 * reach, 2 * reach);
    const point = vector("point");
    const middle = new THREE.Vector3(...centre);
    found.position.copy(middle).addScaledVector(normal, -middle.clone().sub(point).dot(normal));
    found.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
  } else if (form === "sphere") {
    found.geometry = new THREE.SphereGeometry(radius, 48, 32);
    found.position.copy(vector("center"));
  } else if (form === "box") {
    const half = vector("half");
    found.geometry = new THREE.BoxGeometry(2 * half.x, 2 * half.y, 2 * half.z);
    const [w, x, y, z] = obstacle.orientation as [number, number, number, number];
    found.quaternion.set(x, y, z, w);
    found.position.copy(vector("center"));
  } else if (form === "capsule" || form === "cylinder") {
    const capsule = form === "capsule";
    const start = capsule ? vector("start") : vector("point");
    const along = capsule ? vector("end").sub(start) : vector("direction").normalize().multiplyScalar(2 * reach);
    const length = along.length();
    found.geometry = capsule ? new THREE.CapsuleGeometry(radius, length, 12, 32) : new THREE.CylinderGeometry(radius, radius, length, 48);
    found.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.clone().normalize());
    found.position.copy(start).addScaledVector(along, capsule ? 0.5 : 0);
  } else if (form === "mesh") {
    found.geometry = mesh(obstacle.drawn);
  } else return null;
  const see = inside || form === "plane";
  found.material = new THREE.MeshStandardMaterial({
    color: "#9aa7b8", roughness: 0.85, transparent: see, opacity: see ? 0.16 : 1, depthWrite: !see,
    side: inside ? THREE.BackSide : THREE.FrontSide, // what stands between the eye and the bodies is not drawn
  });
  found.castShadow = !see;
  found.receiveShadow = true;
  found.name = obstacle.name;
  return found;
}

/** Is it the floor? Then the ground stands for it. */
export function floorLevel(obstacle: Obstacle): number | null {
  if (obstacle.drawn.as !== "plane") return null;
  const normal = new THREE.Vector3(...(obstacle.normal as Vec3)).normalize();
  return normal.y > 0.999 ? (obstacle.point as Vec3)[1] : null;
}
