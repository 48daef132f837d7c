"""On a sphere whose centre and radius may change.

    Φ = |d| - R(t),    d = x - c(t),    ḋ = v - c'      (1)
    J = u = d / |d|                                     (2)
    Φ_t = -u·c' - R'                                    (3)
    γ = (|ḋ|² - (u·ḋ)²) / |d| - u·c'' - R''             (4)
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..arguments import example
from ..compiled import compiled
from .base import Argument, Kind, Layout, at_start


def pack(positions, arguments):
    center = arguments["center"]
    apart = sqrt(sum((positions[0][c] - center[c].at(0.0)[0]) ** 2 for c in range(3)))
    if apart == 0.0:
        raise ValueError("its point starts at the centre, where the direction is undefined; move it off the centre")
    radius = arguments["radius"]
    if radius is not None and radius.at(0.0)[0] <= 0:
        raise ValueError(f"its radius is {radius.at(0.0)[0]:g} m; a radius must be positive")
    own = apart if radius is None else radius
    return Layout((*center, own), length=own)


def guide(arguments, x):
    centre, radius = at_start(arguments["center"]), arguments["radius"]
    radius = float(np.linalg.norm(x[0, 0] - centre)) if radius is None else at_start(radius)
    return {"form": "sphere", "center": centre, "radius": radius}


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + i]
        m = at.p + 4 * i
        r = at.row + i
        k = at.blk + i
        dx = x[a, 0] - p[m]
        dy = x[a, 1] - p[m + 1]
        dz = x[a, 2] - p[m + 2]
        length = sqrt(dx * dx + dy * dy + dz * dz)
        ux, uy, uz = dx / length, dy / length, dz / length
        phi[r] = length - p[m + 3]  # (1)
        J[k, 0], J[k, 1], J[k, 2] = ux, uy, uz  # (2)
        phi_t[r] = -(ux * p_t[m] + uy * p_t[m + 1] + uz * p_t[m + 2]) - p_t[m + 3]  # (3)
        if second:
            wx = v[a, 0] - p_t[m]
            wy = v[a, 1] - p_t[m + 1]
            wz = v[a, 2] - p_t[m + 2]
            rate = ux * wx + uy * wy + uz * wz
            turning = (wx * wx + wy * wy + wz * wz - rate * rate) / length
            pulled = ux * p_tt[m] + uy * p_tt[m + 1] + uz * p_tt[m + 2]
            gamma[r] = turning - pulled - p_tt[m + 3]  # (4)


KIND = Kind(
    name="on_sphere",
    doc="A point stays on a sphere; centre and radius may change with time.",
    points=("a",),
    arguments=(
        Argument("center", "vector", "centre [m]", required=True),
        Argument("radius", "number", "radius [m]; default: as at the start"),
    ),
    pack=pack, kernel=kernel, contact=True, guide=guide,
    examples=(
        example("p", center=("sin(2*t)", "t**2", 3), radius="2 + sin(t)"),
        example(("box", (0.1, 0.2, 0.3)), center=(1, 0, 0)),
    ),
)  # fmt: skip
