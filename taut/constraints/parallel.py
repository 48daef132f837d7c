"""Parallel: edge a→b stays parallel to edge c→d.

    Φ = two components of (u × w) / s,    u = b - a, w = d - c,  s = |u||w| at the start       (1)
    J_u · δ = (δ × w)_i / s,   J_w · δ = (u × δ)_i / s                                         (2)
    γ = 2 (u̇ × ẇ)_i / s                                                                       (3)

Of the three components the one along the largest part of u follows from the other two, so it is left
out; which one that is, the chart, is looked at once at the start of each step (`rechart`). With edges of
constant length Φ is the sine of the angle between the edges, about its value in radians.
"""

from __future__ import annotations

import numpy as np

from ..arguments import example
from ..compiled import compiled
from .base import Kind, Layout


def pack(positions, arguments):
    a, b, c, d = positions
    size = float(np.linalg.norm(b - a) * np.linalg.norm(d - c))
    if size == 0.0:
        raise ValueError("one of its edges joins coincident points and has no direction; move one of them")
    return Layout((size,), ints=(int(np.argmax(np.abs(b - a))),))


@compiled
def rechart(n, at, idx, ints, x):
    for i in range(n):
        a = idx[at.idx + 4 * i]
        b = idx[at.idx + 4 * i + 1]
        largest = 0
        for c in range(1, 3):
            if abs(x[b, c] - x[a, c]) > abs(x[b, largest] - x[a, largest]):
                largest = c
        ints[at.ints + i] = largest


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        m = at.idx + 4 * i
        a, b, c, d = idx[m], idx[m + 1], idx[m + 2], idx[m + 3]
        scale = 1.0 / p[at.p + i]
        skipped = ints[at.ints + i]
        for j in range(2):
            # Component e of the cross product is u_f w_g - u_g w_f, with e, f, g cyclic.
            e = (skipped + 1 + j) % 3
            f = (e + 1) % 3
            g = (e + 2) % 3
            uf, ug = x[b, f] - x[a, f], x[b, g] - x[a, g]
            wf, wg = x[d, f] - x[c, f], x[d, g] - x[c, g]
            r = at.row + 2 * i + j
            k = at.blk + 4 * (2 * i + j)
            phi[r] = (uf * wg - ug * wf) * scale  # (1)
            for q in range(4):
                J[k + q, e] = 0.0
            J[k, f], J[k, g] = -wg * scale, wf * scale  # (2)
            J[k + 1, f], J[k + 1, g] = wg * scale, -wf * scale
            J[k + 2, f], J[k + 2, g] = ug * scale, -uf * scale
            J[k + 3, f], J[k + 3, g] = -ug * scale, uf * scale
            phi_t[r] = 0.0
            if second:
                duf, dug = v[b, f] - v[a, f], v[b, g] - v[a, g]
                dwf, dwg = v[d, f] - v[c, f], v[d, g] - v[c, g]
                gamma[r] = 2.0 * (duf * dwg - dug * dwf) * scale  # (3)


KIND = Kind(
    name="parallel",
    doc="Edge a-b stays parallel to edge c-d.",
    points=("a", "b", "c", "d"), rows=2, unit="rad", pack=pack, kernel=kernel, rechart=rechart,
    examples=(
        example("p", "q", "r", "s"),
        example("box", ("box", (0.3, 0, 0.1)), ("rod", (-0.5, 0, 0)), ("rod", (0.5, 0, 0))),
    ),
)  # fmt: skip
