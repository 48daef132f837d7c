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

Where a step wants λ for one right-hand side, all is done in one sweep over the groups and one back:

    b ← -(b + P v) / d,    (1) to (5)                         group after group                         (7)
    (6),    v ← v + s W Pᵀ λ                                  and back                                  (8)

(3) waits for the group before, and the products of the next group fill the time. Products (3) that go to a group are
added up in `fac` before its own part of A is known, so that (1) belongs to the group, too; some groups at a time, all
that they need stays in the nearest cache.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types

from taut.compiled import inline, on_demand
from taut.linalg import group_kernels, reference_kernels, simd_kernels
from taut.linalg.groups import AT_ONCE
from taut.linalg.linear import CLOSED, FIRST_KEPT, KEPT_OUT

config: Any = numba.config
tiles: Any = reference_kernels if config.DISABLE_JIT else simd_kernels
kernels: Any = reference_kernels if config.DISABLE_JIT else group_kernels
factor_tile, prefetch = tiles.factor_tile, tiles.prefetch
copy_tile, add_tile, times_upper = kernels.copy_tile, kernels.add_tile, kernels.times_upper
set_product, add_product = kernels.set_product, kernels.add_product
negate_product, subtract_product = kernels.negate_product, kernels.subtract_product
times_lower, times_square = kernels.times_lower, kernels.times_square
subtract_times, subtract_transposed = kernels.subtract_times, kernels.subtract_transposed
set_panel_times, add_panel_times = kernels.set_panel_times, kernels.add_panel_times
add_panel_transposed = kernels.add_panel_transposed

whole = np.uint64  # indices stay unsigned, and are added up as such
AHEAD, MANY_GROUPS = 8, 2_000  # of more than these, whose tiles fit no cache, tiles are asked for that far ahead

NOTHING, ONE, THREE, EIGHT, NINE, SIXTEEN = (np.uint64(k) for k in (0, 1, 3, 8, 9, 16))


@inline
def take_panels(groups, J, j):
    """P of group j."""
    source, to, panels, taken = groups.source, groups.to, groups.panels, groups.taken
    for k in range(whole(taken[j, 0]), whole(taken[j, 1])):
        block, at = source[k], to[k]
        panels[at], panels[at + EIGHT], panels[at + SIXTEEN] = J[block, 0], J[block, 1], J[block, 2]
    for k in range(whole(taken[j, 1]), whole(taken[j, 2])):
        block, at = source[k], to[k]
        panels[at] += J[block, 0]
        panels[at + EIGHT] += J[block, 1]
        panels[at + SIXTEEN] += J[block, 2]


@inline
def assemble_column(groups, w, out, start, j):
    """(1) of group j and those below, from out[start] on."""
    run, runs, panels, columns, first = groups.run, groups.runs, groups.panels, groups.width[j], groups.first[j]
    for t in range(whole(first), whole(groups.first[j + ONE])):
        at, begin = start + (groups.at[t] - groups.at[first]), whole(run[t])
        for q in range(begin, whole(run[t + ONE])):  # a tile that fills in has none, and in `val` stays zero
            if q == begin:
                set_product(panels, runs[q, 0], runs[q, 1], runs[q, 2], w, runs[q, 3], out, at, columns)
            else:
                add_product(panels, runs[q, 0], runs[q, 1], runs[q, 2], w, runs[q, 3], out, at, columns)


@on_demand(types.none)
def assemble_groups(groups, J, w, val):
    """(1)"""
    for j in range(groups.width.shape[0]):
        take_panels(groups, J, np.uint64(j))
    assemble_panels(groups, w, val)


@on_demand(types.none)
def assemble_panels(groups, w, val):
    """(1), where all P are at hand, as after `sweep_forwards`."""
    for j in range(groups.width.shape[0]):
        assemble_column(groups, w, val, whole(groups.at[groups.first[j]]), np.uint64(j))


@inline
def set_residual(groups, perm, v, by, b, j, at):
    """b of (7), by rows and from groups.residual[at] on."""
    residual, pieces = groups.residual, groups.pieces
    begin, end = whole(groups.piece_ptr[j]), whole(groups.piece_ptr[j + ONE])
    for k in range(begin, end):
        if k == begin:
            set_panel_times(groups.panels, pieces[k, 0], THREE * pieces[k, 1], v, pieces[k, 2], residual, at)
        else:
            add_panel_times(groups.panels, pieces[k, 0], THREE * pieces[k, 1], v, pieces[k, 2], residual, at)
    for i in range(whole(groups.width[j])):
        r = perm[groups.place[j] + i]
        b[r] = -(b[r] + residual[at + i]) * by
        residual[at + i] = b[r]


@inline
def prefetch_lines(array, begin, end):
    for at in range(whole(begin), whole(end), EIGHT):
        prefetch(array, at)


@inline
def close_column(lin, start, j):
    """Rows of group j that are kept out (singular.py) get a diagonal beside which all else in A vanishes."""
    groups = lin.groups
    for k in range(lin.state[KEPT_OUT]):
        r = lin.state[FIRST_KEPT + k]
        if groups.lane[r] // EIGHT == j:
            groups.column[start + (lin.diag[r] - groups.at[groups.first[j]])] = CLOSED


@inline
def factor_diagonal_tile(groups, tiles, start, fac, inverse, tolerance, j):
    """K of (2) for group j; its tiles of A stand from tiles[start] on."""
    least, columns, first = groups.least, whole(groups.width[j]), groups.first[j]
    diagonal_tile = whole(groups.at[first])
    for c in range(columns):
        least[c] = tolerance * tiles[start + NINE * c]
    if groups.touched[first] == 0:
        copy_tile(tiles, start, fac, diagonal_tile, columns)
    else:
        add_tile(tiles, start, fac, diagonal_tile, columns)
    factor_tile(fac, diagonal_tile, NOTHING, columns, least, inverse, groups.place[j])


@inline
def update_later(groups, tiles, start, fac, j):
    """L of (2) below group j, and (3)."""
    places, updates, columns, first = groups.at, groups.updates, groups.width[j], groups.first[j]
    diagonal_tile = whole(places[first])
    for t in range(first + ONE, whole(groups.first[j + ONE])):
        at, source = whole(places[t]), start + (places[t] - diagonal_tile)
        if groups.touched[t] == 0:
            times_upper(tiles, source, fac, diagonal_tile, at, columns)
        else:
            if groups.run[t] < groups.run[t + ONE]:
                add_tile(tiles, source, fac, at, columns)
            times_upper(fac, at, fac, diagonal_tile, at, columns)
    for u in range(whole(groups.update[j]), whole(groups.update[j + ONE])):
        a, b, to, width = updates[u, 0], updates[u, 1], updates[u, 2], updates[u, 3]
        if updates[u, 4] == 1:
            negate_product(fac, a, b, columns, to, width)
        else:
            subtract_product(fac, a, b, columns, to, width)


@inline
def finish(groups, fac, inverse, j):
    """(4) of group j. Returns the number of its dependent pivots."""
    columns, first, place = whole(groups.width[j]), groups.first[j], whole(groups.place[j])
    for t in range(first + ONE, whole(groups.first[j + ONE])):
        times_lower(fac, groups.at[t], groups.at[first], columns)
    dependent = 0
    for r in range(place, place + columns):
        dependent += 1 if inverse[r] == 0.0 else 0
    return dependent


@inline
def forwards(groups, fac, j):
    """(5), and of (6) what belongs to group j alone."""
    first, y, at_rhs, columns = groups.first, groups.rhs, EIGHT * j, groups.width[j]
    for t in range(first[j] + ONE, whole(first[j + ONE])):
        subtract_times(fac, groups.at[t], columns, y, at_rhs, EIGHT * groups.below[t])
    times_square(fac, groups.at[first[j]], columns, y, at_rhs, at_rhs)


@inline
def backwards(groups, fac, j):
    """(6)"""
    first, y, at_rhs, columns = groups.first, groups.rhs, EIGHT * j, groups.width[j]
    for t in range(first[j] + ONE, whole(first[j + ONE])):
        subtract_transposed(fac, groups.at[t], columns, y, EIGHT * groups.below[t], at_rhs)


@on_demand(types.int64)
def factor_groups(groups, val, fac, inverse, tolerance):
    """Returns the number of dependent pivots."""
    dependent = 0
    for k in range(groups.width.shape[0]):
        j, start = np.uint64(k), whole(groups.at[groups.first[k]])
        factor_diagonal_tile(groups, val, start, fac, inverse, tolerance, j)
        update_later(groups, val, start, fac, j)
        dependent += finish(groups, fac, inverse, j)
    return dependent


@on_demand(types.none)
def solve_groups(groups, fac, b, out):
    """L Lᵀ out = b; `out` may be `b`."""
    y, lane, count = groups.rhs, groups.lane, groups.width.shape[0]
    for r in range(lane.shape[0]):
        y[lane[r]] = b[r]
    for j in range(count):
        forwards(groups, fac, np.uint64(j))
    for j in range(count - 1, -1, -1):
        backwards(groups, fac, np.uint64(j))
    for r in range(lane.shape[0]):
        out[r] = y[lane[r]]


@on_demand(types.int64)
def sweep_forwards(lin, J, w, v, divisor, b, tolerance):
    """(7). Returns the number of dependent pivots: where there are any, only b, P and the factor are of use. A is not
    kept. The pivots of a group wait for each other: next to them stand the end of the last group and (1) of the next.
    """
    groups, y, fac, inverse, column = lin.groups, lin.groups.rhs, lin.fac, lin.inverse, lin.groups.column
    dependent, count, half = 0, groups.width.shape[0], np.uint64(groups.column.shape[0] // 2)
    far, taken = count > MANY_GROUPS, NOTHING
    for i in range(y.shape[0]):
        y[i] = 0.0
    for begin in range(0, count, AT_ONCE):
        end = min(count, begin + AT_ONCE)
        for j in range(taken, whole(groups.reach[end - 1])):
            take_panels(groups, J, np.uint64(j))
        taken = whole(groups.reach[end - 1])
        for j in range(begin, end):
            set_residual(groups, lin.perm, v, 1.0 / divisor, b, np.uint64(j), EIGHT * np.uint64(j - begin))
        here, there = NOTHING, half
        assemble_column(groups, w, column, here, np.uint64(begin))
        close_column(lin, here, np.uint64(begin))
        for k in range(begin, end):
            j = np.uint64(k)
            if far and k + AHEAD < count:
                prefetch_lines(fac, groups.at[groups.first[k + AHEAD]], groups.at[groups.first[k + AHEAD + 1]])
            factor_diagonal_tile(groups, column, here, fac, inverse, tolerance, j)
            if k > begin:
                dependent += end_group(groups, fac, inverse, j - ONE, np.uint64(k - begin) - ONE)
            if k + 1 < end:
                assemble_column(groups, w, column, there, j + ONE)
                close_column(lin, there, j + ONE)
            update_later(groups, column, here, fac, j)
            here, there = there, here
        dependent += end_group(groups, fac, inverse, np.uint64(end) - ONE, np.uint64(end - begin) - ONE)
    return dependent


@inline
def end_group(groups, fac, inverse, j, place):
    """(4) and (5) of group j, whose right-hand side has this place among those treated together."""
    dependent = finish(groups, fac, inverse, j)
    add_tile(groups.residual, EIGHT * place, groups.rhs, EIGHT * j, ONE)
    forwards(groups, fac, j)
    return dependent


@on_demand(types.none)
def sweep_back(lin, w, scale, v, lam):
    """(8) after `sweep_forwards`."""
    groups, pieces, y, fac = lin.groups, lin.groups.pieces, lin.groups.rhs, lin.fac
    far = groups.width.shape[0] > MANY_GROUPS
    for k in range(groups.width.shape[0] - 1, -1, -1):
        j = np.uint64(k)
        at_rhs = EIGHT * j
        if far and k >= AHEAD:
            prefetch_lines(fac, groups.at[groups.first[k - AHEAD] + ONE], groups.at[groups.first[k - AHEAD + 1]])
            begin, end = groups.piece_ptr[k - AHEAD], groups.piece_ptr[k - AHEAD + 1]
            prefetch_lines(groups.panels, pieces[begin, 0], pieces[end, 0])
        backwards(groups, fac, j)
        for p in range(whole(groups.piece_ptr[j]), whole(groups.piece_ptr[j + ONE])):
            add_panel_transposed(groups.panels, pieces[p, 0], pieces[p, 1], y, at_rhs, w, scale, v, pieces[p, 2])
        for i in range(whole(groups.width[j])):
            lam[lin.perm[groups.place[j] + i]] = y[at_rhs + i]
