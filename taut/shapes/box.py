"""Box, which as an obstacle may move but not turn.

With y = Qᵀ (x - c(t)) in the box's axes and h its half sizes,

    q_j = |y_j| - h_j,    w_j = max(q_j, 0) sign(y_j)                               (1)
    Φ = f - r,    f = |w| outside,    f = max_j q_j inside                          (2)
    J = Q u,    u = w / f outside,    u = sign(y_j) e_j at the nearest face inside  (3)
    Φ_t = -J·c'                                                                     (4)
    γ = (|ẇ|² - (u·ẇ)²) / f - J·c'',    ẇ = the part of Qᵀ(v - c') where w ≠ 0      (5)

One w_j ≠ 0 is a face, two an edge and three a corner; on a face γ has no first term, and inside neither.
r is the ball's radius. A ball that stays inside meets six walls; the upper sign is the wall at +e_j, which comes first:

    Φ = h_j ∓ e_j·(x - c(t)) - r        (6)
    J = ∓ e_j                           (7)
    Φ_t = ± e_j·c',    γ = ± e_j·c''    (8)

As a rigid body with the sizes a, b, c:

    V = a b c,    I_x = m (b² + c²) / 12        (9)
    s(u) = (± a/2, ± b/2, ± c/2)                (10)
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

import numpy as np

from ..compiled import compiled
from .base import Argument, Mesh, Placement, Shape, Side


def volume(x, y, z):
    return x * y * z  # (9)


def moments(m, *sizes):
    x, y, z = (size * size for size in sizes)
    return m * (y + z) / 12.0, m * (x + z) / 12.0, m * (x + y) / 12.0  # (9)


def distance(y, *sizes):
    q = np.abs(y) - 0.5 * np.array(sizes)
    beyond = np.maximum(q, 0.0) * np.sign(y)  # (1)
    far = np.linalg.norm(beyond, axis=1)
    within = far <= 0.0
    face = np.eye(3)[q.argmax(axis=1)] * np.sign(y)
    normal = np.where(within[:, None], face, beyond / np.where(within, 1.0, far)[:, None])  # (3)
    return np.where(within, q.max(axis=1), far), normal  # (2)


def support(u, *sizes):
    return np.sign(u) * 0.5 * np.array(sizes)  # (10)


@lru_cache(maxsize=64)
def triangles(x: float, y: float, z: float) -> Mesh:
    vertices: list[np.ndarray] = []
    found: list[tuple[int, int, int]] = []
    half = np.array([x, y, z]) / 2.0
    for axis in range(3):
        for sign in (-1.0, 1.0):
            out = np.eye(3)[axis] * sign
            u = np.eye(3)[(axis + 1) % 3]
            v = np.cross(out, u)
            first = len(vertices)
            vertices += [half * (out + a * u + b * v) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            found += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return np.array(vertices), np.array(found, np.int64)


def axes_of(orientation) -> tuple:
    """The rows of Qᵀ: the box's axes in the world, one after the other."""
    w, x, y, z = orientation
    return (
        1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),
        2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
        2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip


def place(at) -> Placement:
    return Placement(tuple(2.0 * at["half"]), at["center"], np.array(axes_of(at["orientation"])).reshape(3, 3))


def pack(position, arguments, ball):
    half = arguments["half"]
    if min(half) <= 0.0:
        raise ValueError(f"its half sizes are {half}; all must be positive")
    return (*arguments["center"], *half, *axes_of(arguments["orientation"]), ball), ()


def pack_inside(position, arguments, ball):
    packed = pack(position, arguments, ball)
    smallest = min(arguments["half"])
    if smallest < ball:  # (6) could not hold for both of two walls
        raise ValueError(f"half of its smallest size is {smallest:g} m, too small for a ball of radius {ball:g} m; "
                         "make it larger")
    return packed


@compiled
def outside(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + i]
        m = at.p + 16 * i
        r = at.row + i
        k = at.blk + i
        deepest = -1.0
        face = 0
        sign = 1.0
        squares = rate = speeds = 0.0
        J[k, 0] = J[k, 1] = J[k, 2] = 0.0
        for j in range(3):
            e = m + 6 + 3 * j
            y = 0.0
            for c in range(3):
                y += p[e + c] * (x[a, c] - p[m + c])
            s = 1.0 if y >= 0.0 else -1.0
            q = s * y - p[m + 3 + j]  # (1)
            if j == 0 or q > deepest:
                deepest = q
                face = e
                sign = s
            if q > 0.0:
                slide = 0.0
                for c in range(3):
                    J[k, c] += q * s * p[e + c]  # becomes f J
                    slide += s * p[e + c] * (v[a, c] - p_t[m + c])
                squares += q * q
                rate += q * slide
                speeds += slide * slide
        if deepest > 0.0:
            f = sqrt(squares)
            for c in range(3):
                J[k, c] /= f  # (3)
            turning = (speeds - rate * rate / squares) / f
        else:
            f = deepest
            for c in range(3):
                J[k, c] = sign * p[face + c]
            turning = 0.0
        phi[r] = f - p[m + 15]  # (2)
        phi_t[r] = -(J[k, 0] * p_t[m] + J[k, 1] * p_t[m + 1] + J[k, 2] * p_t[m + 2])  # (4)
        if second:
            gamma[r] = turning - (J[k, 0] * p_tt[m] + J[k, 1] * p_tt[m + 1] + J[k, 2] * p_tt[m + 2])  # (5)


@compiled
def inside(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + i]
        m = at.p + 16 * i
        for j in range(3):
            e = m + 6 + 3 * j
            y = rate = curve = 0.0
            for c in range(3):
                y += p[e + c] * (x[a, c] - p[m + c])
                rate += p[e + c] * p_t[m + c]
                curve += p[e + c] * p_tt[m + c]
            for wall in range(2):
                sign = 1.0 - 2.0 * wall
                r = at.row + 6 * i + 2 * j + wall
                k = at.blk + 6 * i + 2 * j + wall
                phi[r] = p[m + 3 + j] - sign * y - p[m + 15]  # (6)
                for c in range(3):
                    J[k, c] = -sign * p[e + c]  # (7)
                phi_t[r] = sign * rate  # (8)
                if second:
                    gamma[r] = sign * curve


SHAPE = Shape(
    name="box",
    primitive="box",
    doc="A box.",
    sizes=("x", "y", "z"), example=(0.4, 0.7, 1.1),
    volume=volume, moments=moments, distance=distance, support=support, triangles=triangles,
    arguments=(
        Argument("center", "vector", "centre [m]", required=True),
        Argument("half", "constant_vector", "half of its sizes along its own axes [m]", required=True),
        Argument("orientation", "quaternion", "from the box's axes to the world's", default=(1.0, 0.0, 0.0, 0.0)),
    ),
    place=place,
    sides=(
        Side("outside_box", "A ball stays outside a box, which may move.", 1.0, outside, pack),
        Side("inside_box", "A ball stays inside a box, which may move: six walls.", -1.0, inside, pack_inside, rows=6),
    ),
    still={"center": (0, 0, 0), "half": (1, 1, 1)},
    moving=(  # with the point before a face, an edge and a corner, and inside
        {"center": ("-0.23 + 0.1*sin(3*t)", "-0.58 + 0.2*t**2", "-0.16 - 0.1*cos(2*t)"), "half": (0.8, 0.7, 0.9),
         "orientation": (0.8, 0.2, -0.4, 0.4)},
        {"center": ("0.42 + 0.1*sin(3*t)", "-1.71 + 0.2*t**2", "1.98 - 0.1*cos(2*t)"), "half": (0.8, 0.7, 0.9),
         "orientation": (0.8, 0.2, -0.4, 0.4)},
        {"center": ("0.29 + 0.1*sin(3*t)", "2.78 + 0.2*t**2", "1.34 - 0.1*cos(2*t)"), "half": (0.8, 0.7, 0.9),
         "orientation": (0.8, 0.2, -0.4, 0.4)},
        {"center": ("-1.04 + 0.1*sin(3*t)", "1.01 + 0.2*t**2", "0.88 - 0.1*cos(2*t)"), "half": (2.0, 2.1, 1.9),
         "orientation": (0.8, 0.2, -0.4, 0.4)},
    ),
)  # fmt: skip
