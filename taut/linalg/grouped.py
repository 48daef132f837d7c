"""Cholesky by groups of rows (groups.py): P A Pᵀ = L Lᵀ in tiles.

    A_ij = Σ P_i W P_jᵀ                                       over the slots that both groups touch     (1)
    A_jj = L_jj L_jjᵀ,    K_j = L_jj⁻ᵀ,    L_aj = A_aj K_j    for the groups a below                    (2)
    A_ab ← A_ab - L_aj L_bjᵀ                                  for all pairs b ≤ a below                 (3)
    y_j ← K_jᵀ y_j,    y_a ← y_a - L_aj y_j                   forwards                                  (4)
    y_j ← K_j (y_j - Σ_a L_ajᵀ y_a)                           backwards                                 (5)

K is kept in place of L_jj: a product waits for nothing, where a division waits for the column before it. A pivot up to
`tolerance` times its original diagonal counts as dependent: its column of L is zero, and so is `inverse`, which holds
1 / L_rr.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types

from taut.compiled import on_demand
from taut.linalg import group_kernels, reference_kernels, simd_kernels

config: Any = numba.config
tiles: Any = reference_kernels if config.DISABLE_JIT else simd_kernels
kernels: Any = reference_kernels if config.DISABLE_JIT else group_kernels
factor_tile, finish_tile = tiles.factor_tile, tiles.finish_tile
set_product, add_product, subtract_product = kernels.set_product, kernels.add_product, kernels.subtract_product
set_times, set_transposed = kernels.set_times, kernels.set_transposed
subtract_times, subtract_transposed = kernels.subtract_times, kernels.subtract_transposed

NOTHING, ONE, EIGHT, NINE, SIXTEEN = (np.uint64(k) for k in (0, 1, 8, 9, 16))  # indices stay unsigned


@on_demand(types.none)
def assemble_groups(groups, J, w, val):
    """(1)"""
    source, to, panels = groups.source, groups.to, groups.panels
    for k in range(groups.fresh):
        block, at = source[k], to[k]
        panels[at] = J[block, 0]
        panels[at + EIGHT] = J[block, 1]
        panels[at + SIXTEEN] = J[block, 2]
    for k in range(groups.fresh, source.shape[0]):
        block, at = source[k], to[k]
        panels[at] += J[block, 0]
        panels[at + EIGHT] += J[block, 1]
        panels[at + SIXTEEN] += J[block, 2]
    run, runs = groups.run, groups.runs
    for j in range(groups.width.shape[0]):
        columns = groups.width[j]
        for t in range(groups.first[j], groups.first[j + 1]):
            at, q = groups.at[t], run[t]
            if q == run[t + ONE]:
                continue  # it fills in
            set_product(panels, runs[q, 0], runs[q, 1], runs[q, 2], w, runs[q, 3], val, at, columns)
            for p in range(q + ONE, run[t + ONE]):
                add_product(panels, runs[p, 0], runs[p, 1], runs[p, 2], w, runs[p, 3], val, at, columns)


@on_demand(types.int64)
def factor_groups(groups, val, fac, inverse, tolerance):
    """Returns the number of dependent pivots."""
    first, at, target, least = groups.first, groups.at, groups.target, groups.least
    for k in range(val.shape[0]):
        fac[k] = val[k]
    dependent = 0
    pair = NOTHING
    for j in range(groups.width.shape[0]):
        columns, own, place = groups.width[j], at[first[j]], groups.place[j]
        for c in range(columns):
            least[c] = tolerance * val[own + NINE * c]
        factor_tile(fac, own, NOTHING, columns, least, inverse, place)  # (2)
        for c in range(columns):
            if inverse[place + c] == 0.0:
                dependent += 1
        for a in range(first[j] + ONE, first[j + 1]):
            finish_tile(fac, at[a], NOTHING, own, NOTHING, columns)
            for b in range(first[j] + ONE, a + ONE):
                to, wide = target[pair], groups.width[groups.below[b]]
                subtract_product(fac, at[a], at[b], columns, at[to], wide)  # (3)
                pair += ONE
    return dependent


@on_demand(types.none)
def solve_groups(groups, fac, b, out):
    """L Lᵀ out = b; `out` may be `b`."""
    first, at, below, y, lane = groups.first, groups.at, groups.below, groups.rhs, groups.lane
    for r in range(lane.shape[0]):
        y[lane[r]] = b[r]
    count = groups.width.shape[0]
    for j in range(count):
        own, columns = EIGHT * np.uint64(j), groups.width[j]
        set_transposed(fac, at[first[j]], columns, y, own, own)  # (4)
        for a in range(first[j] + ONE, first[j + 1]):
            subtract_times(fac, at[a], columns, y, own, EIGHT * below[a])
    for j in range(count - 1, -1, -1):
        own, columns = EIGHT * np.uint64(j), groups.width[j]
        for a in range(first[j] + ONE, first[j + 1]):
            subtract_transposed(fac, at[a], columns, y, EIGHT * below[a], own)  # (5)
        set_times(fac, at[first[j]], columns, y, own, own)
    for r in range(lane.shape[0]):
        out[r] = y[lane[r]]
