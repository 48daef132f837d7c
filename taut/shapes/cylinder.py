"""Cylinder: of a given length as a rigid body, without ends as an obstacle.

    V = π r² l                                                    (1)
    I_x = m r² / 2,    I_y = I_z = m (3 r² + l²) / 12             (2)
    q = (|y_x| - l/2, ρ - r),    ρ = √(y_y² + y_z²)               (3)
    d = |max(q, 0)| outside,    max(q_1, q_2) inside              (4)
    s(u) = (± l/2, r u_y / |u_yz|, r u_z / |u_yz|)                (5)
"""

from __future__ import annotations

from functools import lru_cache
from math import pi

import numpy as np

from .base import Argument, Mesh, Placement, Shape, axes_along
from .rounded import LINE, RADIUS, sides


def volume(radius, length):
    return pi * radius**2 * length  # (1)


def moments(m, radius, length):
    across = m * (3.0 * radius**2 + length**2) / 12.0
    return 0.5 * m * radius**2, across, across  # (2)


def distance(y, radius, length):
    off = np.linalg.norm(y[:, 1:], axis=1)
    out = np.column_stack([np.sign(y[:, 0]), y[:, 1:] / np.where(off > 0.0, off, 1.0)[:, None]])
    q = np.column_stack([np.abs(y[:, 0]) - 0.5 * length, off - radius])  # (3)
    beyond = np.maximum(q, 0.0)
    far = np.linalg.norm(beyond, axis=1)
    within = far <= 0.0
    face = np.eye(2)[q.argmax(axis=1)]
    along = np.where(within[:, None], face, beyond / np.where(within, 1.0, far)[:, None])
    return np.where(within, q.max(axis=1), far), out * along[:, [0, 1, 1]]  # (4)


def support(u, radius, length):
    off = np.linalg.norm(u[:, 1:], axis=1, keepdims=True)
    return np.column_stack([np.sign(u[:, 0]) * 0.5 * length, radius * u[:, 1:] / np.where(off > 0.0, off, 1.0)])  # (5)


@lru_cache(maxsize=64)
def triangles(radius: float, length: float, around: int = 32) -> Mesh:
    turn = 2.0 * np.pi * np.arange(around) / around
    rim = np.stack([np.zeros(around), radius * np.cos(turn), radius * np.sin(turn)], 1)
    half = np.array([0.5 * length, 0.0, 0.0])
    vertices = np.concatenate([rim - half, rim + half, rim - half, rim + half, [-half], [half]])
    i = np.arange(around)
    j = (i + 1) % around
    side = [np.stack([i, j, around + j], 1), np.stack([i, around + j, around + i], 1)]
    caps = [np.stack([np.full(around, 4 * around), 2 * around + j, 2 * around + i], 1),
            np.stack([np.full(around, 4 * around + 1), 3 * around + i, 3 * around + j], 1)]
    return vertices, np.concatenate([*side, *caps]).astype(np.int64)


def place(at) -> Placement:
    return Placement((float(at["radius"]), np.inf), at["point"], axes_along(at["direction"]))


def visible(at, window) -> Mesh:
    """Cut off where the picture ends."""
    (radius, _), point, axes = place(at)
    vertices, found = triangles(radius, 1.2 * window.size, 48)
    return point + axes[0] * (axes[0] @ (window.center - point)) + vertices @ axes, found


SHAPE = Shape(
    name="cylinder",
    primitive="cylinder",
    doc="A cylinder; as an obstacle it has no ends.",
    sizes=("radius", "length"), example=(0.4, 1.3),
    volume=volume, moments=moments, distance=distance, support=support, triangles=triangles,
    arguments=(
        Argument("point", "vector", "a place on the axis [m]", required=True),
        Argument("direction", "vector", "along the axis", required=True),
        RADIUS,
    ),
    place=place,
    visible=visible,
    sides=sides("cylinder", "a cylinder without ends, which may move and turn", LINE, "point", "direction"),
    still={"point": (0, 0, 0), "direction": (1, 0, 0), "radius": 1.0},
    moving=(
        {"point": ("1 + 0.1*sin(3*t)", "1 + 0.2*t**2", "-0.1*cos(2*t)"), "direction": (1, 2, 3),
         "radius": "1.1 + 0.2*sin(t)"},
        {"point": (1, 1, 0), "direction": ("cos(3*t)", "sin(3*t)", "1 + t"), "radius": 0.5},
    ),
)  # fmt: skip
