"""Edges and rows of contact at given positions: how far off they are, and who enters.

    edge   φ = l - target,   l = |x_i - x_j|,   u = (x_i - x_j)/l                                (1)
    ball   φ = R - d,        d = |x_i - x_b|,   n = (x_i - x_b)/d                                (2)

A one-sided edge or row that is off enters when φ exceeds its tolerance, and leaves when its multiplier would
be negative (newton.py).
"""

from __future__ import annotations

from math import sqrt

from ...jit import part, word

# What is off at the start of a step is taken back little by little: the share in one step, and how long it lasts [s]
RECOVERY, RECOVERY_TIME = 0.05, 0.1
NOTHING_OFF = 1e-9  # of the length of an edge


@word
def difference(x, i, j):
    return x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]


@part
def measure_edges(edges, x):
    """(1). Returns the worst of hard edges, of limits that are on (|φ|/L), and of limits beyond their targets (φ/L)."""
    hard = 0.0
    on = 0.0
    over = 0.0
    for e in range(edges.i.shape[0]):
        a, b, c = difference(x, edges.i[e], edges.j[e])
        l = sqrt(a * a + b * b + c * c)
        scale = 1.0 / max(l, 1e-300)
        edges.l[e] = l
        edges.u[e, 0], edges.u[e, 1], edges.u[e, 2] = a * scale, b * scale, c * scale
        phi = l - edges.target[e]
        edges.phi[e] = phi
        error = phi / edges.length[e]
        if edges.one_sided[e]:
            over = max(over, error)
            if edges.on[e] and edges.tension[e] > 0.0:
                on = max(on, abs(error))
        else:
            hard = max(hard, abs(error))
    return hard, on, over


@part
def aim_edges(edges, x, share):
    """Targets of this step: what is too long at its start is brought back by a share only.

    All at once would do work: a taut sheet that stops a heavy ball would throw it back.
    """
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            a, b, c = difference(x, edges.i[e], edges.j[e])
            l = sqrt(a * a + b * b + c * c)
            edges.target[e] = max(edges.most[e], l - share * (l - edges.most[e]))


@part
def measure_balls(rows, first, radius, x):
    """(2)"""
    for k in range(radius.shape[0]):
        r = first + k
        a, b, c = difference(x, rows.slot[r, 0], rows.slot[r, 1])
        d = sqrt(a * a + b * b + c * c)
        scale = 1.0 / max(d, 1e-300)
        rows.n[r, 0], rows.n[r, 1], rows.n[r, 2] = a * scale, b * scale, c * scale
        rows.phi[r] = radius[k] - d - rows.allowed[r]


@part
def measure_facets(rows, count, x, thickness):
    """φ of sheets against sheets, with the weights and normals that were found at the start of the round."""
    for r in range(count):
        gap = 0.0
        for k in range(4):
            s = rows.slot[r, k]
            gap += rows.weight[r, k] * (rows.n[r, 0] * x[s, 0] + rows.n[r, 1] * x[s, 1] + rows.n[r, 2] * x[s, 2])
        rows.phi[r] = thickness[r] - gap


@part
def worst_of(rows, count):
    """The largest |φ| of rows that push, and φ of all [m]."""
    on = 0.0
    over = 0.0
    for r in range(count):
        over = max(over, rows.phi[r])
        if rows.on[r] and rows.lam[r] > 0.0:
            on = max(on, abs(rows.phi[r]))
    return on, over


@part
def enter_edges(edges, tolerance):
    """What is too long enters at once; counted are those off by more than the tolerance."""
    entered = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e] and not edges.on[e] and edges.phi[e] > NOTHING_OFF * edges.length[e]:
            edges.on[e] = True
            edges.tension[e] = 0.0
            edges.shift[e] = 0.0
            if edges.phi[e] > tolerance * edges.length[e]:
                entered += 1
    return entered


@part
def enter_rows(rows, count, least, tolerance):
    """What is deeper than `least` [m] enters; counted are those deeper than the tolerance."""
    entered = 0
    for r in range(count):
        if not rows.on[r] and rows.phi[r] > least:
            movable = False
            for k in range(4):
                movable = movable or rows.unknown[r, k] >= 0
            if movable:
                rows.on[r] = True
                rows.lam[r] = 0.0
                rows.shift[r] = 0.0
                if rows.phi[r] > tolerance:
                    entered += 1
    return entered


@part
def settle_shifts(edges, rows, count):
    """T₀ = T, λ₀ = λ."""
    for e in range(edges.i.shape[0]):
        edges.shift[e] = edges.tension[e] if edges.on[e] else 0.0
    for r in range(count):
        rows.shift[r] = rows.lam[r] if rows.on[r] else 0.0


@part
def take_grip(rows, count):
    """Friction is that of λ as it is now."""
    for r in range(count):
        rows.grip[r] = rows.lam[r] if rows.on[r] else 0.0
