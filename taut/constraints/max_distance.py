"""Maximal distance: two points stay at most a length apart, as on a rope that may go slack.

    Φ = L(t) - |d| ≥ 0,    d = x_b - x_a            (1)
    J = (u, -u),           u = d / |d|              (2)
    Φ_t = L'                                        (3)
    γ = L'' - (|ḋ|² - (u·ḋ)²) / |d|                 (4)

Unlike two points that are held apart, the ends of a slack rope may meet. There it has no direction: u = 0 and
γ = L'' are taken.
"""

from __future__ import annotations

from math import sqrt

from ..arguments import example
from ..compiled import compiled
from ..compiled.vectors import dot3, edge
from . import distance
from .base import Kind, Layout


def pack(positions, arguments):
    length = arguments["length"]
    if length is None or length.at(0.0)[0] <= 0.0:
        return distance.pack(positions, arguments)  # the length at the start, or what is wrong
    return Layout((length,), length=length)


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + 2 * i]
        b = idx[at.idx + 2 * i + 1]
        r = at.row + i
        k = at.blk + 2 * i
        d = edge(x, a, b)
        length = sqrt(dot3(d, d))
        inverse = 1.0 / length if length > 0.0 else 0.0
        phi[r] = p[at.p + i] - length  # (1)
        for c in range(3):
            J[k, c] = d[c] * inverse  # (2)
            J[k + 1, c] = -d[c] * inverse
        phi_t[r] = p_t[at.p + i]  # (3)
        if second:
            w = edge(v, a, b)
            rate = dot3(d, w) * inverse
            gamma[r] = p_tt[at.p + i] - (dot3(w, w) - rate * rate) * inverse  # (4)


KIND = Kind(
    name="max_distance",
    doc="Two points stay at most a given length apart: a rope that may go slack.",
    points=("a", "b"), arguments=distance.KIND.arguments, pack=pack, kernel=kernel, sense=">=", contact=True,
    link="rope",
    synonyms=("rope", "cable", "string", "tether", "tendon"),
    examples=(
        example("p", "q", length="1 + 0.2*sin(3*t)"),
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), length=3),
    ),
    stops={"length": 1.6},
)  # fmt: skip
