"""Edges and rows of contact at given positions: how far off they are, and who enters.

    edge   φ = l - target,   l = |x_i - x_j|,   u = (x_i - x_j)/l                                (1)
    ball   φ = R - d,        d = |x_i - x_b|,   n = (x_i - x_b)/d                                (2)

A one-sided edge or row that is off enters when φ exceeds its tolerance, and leaves when its multiplier would
be negative (newton.py).
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline

# What is off at the start of a step is taken back little by little: the share in one step, and how long it lasts [s]
RECOVERY, RECOVERY_TIME = 0.05, 0.1
NOTHING_OFF = 1e-9  # of the length of an edge
MOST_BEYOND = 1e-3  # of the length of an edge: what a limit may be off by, in all,
DEEPEST = 9e-4  # and of the mean edge, what may be inside a solid


@inline
def difference(x, i, j):
    return x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]


@compiled
def measure_edges(edges, x):
    """(1)"""
    for e in range(edges.i.shape[0]):
        a, b, c = difference(x, edges.i[e], edges.j[e])
        l = sqrt(a * a + b * b + c * c)
        scale = 1.0 / max(l, 1e-300)
        edges.l[e] = l
        edges.u[e, 0], edges.u[e, 1], edges.u[e, 2] = a * scale, b * scale, c * scale
        edges.phi[e] = l - edges.target[e]


@compiled
def aim_edges(edges, x, share, tolerance):
    """Targets of this step: what is too long at its start is brought back by a share only.

    All at once would do work: a taut sheet that stops a heavy ball would throw it back. The room that is left is such
    that steps one after the other never use more than all of it.
    """
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            a, b, c = difference(x, edges.i[e], edges.j[e])
            l = sqrt(a * a + b * b + c * c)
            edges.target[e] = max(edges.most[e], l - share * (l - edges.most[e]))
            left = edges.most[e] + MOST_BEYOND * edges.length[e] - edges.target[e]
            edges.room[e] = max(left, 0.5 * share * MOST_BEYOND * edges.length[e])
        else:
            edges.room[e] = tolerance * edges.length[e]


@compiled
def measure_balls(rows, first, radius, x):
    """(2)"""
    for k in range(radius.shape[0]):
        r = first + k
        a, b, c = difference(x, rows.slot[r, 0], rows.slot[r, 1])
        d = sqrt(a * a + b * b + c * c)
        scale = 1.0 / max(d, 1e-300)
        rows.n[r, 0], rows.n[r, 1], rows.n[r, 2] = a * scale, b * scale, c * scale
        rows.phi[r] = radius[k] - d - rows.allowed[r]


@compiled
def measure_facets(rows, count, x, thickness):
    """φ of sheets against sheets, with the weights and normals that were found at the start of the round."""
    for r in range(count):
        gap = 0.0
        for k in range(4):
            s = rows.slot[r, k]
            gap += rows.weight[r, k] * (rows.n[r, 0] * x[s, 0] + rows.n[r, 1] * x[s, 1] + rows.n[r, 2] * x[s, 2])
        rows.phi[r] = thickness[r] - gap


@inline
def edge_off(edges, e, most):
    """|φ|, or φ where nothing is held, as a multiple of its room, which counts up to `most` of the length."""
    off = abs(edges.phi[e]) if edges.on[e] and edges.tension[e] != 0.0 else max(edges.phi[e], 0.0)
    if not edges.one_sided[e]:
        return abs(edges.phi[e]) / edges.room[e]
    return off / min(edges.room[e], most * edges.length[e])


@inline
def row_off(rows, r, most):
    """The same of a row; most [m]."""
    off = abs(rows.phi[r]) if rows.on[r] and rows.lam[r] > 0.0 else max(rows.phi[r], 0.0)
    return off / min(rows.room[r], most)


@compiled
def worst_edge(edges, most):
    worst = 0.0
    for e in range(edges.i.shape[0]):
        worst = max(worst, edge_off(edges, e, most))
    return worst


@compiled
def worst_hard(edges):
    """The same, of hard edges alone."""
    worst = 0.0
    for e in range(edges.i.shape[0]):
        if not edges.one_sided[e]:
            worst = max(worst, abs(edges.phi[e]) / edges.room[e])
    return worst


@compiled
def worst_row(rows, count, most):
    worst = 0.0
    for r in range(count):
        worst = max(worst, row_off(rows, r, most))
    return worst


@compiled
def enter_edges(edges, most):
    """What is too long enters at once; counted are those that are off by more than their room."""
    entered = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e] and not edges.on[e] and edges.phi[e] > NOTHING_OFF * edges.length[e]:
            entered += 1 if edge_off(edges, e, most) > 1.0 else 0
            edges.on[e] = True
            edges.tension[e] = 0.0
            edges.shift[e] = 0.0
    return entered


@compiled
def enter_rows(rows, count, least, most):
    """What is deeper than `least` [m] enters; counted are those that are off by more than their room."""
    entered = 0
    for r in range(count):
        if not rows.on[r] and rows.phi[r] > least:
            movable = False
            for k in range(4):
                movable = movable or rows.unknown[r, k] >= 0
            if movable:
                entered += 1 if row_off(rows, r, most) > 1.0 else 0
                rows.on[r] = True
                rows.lam[r] = 0.0
                rows.shift[r] = 0.0
    return entered
