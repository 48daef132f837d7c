"""Broad phase of moving elements: which come near each other during a step, by boxes around their paths.

An element is a few nodes that move from x0 to x1: a node, an edge, a triangle. The boxes of the second set are
entered into all cells of a spatial hash that they overlap; each box of the first set is compared with the entries of
the cells that it overlaps. A pair that shares several cells is taken in the one that holds the lowest corner of their
overlap, so it is taken once. Pairs come out sorted; elements that share a node are no pair.
"""

from __future__ import annotations

from math import floor, sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, entry, inline, structure
from ..errors import TautError
from .spatial_hash import accumulate, bucket_of, sort_by_second, table_size

Array = np.ndarray
MOST_ENTRIES = 8  # per element, on average; above, cells are made larger


@structure
class SweptWork(NamedTuple):
    """Workspace of a search, replaced by a larger one when a search asks for it."""

    first: Array  # (a, 6) boxes: lower corner, upper corner
    second: Array  # (b, 6)
    origin: Array  # (3,) of the grid
    begin: Array  # (table + 1,) first entry of each bucket
    entry: Array  # (entries,) element
    cell: Array  # (entries,) its cell, three numbers of 21 bits
    pairs: Array  # (pairs, 2) found


def swept_work(first: int, second: int, entries: int, pairs: int) -> SweptWork:
    table = table_size(second)
    return SweptWork(
        np.zeros((first, 6)),
        np.zeros((second, 6)),
        np.zeros(3),
        np.zeros(table + 1, np.int64),
        np.zeros(entries, np.uint32),
        np.zeros(entries, np.int64),
        np.zeros((pairs, 2), np.uint32),
    )


@compiled
def sweep_boxes(elements, x0, x1, margin, path_fraction, out):
    """Boxes around the paths of elements; returns the mean of their widths.

    They are wider on all sides by `margin` and by `path_fraction` of the longest path of the element's nodes.
    """
    total = 0.0
    for e in range(elements.shape[0]):
        longest = 0.0
        if path_fraction > 0.0:
            for k in range(elements.shape[1]):
                i = elements[e, k]
                way = (x1[i, 0] - x0[i, 0]) ** 2 + (x1[i, 1] - x0[i, 1]) ** 2 + (x1[i, 2] - x0[i, 2]) ** 2
                longest = max(longest, way)
        wider = margin + path_fraction * sqrt(longest)
        for c in range(3):
            low = np.inf
            high = -np.inf
            for k in range(elements.shape[1]):
                i = elements[e, k]
                total += 0.0 * (x0[i, c] + x1[i, c])  # NaN and infinity show in the mean
                low = min(low, x0[i, c], x1[i, c])
                high = max(high, x0[i, c], x1[i, c])
            out[e, c] = low - wider
            out[e, c + 3] = high + wider
            total += out[e, c + 3] - out[e, c]
    return total / max(1, 3 * elements.shape[0])


@inline
def cell_of(value, origin, inverse):
    return int(floor((value - origin) * inverse))


@inline
def packed(i, j, k):
    return (i << 42) | (j << 21) | k


@inline
def share_a_node(first, a, second, b):
    for i in range(first.shape[1]):
        for j in range(second.shape[1]):
            if first[a, i] == second[b, j]:
                return True
    return False


@inline
def overlap(p, a, q, b):
    return (
        p[a, 0] <= q[b, 3] and q[b, 0] <= p[a, 3]
        and p[a, 1] <= q[b, 4] and q[b, 1] <= p[a, 4]
        and p[a, 2] <= q[b, 5] and q[b, 2] <= p[a, 5]
    )  # fmt: skip


@inline
def expected_entries(box, width):
    """How many cells of this width the boxes touch, if they lie anyhow."""
    total = 0.0
    for e in range(box.shape[0]):
        wide = (box[e, 3] - box[e, 0]) / width + 1.0
        total += wide * ((box[e, 4] - box[e, 1]) / width + 1.0) * ((box[e, 5] - box[e, 2]) / width + 1.0)
    return total


@compiled
def fill(work, width):
    """Put the second set into the spatial hash, counting first; returns the number of entries."""
    box, origin, begin = work.second, work.origin, work.begin
    inverse = 1.0 / width
    table = begin.shape[0] - 1
    for t in range(table + 1):
        begin[t] = 0
    for filling in range(2):
        for back in range(box.shape[0]):
            e = box.shape[0] - 1 - back  # places are filled from their ends, so elements come out ascending
            for i in range(cell_of(box[e, 0], origin[0], inverse), cell_of(box[e, 3], origin[0], inverse) + 1):
                for j in range(cell_of(box[e, 1], origin[1], inverse), cell_of(box[e, 4], origin[1], inverse) + 1):
                    for k in range(cell_of(box[e, 2], origin[2], inverse), cell_of(box[e, 5], origin[2], inverse) + 1):
                        cell = packed(i, j, k)
                        bucket = bucket_of(i, j, k, table)
                        if filling:
                            begin[bucket] -= 1
                            work.entry[begin[bucket]] = e
                            work.cell[begin[bucket]] = cell
                        else:
                            begin[bucket] += 1
        if not filling:
            accumulate(begin)
            if begin[table] > work.entry.shape[0]:
                return begin[table]
    return begin[table]


@compiled
def overlapping_pairs(work, first, second, same, width):
    """Pairs of overlapping boxes, sorted. Returns how many there are, also when they do not fit."""
    origin, begin, pairs = work.origin, work.begin, work.pairs
    inverse = 1.0 / width
    table = begin.shape[0] - 1
    count = 0
    p, q = work.first, work.second
    for a in range(first.shape[0]):
        began = count
        for i in range(cell_of(p[a, 0], origin[0], inverse), cell_of(p[a, 3], origin[0], inverse) + 1):
            for j in range(cell_of(p[a, 1], origin[1], inverse), cell_of(p[a, 4], origin[1], inverse) + 1):
                for k in range(cell_of(p[a, 2], origin[2], inverse), cell_of(p[a, 5], origin[2], inverse) + 1):
                    cell = packed(i, j, k)
                    bucket = bucket_of(i, j, k, table)
                    for n in range(begin[bucket], begin[bucket + 1]):
                        b = work.entry[n]
                        if work.cell[n] != cell or (same and b <= a) or not overlap(p, a, q, b):
                            continue
                        low0 = cell_of(max(p[a, 0], q[b, 0]), origin[0], inverse)
                        low1 = cell_of(max(p[a, 1], q[b, 1]), origin[1], inverse)
                        low2 = cell_of(max(p[a, 2], q[b, 2]), origin[2], inverse)
                        if packed(low0, low1, low2) != cell or share_a_node(first, a, second, b):
                            continue
                        if count < pairs.shape[0]:
                            pairs[count, 0] = a
                            pairs[count, 1] = b
                        count += 1
        if count <= pairs.shape[0]:  # cells are not in the order of elements: sort the few of this element
            sort_by_second(pairs, began, count)
    return count


@entry
def search(work, first, second, same, x0, x1, margin, path_fraction):
    """Find pairs of elements whose swept boxes overlap. Returns the capacity that is needed: (entries, pairs).

    work.pairs holds the result if neither is above the capacity. entries -1: a position is not finite.
    """
    mean = sweep_boxes(first, x0, x1, margin, path_fraction, work.first)
    mean = max(mean, sweep_boxes(second, x0, x1, margin, path_fraction, work.second))
    widest = 0.0
    for c in range(3):
        low = np.inf
        high = -np.inf
        for e in range(first.shape[0]):
            low = min(low, work.first[e, c])
            high = max(high, work.first[e, c + 3])
        for e in range(second.shape[0]):
            low = min(low, work.second[e, c])
            high = max(high, work.second[e, c + 3])
        work.origin[c] = low
        widest = max(widest, high - low)
    if not mean < 1e300:
        return -1, 0
    width = max(2.0 * mean, widest / 1e6, 1e-300)  # 21 bits number the cells along an axis
    max_entries = MOST_ENTRIES * (first.shape[0] + second.shape[0])
    while expected_entries(work.first, width) + expected_entries(work.second, width) > max_entries and width < widest:
        width *= 1.5
    entries = fill(work, width)
    if entries > work.entry.shape[0]:
        return entries, 0
    return entries, overlapping_pairs(work, first, second, same, width)


def near_pairs(first: Array, second: Array | None, x0: Array, x1: Array, margin: float) -> Array:
    """(k, 2) pairs of elements, sorted, whose boxes come within 2 `margin` while x0 moves to x1.

    first, second: nodes of the elements, (a, 1), (a, 2) or (a, 3); second None: pairs within the first set.
    """
    same = second is None
    first = np.ascontiguousarray(first, np.uint32)
    other = first if second is None else np.ascontiguousarray(second, np.uint32)
    entries, pairs = 8 * len(other) + 16, 8 * len(first) + 16
    while True:
        work = swept_work(len(first), len(other), entries, pairs)
        needed = search(work, first, other, same, x0, x1, float(margin), 0.0)
        if needed[0] < 0:
            raise TautError("collision search: a position is not finite; try a smaller step.")
        if needed[0] <= entries and needed[1] <= pairs:
            return work.pairs[: needed[1]].astype(np.int64)
        entries, pairs = max(entries, needed[0]), max(pairs, needed[1])
