"""A small separator of a hypergraph: slots are its vertices, rows join the slots they touch.

Separators are sought along differences of distances, counted in rows, from far slots:

    f = d_s - d_t,    f = d_s - d_u,    f = d_t - d_u                          (1)

s and t lie at far ends and u far from both. On a sheet these are three corners, and the lines of equal
f are straight: two of the three run along its sides. The smallest of them is then refined
[Fiduccia and Mattheyses 1982].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taut.compiled import compiled

MIDDLE = 0.4  # the smaller side holds at least this share of the slots
REFINEMENTS = 4
PATIENCE = 50  # moves without a smaller separator


class Hypergraph(NamedTuple):
    """Rows by slot, slots by row, and the workspace of a search; `items` lists each part's slots in one run."""

    ptr: np.ndarray  # (n+1,) int64: the rows of each slot
    row: np.ndarray
    row_ptr: np.ndarray  # (m+1,) int64: the slots of each row
    slot: np.ndarray
    alive: np.ndarray  # (m,) bool: not yet cut; such a row lies in one part with all its slots
    items: np.ndarray  # (n,) int64
    side: np.ndarray  # (n,) int64: 0 or 1
    distance: np.ndarray  # (4, n) int64: from any slot, and from s, t and u
    seen: np.ndarray  # (m,) int64: the last search that met the row
    inside: np.ndarray  # (m,) int64: how many of the row's slots are on side 0
    value: np.ndarray  # (n,) int64: f, or the gain of a move
    queue: np.ndarray  # (n,) int64
    ordered: np.ndarray  # (n,) int64
    start: np.ndarray  # (2n+2,) int64


@compiled
def spread(graph, which, origin, count, stamp):
    """Distances from `origin` to all slots joined to it, which are put into the queue at `count`.
    They must come in as -1. Returns where the queue ends."""
    distance, queue = graph.distance[which], graph.queue
    k = count
    queue[count] = origin
    distance[origin] = 0
    count += 1
    while k < count:
        s = queue[k]
        k += 1
        for q in range(graph.ptr[s], graph.ptr[s + 1]):
            r = graph.row[q]
            if graph.alive[r] and graph.seen[r] != stamp:
                graph.seen[r] = stamp
                for p in range(graph.row_ptr[r], graph.row_ptr[r + 1]):
                    o = graph.slot[p]
                    if distance[o] < 0:
                        distance[o] = distance[s] + 1
                        queue[count] = o
                        count += 1
    return count


@compiled
def order_by_value(graph, begin, end, low, high):
    """The slots of a part by ascending f, into graph.ordered."""
    for k in range(high - low + 2):
        graph.start[k] = 0
    for k in range(begin, end):
        graph.start[graph.value[graph.items[k]] - low + 1] += 1
    for k in range(high - low + 1):
        graph.start[k + 1] += graph.start[k]
    for k in range(begin, end):
        s = graph.items[k]
        v = graph.value[s] - low
        graph.ordered[graph.start[v]] = s
        graph.start[v] += 1


@compiled
def sweep(graph, begin, end):
    """Move the ordered slots to side 0 one by one. Returns the smallest separator's size and place."""
    size = end - begin
    least = max(1, int(MIDDLE * size))
    for k in range(begin, end):
        s = graph.items[k]
        for q in range(graph.ptr[s], graph.ptr[s + 1]):
            graph.inside[graph.row[q]] = 0
    cut, best, best_at = 0, -1, 0
    for k in range(size - least):
        s = graph.ordered[k]
        for q in range(graph.ptr[s], graph.ptr[s + 1]):
            r = graph.row[q]
            if graph.alive[r]:
                cut += 1 if graph.inside[r] == 0 else 0
                graph.inside[r] += 1
                cut -= 1 if graph.inside[r] == graph.row_ptr[r + 1] - graph.row_ptr[r] else 0
        at = k + 1
        if at >= least and (best < 0 or cut < best or (cut == best and abs(2 * at - size) < abs(2 * best_at - size))):
            best = cut
            best_at = at
    return best, best_at


@compiled
def straight_separator(graph, begin, end):
    """Sides by the best of (1), from the distances."""
    best = -1
    for pair in range(3):
        a = 1 if pair < 2 else 2
        b = 2 if pair < 1 else 3
        low = end
        high = -end
        for k in range(begin, end):
            s = graph.items[k]
            f = graph.distance[a, s] - graph.distance[b, s]  # (1)
            graph.value[s] = f
            low = min(low, f)
            high = max(high, f)
        order_by_value(graph, begin, end, low, high)
        cut, at = sweep(graph, begin, end)
        if best < 0 or cut < best:
            best = cut
            for k in range(end - begin):
                graph.side[graph.ordered[k]] = 0 if k < at else 1


@compiled
def gain_of(graph, s):
    """How many rows fewer are cut when slot s changes sides."""
    gain = 0
    for q in range(graph.ptr[s], graph.ptr[s + 1]):
        r = graph.row[q]
        of_row = graph.row_ptr[r + 1] - graph.row_ptr[r]
        if graph.alive[r] and of_row > 1:
            with_s = graph.inside[r] if graph.side[s] == 0 else of_row - graph.inside[r]
            gain += 1 if with_s == 1 else 0
            gain -= 1 if with_s == of_row else 0
    return gain


@compiled
def change_side(graph, s):
    """Returns what side 0 gains."""
    step = 1 if graph.side[s] == 1 else -1
    graph.side[s] = 1 - graph.side[s]
    for q in range(graph.ptr[s], graph.ptr[s + 1]):
        graph.inside[graph.row[q]] += step
    return step


@compiled
def list_border(graph, begin, end, mark):
    """The slots at the separator, with their gains, into the queue. Returns their number."""
    count = 0
    for k in range(begin, end):
        s = graph.items[k]
        mark[s] = 0
        for q in range(graph.ptr[s], graph.ptr[s + 1]):
            r = graph.row[q]
            if graph.alive[r] and 0 < graph.inside[r] < graph.row_ptr[r + 1] - graph.row_ptr[r]:
                mark[s] = 1
        if mark[s] == 1:
            graph.value[s] = gain_of(graph, s)
            graph.queue[count] = s
            count += 1
    return count


@compiled
def best_move(graph, count, zero, size):
    """Place in the queue of the slot that gains most and may leave its side; -1: none."""
    least = max(1, int(MIDDLE * size))
    chosen = -1
    for k in range(count):
        s = graph.queue[k]
        here = zero if graph.side[s] == 0 else size - zero
        if here > least and (chosen < 0 or graph.value[s] > graph.value[graph.queue[chosen]]):
            chosen = k
    return chosen


@compiled
def refine(graph, begin, end):
    """Move the slot that gains most, even if that is a loss, and each slot once; keep the moves up to the
    smallest separator met; begin again as long as that helps."""
    size = end - begin
    patience = min(PATIENCE, size // 8)  # small parts have few moves worth trying
    mark, moved = graph.distance[0], graph.ordered
    zero = 0
    for k in range(begin, end):
        s = graph.items[k]
        for q in range(graph.ptr[s], graph.ptr[s + 1]):
            graph.inside[graph.row[q]] = 0
    for k in range(begin, end):
        s = graph.items[k]
        zero += 1 - graph.side[s]
        for q in range(graph.ptr[s], graph.ptr[s + 1]):
            graph.inside[graph.row[q]] += 1 - graph.side[s]
    for _ in range(REFINEMENTS):
        count = list_border(graph, begin, end, mark)
        total, best, moves, kept = 0, 0, 0, 0
        while moves < kept + patience:
            chosen = best_move(graph, count, zero, size)
            if chosen < 0:
                break
            s = graph.queue[chosen]
            count -= 1
            graph.queue[chosen] = graph.queue[count]
            mark[s] = 2
            total += graph.value[s]
            zero += change_side(graph, s)
            moved[moves] = s
            moves += 1
            if total > best:
                best = total
                kept = moves
            for q in range(graph.ptr[s], graph.ptr[s + 1]):
                r = graph.row[q]
                if graph.alive[r]:
                    for p in range(graph.row_ptr[r], graph.row_ptr[r + 1]):
                        o = graph.slot[p]
                        if mark[o] == 0:
                            mark[o] = 1
                            graph.queue[count] = o
                            count += 1
                        if mark[o] == 1:
                            graph.value[o] = gain_of(graph, o)
        for k in range(kept, moves):
            zero += change_side(graph, moved[k])
        if best == 0:
            break
