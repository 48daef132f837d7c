"""The part of space that a motion takes up: what pictures are framed to, and walls are cut to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..model.frames import rotate
from ..shapes import OBSTACLES
from ..view.drawing import BESIDE, nearby
from .meshes import of_shape
from .motion import Motion

FRAMES = 60  # looked at, of a long motion
FLUNG = 4.0  # extents of the middle of a motion beyond which a body has left the picture
PLANAR, THIN = 0.03, 0.3  # of the size: what moves less across a plane, and is not thicker, moves in it


class Bounds(NamedTuple):
    low: np.ndarray  # (3,) [m]
    high: np.ndarray
    is_planar: bool = False  # whether all moves in a plane z = constant
    cloud: np.ndarray | None = None  # (n, 3) places that a picture must show; None: the corners

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


def bounds_of(drawn: dict[str, Any], motion: Motion) -> Bounds:
    """All bodies over all times but for what was flung away, and what they run into; drawn: view/drawing.py."""
    bodies = [body for body in drawn["bodies"] if body["kind"] != "coordinate"]
    rows = np.unique(np.linspace(0, len(motion) - 1, FRAMES).astype(int))
    shown = motion.x[rows][:, [body["slot"] for body in bodies]]
    # A run that blows up must not shrink its sound part to a dot: judge by the middle of all times.
    away = np.abs(shown - np.median(shown.mean(axis=1), axis=0)).max(axis=(1, 2))
    near = away <= FLUNG * max(float(np.median(away)), float(away[0]), 1e-9)
    rows, shown = rows[near], shown[near]
    reach = np.array([body["radius"] for body in bodies]).reshape(1, -1, 1) * np.ones(3)
    reach = np.broadcast_to(reach, shown.shape).copy()
    for i, body in enumerate(bodies):
        if body["kind"] == "rigid" and not body["visual"] and (body["motion"] == "free" or not body["principal"]):
            reach[:, i] = _reach(of_shape(*body["shape"])[0], motion.quat[rows, body["quat"]])
    cloud = [(shown + sign * axis * reach).reshape(-1, 3) for axis in np.eye(3) for sign in (-1.0, 1.0)]
    centers = Bounds(shown.min(axis=(0, 1)), shown.max(axis=(0, 1)))
    bounds = Bounds((shown - reach).min(axis=(0, 1)), (shown + reach).max(axis=(0, 1)))
    for obstacle in drawn["obstacles"]:
        obstacle_bounds = _of_obstacle(obstacle, bounds)
        cloud.append(obstacle_bounds.corners())
        bounds = bounds.joined(obstacle_bounds)
    for visual in sorted(drawn["visuals"], key=lambda visual: visual["body"] is None):
        held = visual["body"] is None
        box = nearby(visual["box"], bounds.low, bounds.high) if held else np.array(visual["box"])
        corners = Bounds(*box).corners()
        if not held:
            turns = motion.quat[rows, visual["quat"], np.newaxis]
            corners = (motion.x[rows, visual["slot"], np.newaxis] + rotate(turns, corners)).reshape(-1, 3)
        cloud.append(corners)
        bounds = bounds.joined(Bounds(corners.min(axis=0), corners.max(axis=0)))
    for link in drawn["links"]:
        for slot, quat, *place in (link["a"], link["b"]):
            ends = np.array([place])
            if slot >= 0 > quat:  # a particle, which is shown as a body
                continue
            if slot >= 0:
                ends = motion.x[rows, int(slot)] + rotate(motion.quat[rows, int(quat)], ends)
            cloud.append(ends)
            bounds = bounds.joined(Bounds(ends.min(axis=0), ends.max(axis=0)))
    for guide in drawn["guides"]:
        if guide["form"] == "sphere":
            center, radius = np.array(guide["center"]), guide["radius"]
            bounds = bounds.joined(Bounds(center - radius, center + radius))
            cloud.append(np.concatenate([center + radius * np.eye(3), center - radius * np.eye(3)]))
        elif guide["form"] != "line" and len(guide["points"]):
            line = np.array(guide["points"])
            cloud.append(line)
            bounds = bounds.joined(Bounds(line.min(axis=0), line.max(axis=0)))
    if bounds.size == 0.0:
        bounds = Bounds(bounds.low - 0.5, bounds.high + 0.5)
        cloud.append(bounds.corners())
    flat = centers.extent[2] <= PLANAR * bounds.size and bounds.extent[2] <= THIN * bounds.size
    return Bounds(bounds.low, bounds.high, bool(flat), np.concatenate(cloud))


def _reach(vertices: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """How far a turned shape reaches along each axis, shape (T, 3)."""
    corners = Bounds(vertices.min(axis=0), vertices.max(axis=0)).corners()
    return np.abs(rotate(turns[:, np.newaxis], corners[np.newaxis])).max(axis=1)


def _of_obstacle(obstacle: dict[str, Any], found: Bounds) -> Bounds:
    """Where an obstacle ends; of one that does not, the place nearest to what moves, unless that is far away."""
    if obstacle["kind"] not in OBSTACLES:
        return found
    shape, _ = OBSTACLES[obstacle["kind"]]
    at = {key: np.array(value, float) for key, value in obstacle.items() if key not in BESIDE}
    ends = shape.bounds(at)
    if ends is not None:
        return Bounds(*ends)
    gap, normal = shape.distance_in_world(at, found.center[np.newaxis])
    foot = found.center - gap[0] * normal[0]
    return Bounds(foot, foot) if abs(gap[0]) < 3.0 * max(found.size, 0.5) else found
