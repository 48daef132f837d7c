"""Coordinates of joints: what they are as functions of three points, and relations between them.

    angle          θ = atan2(s, c),   c = u·x,  s = u·y,   u on a's body, x and y on b's                   (1)
    displacement   q = w·d,   d = x_a - x_b,   w on b's body                                                (2)
    elevation      ε = asin d,   d = u·w,   u on a's body, w on b's: between -90° and 90°                   (9)

    θ̇ = (c ṡ - s ċ)/D,   D = c² + s²                                                                        (3)
    θ_u = (c y - s x)/D,   θ_x = -s u/D,   θ_y = c u/D                                                      (4)
    θ̈ = (c s̈ - s c̈ - Ḋ θ̇)/D,   c̈ = 2 u̇·ẋ,  s̈ = 2 u̇·ẏ  at constant ω (see rows.py)                         (5)
    q_a = w,   q_b = -w,   q_w = d,   q̈ = 2 ẇ·ḋ                                                             (6)
    ε̇ = ḋ / cos ε,   ε_u = w / cos ε,   ε_w = u / cos ε,   ε̈ = (2 u̇·ẇ + d ε̇²) / cos ε                       (10)

    relation       Φ = Σ_j a_j q_j + c - p(t)                                                               (7)

An angle is counted over any number of turns: a fourth point, the counter, keeps its value at the start of the step,
or one within 45° of it, in x[counter, 0] (model/instant.py: unwrap_angles), and atan2 is taken to the branch nearest
to it.                                                                                                     (8)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import asin, atan2, floor, pi, sqrt
from typing import Any

from ..compiled import compiled, inline
from ..constraints.base import Coordinate, Kind, Part
from .rows import dot, pack, products

ANGLE, DISPLACEMENT, ELEVATION = range(3)
TYPES = {"angle": ANGLE, "displacement": DISPLACEMENT, "elevation": ELEVATION}
UPRIGHT = 1e-15  # cos² ε below which an elevation has no rate
POINTS = 4  # of a coordinate, with its counter


@inline
def nearest(angle, before):
    """The branch of an angle that is nearest to its value before, (8)."""
    return angle - 2.0 * pi * floor((angle - before) / (2.0 * pi) + 0.5)


@inline
def cosine(d):
    """cos ε of (10)."""
    return sqrt(max(1.0 - d * d, UPRIGHT))


@compiled
def value(kind, x, idx, m):
    """The coordinate of the four points idx[m:], without its offset."""
    a, b, w, counter = idx[m], idx[m + 1], idx[m + 2], idx[m + 3]
    if kind == ANGLE:
        return nearest(atan2(dot(x, a, w), dot(x, a, b)), x[counter, 0])  # (1)
    if kind == ELEVATION:
        return asin(min(max(dot(x, a, b), -1.0), 1.0))  # (9)
    return dot(x, a, w) - dot(x, b, w)  # (2)


@compiled
def rate(kind, x, v, idx, m):
    """Its time derivative."""
    a, b, w = idx[m], idx[m + 1], idx[m + 2]
    if kind == ANGLE:
        c, s = dot(x, a, b), dot(x, a, w)
        dc = products(v, a, x, b) + products(x, a, v, b)
        ds = products(v, a, x, w) + products(x, a, v, w)
        return (c * ds - s * dc) / (c * c + s * s)  # (3)
    if kind == ELEVATION:
        return (products(v, a, x, b) + products(x, a, v, b)) / cosine(dot(x, a, b))  # (10)
    return products(v, w, x, a) - products(v, w, x, b) + products(x, w, v, a) - products(x, w, v, b)


@compiled
def gradient(kind, x, idx, m, scale, J, k):
    """scale ∂q/∂x of its four points into J[k:k + 4]; the counter has none."""
    a, b, w = idx[m], idx[m + 1], idx[m + 2]
    if kind == ANGLE:
        c, s = dot(x, a, b), dot(x, a, w)
        over = scale / (c * c + s * s)
        for e in range(3):
            J[k, e] = over * (c * x[w, e] - s * x[b, e])  # (4)
            J[k + 1, e] = -over * s * x[a, e]
            J[k + 2, e] = over * c * x[a, e]
    elif kind == ELEVATION:
        over = scale / cosine(dot(x, a, b))
        for e in range(3):
            J[k, e] = over * x[b, e]  # (10)
            J[k + 1, e] = over * x[a, e]
            J[k + 2, e] = 0.0
    else:
        for e in range(3):
            J[k, e] = scale * x[w, e]  # (6)
            J[k + 1, e] = -scale * x[w, e]
            J[k + 2, e] = scale * (x[a, e] - x[b, e])
    for e in range(3):
        J[k + 3, e] = 0.0


@compiled
def act(kind, x, idx, m, size, f):
    """Let a generalized force of that size act on a coordinate: f += size ∂q/∂x on its three points, (4) and (6)."""
    a, b, w = idx[m], idx[m + 1], idx[m + 2]
    if kind == ANGLE:
        c, s = dot(x, a, b), dot(x, a, w)
        over = size / (c * c + s * s)
        for e in range(3):
            f[a, e] += over * (c * x[w, e] - s * x[b, e])
            f[b, e] -= over * s * x[a, e]
            f[w, e] += over * c * x[a, e]
    elif kind == ELEVATION:
        over = size / cosine(dot(x, a, b))
        for e in range(3):
            f[a, e] += over * x[b, e]
            f[b, e] += over * x[a, e]
    else:
        for e in range(3):
            f[a, e] += size * x[w, e]
            f[b, e] -= size * x[w, e]
            f[w, e] += size * (x[a, e] - x[b, e])


@compiled
def bias(kind, x, v, idx, m):
    """q̈ while no point is accelerated, (5) and (6)."""
    a, b, w = idx[m], idx[m + 1], idx[m + 2]
    if kind == ANGLE:
        c, s = dot(x, a, b), dot(x, a, w)
        dc = products(v, a, x, b) + products(x, a, v, b)
        ds = products(v, a, x, w) + products(x, a, v, w)
        size = c * c + s * s
        turning = (c * ds - s * dc) / size
        return (2.0 * c * dot(v, a, w) - 2.0 * s * dot(v, a, b) - 2.0 * (c * dc + s * ds) * turning) / size  # (5)
    if kind == ELEVATION:
        d = dot(x, a, b)
        turning = (products(v, a, x, b) + products(x, a, v, b)) / cosine(d)
        return (2.0 * dot(v, a, b) + d * turning * turning) / cosine(d)  # (10)
    return 2.0 * (dot(v, w, a) - dot(v, w, b))  # (6)


@compiled
def relation_kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    count = ints[at.ints]  # the same in all of a batch, whose constraints have the same number of points
    for i in range(n):
        r, m = at.row + i, at.p + (2 + count) * i
        phi[r] = p[m + 1] - p[m]  # (7)
        phi_t[r] = -p_t[m]
        if second:
            gamma[r] = -p_tt[m]
        for j in range(count):
            kind = ints[at.ints + (1 + count) * i + 1 + j]
            weight = p[m + 2 + j]
            term = at.idx + 4 * (count * i + j)
            phi[r] += weight * value(kind, x, idx, term)
            gradient(kind, x, idx, term, weight, J, at.blk + 4 * (count * i + j))
            if second:
                gamma[r] += weight * bias(kind, x, v, idx, term)


def relation(coordinates: Sequence[Coordinate], weights: Sequence[float], target: Any, constant: float = 0.0) -> Part:
    """Σ a_j (q_j + offset_j) + c = p(t), of a sum that has the unit of the first coordinate."""
    if len(set(coordinates)) < len(coordinates):
        raise ValueError("it ties a coordinate to itself; name two different joints")
    constant += sum(weight * coordinate.offset for weight, coordinate in zip(weights, coordinates))
    name = "angle_relation" if coordinates[0].turns else "displacement_relation"
    points = tuple(point for coordinate in coordinates for point in coordinate.points)
    types = tuple(TYPES[coordinate.type] for coordinate in coordinates)
    return Part(name, points, (target, constant, *weights), (len(types), *types))


def _relation(name: str, unit: str) -> Kind:
    return Kind(name=name, doc="A weighted sum of joint coordinates follows a function of time.", points=None, rows=1,
                unit=unit, pack=pack, kernel=relation_kernel)


RELATIONS = (_relation("angle_relation", "rad"), _relation("displacement_relation", "m"))
