"""Linear relation between coordinates: gears, racks, pulleys.

    Φ = Σ a_j · x_j + a_0(t)        (1)
    J_j = a_j                       (2)
    Φ_t = a_0',  γ = a_0''          (3)
"""

from __future__ import annotations

import numpy as np

from ..arguments import example
from ..compiled import compiled
from .base import Affine, Argument, Kind, Layout


def pack(positions, arguments):
    coefficients = np.array(arguments["coefficients"], dtype=float)
    count = len(positions)
    if coefficients.size == count:  # one number per point: scalar coordinates, value in the first place
        coefficients = np.column_stack([coefficients, np.zeros((count, 2))])
    if coefficients.size != 3 * count:
        raise ValueError(f"it has {coefficients.size} coefficients for {count} points; give one per coordinate, "
                         "or three per particle")
    if not coefficients.any():
        raise ValueError("all its coefficients are zero, so it says nothing; remove it")
    constant = arguments["constant"]
    if constant is None:
        constant = -float(coefficients.ravel() @ positions.ravel())
    return Layout((constant, *coefficients.ravel()), ints=(count,))


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        count = ints[at.ints + i]
        m = at.p + (1 + 3 * count) * i
        value = p[m]
        for q in range(count):
            a = idx[at.idx + count * i + q]
            k = at.blk + count * i + q
            for c in range(3):
                coefficient = p[m + 1 + 3 * q + c]
                value += coefficient * x[a, c]
                J[k, c] = coefficient  # (2)
        phi[at.row + i] = value  # (1)
        phi_t[at.row + i] = p_t[m]  # (3)
        if second:
            gamma[at.row + i] = p_tt[m]


KIND = Kind(
    name="linear",
    doc="A weighted sum of coordinates keeps its value (gear, rack, pulley).",
    points=None, unit="1",
    arguments=(
        Argument("coefficients", "numbers", "one per coordinate, or three per particle", required=True),
        Argument("constant", "number", "added to the sum; default: such that it holds at the start"),
    ),
    pack=pack, kernel=kernel, affine=Affine(1, is_place=False),
    synonyms=("pulley", "coordinate_coupler"),
    examples=(
        example("p", "q", coefficients=[1, 2, 3, -1, 0.5, 2], constant="sin(2*t)"),
        example("turn", "shift", coefficients=[2, -5]),
    ),
)  # fmt: skip
