// What all runs of a scene share: obstacles, guides and paths.
import * as THREE from "three";
import { flatNumbers } from "./obstacle";
import type { Obstacle, SceneInfo, Vec3 } from "./scene";
import { floorLevel, obstacleMesh } from "./shapes";
import type { Frame } from "./playback";

export class Backdrop {
  readonly group = new THREE.Group();
  readonly level: number | null;
  private obstacles = new Map<string, { obstacle: Obstacle; mesh: THREE.Mesh }>();

  constructor(scene: SceneInfo, private size: number, private centre: Vec3) {
    const floors = scene.obstacles.map(floorLevel).filter((level) => level !== null);
    this.level = floors.length ? Math.max(...floors) : null;
    for (const obstacle of scene.obstacles) {
      if (floorLevel(obstacle) !== null) continue; // the ground is drawn anyway
      const mesh = obstacleMesh(obstacle, 0.6 * size, centre);
      if (!mesh) continue;
      this.obstacles.set(obstacle.name, { obstacle, mesh });
      this.group.add(mesh);
    }
    const line = (points: THREE.Vector3[], dashed: boolean) => {
      const material = dashed
        ? new THREE.LineDashedMaterial({ color: 0x8894a6, dashSize: 0.02 * size, gapSize: 0.015 * size })
        : new THREE.LineBasicMaterial({ color: 0x8894a6 });
      const drawn = new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), material);
      if (dashed) drawn.computeLineDistances();
      this.group.add(drawn);
    };
    for (const guide of scene.guides) {
      if (guide.points) line(guide.points.map((p) => new THREE.Vector3(...p)), guide.form === "path");
      else if (guide.form === "sphere" && guide.center && guide.radius) {
        const middle = new THREE.Vector3(...guide.center);
        for (const axis of ["z", "y"] as const) {
          const turn = axis === "z" ? new THREE.Matrix4() : new THREE.Matrix4().makeRotationX(Math.PI / 2);
          line(Array.from({ length: 97 }, (_, i) => {
            const angle = (2 * Math.PI * i) / 96;
            return new THREE.Vector3(Math.cos(angle), Math.sin(angle), 0).multiplyScalar(guide.radius!).applyMatrix4(turn).add(middle);
          }), false);
        }
      }
    }
  }

  /** Obstacles that move, at a frame: the mesh is made anew from its numbers. */
  update(frame: Frame): void {
    for (const [name, kept] of this.obstacles) {
      const table = frame.tables.get(`obstacle: ${name}`);
      if (!table) continue;
      const fresh = obstacleMesh(flatNumbers(kept.obstacle, (i) => table.get(frame.row, i)), 0.6 * this.size, this.centre);
      if (!fresh) continue;
      kept.mesh.geometry.dispose();
      kept.mesh.geometry = fresh.geometry;
      kept.mesh.position.copy(fresh.position);
      kept.mesh.quaternion.copy(fresh.quaternion);
    }
  }
}
