"""Distance of a ball from a sphere, a cylinder or a capsule, which may move, turn and grow.

All three are the places at a distance R(t) from a core A + σ e: a point (σ = 0), a line (any σ) or a piece of
a line (0 ≤ σ ≤ 1). With the σ that is nearest,

    Φ = ± (f - R) - r,    f = |w|,    w = x - A - σ e                               (1)
    J = ± u,    u = w / f                                                           (2)
    Φ_t = ± (-u·(A' + σ e') - R')                                                   (3)
    γ = ± (u̇·z - u·(A'' + σ e'' + σ̇ e') - R''),    z = v - A' - σ e'                (4)
    σ = e·(x - A) / |e|²,    σ̇ = (e'·w + e·z) / |e|²    where σ is free             (5)
    u̇ = (ẇ - (u·ẇ) u) / f,    ẇ = z - σ̇ e                                           (6)

+ is outside and - is inside; r is the ball's radius. (3) needs no σ̇ because w is across e where σ is free,
and neither does J. On the core, where f = 0, every direction is as near as any other: u = 0 is taken. Inside
kinds are far from their limit there; outside kinds refuse to start there.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..compiled import compiled
from ..compiled.vectors import dot3
from .base import Argument, Side

POINT, LINE, PIECE = 0, 1, 2
RADIUS = Argument("radius", "number", "radius [m]", required=True)


def sides(name: str, what: str, core: int, first: str, second: str = "") -> tuple[Side, Side]:
    """Both kinds of a shape with that core; `first` and `second` are the arguments that say where it is."""

    def keeps(sign):
        def pack(position, arguments, ball):
            return around(position, arguments, ball, core, arguments[first], arguments[second or first], sign)

        return pack

    return (
        Side(f"outside_{name}", f"A ball stays outside {what}.", 1.0, kernel, keeps(1.0)),
        Side(f"inside_{name}", f"A ball stays inside {what}.", -1.0, kernel, keeps(-1.0)),
    )


def around(position, arguments, ball, core, first, second, side):
    """The kernel's parameters: A, then the other end or the direction; side is 1.0 outside and -1.0 inside."""
    radius = radius_of(arguments, ball, side)
    a, e = (np.array([s.at(0.0)[0] for s in three]) for three in (first, second))
    if core == PIECE:
        e = e - a
    d = position - a
    if core != POINT:
        if not e.any():
            raise ValueError("its axis has no direction; give two different ends" if core == PIECE else
                             "its direction has no length; give a vector such as (1, 0, 0)")
        nearest = float(e @ d / (e @ e))
        d = d - (min(max(nearest, 0.0), 1.0) if core == PIECE else nearest) * e
    if side > 0.0 and np.linalg.norm(d) <= 1e-12 * radius.at(0.0)[0]:
        raise ValueError("its point starts in the very middle, where the way out is undefined; move it outside")
    return (*first, *second, radius, ball, side), (core,)


def radius_of(arguments, ball, side):
    """R(t), after a check that the ball has a place inside."""
    radius = arguments["radius"]
    now = radius.at(0.0)[0]
    if now <= 0.0:
        raise ValueError(f"its radius is {now:g} m; a radius must be positive")
    if side < 0.0 and now < ball:
        raise ValueError(f"its radius is {now:g} m, too small for a ball of radius {ball:g} m; make it larger")
    return radius


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        q = idx[at.idx + i]
        m = at.p + 9 * i
        core = ints[at.ints + i]
        side = p[m + 8]
        # A piece is given by its two ends, a line by a place and a direction.
        keep = 1.0 if core == PIECE else 0.0
        e = (p[m + 3] - keep * p[m], p[m + 4] - keep * p[m + 1], p[m + 5] - keep * p[m + 2])
        e_t = (p_t[m + 3] - keep * p_t[m], p_t[m + 4] - keep * p_t[m + 1], p_t[m + 5] - keep * p_t[m + 2])
        d = (x[q, 0] - p[m], x[q, 1] - p[m + 1], x[q, 2] - p[m + 2])
        along = 0.0
        free = core != POINT
        if free:
            along = dot3(e, d) / dot3(e, e)  # (5)
            if core == PIECE and (along <= 0.0 or along >= 1.0):
                along = 0.0 if along <= 0.0 else 1.0
                free = False
        w = (d[0] - along * e[0], d[1] - along * e[1], d[2] - along * e[2])
        f = sqrt(dot3(w, w))
        inverse = 1.0 / f if f > 0.0 else 0.0
        u = (w[0] * inverse, w[1] * inverse, w[2] * inverse)
        r = at.row + i
        k = at.blk + i
        phi[r] = side * (f - p[m + 6]) - p[m + 7]  # (1)
        J[k, 0], J[k, 1], J[k, 2] = side * u[0], side * u[1], side * u[2]  # (2)
        pushed = (p_t[m] + along * e_t[0], p_t[m + 1] + along * e_t[1], p_t[m + 2] + along * e_t[2])
        phi_t[r] = -side * (dot3(u, pushed) + p_t[m + 6])  # (3)
        if second:
            z = (v[q, 0] - pushed[0], v[q, 1] - pushed[1], v[q, 2] - pushed[2])
            slide = (dot3(e_t, w) + dot3(e, z)) / dot3(e, e) if free else 0.0  # (5)
            w_t = (z[0] - slide * e[0], z[1] - slide * e[1], z[2] - slide * e[2])
            turning = (dot3(w_t, z) - dot3(u, w_t) * dot3(u, z)) * inverse  # (6)
            e_tt = (p_tt[m + 3] - keep * p_tt[m], p_tt[m + 4] - keep * p_tt[m + 1], p_tt[m + 5] - keep * p_tt[m + 2])
            pulled = (
                p_tt[m] + along * e_tt[0] + slide * e_t[0],
                p_tt[m + 1] + along * e_tt[1] + slide * e_t[1],
                p_tt[m + 2] + along * e_tt[2] + slide * e_t[2],
            )
            gamma[r] = side * (turning - dot3(u, pulled) - p_tt[m + 6])  # (4)
