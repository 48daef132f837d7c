"""Broad phase of balls: which of many are near each other, by a spatial hash with levels of cell sizes.

Half the reach belongs to each ball. Balls are sorted into levels by that size s, each level with its own
cells, wide enough that a pair whose larger ball is of level k lies in neighbouring cells of level k:

    s_i = r_i + reach / 2,      a pair is near if |x_i - x_j| < s_i + s_j              (1)
    4^-(k+1) < s_i / max s <= 4^-k  (level k),      cell_k = 2 max s / 4^k             (2)

So each ball is compared with cells of its own and of coarser levels only, and a few large balls among many small
ones cost no more than the small ones. Cells that differ in z only have consecutive buckets.

Who may meet is told by bits. Bit k of group[i, 0] and of group[i, 1] says that i stands on the first and on the
second side of rule k: "all among A" puts A on both sides, "A against B" puts each on one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, entry, inline, structure
from .spatial_hash import accumulate, bucket_of, sort_by_second, table_size

Array = np.ndarray
LEVELS = 8
WIDER = 1.0 + 1e-9  # cells, against rounding of positions far from the origin
FARTHEST = 1e15  # cells from the origin; beyond, positions have no digits left to tell cells apart


@structure
class GridWork(NamedTuple):
    """Workspace for one search among `count` members."""

    begin: Array  # (table + 1) first entry of each bucket
    bucket: Array  # of each member
    level: Array  # of each member
    in_level: Array  # (LEVELS) how many members
    entry: Array  # members in the order of their buckets
    place: Array  # (count, 4) their positions and radii: neighbours in memory, as the search wants them
    first: Array  # (count + 1) first pair of each member
    next: Array  # (count) next free pair of each member


def grid_work(count: int) -> GridWork:
    """Workspace for a search among `count` members."""
    table = table_size(count)
    whole = np.int64
    return GridWork(
        begin=np.zeros(table + 1, whole),
        bucket=np.zeros(count, whole),
        level=np.zeros(count, whole),
        in_level=np.zeros(LEVELS, whole),
        entry=np.zeros(count, whole),
        place=np.zeros((count, 4)),
        first=np.zeros(count + 1, whole),
        next=np.zeros(count, whole),
    )


@entry
def near_pairs(x, member, radius, group, reach, work, pairs):
    """Write all pairs i < j of members nearer than r_i + r_j + reach into `pairs`, sorted by i, then j.

    x [m], shape (points, 3); member: point of each member; radius [m] and group (n, 2) of each member.
    Returns how many pairs there are. If that is more than `pairs` can hold, `pairs` is of no use: make it
    larger and call again.
    """
    largest = 0.0
    for i in range(member.shape[0]):
        largest = max(largest, radius[i] + 0.5 * reach)
    if not largest > 0.0:
        return 0
    width = 2.0 * largest * WIDER
    fill(x, member, radius, reach, width, work)
    count = search(group, reach, width, work, pairs)
    if count <= pairs.shape[0]:
        sort_pairs(work, count, pairs)
    return count


@inline
def cell(position, width):
    c = position / width
    return math.floor(c) if -FARTHEST < c < FARTHEST else 0


@compiled
def fill(x, member, radius, reach, width, work):
    """Put the members into the spatial hash."""
    n = member.shape[0]
    table = work.begin.shape[0] - 1
    work.begin[:] = 0
    work.in_level[:] = 0
    for i in range(n):
        cell_size = width
        level = 0
        while level < LEVELS - 1 and 8.0 * (radius[i] + 0.5 * reach) <= cell_size:  # (2)
            cell_size *= 0.25
            level += 1
        p = member[i]
        cx, cy, cz = cell(x[p, 0], cell_size), cell(x[p, 1], cell_size), cell(x[p, 2], cell_size)
        b = (bucket_of(cx, cy, level, table) + cz) & (table - 1)
        work.level[i] = level
        work.bucket[i] = b
        work.in_level[level] += 1
        work.begin[b] += 1
    accumulate(work.begin)
    for i in range(n - 1, -1, -1):
        b = work.bucket[i]
        work.begin[b] -= 1
        k = work.begin[b]
        work.entry[k] = i
        for c in range(3):
            work.place[k, c] = x[member[i], c]
        work.place[k, 3] = radius[i]


@compiled
def search(group, reach, width, work, pairs):
    """Write near pairs as they are found. Returns their number, also where `pairs` is too short."""
    table = work.begin.shape[0] - 1
    place = work.place
    count = 0
    for k in range(work.entry.shape[0]):
        i = work.entry[k]
        cell_size = width
        for level in range(work.level[i] + 1):
            if work.in_level[level] > 0:
                # Among equals half of the neighbouring cells will do: the other half finds this one.
                equals = level == work.level[i]
                cx, cy, cz = cell(place[k, 0], cell_size), cell(place[k, 1], cell_size), cell(place[k, 2], cell_size)
                for beside in range(4 if equals else 0, 9):
                    column, row = cx + beside // 3 - 1, cy + beside % 3 - 1
                    base = bucket_of(column, row, level, table)
                    half = equals and beside == 4
                    for layer in range(cz if half else cz - 1, cz + 2):
                        b = (base + layer) & (table - 1)
                        for m in range(work.begin[b], work.begin[b + 1]):
                            dx, dy, dz = place[k, 0] - place[m, 0], place[k, 1] - place[m, 1], place[k, 2] - place[m, 2]
                            near = place[k, 3] + place[m, 3] + reach  # (1)
                            if not dx * dx + dy * dy + dz * dz < near * near or near <= 0.0:
                                continue
                            j = work.entry[m]
                            if (group[i, 0] & group[j, 1] | group[i, 1] & group[j, 0]) == 0 or work.level[j] != level:
                                continue
                            if cell(place[m, 2], cell_size) != layer or half and layer == cz and m <= k:
                                continue
                            # other cells may share the bucket
                            if cell(place[m, 0], cell_size) != column or cell(place[m, 1], cell_size) != row:
                                continue
                            if count < pairs.shape[0]:
                                pairs[count, 0], pairs[count, 1] = min(i, j), max(i, j)
                            count += 1
            cell_size *= 0.25
    return count


@compiled
def sort_pairs(work, count, pairs):
    """Sort by i and by j, in place: to the range of its i first, then by j within each range."""
    n = work.next.shape[0]
    first, next = work.first, work.next
    first[:] = 0
    for k in range(count):
        first[pairs[k, 0] + 1] += 1
    for i in range(n):
        next[i] = first[i]
        first[i + 1] += first[i]
    for i in range(n):
        while next[i] < first[i + 1]:
            k = next[i]
            home = pairs[k, 0]
            to = next[home]
            for c in range(2):
                pairs[k, c], pairs[to, c] = pairs[to, c], pairs[k, c]
            next[home] += 1
    for i in range(n):
        sort_by_second(pairs, first[i], first[i + 1])


@entry
def needs_rebuild(x, x_at_build, member, skin):
    """Whether a list of pairs made with `skin` [m] more reach than needed may by now lack one.

    Two members can have come nearer by no more than both have moved.
    """
    for i in range(member.shape[0]):
        p = member[i]
        dx, dy, dz = x[p, 0] - x_at_build[p, 0], x[p, 1] - x_at_build[p, 1], x[p, 2] - x_at_build[p, 2]
        if not 4.0 * (dx * dx + dy * dy + dz * dz) <= skin * skin:
            return True
    return False


@entry
def carry(old_pairs, old_count, old_lam, new_pairs, new_count, new_lam):
    """Give pairs that persist their multipliers, shape (rows, 3), and new ones zero: both lists are sorted."""
    k = 0
    for m in range(new_count):
        i, j = new_pairs[m, 0], new_pairs[m, 1]
        while k < old_count and (old_pairs[k, 0] < i or old_pairs[k, 0] == i and old_pairs[k, 1] < j):
            k += 1
        same = k < old_count and old_pairs[k, 0] == i and old_pairs[k, 1] == j
        for c in range(3):
            new_lam[m, c] = old_lam[k, c] if same else 0.0
