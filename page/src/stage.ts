// The room: camera, light, ground, and one or several views of it.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { THEMES, type Theme } from "./colors";
import type { Vec3 } from "./scene";

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  private renderer: THREE.WebGLRenderer;
  private sun = new THREE.DirectionalLight(0xffffff, 2.4);
  private sky = new THREE.HemisphereLight(0xffffff, 0x8899aa, 1.5);
  private ground = new THREE.Mesh(new THREE.CircleGeometry(1, 96), new THREE.MeshStandardMaterial({ roughness: 1 }));
  private grid: THREE.GridHelper | null = null;
  private box = new THREE.Box3(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  private level = 0;
  theme: Theme = THEMES.light;
  dirty = true;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.ground.rotation.x = -Math.PI / 2;
    this.ground.receiveShadow = true;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0004;
    this.scene.add(this.sun, this.sun.target, this.sky, this.ground);
  }

  setTheme(name: "light" | "dark"): void {
    this.theme = THEMES[name];
    this.scene.background = new THREE.Color(this.theme.background);
    (this.ground.material as THREE.MeshStandardMaterial).color.set(this.theme.ground);
    this.sky.intensity = name === "light" ? 1.7 : 1.1;
    this.sun.intensity = name === "light" ? 2.2 : 2.0;
    this.layGround();
    this.dirty = true;
  }

  /** Set camera, light and ground for a box; `level` is the height of the floor, if the scene has one. */
  frame(low: Vec3, high: Vec3, level: number | null, tiles: number, from: [number, number]): void {
    this.box.set(new THREE.Vector3(...low), new THREE.Vector3(...high));
    const centre = this.box.getCenter(new THREE.Vector3());
    const extent = this.box.getSize(new THREE.Vector3());
    const size = Math.max(extent.length(), 1e-6);
    this.level = level ?? low[1] - 0.04 * size;
    const way = direction(...from);
    const half = Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2));
    const reach = distanceFor(extent.toArray() as Vec3, way.toArray() as Vec3, half, this.tiled(tiles));
    this.camera.position.copy(centre).addScaledVector(way, Math.max(1.18 * reach, 0.2 * size));
    this.camera.near = size / 200;
    this.camera.far = size * 60;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(centre);
    this.controls.update();
    this.sun.position.copy(centre).add(new THREE.Vector3(0.45, 1.3, 0.75).multiplyScalar(size));
    this.sun.target.position.copy(centre);
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -size;
    shadow.right = shadow.top = size;
    shadow.near = size * 0.05;
    shadow.far = size * 4;
    shadow.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.0015 * size;
    this.scene.fog = new THREE.Fog(this.theme.background, size * 4, size * 12);
    this.layGround();
    this.dirty = true;
  }

  /** Width over height of one of so many tiles. */
  private tiled(tiles: number): number {
    const { columns, rows } = tiling(tiles, this.camera.aspect);
    return (this.camera.aspect * rows) / columns;
  }

  private layGround(): void {
    const size = this.box.getSize(new THREE.Vector3()).length();
    const centre = this.box.getCenter(new THREE.Vector3());
    this.ground.position.set(centre.x, this.level, centre.z);
    this.ground.scale.setScalar(size * 12);
    if (this.grid) {
      this.scene.remove(this.grid);
      this.grid.dispose();
    }
    const cell = 10 ** Math.floor(Math.log10(size / 2));
    const cells = Math.min(Math.ceil((size * 8) / cell), 120);
    this.grid = new THREE.GridHelper(cell * cells, cells, this.theme.grid, this.theme.grid);
    this.grid.position.set(Math.round(centre.x / cell) * cell, this.level + size * 4e-4, Math.round(centre.z / cell) * cell);
    this.scene.add(this.grid);
    if (this.scene.fog) (this.scene.fog as THREE.Fog).color.set(this.theme.background);
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(Math.max(width, 1), Math.max(height, 1), false);
    this.camera.aspect = Math.max(width, 1) / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  /** Draw everything once, or each of some groups in a tile of its own. */
  render(tiles: THREE.Object3D[][] | null): void {
    this.dirty = false;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!tiles || tiles.length < 2) {
      this.renderer.setScissorTest(false);
      this.renderer.setViewport(0, 0, width, height);
      this.renderer.render(this.scene, this.camera);
      return;
    }
    const { columns, rows } = tiling(tiles.length, width / height);
    const aspect = this.camera.aspect;
    const shown = tiles.map((groups) => groups.map((group) => group.visible));
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.renderer.setScissorTest(true);
    this.camera.aspect = width / columns / (height / rows);
    this.camera.updateProjectionMatrix();
    tiles.forEach((_, i) => {
      tiles.forEach((groups, j) => groups.forEach((group, k) => (group.visible = i === j && shown[j][k])));
      const x = (i % columns) * (width / columns);
      const y = height - (Math.floor(i / columns) + 1) * (height / rows);
      this.renderer.setViewport(x, y, width / columns, height / rows);
      this.renderer.setScissor(x, y, width / columns - 1, height / rows - 1);
      this.renderer.render(this.scene, this.camera);
    });
    tiles.forEach((groups, j) => groups.forEach((group, k) => (group.visible = shown[j][k])));
    this.camera.aspect = aspect;
    this.camera.updateProjectionMatrix();
  }
}

/** Where to look from: degrees from the z axis towards x, and above the horizon. */
export function direction(azimuth: number, elevation: number): THREE.Vector3 {
  const [turn, rise] = [azimuth, elevation].map(THREE.MathUtils.degToRad);
  return new THREE.Vector3(Math.sin(turn) * Math.cos(rise), Math.sin(rise), Math.cos(turn) * Math.cos(rise));
}

/** How far a camera that looks along -way must be from a box's centre to see all its corners. */
export function distanceFor(extent: Vec3, way: Vec3, half: number, aspect: number): number {
  const back = new THREE.Vector3(...way);
  const right = new THREE.Vector3(0, 1, 0).cross(back).normalize();
  const above = back.clone().cross(right);
  let reach = 0;
  for (let i = 0; i < 8; i++) {
    const corner = new THREE.Vector3(...[0, 1, 2].map((c) => (i & (1 << c) ? 0.5 : -0.5) * extent[c]));
    const aside = Math.max(Math.abs(corner.dot(right)) / (half * aspect), Math.abs(corner.dot(above)) / half);
    reach = Math.max(reach, aside + corner.dot(back));
  }
  return reach;
}

/** Columns and rows for so many tiles on a canvas of this width over height. */
export function tiling(count: number, aspect: number): { columns: number; rows: number } {
  const columns = Math.min(count, Math.max(1, Math.ceil(Math.sqrt(count * aspect))));
  return { columns, rows: Math.ceil(count / columns) };
}
