"""Step filter of continuous collision detection: the fraction of its own way that each node may go.

    x(t) = x₀ + t φ (x₁ - x₀),   0 <= t <= 1                                   (1)
    d(x(t)) >= η d(x₀)           for all pairs and all t                       (2)

Pairs are those of a node and a triangle and of two edges without a common node. (2) is all that is needed: a
segment can enter a triangle only where its end meets the triangle or where it meets a side, and both are pairs.

Why (2) holds on return.

  a. With any φ in [0, 1] a node stays on its way from x₀ to x₁, so an element stays in the box around the ways
     of its nodes. Let W be the longest way of one side plus that of the other. Boxes are wider by η/(1 - η) times
     the longest way; if they do not meet, d > η W/(1 - η) at all times, and d >= d(x₀) - W: one of the two is
     not less than η d(x₀), whatever W is. So pairs the search does not find need no check.
  b. Each pair of the list is checked first with φ = 1 (ccd.py, which errs to the safe side). If it breaks (2) at t,
     none of its nodes keeps a φ above t. Where all nodes of a pair have the same φ, its path is the beginning of
     the one that was checked, and safe.
  c. A node that another pair has cut more bends the path of a pair. Each node keeps the number of its last cut and
     each pair the number at its last check; a pair is checked again, with φ as they are, if a node of it was cut
     since. If it breaks (2) at t, its φ are cut to t times the largest, but not below the least of them, and if
     all are equal, to t times that. When a round finds nothing to cut, every pair has passed its check with the φ
     that are returned.
  d. This may take long. After some rounds all φ of a pair are cut to the least of them, which is safe by (b). No
     new values of φ arise and each cut lowers one, so it ends.
  e. If that takes long as well, all φ become the least of all: safe by (b).

A pair is cut back to where it is as near as the share ENOUGH, more than η: small cuts of its neighbours do not
call for another one.

A prescribed node (w = 0) has φ = 1: it goes its way, and the other nodes of its pairs are cut until it can. If it
still can not after (e),

  f. all φ, those of prescribed nodes too, become the least t of (b): safe by (b), and the status is PRESCRIBED_CUT.

A motion that is common to all nodes does not matter to (2) but makes the boxes of the search long: take the mean
m of x₁ - x₀ (or the way of a driven body that carries cloth) off x₁, and put x₀ + m + φ (x₁ - m - x₀) for (1).
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, entry, inline, structure
from ..errors import TautError
from .ccd import first_time
from .closest_points import EDGE_EDGE, NODE_TRIANGLE, separation
from .proximity import CAPACITY_EXCEEDED, NOT_FINITE, Surface, larger_sizes, may_touch, search_pairs
from .swept_pairs import SweptWork, swept_work

Array = np.ndarray
FREE, PRESCRIBED_CUT = 0, 1  # status, beside CAPACITY_EXCEEDED and NOT_FINITE
NO_WAY = -1
KEPT = 0.1  # η
NEAR = 0.125  # a pair is cut if it comes as near as this share of its distance
ENOUGH = 0.14, 0.17  # and ends between these shares
ROUNDS = 10  # of (c)
MOST_ROUNDS = 60  # of (c) and (d)
YIELD = 0.5  # beside t: how much nodes give way to prescribed ones


@structure
class FilterWork(NamedTuple):
    """Workspace of the step filter."""

    faces: SweptWork
    sides: SweptWork
    quads: Array  # (pairs, 4) uint32 nodes of the pairs that could meet
    kind: Array  # (pairs,) int64
    start: Array  # (pairs,) d(x₀) [m]
    checked: Array  # (pairs,) int64 number of cuts at its last check
    cut: Array  # (n,) int64 number of its last cut
    whole: Array  # (n,) ones
    p: Array  # (4, 3)
    u: Array  # (4, 3)
    needed: Array  # (5,) entries and pairs of faces, of sides, and quads, that the last call needed


def filter_work(of: Surface, last: FilterWork | None = None) -> FilterWork:
    """Workspace for a surface; larger than the last one, whose capacity a call exceeded."""
    nodes, edges, triangles, n = len(of.nodes), len(of.edges), len(of.triangles), len(of.deformable)
    min_sizes = np.array([4 * triangles, 16 * nodes, 4 * edges, 16 * edges, 16 * nodes]) + 64
    size = min_sizes if last is None else larger_sizes(last.faces, last.sides, len(last.start), last.needed)
    k = int(size[4])
    return FilterWork(
        swept_work(nodes, triangles, int(size[0]), int(size[1])),
        swept_work(edges, edges, int(size[2]), int(size[3])),
        np.zeros((k, 4), np.uint32),
        np.zeros(k, np.int64),
        np.zeros(k),
        np.zeros(k, np.int64),
        np.zeros(n, np.int64),
        np.ones(n),
        np.zeros((4, 3)),
        np.zeros((4, 3)),
        np.zeros(5, np.int64),
    )


@inline
def list_quad(work, count, kind, i, j, k, l, x0, x1):
    """List a pair if it could come as near as η says with its nodes anywhere on their ways; returns the new count."""
    p, u = work.p, work.u
    for c in range(3):
        p[0, c], p[1, c], p[2, c], p[3, c] = x0[i, c], x0[j, c], x0[k, c], x0[l, c]
        u[0, c], u[1, c], u[2, c], u[3, c] = x1[i, c], x1[j, c], x1[k, c], x1[l, c]
    first = 0.0
    second = 0.0
    for m in range(4):
        way = (u[m, 0] - p[m, 0]) ** 2 + (u[m, 1] - p[m, 1]) ** 2 + (u[m, 2] - p[m, 2]) ** 2
        if m < kind:
            first = max(first, way)
        else:
            second = max(second, way)
    start = separation(p, kind)
    if sqrt(first) + sqrt(second) <= (1.0 - NEAR) * start:
        return count
    if count < work.kind.shape[0]:
        work.quads[count, 0], work.quads[count, 1], work.quads[count, 2], work.quads[count, 3] = i, j, k, l
        work.kind[count] = kind
        work.start[count] = start
        work.checked[count] = -1
    return count + 1


@compiled
def list_quads(work, of, x0, x1, w):
    """Nodes of the pairs that could meet, whatever the fractions; returns how many, also when they do not fit."""
    count = 0
    kind = NODE_TRIANGLE
    for q in range(work.needed[1]):
        i, t = of.nodes[work.faces.pairs[q, 0], 0], work.faces.pairs[q, 1]
        j, k, l = of.triangles[t, 0], of.triangles[t, 1], of.triangles[t, 2]
        if may_touch(of, i, j) and w[i] + w[j] + w[k] + w[l] > 0.0:
            count = list_quad(work, count, kind, i, j, k, l, x0, x1)
    kind = EDGE_EDGE
    for q in range(work.needed[3]):
        a, b = work.sides.pairs[q, 0], work.sides.pairs[q, 1]
        i, j, k, l = of.edges[a, 0], of.edges[a, 1], of.edges[b, 0], of.edges[b, 1]
        if may_touch(of, i, k) and w[i] + w[j] + w[k] + w[l] > 0.0:
            count = list_quad(work, count, kind, i, j, k, l, x0, x1)
    return count


@inline
def time_of(work, q, x0, x1, fraction, until, eta, enough):
    """When pair q is too near on its way up to `until`, of which it is a fraction; inf: never, or it does not move."""
    p, u = work.p, work.u
    moves = False
    for k in range(4):
        i = work.quads[q, k]
        for c in range(3):
            p[k, c] = x0[i, c]
            u[k, c] = until * fraction[i] * (x1[i, c] - x0[i, c])  # (1)
            moves = moves or u[k, c] != 0.0
    if not moves:
        return inf
    return first_time(p, u, work.kind[q], work.start[q], 0.0, eta, enough)  # (2)


@inline
def safe_time(work, q, x0, x1, fraction, until):
    """The time to cut pair q back to, as a fraction of `until`; inf: it need not be cut."""
    if time_of(work, q, x0, x1, fraction, until, KEPT, NEAR) == inf:
        return inf
    return min(1.0, time_of(work, q, x0, x1, fraction, until, ENOUGH[0], ENOUGH[1]))


@inline
def is_stale(work, q):
    newest = max(work.cut[work.quads[q, 0]], work.cut[work.quads[q, 1]])
    newest = max(newest, work.cut[work.quads[q, 2]], work.cut[work.quads[q, 3]])
    return newest > work.checked[q]


@inline
def moves(i, x0, x1):
    return x1[i, 0] != x0[i, 0] or x1[i, 1] != x0[i, 1] or x1[i, 2] != x0[i, 2]


@inline
def has_prescribed(work, q, x0, x1, w):
    """Whether a node of pair q is prescribed and moves."""
    for k in range(4):
        i = work.quads[q, k]
        if w[i] == 0.0 and moves(i, x0, x1):
            return True
    return False


@inline
def extremes(work, q, x0, x1, w, fraction):
    """The least and the largest φ of the nodes of pair q that move and can be cut; (1, 0) if there are none."""
    low = 1.0
    top = 0.0
    for k in range(4):
        i = work.quads[q, k]
        if w[i] > 0.0 and moves(i, x0, x1):
            low = min(low, fraction[i])
            top = max(top, fraction[i])
    return low, top


@inline
def cut_to(work, q, level, x0, x1, w, number, fraction):
    for k in range(4):
        i = work.quads[q, k]
        if w[i] > 0.0 and fraction[i] > level and moves(i, x0, x1):
            fraction[i] = level
            work.cut[i] = number


@compiled
def cut_at_first(work, pairs, x0, x1, w, fraction):
    """(b). What lies beyond the φ of all nodes of a pair need not be checked."""
    number = 1
    for q in range(pairs):
        work.checked[q] = 0
        until = 0.0
        for k in range(4):
            until = max(until, fraction[work.quads[q, k]])
        t = safe_time(work, q, x0, x1, work.whole, until)
        if t < inf:
            cut_to(work, q, t * until, x0, x1, w, number, fraction)
            work.checked[q] = -1  # beside a prescribed node this need not be enough, or there was nothing to cut
    return number


@compiled
def cut_again(work, pairs, x0, x1, w, flat, cuts, fraction):
    """One round of (c), or of (d) if `flat`; returns the number of cuts so far, or NO_WAY past a prescribed node."""
    whole = 1.0
    for q in range(pairs):
        if not is_stale(work, q):
            continue
        t = safe_time(work, q, x0, x1, fraction, whole)
        work.checked[q] = cuts
        if t == inf:
            continue
        low, top = extremes(work, q, x0, x1, w, fraction)
        if top == 0.0:
            return NO_WAY
        level = t * top
        if has_prescribed(work, q, x0, x1, w):
            level *= YIELD
        elif low < top:
            level = low if flat else max(low, level)
        cuts += 1
        cut_to(work, q, level, x0, x1, w, cuts, fraction)
    return cuts


@compiled
def least_time(work, pairs, x0, x1, fraction):
    """The time at which the first of all pairs has to stop, 1 if none has to."""
    least, whole = 1.0, 1.0
    for q in range(pairs):
        t = safe_time(work, q, x0, x1, fraction, least)
        least *= min(t, whole)
    return least


@compiled
def cut_all(work, pairs, x0, x1, w, fraction):
    """(e), and (f) if prescribed nodes do not let the others stay behind; returns the status."""
    least = 1.0
    for i in range(fraction.shape[0]):
        least = min(least, fraction[i])
    for i in range(fraction.shape[0]):
        if w[i] > 0.0:
            fraction[i] = least
    if least_time(work, pairs, x0, x1, fraction) == 1.0:
        return FREE
    least = least_time(work, pairs, x0, x1, work.whole)
    status = FREE
    for i in range(fraction.shape[0]):
        fraction[i] = least
        if w[i] == 0.0 and moves(i, x0, x1):
            status = PRESCRIBED_CUT
    return status


@compiled
def filter_step(work, of, x0, x1, w, out_fraction):
    """φ of (1) of all nodes; returns FREE, PRESCRIBED_CUT, CAPACITY_EXCEEDED (then call with filter_work(of, work)) or
    NOT_FINITE. At x0 nothing may touch: what does stays where it is.
    """
    margin, path_fraction = 0.0, NEAR / (1.0 - NEAR)
    status = search_pairs(work.faces, work.sides, of, x0, x1, margin, path_fraction, work.needed)
    if status < 0:
        return status
    pairs = list_quads(work, of, x0, x1, w)
    work.needed[4] = pairs
    if pairs > work.kind.shape[0]:
        return CAPACITY_EXCEEDED
    for i in range(out_fraction.shape[0]):
        out_fraction[i] = 1.0
        work.cut[i] = 0
    cuts = cut_at_first(work, pairs, x0, x1, w, out_fraction)
    for turn in range(MOST_ROUNDS):
        before = cuts
        flat = turn >= ROUNDS
        cuts = cut_again(work, pairs, x0, x1, w, flat, cuts, out_fraction)
        if cuts == before:
            return FREE
        if cuts == NO_WAY:
            break
    return cut_all(work, pairs, x0, x1, w, out_fraction)


@entry
def filter_step_entry(work, of, x0, x1, w, out_fraction):
    """filter_step, for Python."""
    return filter_step(work, of, x0, x1, w, out_fraction)


def step_fractions(of: Surface, x0: Array, x1: Array, w: Array) -> tuple[Array, int]:
    """(n,) φ of (1), and FREE or PRESCRIBED_CUT."""
    out = np.ones(len(x0))
    work = filter_work(of)
    while (status := filter_step_entry(work, of, x0, x1, w, out)) == CAPACITY_EXCEEDED:
        work = filter_work(of, work)
    if status == NOT_FINITE:
        raise TautError("collision search: a position is not finite; try a smaller step.")
    return out, status
