"""The active set at an instant, the accelerations that follow, and the projection that removes drift.

    touching:   Φ ≤ ε,  neither approaching nor separating for good                             (1)
    d = -γ - (2/τ) Φ̇ - Φ/τ²,    w = J v̇ - d                                                     (2)  [Jonquet (5)]
    the rule chooses which touching rows are active; these hold w = 0 through a step            (3)
    afterwards they are projected to Φ = 0 and Φ̇ = 0 from where integration left them           (4)

The set of a rule of Platt lasts until the rule changes it after a step, and its rows are not projected. It starts
with all rows that touch, or (platt_improved) with those among them that tend to be violated.
"""

from __future__ import annotations

import numpy as np

from ..compiled import compiled, entry, inline
from ..methods.base import CONTRADICTORY, OK, TOO_MANY
from ..model.evaluate import advance_positions, clear, free_accelerations, jacobian_times, set_driven_accelerations
from .collect import add_candidates, evaluate_equalities, evaluate_inequalities, factor_equalities, gap_rates
from .coordinates import accelerate_freely, evaluate_coordinates
from .event_log import log_source_rows, record_changes
from .rows import NO, YES, ZERO
from .rules import EXACT, IMPROVED, PLATT
from .solve_contacts import project_equalities, solve_contacts
from .work import INFEASIBLE

UNLOGGED = np.int64(-1)  # number of an evaluation of the rule that the log leaves out


@inline
def is_persistent(rule):
    """Whether the active set lasts until the rule changes it after a step."""
    return rule == PLATT or rule == IMPROVED


@compiled
def evaluate_dynamics(system, ctx, t, x, quat, v):
    """All that (2) and (3) are made of: W f into work.a, targets of the equalities into ctx.eq.target, dΦ/dt and -d of
    (2) into ctx.ineq_work."""
    work, ineq, rows, target = system.work, ctx.ineq, ctx.ineq_work, ctx.eq.target
    evaluate_equalities(system, t, x, quat, v, YES)
    factor_equalities(system)
    evaluate_inequalities(system, ctx, t, x, quat, v, YES)
    free_accelerations(system, t, x, quat, v)
    set_driven_accelerations(system)
    if ctx.coordinates.used == 1:
        accelerate_freely(system, ctx, t)
    damping, stiffness = 2.0 * ctx.problem.alpha, ctx.problem.beta * ctx.problem.beta
    jacobian_times(system, work.J, v, work.mu)
    for r in range(target.shape[0]):
        feedback = damping * (work.mu[r] + work.phi_t[r]) + stiffness * work.phi[r]
        target[r] = -(work.gamma[r] + feedback)
    gap_rates(ctx, v, rows.rate)
    for r in range(rows.rate.shape[0]):
        rows.rate[r] += ineq.phi_t[r]
        rows.bias[r] = ineq.gamma[r] + damping * rows.rate[r] + stiffness * ineq.phi[r]  # (2)


@compiled
def accelerate_active(system, ctx, t, x, quat, v, lam):
    """work.a with the active rows enforced as equalities; their λ into ctx.dense.lam, in the order of rows."""
    rows, cand, log = ctx.ineq_work, ctx.candidates, ctx.events.log
    evaluate_dynamics(system, ctx, t, x, quat, v)
    count = ZERO
    for r in range(rows.active.shape[0]):
        if rows.active[r] == 1:
            rows.selected[count] = r
            cand.b[count] = rows.bias[r]
            cand.active[count] = 1
            count += 1
    add_candidates(system, ctx, quat, ZERO, count)
    logged = log.filled[0]
    solve_contacts(system, ctx, count, PLATT, system.work.a, UNLOGGED)  # all of them are equalities
    log.filled[0] = logged
    for r in range(lam.shape[0]):
        lam[r] = ctx.eq.lam[r]


@inline
def mark_touching(ctx, work):
    """(1): marks ctx.ineq_work.touching, and how far each row may sink before that is an event."""
    ineq, rows, problem, settings = ctx.ineq, ctx.ineq_work, ctx.problem, ctx.settings.events
    rounding, margin = settings.gap_rounding * problem.rounding, settings.separation_margin
    largest = 0.0
    for i in range(work.a.shape[0]):
        for c in range(3):
            largest = max(largest, abs(work.a[i, c]))
    # A row that separates so slowly comes back at once if forces press it together at all. Were that an impact, rows
    # that are loaded together but hit in turn would part and meet without end, driven by what rounding lets them sink.
    separating = max(problem.resting, (2.0 * margin * margin * rounding * largest) ** 0.5)
    for r in range(rows.touching.shape[0]):
        phi, rate = ineq.phi[r], rows.rate[r]
        near = phi <= problem.gap_tolerance and -settings.rate_tolerance <= rate <= separating
        rows.touching[r] = 1 if near else 0
        rows.g_start[r] = phi
        rows.g_tol[r] = max(-phi, 0.0) + (problem.gap_tolerance if near else rounding)


@compiled
def choose_active(system, state, ctx, t, instant):
    """(3): fill ctx.ineq_work.active, and λ and w of the touching rows."""
    rows, cand, dense, log = ctx.ineq_work, ctx.candidates, ctx.dense, ctx.events.log
    rule, tolerance = ctx.problem.rule, ctx.settings.events.acceleration_tolerance
    if ctx.coordinates.used == 1:
        evaluate_coordinates(system, state, ctx, t)
    evaluate_dynamics(system, ctx, t, state.x, state.quat, state.v)
    mark_touching(ctx, system.work)
    count = collect_touching(state, ctx)
    if count > dense.S.shape[0]:
        return TOO_MANY
    add_candidates(system, ctx, state.quat, ZERO, count)
    logged = log.filled[0]
    status = solve_contacts(system, ctx, count, rule, system.work.a, instant)
    log_source_rows(log, logged, cand)
    for i in range(count):
        r = cand.source[i]
        active = cand.active[i] == 1
        if rule == EXACT:
            pushed = dense.lam[i] * dense.S[i, i]
            active = pushed > tolerance
            if active:
                rows.g_start[r], rows.g_tol[r] = pushed, tolerance
        rows.active[r] = 1 if active else 0
        rows.lam[r] = dense.lam[i] if active or rule != EXACT else 0.0
        rows.w[r] = dense.w[i]
    return CONTRADICTORY if status & INFEASIBLE else OK


@inline
def collect_touching(state, ctx):
    """The rows among which the rule chooses become candidates; returns how many."""
    rows, cand = ctx.ineq_work, ctx.candidates
    persistent = is_persistent(ctx.problem.rule)
    count = ZERO
    for r in range(rows.active.shape[0]):
        was_active = state.contact[r, 3] == 1.0
        is_candidate = rows.touching[r] == 1
        if persistent:
            is_candidate = was_active or ctx.ineq.phi[r] <= ctx.problem.gap_tolerance
        if is_candidate:
            rows.selected[count] = r
            cand.b[count] = rows.bias[r]
            cand.active[count] = 1 if was_active else 0
            count += 1
        rows.active[r] = 0
        rows.lam[r] = 0.0
        rows.w[r] = 0.0
    return count


@entry
def initial_active_set(system, state, ctx):
    """The set that a rule of Platt starts with at t = 0: rows with Φ = 0, for platt_improved only those with w < 0."""
    rows = ctx.ineq_work
    if ctx.coordinates.used == 1:
        evaluate_coordinates(system, state, ctx, 0.0)
    evaluate_dynamics(system, ctx, 0.0, state.x, state.quat, state.v)
    if ctx.coordinates.used == 0:
        project_equalities(system, system.work.a, ctx.eq.target, ctx.eq.lam_unused)
    gap_rates(ctx, system.work.a, rows.tendency)
    for r in range(rows.active.shape[0]):
        touches = ctx.ineq.phi[r] <= ctx.problem.gap_tolerance
        tends = rows.tendency[r] + rows.bias[r] < 0.0
        rows.active[r] = 1 if touches and (ctx.problem.rule == PLATT or tends) else 0
        rows.lam[r] = 0.0
    record_changes(state, ctx, 0.0)


@compiled
def project_drift(system, state, ctx, t):
    """(4), by Newton's method."""
    for _ in range(ctx.settings.events.max_projections):
        if not project_once(system, state, ctx, t):
            return


@compiled
def project_once(system, state, ctx, t):
    """The shortest way back for positions, then velocities; equalities keep Φ and Φ̇. Returns whether it was needed."""
    ineq, cand, rows, log = ctx.ineq, ctx.candidates, ctx.ineq_work, ctx.events.log
    evaluate_inequalities(system, ctx, t, state.x, state.quat, state.v, NO)
    gap_rates(ctx, state.v, rows.rate)
    share = ctx.settings.events.drift_share
    small, slow = share * ctx.problem.gap_tolerance, share * ctx.settings.events.rate_tolerance
    count = ZERO
    drifted = False
    for r in range(rows.active.shape[0]):
        if rows.active[r] == 1:
            rows.selected[count] = r
            cand.active[count] = 1
            cand.b[count] = ineq.phi[r]
            count += 1
            rate = abs(rows.rate[r] + ineq.phi_t[r])
            drifted = drifted or abs(ineq.phi[r]) > small or rate > slow
    if not drifted:
        return False
    evaluate_equalities(system, t, state.x, state.quat, state.v, NO)
    factor_equalities(system)
    add_candidates(system, ctx, state.quat, ZERO, count)
    logged = log.filled[0]
    dv = ctx.vel.dv
    clear(dv)
    for r in range(ctx.eq.target.shape[0]):
        ctx.eq.target[r] = 0.0
    solve_contacts(system, ctx, count, PLATT, dv, UNLOGGED)
    advance_positions(system, state.x, state.quat, dv, 1.0, state.x, state.quat)
    for i in range(count):
        cand.b[i] = ineq.phi_t[cand.source[i]]
    jacobian_times(system, system.work.J, state.v, ctx.eq.target)
    solve_contacts(system, ctx, count, PLATT, state.v, UNLOGGED)
    log.filled[0] = logged
    return True
