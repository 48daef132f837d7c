"""Parts at a moment as an image, without a display: depth, shadows, a ground with a grid, smooth edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import raster
from .bounds import Bounds
from .camera import Camera, looking_at
from .describe import describe
from .meshes import normals
from .motion import Motion
from .parts import BACK, Part, Pose, rgb

SMOOTH = 2  # pixels along each side that are averaged into one
SUN_MAP = 1024  # pixels along the longer side of what the light sees
LINE = 0.8  # usual width of lines on surfaces [pixels]
NEARER = 1.0015  # lines lie a little before their surface
BACKGROUND = ("#ffffff", "#eceff4")
WEIGHTS = (0.5, 0.6, 0.16, 30.0)  # ambient, light, gloss and its power
ASIDE = np.radians(27.0)  # by which the light comes from the left
GRID = 0.09


class Layer(NamedTuple):
    """What is drawn over each other: the parts of one run."""

    parts: Sequence[Part]
    pose: Pose
    tint: str | None = None  # one colour for all that moves
    edge_colors: dict[str, np.ndarray] | None = None  # part -> (e, 3) colours of its lines, 0 to 1


@dataclass(frozen=True)
class Ground:
    place: np.ndarray
    normal: np.ndarray


class Renderer:
    """Draws layers as seen by one camera. What differs between frames is only the poses."""

    def __init__(
        self, bounds: Bounds, camera: Camera, ground: Ground | None, smooth: int = SMOOTH, line: float = LINE
    ) -> None:
        self.bounds, self.camera, self.ground, self.smooth, self.line = bounds, camera, ground, smooth, line
        self.large = camera.enlarged(smooth)
        width, height = self.large.size
        self._depth = np.zeros((height, width))
        self._paint = np.full((height, width), raster.EMPTY, np.int32)
        self._normal = np.zeros((height, width, 3), np.float32)
        self._out = np.zeros((height, width, 3), np.float32)
        self.up = np.array([0.0, 1.0, 0.0])
        # From above, over the left shoulder of who looks.
        high, aside = (0.75, 1.0) if bounds.is_planar else (0.95, 0.62)
        light = high * self.up + aside * _level(-np.cos(ASIDE) * camera.axes[2] - np.sin(ASIDE) * camera.axes[0])
        self.light = light / np.linalg.norm(light)
        right = np.cross(self.up, self.light)
        right /= np.linalg.norm(right)
        self._sun_axes = np.stack([right, np.cross(self.light, right), self.light])
        reach = (bounds.corners() - bounds.center) @ self._sun_axes.T
        self._sun_scale = 0.5 * SUN_MAP / (1.15 * float(np.abs(reach[:, :2]).max()) + 1e-12)
        # Depths are kept above zero for all that is near enough to be seen.
        middle = self._sun_axes @ bounds.center
        self._sun_lens = np.array([self._sun_scale, middle[0], middle[1], 10.0 * bounds.size - middle[2],
                                   1.5 / self._sun_scale])  # fmt: skip
        self._sun_depth = np.zeros((SUN_MAP, SUN_MAP))
        self._sun_paint = np.zeros((SUN_MAP, SUN_MAP), np.int32)
        self._sun_normal = np.zeros((SUN_MAP, SUN_MAP, 3), np.float32)

    @property
    def grid(self) -> float:
        """The spacing of the grid on the ground [m]: a tenth to a quarter of the scene, and 1, 2 or 5 of a decade."""
        wanted = max(self.bounds.size, 1e-12) / 7.0
        decade = 10.0 ** np.floor(np.log10(wanted))
        return float(decade * max(f for f in (1.0, 2.0, 5.0) if f * decade <= wanted))

    def frame(self, layers: Sequence[Layer], lines: bool = True) -> np.ndarray:
        """The image (height, width, 3), bytes."""
        found = _gathered(layers)
        self._depth[:], self._paint[:] = 0.0, raster.EMPTY
        screen = self.large.project(found.places)
        raster.fill(screen, found.normals, found.triangles, found.paints, found.culled, self._depth, self._paint,
                    self._normal)  # fmt: skip
        if lines and len(found.segments):
            self._lines(screen, found)
        self._see_from_light(found)
        self._shade(found.palette)
        return self._averaged()

    def _lines(self, screen: np.ndarray, found: Gathered) -> None:
        """Each line as two triangles, as wide as it should look."""
        a, b = screen[found.segments[:, 0]].copy(), screen[found.segments[:, 1]].copy()
        along = b[:, :2] - a[:, :2]
        across = np.stack([-along[:, 1], along[:, 0]], 1)
        across *= 0.5 * self.line * self.smooth / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
        points = np.concatenate([a, a, b, b])
        points[:, 2] *= NEARER
        n = len(a)
        points[:, :2] += np.concatenate([across, -across, -across, across])
        i = np.arange(n)
        triangles = np.concatenate([np.stack([i, n + i, 2 * n + i], 1), np.stack([i, 2 * n + i, 3 * n + i], 1)])
        paints = np.tile(found.segment_paints, 2)
        raster.fill(points, np.zeros_like(points), triangles, paints, np.zeros(2 * n, bool), self._depth, self._paint,
                    self._normal)  # fmt: skip

    def _see_from_light(self, found: Gathered) -> None:
        self._sun_depth[:] = 0.0
        scale, right, up, offset, _ = self._sun_lens
        d = found.places @ self._sun_axes.T
        shown = np.stack([0.5 * SUN_MAP + scale * (d[:, 0] - right), 0.5 * SUN_MAP - scale * (d[:, 1] - up),
                          d[:, 2] + offset], 1)  # fmt: skip
        solid = ~found.culled
        raster.fill(shown, found.normals, found.triangles[solid], found.paints[solid], found.culled[solid],
                    self._sun_depth, self._sun_paint, self._sun_normal)  # fmt: skip

    def _shade(self, palette: np.ndarray) -> None:
        bounds, large, ground = self.bounds, self.large, self.ground
        place = ground.place if ground else bounds.center - 1e9 * self.up
        normal = ground.normal if ground else self.up
        middle = bounds.center - normal * (normal @ (bounds.center - place))
        width = 0.45 * self.smooth * float(np.linalg.norm(large.eye - middle)) / large.focal
        extent = np.array([2.4 * bounds.size, self.grid, width, GRID])
        raster.shade(
            (self._depth, self._paint, self._normal), (large.eye, large.axes, np.array([large.focal])),
            (self.light, self._sun_axes, self._sun_lens), self._sun_depth, (place, normal, extent, middle),
            (_linear(BACKGROUND[0]), _linear(BACKGROUND[1]), np.array(WEIGHTS), self.up), palette, self._out,
        )  # fmt: skip

    def _averaged(self) -> np.ndarray:
        k, (width, height) = self.smooth, self.camera.size
        mean = self._out.reshape(height, k, width, k, 3).mean(axis=(1, 3))
        return (255.0 * np.clip(mean, 0.0, 1.0) ** (1.0 / 2.2) + 0.5).astype(np.uint8)


class Gathered(NamedTuple):
    """All parts of all layers as one mesh."""

    places: np.ndarray  # (n, 3) [m]
    normals: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (m, 3)
    paints: np.ndarray  # (m,) rows of the palette; the next row is that of the back
    culled: np.ndarray  # (m,)
    segments: np.ndarray  # (l, 2) lines on surfaces
    segment_paints: np.ndarray  # (l,)
    palette: np.ndarray  # (p, 3) linear


def _gathered(layers: Sequence[Layer]) -> Gathered:
    places: list[np.ndarray] = []
    arrays_by_name: dict[str, list[np.ndarray]] = {name: [] for name in ("normals", "triangles", "paints", "culled")}
    segments: list[np.ndarray] = [np.zeros((0, 2), np.int64)]
    segment_paints: list[np.ndarray] = [np.zeros(0, np.int64)]
    palette: dict[tuple[float, ...], int] = {}

    def paint(front: np.ndarray, back: np.ndarray) -> int:
        """The row of a pair of colours in the palette."""
        return 2 * palette.setdefault((*front, *back), len(palette))

    count = 0
    for parts, pose, tint, edge_colors in layers:
        for part in parts:
            at = part.places(pose)
            if not np.isfinite(at).all():
                continue
            color = tint if tint is not None and part.role not in ("obstacle", "guide", "fixed") else part.own_color
            front = _linear(color)
            two = part.role in BACK and tint is None and part.color is None
            back = _linear(BACK[part.role]) if two else front
            triangles = part.triangles
            surface = at
            if part.role == "solid":  # it has edges: each triangle has its own normal
                surface, triangles = at[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)
            places.append(surface)
            arrays_by_name["normals"].append(normals(surface, triangles))
            arrays_by_name["triangles"].append(count + triangles)
            arrays_by_name["paints"].append(np.full(len(triangles), paint(front, back)))
            arrays_by_name["culled"].append(np.full(len(triangles), part.one_sided))
            if surface is not at:
                count += len(surface)
                places.append(at)
                arrays_by_name["normals"].append(np.zeros_like(at))
            if part.edges is not None:
                colors_of_edges = (edge_colors or {}).get(part.name)
                segments.append(count + part.edges)
                if colors_of_edges is None:
                    dark = paint(0.45 * front, 0.45 * front)
                    segment_paints.append(np.full(len(part.edges), raster.FLAT + dark))
                else:
                    kinds, which = np.unique(colors_of_edges, axis=0, return_inverse=True)
                    rows = np.array([paint(kind**2.2, kind**2.2) for kind in kinds])
                    segment_paints.append(raster.FLAT + rows[which.ravel()])
            count += len(at)
    colors = np.array(list(palette), float).reshape(-1, 3)
    joined = {name: np.concatenate(arrays) if arrays else _NOTHING[name] for name, arrays in arrays_by_name.items()}
    return Gathered(np.concatenate(places) if places else np.zeros((0, 3)), segments=np.concatenate(segments),
                    segment_paints=np.concatenate(segment_paints), palette=colors, **joined)  # fmt: skip


_NOTHING: dict[str, Any] = {
    "normals": np.zeros((0, 3)), "triangles": np.zeros((0, 3), np.int64), "paints": np.zeros(0, np.int64),
    "culled": np.zeros(0, bool),
}  # fmt: skip


def _level(direction: np.ndarray) -> np.ndarray:
    """The direction without its part up or down, of length 1; z where it has no other."""
    level = direction * np.array([1.0, 0.0, 1.0])
    size = float(np.linalg.norm(level))
    return level / size if size > 1e-6 else np.array([0.0, 0.0, 1.0])


def _linear(color: str) -> np.ndarray:
    """As light adds up, not as it is stored."""
    return np.array(rgb(color)) ** 2.2


def ground_of(parts: Sequence[Part], bounds: Bounds) -> tuple[Ground, list[Part]]:
    """The plane behind or below all that moves, and the parts that it does not take the place of: a floor is ground."""
    if bounds.is_planar:
        behind = bounds.center.copy()
        behind[2] = bounds.low[2] - 0.05 * bounds.size
        return Ground(behind, np.array([0.0, 0.0, 1.0])), list(parts)
    below = bounds.center.copy()
    below[1] = bounds.low[1] - 0.04 * bounds.size
    for part in parts:
        if part.role == "obstacle" and part.one_sided and part.still and len(part.triangles) == 2:
            corners = part.places(Pose(0.0, np.zeros((0, 3)), np.zeros((0, 4))))
            up = normals(corners, part.triangles)[0]
            if up[1] > 0.999:
                return Ground(corners[0], up), [other for other in parts if other is not part]
    return Ground(below, np.array([0.0, 1.0, 0.0])), list(parts)


def renderer_for(
    motion: Motion, size: tuple[int, int], smooth: int = SMOOTH, **view: Any
) -> tuple[Renderer, list[Part]]:
    """A renderer framed to a motion, and the parts that it is to draw."""
    parts, bounds = describe(motion)
    ground, parts = ground_of(parts, bounds)
    return Renderer(bounds, looking_at(bounds, size, **view), ground, smooth), parts
