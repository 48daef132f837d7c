"""Supernodes: where the numbers of a multifrontal factor lie. Symbolic work, done once per pattern.

Columns of L with (nearly) one pattern form a supernode: its columns j0:j1 and the rows below them that the last
column meets. L is kept as one dense panel per supernode, zeros included. What a supernode leaves to its ancestors is
a lower triangle over the rows below, its update matrix, kept until the parent adds it:

    parent of a supernode = the one that owns its first row below                                   (1)

Both lie in micro-panels of eight rows (simd_kernels.py), the last one filled up with zeros. Entry (i, j) of a panel
with w columns, and of an update matrix, whose micro-panels end at the diagonal, is number

    8 w s + 8 j + i mod 8,   8 · 4 s (s + 1) + 8 j + i mod 8;    s = ⌊i / 8⌋                         (2)

where a panel's rows below begin a new micro-panel. Rows must be in a postorder of the elimination tree, so that the
columns of a supernode are neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taut.compiled import entry, inline, structure

LONG = 18  # entries of a column of L, on average over the work; measured
ZEROS, ALLOWED = 0.3, 1.6  # share of zeros in a merged supernode: up to ZEROS, and to ALLOWED / columns,
# for in wide supernodes zeros cost most and one supernode less gains least; measured

# Rows of Supernodes.table, by supernode
COLUMN, AT, PANEL, UPDATE, CHILD, SIBLING, OWNED, ENTRY = range(8)
# Rows of Supernodes.to
TO_COLUMN, TO_PANEL, TO_UPDATE = range(3)


@structure
class Supernodes(NamedTuple):
    """f supernodes in postorder, and the sentinel f. Few arrays, since every step that is compiled knows them all.

    table: COLUMN, the first column of a supernode; AT, its first entry in `row` and `to`; PANEL, its first number in
    the factor; UPDATE, that in `updates`; CHILD, its first child or f; SIBLING, the next child of its parent or f;
    OWNED, how many of its rows below are columns of its parent; ENTRY, its first entry in `source` and `target`.
    The sentinel's UPDATE is the length of a right-hand side: enough for the rows of any supernode.
    """

    table: np.ndarray  # (8, f+1) uint64
    row: np.ndarray  # (.,) uint32: rows of the supernode, its own columns first
    to: np.ndarray  # (3, .) uint32: where rows below lie in the parent, (2): 8 j; the rest in panel and update matrix
    source: np.ndarray  # (entries of A,) uint32: which entry, supernode by supernode
    target: np.ndarray  # (entries of A,) uint32: its place in the factor
    updates: np.ndarray  # (.,) float64: first four right-hand sides, then what supernodes leave to their parents


def aligned(count: int) -> np.ndarray:
    """Zeros that begin where a line of the cache does: vectors of eight that lie across two lines are slower."""
    longer = np.zeros(count + 7)
    first = -(longer.ctypes.data // 8) % 8
    return longer[first : first + count]


@entry
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


@entry
def gather_columns(parent, count, block, zeros, begin):
    """First block of columns of each supernode into `begin`. Returns the number of supernodes."""
    m = parent.shape[0]
    f = 0
    for last in range(m):
        begin[f] = last
        zeros[f] = 0
        # merge with the supernode before, as long as it is a child and brings few zeros
        while f > 0:
            before, here = begin[f - 1], begin[f]
            if parent[here - 1] < 0 or parent[here - 1] > last:
                break
            child, width = block * (here - before), block * (last + 1 - before)
            rows = width + block * count[last]
            more = zeros[f - 1] + zeros[f] + child * (rows - child - block * count[here - 1])
            if more > min(ZEROS, ALLOWED / width) * width * (rows - 0.5 * (width - 1)):
                break
            f -= 1
            zeros[f] = more
        f += 1
    begin[f] = m
    return f


@inline
def place_in_panel(row, width):
    """(2) without j."""
    if row < width:
        return 8 * width * (row // 8) + row % 8
    diagonal_panels, below = (width + 7) // 8, row - width
    return 8 * width * (diagonal_panels + below // 8) + below % 8


@entry
def fill_supernodes(column, at, block, col_ptr, col_idx, owner, row, to, owned):
    """Rows of each supernode, and their places in the parent (1)."""
    for f in range(column.shape[0] - 1):
        q = at[f]
        for j in range(column[f], column[f + 1]):
            owner[j] = f
            row[q] = j
            q += 1
        last = column[f + 1] // block - 1
        for p in range(col_ptr[last], col_ptr[last + 1]):
            for r in range(block):
                row[q] = block * col_idx[p] + r
                q += 1
    for f in range(column.shape[0] - 1):
        first = at[f] + column[f + 1] - column[f]
        owned[f] = 0
        if first < at[f + 1]:
            parent = owner[row[first]]
            p, width = at[parent], column[parent + 1] - column[parent]
            k = 0
            for q in range(first, at[f + 1]):
                while row[p + k] != row[q]:
                    k += 1
                to[TO_PANEL, q] = place_in_panel(k, width)
                if k < width:
                    owned[f] += 1
                    to[TO_COLUMN, q] = 8 * k
                else:
                    micro_panel = (k - width) // 8
                    to[TO_COLUMN, q] = 8 * (k - width)
                    to[TO_UPDATE, q] = 32 * micro_panel * (micro_panel + 1) + (k - width) % 8  # (2)


@entry
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
            inside = place_in_panel(low - at[f], column[f + 1] - column[f])
            target[e] = panel[f] + inside + 8 * (j - column[f])  # (2)


@entry
def place_updates(parent, size, depth, update, tops, heights):
    """Two stacks, for supernodes of even and of odd depth: the children of a supernode are then on the top of one
    stack, and what it makes of them goes to the other. Heights of the stacks into `heights`."""
    f = size.shape[0]
    for k in range(f - 1, -1, -1):
        depth[k] = 0 if parent[k] < 0 else 1 - depth[parent[k]]
        update[k] = -1
    tops[0], tops[1], heights[0], heights[1] = 0, 0, 0, 0
    for k in range(f):
        d = depth[k]
        # update[k] was set to where its first child begins, if it has any
        freed = update[k]
        update[k] = tops[d]
        tops[d] += size[k]
        heights[d] = max(heights[d], tops[d])
        if freed >= 0:
            tops[1 - d] = freed
        if parent[k] >= 0 and update[parent[k]] < 0:
            update[parent[k]] = update[k]


def plan_supernodes(
    ptr: np.ndarray,
    idx: np.ndarray,
    parent: np.ndarray,
    count: np.ndarray,
    col_ptr: np.ndarray,
    col_idx: np.ndarray,
    block: int = 1,
) -> Supernodes:
    """Supernodes for the lower triangle (ptr, idx) of A by rows; the rest is its elimination tree and L (sparse.py),
    in blocks of rows that have the same neighbours."""
    m = block * parent.size
    begin = np.empty(parent.size + 1, np.int64)
    f = gather_columns(parent, count, block, np.empty(parent.size, np.int64), begin)
    column = block * begin[: f + 1]
    width = np.diff(column)
    below = block * count[begin[1 : f + 1] - 1]
    diagonal_panels, micro_panels = -(-width // 8), -(-below // 8)
    at = np.concatenate([[0], np.cumsum(width + below)])
    panel = np.concatenate([[0], np.cumsum(8 * width * (diagonal_panels + micro_panels))])
    row, to, owner = np.empty(at[-1], np.int64), np.zeros((3, at[-1]), np.int64), np.empty(m, np.int64)
    owned = np.empty(f, np.int64)
    col_ptr, col_idx = col_ptr.astype(np.int64), col_idx.astype(np.int64)
    fill_supernodes(column, at, block, col_ptr, col_idx, owner, row, to, owned)
    target = np.empty(idx.size, np.int64)
    find_targets(column, at, panel, row, owner, ptr.astype(np.int64), idx.astype(np.int64), target)
    source = np.argsort(owner[idx], kind="stable")
    supernode_parent = np.where(below > 0, owner[row[np.minimum(at[:-1] + width, at[-1] - 1)]], -1)
    update, depth, heights = np.empty(f, np.int64), np.empty(f, np.int64), np.empty(2, np.int64)
    sizes = 32 * micro_panels * (micro_panels + 1)
    place_updates(supernode_parent, sizes, depth, update, np.empty(2, np.int64), heights)
    rhs = 8 * int((diagonal_panels + micro_panels).max(initial=1))
    update += 4 * rhs + depth * heights[0]
    table = np.zeros((8, f + 1), np.uint64)
    table[COLUMN], table[AT], table[PANEL], table[UPDATE, :f] = column, at, panel, update
    table[UPDATE, f] = rhs
    table[PANEL, f] += 64  # vectors may be read beyond the last panel
    table[CHILD], table[SIBLING] = f, f
    table[OWNED, :f], table[ENTRY] = owned, np.searchsorted(owner[idx[source]], np.arange(f + 1))
    kids = np.argsort(supernode_parent, kind="stable")[np.count_nonzero(supernode_parent < 0) :]
    again = np.diff(supernode_parent[kids], prepend=-1) == 0  # not the first of its parent
    table[CHILD, supernode_parent[kids[~again]]] = kids[~again]
    table[SIBLING, kids[:-1][again[1:]]] = kids[1:][again[1:]]
    workspace = aligned(4 * rhs + int(heights.sum()) + 8)  # vectors may be read beyond the last update
    short = [a.astype(np.uint32) for a in (row, to, source, target[source])]
    return Supernodes(table, short[0], short[1], short[2], short[3], workspace)


def no_supernodes() -> Supernodes:
    """For systems that are factored otherwise."""
    short = np.zeros(0, np.uint32)
    return Supernodes(np.zeros((8, 1), np.uint64), short, np.zeros((3, 0), np.uint32), short, short, np.zeros(0))


def worth_supernodes(count: np.ndarray, long: int = LONG) -> bool:
    """Whether the columns of L are long enough for dense panels: by (2) of choose.py per entry of L."""
    return bool(((count + 1.0) ** 2).sum() > long * (count + 1.0).sum())
