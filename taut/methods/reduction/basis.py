"""B, c and H of any form of reduced coordinates, by the slots of the bodies: what multipliers of further rows need.

    v = B θ̇ + x_t,   a = B θ̈ + c                                                 (1)
    H = Bᵀ M B + H_T = L Lᵀ                                                      (2)  H_T, g_T: formulas.py (4)
    θ̈ = H⁻¹ (Bᵀ (f - M c) + g_T)                                                 (3)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled import compiled, structure
from ...model.arrays import Array
from .formulas import factor_positive, solve_factored

FORMULAS, TREE, LINEAR = range(3)


@structure
class Basis(NamedTuple):
    """n coordinates, p points of the model."""

    B: Array  # (3 p, n)
    c: Array  # (3 p,)
    H: Array  # (n, n): its lower half, then the factor L
    g: Array  # (n,)


def basis(points: int, n: int) -> Basis:
    return Basis(np.zeros((3 * points, n)), np.zeros(3 * points), np.zeros((n, n)), np.zeros(n))


@compiled
def fill_basis(system, reduced):
    """(1), (2) at the place last given to `place`; returns 1 where H is singular."""
    basis = reduced.basis
    B, c, H, driven, mass = basis.B, basis.c, basis.H, system.work.driven, system.bodies.mass
    n = H.shape[0]
    for row in range(B.shape[0]):
        c[row] = driven[row // 3, row % 3]
        for j in range(n):
            B[row, j] = 0.0
    for j in range(n):
        for k in range(j + 1):
            H[j, k] = reduced.formulas.H_of_T[j, k] if reduced.form == FORMULAS else 0.0
    if reduced.form == FORMULAS:
        fill_from_formulas(reduced.formulas, B, c)
    elif reduced.form == TREE:
        fill_from_tree(reduced.tree, B, c)
    else:
        fill_from_linear(reduced.linear, system.signals.values, B, c)
        for j in range(n):
            H[j, j] = reduced.linear.mass**0.5  # linear.py (1)
        return 0
    for row in range(B.shape[0]):
        m = mass[row // 3, row % 3]
        if m > 0.0:
            for j in range(n):
                weighted = m * B[row, j]
                if weighted != 0.0:
                    for k in range(j + 1):
                        H[j, k] += weighted * B[row, k]
    return factor_positive(H)


@compiled
def fill_from_formulas(formulas, B, c):
    for i in range(formulas.slot.shape[0]):
        for d in range(3):
            row = 3 * int(formulas.slot[i]) + d
            c[row] = formulas.c[3 * i + d]
            for j in range(B.shape[1]):
                B[row, j] = formulas.B[3 * i + d, j]


@compiled
def fill_from_tree(tree, B, c):
    """Links come after those that they hang from."""
    for k in range(tree.slot.shape[0]):
        for d in range(3):
            row, above = 3 * int(tree.slot[k]) + d, 3 * int(tree.above[k]) + d
            c[row] = c[above] + tree.c[k, d]
            for j in range(B.shape[1]):
                B[row, j] = B[above, j]
            for a in range(tree.width):
                B[row, tree.width * k + a] += tree.D[k, a, d]


@compiled
def fill_from_linear(linear, signals, B, c):
    for i in range(linear.slot.shape[0]):
        row = 3 * int(linear.slot[i]) + int(linear.part[i])
        c[row] = 0.0
        for s in range(linear.R.shape[1]):
            c[row] += linear.R[i, s] * signals[s, 2]
        for j in range(B.shape[1]):
            B[row, j] = linear.B[i, j]


@compiled
def accelerate(system, reduced, out):
    """(3) into out, from the forces in system.work."""
    basis, f, mass = reduced.basis, system.work.f, system.bodies.mass
    B, c, g = basis.B, basis.c, basis.g
    for j in range(g.shape[0]):
        g[j] = reduced.formulas.g_of_T[j] if reduced.form == FORMULAS else 0.0
    for row in range(B.shape[0]):
        load = f[row // 3, row % 3] - mass[row // 3, row % 3] * c[row]
        if load != 0.0:
            for j in range(g.shape[0]):
                g[j] += B[row, j] * load
    solve_factored(basis.H, g, out)
