"""Where the points of constraints were, at each record."""

from __future__ import annotations

import numpy as np

from ..model.frames import rotate
from ..model.model import Model
from .records import Records


def points_at(model: Model, records: Records, points: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of points at each record, (T, points, 3); of directions R u and ω × R u."""
    x, v = np.zeros((2, len(records.time), len(points), 3))
    first = int(model.places.point[0]) if len(model.places.point) else len(model.x)
    for i, point in enumerate(points):
        if point < first:
            x[:, i], v[:, i] = records.x[:, point], records.v[:, point]
            continue
        k = point - first
        base, spin, quat = model.places.base[k], int(model.places.slot[k]) + 1, records.quat[:, model.places.body[k]]
        arm = np.broadcast_to(model.places.arm[k], (len(x), 3))
        x[:, i] = records.x[:, base] + rotate(quat, arm)
        v[:, i] = records.v[:, base] + rotate(quat, np.cross(records.v[:, spin], arm))
    return x, v


def body_of(model: Model, point: int) -> str | None:
    """The body that a point sits on; None: the world."""
    places = {int(p): int(slot) for p, slot in zip(model.places.point, model.places.slot)}
    slot = places.get(point, point)
    return next((body.name for body in model.body_info if body.slot == slot), None)
