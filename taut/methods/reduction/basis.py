"""B, c and H of any form of reduced coordinates, by the slots of the bodies: what multipliers of further rows need.

    v = B θ̇ + x_t,   a = B θ̈ + c                                                 (1)
    H = Bᵀ M B + H_T = L Lᵀ                                                      (2)  H_T, g_T: formulas.py (4)
    θ̈ = H⁻¹ (Bᵀ (f - M c) + g_T)                                                 (3)

Coordinates that move a common body belong to one block: H couples no others, and a row of B has entries in one block
alone (blocks.py). Independent chains and free bodies have blocks of their own, so work grows with the size of a block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...compiled import compiled, structure
from ...model.arrays import Array
from .blocks import Blocks, blocks_of_matrix, blocks_of_tree, factor_blocks, one_block, solve_all_blocks

FORMULAS, TREE, LINEAR = range(3)


@structure
class Basis(NamedTuple):
    """n coordinates, p points of the model."""

    B: Array  # (3 p, n)
    c: Array  # (3 p,)
    H: Array  # (n, n): its lower half, then the factor L
    g: Array  # (n,)
    blocks: Blocks


def basis(points: int, n: int, blocks: Blocks | None = None) -> Basis:
    known = one_block(points, n) if blocks is None else blocks
    return Basis(np.zeros((3 * points, n)), np.zeros(3 * points), np.zeros((n, n)), np.zeros(n), known)


def blocks_for(form: int, tables: Any, points: int, n: int) -> Blocks:
    """Blocks of the coordinates of a form; formulas may have all coordinates in each."""
    if form == TREE:
        return blocks_of_tree(tables.slot, tables.parent, tables.width, points)
    if form == LINEAR:
        return blocks_of_matrix(tables.B, tables.slot, tables.part, points)
    return one_block(points, n)


@compiled
def fill_basis(system, reduced):
    """(1), (2) at the place last given to `place`; returns 1 where H is singular."""
    basis, blocks = reduced.basis, reduced.basis.blocks
    B, c, H, driven, mass = basis.B, basis.c, basis.H, system.work.driven, system.bodies.mass
    n, member = H.shape[0], blocks.member
    for row in range(B.shape[0]):
        c[row] = driven[row // 3, row % 3]
        for i in range(blocks.begin[row], blocks.end[row]):
            B[row, member[i]] = 0.0
    for block in range(blocks.ptr.shape[0] - 1):
        for i in range(blocks.ptr[block], blocks.ptr[block + 1]):
            j = member[i]
            for k in member[blocks.ptr[block] : i + 1]:
                H[j, k] = reduced.formulas.H_of_T[j, k] if reduced.form == FORMULAS else 0.0
    if reduced.form == FORMULAS:
        fill_from_formulas(reduced.formulas, B, c)
    elif reduced.form == TREE:
        fill_from_tree(reduced.tree, blocks, B, c)
    else:
        fill_from_linear(reduced.linear, system.signals.values, B, c)
        for j in range(n):
            H[j, j] = reduced.linear.mass**0.5  # linear.py (1)
        return 0
    for row in range(B.shape[0]):
        m = mass[row // 3, row % 3]
        if m > 0.0:
            for i in range(blocks.begin[row], blocks.end[row]):
                j = member[i]
                weighted = m * B[row, j]
                if weighted != 0.0:
                    for k in member[blocks.begin[row] : i + 1]:
                        H[j, k] += weighted * B[row, k]
    return factor_blocks(blocks, H)


@compiled
def fill_from_formulas(formulas, B, c):
    for i in range(formulas.slot.shape[0]):
        for d in range(3):
            row = 3 * int(formulas.slot[i]) + d
            c[row] = formulas.c[3 * i + d]
            for j in range(B.shape[1]):
                B[row, j] = formulas.B[3 * i + d, j]


@compiled
def fill_from_tree(tree, blocks, B, c):
    """Links come after those that they hang from."""
    for k in range(tree.slot.shape[0]):
        for d in range(3):
            row, above = 3 * int(tree.slot[k]) + d, 3 * int(tree.above[k]) + d
            c[row] = c[above] + tree.c[k, d]
            for j in blocks.member[blocks.begin[row] : blocks.end[row]]:
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
        for e in range(linear.ptr[i], linear.ptr[i + 1]):
            B[row, linear.column[e]] = linear.B[i, linear.column[e]]


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
            for j in basis.blocks.member[basis.blocks.begin[row] : basis.blocks.end[row]]:
                g[j] += B[row, j] * load
    solve_all_blocks(basis.blocks, basis.H, g, out)
