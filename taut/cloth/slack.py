"""Slacks s and multipliers T of limits and contacts: the parts of the interior point (interior_point.py).

    φ + s = 0,    T s = μ,    s > 0,  T > 0,    μ → 0                                            (1)
    T = T₀ + κ (φ + u·(δx_i - δx_j)),    κ = T/s,    T₀ = T + (μ - δT δs)/s                      (2)

(2) is (1) linearised: the system of linear_system.py with a κ for each edge and row. δT δs is what a first solution of
the same factor, with μ = 0, predicts of the error (Mehrotra's corrector).
"""

from __future__ import annotations

from ..compiled import compiled, inline
from .attachments import update_attachment_multipliers
from .contact_assembly import add_row_force
from .linear_solve import edge_change, gap_change
from .linear_system import add_tension
from .tolerances import length_tolerance, residual_tolerance, update_multiplier_estimates


@inline
def is_movable(rows, r):
    """Whether a member of an external row can move."""
    return rows.unknown[r, 0] >= 0 or rows.unknown[r, 1] >= 0


@compiled
def set_initial_slacks(ctx, inertial_stiffness):
    """Initialise s, T and λ of (1), warm-started with those of the previous substep where they are larger."""
    fallback = ctx.settings.fallback
    edges, rows = ctx.edges, ctx.external
    mu = fallback.initial_mu * inertial_stiffness * (fallback.initial_slack * ctx.problem.mean_edge) ** 2
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            edges.active[e] = True
            edges.slack[e] = max(-edges.phi[e], fallback.initial_slack * edges.length[e])
            edges.tension[e] = max(mu / edges.slack[e], edges.tension[e])
    for r in range(rows.phi.shape[0]):
        rows.active[r] = is_movable(rows, r)
        rows.slack[r] = max(-rows.phi[r], fallback.initial_slack * ctx.problem.mean_edge)
        rows.lam[r] = max(mu / rows.slack[r], rows.lam[r]) if rows.active[r] else 0.0


@inline
def complementarity(ctx, inertial_stiffness):
    """Mean T s, and how many limits and rows are not within their tolerances."""
    tolerances = ctx.settings.tolerances
    edges, rows = ctx.edges, ctx.external
    length_tol = length_tolerance(ctx, tolerances.limit_error)
    depth_tol = length_tolerance(ctx, tolerances.contact_error)
    min_push = ctx.settings.fallback.idle_share * residual_tolerance(ctx)
    total = 0.0
    count = 0
    unconverged = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            total += edges.tension[e] * edges.slack[e]
            count += 1
            slack, push = edges.slack[e] / edges.length[e], edges.tension[e] / inertial_stiffness
            wrong = abs(edges.phi[e] + edges.slack[e]) / edges.length[e]
            unconverged += 1 if wrong > length_tol or (slack > length_tol and push > min_push) else 0
    for r in range(rows.phi.shape[0]):
        if rows.active[r]:
            total += rows.lam[r] * rows.slack[r]
            count += 1
            slack, push = rows.slack[r] / ctx.problem.mean_edge, rows.lam[r] / inertial_stiffness
            wrong = abs(rows.phi[r] + rows.slack[r]) / ctx.problem.mean_edge
            unconverged += 1 if wrong > depth_tol or (slack > depth_tol and push > min_push) else 0
    return total / max(count, 1), unconverged


@compiled
def set_barrier_penalties(ctx, stiffest):
    """κ of (2), and T₀ with μ = 0."""
    edges, rows = ctx.edges, ctx.external
    update_multiplier_estimates(ctx)
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            edges.penalty[e] = min(edges.tension[e] / edges.slack[e], stiffest)
    for r in range(rows.phi.shape[0]):
        if rows.active[r]:
            rows.penalty[r] = min(rows.lam[r] / rows.slack[r], stiffest)


@compiled
def primal_dual_direction(ctx):
    """Compute δT and δs from ctx.linear.dx by (2). Returns the largest step length alpha that keeps T and s
    positive."""
    fallback = ctx.settings.fallback
    edges, rows = ctx.edges, ctx.external
    alpha = 1.0
    for e in range(edges.i.shape[0]):
        d = edge_change(ctx, edges, e)
        edges.d_lam[e] = edges.lam_est[e] + edges.penalty[e] * (edges.phi[e] + d) - edges.tension[e]
        if edges.one_sided[e]:
            edges.d_slack[e] = -(edges.phi[e] + edges.slack[e] + d)
            if edges.d_lam[e] < 0.0:
                alpha = min(alpha, -fallback.fraction_to_boundary * edges.tension[e] / edges.d_lam[e])
            if edges.d_slack[e] < 0.0:
                alpha = min(alpha, -fallback.fraction_to_boundary * edges.slack[e] / edges.d_slack[e])
    for r in range(rows.phi.shape[0]):
        if not rows.active[r]:
            continue
        d = gap_change(ctx, rows, r)
        rows.d_lam[r] = rows.lam_est[r] + rows.penalty[r] * (rows.phi[r] - d) - rows.lam[r]
        rows.d_slack[r] = -(rows.phi[r] + rows.slack[r] - d)
        if rows.d_lam[r] < 0.0:
            alpha = min(alpha, -fallback.fraction_to_boundary * rows.lam[r] / rows.d_lam[r])
        if rows.d_slack[r] < 0.0:
            alpha = min(alpha, -fallback.fraction_to_boundary * rows.slack[r] / rows.d_slack[r])
    return alpha


@compiled
def affine_complementarity(ctx, alpha):
    """Mean T s after a step of length alpha: μ of the affine step."""
    edges, rows = ctx.edges, ctx.external
    total = 0.0
    count = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            total += (edges.tension[e] + alpha * edges.d_lam[e]) * (edges.slack[e] + alpha * edges.d_slack[e])
            count += 1
    for r in range(rows.phi.shape[0]):
        if rows.active[r]:
            total += (rows.lam[r] + alpha * rows.d_lam[r]) * (rows.slack[r] + alpha * rows.d_slack[r])
            count += 1
    return total / max(count, 1)


@compiled
def mehrotra_corrector(ctx, mu):
    """T₀ of (2), in the right-hand side too."""
    edges, rows = ctx.edges, ctx.external
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            more = (mu - edges.d_lam[e] * edges.d_slack[e]) / edges.slack[e]
            edges.lam_est[e] += more
            i, j = ctx.problem.unknown[edges.i[e]], ctx.problem.unknown[edges.j[e]]
            add_tension(ctx, i, j, more * edges.u[e, 0], more * edges.u[e, 1], more * edges.u[e, 2])
    for r in range(rows.phi.shape[0]):
        if rows.active[r]:
            more = (mu - rows.d_lam[r] * rows.d_slack[r]) / rows.slack[r]
            rows.lam_est[r] += more
            add_row_force(ctx, rows, r, more * rows.n[r, 0], more * rows.n[r, 1], more * rows.n[r, 2])


@compiled
def take_primal_dual_step(ctx, alpha):
    """T, s, λ and F after a step of length alpha."""
    edges, rows = ctx.edges, ctx.external
    update_attachment_multipliers(ctx, alpha)
    for e in range(edges.i.shape[0]):
        edges.tension[e] += alpha * edges.d_lam[e]
        if edges.one_sided[e]:
            edges.slack[e] += alpha * edges.d_slack[e]
    for r in range(rows.phi.shape[0]):
        if rows.active[r]:
            rows.lam[r] += alpha * rows.d_lam[r]
            rows.slack[r] += alpha * rows.d_slack[r]


@compiled
def set_active_by_slack(ctx, inertial_stiffness):
    """Set the active set: rows whose multiplier, scaled, exceeds their slack."""
    edges, rows = ctx.edges, ctx.external
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            edges.active[e] = edges.tension[e] > inertial_stiffness * edges.slack[e]
            edges.tension[e] = edges.tension[e] if edges.active[e] else 0.0
    for r in range(rows.phi.shape[0]):
        rows.active[r] = rows.active[r] and rows.lam[r] > inertial_stiffness * rows.slack[r]
        rows.lam[r] = rows.lam[r] if rows.active[r] else 0.0
