"""The part of space that a motion takes up: what pictures are framed to, and walls are cut to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..expressions import Signal
from ..model.frames import rotate
from ..scene.scene import Scene
from .meshes import of_shape
from .motion import Motion

FRAMES = 60  # looked at, of a long motion
FLUNG = 4.0  # extents of the middle of a motion beyond which a body has left the picture
PLANAR, THIN = 0.03, 0.3  # of the size: what moves less across a plane, and is not thicker, moves in it


class Bounds(NamedTuple):
    low: np.ndarray  # (3,) [m]
    high: np.ndarray
    is_planar: bool = False  # whether all moves in a plane z = constant

    @property
    def center(self) -> np.ndarray:
        return 0.5 * (self.low + self.high)

    @property
    def extent(self) -> np.ndarray:
        return self.high - self.low

    @property
    def size(self) -> float:
        """The diagonal [m]."""
        return float(np.linalg.norm(self.extent))

    def corners(self) -> np.ndarray:
        pick = np.array([[(i >> c) & 1 for c in range(3)] for i in range(8)], bool)
        return np.where(pick, self.high, self.low)

    def joined(self, other: Bounds) -> Bounds:
        return Bounds(np.minimum(self.low, other.low), np.maximum(self.high, other.high), self.is_planar)


def bounds_of(scene: Scene, motion: Motion) -> Bounds:
    """All bodies over all times but for what was flung away, and what they run into."""
    rows = np.unique(np.linspace(0, len(motion) - 1, FRAMES).astype(int))
    shown = motion.x[rows]
    # A run that blows up must not shrink its sound part to a dot: judge by the middle of all times.
    away = np.abs(shown - np.median(shown.mean(axis=1), axis=0)).max(axis=(1, 2))
    near = away <= FLUNG * max(float(np.median(away)), float(away[0]), 1e-9)
    rows, shown = rows[near], shown[near]
    reach = np.array([scene.bodies[name].radius for name in motion.names]).reshape(1, -1, 1) * np.ones(3)
    reach = np.broadcast_to(reach, shown.shape).copy()
    for i, name in enumerate(motion.names):
        shape = scene.bodies[name].shape
        if shape is not None:
            reach[:, i] = _reach(of_shape(*shape)[0], motion.q[rows, i])
    centers = Bounds(shown.min(axis=(0, 1)), shown.max(axis=(0, 1)))
    found = Bounds((shown - reach).min(axis=(0, 1)), (shown + reach).max(axis=(0, 1)))
    for kind, arguments in things(scene).values():
        found = found.joined(_of_thing(kind, arguments, found))
    if found.size == 0.0:
        found = Bounds(found.low - 0.5, found.high + 0.5)
    flat = centers.extent[2] <= PLANAR * found.size and found.extent[2] <= THIN * found.size
    return Bounds(found.low, found.high, bool(flat))


def _reach(vertices: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """How far a turned shape reaches along each axis, shape (T, 3)."""
    corners = Bounds(vertices.min(axis=0), vertices.max(axis=0)).corners()
    return np.abs(rotate(turns[:, np.newaxis], corners[np.newaxis])).max(axis=1)


def things(scene: Scene) -> dict[str, tuple[str, dict[str, Any]]]:
    """Surfaces that bodies run into, each once: obstacles, and inequalities of one point that have the same ones."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    seen = set()
    inequalities = [c for c in scene.constraints.values() if c.sense == ">=" and c.owner is None]
    for record in (*scene.obstacles.values(), *inequalities):
        arguments = {key: value for key, value in record.arguments.items() if key != "radius" or "side" in record.kind}
        key = (record.kind, repr(arguments))
        if key not in seen:
            seen.add(key)
            found[record.name] = (record.kind, arguments)
    return found


def value_at(value: Any, time: float) -> Any:
    """An argument at a time: a number, or three as an array."""
    if isinstance(value, Signal):
        return value.at(time)[0]
    if isinstance(value, tuple | list):
        return np.array([value_at(item, time) for item in value], float)
    return value


def is_still(arguments: dict[str, Any]) -> bool:
    def constant(value: Any) -> bool:
        if isinstance(value, tuple | list):
            return all(constant(item) for item in value)
        return value.is_constant if isinstance(value, Signal) else True

    return all(constant(value) for value in arguments.values())


def _of_thing(kind: str, arguments: dict[str, Any], found: Bounds) -> Bounds:
    at = {key: value_at(value, 0.0) for key, value in arguments.items()}
    if kind == "half_space":  # the foot of what is nearest
        normal = at["normal"] / np.linalg.norm(at["normal"])
        foot = found.center - normal * (normal @ (found.center - at["point"]))
        return Bounds(foot, foot) if np.linalg.norm(foot - found.center) < 3.0 * max(found.size, 1e-9) else found
    if kind.endswith("sphere"):
        return Bounds(at["center"] - at["radius"], at["center"] + at["radius"])
    if kind.endswith("box"):
        reach = np.linalg.norm(at["half"]) if tuple(at["orientation"]) != (1.0, 0.0, 0.0, 0.0) else at["half"]
        return Bounds(at["center"] - reach, at["center"] + reach)
    if kind.endswith("capsule"):
        ends = np.array([at["start"], at["end"]])
        return Bounds(ends.min(axis=0) - at["radius"], ends.max(axis=0) + at["radius"])
    return found
