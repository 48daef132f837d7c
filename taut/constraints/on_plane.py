"""On a plane, which may move and turn.

    Φ = n(t) · d - r,    d = x - c(t)                               (1)
    J = n                                                           (2)
    Φ_t = n'·d - n·c'                                               (3)
    γ = n''·d + 2 n'·(v - c') - n·c''                               (4)

r is the height of a point above the plane: 0 here, a ball's radius where half_space uses this kernel.
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled
from .base import Argument, Kind, Layout


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


def lay_out(positions, arguments):
    point = arguments["point"] or tuple(positions[0])
    return Layout((*point, *read_normal(arguments["normal"]), 0.0))


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + i]
        r = at.row + i
        k = at.blk + i
        value = -p[at.par + 7 * i + 6]
        rate = curve = 0.0
        for c in range(3):
            m = at.par + 7 * i + c
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


KIND = Kind(
    name="on_plane",
    doc="A point stays on a plane; the plane may move and turn with time.",
    points=("a",),
    rows=1,
    unit="m",
    arguments=(
        Argument("point", "vector", "a place on the plane [m]; default: where the point starts"),
        Argument("normal", "vector", "direction across the plane", required=True),
    ),
    lay_out=lay_out,
    kernel=kernel,
    contact=True,
)
