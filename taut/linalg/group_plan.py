"""Which rows form groups, and where their tiles and panels lie (groups.py). Symbolic work, done once per pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taut.linalg.groups import AT_ONCE, BEYOND, LANES, Groups
from taut.linalg.pattern import Entries, Pattern
from taut.linalg.sparse import factor_columns, symbolic
from taut.linalg.supernodes import aligned

if TYPE_CHECKING:
    import scipy.sparse as sp


def group_rows(graph: sp.csr_matrix) -> np.ndarray:
    """The group of each row, numbered from 0: rows with the same neighbours, at most eight."""
    key = np.random.default_rng(0).integers(0, 2**63, graph.shape[0], dtype=np.uint64)
    pattern_hash = np.add.reduceat(key[graph.indices], graph.indptr[:-1])  # equal only for equal rows of the pattern
    _, same, count = np.unique(pattern_hash, return_inverse=True, return_counts=True)
    order = np.argsort(same, kind="stable")
    within = np.empty(order.size, np.int64)
    within[order] = np.arange(order.size) - np.repeat(np.cumsum(count) - count, count)
    pieces = -(-count // LANES)
    return (np.cumsum(pieces) - pieces)[same] + within * pieces[same] // count[same]


def between_groups(graph: sp.csr_matrix, group: np.ndarray) -> sp.csr_matrix:
    """The pattern of A by groups, or of the slots that rows touch (graph: rows, slots)."""
    import scipy.sparse as sp

    m, count = group.size, int(group.max(initial=-1)) + 1
    gather = sp.csr_matrix((np.ones(m), (group, np.arange(m))), shape=(count, m))
    found = sp.csr_matrix(gather @ graph @ gather.T if graph.shape[0] == graph.shape[1] else gather @ graph)
    found.data[:] = 1.0
    found.sort_indices()
    return found


class Tiles(NamedTuple):
    """The tiles of L: the place of each, and their groups as one number, ascending."""

    at: np.ndarray
    key: np.ndarray
    groups: int

    def find(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        key = column * self.groups + row
        found = np.searchsorted(self.key, key)
        if not np.array_equal(self.key[found], key):
            raise AssertionError("two groups that meet have no tile")
        return found


def plan_groups(pattern: Pattern, table: Entries, perm: np.ndarray, width: np.ndarray) -> tuple[Groups, np.ndarray]:
    """The groups of `width` rows each in the order `perm` of rows, and where the entries of A lie.

    table: the lower triangle of A in that order.
    """
    g, m = width.size, perm.size
    begin = np.cumsum(width) - width
    group = np.repeat(np.arange(g), width)  # of each place
    lane = np.arange(m) - begin[group]
    rows, columns = group[table.place_row], group[table.place_col]
    ptr, idx = np.divmod(np.unique(rows * g + columns), g)
    ptr = np.searchsorted(ptr, np.arange(g + 1))
    parent, count = symbolic(ptr, idx)
    col_ptr, col_idx = (a.astype(np.int64) for a in factor_columns(ptr, idx, parent, count))
    below, column = np.insert(col_idx, col_ptr[:-1], np.arange(g)), np.repeat(np.arange(g), count + 1)
    size = LANES * width[column]
    tiles = Tiles(np.cumsum(size) - size, column * g + below, g)
    pos = tiles.at[tiles.find(rows, columns)] + LANES * lane[table.place_col] + lane[table.place_row]  # groups.py (1)
    row_group, row_lane = np.empty(m, np.int64), np.empty(m, np.int64)
    row_group[perm], row_lane[perm] = group, lane
    longest = int(np.add.reduceat(size, col_ptr[:-1] + np.arange(g)).max(initial=0))
    groups = Groups(
        width=width.astype(np.uint32), place=begin.astype(np.uint32),
        first=(col_ptr + np.arange(g + 1)).astype(np.uint32), at=tiles.at.astype(np.uint32),
        below=below.astype(np.uint32), lane=(LANES * row_group + row_lane).astype(np.uint32),
        rhs=aligned(LANES * g), column=aligned(2 * longest + LANES * AT_ONCE), pivots=aligned(LANES * (LANES + 2)),
        **_panels(pattern, row_group, row_lane, tiles), **_updates(tiles, below, col_ptr + np.arange(g + 1), width),
    )  # fmt: skip
    return groups, pos


def _updates(tiles: Tiles, below: np.ndarray, first: np.ndarray, width: np.ndarray) -> dict[str, Any]:
    """The products of two tiles below the same diagonal one, and the tile that they go to."""
    count = np.diff(first) - 1  # tiles below the diagonal of each group
    pairs = {c: np.stack(np.tril_indices(c)) for c in np.unique(count)}
    a, b = np.concatenate([pairs[c] + start + 1 for c, start in zip(count, first)], axis=1)
    target = tiles.find(below[a], below[b])
    end = int(tiles.at[-1] + LANES * width[-1])
    fresh, base, base_of_ring = np.zeros(target.size, np.int64), np.full(below.size, end), end + BEYOND
    fresh[np.unique(target, return_index=True)[1]] = 1
    base[target] = tiles.at[target]
    products = count * (count + 1) // 2
    own = tiles.at[first[:-1]]
    diagonal = np.repeat(own, products)
    ring = base_of_ring + BEYOND * _in_turns(below, count)
    swept = np.where(below[a] == below[b], ring[below[b]], tiles.at[target])
    updates = np.stack(
        [tiles.at[a] - diagonal, tiles.at[b] - diagonal, tiles.at[target], width[below[b]], fresh, swept], axis=1
    )  # fmt: skip
    found = {"base": base, "ring": ring, "update": np.append(0, np.cumsum(products)), "updates": updates}
    return {name: values.astype(np.uint32) for name, values in found.items()}


def _in_turns(below: np.ndarray, count: np.ndarray) -> np.ndarray:
    """A number for each group that no other has from the first product for it on until the next group is factored."""
    own = np.arange(count.size)
    earliest = own.copy()
    np.minimum.at(earliest, below, np.repeat(own, count + 1))
    return own % (int((own - earliest).max(initial=1)) + 1)


def _panels(pattern: Pattern, group: np.ndarray, lane: np.ndarray, tiles: Tiles) -> dict[str, Any]:
    """Panels, what goes there of J, and the runs of each tile."""
    row_ptr, slot, free = pattern.blocks
    slots = free.size
    row_of = np.repeat(np.arange(row_ptr.size - 1), np.diff(row_ptr))
    blocks = np.flatnonzero(free[slot])
    key = group[row_of[blocks]] * slots + slot[blocks]
    panels = np.unique(key)
    to = 3 * LANES * np.searchsorted(panels, key) + lane[row_of[blocks]]
    added = np.ones(to.size, np.int64)
    added[np.unique(to, return_index=True)[1]] = 0
    own_group = group[row_of[blocks]]
    order = np.lexsort((to, added, own_group))
    count = int(group.max(initial=-1)) + 1
    number = 2 * np.arange(count)
    taken = np.searchsorted((2 * own_group + added)[order], np.stack([number, number + 1, number + 2], axis=1))
    # each pair of groups that meet on a slot, once
    pairs = pattern.products
    i, j, s = group[pairs.left_row], group[pairs.right_row], slot[pairs.left]
    lower = i >= j
    i, j, s = i[lower], j[lower], s[lower]
    of_tile = tiles.find(i, j)
    _, once = np.unique(of_tile * slots + s, return_index=True)
    i, j, s, of_tile = i[once], j[once], s[once], of_tile[once]
    rows, columns = (np.searchsorted(panels, k * slots + s) for k in (i, j))
    goes_on = np.diff(of_tile, prepend=-1) == 0
    for a in (s, rows, columns):
        goes_on &= np.diff(a, prepend=-2) == 1
    start = np.flatnonzero(~goes_on)
    reach = np.arange(1, count + 1)
    np.maximum.at(reach, j, i + 1)
    length = np.diff(np.append(start, s.size))
    runs = np.stack([3 * LANES * rows[start], 3 * LANES * columns[start], length, 3 * s[start]], axis=1)
    return {
        "run": np.searchsorted(of_tile[start], np.arange(tiles.at.size + 1)).astype(np.uint32),
        "runs": runs.astype(np.uint32), "source": blocks[order].astype(np.uint32),
        "to": to[order].astype(np.uint32), "taken": taken.astype(np.uint32), "complete": 1,
        "reach": np.maximum.accumulate(reach).astype(np.uint32),
        "panels": aligned(3 * LANES * panels.size), **_pieces(*np.divmod(panels, slots), count),
    }  # fmt: skip


def _pieces(group: np.ndarray, slot: np.ndarray, count: int) -> dict[str, Any]:
    """The panels of each of `count` groups in pieces of one slot or of two that are neighbours, as a body's are."""
    begins = np.ones(slot.size, bool)
    begins[1:] = (np.diff(group) != 0) | (np.diff(slot) != 1)
    start = np.flatnonzero(begins)
    within = np.arange(slot.size) - np.repeat(start, np.diff(np.append(start, slot.size)))
    first = np.flatnonzero(within % 2 == 0)
    length = np.diff(np.append(first, slot.size))
    pieces = np.stack([3 * LANES * first, length, 3 * slot[first]], axis=1)
    piece_ptr = np.searchsorted(group[first], np.arange(count + 1))
    return {"piece_ptr": piece_ptr.astype(np.uint32), "pieces": pieces.astype(np.uint32)}
