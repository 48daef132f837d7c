"""The linear system of linear_system.py factored and solved; updates of positions and multipliers.

    [A  Cᵀ] [δx nodes]   [r nodes]
    [C  B ] [δx balls] = [r balls],     S = B - C A⁻¹ Cᵀ                                         (1)

A of the nodes has a sparse factor. Balls are few and each touches many nodes: they are eliminated last, by their Schur
complement S. Rows between deformables could couple any two nodes: their forces are found by conjugate gradients
(contact_schur.py).

    T = T₀ + κ (φ + u·(δx_i - δx_j)),    λ = λ₀ + κ_c (φ - n·Σ ω δx)                             (2)
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..linalg.nodes import factor_and_solve_nodes, factor_nodes, solve_many_nodes, solve_nodes
from .codes import FACTORS, SOLVES
from .friction import apply_friction_change, weighted_sum


@inline
def dot_nodes(a, b, count):
    total = 0.0
    for k in range(count):
        total += a[k, 0] * b[k, 0] + a[k, 1] * b[k, 1] + a[k, 2] * b[k, 2]
    return total


@compiled
def factor(ctx, coupled):
    """The nodes' factor, and the Cholesky factor of the balls' Schur complement in ctx.linear.block.

    `coupled`: how many nodes are coupled to balls. Returns the number of dependent pivots.
    """
    ctx.work.counts[FACTORS] += 1
    dependent = factor_nodes(ctx.linear.nodes)
    block, count = ctx.linear.block, ctx.linear.nodes.order.shape[0]
    size = block.shape[0]
    if coupled > 0:
        solve_many_nodes(ctx.linear.nodes, ctx.linear.coupling, ctx.linear.coupling_solved)
        for i in range(size):
            for j in range(size):
                block[i, j] -= dot_nodes(ctx.linear.coupling[i], ctx.linear.coupling_solved[j], count)
    for j in range(size):
        for i in range(j, size):
            for k in range(j):
                block[i, j] -= block[i, k] * block[j, k]
            if i == j:
                dependent += 1 if block[j, j] <= 0.0 else 0
                block[j, j] = sqrt(max(block[j, j], 1e-300))
            else:
                block[i, j] /= block[j, j]
    return dependent


@compiled
def solve(ctx, coupled, b, out):
    """out = (nodes and balls without rows between deformables)⁻¹ b; both (unknowns, 3)."""
    block, count = ctx.linear.block, ctx.linear.nodes.order.shape[0]
    size = block.shape[0]
    ctx.work.counts[SOLVES] += 1
    solve_nodes(ctx.linear.nodes, b[:count], out[:count])
    for i in range(size):
        total = b[count + i // 3, i % 3]
        if coupled > 0:
            total -= dot_nodes(ctx.linear.coupling[i], out, count)
        for k in range(i):
            total -= block[i, k] * out[count + k // 3, k % 3]
        out[count + i // 3, i % 3] = total / block[i, i]
    for i in range(size - 1, -1, -1):
        total = out[count + i // 3, i % 3]
        for k in range(i + 1, size):
            total -= block[k, i] * out[count + k // 3, k % 3]
        out[count + i // 3, i % 3] = total / block[i, i]
    if coupled > 0:
        for i in range(size):
            ball_move = out[count + i // 3, i % 3]
            for k in range(count):
                for c in range(3):
                    out[k, c] -= ball_move * ctx.linear.coupling_solved[i, k, c]


@compiled
def factor_and_solve(ctx):
    """Both at once where there are neither balls nor rows between deformables: ctx.linear.dx. Returns the number of
    dependent pivots."""
    ctx.work.counts[FACTORS] += 1
    ctx.work.counts[SOLVES] += 1
    return factor_and_solve_nodes(ctx.linear.nodes, ctx.linear.rhs, ctx.linear.dx)


@inline
def move_of(ctx, i, c):
    """δx of unknown i, zero for i = -1: a member that is fixed, driven or missing."""
    return ctx.linear.dx[i, c] if i >= 0 else 0.0


@inline
def edge_change(ctx, edges, e):
    """u·(δx_i - δx_j)"""
    i, j = ctx.problem.unknown[edges.i[e]], ctx.problem.unknown[edges.j[e]]
    total = 0.0
    for c in range(3):
        total += edges.u[e, c] * (move_of(ctx, i, c) - move_of(ctx, j, c))
    return total


@inline
def gap_change(ctx, rows, r):
    """n·Σ ω δx"""
    m0, m1, m2 = weighted_sum(rows, r, ctx.linear.dx)
    return rows.n[r, 0] * m0 + rows.n[r, 1] * m1 + rows.n[r, 2] * m2


@compiled
def update_edge_multipliers(ctx, alpha):
    """T by (2). Returns how many limits left the active set."""
    edges = ctx.edges
    left = 0
    for e in range(edges.i.shape[0]):
        if not edges.active[e]:
            continue
        tension = edges.lam_est[e] + edges.penalty[e] * (edges.phi[e] + edge_change(ctx, edges, e))
        edges.tension[e] += alpha * (tension - edges.tension[e])
        if edges.tension[e] < 0.0 and not edges.stays[e]:
            edges.active[e] = False
            edges.tension[e] = 0.0
            edges.lam_est[e] = 0.0
            left += 1
    return left


@compiled
def update_row_multipliers(ctx, in_self_contact, alpha):
    """λ by (2), of rows between deformables or of external ones. Returns how many rows left the active set."""
    rows = ctx.self_contact.rows if in_self_contact else ctx.external
    count = ctx.self_contact.row_count[0] if in_self_contact else rows.phi.shape[0]
    left = 0
    for r in range(count):
        if not rows.active[r]:
            continue
        lam = rows.lam_est[r] + rows.penalty[r] * (rows.phi[r] - gap_change(ctx, rows, r))
        rows.lam[r] += alpha * (lam - rows.lam[r])
        if rows.lam[r] < 0.0:
            rows.active[r] = False
            rows.lam[r] = 0.0
            rows.lam_est[r] = 0.0
            left += 1
    return left


@compiled
def largest_move(ctx):
    """The largest move of a node against its neighbours on edges, in mean edges."""
    edges, weight = ctx.edges, ctx.settings.projection.common_move_weight
    largest = 0.0
    for k in range(ctx.problem.slot.shape[0]):
        for c in range(3):
            largest = max(largest, weight * ctx.problem.length_scale[k] * abs(ctx.linear.dx[k, c]))
    for e in range(edges.i.shape[0]):
        i, j = ctx.problem.unknown[edges.i[e]], ctx.problem.unknown[edges.j[e]]
        for c in range(3):
            largest = max(largest, abs(move_of(ctx, i, c) - move_of(ctx, j, c)))
    return largest / ctx.problem.mean_edge


@compiled
def apply_move(ctx, x, alpha):
    """Update x and friction by a step of length alpha along linear.dx."""
    apply_friction_change(ctx, ctx.external, ctx.external.phi.shape[0], alpha)
    apply_friction_change(ctx, ctx.self_contact.rows, ctx.self_contact.row_count[0], alpha)
    for k in range(ctx.problem.slot.shape[0]):
        s = ctx.problem.slot[k]
        for c in range(3):
            x[s, c] += alpha * ctx.linear.dx[k, c]


@compiled
def restore_mass_centres(ctx, x):
    """Move each free deformable, with the bodies pinned to it, so that its mass centre is where external forces bring
    it.

    Internal forces do not move the mass centre, but a system as stiff as that of hard edges is solved to about 1e-9
    only.
    """
    for deformable in range(ctx.work.centre.shape[0]):
        for c in range(4):
            ctx.work.centre[deformable, c] = 0.0
    for k in range(ctx.problem.floating.shape[0]):
        deformable, s = ctx.problem.floating[k], ctx.problem.slot[k]
        if deformable >= 0:
            for c in range(3):
                ctx.work.centre[deformable, c] += ctx.problem.mass[k, 0] * (ctx.work.x_pred[s, c] - x[s, c])
            ctx.work.centre[deformable, 3] += ctx.problem.mass[k, 0]
    for k in range(ctx.problem.floating.shape[0]):
        deformable, s = ctx.problem.floating[k], ctx.problem.slot[k]
        if deformable >= 0:
            for c in range(3):
                x[s, c] += ctx.work.centre[deformable, c] / ctx.work.centre[deformable, 3]
