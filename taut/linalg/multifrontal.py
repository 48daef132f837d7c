"""Multifrontal Cholesky [Duff and Reid 1983]: P A Pᵀ = L Lᵀ by dense panels.

A front F has the columns j0:j1 and is a lower triangle over its rows (own columns first, those below after):

    F = A's columns j0:j1  +  Σ_children S_child                               (1)
    F₁₁ = L₁₁ L₁₁ᵀ,    L₂₁ = F₂₁ L₁₁⁻ᵀ                                         (2)
    S = F₂₂ - L₂₁ L₂₁ᵀ                                                         (3)

F is the frontal matrix of a supernode (supernodes.py): L₁₁ and L₂₁ are its panel in `fac`, S its update matrix, both in
micro-panels of eight rows; what lies above their diagonals means nothing. The work is done by tiles of 8 × 8
(simd_kernels.py); on the diagonal of L₁₁ the panel holds their inverses.
A pivot below `tolerance` times its original diagonal counts as dependent: its column of L is zero, and so
is `inverse`, which holds 1 / L_jj.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from taut.compiled import compiled, inline
from taut.linalg import reference_kernels, simd_kernels
from taut.linalg.supernodes import (
    AT,
    CHILD,
    COLUMN,
    ENTRY,
    OWNED,
    PANEL,
    SIBLING,
    TO_COLUMN,
    TO_PANEL,
    TO_UPDATE,
    UPDATE,
)

config: Any = numba.config
kernels: Any = reference_kernels if config.DISABLE_JIT else simd_kernels
factor_tile, finish_tile, set_update = kernels.factor_tile, kernels.finish_tile, kernels.set_update
finish_two_tiles, set_two_updates, add_lanes = kernels.finish_two_tiles, kernels.set_two_updates, kernels.add_lanes
prefetch = kernels.prefetch
set_below, solve_own, solve_back = kernels.set_below, kernels.solve_own, kernels.solve_back
set_below_four, solve_own_four = kernels.set_below_four, kernels.solve_own_four
solve_back_four = kernels.solve_back_four

# indices stay unsigned
ONE, TWO, FOUR, SEVEN, EIGHT, TILE = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(7), np.uint64(8), np.uint64(64)
GROUP = np.uint64(8)  # micro-panels that stay in the nearest cache but one while others pass


@inline
def sizes(table, f):
    """Own columns and rows below of a front."""
    width = table[COLUMN, f + 1] - table[COLUMN, f]
    return width, table[AT, f + 1] - table[AT, f] - width


@inline
def micro_panels(rows):
    return (rows + SEVEN) // EIGHT


@inline
def add_micro_panel(source, columns, to, which, first, top, lanes, target, base):
    """Add columns begin:end of one micro-panel of a child's update matrix, up to the diagonal, at places `to`: by
    runs of rows that are neighbours in a micro-panel of the target too. source: the update matrix, and where the
    micro-panel begins in it; columns: begin and end."""
    updates, at = source
    begin, end = columns
    i = np.uint64(0)
    while i < lanes:
        row = first + top + i
        place = to[which, row]
        low = place % EIGHT
        run = ONE
        while i + run < lanes and low + run < EIGHT and to[which, row + run] == place + run:
            run += ONE
        begun, column = at + i - low, base + place - low
        for j in range(begin, min(end, top + i + ONE)):
            add_lanes(updates, begun + EIGHT * j, target, column + to[TO_COLUMN, first + j], low, low + run)
        for j in range(max(begin, top + i + ONE), min(end, top + i + run)):
            above = j - top - i
            add_lanes(updates, begun + EIGHT * j, target, column + to[TO_COLUMN, first + j], low + above, low + run)
        i += run


@inline
def add_update(supernodes, child, begin, end, which, target, base):
    """Columns begin:end of a child's update matrix, from the diagonal on (1)."""
    table, to, updates = supernodes.table, supernodes.to, supernodes.updates
    width, below = sizes(table, child)
    first = table[AT, child] + width
    for micro_panel in range(begin // EIGHT, micro_panels(below)):
        at = table[UPDATE, child] + np.uint64(32) * micro_panel * (micro_panel + ONE)
        top = EIGHT * micro_panel
        lanes = min(EIGHT, below - top)
        add_micro_panel((updates, at), (begin, end), to, which, first, top, lanes, target, base)


@inline
def set_panel(supernodes, f, val, fac):
    """(1) in the front's own columns."""
    table = supernodes.table
    for q in range(table[PANEL, f], table[PANEL, f + 1]):
        fac[q] = 0.0
    for e in range(table[ENTRY, f], table[ENTRY, f + 1]):
        fac[supernodes.target[e]] = val[supernodes.source[e]]
    c = table[CHILD, f]
    nothing = np.uint64(0)
    while c < table.shape[1] - 1:
        add_update(supernodes, c, nothing, table[OWNED, c], TO_PANEL, fac, table[PANEL, f])
        c = table[SIBLING, c]


@inline
def factor_panel(supernodes, f, ptr, val, fac, inverse, tolerance):
    """(2), eight columns at a time."""
    table, least = supernodes.table, supernodes.updates
    width, below = sizes(table, f)
    diagonal_panels = micro_panels(width)
    every = diagonal_panels + micro_panels(below)
    step = EIGHT * width
    for block in range(diagonal_panels):
        done = EIGHT * block
        columns = min(EIGHT, width - done)
        column = table[COLUMN, f] + done
        for c in range(columns):
            least[c] = tolerance * val[ptr[column + c + ONE] - ONE]
        at = table[PANEL, f] + block * step
        factor_tile(fac, at, done, columns, least, inverse, column)
        micro_panel = block + ONE
        while micro_panel + ONE < every:
            finish_two_tiles(fac, table[PANEL, f] + micro_panel * step, step, at, done, columns)
            micro_panel += TWO
        if micro_panel < every:
            finish_tile(fac, table[PANEL, f] + micro_panel * step, step, at, done, columns)


@inline
def set_updates(supernodes, f, fac):
    """(3); the children's part comes last, so that nothing needs to be zero before."""
    table, updates = supernodes.table, supernodes.updates
    width, below = sizes(table, f)
    step = EIGHT * width
    panel = table[PANEL, f] + micro_panels(width) * step
    count = micro_panels(below)
    group = np.uint64(0)
    while group < count:
        i = group
        while i < count:
            at = table[UPDATE, f] + np.uint64(32) * i * (i + ONE)
            next = TILE * (i + ONE)
            two = i + ONE < count
            for j in range(group, min(group + GROUP, i + ONE)):
                if two:
                    set_two_updates(fac, panel + i * step, step, panel + j * step, width, updates, at + TILE * j, next)
                else:
                    set_update(fac, panel + i * step, step, panel + j * step, width, updates, at + TILE * j, next)
            if two and i + ONE < group + GROUP:
                j = i + ONE
                set_update(fac, panel + j * step, step, panel + j * step, width, updates, at + next + TILE * j, next)
            i += TWO
        group += GROUP
    c = table[CHILD, f]
    while c < table.shape[1] - 1:
        rows = table[AT, c + ONE] - table[AT, c] - (table[COLUMN, c + ONE] - table[COLUMN, c])
        add_update(supernodes, c, table[OWNED, c], rows, TO_UPDATE, updates, table[UPDATE, f])
        c = table[SIBLING, c]


@inline
def factor_front(supernodes, f, ptr, val, fac, inverse, tolerance):
    set_panel(supernodes, f, val, fac)
    factor_panel(supernodes, f, ptr, val, fac, inverse, tolerance)
    set_updates(supernodes, f, fac)


@inline
def count_dependent(inverse):
    dependent = 0
    for k in range(inverse.shape[0]):
        dependent += 1 if inverse[k] == 0.0 else 0
    return np.int64(dependent)  # both are called by address, for this type


@compiled
def factor_supernodes(supernodes, ptr, val, fac, inverse, tolerance):
    """Returns the number of dependent pivots."""
    for f in range(np.uint64(supernodes.table.shape[1] - 1)):
        factor_front(supernodes, f, ptr, val, fac, inverse, tolerance)
    return count_dependent(inverse)


@inline
def solve_down(supernodes, f, fac, y, rhs_count):
    """y = L₁₁⁻¹ y in the front's own columns, then less L₂₁ times that below. y holds `rhs_count` numbers per row."""
    table, rhs = supernodes.table, supernodes.updates
    span = table[UPDATE, table.shape[1] - 1]
    width, below = sizes(table, f)
    diagonal_panels = micro_panels(width)
    step = EIGHT * width
    column, panel, place = table[COLUMN, f], table[PANEL, f], EIGHT * diagonal_panels
    for k in range(width):
        for r in range(rhs_count):
            rhs[r * span + k] = y[rhs_count * (column + k) + r]
    for k in range(width, place):
        for r in range(rhs_count):
            rhs[r * span + k] = 0.0
    for block in range(diagonal_panels):
        if rhs_count == ONE:
            solve_own(fac, panel + block * step, EIGHT * block, rhs, span)
        else:
            solve_own_four(fac, panel + block * step, EIGHT * block, rhs, span)
    for k in range(width):
        for r in range(rhs_count):
            y[rhs_count * (column + k) + r] = rhs[r * span + k]
    first = table[AT, f] + width
    for micro_panel in range(micro_panels(below)):
        if rhs_count == ONE:
            set_below(fac, panel + (diagonal_panels + micro_panel) * step, width, rhs, span, place)
        else:
            set_below_four(fac, panel + (diagonal_panels + micro_panel) * step, width, rhs, span, place)
        for i in range(min(EIGHT, below - EIGHT * micro_panel)):
            for r in range(rhs_count):
                y[rhs_count * supernodes.row[first + EIGHT * micro_panel + i] + r] += rhs[r * span + place + i]


@inline
def solve_up(supernodes, f, fac, y, rhs_count):
    """y = L₁₁⁻ᵀ (y - L₂₁ᵀ y below) in the front's own columns, from the last."""
    table, rhs = supernodes.table, supernodes.updates
    span = table[UPDATE, table.shape[1] - 1]
    width, below = sizes(table, f)
    diagonal_panels = micro_panels(width)
    every = diagonal_panels + micro_panels(below)
    step = EIGHT * width
    column, panel, place = table[COLUMN, f], table[PANEL, f], EIGHT * diagonal_panels
    first = table[AT, f] + width
    # the columns of a block lie far apart; brought near one after the other, they come sooner
    for q in range(panel, table[PANEL, f + ONE], EIGHT):
        prefetch(fac, q)
    for k in range(below):
        for r in range(rhs_count):
            rhs[r * span + place + k] = y[rhs_count * supernodes.row[first + k] + r]
    for r in range(rhs_count):
        for k in range(place + below, EIGHT * every):
            rhs[r * span + k] = 0.0
    for k in range(width):
        for r in range(rhs_count):
            rhs[r * span + k] = y[rhs_count * (column + k) + r]
    block = diagonal_panels
    while block > 0:
        block -= ONE
        done = EIGHT * block
        at = panel + block * step + EIGHT * done
        columns = min(EIGHT, width - done)
        if rhs_count == ONE:
            solve_back(fac, at, step, every - block - ONE, columns, rhs, span, done)
        else:
            solve_back_four(fac, at, step, every - block - ONE, columns, rhs, span, done)
    for k in range(width):
        for r in range(rhs_count):
            y[rhs_count * (column + k) + r] = rhs[r * span + k]


@inline
def solve_all_up(supernodes, fac, y, rhs_count):
    f = np.uint64(supernodes.table.shape[1] - 1)
    while f > 0:
        f -= ONE
        solve_up(supernodes, f, fac, y, rhs_count)


@inline
def solve_both_ways(supernodes, fac, y, rhs_count):
    for f in range(np.uint64(supernodes.table.shape[1] - 1)):
        solve_down(supernodes, f, fac, y, rhs_count)
    solve_all_up(supernodes, fac, y, rhs_count)


@compiled
def factor_and_solve_one(supernodes, ptr, val, fac, inverse, tolerance, y):
    """The factor, and L Lᵀ y' = y on the way: each panel is used while it is near. Returns dependent pivots."""
    for f in range(np.uint64(supernodes.table.shape[1] - 1)):
        factor_front(supernodes, f, ptr, val, fac, inverse, tolerance)
        solve_down(supernodes, f, fac, y, ONE)
    solve_all_up(supernodes, fac, y, ONE)
    return count_dependent(inverse)


@compiled
def solve_one(supernodes, fac, y):
    """L Lᵀ y' = y, in the order of L."""
    solve_both_ways(supernodes, fac, y, ONE)


@compiled
def solve_four(supernodes, fac, y):
    """The same for four right-hand sides, y[4 k + r]."""
    solve_both_ways(supernodes, fac, y, FOUR)


@compiled
def solve_supernodes(supernodes, fac, perm, y, b, out):
    """L Lᵀ out = b."""
    for k in range(perm.shape[0]):
        y[k] = b[perm[k]]
    solve_one(supernodes, fac, y)
    for k in range(perm.shape[0]):
        out[perm[k]] = y[k]
        y[k] = 0.0
    return np.int64(0)


@compiled
def solve_many(supernodes, fac, perm, y, b, out):
    """L Lᵀ out[r] = b[r] for all r, four at a time; y holds four."""
    first = np.uint64(0)
    while first < b.shape[0]:
        some = min(FOUR, np.uint64(b.shape[0]) - first)
        for k in range(perm.shape[0]):
            for r in range(FOUR):
                y[FOUR * np.uint64(k) + r] = b[first + r, perm[k]] if r < some else 0.0
        solve_four(supernodes, fac, y)
        for k in range(perm.shape[0]):
            for r in range(some):
                out[first + r, perm[k]] = y[FOUR * np.uint64(k) + r]
        first += FOUR
    return np.int64(0)
