// A cloth or the surface of a solid: shaded on both sides, with its edges if wanted.
import * as THREE from "three";
import { mix, parse, type Rgb } from "./colors";
import type { Options } from "./figure";
import { numbers, type Message } from "./messages";
import type { DeformableInfo } from "./scene";
import type { Frame } from "./playback";

const SIDES: [Rgb, Rgb][] = [["#3f7cac", "#e9c46a"], ["#b5548a", "#f2e8cf"], ["#5b9a68", "#f4a261"]].map(
  (pair) => pair.map(parse) as [Rgb, Rgb]);

export class Deformable {
  readonly group = new THREE.Group();
  readonly meshes: THREE.Mesh[];
  private slots: number[];
  private edges: number[];
  private lengths: number[];
  private geometry = new THREE.BufferGeometry();
  private lines: THREE.LineSegments;
  private pins: number[];
  private pinMesh: THREE.InstancedMesh;
  private fronts: [Rgb, Rgb];

  /** number < 0: one of several runs that lie over each other, each in the colour of its method. */
  constructor(info: DeformableInfo, i: number, message: Message, number: number, base: Rgb) {
    const array = (name: string) => numbers(message.tables.get(`deformable ${i} ${name}`));
    [this.slots, this.edges, this.lengths, this.pins] = ["slots", "edges", "lengths", "pins"].map(array);
    const count = this.slots.length;
    this.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
    this.geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * count).fill(1), 3));
    this.geometry.setIndex(array("triangles"));
    const solid = info.kind === "solid";
    this.fronts = number < 0 ? [base, mix(base, [0, 0, 0], 0.35)] : solid ? [SIDES[number % 3][0], SIDES[number % 3][0]] : SIDES[number % 3];
    this.meshes = [THREE.FrontSide, THREE.BackSide].map((side) => {
      const material = new THREE.MeshStandardMaterial({
        vertexColors: true, side, roughness: 0.8, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, shadowSide: side,
      });
      const mesh = new THREE.Mesh(this.geometry, material);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      return mesh;
    });
    const wires = new THREE.BufferGeometry();
    wires.setAttribute("position", this.geometry.getAttribute("position"));
    wires.setIndex(this.edges);
    this.lines = new THREE.LineSegments(wires, new THREE.LineBasicMaterial({ color: 0x14202e, transparent: true, opacity: 0.45 }));
    this.lines.frustumCulled = false;
    this.pinMesh = new THREE.InstancedMesh(
      new THREE.SphereGeometry(1, 14, 10), new THREE.MeshStandardMaterial({ color: "#4a5566" }), Math.max(this.pins.length, 1));
    this.pinMesh.frustumCulled = false;
    this.group.add(...this.meshes, this.lines, this.pinMesh);
  }

  update(frame: Frame, options: Options): void {
    const x = frame.tables.get("x")!;
    const places = this.geometry.getAttribute("position") as THREE.BufferAttribute;
    const array = places.array as Float32Array;
    for (let i = 0; i < this.slots.length; i++)
      for (let c = 0; c < 3; c++) array[3 * i + c] = x.get(frame.row, 3 * this.slots[i] + c);
    places.needsUpdate = true;
    const whole = !array.some(Number.isNaN);
    for (const mesh of this.meshes) mesh.visible = whole;
    this.lines.visible = whole && options.wire;
    this.pinMesh.visible = whole;
    if (!whole) return;
    this.geometry.computeVertexNormals();
    this.geometry.boundingSphere = null;
    this.paint(frame, options, array);
    const radius = 1.4 * this.typical();
    const matrix = new THREE.Matrix4();
    this.pins.forEach((node, i) => {
      matrix.makeScale(radius, radius, radius).setPosition(array[3 * node], array[3 * node + 1], array[3 * node + 2]);
      this.pinMesh.setMatrixAt(i, matrix);
    });
    this.pinMesh.count = this.pins.length;
    this.pinMesh.instanceMatrix.needsUpdate = true;
  }

  private typical(): number {
    return Math.sqrt(this.slots.length) * (this.lengths[0] ?? 0.01) * 0.008;
  }

  private paint(frame: Frame, options: Options, array: Float32Array): void {
    const [front, back] = this.meshes.map((mesh) => mesh.material as THREE.MeshStandardMaterial);
    const colors = this.geometry.getAttribute("color") as THREE.BufferAttribute;
    const by = this.numbers(frame, options, array);
    if (!by) {
      front.color.setRGB(...this.fronts[0], THREE.SRGBColorSpace);
      back.color.setRGB(...this.fronts[1], THREE.SRGBColorSpace);
      (colors.array as Float32Array).fill(1);
    } else {
      front.color.setRGB(1, 1, 1);
      back.color.setRGB(0.85, 0.85, 0.85);
      const tone = new THREE.Color();
      for (let i = 0; i < by.length; i++) {
        tone.setRGB(...options.range.color(by[i]), THREE.SRGBColorSpace);
        colors.setXYZ(i, tone.r, tone.g, tone.b);
      }
    }
    colors.needsUpdate = true;
  }

  /** The number of each node that its colour stands for. */
  private numbers(frame: Frame, options: Options, array: Float32Array): Float32Array | null {
    const found = new Float32Array(this.slots.length);
    if (options.color === "speed") {
      const speed = frame.tables.get("speed")!;
      for (let i = 0; i < found.length; i++) found[i] = speed.get(frame.row, this.slots[i]);
    } else if (options.color === "elongation") {
      found.fill(-Infinity);
      for (let e = 0; e < this.lengths.length; e++) {
        const [i, j] = [this.edges[2 * e], this.edges[2 * e + 1]];
        const length = Math.hypot(array[3 * i] - array[3 * j], array[3 * i + 1] - array[3 * j + 1], array[3 * i + 2] - array[3 * j + 2]);
        const share = length / this.lengths[e] - 1;
        found[i] = Math.max(found[i], share);
        found[j] = Math.max(found[j], share);
      }
    } else return null;
    for (const number of found) options.range.see(number);
    return found;
  }

  /** The slot of the node nearest to where a ray met the deformable. */
  nearest(met: THREE.Intersection): number {
    const places = this.geometry.getAttribute("position");
    let best = 0;
    let least = Infinity;
    const at = new THREE.Vector3();
    for (const i of [met.face!.a, met.face!.b, met.face!.c]) {
      const away = at.fromBufferAttribute(places, i).distanceTo(met.point);
      if (away < least) [least, best] = [away, i];
    }
    return this.slots[best];
  }
}
