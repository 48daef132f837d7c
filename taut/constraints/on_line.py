"""On a line of fixed direction, which may move.

    Φ_j = e_j · (x - c(t)),    j = 1, 2                 (1)
    J_j = e_j                                           (2)
    Φ_t = -e_j·c'                                       (3)
    γ = -e_j·c''                                        (4)

e_1 and e_2 are unit vectors across the line, chosen once.
"""

from __future__ import annotations

import numpy as np

from ..arguments import example
from ..compiled import compiled
from .base import Affine, Argument, Kind, Layout, at_start

MARGIN = 0.25  # of the way that a point went: how far its line is drawn beyond


def pack(positions, arguments):
    direction = np.array(arguments["direction"], dtype=float)
    length = np.linalg.norm(direction)
    if length == 0.0:
        raise ValueError("its direction has no length; give a vector such as (1, 0, 0)")
    direction /= length
    across = np.eye(3)[np.argmin(np.abs(direction))]
    first = np.cross(direction, across)
    first /= np.linalg.norm(first)
    second = np.cross(direction, first)
    point = arguments["point"] or tuple(positions[0])
    return Layout((*point, *first, *second))


def guide(arguments, x):
    """The part of the line along which the point went."""
    direction = np.array(arguments["direction"], float)
    direction /= np.linalg.norm(direction)
    origin = np.array(at_start(arguments["point"])) if arguments["point"] else x[0, 0]
    along = (x[:, 0] - origin) @ direction
    span = max(float(np.ptp(along)), 0.5 * float(np.abs(x[0, 0]).max()), 1.0)
    ends = along.min() - MARGIN * span, along.max() + MARGIN * span
    return {"form": "line", "points": [(origin + s * direction).tolist() for s in ends]}


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + i]
        m = at.p + 9 * i
        for j in range(2):
            r = at.row + 2 * i + j
            k = at.blk + 2 * i + j
            e = m + 3 + 3 * j
            value = rate = curve = 0.0
            for c in range(3):
                value += p[e + c] * (x[a, c] - p[m + c])  # (1)
                J[k, c] = p[e + c]  # (2)
                rate -= p[e + c] * p_t[m + c]  # (3)
                curve -= p[e + c] * p_tt[m + c]  # (4)
            phi[r] = value
            phi_t[r] = rate
            if second:
                gamma[r] = curve


KIND = Kind(
    name="on_line",
    doc="A point stays on a line; the line may move.",
    points=("a",), rows=2,
    arguments=(
        Argument("point", "vector", "a place on the line [m]; default: where the point starts"),
        Argument("direction", "constant_vector", "along the line", required=True),
    ),
    pack=pack, kernel=kernel, affine=Affine(3, is_place=True), guide=guide,
    synonyms=("inline", "wire"),
    examples=(
        example("p", point=("sin(2*t)", "t**2", 0), direction=(1, 2, 3)),
        example(("box", (0.1, 0.2, 0.3)), direction=(0, 1, 0)),
    ),
)  # fmt: skip
