"""When a node and a triangle, or two edges, first come within a distance ξ while all four nodes move straight.

Additive continuous collision detection [Li, Kaufman, Jiang 2021]: the gap can not close faster than the nodes
move relative to each other, so it is safe to go on by

    δt = (d - ξ - η g) / ℓ                                          (1)
    ℓ = max |u_k| of the first side + max |u_k| of the second       (2)
    d - ξ < σ g                                                     (3)  here the time found is the answer

u_k are the displacements less their mean, which does not change distances, and g is the gap at the start, of
which the fraction η is always kept; σ > η ends the search, which would creep else. What is found comes before the
true time of contact and no contact is missed. Departs from the paper: steps aim at the gap to be kept, so that
the last one need not be taken back.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from ..compiled import entry, inline
from .closest_points import separation

Array = np.ndarray
GAP_KEPT = 0.05  # η
GAP_ENOUGH = 0.1  # σ
MOST_ADVANCES = 100_000


@inline
def first_time(p, u, kind, gap, least, eta, enough):
    """The fraction of the step in [0, 1] after which p + t u is as near as (3); inf: it never is.

    What is within ξ at the start gives 0, wherever it moves.

    p and u (4, 3) are positions and displacements of the four nodes; both are overwritten. `gap` is g, `least` is
    ξ, `eta` is η and `enough` is σ.
    """
    for c in range(3):
        mean = 0.25 * (u[0, c] + u[1, c] + u[2, c] + u[3, c])
        for k in range(4):
            u[k, c] -= mean
    first = 0.0
    second = 0.0
    for k in range(4):
        size = sqrt(u[k, 0] * u[k, 0] + u[k, 1] * u[k, 1] + u[k, 2] * u[k, 2])
        if k < kind:
            first = max(first, size)
        else:
            second = max(second, size)
    speed = first + second  # (2)
    if not gap > 0.0:
        return 0.0
    min_gap = eta * gap
    near = enough * gap
    t = 0.0
    for _ in range(MOST_ADVANCES):
        if (1.0 - t) * speed <= gap - min_gap:
            return inf
        advance = (gap - min_gap) / speed  # (1)
        t += advance
        for k in range(4):
            for c in range(3):
                p[k, c] += advance * u[k, c]
        gap = separation(p, kind) - least
        if not gap >= near:  # (3)
            return t
    return t


@entry
def times(kind, quads, count, x0, x1, least, p, u, out):
    """first_time of the first `count` quadruples of nodes into out; returns the smallest, inf if none meet."""
    earliest = inf
    for q in range(count):
        for k in range(4):
            i = quads[q, k]
            for c in range(3):
                p[k, c] = x0[i, c]
                u[k, c] = x1[i, c] - x0[i, c]
        gap = separation(p, kind) - least
        out[q] = first_time(p, u, kind, gap, least, GAP_KEPT, GAP_ENOUGH)
        earliest = min(earliest, out[q])
    return earliest


def four_nodes(pairs: Array, first: Array, second: Array) -> Array:
    """(k, 4) nodes of node-triangle or edge-edge pairs, as boxes.near_pairs gives them."""
    return np.concatenate([first[pairs[:, 0]], second[pairs[:, 1]]], axis=1)


def contact_times(kind: int, quads: Array, x0: Array, x1: Array, least: float) -> Array:
    """(k,) fraction of the step after which each quadruple of nodes is within `least` [m], inf: never."""
    out = np.empty(len(quads))
    quads = np.ascontiguousarray(quads, np.uint32)
    times(kind, quads, len(quads), x0, x1, float(least), np.zeros((4, 3)), np.zeros((4, 3)), out)
    return out
