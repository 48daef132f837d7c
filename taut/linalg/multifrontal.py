"""Multifrontal Cholesky [Duff and Reid 1983]: P A Pᵀ = L Lᵀ by dense panels.

A front F has the columns j0:j1 and is a lower triangle over its rows (own columns first, those below after):

    F = A's columns j0:j1  +  Σ_children S_child                               (1)
    F₁₁ = L₁₁ L₁₁ᵀ,    L₂₁ = F₂₁ L₁₁⁻ᵀ                                         (2)
    S = F₂₂ - L₂₁ L₂₁ᵀ                                                         (3)

L₁₁ and L₂₁ are the front's panel in `fac`, S its square (fronts.py), both in strips of eight rows; what lies
above their diagonals means nothing. The work is done by tiles of 8 × 8 (tiles.py); on the diagonal of L₁₁ the
panel holds their inverses.
A pivot below `tolerance` times its original diagonal counts as dependent: its column of L is zero, and so
is `inverse`, which holds 1 / L_jj.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from taut.compiled import compiled, inline
from taut.linalg import plain, tiles
from taut.linalg.fronts import (
    AT,
    CHILD,
    COLUMN,
    ENTRY,
    OWNED,
    PANEL,
    SIBLING,
    SQUARE,
    TO_COLUMN,
    TO_PANEL,
    TO_SQUARE,
)

config: Any = numba.config
words: Any = plain if config.DISABLE_JIT else tiles
factor_tile, finish_tile, set_square = words.factor_tile, words.finish_tile, words.set_square
finish_two_tiles, set_two_squares, add_lanes = words.finish_two_tiles, words.set_two_squares, words.add_lanes
bring_near = words.bring_near
set_below, solve_own, solve_back = words.set_below, words.solve_own, words.solve_back
set_below_four, solve_own_four, solve_back_four = words.set_below_four, words.solve_own_four, words.solve_back_four

# indices stay unsigned
ONE, TWO, FOUR, SEVEN, EIGHT, TILE = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(7), np.uint64(8), np.uint64(64)
GROUP = np.uint64(8)  # strips that stay in the nearest cache but one while others pass


@inline
def sizes(table, f):
    """Own columns and rows below of a front."""
    width = table[COLUMN, f + 1] - table[COLUMN, f]
    return width, table[AT, f + 1] - table[AT, f] - width


@inline
def strips(rows):
    return (rows + SEVEN) // EIGHT


@inline
def add_strip(squares, at, begin, end, to, which, first, top, lanes, target, base):
    """Columns begin:end of one strip of a child's square, up to the diagonal, to the places that `to` tells: by runs
    of rows that are neighbours in a strip of the target too."""
    i = np.uint64(0)
    while i < lanes:
        row = first + top + i
        place = to[which, row]
        low = place % EIGHT
        run = ONE
        while i + run < lanes and low + run < EIGHT and to[which, row + run] == place + run:
            run += ONE
        source, column = at + i - low, base + place - low
        for j in range(begin, min(end, top + i + ONE)):
            add_lanes(squares, source + EIGHT * j, target, column + to[TO_COLUMN, first + j], low, low + run)
        for j in range(max(begin, top + i + ONE), min(end, top + i + run)):
            above = j - top - i
            add_lanes(squares, source + EIGHT * j, target, column + to[TO_COLUMN, first + j], low + above, low + run)
        i += run


@inline
def add_square(fronts, child, begin, end, which, target, base):
    """Columns begin:end of a child's square, from the diagonal on (1)."""
    table, to, squares = fronts.table, fronts.to, fronts.squares
    width, below = sizes(table, child)
    first = table[AT, child] + width
    for strip in range(begin // EIGHT, strips(below)):
        at = table[SQUARE, child] + np.uint64(32) * strip * (strip + ONE)
        top = EIGHT * strip
        add_strip(squares, at, begin, end, to, which, first, top, min(EIGHT, below - top), target, base)


@inline
def set_panel(fronts, f, val, fac):
    """(1) in the front's own columns."""
    table = fronts.table
    for q in range(table[PANEL, f], table[PANEL, f + 1]):
        fac[q] = 0.0
    for e in range(table[ENTRY, f], table[ENTRY, f + 1]):
        fac[fronts.target[e]] = val[fronts.source[e]]
    c = table[CHILD, f]
    nothing = np.uint64(0)
    while c < table.shape[1] - 1:
        add_square(fronts, c, nothing, table[OWNED, c], TO_PANEL, fac, table[PANEL, f])
        c = table[SIBLING, c]


@inline
def factor_panel(fronts, f, ptr, val, fac, inverse, tolerance):
    """(2), eight columns at a time."""
    table, least = fronts.table, fronts.squares
    width, below = sizes(table, f)
    own = strips(width)
    every = own + strips(below)
    step = EIGHT * width
    for block in range(own):
        done = EIGHT * block
        columns = min(EIGHT, width - done)
        column = table[COLUMN, f] + done
        for c in range(columns):
            least[c] = tolerance * val[ptr[column + c + ONE] - ONE]
        at = table[PANEL, f] + block * step
        factor_tile(fac, at, done, columns, least, inverse, column)
        strip = block + ONE
        while strip + ONE < every:
            finish_two_tiles(fac, table[PANEL, f] + strip * step, step, at, done, columns)
            strip += TWO
        if strip < every:
            finish_tile(fac, table[PANEL, f] + strip * step, step, at, done, columns)


@inline
def set_squares(fronts, f, fac):
    """(3); the children's part comes last, so that nothing needs to be zero before."""
    table, squares = fronts.table, fronts.squares
    width, below = sizes(table, f)
    step = EIGHT * width
    panel = table[PANEL, f] + strips(width) * step
    count = strips(below)
    group = np.uint64(0)
    while group < count:
        i = group
        while i < count:
            at = table[SQUARE, f] + np.uint64(32) * i * (i + ONE)
            next = TILE * (i + ONE)
            two = i + ONE < count
            for j in range(group, min(group + GROUP, i + ONE)):
                if two:
                    set_two_squares(fac, panel + i * step, step, panel + j * step, width, squares, at + TILE * j, next)
                else:
                    set_square(fac, panel + i * step, step, panel + j * step, width, squares, at + TILE * j, next)
            if two and i + ONE < group + GROUP:
                j = i + ONE
                set_square(fac, panel + j * step, step, panel + j * step, width, squares, at + next + TILE * j, next)
            i += TWO
        group += GROUP
    c = table[CHILD, f]
    while c < table.shape[1] - 1:
        rows = table[AT, c + ONE] - table[AT, c] - (table[COLUMN, c + ONE] - table[COLUMN, c])
        add_square(fronts, c, table[OWNED, c], rows, TO_SQUARE, squares, table[SQUARE, f])
        c = table[SIBLING, c]


@inline
def factor_front(fronts, f, ptr, val, fac, inverse, tolerance):
    set_panel(fronts, f, val, fac)
    factor_panel(fronts, f, ptr, val, fac, inverse, tolerance)
    set_squares(fronts, f, fac)


@inline
def count_dependent(inverse):
    dependent = 0
    for k in range(inverse.shape[0]):
        dependent += 1 if inverse[k] == 0.0 else 0
    return np.int64(dependent)  # both are called by address, for this type


@compiled
def factor_fronts(fronts, ptr, val, fac, inverse, tolerance):
    """Returns the number of dependent pivots."""
    for f in range(np.uint64(fronts.table.shape[1] - 1)):
        factor_front(fronts, f, ptr, val, fac, inverse, tolerance)
    return count_dependent(inverse)


@inline
def solve_down(fronts, f, fac, y, lines):
    """y = L₁₁⁻¹ y in the front's own columns, then less L₂₁ times that below. y holds `lines` numbers per row."""
    table, line = fronts.table, fronts.squares
    span = table[SQUARE, table.shape[1] - 1]
    width, below = sizes(table, f)
    own = strips(width)
    step = EIGHT * width
    column, panel, place = table[COLUMN, f], table[PANEL, f], EIGHT * own
    for k in range(width):
        for r in range(lines):
            line[r * span + k] = y[lines * (column + k) + r]
    for k in range(width, place):
        for r in range(lines):
            line[r * span + k] = 0.0
    for block in range(own):
        if lines == ONE:
            solve_own(fac, panel + block * step, EIGHT * block, line, span)
        else:
            solve_own_four(fac, panel + block * step, EIGHT * block, line, span)
    for k in range(width):
        for r in range(lines):
            y[lines * (column + k) + r] = line[r * span + k]
    first = table[AT, f] + width
    for strip in range(strips(below)):
        if lines == ONE:
            set_below(fac, panel + (own + strip) * step, width, line, span, place)
        else:
            set_below_four(fac, panel + (own + strip) * step, width, line, span, place)
        for i in range(min(EIGHT, below - EIGHT * strip)):
            for r in range(lines):
                y[lines * fronts.row[first + EIGHT * strip + i] + r] += line[r * span + place + i]


@inline
def solve_up(fronts, f, fac, y, lines):
    """y = L₁₁⁻ᵀ (y - L₂₁ᵀ y below) in the front's own columns, from the last."""
    table, line = fronts.table, fronts.squares
    span = table[SQUARE, table.shape[1] - 1]
    width, below = sizes(table, f)
    own = strips(width)
    every = own + strips(below)
    step = EIGHT * width
    column, panel, place = table[COLUMN, f], table[PANEL, f], EIGHT * own
    first = table[AT, f] + width
    # the columns of a block lie far apart; brought near one after the other, they come sooner
    for q in range(panel, table[PANEL, f + ONE], EIGHT):
        bring_near(fac, q)
    for k in range(below):
        for r in range(lines):
            line[r * span + place + k] = y[lines * fronts.row[first + k] + r]
    for r in range(lines):
        for k in range(place + below, EIGHT * every):
            line[r * span + k] = 0.0
    for k in range(width):
        for r in range(lines):
            line[r * span + k] = y[lines * (column + k) + r]
    block = own
    while block > 0:
        block -= ONE
        done = EIGHT * block
        at = panel + block * step + EIGHT * done
        columns = min(EIGHT, width - done)
        if lines == ONE:
            solve_back(fac, at, step, every - block - ONE, columns, line, span, done)
        else:
            solve_back_four(fac, at, step, every - block - ONE, columns, line, span, done)
    for k in range(width):
        for r in range(lines):
            y[lines * (column + k) + r] = line[r * span + k]


@inline
def solve_all_up(fronts, fac, y, lines):
    f = np.uint64(fronts.table.shape[1] - 1)
    while f > 0:
        f -= ONE
        solve_up(fronts, f, fac, y, lines)


@inline
def solve_both_ways(fronts, fac, y, lines):
    for f in range(np.uint64(fronts.table.shape[1] - 1)):
        solve_down(fronts, f, fac, y, lines)
    solve_all_up(fronts, fac, y, lines)


@compiled
def factor_and_solve_line(fronts, ptr, val, fac, inverse, tolerance, y):
    """The factor, and L Lᵀ y' = y on the way: each panel is used while it is near. Returns dependent pivots."""
    for f in range(np.uint64(fronts.table.shape[1] - 1)):
        factor_front(fronts, f, ptr, val, fac, inverse, tolerance)
        solve_down(fronts, f, fac, y, ONE)
    solve_all_up(fronts, fac, y, ONE)
    return count_dependent(inverse)


@compiled
def solve_line(fronts, fac, y):
    """L Lᵀ y' = y, in the order of L."""
    solve_both_ways(fronts, fac, y, ONE)


@compiled
def solve_four(fronts, fac, y):
    """The same for four lines, y[4 k + r]."""
    solve_both_ways(fronts, fac, y, FOUR)


@compiled
def solve_fronts(fronts, fac, perm, y, b, out):
    """L Lᵀ out = b."""
    for k in range(perm.shape[0]):
        y[k] = b[perm[k]]
    solve_line(fronts, fac, y)
    for k in range(perm.shape[0]):
        out[perm[k]] = y[k]
        y[k] = 0.0
    return np.int64(0)


@compiled
def solve_many(fronts, fac, perm, y, b, out):
    """L Lᵀ out[r] = b[r] for all r, four at a time; y has room for four."""
    first = np.uint64(0)
    while first < b.shape[0]:
        some = min(FOUR, np.uint64(b.shape[0]) - first)
        for k in range(perm.shape[0]):
            for r in range(FOUR):
                y[FOUR * np.uint64(k) + r] = b[first + r, perm[k]] if r < some else 0.0
        solve_four(fronts, fac, y)
        for k in range(perm.shape[0]):
            for r in range(some):
                out[first + r, perm[k]] = y[FOUR * np.uint64(k) + r]
        first += FOUR
    return np.int64(0)
