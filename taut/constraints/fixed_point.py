"""Fixed point: a point stays at a place, which may move.

    Φ = x - c(t)        (1)
    J = 1               (2)
    Φ_t = -c'           (3)
    γ = -c''            (4)
"""

from __future__ import annotations

from ..arguments import example
from ..compiled import compiled
from .base import Affine, Argument, Kind, Layout


def pack(positions, arguments):
    place = arguments["place"]
    return Layout(tuple(positions[0]) if place is None else tuple(place))


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + i]
        for c in range(3):
            r = at.row + 3 * i + c
            k = at.blk + 3 * i + c
            m = at.p + 3 * i + c
            phi[r] = x[a, c] - p[m]  # (1)
            J[k, 0] = J[k, 1] = J[k, 2] = 0.0
            J[k, c] = 1.0  # (2)
            phi_t[r] = -p_t[m]  # (3)
            if second:
                gamma[r] = -p_tt[m]  # (4)


KIND = Kind(
    name="fixed_point",
    doc="A point stays at a place, or follows a moving place.",
    points=("a",), rows=3,
    arguments=(Argument("place", "vector", "where [m]; default: where it starts"),),
    pack=pack, kernel=kernel, affine=Affine(3, is_place=True), constant_jacobian=True,
    synonyms=("ground", "anchor", "fix", "pinned", "nail"),
    examples=(
        example("p", place=("sin(2*t)", "0.1*t**3", 1)),
        example(("box", (0.1, 0.2, 0.3))),
    ),
)  # fmt: skip
