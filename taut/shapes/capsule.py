"""Capsule: a cylinder of length l with half spheres at both ends; of length 0 a sphere.

    V = π r² l + 4 π r³ / 3                                                              (1)
    With m_c the mass of the cylinder, and m_s that of the half spheres together,
    I_x = m_c r² / 2 + 2 m_s r² / 5                                                      (2)
    I_y = I_z = m_c (3 r² + l²) / 12 + m_s (2 r² / 5 + l² / 4 + 3 l r / 8)               (3)
    d = |y - σ e_x| - r,    σ = y_x within ± l/2                                         (4)
    s(u) = ± l/2 e_x + r u / |u|                                                         (5)
"""

from __future__ import annotations

from functools import lru_cache
from math import pi

import numpy as np

from .base import Argument, Mesh, Placement, Shape, axes_along
from .rounded import PIECE, RADIUS, sides


def volume(radius, length):
    return pi * radius**2 * length + 4.0 / 3.0 * pi * radius**3  # (1)


def moments(m, radius, length):
    tube = m * pi * radius**2 * length / volume(radius, length)
    ends = m - tube
    along = 0.5 * tube * radius**2 + 0.4 * ends * radius**2  # (2)
    across = tube * (3.0 * radius**2 + length**2) / 12.0
    across += ends * (0.4 * radius**2 + 0.25 * length**2 + 0.375 * length * radius)  # (3)
    return along, across, across


def distance(y, radius, length):
    off = y.copy()
    off[:, 0] -= np.clip(y[:, 0], -0.5 * length, 0.5 * length)
    far = np.linalg.norm(off, axis=1)
    return far - radius, off / np.where(far > 0.0, far, 1.0)[:, None]  # (4)


def support(u, radius, length):
    ends = np.zeros_like(u)
    ends[:, 0] = np.sign(u[:, 0]) * 0.5 * length
    return ends + radius * u / np.linalg.norm(u, axis=1, keepdims=True)  # (5)


@lru_cache(maxsize=64)
def triangles(radius: float, length: float, rings: int = 16) -> Mesh:
    around = 2 * rings
    angle = np.pi * np.arange(1, rings) / rings
    along, out = -np.cos(angle), np.sin(angle)
    if length > 0.0:  # the middle ring twice: one for each end
        along = np.concatenate([along[: rings // 2], along[rings // 2 - 1 :]])
        out = np.concatenate([out[: rings // 2], out[rings // 2 - 1 :]])
    shift = 0.5 * length * np.where(np.arange(len(along)) < len(along) / 2, -1.0, 1.0)
    turn = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack([np.repeat(radius * along + (shift if length > 0.0 else 0.0), around),
                     radius * np.outer(out, np.cos(turn)).ravel(), radius * np.outer(out, np.sin(turn)).ravel()], 1)
    tips = np.array([[-radius - 0.5 * length, 0, 0], [radius + 0.5 * length, 0, 0]])
    first, last = len(ring), len(ring) + 1
    i = np.arange(around)
    j = (i + 1) % around
    parts = [np.stack([np.full(around, first), j, i], 1)]
    for k in range(len(along) - 1):
        a, b = k * around, (k + 1) * around
        parts += [np.stack([a + i, a + j, b + j], 1), np.stack([a + i, b + j, b + i], 1)]
    end = (len(along) - 1) * around
    parts.append(np.stack([np.full(around, last), end + i, end + j], 1))
    return np.concatenate([ring, tips]), np.concatenate(parts).astype(np.int64)


def place(at) -> Placement:
    along = at["end"] - at["start"]
    sizes = float(at["radius"]), float(np.linalg.norm(along))
    return Placement(sizes, 0.5 * (at["start"] + at["end"]), axes_along(along))


SHAPE = Shape(
    name="capsule",
    primitive="capsule",
    doc="A cylinder with half spheres at both ends.",
    sizes=("radius", "length"), example=(0.4, 1.3),
    volume=volume, moments=moments, distance=distance, support=support, triangles=triangles,
    arguments=(
        Argument("start", "vector", "one end of the axis [m]", required=True),
        Argument("end", "vector", "the other end of the axis [m]", required=True),
        RADIUS,
    ),
    place=place,
    sides=sides("capsule", "a capsule, whose ends may move", PIECE, "start", "end"),
    still={"start": (-2, 0, 0), "end": (2, 0, 0), "radius": 1.0},
    moving=(  # with the point before the start, beside the middle, and behind the end
        {"start": ("0.17 + 0.1*sin(3*t)", "-0.5 + 0.2*t**2", "1.43 - 0.1*cos(2*t)"), "end": (1.24, -1.03, 2.5),
         "radius": "0.3 + 0.1*sin(t)"},
        {"start": ("-0.12 + 0.1*sin(3*t)", "1.09 + 0.2*t**2", "0.57 - 0.1*cos(2*t)"), "end": (0.95, 0.56, 1.64),
         "radius": "0.3 + 0.1*sin(t)"},
        {"start": ("-1.52 + 0.1*sin(3*t)", "0.45 + 0.2*t**2", "-0.3 - 0.1*cos(2*t)"), "end": (-0.45, -0.08, 0.77),
         "radius": "0.3 + 0.1*sin(t)"},
    ),
)  # fmt: skip
