// Many arrows of one colour: forces, and normals at contacts.
import * as THREE from "three";

const up = new THREE.Vector3(0, 1, 0);
const turn = new THREE.Quaternion();
const scale = new THREE.Vector3();
const middle = new THREE.Vector3();
const along = new THREE.Vector3();
const matrix = new THREE.Matrix4();

export class Arrows {
  readonly group = new THREE.Group();
  private shafts: THREE.InstancedMesh;
  private heads: THREE.InstancedMesh;
  private count = 0;

  constructor(private most: number, color: string, private size: number, hidden = true) {
    const material = new THREE.MeshStandardMaterial({ color, roughness: 0.6, emissive: color, emissiveIntensity: 0.25 });
    material.depthTest = hidden; // else seen through what stands before them
    this.shafts = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, 8), material, most);
    this.heads = new THREE.InstancedMesh(new THREE.ConeGeometry(1, 1, 14), material, most);
    for (const mesh of [this.shafts, this.heads]) {
      mesh.frustumCulled = false;
      mesh.renderOrder = hidden ? 0 : 1;
      this.group.add(mesh);
    }
  }

  begin(shown: boolean): void {
    this.group.visible = shown;
    this.count = 0;
  }

  /** An arrow from a point along a force, `metres` long per newton. */
  add(point: THREE.Vector3, force: THREE.Vector3, metres: number): void {
    const length = Math.min(force.length() * metres, this.size);
    if (!(length > 0.002 * this.size) || !Number.isFinite(point.x)) return;
    this.put(point, along.copy(force).normalize(), length, 0.0035 * this.size);
  }

  /** A short arrow of given length. */
  mark(point: THREE.Vector3, normal: THREE.Vector3, length: number): void {
    if (Number.isFinite(point.x)) this.put(point, along.copy(normal).normalize(), length, 0.002 * this.size);
  }

  private put(point: THREE.Vector3, direction: THREE.Vector3, length: number, width: number): void {
    if (this.count >= this.most) return;
    const head = Math.min(6 * width, 0.5 * length);
    turn.setFromUnitVectors(up, direction);
    middle.copy(point).addScaledVector(direction, (length - head) / 2);
    this.shafts.setMatrixAt(this.count, matrix.compose(middle, turn, scale.set(width, length - head, width)));
    middle.copy(point).addScaledVector(direction, length - head / 2);
    this.heads.setMatrixAt(this.count, matrix.compose(middle, turn, scale.set(2.6 * width, head, 2.6 * width)));
    this.count++;
  }

  end(): void {
    for (const mesh of [this.shafts, this.heads]) {
      mesh.count = this.count;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}
