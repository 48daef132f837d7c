"""Half space: everything below a plane, which may move and turn. A floor, a wall.

    Φ = n(t) · d - r,    d = x - c(t)                               (1)
    J = n                                                           (2)
    Φ_t = n'·d - n·c'                                               (3)
    γ = n''·d + 2 n'·(v - c') - n·c''                               (4)

r is the ball's radius. In its own axes the solid is x ≤ 0.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..compiled import compiled
from .base import Argument, Mesh, Placement, Shape, Side, axes_along
from .box import triangles as box_triangles


def distance(y):
    return y[:, 0], np.broadcast_to([1.0, 0.0, 0.0], y.shape)


def place(at) -> Placement:
    return Placement((), at["point"], axes_along(at["normal"]))


def visible(at, window) -> Mesh:
    """A rectangle of the plane, as large as what moves before it."""
    normal = at["normal"] / np.linalg.norm(at["normal"])
    center = window.center - normal * (normal @ (window.center - at["point"]))
    if window.is_planar and abs(normal[2]) < 0.5:  # seen from its edge: a board
        thick, deep = 0.03 * window.size, max(0.06 * window.size, float(window.extent[2]))
        along = np.cross(normal, [0.0, 0.0, 1.0])
        long = float(np.abs(along) @ window.extent) + 2.0 * thick
        vertices, triangles = box_triangles(1.0, 1.0, 1.0)
        axes = np.stack([long * along, thick * normal, deep * np.cross(along, normal)])
        return center - 0.5 * thick * normal + vertices @ axes, triangles
    u = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
    u /= np.linalg.norm(u)
    v = np.cross(normal, u)
    a, b = (w * (0.5 * float(np.abs(w) @ window.extent) + 0.02 * window.size) for w in (u, v))
    return center + np.array([-a - b, a - b, a + b, b - a]), np.array([(0, 1, 2), (0, 2, 3)], np.int64)


def read_normal(normal):
    """The normal as parameters, of length one."""
    length = sqrt(sum(s.at(0.0)[0] ** 2 for s in normal))
    if length == 0.0:
        raise ValueError("its normal has no direction; give a vector such as (0, 1, 0)")
    if all(s.is_constant for s in normal):
        return tuple(s.value / length for s in normal)  # so that Φ is a distance in metres
    if abs(length - 1.0) > 1e-9:
        raise ValueError(f"its moving normal has length {length:g} at t = 0; a moving normal must have length 1")
    return normal


def pack(position, arguments, ball):
    return (*arguments["point"], *read_normal(arguments["normal"]), ball), ()


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + i]
        r = at.row + i
        k = at.blk + i
        value = -p[at.p + 7 * i + 6]
        rate = curve = 0.0
        for c in range(3):
            m = at.p + 7 * i + c
            d = x[a, c] - p[m]
            normal = p[m + 3]
            value += normal * d  # (1)
            J[k, c] = normal  # (2)
            rate += p_t[m + 3] * d - normal * p_t[m]  # (3)
            curve += p_tt[m + 3] * d + 2.0 * p_t[m + 3] * (v[a, c] - p_t[m]) - normal * p_tt[m]  # (4)
        phi[r] = value
        phi_t[r] = rate
        if second:
            gamma[r] = curve


DOC = "A ball stays on the side of a plane to which the normal points: a floor, a wall."

SHAPE = Shape(
    name="half_space",
    primitive="plane",
    doc="Everything on one side of a plane.",
    sizes=(),
    example=(),
    distance=distance,
    arguments=(
        Argument("point", "vector", "a place on the plane [m]", required=True),
        Argument("normal", "vector", "direction out of the wall", required=True),
    ),
    place=place,
    visible=visible,
    sides=(Side("half_space", DOC, 1.0, kernel, pack, synonyms=("floor", "wall", "plane", "ground_plane")),),
    still={"point": (0, 0, 0), "normal": (0.2, 1, 0)},
    moving=(
        {"point": ("0.1 + 0.1*sin(3*t)", "0.2*t**2", "1 - 0.1*cos(2*t)"), "normal": ("cos(3*t)", "sin(3*t)", 0)},
        {"point": (0, 1, 0), "normal": (1, 2, -1)},
    ),
)
