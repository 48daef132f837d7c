"""Primal-dual interior point [Mehrotra 1992]: all limits and contacts at once, where an active set does not converge.

Each limit has a slack s and a multiplier T whose product μ falls to zero (slack.py). A heavy ball that pulls a sheet
taut changes thousands of limits in one step; this takes some 20 to 40 iterations, whatever their number. Mehrotra's
corrector also determines how fast μ falls, but μ never falls far below the residual of forces.

Once T s and all errors are within the tolerances, small T are set to zero and the step is solved. If step lengths get
too short, or deformables are compressed too far, Newton's method finishes from here with the active set found.
"""

from __future__ import annotations

from ..compiled import compiled
from ..methods.base import NOT_CONVERGED, OK
from .augmented_lagrangian import restart
from .codes import ALMOST_CONVERGED, BUCKLING, CORRECTIONS, NOT_DEFINITE
from .contact_schur import solve_with_self_contacts
from .evaluate import evaluate_all, freeze_normal_forces, largest_hard_error
from .friction import update_friction
from .linear_solve import apply_move, largest_move, update_row_multipliers
from .linear_system import residual_norm
from .newton_direction import newton_direction
from .slack import (
    affine_complementarity,
    complementarity,
    mehrotra_corrector,
    primal_dual_direction,
    set_active_by_slack,
    set_barrier_penalties,
    set_initial_slacks,
    take_primal_dual_step,
)
from .tolerances import largest_overlap, residual_tolerance, set_initial_penalties


@compiled
def interior_point(system, state, ctx, t, h):
    """Returns OK, NOT_CONVERGED, BUCKLING, or ALMOST_CONVERGED: Newton's method may end it from there."""
    tolerances, fallback = ctx.settings.tolerances, ctx.settings.fallback
    x = state.x
    self_rows = ctx.self_contact.rows
    inertial_stiffness = ctx.problem.node_mass / (h * h)
    restart(state, ctx)
    set_initial_penalties(ctx, inertial_stiffness, tolerances.hard_penalty * inertial_stiffness)
    stalls = 0
    buckling = 0
    for it in range(fallback.max_interior_iterations):
        evaluate_all(system, state, ctx, t, x)
        if it == 0:
            set_initial_slacks(ctx, inertial_stiffness)
        for r in range(ctx.self_contact.row_count[0]):
            self_rows.active[r] = self_rows.active[r] or self_rows.phi[r] > 0.0
        freeze_normal_forces(ctx)
        if it == 0:
            update_friction(state, ctx, h, 0.0, it)
        update_friction(state, ctx, h, inertial_stiffness, it)
        residual = residual_norm(ctx, x, h)
        mean, unconverged = complementarity(ctx, inertial_stiffness)
        unconverged += 1 if largest_hard_error(ctx) > 1.0 else 0
        converged = unconverged == 0 and residual <= residual_tolerance(ctx)
        if converged or stalls == fallback.max_stalls:
            set_active_by_slack(ctx, inertial_stiffness)
            return OK if converged and largest_overlap(ctx) <= tolerances.self_contact_error else ALMOST_CONVERGED
        if buckling > fallback.max_buckling_iterations:
            return BUCKLING
        if not residual < 1e100 or not mean > 0.0:
            return NOT_CONVERGED
        set_barrier_penalties(ctx, fallback.max_barrier_penalty * inertial_stiffness)
        is_small = residual < fallback.small_residual * ctx.problem.mean_edge
        coupled = newton_direction(state, ctx, h, 1.0) if is_small else NOT_DEFINITE
        if coupled == NOT_DEFINITE:
            buckling += 1 if is_small else 0
            coupled = newton_direction(state, ctx, h, 0.0)
        ctx.work.counts[CORRECTIONS] += 1
        alpha = primal_dual_direction(ctx)
        centering = min(affine_complementarity(ctx, alpha) / mean, 1.0)
        mu = max(centering**3 * mean, min(fallback.mu_floor * inertial_stiffness * residual**2, mean))
        mehrotra_corrector(ctx, mu)
        solve_with_self_contacts(ctx, coupled)
        alpha = primal_dual_direction(ctx)
        stalls = stalls + 1 if alpha < fallback.min_step_length else 0
        alpha *= min(1.0, ctx.settings.newton.max_move / max(alpha * largest_move(ctx), 1e-300))
        take_primal_dual_step(ctx, alpha)
        update_row_multipliers(ctx, True, alpha)
        apply_move(ctx, x, alpha)
    return NOT_CONVERGED
