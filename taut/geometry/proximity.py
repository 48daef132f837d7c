"""Which parts of deformables are near each other now: one row for each contact of a node and a face or of two edges.

    d(x + δ) ≈ d + n · Σ a_k δ_k                                   (1)

A row holds four nodes, their weights a, the normal n from the second side to the first and the distance d, as
closest.py has them. ProximityRows are

    node - face     the closest point lies inside the triangle
    node - edge     it lies on an edge: one row, however many triangles are on that edge
    node - node     it lies on a corner: one row for the two nodes
    edge - edge     it lies inside both edges, which are not parallel

A node-edge or node-node row is left out where one of the two surfaces goes on towards the other: a triangle on that
edge or corner is nearer to the node, or a neighbour of the node lies on the near side of it. The nearer point has a
row. (One that leans would turn as deformables slide, and hold them back at every edge they pass.) An edge whose closest
point is its end is left to the rows of that end, as are parallel edges. So nothing comes within `reach` unnoticed:
each pair of triangles without a common node has a row, or one of them has a neighbour that is nearer still, and
this can not go on for ever.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, entry, inline, structure
from ..errors import TautError
from .closest_points import EDGE_EDGE, NODE_TRIANGLE, difference, dot3, four_weights
from .swept_pairs import SweptWork, search, swept_work
from .topology import triangle_edges

Array = np.ndarray
CAPACITY_EXCEEDED, NOT_FINITE = -1, -2  # instead of a number of rows
TIE = 1e-12  # relative: a triangle nearer by less is as near
LEAN = 1e-6  # cosine: a neighbour that lies less on the near side is level
INSIDE = 1e-9  # of an edge: what is closer to its end is on the end
ALIGNED = 1e-12  # sin² of the angle between edges below which their ends' rows serve as well


@structure
class Surface(NamedTuple):
    """Triangles of all deformables; their nodes are slots of x."""

    triangles: Array  # (m, 3) uint32
    edges: Array  # (e, 2) uint32
    nodes: Array  # (v, 1) uint32, ascending
    around: Array  # (n + 1,) int64 where the neighbours of each slot begin
    neighbour: Array  # (2 e,) uint32
    deformable: Array  # (n,) uint32 deformable of each slot
    allowed: Array  # (deformables, deformables) bool: which may touch, symmetric


def surface(triangles: Array, deformable_of_node: Array | None = None, allowed: Array | None = None) -> Surface:
    """All deformables in one. By default there is one deformable, which may touch itself."""
    triangles = np.asarray(triangles)
    slots = int(triangles.max()) + 1
    deformable = np.zeros(slots, np.uint32) if deformable_of_node is None else np.asarray(deformable_of_node, np.uint32)
    deformables = int(deformable.max()) + 1
    edges = triangle_edges(triangles).nodes
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort(both.T[::-1])]
    may = np.ones((deformables, deformables), bool) if allowed is None else np.asarray(allowed, bool)
    return Surface(
        np.ascontiguousarray(triangles, np.uint32),
        np.ascontiguousarray(edges, np.uint32),
        np.unique(triangles).astype(np.uint32)[:, None],
        np.searchsorted(both[:, 0], np.arange(len(deformable) + 1)),
        both[:, 1].astype(np.uint32),
        deformable,
        np.ascontiguousarray(may | may.T),
    )


@structure
class ProximityRows(NamedTuple):
    """Workspace of the search, and arrays of rows of which the first ones hold the result."""

    faces: SweptWork
    sides: SweptWork
    nodes: Array  # (rows, 4) uint32
    weights: Array  # (rows, 4)
    normal: Array  # (rows, 3)
    distance: Array  # (rows,) [m]
    kept: Array  # (rows,) uint8
    span: Array  # (n, 2) rows of each node
    p: Array  # (4, 3)
    needed: Array  # (5,) entries and pairs of faces, of sides, and rows, that the last search needed


def larger_sizes(faces: SweptWork, sides: SweptWork, count: int, needed: Array) -> Array:
    """(5,) sizes as they are, and half as much again as `needed` where that did not fit: never less than before."""
    now = np.array([len(faces.entry), len(faces.pairs), len(sides.entry), len(sides.pairs), count])
    return np.where(needed > now, needed + needed // 2, now)


def proximity_rows(of: Surface, last: ProximityRows | None = None) -> ProximityRows:
    """Arrays for a surface; larger than the last ones, whose capacity a search exceeded."""
    nodes, edges, triangles = len(of.nodes), len(of.edges), len(of.triangles)
    min_sizes = np.array([4 * triangles, 16 * nodes, 4 * edges, 16 * edges, 8 * nodes]) + 64
    size = min_sizes if last is None else larger_sizes(last.faces, last.sides, len(last.distance), last.needed)
    k = int(size[4])
    return ProximityRows(
        swept_work(nodes, triangles, int(size[0]), int(size[1])),
        swept_work(edges, edges, int(size[2]), int(size[3])),
        np.zeros((k, 4), np.uint32),
        np.zeros((k, 4)),
        np.zeros((k, 3)),
        np.zeros(k),
        np.zeros(k, np.uint8),
        np.zeros((len(of.deformable), 2), np.int64),
        np.zeros((4, 3)),
        np.zeros(5, np.int64),
    )


@compiled
def search_pairs(faces, sides, of, x0, x1, margin, path_fraction, needed):
    """Pairs near the paths from x0 to x1, into `faces` and `sides`: 0, CAPACITY_EXCEEDED or NOT_FINITE."""
    one, other = False, True  # as variables: a search is compiled once for both
    needed[0], needed[1] = search(faces, of.nodes, of.triangles, one, x0, x1, margin, path_fraction)
    if needed[0] < 0:
        return NOT_FINITE
    needed[2], needed[3] = search(sides, of.edges, of.edges, other, x0, x1, margin, path_fraction)
    if needed[2] < 0:
        return NOT_FINITE
    if needed[0] > faces.entry.shape[0] or needed[1] > faces.pairs.shape[0]:
        return CAPACITY_EXCEEDED
    if needed[2] > sides.entry.shape[0] or needed[3] > sides.pairs.shape[0]:
        return CAPACITY_EXCEEDED
    return 0


@inline
def may_touch(of, i, j):
    return of.allowed[of.deformable[i], of.deformable[j]]


@inline
def write_row(work, at, kind, i, j, k, l, x, reach):
    """The row of four nodes into place `at`, if they are within reach and there is such a place; True if within."""
    p = work.p
    for c in range(3):
        p[0, c] = x[i, c]
        p[1, c] = x[j, c]
        p[2, c] = x[k, c]
        p[3, c] = x[l, c]
    a = four_weights(p, kind)
    r0 = a[0] * p[0, 0] + a[1] * p[1, 0] + a[2] * p[2, 0] + a[3] * p[3, 0]
    r1 = a[0] * p[0, 1] + a[1] * p[1, 1] + a[2] * p[2, 1] + a[3] * p[3, 1]
    r2 = a[0] * p[0, 2] + a[1] * p[1, 2] + a[2] * p[2, 2] + a[3] * p[3, 2]
    d = sqrt(r0 * r0 + r1 * r1 + r2 * r2)
    if not d < reach:
        return False
    if at < work.distance.shape[0]:
        scale = 1.0 / d if d > 0.0 else 0.0
        work.nodes[at, 0], work.nodes[at, 1], work.nodes[at, 2], work.nodes[at, 3] = i, j, k, l
        work.weights[at, 0], work.weights[at, 1], work.weights[at, 2], work.weights[at, 3] = a[0], a[1], a[2], a[3]
        work.normal[at, 0], work.normal[at, 1], work.normal[at, 2] = r0 * scale, r1 * scale, r2 * scale
        work.distance[at] = d
    return True


@inline
def can_move(work, r, w):
    """Whether a row can move any of the nodes it has a weight on."""
    for k in range(4):
        if work.weights[r, k] != 0.0 and w[work.nodes[r, k]] > 0.0:
            return True
    return False


@inline
def corners(work, r):
    """How many corners of its triangle the closest point of a node-triangle row needs."""
    number = 0
    for k in range(1, 4):
        if work.weights[r, k] != 0.0:
            number += 1
    return number


@inline
def has_corners_of(work, other, r):
    """Whether the triangle of row `other` has all corners that row r needs."""
    for k in range(1, 4):
        if work.weights[r, k] != 0.0:
            i = work.nodes[r, k]
            if i != work.nodes[other, 1] and i != work.nodes[other, 2] and i != work.nodes[other, 3]:
                return False
    return True


@inline
def is_needed(work, r, begin, end):
    """Whether row r, one of a node's rows begin to end, is neither a repetition nor behind a nearer triangle."""
    for other in range(begin, end):
        if other == r or not has_corners_of(work, other, r):
            continue
        if corners(work, other) == corners(work, r) and has_corners_of(work, r, other):
            if other < r:
                return False
        elif work.distance[other] < work.distance[r] * (1.0 - TIE):
            return False
    return True


@inline
def is_level(work, r, of, x):
    """Whether no neighbour of the node of row r lies on the near side of it."""
    i = work.nodes[r, 0]
    n = work.normal[r]
    for at in range(of.around[i], of.around[i + 1]):
        o = of.neighbour[at]
        d0, d1, d2 = x[o, 0] - x[i, 0], x[o, 1] - x[i, 1], x[o, 2] - x[i, 2]
        if d0 * n[0] + d1 * n[1] + d2 * n[2] < -LEAN * sqrt(d0 * d0 + d1 * d1 + d2 * d2):
            on_it = False
            for k in range(1, 4):
                on_it = on_it or (work.weights[r, k] != 0.0 and work.nodes[r, k] == o)
            if not on_it:
                return False
    return True


@inline
def is_mirrored(work, r):
    """Whether the row of two nodes is there already, as seen from the other one."""
    node = work.nodes[r, 0]
    for k in range(1, 4):
        if work.weights[r, k] != 0.0:
            corner = work.nodes[r, k]
            for other in range(work.span[corner, 0], work.span[corner, 1]):
                if corners(work, other) == 1:
                    for c in range(1, 4):
                        if work.weights[other, c] != 0.0 and work.nodes[other, c] == node:
                            return True
    return False


@compiled
def remove_redundant(work, begin, end, of, x, w):
    """Keep the rows of one node that are needed; returns where they end afterwards."""
    for r in range(begin, end):
        feature = corners(work, r)
        keep = can_move(work, r, w)
        if keep and feature < 3:
            keep = is_needed(work, r, begin, end) and is_level(work, r, of, x)
        if keep and feature == 1:
            keep = not is_mirrored(work, r)
        work.kept[r] = keep
    to = begin
    for r in range(begin, end):
        if work.kept[r]:
            if to < r:
                for k in range(4):
                    work.nodes[to, k] = work.nodes[r, k]
                    work.weights[to, k] = work.weights[r, k]
                for c in range(3):
                    work.normal[to, c] = work.normal[r, c]
                work.distance[to] = work.distance[r]
            to += 1
    return to


@compiled
def node_rows(work, of, x, w, reach, pairs):
    """ProximityRows of nodes with faces, edges and nodes; returns their number, more than fit if they do not."""
    count = 0
    q = 0
    for v in range(of.nodes.shape[0]):
        i = of.nodes[v, 0]
        begin = count
        work.span[i, 0] = begin
        work.span[i, 1] = begin  # of a node without rows, and of those that are not yet there
        while q < pairs and work.faces.pairs[q, 0] == v:
            t = work.faces.pairs[q, 1]
            q += 1
            j, k, l = of.triangles[t, 0], of.triangles[t, 1], of.triangles[t, 2]
            if may_touch(of, i, j) and w[i] + w[j] + w[k] + w[l] > 0.0:
                if write_row(work, count, NODE_TRIANGLE, i, j, k, l, x, reach):
                    count += 1
        if begin < count <= work.distance.shape[0]:
            count = remove_redundant(work, begin, count, of, x, w)
            work.span[i, 1] = count
    return count


@inline
def is_crossing(work, r):
    """Whether the closest points of two edges, still in p, lie inside both, and these are not parallel."""
    s, t = work.weights[r, 1], -work.weights[r, 3]
    if min(s, t) < INSIDE or max(s, t) > 1.0 - INSIDE:
        return False
    e, g = difference(work.p, 1, 0), difference(work.p, 3, 2)
    a, c, b = dot3(e, e), dot3(g, g), dot3(e, g)
    return a * c - b * b > ALIGNED * a * c


@compiled
def edge_rows(work, of, x, w, reach, pairs, count):
    """ProximityRows of crossing edges behind the first `count`; returns the number of all."""
    for q in range(pairs):
        a, b = work.sides.pairs[q, 0], work.sides.pairs[q, 1]
        i, j, k, l = of.edges[a, 0], of.edges[a, 1], of.edges[b, 0], of.edges[b, 1]
        if may_touch(of, i, k) and w[i] + w[j] + w[k] + w[l] > 0.0:
            if write_row(work, count, EDGE_EDGE, i, j, k, l, x, reach):
                if count >= work.distance.shape[0] or is_crossing(work, count):
                    count += 1
    return count


@compiled
def find_rows(work, of, x, w, reach):
    """The rows at x [m] of all that is nearer than `reach` [m]; returns their number.

    w: inverse masses; what consists of nodes with w = 0 only has no row. CAPACITY_EXCEEDED: call again with
    proximity_rows(of, work). NOT_FINITE: a position is not a number.
    """
    path_fraction = 0.0
    status = search_pairs(work.faces, work.sides, of, x, x, 0.5 * reach, path_fraction, work.needed)
    if status < 0:
        return status
    count = node_rows(work, of, x, w, reach, work.needed[1])
    count = edge_rows(work, of, x, w, reach, work.needed[3], count)
    work.needed[4] = count
    return count if count <= work.distance.shape[0] else CAPACITY_EXCEEDED


@entry
def rows_at(work, of, x, w, reach):
    """find_rows, for Python."""
    return find_rows(work, of, x, w, reach)


@structure
class NearRows(NamedTuple):
    """ProximityRows (1), as arrays of their own."""

    nodes: Array  # (k, 4)
    weights: Array  # (k, 4)
    normal: Array  # (k, 3)
    distance: Array  # (k,) [m]


def near_rows(of: Surface, x: Array, w: Array, reach: float) -> NearRows:
    """All rows at x, of what is nearer than `reach` [m]."""
    work = proximity_rows(of)
    while (count := rows_at(work, of, x, w, float(reach))) == CAPACITY_EXCEEDED:
        work = proximity_rows(of, work)
    if count == NOT_FINITE:
        raise TautError("collision search: a position is not finite; try a smaller step.")
    return NearRows(*(array[:count].copy() for array in (work.nodes, work.weights, work.normal, work.distance)))
