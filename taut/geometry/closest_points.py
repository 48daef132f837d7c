"""Closest points of a node and a triangle, and of two edges, as weights of their four nodes.

    r = Σ a_k x_k,   d = |r|,   n = r / d                          (1)
    node-triangle   a = (1, -b₀, -b₁, -b₂),      Σ b = 1           (2)
    edge-edge       a = (1-s, s, -(1-t), -t)                       (3)

With the weights held, ∂d/∂x_k = a_k n: a contact of either kind acts on its four nodes in the same way. The
four nodes stand together in p (4, 3): node and triangle, or first edge and second edge. Regions after
Ericson, "Real-Time Collision Detection", 5.1.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..compiled import entry, inline

Array = np.ndarray
NODE_TRIANGLE, EDGE_EDGE = 1, 2  # also: how many of the four nodes are on the first side
NO_LENGTH = 1e-300  # an edge whose ends meet is divided by this, not by nothing
PARALLEL = 1e-16  # sin² of the angle between edges; below, any point of their overlap serves


@inline
def difference(p, i, j):
    return p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]


@inline
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def clamp(value):
    return min(max(value, 0.0), 1.0)


@inline
def triangle_weights(p):
    """(b₀, b₁, b₂) of the point of triangle p[1:4] that is closest to p[0]."""
    ab, ac, ap = difference(p, 2, 1), difference(p, 3, 1), difference(p, 0, 1)
    d1, d2 = dot3(ab, ap), dot3(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    bp = difference(p, 0, 2)
    d3, d4 = dot3(ab, bp), dot3(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        return 1.0 - t, t, 0.0
    cp = difference(p, 0, 3)
    d5, d6 = dot3(ab, cp), dot3(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return 1.0 - t, 0.0, t
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    scale = 1.0 / (va + vb + vc)
    b, c = vb * scale, vc * scale
    return 1.0 - b - c, b, c


@inline
def edge_weights(p):
    """(s, t): the closest points are p[0] + s (p[1] - p[0]) and p[2] + t (p[3] - p[2])."""
    e, g, r = difference(p, 1, 0), difference(p, 3, 2), difference(p, 0, 2)
    a, c, b = dot3(e, e), dot3(g, g), dot3(e, g)
    d, f = dot3(e, r), dot3(g, r)
    across = a * c - b * b
    s = clamp((b * f - d * c) / across) if across > PARALLEL * a * c else 0.0
    t = (b * s + f) / max(c, NO_LENGTH)
    if t < 0.0:
        t = 0.0
        s = clamp(-d / max(a, NO_LENGTH))
    elif t > 1.0:
        t = 1.0
        s = clamp((b - d) / max(a, NO_LENGTH))
    return s, t


@inline
def four_weights(p, kind):
    """The weights of (1)."""
    if kind == NODE_TRIANGLE:
        b0, b1, b2 = triangle_weights(p)
        return 1.0, -b0, -b1, -b2  # (2)
    s, t = edge_weights(p)
    return 1.0 - s, s, t - 1.0, -t  # (3)


@inline
def separation(p, kind):
    """d of (1)."""
    a0, a1, a2, a3 = four_weights(p, kind)
    total = 0.0
    for c in range(3):
        r = a0 * p[0, c] + a1 * p[1, c] + a2 * p[2, c] + a3 * p[3, c]
        total += r * r
    return sqrt(total)


@entry
def closest(kind, quads, count, x, p, out_weights, out_normal, out_distance):
    """(1) of the first `count` quadruples of nodes, quads (k, 4); p (4, 3) is workspace.

    The normal points from the second side to the first; it is zero where they touch.
    """
    for q in range(count):
        for k in range(4):
            for c in range(3):
                p[k, c] = x[quads[q, k], c]
        a = four_weights(p, kind)
        r0 = a[0] * p[0, 0] + a[1] * p[1, 0] + a[2] * p[2, 0] + a[3] * p[3, 0]  # (1)
        r1 = a[0] * p[0, 1] + a[1] * p[1, 1] + a[2] * p[2, 1] + a[3] * p[3, 1]
        r2 = a[0] * p[0, 2] + a[1] * p[1, 2] + a[2] * p[2, 2] + a[3] * p[3, 2]
        d = sqrt(r0 * r0 + r1 * r1 + r2 * r2)
        scale = 1.0 / d if d > 0.0 else 0.0
        out_distance[q] = d
        out_normal[q, 0], out_normal[q, 1], out_normal[q, 2] = r0 * scale, r1 * scale, r2 * scale
        out_weights[q, 0], out_weights[q, 1], out_weights[q, 2], out_weights[q, 3] = a[0], a[1], a[2], a[3]


def closest_points(kind: int, quads: Array, x: Array) -> tuple[Array, Array, Array]:
    """Weights (k, 4), normals (k, 3) and distances (k,) of quadruples of nodes."""
    k = len(quads)
    found = np.zeros((k, 4)), np.zeros((k, 3)), np.zeros(k)
    closest(kind, np.ascontiguousarray(quads, np.uint32), k, x, np.zeros((4, 3)), *found)
    return found
