"""Minimisation of an augmented Lagrangian with a line search, where Newton's method on all unknowns stalls.

    E(x) = Σ m |x - x*|²/2h² + Σ V(l) + Σ c (l - l₀)²/2h + Σ ψ(T₀, φ) + Σ ψ(λ₀, φ) + Σ μ λ₁ |s|      (1)
    ψ(T₀, φ) = (T² - T₀²)/2κ,    T = max(0, T₀ + κ φ),    hard edges T = T₀ + κ φ                    (2)

With T₀ and κ fixed, E is continuously differentiable and the matrix of linear_system.py is positive definite: its
solution is a descent direction, and is shortened until E has fallen. A sheet that a heavy ball pulls taut changes
hundreds of limits at once; here the active set can not cycle. Once forces balance, T₀ is set to T, and κ grows if the
errors have not fallen. l₀ is a spring's length at the start of the step; λ₁, used in Coulomb's law, is the λ for which
forces last balanced.
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..methods.base import NOT_CONVERGED, OK
from .attachments import attachments_energy
from .codes import CORRECTIONS
from .evaluate import evaluate_all, freeze_normal_forces, largest_error
from .friction import sliding, update_friction
from .linear_solve import apply_move, largest_move
from .linear_system import residual_norm
from .newton_direction import newton_direction
from .predict import copy1, copy3
from .tolerances import (
    increase_penalties,
    largest_overlap,
    length_tolerance,
    residual_tolerance,
    set_initial_penalties,
    update_multiplier_estimates,
)

ENERGY_ROUNDING = 1e-13  # of E (rounding, not a setting)


@inline
def spring_energy(springs, q, x, before, h):
    i, j = springs.i[q], springs.j[q]
    l = sqrt((x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2 + (x[i, 2] - x[j, 2]) ** 2)
    first = sqrt(
        (before[i, 0] - before[j, 0]) ** 2 + (before[i, 1] - before[j, 1]) ** 2 + (before[i, 2] - before[j, 2]) ** 2
    )
    over = max(0.0, l - (1.0 + springs.elongation2[q]) * springs.rest[q])
    total = 0.5 * springs.k[q] * (l - springs.rest[q]) ** 2 + 0.5 * springs.damping[q] * (l - first) ** 2 / h
    if over > 0.0:
        total += 0.5 * (springs.k2[q] - springs.k[q]) * over * over
    return total


@inline
def rows_energy(rows, count, x, before, creep):
    """Energy of contact rows and friction; sets λ and the active set. creep = ε h of friction.py."""
    total = 0.0
    for r in range(count):
        movable = False
        for k in range(4):
            movable = movable or rows.unknown[r, k] >= 0
        push = rows.lam_est[r] + rows.penalty[r] * rows.phi[r]
        rows.active[r] = movable and push > 0.0
        rows.lam[r] = push if rows.active[r] else 0.0
        total += 0.5 * (rows.lam[r] ** 2 - rows.lam_est[r] ** 2) / rows.penalty[r]
        if rows.friction[r] * rows.lam_frozen[r] > 0.0:
            s0, s1, s2 = sliding(rows, r, x, before)
            s = sqrt(s0 * s0 + s1 * s1 + s2 * s2)
            way = s if s > creep else 0.5 * (s * s / creep + creep)
            total += rows.friction[r] * rows.lam_frozen[r] * way
    return total


@compiled
def augmented_lagrangian(system, state, ctx, t, h):
    """(1) at state.x. Evaluates all constraints, and sets T, λ and the active set."""
    x = state.x
    edges, springs = ctx.edges, ctx.problem.springs
    total = 0.0
    for k in range(ctx.problem.slot.shape[0]):
        s = ctx.problem.slot[k]
        for c in range(3):
            total += 0.5 * ctx.problem.mass[k, c] * (x[s, c] - ctx.work.x_pred[s, c]) ** 2 / (h * h)
    for q in range(springs.rest.shape[0]):
        total += spring_energy(springs, q, x, ctx.work.x_start, h)
    evaluate_all(system, state, ctx, t, x)
    total += attachments_energy(ctx.attachments)
    for e in range(edges.i.shape[0]):
        pull = edges.lam_est[e] + edges.penalty[e] * edges.phi[e]
        edges.active[e] = (edges.active[e] and edges.stays[e]) or pull > 0.0
        edges.tension[e] = pull if edges.active[e] else 0.0
        total += 0.5 * (edges.tension[e] ** 2 - edges.lam_est[e] ** 2) / edges.penalty[e]
    creep = ctx.settings.contacts.creep_speed * h
    total += rows_energy(ctx.external, ctx.external.phi.shape[0], x, ctx.work.x_start, creep)
    return total + rows_energy(ctx.self_contact.rows, ctx.self_contact.row_count[0], x, ctx.work.x_start, creep)


@compiled
def restart(state, ctx):
    """Positions, multipliers and active set as they were before Newton's method."""
    edges, external = ctx.edges, ctx.external
    copy3(ctx.work.newton_x, state.x)
    copy1(ctx.work.newton_multipliers, ctx.memory.multipliers)
    for e in range(edges.i.shape[0]):
        edges.active[e] = not edges.one_sided[e] or edges.tension[e] > 0.0
    for r in range(external.phi.shape[0]):
        external.active[r] = external.lam[r] > 0.0
    for r in range(ctx.self_contact.row_count[0]):
        ctx.self_contact.rows.lam[r] = 0.0
        ctx.self_contact.rows.active[r] = False


@compiled
def line_search(system, state, ctx, t, h, now):
    """Backtrack along linear.dx until E has fallen. Returns E there, 1e300 where no step length is short enough."""
    fallback = ctx.settings.fallback
    rhs, dx = ctx.linear.rhs, ctx.linear.dx
    slope = 0.0
    for k in range(rhs.shape[0]):
        slope -= rhs[k, 0] * dx[k, 0] + rhs[k, 1] * dx[k, 1] + rhs[k, 2] * dx[k, 2]
    alpha = min(1.0, ctx.settings.newton.max_move / max(largest_move(ctx), 1e-300))
    taken = 0.0
    for _ in range(fallback.max_halvings):
        apply_move(ctx, state.x, alpha - taken)
        taken = alpha
        then = augmented_lagrangian(system, state, ctx, t, h)
        if then <= now + fallback.sufficient_decrease * alpha * slope + ENERGY_ROUNDING * abs(now):
            return then
        alpha *= 0.5
    return 1e300


@compiled
def minimise_augmented_lagrangian(system, state, ctx, t, h):
    """Solve (1) of linear_system.py from the start of the step. Returns OK or NOT_CONVERGED."""
    tolerances = ctx.settings.tolerances
    inertial_stiffness = ctx.problem.node_mass / (h * h)
    length_bound = length_tolerance(ctx, tolerances.limit_tolerance)
    depth_bound = length_tolerance(ctx, tolerances.depth_tolerance) * ctx.problem.mean_edge
    restart(state, ctx)
    set_initial_penalties(ctx, inertial_stiffness, tolerances.soft_penalty * inertial_stiffness)
    update_multiplier_estimates(ctx)
    freeze_normal_forces(ctx)
    now = augmented_lagrangian(system, state, ctx, t, h)
    stuck = False
    for it in range(ctx.settings.fallback.max_descents):
        balanced = residual_norm(ctx, state.x, h) <= residual_tolerance(ctx)
        if balanced or stuck:
            error = largest_error(ctx, length_bound, depth_bound)
            overlap = largest_overlap(ctx)
            if balanced and it > 0 and error <= 1.0 and overlap <= tolerances.self_contact_error:
                return OK
            update_multiplier_estimates(ctx)
            freeze_normal_forces(ctx)
            increase_penalties(ctx, inertial_stiffness, length_bound, depth_bound)
            now = augmented_lagrangian(system, state, ctx, t, h)
        update_friction(state, ctx, h, 0.0, 0)
        newton_direction(state, ctx, h, 0.0)
        ctx.work.counts[CORRECTIONS] += 1
        then = line_search(system, state, ctx, t, h, now)
        if not then < 1e300 and stuck:
            return NOT_CONVERGED
        stuck = not then < 1e300  # in a kink: with other multipliers it is elsewhere
        now = augmented_lagrangian(system, state, ctx, t, h) if stuck else then
    return NOT_CONVERGED
