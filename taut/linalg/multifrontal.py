"""Multifrontal Cholesky [Duff and Reid 1983]: P A Pᵀ = L Lᵀ by dense panels.

A front F has the columns j0:j1 and is a lower triangle over its rows (own columns first, those below after):

    F = A's columns j0:j1  +  Σ_children S_child                               (1)
    F₁₁ = L₁₁ L₁₁ᵀ,    L₂₁ = F₂₁ L₁₁⁻ᵀ                                         (2)
    S = F₂₂ - L₂₁ L₂₁ᵀ                                                         (3)

L₁₁ and L₂₁ are the front's panel in `fac`, S its square (fronts.py); what lies above their diagonals means
nothing. The loops run along memory, over four columns of L for two columns of the result at a time.
A pivot below `tolerance` times its original diagonal counts as dependent: its column of L is zero, and so
is `inverse`, which holds 1 / L_jj.
"""

from __future__ import annotations

import math

import numpy as np

from taut.jit import part, word
from taut.linalg.fronts import AT, CHILD, COLUMN, PANEL, SIBLING, SQUARE

ONE, TWO, FOUR = np.uint64(1), np.uint64(2), np.uint64(4)  # indices stay unsigned


@word
def take_in(fronts, f, fac, squares):
    """Add the children's squares (1)."""
    table = fronts.table
    rows = table[AT, f + 1] - table[AT, f]
    width = table[COLUMN, f + 1] - table[COLUMN, f]
    below = rows - width
    panel, square = table[PANEL, f], table[SQUARE, f]
    for q in range(square, square + below * below):
        squares[q] = 0.0
    c = table[CHILD, f]
    while c < table.shape[1] - 1:
        first = table[AT, c] + table[COLUMN, c + ONE] - table[COLUMN, c]
        size = table[AT, c + ONE] - first
        at = table[SQUARE, c]
        for j in range(size):
            row = np.uint64(fronts.to[first + j])
            if row < width:
                base = panel + row * rows
                for i in range(j, size):
                    fac[base + fronts.to[first + i]] += squares[at + i]
            else:
                base = square + (row - width) * below
                for i in range(j, size):
                    squares[base + (fronts.to[first + i] - width)] += squares[at + i]
            at += size
        c = table[SIBLING, c]


@word
def subtract_two(fac, first, rows, columns, j, to, at, next_at):
    """Columns j and j + 1 of L Lᵀ, from row j on: to[at] is the place of (j, j), to[next_at] that of (j, j + 1)."""
    a = first + j
    length = rows - j
    left = columns
    while left >= FOUR:
        b = a + rows
        c = b + rows
        d = c + rows
        a0, b0, c0, d0 = fac[a], fac[b], fac[c], fac[d]
        a1, b1, c1, d1 = fac[a + ONE], fac[b + ONE], fac[c + ONE], fac[d + ONE]
        for i in range(length):
            x, y, z, w = fac[a + i], fac[b + i], fac[c + i], fac[d + i]
            to[at + i] -= (x * a0 + y * b0) + (z * c0 + w * d0)
            to[next_at + i] -= (x * a1 + y * b1) + (z * c1 + w * d1)
        a = d + rows
        left -= FOUR
    while left > 0:
        a0, a1 = fac[a], fac[a + ONE]
        for i in range(length):
            to[at + i] -= fac[a + i] * a0
            to[next_at + i] -= fac[a + i] * a1
        a += rows
        left -= ONE


@word
def subtract_one(fac, first, rows, columns, j, to, at):
    """Column j alone."""
    a = first + j
    for _ in range(columns):
        a0 = fac[a]
        for i in range(rows - j):
            to[at + i] -= fac[a + i] * a0
        a += rows


@word
def finish_column(fac, at, length, diagonal, tolerance):
    """Divide a column by the root of its pivot fac[at]. Returns the reciprocal of that root, 0 if dependent."""
    r = 0.0 if fac[at] <= tolerance * diagonal else 1.0 / math.sqrt(fac[at])
    for i in range(length):
        fac[at + i] *= r
    return r


@word
def factor_panel(fac, first, rows, width, column, ptr, val, inverse, tolerance):
    """(2)"""
    j = np.uint64(0)
    while j < width:
        at = first + j * rows + j
        pair = j + ONE < width
        if pair:
            subtract_two(fac, first, rows, j, j, fac, at, at + rows)
        else:
            subtract_one(fac, first, rows, j, j, fac, at)
        k = column + j
        inverse[k] = finish_column(fac, at, rows - j, val[ptr[k + ONE] - ONE], tolerance)
        if pair:
            k += ONE
            l = fac[at + ONE]
            next_at = at + rows
            for i in range(ONE, rows - j):
                fac[next_at + i] -= fac[at + i] * l
            inverse[k] = finish_column(fac, next_at + ONE, rows - j - ONE, val[ptr[k + ONE] - ONE], tolerance)
        j += TWO


@word
def subtract_square(fac, first, rows, width, squares, square):
    """(3)"""
    j = width
    at = square
    step = rows - width
    while j + ONE < rows:
        subtract_two(fac, first, rows, width, j, squares, at, at + step)
        at += TWO * (step + ONE)
        j += TWO
    if j < rows:
        subtract_one(fac, first, rows, width, j, squares, at)


@part
def factor_fronts(fronts, ptr, val, fac, inverse, tolerance):
    """Returns the number of dependent pivots."""
    table = fronts.table
    for q in range(fac.shape[0]):
        fac[q] = 0.0
    for e in range(val.shape[0]):
        fac[fronts.target[e]] = val[e]
    for f in range(table.shape[1] - 1):
        first = table[PANEL, f]
        rows = table[AT, f + 1] - table[AT, f]
        width = table[COLUMN, f + 1] - table[COLUMN, f]
        take_in(fronts, f, fac, fronts.squares)
        factor_panel(fac, first, rows, width, table[COLUMN, f], ptr, val, inverse, tolerance)
        subtract_square(fac, first, rows, width, fronts.squares, table[SQUARE, f])
    dependent = 0
    for k in range(inverse.shape[0]):
        dependent += 1 if inverse[k] == 0.0 else 0
    return np.int64(dependent)  # both are called by address, for this type


@word
def solve_down(fac, first, rows, width, inverse, column, line):
    """line = L₁₁⁻¹ line in the front's own columns, then less L₂₁ times that below; two columns at a time."""
    j = np.uint64(0)
    at = first
    while j + ONE < width:
        next_at = at + rows
        x = line[j] * inverse[column + j]
        y = (line[j + ONE] - fac[at + j + ONE] * x) * inverse[column + j + ONE]
        line[j] = x
        line[j + ONE] = y
        for i in range(j + TWO, rows):
            line[i] -= fac[at + i] * x + fac[next_at + i] * y
        at = next_at + rows
        j += TWO
    if j < width:
        x = line[j] * inverse[column + j]
        line[j] = x
        for i in range(j + ONE, rows):
            line[i] -= fac[at + i] * x


@word
def solve_up(fac, first, rows, width, inverse, column, line):
    """line = L₁₁⁻ᵀ (line - L₂₁ᵀ line below) in the front's own columns, from the last; two at a time."""
    j = width
    while j > ONE:
        j -= TWO
        at = first + j * rows
        next_at = at + rows
        x = line[j]
        y = line[j + ONE]
        for i in range(j + TWO, rows):
            x -= fac[at + i] * line[i]
            y -= fac[next_at + i] * line[i]
        y *= inverse[column + j + ONE]
        line[j + ONE] = y
        line[j] = (x - fac[at + j + ONE] * y) * inverse[column + j]
    if j > 0:
        x = line[0]
        for i in range(ONE, rows):
            x -= fac[first + i] * line[i]
        line[0] = x * inverse[column]


@part
def solve_fronts(fronts, fac, inverse, perm, y, line, b, out):
    """L Lᵀ out = b; `line` has room for the rows of a front."""
    table = fronts.table
    for k in range(inverse.shape[0]):
        y[k] = b[perm[k]]
    for f in range(table.shape[1] - 1):
        first = table[AT, f]
        rows = table[AT, f + 1] - first
        column = table[COLUMN, f]
        for i in range(rows):
            line[i] = y[fronts.row[first + i]]
        solve_down(fac, table[PANEL, f], rows, table[COLUMN, f + 1] - column, inverse, column, line)
        for i in range(rows):
            y[fronts.row[first + i]] = line[i]
    for f in range(table.shape[1] - 2, -1, -1):
        first = table[AT, f]
        rows = table[AT, f + 1] - first
        column = table[COLUMN, f]
        width = table[COLUMN, f + 1] - column
        for i in range(rows):
            line[i] = y[fronts.row[first + i]]
        solve_up(fac, table[PANEL, f], rows, width, inverse, column, line)
        for i in range(width):
            y[column + i] = line[i]
    for k in range(inverse.shape[0]):
        out[perm[k]] = y[k]
        y[k] = 0.0
    return np.int64(0)
