"""Cholesky by groups of rows (groups.py): P A Pᵀ = L Lᵀ in tiles.

    A_ij = Σ P_i W P_jᵀ                                       over the slots that both groups touch     (1)
    A_jj = U D Uᵀ,    K_j = U⁻ᵀ D^-½,    X_aj = A_aj U⁻ᵀ,    L_aj = X_aj D^-½    for the groups a below (2)
    A_ab ← A_ab - X_aj D⁻¹ X_bjᵀ                              for all pairs b ≤ a below                 (3)
    F_aj = L_aj K_jᵀ = A_aj A_jj⁻¹                                                                      (4)
    y_a ← y_a - F_aj y_j                                      forwards                                  (5)
    y_j ← K_j K_jᵀ y_j - Σ_a F_ajᵀ y_a                        backwards                                 (6)

K is kept in place of L_jj and F in place of L_aj: in (5) and (6), where each group waits for the one before, they leave
one product to wait for. A pivot up to `tolerance` times its original diagonal counts as dependent: its column of L is
zero, and so is `inverse`, which holds 1 / L_rr.

Where a step wants λ for one right-hand side, all is done in one sweep over the groups and one back:

    y ← -(b + P v) / d,    (1) to (5)                         group after group                         (7)
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
from taut.linalg.groups import AT_ONCE, LANES
from taut.linalg.linear import CLOSED, FIRST_KEPT, KEPT_OUT

config: Any = numba.config
tiles: Any = reference_kernels if config.DISABLE_JIT else simd_kernels
kernels: Any = reference_kernels if config.DISABLE_JIT else group_kernels
prefetch = tiles.prefetch
factor_diagonal, eliminate, add_times = kernels.factor_diagonal, kernels.eliminate, kernels.add_times
set_product, add_product = kernels.set_product, kernels.add_product
set_square, add_square, set_own, add_own = kernels.set_square, kernels.add_square, kernels.set_own, kernels.add_own
times_lower, times_square = kernels.times_lower, kernels.times_square
subtract_times, subtract_transposed = kernels.subtract_times, kernels.subtract_transposed
add_panel_transposed = kernels.add_panel_transposed

whole = np.uint64  # indices stay unsigned, and are added up as such
AHEAD, MANY_GROUPS = 8, 2_000  # of more than these, whose tiles fit no cache, tiles are asked for that far ahead

NOTHING, ONE, EIGHT, SIXTEEN, RECIPROCALS, ROOTS = (np.uint64(k) for k in (0, 1, 8, 16, 64, 72))


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
def assemble_tiles(groups, w, out, start, j, first):
    """(1) of group j and those below in its tiles from the `first` on; the diagonal one is at out[start]."""
    run, runs, panels, columns, own = groups.run, groups.runs, groups.panels, groups.width[j], groups.first[j]
    for t in range(whole(first), whole(groups.first[j + ONE])):
        at, begin = start + (groups.at[t] - groups.at[own]), whole(run[t])
        if begin == run[t + ONE]:  # the tile fills in
            for i in range(at, at + EIGHT * columns):
                out[i] = 0.0
        for q in range(begin, whole(run[t + ONE])):
            if q == begin:
                set_product(panels, runs[q, 0], runs[q, 1], runs[q, 2], w, runs[q, 3], out, at, columns)
            else:
                add_product(panels, runs[q, 0], runs[q, 1], runs[q, 2], w, runs[q, 3], out, at, columns)


@inline
def assemble_column(lin, w, v, start, j, at):
    """(1) of group j and those below, from groups.column[start] on, and P v of (7) added to what stands there at."""
    groups = lin.groups
    run, runs, panels, columns, own = groups.run, groups.runs, groups.panels, groups.width[j], groups.first[j]
    out, begin = groups.column, whole(run[own])
    for q in range(begin, whole(run[own + ONE])):
        if q == begin:
            set_own(panels, runs, q, w, out, start, columns, v, at)
        else:
            add_own(panels, runs, q, w, out, start, columns, v, at)
    assemble_tiles(groups, w, out, start, j, own + ONE)
    close_column(lin, start, j)


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
        assemble_tiles(groups, w, val, whole(groups.at[groups.first[j]]), np.uint64(j), groups.first[j])


@inline
def take_residual(groups, perm, b, j, at):
    """b of (7) to groups.column[at] and what follows."""
    place = whole(groups.place[j])
    for i in range(whole(groups.width[j])):
        groups.column[at + i] = b[perm[place + i]]


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
def place_of_own(groups, j, keep):
    """Where K of group j stands, and before that the sum of (3) for it: for good, or while a sweep needs it."""
    return whole(groups.at[groups.first[j]]) if keep else whole(groups.ring[j])


@inline
def factor_own(groups, tiles, start, fac, tolerance, j, keep):
    """K of (2) for group j, whose tiles of A stand from tiles[start] on. Returns the number of its dependent pivots."""
    t, at = groups.first[j], place_of_own(groups, j, keep)
    base = at if groups.base[t] == groups.at[t] else whole(groups.base[t])
    factor_diagonal(tiles, start, fac, base, at, groups.width[j], tolerance, groups.pivots)
    dependent = 0
    for c in range(whole(groups.width[j])):
        dependent += 1 if groups.pivots[ROOTS + c] == 0.0 else 0
    return dependent


@inline
def keep_roots(groups, inverse, j):
    """1 / L_rr of the rows of group j, 0 where the pivot depends on others."""
    for c in range(whole(groups.width[j])):
        inverse[groups.place[j] + c] = groups.pivots[ROOTS + c]


@inline
def update_later(groups, tiles, start, fac, j, to, keep):
    """X and L of (2) below group j, and (3); X stands in groups.column from `to` on, where A's tiles may have been."""
    places, updates, columns, first = groups.at, groups.updates, groups.width[j], groups.first[j]
    pivots, x = groups.pivots, groups.column
    for t in range(first + ONE, whole(groups.first[j + ONE])):
        at, shift = whole(places[t]), places[t] - whole(places[first])
        eliminate(tiles, start + shift, fac, groups.base[t], at, columns, pivots, x, to + shift)
    for u in range(whole(groups.update[j]), whole(groups.update[j + ONE])):
        a, b, width = to + updates[u, 0], to + updates[u, 1], updates[u, 3]
        target = updates[u, 2] if keep else updates[u, 5]
        if updates[u, 4] == 1:
            set_square(x, a, b, columns, pivots, RECIPROCALS, fac, target, width)
        else:
            add_square(x, a, b, columns, pivots, RECIPROCALS, fac, target, width)


@inline
def finish(groups, fac, j, own):
    """(4) of group j, whose K stands at fac[own]."""
    columns, first = whole(groups.width[j]), groups.first[j]
    for t in range(first + ONE, whole(groups.first[j + ONE])):
        times_lower(fac, groups.at[t], own, columns)


@inline
def forwards(groups, fac, j, own):
    """(5), and of (6) what belongs to group j alone."""
    first, y, at_rhs, columns = groups.first, groups.rhs, EIGHT * j, groups.width[j]
    for t in range(first[j] + ONE, whole(first[j + ONE])):
        subtract_times(fac, groups.at[t], columns, y, at_rhs, EIGHT * groups.below[t])
    times_square(fac, own, columns, y, at_rhs, at_rhs)


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
        dependent += factor_own(groups, val, start, fac, tolerance, j, True)
        keep_roots(groups, inverse, j)
        update_later(groups, val, start, fac, j, NOTHING, True)
        finish(groups, fac, j, start)
    return dependent


@on_demand(types.none)
def solve_groups(groups, fac, b, out):
    """L Lᵀ out = b; `out` may be `b`."""
    y, lane, count = groups.rhs, groups.lane, groups.width.shape[0]
    for r in range(lane.shape[0]):
        y[lane[r]] = b[r]
    for j in range(count):
        forwards(groups, fac, np.uint64(j), whole(groups.at[groups.first[j]]))
    for j in range(count - 1, -1, -1):
        backwards(groups, fac, np.uint64(j))
    for r in range(lane.shape[0]):
        out[r] = y[lane[r]]


@on_demand(types.int64)
def sweep_forwards(lin, J, w, v, divisor, b, tolerance, keep):
    """(7) of all groups. Returns the number of dependent pivots: where there are any, P alone is of use, and the factor
    where `keep` says so. Else neither A nor the factor is kept: memory that long chains feel."""
    groups = lin.groups
    count, taken, dependent = groups.width.shape[0], 0, 0
    for begin in range(0, count, AT_ONCE):
        end = min(count, begin + AT_ONCE)
        needed = np.int64(groups.reach[end - 1])
        for j in range(taken, needed):
            take_panels(groups, J, np.uint64(j))
        dependent += sweep_part(lin, w, v, divisor, b, tolerance, keep, begin, end, taken)
        taken = needed
    return dependent


@on_demand(types.int64)
def sweep_part(lin, w, v, divisor, b, tolerance, keep, begin, end, taken):
    """(7) of groups begin … end - 1, at most AT_ONCE, whose panels and those of all that they reach have been taken;
    `taken`: how many had been before. The pivots of a group wait for each other: next to them stand the end of the
    last group and (1) of the next.
    """
    groups, y, fac, column = lin.groups, lin.groups.rhs, lin.fac, lin.groups.column
    count, half = groups.width.shape[0], np.uint64((column.shape[0] - LANES * AT_ONCE) // 2)
    here, there, at = NOTHING, half, half + half
    dependent, far, by = 0, count > MANY_GROUPS, -1.0 / divisor
    for i in range(EIGHT * np.uint64(taken), EIGHT * whole(groups.reach[end - 1])):
        y[i] = 0.0
    for j in range(begin, end):
        take_residual(groups, lin.perm, b, np.uint64(j), at + EIGHT * np.uint64(j - begin))
    assemble_column(lin, w, v, here, np.uint64(begin), at)
    for k in range(begin, end):
        j = np.uint64(k)
        if far and k + AHEAD < count:
            ahead = groups.first[k + AHEAD] + ONE
            prefetch_lines(fac, groups.at[ahead], groups.at[groups.first[k + AHEAD + 1]])
        dependent += factor_own(groups, column, here, fac, tolerance, j, keep)
        if keep:
            keep_roots(groups, lin.inverse, j)
        if k > begin:
            end_group(groups, fac, j - ONE, by, at, keep)
            at += EIGHT
        if k + 1 < end:
            assemble_column(lin, w, v, there, j + ONE, at + EIGHT)
        update_later(groups, column, here, fac, j, here, keep)
        here, there = there, here
    end_group(groups, fac, np.uint64(end) - ONE, by, at, keep)
    return dependent


@inline
def end_group(groups, fac, j, by, at, keep):
    """(4) and (5) of group j, whose b + P v stands at groups.column[at]; by = -1 / d."""
    own = place_of_own(groups, j, keep)
    finish(groups, fac, j, own)
    add_times(groups.column, at, by, groups.rhs, EIGHT * j)
    forwards(groups, fac, j, own)


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
