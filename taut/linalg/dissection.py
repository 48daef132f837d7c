"""Nested dissection: the order in which sheets and other wide nets of rows fill in least [George 1973].

Rows meet where they share a slot. So

    part the slots in two;  rows with slots on both sides come last;  do the same on each side      (1)

leaves on the two sides rows that do not meet, and eliminating one fills nothing in the other. What comes
last in (1) fills completely: cuts should be short, and near the middle so that they soon get shorter (cut.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taut.compiled import compiled, entry
from taut.linalg.cut import Net, cut_straight, smooth, spread

if TYPE_CHECKING:
    import scipy.sparse as sp


@compiled
def part_pieces(net, begin, end, reached, stamp):
    """Sides of a part in more than one piece: whole pieces, up to half of all slots and perhaps one more."""
    before = reached
    k = begin
    while 2 * reached < end - begin:
        while net.distance[0, net.items[k]] >= 0:
            k += 1
        before = reached
        reached = spread(net, 0, net.items[k], reached, stamp)
    for k in range(begin, end):
        net.side[net.items[k]] = 1
    for k in range(reached if reached < end - begin else before):
        net.side[net.queue[k]] = 0


@entry
def find_corners(net, parts, stamp, whole):
    """Distances from three corners of each part; a part that is not whole gets its sides at once."""
    for k in range(parts.shape[0]):
        begin, end = parts[k, 0], parts[k, 1]
        reached = spread(net, 0, net.items[begin], 0, stamp)
        whole[k] = reached == end - begin
        if not whole[k]:
            part_pieces(net, begin, end, reached, stamp)
            continue
        for corner in range(1, 4):
            origin = net.queue[reached - 1]  # the last that the search before has met
            if corner == 3:
                farthest = -1
                for q in range(begin, end):
                    s = net.items[q]
                    if min(net.distance[1, s], net.distance[2, s]) > farthest:
                        farthest = min(net.distance[1, s], net.distance[2, s])
                        origin = s
            spread(net, corner, origin, 0, stamp + corner)


@entry
def cut_parts(net, parts, whole):
    for k in range(parts.shape[0]):
        if whole[k]:
            cut_straight(net, parts[k, 0], parts[k, 1])


@entry
def smooth_parts(net, parts, whole):
    for k in range(parts.shape[0]):
        if whole[k]:
            smooth(net, parts[k, 0], parts[k, 1])


@compiled
def sort_by_side(net, begin, end):
    """Side 0 first. Returns where side 1 begins."""
    middle = begin
    others = 0
    for k in range(begin, end):
        s = net.items[k]
        if net.side[s] == 0:
            net.items[middle] = s
            middle += 1
        else:
            net.ordered[others] = s
            others += 1
    for k in range(others):
        net.items[middle + k] = net.ordered[k]
    return middle


@entry
def split(net, parts, halves, out):
    """Put the rows between the sides of each part to its last places, and list its halves."""
    for h in range(parts.shape[0]):
        begin, end, first, last = parts[h, 0], parts[h, 1], parts[h, 2], parts[h, 3]
        middle = sort_by_side(net, begin, end)
        zero = 0
        for k in range(begin, end):
            s = net.items[k]
            for q in range(net.ptr[s], net.ptr[s + 1]):
                r = net.row[q]
                if net.alive[r] and net.slot[net.row_ptr[r]] == s:  # each row once
                    across = False
                    for p in range(net.row_ptr[r], net.row_ptr[r + 1]):
                        across = across or net.side[net.slot[p]] != net.side[s]
                    if across:
                        net.alive[r] = False
                        last -= 1
                        out[last] = r
                    elif net.side[s] == 0:
                        zero += 1
        halves[2 * h, 0], halves[2 * h, 1], halves[2 * h, 2], halves[2 * h, 3] = begin, middle, first, first + zero
        h1 = 2 * h + 1
        halves[h1, 0], halves[h1, 1], halves[h1, 2], halves[h1, 3] = middle, end, first + zero, last


@entry
def place_single(net, parts, out):
    """The rows of parts with one slot."""
    for k in range(parts.shape[0]):
        s = net.items[parts[k, 0]]
        at = parts[k, 2]
        for q in range(net.ptr[s], net.ptr[s + 1]):
            if net.alive[net.row[q]]:
                out[at] = net.row[q]
                at += 1


def nested_dissection(members: sp.csr_matrix) -> np.ndarray:
    """The rows in their order. members (rows, slots): which free slots each row touches."""
    members.sort_indices()
    by_slot = members.tocsc()
    m, n = members.shape
    touching = np.diff(members.indptr) > 0
    items = np.flatnonzero(np.diff(by_slot.indptr) > 0)
    net = Net(
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
        place_single(net, parts[single], out)
        parts = parts[~single]
        if not parts.size:
            return np.concatenate([out, np.flatnonzero(~touching)])
        net.distance[:] = -1
        whole, halves = np.empty(len(parts), bool), np.empty((2 * len(parts), 4), np.int64)
        find_corners(net, parts, stamp, whole)
        cut_parts(net, parts, whole)
        smooth_parts(net, parts, whole)
        split(net, parts, halves, out)
        parts = halves
        stamp += 4
