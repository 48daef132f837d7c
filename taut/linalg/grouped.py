"""Cholesky by groups of rows (groups.py): P A Pᵀ = L Lᵀ in tiles.

    A_ij = Σ P_i W P_jᵀ                                       over the slots that both groups touch     (1)
    A_jj = L_jj L_jjᵀ,    K_j = L_jj⁻ᵀ,    L_aj = A_aj K_j    for the groups a below                    (2)
    A_ab ← A_ab - L_aj L_bjᵀ                                  for all pairs b ≤ a below                 (3)
    F_aj = L_aj K_jᵀ = A_aj A_jj⁻¹                                                                      (4)
    y_a ← y_a - F_aj y_j                                      forwards                                  (5)
    y_j ← K_j K_jᵀ y_j - Σ_a F_ajᵀ y_a                        backwards                                 (6)

K is kept in place of L_jj and F in place of L_aj: in (5) and (6), where each group waits for the one before, they leave
one product to wait for. A pivot up to `tolerance` times its original diagonal counts as dependent: its column of L is
zero, and so is `inverse`, which holds 1 / L_rr.
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
factor_tile, copy_tile, times_upper = tiles.factor_tile, kernels.copy_tile, kernels.times_upper
set_product, add_product, subtract_product = kernels.set_product, kernels.add_product, kernels.subtract_product
times_lower, times_square = kernels.times_lower, kernels.times_square
subtract_times, subtract_transposed = kernels.subtract_times, kernels.subtract_transposed

NOTHING, ONE, EIGHT, NINE, SIXTEEN = (np.uint64(k) for k in (0, 1, 8, 9, 16))  # indices stay unsigned


@on_demand(types.none)
def assemble_groups(groups, J, w, val):
    """(1)"""
    source, to, panels = groups.source, groups.to, groups.panels
    for k in range(groups.fresh):
        block, at = source[k], to[k]
        panels[at], panels[at + EIGHT], panels[at + SIXTEEN] = J[block, 0], J[block, 1], J[block, 2]
    for k in range(groups.fresh, source.shape[0]):
        block, at = source[k], to[k]
        panels[at] += J[block, 0]
        panels[at + EIGHT] += J[block, 1]
        panels[at + SIXTEEN] += J[block, 2]
    run, runs = groups.run, groups.runs
    for j in range(groups.width.shape[0]):
        columns = groups.width[j]
        for t in range(groups.first[j], groups.first[j + 1]):
            at, begin = groups.at[t], run[t]
            for q in range(begin, run[t + ONE]):  # a tile that fills in has none, and stays zero
                if q == begin:
                    set_product(panels, runs[q, 0], runs[q, 1], runs[q, 2], w, runs[q, 3], val, at, columns)
                else:
                    add_product(panels, runs[q, 0], runs[q, 1], runs[q, 2], w, runs[q, 3], val, at, columns)


@on_demand(types.int64)
def factor_groups(groups, val, fac, inverse, tolerance):
    """Returns the number of dependent pivots."""
    first, places, least, updates, touched = groups.first, groups.at, groups.least, groups.updates, groups.touched
    for j in range(groups.width.shape[0]):
        columns, begin, end = groups.width[j], first[j], first[j + 1]
        own = places[begin]
        for c in range(columns):
            least[c] = tolerance * val[own + NINE * c]
        if touched[begin] == 0:
            copy_tile(val, own, fac, own, columns)
        factor_tile(fac, own, NOTHING, columns, least, inverse, groups.place[j])  # (2)
        for t in range(begin + ONE, end):
            if touched[t] == 0:
                times_upper(val, places[t], fac, own, places[t], columns)
            else:
                times_upper(fac, places[t], fac, own, places[t], columns)
        for u in range(groups.update[j], groups.update[j + 1]):
            a, b, to, width = updates[u, 0], updates[u, 1], updates[u, 2], updates[u, 3]
            if updates[u, 4] == 1:
                subtract_product(val, to, fac, a, b, columns, to, width)  # (3)
            else:
                subtract_product(fac, to, fac, a, b, columns, to, width)
        for t in range(begin + ONE, end):
            times_lower(fac, places[t], own, columns)  # (4)
    dependent = 0
    for r in range(inverse.shape[0]):
        dependent += 1 if inverse[r] == 0.0 else 0
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
        for t in range(first[j] + ONE, first[j + 1]):
            subtract_times(fac, at[t], columns, y, own, EIGHT * below[t])  # (5)
        times_square(fac, at[first[j]], columns, y, own, own)  # (6)
    for j in range(count - 1, -1, -1):
        own, columns = EIGHT * np.uint64(j), groups.width[j]
        for t in range(first[j] + ONE, first[j + 1]):
            subtract_transposed(fac, at[t], columns, y, EIGHT * below[t], own)
    for r in range(lane.shape[0]):
        out[r] = y[lane[r]]
