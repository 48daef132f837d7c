"""Time stepping with inequalities: complementarity between λ and the linearised Φ at the end of a fixed step.

    v' = v + h W (f + J_eᵀ λ_e + Jᵀ λ),    q' = q ⊞ h v'                                        (1)
    Φ_e + J_e (q' - q) + h Φ_e,t = 0                                                           (2)
    Φ + J (q' - q) + h Φ_t ≥ 0,    λ ≥ 0,    one of them zero in each row                       (3)
    friction: |λ_t| ≤ μ λ, against the slip velocity at the new time                            (4)
    Φ(q') < 0 (Φ is curved): (1)-(3) again for a correction of v' and q'                        (5)
    restitution: v' from the impact law for rows that came to touch and approached (restitution.py)  (6)
    groups with a broad phase, where more than some 300 rows may touch: "≥ -c λ" in (3), c = 0.001 J W Jᵀ  (7)
    fast_projection:  Φ(q₀) + J(q₀) (q' - q₀) in (2) and (3),   q₀ = q ⊞ h (v + h W f), at t + h   (8)

Nothing is rewound: a body that would pass through in a step is stopped where it touches. Distances from convex
shapes are convex, so (3) keeps Φ(q') ≥ 0 for them; (5) does it for ropes and for the inside of shapes.

Without friction a pile at rest has hardly more contacts than it needs, and hard ones pass on their forces through
all of it: with (7) the cost of a step is bounded. A contact at rest then overlaps by h c λ, for balls that carry ten
of their kind 0.01 h² g: 2.5 µm at a step of 5 ms. Balls and walls of such a group are compliant, conditions with names
are not.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from ..methods.base import CONTRADICTORY, EVENTS_FULL, NOT_CONVERGED, OK
from ..methods.unconstrained import AB2, extrapolate
from ..model.arrays import CORRECTIONS, DRIVER_WORK, FORCE_WORK, FRICTION_LOSS
from ..model.evaluate import (
    add_scaled,
    advance_positions,
    clear,
    copy,
    evaluate_forces,
    jacobian_times,
    kick,
    largest,
    power_against_forces,
    set_time,
)
from .active_set import UNLOGGED
from .broad_phase import add_pair_candidates, deepest_overlap, update_pairs
from .collect import (
    add_candidates,
    choose_charts,
    evaluate_equalities,
    evaluate_inequalities,
    factor_equalities,
    gap_rates,
)
from .dissipation import accumulate_friction_loss, accumulate_impact_loss, has_impacts
from .driver_work import add_driver_work, equality_work
from .event_log import (
    impulses_of_step,
    log_source_rows,
    next_instant,
    record_active_set,
    record_inelastic,
    store_active_pairs,
    write_impulses,
    write_multipliers,
)
from .restitution import apply_restitution
from .rows import NO, YES, ZERO, add_impulses
from .solve_contacts import solve_contacts
from .work import INFEASIBLE


@inline
def max_speed(v, slots):
    worst = 0.0
    for i in range(slots):
        worst = max(worst, v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
    return worst**0.5


@inline
def select_row(ctx, state, n, count, r, h, drift):
    """Row r becomes candidate n: b of (3), and λ of the last step as the warm start."""
    cand, ineq = ctx.candidates, ctx.ineq
    ctx.ineq_work.selected[count] = r
    ctx.ineq_work.active[r] = 1
    cand.b[n] = ineq.phi[r] / h + drift * ineq.phi_t[r]
    for c in range(3):
        cand.lam[n, c] = h * state.contact[r, c]
    cand.active[n] = 1 if state.contact[r, 0] > 0.0 else 0


@compiled
def collect_candidates(system, state, ctx, v, h):
    """Rows that may come to touch within the step become candidates; returns how many."""
    ineq, rows = ctx.ineq, ctx.ineq_work
    settings = ctx.settings.steps
    reach = settings.candidate_reach * h * max_speed(v, system.bodies.slots) + ctx.problem.gap_tolerance
    gap_rates(ctx, v, rows.rate)
    n = ZERO
    for r in range(rows.active.shape[0]):
        rows.active[r] = 0
        ahead = ineq.phi[r] + h * (rows.rate[r] + ineq.phi_t[r])
        if (ahead <= reach and ineq.phi[r] <= settings.candidate_gap * reach) or state.contact[r, 0] > 0.0:
            select_row(ctx, state, n, n, r, h, 1.0)
            n += 1
    add_candidates(system, ctx, state.quat, ZERO, n)
    if ineq.ball_slot.shape[0] > 0:
        n = add_pair_candidates(state, ctx, n, v, h, reach)
    return n


@compiled
def add_missed(system, state, ctx, n, v, h):
    """Rows that were no candidates and that v' violates all the same; returns the new number."""
    ineq, rows = ctx.ineq, ctx.ineq_work
    gap_rates(ctx, v, rows.rate)
    count = ZERO
    for r in range(rows.active.shape[0]):
        ahead = ineq.phi[r] + h * (rows.rate[r] + ineq.phi_t[r])
        if rows.active[r] == 0 and ahead < -ctx.problem.gap_tolerance:
            select_row(ctx, state, n + count, count, r, h, 1.0)
            count += 1
    if count == 0:
        return n
    return add_candidates(system, ctx, state.quat, n, count)


@inline
def store_multipliers(ctx, state, n, h):
    """λ of the candidates into the state; all others are zero."""
    for r in range(state.contact.shape[0]):
        for c in range(3):
            state.contact[r, c] = 0.0
    for k in range(state.pair_count[0]):
        for c in range(3):
            state.pair_lam[k, c] = 0.0
    for i in range(n):
        source = ctx.candidates.source[i]
        for c in range(3):
            if source >= 0:
                state.contact[source, c] = ctx.candidates.lam[i, c] / h
            else:
                state.pair_lam[-1 - source, c] = ctx.candidates.lam[i, c] / h


@compiled
def constraint_violation(system, state, ctx, t):
    """The largest |Φ| of equalities and depth of inequalities, but for contacts that were compliant."""
    ineq = ctx.ineq
    evaluate_equalities(system, t, state.x, state.quat, state.v, NO)
    evaluate_inequalities(system, ctx, t, state.x, state.quat, state.v, NO)
    error = largest(system.work.phi)
    compliant = ctx.pairs.is_compliant[0] == 1
    for r in range(ctx.ineq_work.lam.shape[0]):
        if not (compliant and ctx.problem.in_group[r] == 1):
            error = max(error, -ineq.phi[r])
    if ineq.ball_slot.shape[0] > 0 and not compliant:
        error = max(error, deepest_overlap(state, ctx))
    return error


@compiled
def collect_active(system, state, ctx, h):
    """Rows with λ > 0, or violated, at the new configuration become candidates, with their λ so far."""
    ineq = ctx.ineq
    n = ZERO
    for r in range(state.contact.shape[0]):
        if state.contact[r, 0] > 0.0 or ineq.phi[r] < ctx.problem.gap_tolerance:
            select_row(ctx, state, n, n, r, h, 0.0)
            n += 1
    add_candidates(system, ctx, state.quat, ZERO, n)
    if ineq.ball_slot.shape[0] > 0:
        n = add_pair_candidates(state, ctx, n, ctx.vel.zero, h, ctx.problem.gap_tolerance)
    return n


@inline
def negate_multipliers(cand, n):
    for i in range(n):
        for c in range(3):
            cand.lam[i, c] = -cand.lam[i, c]


@on_demand(types.none)
def solve_correction(system, state, ctx, h, with_energies):
    """One correction of (5): its velocity into ctx.vel.dv, its λ added to the state; `with_energies`: also its work and
    losses to the ledger."""
    eq, cand, log, dv = ctx.eq, ctx.candidates, ctx.events.log, ctx.vel.dv
    n = collect_active(system, state, ctx, h)
    # The λ of the step is part of v' already: take it out, and find it again.
    clear(dv)
    negate_multipliers(cand, n)
    add_impulses(cand, n, system.bodies.inverse_mass, dv)
    negate_multipliers(cand, n)
    for r in range(eq.target.shape[0]):
        eq.target[r] = -system.work.phi[r] / h
    factor_equalities(system)
    with_work = ctx.problem.accumulates_work == 1 and with_energies
    with_friction = ctx.problem.friction == 1 and with_energies
    if with_work:
        add_driver_work(system, state, ctx, n, -1.0, YES)
    if with_friction:
        accumulate_friction_loss(state, ctx, n, -1.0)
    logged = log.filled[0]
    solve_contacts(system, ctx, n, ctx.problem.rule, dv, UNLOGGED)
    log.filled[0] = logged
    if with_work:
        add_driver_work(system, state, ctx, n, 1.0, YES)
        state.ledger[DRIVER_WORK] += equality_work(system, state, eq.lam)
    if with_friction:
        accumulate_friction_loss(state, ctx, n, 1.0)
    for r in range(eq.lam.shape[0]):
        state.lam[r] += eq.lam[r] / h
    store_multipliers(ctx, state, n, h)


@compiled
def correct_positions(system, state, ctx, t, h, tolerance, had_impact):
    """(5): q' and v' of a step of h that ends at t.

    After an impact v' is not the way (q' - q) / h: then only q' is corrected.
    """
    error = 0.0
    for _ in range(ctx.settings.steps.max_corrections):
        error = constraint_violation(system, state, ctx, t)
        if not error > tolerance:
            return OK
        if not error < 1e100:
            return NOT_CONVERGED
        solve_correction(system, state, ctx, h, not had_impact)
        dv = ctx.vel.dv
        if not had_impact:
            add_scaled(state.v, 1.0, dv, state.v)
        advance_positions(system, state.x, state.quat, dv, h, state.x, state.quat)
        system.work.counts[CORRECTIONS] += 1
    accepted = ctx.settings.steps.accepted_error * tolerance
    return OK if ctx.problem.residual_accepted == 1 or error < accepted else NOT_CONVERGED


@compiled
def predict(system, state, ctx, t, h):
    """Evaluate all constraints at t, and v + h W f into ctx.vel.v_pred: (1) without λ."""
    evaluate_equalities(system, t, state.x, state.quat, state.v, NO)
    evaluate_inequalities(system, ctx, t, state.x, state.quat, state.v, NO)
    evaluate_forces(system, t, state.x, state.quat, state.v)
    if ctx.problem.integrator == AB2:
        extrapolate(system, state.memory)
    copy(state.v, ctx.saved.v)
    kick(system, state.v, h, ctx.vel.v_pred)
    if ctx.problem.projected == 1:
        linearise_ahead(system, state, ctx, t + h, h)
    factor_equalities(system)


@compiled
def linearise_ahead(system, state, ctx, t, h):
    """(8): J at q₀, which an unconstrained step reaches at t, and the Φ from which it would lead to Φ(q₀)."""
    work, ineq, v_pred = system.work, ctx.ineq, ctx.vel.v_pred
    copy(state.x, work.x1)
    copy(state.quat, work.quat1)
    advance_positions(system, state.x, state.quat, v_pred, h, work.x1, work.quat1)
    evaluate_equalities(system, t, work.x1, work.quat1, v_pred, NO)
    evaluate_inequalities(system, ctx, t, work.x1, work.quat1, v_pred, NO)
    jacobian_times(system, work.J, v_pred, work.b)
    for r in range(work.b.shape[0]):
        if system.rows.at_velocity[r] == 0:
            work.phi[r] -= h * (work.b[r] + work.phi_t[r])
    gap_rates(ctx, v_pred, ctx.ineq_work.rate)
    for r in range(ineq.phi.shape[0]):
        ineq.phi[r] -= h * (ctx.ineq_work.rate[r] + ineq.phi_t[r])


@compiled
def solve_velocity(system, state, ctx, t, h):
    """(2)-(4): v' into state.v and λ into the state; returns the number of candidates, or a status with a minus."""
    work, eq, log, v_pred = system.work, ctx.eq, ctx.events.log, ctx.vel.v_pred
    for r in range(eq.target.shape[0]):
        eq.target[r] = -(work.phi[r] / h + work.phi_t[r])  # (2)
    n = collect_candidates(system, state, ctx, v_pred, h)
    status = 0
    logged = log.filled[0]
    instant = next_instant(ctx.events, t)
    for _ in range(ctx.settings.steps.max_candidate_rounds):
        copy(v_pred, state.v)
        status = solve_contacts(system, ctx, n, ctx.problem.rule, state.v, instant)  # (3), (4)
        more = add_missed(system, state, ctx, n, state.v, h)
        if more == n:
            break
        n = more
    log_source_rows(log, logged, ctx.candidates)
    if status & INFEASIBLE:
        return -CONTRADICTORY
    for r in range(eq.lam.shape[0]):
        state.lam[r] = eq.lam[r] / h
    store_active_pairs(ctx, state)
    store_multipliers(ctx, state, n, h)
    return n


@compiled
def step(system, state, t, h, ctx):
    problem, ledger = ctx.problem, state.ledger
    if ctx.events.filled[0] > ctx.events.ints.shape[0] // 2:
        return EVENTS_FULL
    ctx.pairs.compliance[0] = ctx.settings.sweeps.compliance  # (7)
    choose_charts(system, state, ctx)
    predict(system, state, ctx, t, h)
    if ctx.ineq.ball_slot.shape[0] > 0:
        status = update_pairs(state, ctx, max_speed(ctx.vel.v_pred, system.bodies.slots), h)
        if status != OK:
            return status
    n = solve_velocity(system, state, ctx, t, h)
    if n < 0:
        return -n
    if problem.accumulates_work == 1:
        ledger[DRIVER_WORK] += h * power_against_forces(system, state.v)
        ledger[FORCE_WORK] += h * system.work.power[0]
    work_before, friction_before = ledger[DRIVER_WORK], ledger[FRICTION_LOSS]
    if problem.accumulates_work == 1:
        add_driver_work(system, state, ctx, n, 1.0, YES)
        ledger[DRIVER_WORK] += equality_work(system, state, ctx.eq.lam)
    if problem.friction == 1:
        accumulate_friction_loss(state, ctx, n, 1.0)
    has_impact = has_impacts(ctx, n, h)
    advance_positions(system, state.x, state.quat, state.v, h, state.x, state.quat)  # (1)
    set_time(system, t + h, state.x, state.quat, state.v)
    first = ctx.events.filled[0]
    record_active_set(state, ctx, t + h)
    had_impact = problem.restitution == 1 and apply_restitution(system, state, ctx, t + h, h, n)  # (6)
    if had_impact:  # corrections of q' alone give no impulse
        write_impulses(state, ctx, first)
    elif has_impact:
        record_inelastic(ctx, t + h, n, h)
    status = correct_positions(system, state, ctx, t + h, h, problem.tolerance, had_impact)
    if not had_impact and ctx.events.filled[0] > first:
        impulses_of_step(state, ctx, h)
        write_impulses(state, ctx, first)
    if has_impact:
        driver_work, friction_loss = ledger[DRIVER_WORK] - work_before, ledger[FRICTION_LOSS] - friction_before
        accumulate_impact_loss(system, state, ctx, h, driver_work, friction_loss)
    return status


@compiled
def observe(system, state, t, ctx, lam):
    """λ of the step that led here."""
    for r in range(ctx.ineq_work.lam.shape[0]):
        ctx.ineq_work.lam[r] = state.contact[r, 0]
    write_multipliers(ctx, state.lam, lam)
