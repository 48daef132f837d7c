"""Coplanar: a point stays in the plane of three others.

    Φ = u · (w × z) / s,    u = b - a, w = c - a, z = d - a         (1)
    J_b = w × z / s,  J_c = z × u / s,  J_d = u × w / s,  J_a = -(J_b + J_c + J_d)      (2)
    γ = 2 (u̇·(ẇ × z) + u·(ẇ × ż) + u̇·(w × ż)) / s                  (3)

s is twice the area of the triangle a b c at the start, so that Φ is the height of d in metres
as long as the triangle keeps its area.
"""

from __future__ import annotations

import numpy as np

from ..arguments import example
from ..compiled import compiled
from ..compiled.vectors import cross3, dot3, edge
from .base import Kind, Layout


def pack(positions, arguments):
    a, b, c, _ = positions
    area = float(np.linalg.norm(np.cross(b - a, c - a)))
    if area <= 1e-12 * float(np.sum((b - a) ** 2) + np.sum((c - a) ** 2)):
        raise ValueError("its first three points lie on one line and span no plane; reorder or move them")
    return Layout((area,))


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        m = at.idx + 4 * i
        a, b, c, d = idx[m], idx[m + 1], idx[m + 2], idx[m + 3]
        r = at.row + i
        k = at.blk + 4 * i
        scale = 1.0 / p[at.p + i]
        u, w, z = edge(x, a, b), edge(x, a, c), edge(x, a, d)
        wz, zu, uw = cross3(w, z), cross3(z, u), cross3(u, w)
        phi[r] = dot3(u, wz) * scale  # (1)
        for j in range(3):
            J[k, j] = -(wz[j] + zu[j] + uw[j]) * scale  # (2)
            J[k + 1, j] = wz[j] * scale
            J[k + 2, j] = zu[j] * scale
            J[k + 3, j] = uw[j] * scale
        phi_t[r] = 0.0
        if second:
            du, dw, dz = edge(v, a, b), edge(v, a, c), edge(v, a, d)
            bend = dot3(du, cross3(dw, z)) + dot3(u, cross3(dw, dz)) + dot3(du, cross3(w, dz))
            gamma[r] = 2.0 * scale * bend  # (3)


KIND = Kind(
    name="coplanar",
    doc="Four points stay in one plane.",
    points=("a", "b", "c", "d"), pack=pack, kernel=kernel,
    examples=(
        example("p", "q", "r", "s"),
        example(("box", (0.3, 0, 0.1)), "q", ("rod", (0.5, 0, 0)), (1, 2, 3)),
    ),
)  # fmt: skip
