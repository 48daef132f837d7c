"""Nested dissection: the order in which sheets and other wide systems of rows fill in least [George 1973].

Rows meet where they share a slot. So

    part the slots in two;  rows with slots on both sides come last;  do the same on each side      (1)

leaves on the two sides rows that do not meet, and eliminating one fills nothing in the other. What comes
last in (1) fills completely: separators (separator.py) should be small, and near the middle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taut.compiled import compiled, entry
from taut.linalg.separator import Hypergraph, refine, spread, straight_separator

if TYPE_CHECKING:
    import scipy.sparse as sp


@compiled
def part_pieces(graph, begin, end, reached, stamp):
    """Sides of a part in more than one piece: whole pieces, up to half of all slots and perhaps one more."""
    before = reached
    k = begin
    while 2 * reached < end - begin:
        while graph.distance[0, graph.items[k]] >= 0:
            k += 1
        before = reached
        reached = spread(graph, 0, graph.items[k], reached, stamp)
    for k in range(begin, end):
        graph.side[graph.items[k]] = 1
    for k in range(reached if reached < end - begin else before):
        graph.side[graph.queue[k]] = 0


@entry
def find_corners(graph, parts, stamp, whole):
    """Distances from three corners of each part; a part that is not whole gets its sides at once."""
    for k in range(parts.shape[0]):
        begin, end = parts[k, 0], parts[k, 1]
        reached = spread(graph, 0, graph.items[begin], 0, stamp)
        whole[k] = reached == end - begin
        if not whole[k]:
            part_pieces(graph, begin, end, reached, stamp)
            continue
        for corner in range(1, 4):
            origin = graph.queue[reached - 1]  # the last that the search before has met
            if corner == 3:
                farthest = -1
                for q in range(begin, end):
                    s = graph.items[q]
                    if min(graph.distance[1, s], graph.distance[2, s]) > farthest:
                        farthest = min(graph.distance[1, s], graph.distance[2, s])
                        origin = s
            spread(graph, corner, origin, 0, stamp + corner)


@entry
def separate_parts(graph, parts, whole):
    for k in range(parts.shape[0]):
        if whole[k]:
            straight_separator(graph, parts[k, 0], parts[k, 1])


@entry
def refine_parts(graph, parts, whole):
    for k in range(parts.shape[0]):
        if whole[k]:
            refine(graph, parts[k, 0], parts[k, 1])


@compiled
def sort_by_side(graph, begin, end):
    """Side 0 first. Returns where side 1 begins."""
    middle = begin
    others = 0
    for k in range(begin, end):
        s = graph.items[k]
        if graph.side[s] == 0:
            graph.items[middle] = s
            middle += 1
        else:
            graph.ordered[others] = s
            others += 1
    for k in range(others):
        graph.items[middle + k] = graph.ordered[k]
    return middle


@entry
def split(graph, parts, halves, out):
    """Put the rows between the sides of each part to its last places, and list its halves."""
    for h in range(parts.shape[0]):
        begin, end, first, last = parts[h, 0], parts[h, 1], parts[h, 2], parts[h, 3]
        middle = sort_by_side(graph, begin, end)
        zero = 0
        for k in range(begin, end):
            s = graph.items[k]
            for q in range(graph.ptr[s], graph.ptr[s + 1]):
                r = graph.row[q]
                if graph.alive[r] and graph.slot[graph.row_ptr[r]] == s:  # each row once
                    across = False
                    for p in range(graph.row_ptr[r], graph.row_ptr[r + 1]):
                        across = across or graph.side[graph.slot[p]] != graph.side[s]
                    if across:
                        graph.alive[r] = False
                        last -= 1
                        out[last] = r
                    elif graph.side[s] == 0:
                        zero += 1
        halves[2 * h, 0], halves[2 * h, 1], halves[2 * h, 2], halves[2 * h, 3] = begin, middle, first, first + zero
        h1 = 2 * h + 1
        halves[h1, 0], halves[h1, 1], halves[h1, 2], halves[h1, 3] = middle, end, first + zero, last


@entry
def place_single(graph, parts, out):
    """The rows of parts with one slot."""
    for k in range(parts.shape[0]):
        s = graph.items[parts[k, 0]]
        at = parts[k, 2]
        for q in range(graph.ptr[s], graph.ptr[s + 1]):
            if graph.alive[graph.row[q]]:
                out[at] = graph.row[q]
                at += 1


def nested_dissection(members: sp.csr_matrix) -> np.ndarray:
    """The rows in their order. members (rows, slots): which free slots each row touches."""
    members.sort_indices()
    by_slot = members.tocsc()
    m, n = members.shape
    touching = np.diff(members.indptr) > 0
    items = np.flatnonzero(np.diff(by_slot.indptr) > 0)
    graph = Hypergraph(
        ptr=by_slot.indptr.astype(np.int64),
        row=by_slot.indices.astype(np.int64),
        row_ptr=members.indptr.astype(np.int64),
        slot=members.indices.astype(np.int64),
        alive=touching.copy(),
        items=items,
        side=np.zeros(n, np.int64),
        distance=np.zeros((4, n), np.int64),
        seen=np.zeros(m, np.int64),
        inside=np.zeros(m, np.int64),
        value=np.zeros(n, np.int64),
        queue=np.zeros(n, np.int64),
        ordered=np.zeros(n, np.int64),
        start=np.zeros(2 * n + 2, np.int64),
    )
    out = np.empty(int(touching.sum()), np.int64)
    # a part: from and to which item, from and to which place of its rows
    parts = np.array([[0, items.size, 0, out.size]])
    stamp = 1
    while True:
        parts = parts[parts[:, 3] > parts[:, 2]]
        single = parts[:, 1] - parts[:, 0] == 1
        place_single(graph, parts[single], out)
        parts = parts[~single]
        if not parts.size:
            return np.concatenate([out, np.flatnonzero(~touching)])
        graph.distance[:] = -1
        whole, halves = np.empty(len(parts), bool), np.empty((2 * len(parts), 4), np.int64)
        find_corners(graph, parts, stamp, whole)
        separate_parts(graph, parts, whole)
        refine_parts(graph, parts, whole)
        split(graph, parts, halves, out)
        parts = halves
        stamp += 4
