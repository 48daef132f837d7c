"""Errors of edges and contact rows at given positions, and activation.

    edge   φ = l - target,   l = |x_i - x_j|,   u = (x_i - x_j)/l                                (1)
    ball   φ = R - d,        d = |x_i - x_b|,   n = (x_i - x_b)/d                                (2)

A one-sided edge or row enters the active set when φ exceeds its tolerance, and leaves it when its multiplier would be
negative (linear_solve.py).
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline

ROUNDING = 1e-9  # of the length of an edge (a guard, not a setting)


@inline
def recovery_of(tolerances, h):
    """The share of an error at the start of a step that the step takes back: errors are taken back little by little."""
    return min(tolerances.recovery, h / tolerances.recovery_time)


@inline
def difference(x, i, j):
    """x_i - x_j"""
    return x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]


@compiled
def evaluate_edges(edges, x):
    """(1)"""
    for e in range(edges.i.shape[0]):
        a, b, c = difference(x, edges.i[e], edges.j[e])
        l = sqrt(a * a + b * b + c * c)
        scale = 1.0 / max(l, 1e-300)
        edges.l[e] = l
        edges.u[e, 0], edges.u[e, 1], edges.u[e, 2] = a * scale, b * scale, c * scale
        edges.phi[e] = l - edges.target[e]


@compiled
def set_edge_targets(edges, x, recovery, tolerance, paper, limit):
    """Set the target lengths of this step: of an excess length at its start only the fraction `recovery` is corrected.

    A full correction in one step would do work: cloth that stops a heavy ball would throw it back. Tolerances are
    chosen so that the errors of successive steps add up to no more than `limit`, of a length.
    """
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            a, b, c = difference(x, edges.i[e], edges.j[e])
            l = sqrt(a * a + b * b + c * c)
            edges.stays[e] = paper == 1 and l >= edges.max_length[e]
            edges.target[e] = max(edges.max_length[e], l - recovery * (l - edges.max_length[e]))
            left = edges.max_length[e] + limit * edges.length[e] - edges.target[e]
            edges.tol[e] = max(left, 0.5 * recovery * limit * edges.length[e])
        else:
            edges.tol[e] = tolerance * edges.length[e]


@compiled
def evaluate_balls(rows, first, radius, x):
    """(2)"""
    for k in range(radius.shape[0]):
        r = first + k
        a, b, c = difference(x, rows.slot[r, 0], rows.slot[r, 1])
        d = sqrt(a * a + b * b + c * c)
        scale = 1.0 / max(d, 1e-300)
        rows.n[r, 0], rows.n[r, 1], rows.n[r, 2] = a * scale, b * scale, c * scale
        rows.phi[r] = radius[k] - d - rows.depth_allowed[r]


@compiled
def evaluate_self_contacts(rows, count, x, thickness):
    """φ of deformables against deformables, with the weights and normals that were found at the start of the round."""
    for r in range(count):
        gap = 0.0
        for k in range(4):
            s = rows.slot[r, k]
            gap += rows.weight[r, k] * (rows.n[r, 0] * x[s, 0] + rows.n[r, 1] * x[s, 1] + rows.n[r, 2] * x[s, 2])
        rows.phi[r] = thickness[r] - gap


@inline
def edge_error(edges, e, bound):
    """Error divided by its tolerance, which is capped at `bound` × length; where T = 0 only φ > 0 is an error."""
    error = abs(edges.phi[e]) if edges.active[e] and edges.tension[e] != 0.0 else max(edges.phi[e], 0.0)
    if not edges.one_sided[e]:
        return abs(edges.phi[e]) / edges.tol[e]
    return error / min(edges.tol[e], bound * edges.length[e])


@inline
def row_error(rows, r, bound):
    """Error of a contact row divided by its tolerance, which is capped at `bound` [m]."""
    error = abs(rows.phi[r]) if rows.active[r] and rows.lam[r] > 0.0 else max(rows.phi[r], 0.0)
    return error / min(rows.tol[r], bound)


@compiled
def largest_edge_error(edges, bound):
    """The largest edge_error."""
    largest = 0.0
    for e in range(edges.i.shape[0]):
        largest = max(largest, edge_error(edges, e, bound))
    return largest


@compiled
def largest_hard_edge_error(edges):
    """The largest error of hard edges, divided by their tolerances."""
    largest = 0.0
    for e in range(edges.i.shape[0]):
        if not edges.one_sided[e]:
            largest = max(largest, abs(edges.phi[e]) / edges.tol[e])
    return largest


@compiled
def largest_row_error(rows, count, bound):
    """The largest row_error."""
    largest = 0.0
    for r in range(count):
        largest = max(largest, row_error(rows, r, bound))
    return largest


@compiled
def activate_edges(edges, bound):
    """Activate every edge that is too long. Returns how many errors exceeded their tolerance."""
    entered = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e] and not edges.active[e] and edges.phi[e] > ROUNDING * edges.length[e]:
            entered += 1 if edge_error(edges, e, bound) > 1.0 else 0
            edges.active[e] = True
            edges.tension[e] = 0.0
            edges.lam_est[e] = 0.0
    return entered


@compiled
def activate_rows(rows, count, min_depth, bound):
    """Activate every row deeper than `min_depth` [m]. Returns how many errors exceeded their tolerance."""
    entered = 0
    for r in range(count):
        if not rows.active[r] and rows.phi[r] > min_depth:
            movable = False
            for k in range(4):
                movable = movable or rows.unknown[r, k] >= 0
            if movable:
                entered += 1 if row_error(rows, r, bound) > 1.0 else 0
                rows.active[r] = True
                rows.lam[r] = 0.0
                rows.lam_est[r] = 0.0
    return entered
