"""An order of nodes from their places: part them by a plane, put those at the plane last, do the same on each side.

    planes: through the median of x, y, z, their sums and their differences; the best also moved     (1)
    last: the nodes of one side that meet the other, of the side with fewer                          (2)
    best plane: least work c³/3 + b c² + b² c + Σ_sides 10 n (√n + b);   c nodes (2),                (3)
    n nodes in a part or on a side, b nodes outside of it that it meets: they come later still

The sum in (3) is what parts of a sheet need, fitted to the best straight cuts of rectangles. A part that meets few
nodes outside should be larger than its sibling: on a sheet with diagonals this leaves 7 % less work than halves.
Where nodes meet along x and y only, as on a sheet, slanted cuts leave half the work that straight ones do.
dissection.py knows no places and suits the rest [George 1973].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taut.compiled import compiled, entry

if TYPE_CHECKING:
    import scipy.sparse as sp

LEAF = 4  # nodes that are parted no further
DIRECTIONS = 9
SHARES = (0.5, 0.3, 0.35, 0.4, 0.45, 0.55, 0.6, 0.65, 0.7)  # of the nodes on the first side of a plane
ALIKE = 1e-9  # share of the extent below which coordinates count as equal


@compiled
def along(place, node, which):
    """A coordinate of a node, or a sum or a difference of two."""
    axis = which % 3
    if which < 3:
        return place[node, axis]
    other = place[node, (axis + 1) % 3]
    return place[node, axis] + other if which < 6 else place[node, axis] - other


@compiled
def in_place(value, begin, end, middle):
    """What stands in place `middle` of the sorted values, by quickselect; `value` is left in another order."""
    low, high = begin, end - 1
    while low < high:
        pivot = value[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while value[i] < pivot:
                i += 1
            while value[j] > pivot:
                j -= 1
            if i <= j:
                value[i], value[j] = value[j], value[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            break
    return value[middle]


@compiled
def take_sides(place, which, share, items, begin, end, side, value):
    """1 for about a share of the nodes, the lowest in a direction, 2 for the others (1). Returns how many are on
    side 1."""
    low, high = along(place, items[begin], which), along(place, items[begin], which)
    for k in range(begin, end):
        value[k] = along(place, items[k], which)
        low, high = min(low, value[k]), max(high, value[k])
    plane = in_place(value, begin, end, begin + int(share * (end - begin))) - ALIKE * (high - low)
    if plane <= low:  # it is through the lowest: part them from what lies above
        plane += 2 * ALIKE * (high - low)
    ones = 0
    for k in range(begin, end):
        side[items[k]] = 1 if along(place, items[k], which) < plane else 2
        ones += 1 if side[items[k]] == 1 else 0
    return ones


@compiled
def meets(ptr, neighbour, side, node, other):
    for q in range(ptr[node], ptr[node + 1]):
        if side[neighbour[q]] == other:
            return True
    return False


@compiled
def shorter_border(ptr, neighbour, side, items, begin, end):
    """The side with fewer nodes that meet the other, and how many these are (2)."""
    one, two = 0, 0
    for k in range(begin, end):
        node = items[k]
        if meets(ptr, neighbour, side, node, 3 - side[node]):
            if side[node] == 1:
                one += 1
            else:
                two += 1
    return (1, one) if one < two else (2, two)


@compiled
def work_of_sides(ptr, neighbour, side, items, begin, end, ones):
    """(3); nodes that meet others outside stand for these."""
    cut, c = shorter_border(ptr, neighbour, side, items, begin, end)
    one, two = 0, 0
    for k in range(begin, end):
        node = items[k]
        if meets(ptr, neighbour, side, node, 0):
            if side[node] == 1:
                one += 1
            else:
                two += 1
    b = one + two
    n = ones - (c if cut == 1 else 0)
    m = end - begin - c - n
    return c * (c * c / 3.0 + b * c + b * b) + 10.0 * (n * (np.sqrt(n) + one + c) + m * (np.sqrt(m) + two + c))


@compiled
def part_in_three(ptr, neighbour, side, items, begin, end, scratch):
    """Sort the nodes of a part: side 1, side 2, those at the cut (2). Returns where the second and third begin."""
    cut, count = shorter_border(ptr, neighbour, side, items, begin, end)
    first, third = begin, end - count
    for k in range(begin, end):
        node = items[k]
        if side[node] == cut and meets(ptr, neighbour, side, node, 3 - cut):
            scratch[third] = node
            third += 1
        elif side[node] == 1:
            scratch[first] = node
            first += 1
    second = first
    for k in range(begin, end):
        node = items[k]
        if side[node] == 2 and not (cut == 2 and meets(ptr, neighbour, side, node, 1)):
            scratch[second] = node
            second += 1
    for k in range(begin, end):
        side[items[k]] = 0
    for k in range(begin, end):
        items[k] = scratch[k]
    return first, end - count


@entry
def bisect(place, ptr, neighbour, items, side, value, scratch, stack):
    """Put `items` into the order. stack (., 2): parts still to be parted."""
    top = 0
    stack[0, 0], stack[0, 1] = 0, items.shape[0]
    while top >= 0:
        begin, end = stack[top, 0], stack[top, 1]
        top -= 1
        if end - begin <= LEAF:
            continue
        best, best_share, least = -1, 0.5, np.inf
        for trial in range(DIRECTIONS + len(SHARES) - 1):
            which, share = (trial, SHARES[0]) if trial < DIRECTIONS else (max(best, 0), SHARES[trial - DIRECTIONS + 1])
            ones = take_sides(place, which, share, items, begin, end, side, value)
            if 0 < ones < end - begin:
                work = work_of_sides(ptr, neighbour, side, items, begin, end, ones)
                if work < least:
                    best, best_share, least = which, share, work
        if best < 0:  # all in one place
            for k in range(begin, end):
                side[items[k]] = 0
            continue
        take_sides(place, best, best_share, items, begin, end, side, value)
        middle, last = part_in_three(ptr, neighbour, side, items, begin, end, scratch)
        # the smaller part is done first, so that the stack stays low
        small, large = top + 2, top + 1
        if middle - begin > last - middle:
            small, large = large, small
        stack[small, 0], stack[small, 1] = begin, middle
        stack[large, 0], stack[large, 1] = middle, last
        top += 2


def bisect_places(graph: sp.csr_matrix, place: np.ndarray) -> np.ndarray:
    """The nodes in their order. graph (n, n): which nodes meet; place (n, 3)."""
    n = graph.shape[0]
    items = np.arange(n)
    bisect(
        np.ascontiguousarray(place, float),
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int64),
        items,
        np.zeros(n, np.int64),
        np.empty(n),
        np.empty(n, np.int64),
        np.empty((130, 2), np.int64),  # each part on the stack is at most half as large as the one below it
    )
    return items
