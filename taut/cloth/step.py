"""The implicit Euler step of deformables: edges and contacts are enforced by multipliers, to tolerances.

    x* = x after the unconstrained part: forces alone, in small steps or one                     (1)
    M (x' - x*)/h² + Σ T u - Σ λ ω n = 0,    v' = (x' - x)/h                                     (2)
    v = v' + [v* - (x* - x)/h]   at the start of the next step                                   (3)
    hard edges   |l - L| ≤ tolerance L;      limits   l ≤ (1 + limit) L,  T ≥ 0,  one of them an equality
    contacts     gap ≥ 0,  λ ≥ 0,  one of them an equality

The bracket in (3) is the difference between the velocity after the small steps of the prediction and their mean; with
one small step it is zero. It is left out of v', so that nodes held at rest have zero velocity in records. (2) is solved
by newton.py, warm-started with the multipliers of the step before; where deformables touch each other, by
self_contact.py. A substep that does not converge, or in which a node passed through an obstacle, is repeated with half
the length.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import types

from ..compiled import compiled, inline, on_demand
from ..methods.base import EVENTS_FULL, NOT_CONVERGED, OK, PAIRS_FULL
from ..model import arrays
from .codes import (
    ADAMS_BASHFORTH,
    CORRECTIONS,
    FACTORS,
    FORCE_BEFORE,
    STEP_START,
    SUBSTEP_SIZE,
    SUBSTEP_START,
    SUBSTEPS_TO_GROWTH,
)
from .constraint_errors import ROUNDING, recovery_of, set_edge_targets
from .contact_events import (
    add_impulses,
    add_pair_impulses,
    begin_impulses,
    is_nearly_full,
    record_external,
    record_pairs,
)
from .dissipation import accumulate_force_work, accumulate_losses
from .evaluate import set_driven_bodies
from .external_contact import evaluate_external
from .linear_solve import restore_mass_centres
from .newton import solve_step
from .optional_solvers import LENGTH_PROJECTION, SELF_CONTACT, call_solver
from .predict import copy1, copy3, copy4, predict
from .records import accumulate_driver_work
from .release import bound_velocities, find_flat_faces, release_outside, release_separating
from .rigid_coupling import clear_rotations, finish_rotations


@compiled
def set_contact_targets(system, state, ctx, t, h, recovery):
    """Set the depth that this substep may leave: of a depth at its start the fraction `recovery` is corrected.

    Separating contacts are released, if their rule says so.
    """
    rows = ctx.external
    for r in range(rows.phi.shape[0]):
        rows.depth_allowed[r] = 0.0
    radius, x_scratch, edge = ctx.problem.contact_radius, ctx.work.x_trial, ctx.problem.mean_edge
    find_flat_faces(system, state, ctx.ineq, rows, ctx.release, radius, t, ctx.work.x_start, x_scratch, edge)
    evaluate_external(system, state, ctx, t, ctx.work.x_start)
    release_separating(system.places, ctx.ineq, rows, ctx.release, ctx.work.v_pred, ROUNDING * edge / h)
    depth_tol = ctx.settings.tolerances.depth_tolerance * ctx.problem.mean_edge
    for r in range(rows.phi.shape[0]):
        rows.depth_allowed[r] = (1.0 - recovery) * max(rows.phi[r], 0.0)
        rows.tol[r] = max(depth_tol - rows.depth_allowed[r], 0.5 * recovery * depth_tol)
        for c in range(3):
            rows.n0[r, c] = rows.n[r, c]


@on_demand(types.boolean)
def passes_through_obstacle(system, state, ctx, t):
    """Whether a node passed through an obstacle within the substep, or ended on its wrong side."""
    rows, x_between = ctx.external, ctx.work.x_trial
    for k in range(1, 5):
        for i in range(x_between.shape[0]):
            for c in range(3):
                x_between[i, c] = ctx.work.x_start[i, c] + 0.25 * k * (state.x[i, c] - ctx.work.x_start[i, c])
        evaluate_external(system, state, ctx, t, x_between)
        for r in range(rows.phi.shape[0]):
            if rows.phi[r] > ctx.settings.newton.passing_depth * ctx.problem.mean_edge or rows.active[r]:
                turned = rows.n[r, 0] * rows.n0[r, 0] + rows.n[r, 1] * rows.n0[r, 1] + rows.n[r, 2] * rows.n0[r, 2]
                if turned < 0.5 or (k < 4 and not rows.active[r]):
                    return True
    return False


@inline
def deactivate_unloaded(ctx):
    """Between steps, deactivate all rows without a positive multiplier.

    By the paper's rule limits are released here only, when their multiplier resists shrinkage.
    """
    edges, rows = ctx.edges, ctx.external
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            edges.active[e] = edges.active[e] and edges.tension[e] > 0.0
            edges.tension[e] = edges.tension[e] if edges.active[e] else 0.0
    for r in range(rows.phi.shape[0]):
        rows.active[r] = rows.active[r] and rows.lam[r] > 0.0
        rows.lam[r] = rows.lam[r] if rows.active[r] else 0.0


@inline
def activate_loaded(ctx):
    """The active set at the start of a substep."""
    edges, rows = ctx.edges, ctx.external
    for e in range(edges.i.shape[0]):
        edges.active[e] = not edges.one_sided[e] or edges.tension[e] > 0.0
    for r in range(rows.phi.shape[0]):
        rows.active[r] = rows.lam[r] > 0.0


@compiled
def substep(system, state, ctx, t, h):
    """One implicit Euler step from t to t + h. Returns a status."""
    x, slot = state.x, ctx.problem.slot
    x_start, x_pred = ctx.work.x_start, ctx.work.x_pred
    copy3(x, x_start)
    predict(system, state, ctx, t, h)
    recovery, limit = recovery_of(ctx.settings.tolerances, h), ctx.settings.tolerances.limit_tolerance
    set_edge_targets(ctx.edges, x_start, recovery, ctx.problem.tolerance, ctx.problem.paper_rule, limit)
    set_contact_targets(system, state, ctx, t, h, recovery)
    set_driven_bodies(system, state, t + h, x)
    x_scratch, edge = ctx.work.x_trial, ctx.problem.mean_edge
    radius, rules = ctx.problem.contact_radius, ctx.release
    bound_velocities(system, state, ctx.ineq, ctx.external, rules, radius, t + h, (x_start, x, x_scratch), edge)
    for k in range(slot.shape[0]):
        s = slot[k]
        for c in range(3):
            x[s, c] += h * state.v[s, c]
    clear_rotations(ctx.rotations, x)
    if ctx.problem.projects == 1 and ctx.attachments.row.shape[0] == 0:
        status = call_solver(ctx.solvers.length_projection, LENGTH_PROJECTION, (system, state, ctx, t + h, h))
    elif ctx.problem.has_self_contact == 1:
        status = call_solver(ctx.solvers.self_contact, SELF_CONTACT, (system, state, ctx, t + h, h))
    else:
        status = solve_step(system, state, ctx, t + h, h)
    if status != OK:
        return status
    if ctx.external.phi.shape[0] > 0 and passes_through_obstacle(system, state, ctx, t + h):
        return NOT_CONVERGED
    if ctx.external.phi.shape[0] == 0 and ctx.problem.has_self_contact == 0:
        restore_mass_centres(ctx, x)
    for k in range(slot.shape[0]):
        s = slot[k]
        for c in range(3):
            state.v[s, c] = (x[s, c] - x_start[s, c]) / h  # (2)
            ctx.memory.velocity_offset[s, c] = ctx.work.v_pred[s, c] - (x_pred[s, c] - x_start[s, c]) / h  # (3)
    finish_rotations(state, ctx, h)
    accumulate_losses(system, state, ctx, h)
    deactivate_unloaded(ctx)
    accumulate_force_work(system, state, t + h, h)
    add_impulses(ctx.external, ctx.impulses, h)
    release_outside(ctx.external, rules)
    return add_pair_impulses(state, ctx.self_contact.rows, ctx.self_contact.row_count[0], h)


@inline
def max_substeps(ctx):
    """Substeps of a step at most: a power of two, since they are halved."""
    return np.int64(1) << ctx.settings.newton.max_step_halvings


@inline
def longest_substep(state, ctx, h):
    """The longest substep, in units of h / max_substeps, in which no node moves by more than a fraction of the smallest
    ball nor, where deformables may touch, by many edge lengths: the broad phase would find too many pairs."""
    settings = ctx.settings.newton
    count = ctx.linear.nodes.order.shape[0]
    node = 0.0
    ball = 0.0
    for k in range(ctx.problem.slot.shape[0]):
        s = ctx.problem.slot[k]
        speed = ctx.problem.length_scale[k] ** 2 * (state.v[s, 0] ** 2 + state.v[s, 1] ** 2 + state.v[s, 2] ** 2)
        if k < count:
            node = max(node, speed)
        else:
            ball = max(ball, speed)
    units = max_substeps(ctx)  # of the shortest substep in a step
    size = units
    ball_travel = settings.max_ball_travel * ctx.problem.smallest_ball * units
    while size > 1 and (sqrt(node) + sqrt(ball)) * h * size > ball_travel:
        size //= 2
    travel = settings.max_travel * ctx.problem.mean_edge * units
    while ctx.problem.has_self_contact == 1 and size > 1 and sqrt(node) * h * size > travel:
        size //= 2
    return size


@inline
def history_in_use(ctx):
    """How much of memory.history is in use: forces of the substep before are for Adams-Bashforth alone."""
    return ctx.memory.history.shape[0] if ctx.problem.prediction == ADAMS_BASHFORTH else FORCE_BEFORE


@on_demand(types.none)
def save_state(state, ctx, k):
    """Keep the state under the number k: STEP_START or SUBSTEP_START."""
    saved = ctx.work.saved[k]
    copy3(state.x, saved[0])
    copy3(state.v, saved[1])
    copy3(ctx.memory.velocity_offset, saved[2])
    copy4(state.quat, ctx.work.saved_quat[k])
    copy1(state.ledger, ctx.work.saved_ledger[k])
    copy1(ctx.memory.multipliers, ctx.work.saved_multipliers[k])
    for i in range(history_in_use(ctx)):
        ctx.work.saved_history[k, i] = ctx.memory.history[i]


@on_demand(types.none)
def restore_state(state, ctx, k):
    """Go back to the state that was kept under the number k."""
    saved = ctx.work.saved[k]
    copy3(saved[0], state.x)
    copy3(saved[1], state.v)
    copy3(saved[2], ctx.memory.velocity_offset)
    copy4(ctx.work.saved_quat[k], state.quat)
    copy1(ctx.work.saved_ledger[k], state.ledger)
    copy1(ctx.work.saved_multipliers[k], ctx.memory.multipliers)
    for i in range(history_in_use(ctx)):
        ctx.memory.history[i] = ctx.work.saved_history[k, i]


@compiled
def advance_adaptive(system, state, ctx, t, h):
    """A step in substeps as long as converge; the next step begins with the last length."""
    history = ctx.memory.history
    max_size = longest_substep(state, ctx, h)
    size = min(int(history[SUBSTEP_SIZE]), max_size) if history[SUBSTEP_SIZE] > 0.0 else max_size
    units = max_substeps(ctx)  # of the shortest substep in a step
    done = 0
    ctx.work.substeps[0] = 0
    while done < units:
        dt, now = h * size / units, t + h * done / units
        if done > 0:
            save_state(state, ctx, SUBSTEP_START)
        activate_loaded(ctx)
        status = substep(system, state, ctx, now, dt)
        if status == OK:
            done += size
            ctx.work.substeps[0] += 1
            history[SUBSTEPS_TO_GROWTH] = max(history[SUBSTEPS_TO_GROWTH] - 1.0, 0.0)
            if history[SUBSTEPS_TO_GROWTH] == 0.0 and done % (2 * size) == 0 and 2 * size <= max_size:
                size *= 2
            continue
        if status >= PAIRS_FULL or size == 1:  # more capacity, or a solver, is missing; or there is nothing to halve
            return status
        restore_state(state, ctx, SUBSTEP_START if done > 0 else STEP_START)
        set_driven_bodies(system, state, now, state.x)
        size //= 2
        history[SUBSTEPS_TO_GROWTH] = ctx.settings.newton.substeps_before_growth
    history[SUBSTEP_SIZE] = size
    return OK


@compiled
def advance(system, state, ctx, t, h):
    """The step from t to t + h, with λ of hard edges and pins into state.lam; a failure leaves x, v as they were."""
    work = system.work
    save_state(state, ctx, STEP_START)
    ctx.work.dt[0] = h
    status = advance_adaptive(system, state, ctx, t, h)
    if status != OK:
        restore_state(state, ctx, STEP_START)
        if status == PAIRS_FULL:
            set_driven_bodies(system, state, t, state.x)
            return status
    set_driven_bodies(system, state, t + h, state.x)
    for e in range(ctx.problem.hard_row.shape[0]):
        state.lam[ctx.problem.hard_row[e]] = -ctx.edges.tension[e]
    for p in range(ctx.attachments.row.shape[0]):
        for c in range(3):
            state.lam[ctx.attachments.row[p] + c] = -ctx.attachments.force[p, c]
    work.counts[arrays.LINEAR_SOLVES] += ctx.work.counts[FACTORS]
    work.counts[arrays.CORRECTIONS] += ctx.work.counts[CORRECTIONS]
    ctx.work.counts[FACTORS], ctx.work.counts[CORRECTIONS] = 0, 0
    return status


@compiled
def step(system, state, t, h, ctx):
    if is_nearly_full(ctx.events):
        return EVENTS_FULL
    begin_impulses(state, ctx.impulses)
    status = advance(system, state, ctx, t, h)
    if status == OK:
        accumulate_driver_work(system, state, t + h, h)
        record_external(ctx.external, ctx.events, ctx.impulses, t + h)
        record_pairs(state, ctx.events, ctx.external.phi.shape[0], t + h)
    return status
