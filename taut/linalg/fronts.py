"""Where the numbers of a multifrontal factor lie: symbolic work, once per pattern.

Columns of L with (nearly) one pattern form a front: its columns j0:j1 and the rows below them that the last
column meets. L is kept as one dense panel per front, (rows, columns) by columns, zeros included. What a
front leaves to its ancestors is a square over the rows below, kept until the parent front takes it in:

    parent of a front = the front that owns its first row below                                     (1)

Rows must be in a postorder of the elimination tree, so that the columns of a front are neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taut.jit import kernel

LONG = 18  # entries of a column of L, on average over the work; measured
NARROW = 8  # columns up to which a front may hold more zeros, for its loops are short anyway
ZEROS_NARROW, ZEROS = 0.3, 0.1  # the share of zeros in a front that took in others

# Rows of Fronts.table, by front
COLUMN, AT, PANEL, SQUARE, CHILD, SIBLING = range(6)


class Fronts(NamedTuple):
    """f fronts in postorder, and the sentinel f. Few arrays, since every step that is compiled knows them all.

    table: COLUMN, the first column of a front; AT, its first entry in `row` and `to`; PANEL, its first number in
    the factor; SQUARE, that in `squares`; CHILD, its first child or f; SIBLING, the next child of its parent or f.
    """

    table: np.ndarray  # (6, f+1) uint64
    row: np.ndarray  # (.,) uint32: rows of the front, its own columns first
    to: np.ndarray  # (.,) uint32: for rows below, which row of the parent front they are
    target: np.ndarray  # (entries of A,) uint32: their place in the factor
    squares: np.ndarray  # (.,) float64: what fronts leave to their parents


@kernel
def order_children_first(parent, first, following, stack, out):
    """A postorder: each node right after its descendants, siblings in their given order."""
    m = parent.shape[0]
    for k in range(m):
        first[k] = -1
    root = -1
    for k in range(m - 1, -1, -1):
        p = parent[k]
        if p < 0:
            following[k] = root
            root = k
        else:
            following[k] = first[p]
            first[p] = k
    count = 0
    while root >= 0:
        top = 0
        stack[0] = root
        while top >= 0:
            k = stack[top]
            if first[k] >= 0:
                top += 1
                stack[top] = first[k]
                first[k] = following[first[k]]
            else:
                out[count] = k
                count += 1
                top -= 1
        root = following[root]


def postorder(parent: np.ndarray) -> np.ndarray:
    m = parent.size
    out = np.empty(m, np.int64)
    order_children_first(parent, np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64), out)
    return out


@kernel
def gather_columns(parent, count, zeros, begin):
    """First column of each front into `begin`. Returns the number of fronts."""
    m = parent.shape[0]
    f = 0
    for last in range(m):
        begin[f] = last
        zeros[f] = 0
        # take in the front before, as long as it is a child and brings few zeros
        while f > 0:
            before, here = begin[f - 1], begin[f]
            if parent[here - 1] < 0 or parent[here - 1] > last:
                break
            child, width = here - before, last + 1 - before
            rows = width + count[last]
            more = zeros[f - 1] + zeros[f] + child * (rows - child - count[here - 1])
            allowed = ZEROS_NARROW if width <= NARROW else ZEROS
            if more > allowed * width * (rows - 0.5 * (width - 1)):
                break
            f -= 1
            zeros[f] = more
        f += 1
    begin[f] = m
    return f


@kernel
def fill_fronts(column, at, col_ptr, col_idx, owner, row, to):
    """Rows of each front, and their rows in the parent front (1)."""
    for f in range(column.shape[0] - 1):
        q = at[f]
        for j in range(column[f], column[f + 1]):
            owner[j] = f
            row[q] = j
            q += 1
        last = column[f + 1] - 1
        for p in range(col_ptr[last], col_ptr[last + 1]):
            row[q] = col_idx[p]
            q += 1
    for f in range(column.shape[0] - 1):
        first = at[f] + column[f + 1] - column[f]
        if first < at[f + 1]:
            p = at[owner[row[first]]]
            k = 0
            for q in range(first, at[f + 1]):
                while row[p + k] != row[q]:
                    k += 1
                to[q] = k


@kernel
def find_targets(column, at, panel, row, owner, ptr, idx, target):
    """The place in the factor of each entry (i, j) of the lower triangle of A, given by rows."""
    for i in range(ptr.shape[0] - 1):
        for e in range(ptr[i], ptr[i + 1]):
            j = idx[e]
            f = owner[j]
            low, high = at[f], at[f + 1] - 1
            while low < high:
                k = (low + high) // 2
                if row[k] < i:
                    low = k + 1
                else:
                    high = k
            target[e] = panel[f] + (j - column[f]) * (at[f + 1] - at[f]) + low - at[f]


@kernel
def place_squares(parent, size, depth, square, tops, heights):
    """Two stacks, for fronts of even and of odd depth: the children of a front are then on the top of one
    stack, and what it makes of them goes to the other. Heights of the stacks into `heights`."""
    f = size.shape[0]
    for k in range(f - 1, -1, -1):
        depth[k] = 0 if parent[k] < 0 else 1 - depth[parent[k]]
        square[k] = -1
    tops[0], tops[1], heights[0], heights[1] = 0, 0, 0, 0
    for k in range(f):
        d = depth[k]
        # square[k] was set to where its first child begins, if it has any
        freed = square[k]
        square[k] = tops[d]
        tops[d] += size[k]
        heights[d] = max(heights[d], tops[d])
        if freed >= 0:
            tops[1 - d] = freed
        if parent[k] >= 0 and square[parent[k]] < 0:
            square[parent[k]] = square[k]


def plan_fronts(
    ptr: np.ndarray, idx: np.ndarray, parent: np.ndarray, count: np.ndarray, col_ptr: np.ndarray, col_idx: np.ndarray
) -> Fronts:
    """Fronts for the lower triangle (ptr, idx) of A by rows; the rest is its elimination tree and L (sparse.py)."""
    m = parent.size
    begin = np.empty(m + 1, np.int64)
    f = gather_columns(parent, count, np.empty(m, np.int64), begin)
    column = begin[: f + 1].copy()
    width = np.diff(column)
    below = count[column[1:] - 1]
    at = np.concatenate([[0], np.cumsum(width + below)])
    panel = np.concatenate([[0], np.cumsum((width + below) * width)])
    row, to, owner = np.empty(at[-1], np.int64), np.zeros(at[-1], np.int64), np.empty(m, np.int64)
    col_ptr, col_idx = col_ptr.astype(np.int64), col_idx.astype(np.int64)
    fill_fronts(column, at, col_ptr, col_idx, owner, row, to)
    target = np.empty(idx.size, np.int64)
    find_targets(column, at, panel, row, owner, ptr.astype(np.int64), idx.astype(np.int64), target)
    front_parent = np.where(below > 0, owner[row[np.minimum(at[:-1] + width, at[-1] - 1)]], -1)
    square, depth, heights = np.empty(f, np.int64), np.empty(f, np.int64), np.empty(2, np.int64)
    place_squares(front_parent, below**2, depth, square, np.empty(2, np.int64), heights)
    square += depth * heights[0]
    table = np.zeros((6, f + 1), np.uint64)
    table[COLUMN], table[AT], table[PANEL], table[SQUARE, :f] = column, at, panel, square
    table[CHILD], table[SIBLING] = f, f
    kids = np.argsort(front_parent, kind="stable")[np.count_nonzero(front_parent < 0) :]
    again = np.diff(front_parent[kids], prepend=-1) == 0  # not the first of its parent
    table[CHILD, front_parent[kids[~again]]] = kids[~again]
    table[SIBLING, kids[:-1][again[1:]]] = kids[1:][again[1:]]
    return Fronts(table, row.astype(np.uint32), to.astype(np.uint32), target.astype(np.uint32), np.zeros(heights.sum()))


def no_fronts() -> Fronts:
    """For systems that are factored otherwise."""
    short = np.zeros(0, np.uint32)
    return Fronts(np.zeros((6, 1), np.uint64), short, short, short, np.zeros(0))


def worth_fronts(count: np.ndarray) -> bool:
    """Whether the columns of L are long enough for dense panels: by (2) of choose.py per entry of L."""
    return bool(((count + 1.0) ** 2).sum() > LONG * (count + 1.0).sum())
