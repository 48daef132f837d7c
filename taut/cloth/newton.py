"""Newton's method with an active set, until all errors are within their tolerances and forces balance.

Limits and contacts start with a soft penalty κ, so that the active set converges; where multipliers have converged and
an error is left, κ grows. Most steps take two or three iterations. If the active set of limits goes on changing, the
step is solved by the interior point (interior_point.py). If limits are released between steps alone (the paper's rule),
or there are contacts alone, it is solved by the augmented Lagrangian (augmented_lagrangian.py). If that fails too, the
step is repeated in shorter substeps (step.py).
"""

from __future__ import annotations

from ..compiled import compiled
from ..methods.base import NOT_CONVERGED, OK, PAIRS_FULL
from .attachments import update_attachment_multipliers
from .augmented_lagrangian import restart
from .codes import ALMOST_CONVERGED, BUCKLING, CORRECTIONS, NOT_DEFINITE
from .evaluate import activate, evaluate_all, freeze_normal_forces, largest_error
from .friction import clear_normal_force, has_friction, normal_force_change, update_friction
from .linear_solve import apply_move, largest_move, update_edge_multipliers, update_row_multipliers
from .linear_system import residual_norm
from .newton_direction import newton_direction
from .optional_solvers import AUGMENTED_LAGRANGIAN, INTERIOR_POINT, call_solver
from .predict import copy1, copy3
from .tolerances import (
    increase_penalties,
    largest_overlap,
    length_tolerance,
    residual_tolerance,
    set_initial_penalties,
    update_multiplier_estimates,
)


@compiled
def newton(system, state, ctx, t, h, iterations):
    """Solve (2) of step.py from state.x. Returns OK, NOT_CONVERGED or BUCKLING."""
    settings, tolerances = ctx.settings.newton, ctx.settings.tolerances
    x = state.x
    inertial_stiffness = ctx.problem.node_mass / (h * h)
    set_initial_penalties(ctx, inertial_stiffness, tolerances.hard_penalty * inertial_stiffness)
    length_bound = length_tolerance(ctx, tolerances.limit_error)
    depth_bound = length_tolerance(ctx, tolerances.contact_error) * ctx.problem.mean_edge
    update_multiplier_estimates(ctx)
    changes = 0
    rows = ctx.edges.i.shape[0] + ctx.external.phi.shape[0]
    changes_allowed = rows / settings.rows_per_change
    buckles = False
    next_trial = 0
    exact_limits = ctx.problem.has_limits == 1 and ctx.problem.paper_rule == 0
    interior_point_next = iterations == settings.max_with_active_set and exact_limits
    for it in range(iterations):
        evaluate_all(system, state, ctx, t, x)
        error = largest_error(ctx, length_bound, depth_bound)
        overlap = largest_overlap(ctx)
        entered = activate(ctx, length_bound, depth_bound)
        if ctx.work.friction_frozen[0] == 0:
            freeze_normal_forces(ctx)
        if ctx.work.friction_frozen[0] == 1 or it == 0:
            update_friction(state, ctx, h, 0.0, it)
        if ctx.work.friction_frozen[0] == 0:
            update_friction(state, ctx, h, inertial_stiffness, it)
        tolerance = residual_tolerance(ctx) * (settings.buckling_tolerance if buckles else 1.0)
        balanced = residual_norm(ctx, x, h) <= tolerance and it > 0
        if balanced and error <= 1.0 and overlap <= tolerances.self_contact_error and entered == 0:
            return OK
        if it >= settings.active_set_iterations and interior_point_next and changes + entered > 2 + changes_allowed:
            return NOT_CONVERGED
        changes_allowed *= settings.changes_decay if it >= settings.active_set_iterations else 1.0
        steady = it > 2 and changes + entered <= 2 + rows // 500
        if steady or (balanced and changes + entered <= 2 + rows // 50):
            update_multiplier_estimates(ctx)
            increase_penalties(ctx, inertial_stiffness, length_bound, depth_bound)
        tried_indefinite = steady and it >= next_trial
        if tried_indefinite:
            buckles = newton_direction(state, ctx, h, 1.0) == NOT_DEFINITE
            next_trial = it + (settings.trial_interval if buckles else 1)
        buckles = buckles and steady
        if buckles or not tried_indefinite:
            newton_direction(state, ctx, h, 0.0)
        move_size = largest_move(ctx)
        alpha = min(1.0, settings.max_move / max(move_size, 1e-300))
        changes = update_edge_multipliers(ctx, alpha)
        update_attachment_multipliers(ctx, alpha)
        changes += update_row_multipliers(ctx, False, alpha) + update_row_multipliers(ctx, True, alpha)
        apply_move(ctx, x, alpha)
        ctx.work.counts[CORRECTIONS] += 1
        if not move_size < 1e100:
            return NOT_CONVERGED
    return BUCKLING if buckles else NOT_CONVERGED


@compiled
def friction_fixed_point(system, state, ctx, t, h):
    """Fixed-point iteration on friction: each round uses the λ of the previous round, the first one none.

    Where a heavy ball presses light nodes against the floor, friction is hundreds of times their weight. If λ in
    Coulomb's bound changed in each Newton iteration, the nodes would oscillate; with a fixed λ per round they converge.
    """
    settings = ctx.settings.newton
    external, self_rows = ctx.external, ctx.self_contact.rows
    external_count, self_count = external.phi.shape[0], ctx.self_contact.row_count[0]
    restart(state, ctx)
    clear_normal_force(external, external_count)
    clear_normal_force(self_rows, self_count)
    ctx.work.friction_frozen[0] = 1
    status = NOT_CONVERGED
    for _ in range(settings.max_friction_rounds):
        iterations = settings.max_iterations
        status = newton(system, state, ctx, t, h, iterations)
        if status != OK:
            break
        change = max(normal_force_change(external, external_count), normal_force_change(self_rows, self_count))
        if change <= settings.friction_tolerance:
            break
        freeze_normal_forces(ctx)
    ctx.work.friction_frozen[0] = 0
    return status


@compiled
def solve_step(system, state, ctx, t, h):
    """Solve the step; if Newton's method stalls, fall back to the interior point, then to the augmented Lagrangian,
    then to fixed-point iteration on friction. Returns OK or NOT_CONVERGED."""
    settings = ctx.settings.newton
    external = ctx.external
    external_count = external.phi.shape[0]
    copy3(state.x, ctx.work.newton_x)
    copy1(ctx.memory.multipliers, ctx.work.newton_multipliers)
    set_may_change = external_count + ctx.self_contact.row_count[0] > 0 or ctx.problem.has_limits == 1
    iterations = settings.max_with_active_set if set_may_change else settings.max_iterations
    status = newton(system, state, ctx, t, h, iterations)
    exact_limits = ctx.problem.has_limits == 1 and ctx.problem.paper_rule == 0
    if status == NOT_CONVERGED and exact_limits:
        status = call_solver(ctx.solvers.interior_point, INTERIOR_POINT, (system, state, ctx, t, h))
        if status == ALMOST_CONVERGED:
            status = newton(system, state, ctx, t, h, settings.max_after_interior_point)
    # For hard edges, and after a failure of the interior point, shorter substeps are the quicker way.
    if status != OK and set_may_change and not exact_limits:
        status = call_solver(ctx.solvers.augmented_lagrangian, AUGMENTED_LAGRANGIAN, (system, state, ctx, t, h))
    if status >= PAIRS_FULL:  # no solver was prepared
        return status
    # So they are for springs that buckle, as long as there are any shorter ones.
    if status == BUCKLING and exact_limits and h > settings.short_substep * ctx.work.dt[0]:
        return NOT_CONVERGED
    self_rows, self_count = ctx.self_contact.rows, ctx.self_contact.row_count[0]
    if status != OK and (has_friction(external, external_count) or has_friction(self_rows, self_count)):
        status = friction_fixed_point(system, state, ctx, t, h)
    return NOT_CONVERGED if status == BUCKLING else status
