"""Which triangles cross each other as they stand.

Two triangles cross where an edge of one goes through the other. The edge from a to b meets the triangle c, d, e
if its ends lie on different sides of the plane and the three sides go round it the same way:

    n·(a - c) n·(b - c) <= 0,   n = (d - c) × (e - c)                                    (1)
    (c - a)×(d - a)·(b - a),  (d - a)×(e - a)·(b - a),  (e - a)×(c - a)·(b - a)  of one sign   (2)

Touching counts as crossing. In one plane, where (1) and (2) say nothing, the distance of the two decides.
"""

from __future__ import annotations

import numpy as np

from ..compiled import compiled, entry, inline
from .closest_points import EDGE_EDGE, NODE_TRIANGLE, difference, dot3, separation
from .swept_pairs import near_pairs
from .topology import triangle_edges

Array = np.ndarray
TOUCHING = 1e-12  # of the edge's length: nearer, they touch
IN_PLANE = 1e-10  # of lengths: nearer to the plane, the sides of a point are those of rounding errors


@inline
def cross3(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def meet_in_plane(p, q):
    """Whether edge and triangle of one plane, p (5, 3), come together; q (4, 3) is workspace."""
    along = difference(p, 1, 0)
    least = np.inf
    for end in range(2):
        for c in range(3):
            q[0, c], q[1, c], q[2, c], q[3, c] = p[end, c], p[2, c], p[3, c], p[4, c]
        least = min(least, separation(q, NODE_TRIANGLE))
    for side in range(3):
        for c in range(3):
            q[0, c], q[1, c], q[2, c], q[3, c] = p[0, c], p[1, c], p[2 + side, c], p[2 + (side + 1) % 3, c]
        least = min(least, separation(q, EDGE_EDGE))
    return least <= TOUCHING * np.sqrt(dot3(along, along))


@compiled
def is_pierced(p, q):
    """Whether the edge p[0:2] meets the triangle p[2:5]."""
    n = cross3(difference(p, 3, 2), difference(p, 4, 2))
    one, other = dot3(n, difference(p, 0, 2)), dot3(n, difference(p, 1, 2))
    along = difference(p, 1, 0)
    flat = IN_PLANE * np.sqrt(dot3(n, n) * dot3(along, along))
    if abs(one) <= flat and abs(other) <= flat:
        return meet_in_plane(p, q)
    if one > 0.0 and other > 0.0 or one < 0.0 and other < 0.0:
        return False  # (1)
    c, d, e = difference(p, 2, 0), difference(p, 3, 0), difference(p, 4, 0)
    v0, v1, v2 = dot3(cross3(c, d), along), dot3(cross3(d, e), along), dot3(cross3(e, c), along)
    return min(v0, v1, v2) >= 0.0 or max(v0, v1, v2) <= 0.0  # (2)


@entry
def pierce(edges, triangles, pairs, x, p, q, out):
    """out = whether the edge of each pair (edge, triangle) meets its triangle."""
    for k in range(pairs.shape[0]):
        for c in range(3):
            for m in range(2):
                p[m, c] = x[edges[pairs[k, 0], m], c]
            for m in range(3):
                p[2 + m, c] = x[triangles[pairs[k, 1], m], c]
        out[k] = is_pierced(p, q)


def crossings(x: Array, triangles: Array) -> Array:
    """(k, 2) pairs of triangles that cross, each once, sorted.

    Triangles with a common node count where an edge away from that node goes through the other one.
    """
    triangles = np.asarray(triangles, np.int64)
    sides = triangle_edges(triangles)
    pairs = near_pairs(sides.nodes, triangles, x, x, 0.0)
    hit = np.zeros(len(pairs), np.bool_)
    pierce(sides.nodes, triangles, pairs, x, np.zeros((5, 3)), np.zeros((4, 3)), hit)
    owners, through = sides.owners[pairs[hit, 0]], pairs[hit, 1]
    found = np.concatenate([np.stack([owners[:, k], through], axis=1) for k in (0, 1)])
    return np.unique(np.sort(found[found[:, 0] >= 0], axis=1), axis=0)
