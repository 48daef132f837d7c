"""Event-driven steps, cut at every activation, release and impact.

    a step ends at its first event (event_location.py), and the rest of it follows              (1)
    rows that touch and approach there have an impact                                           (2)

Between events the active rows (active_set.py) are enforced as equalities by the method's own step. With a rule of Platt
nothing is rewound and nothing has impacts: its set is changed after the step, as printed. One compiled step serves all
methods: it calls theirs.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from ..methods.base import CONTRADICTORY, EVENTS_FULL, OK, STUCK, TOO_MANY
from ..model.arrays import DRIVER_WORK, IMPACT_LOSS
from ..model.evaluate import begin_step, copy_state, copy_vector
from .active_set import UNLOGGED, choose_active, is_persistent, project_drift
from .collect import (
    add_candidates,
    choose_charts,
    evaluate_equalities,
    evaluate_inequalities,
    factor_equalities,
    gap_rates,
)
from .coordinates import evaluate_coordinates, keep_rates, own_energy, total_kinetic_energy
from .driver_work import add_driver_work, equality_work
from .event_location import integrate, locate_event, project_state
from .event_log import events_of_steps, forget_steps, next_instant, record_changes, record_impacts, write_multipliers
from .event_log import measure as measure_contacts
from .rows import NO, YES, ZERO
from .rules import IMPROVED
from .rules import after as after_step
from .solve_contacts import apply_impacts


@compiled
def impact_now(system, state, ctx, t, with_restitution):
    """(2): returns how many rows took part, or a status with the sign turned."""
    ineq, rows, cand = ctx.ineq, ctx.ineq_work, ctx.candidates
    if ctx.coordinates.used == 1:
        evaluate_coordinates(system, state, ctx, t)
    evaluate_equalities(system, t, state.x, state.quat, state.v, NO)
    evaluate_inequalities(system, ctx, t, state.x, state.quat, state.v, NO)
    gap_rates(ctx, state.v, rows.rate)
    n = ZERO
    approaching = False
    for r in range(rows.active.shape[0]):
        rate = rows.rate[r] + ineq.phi_t[r]
        # What touches within the tolerance of time touches now.
        if ineq.phi[r] <= ctx.problem.gap_tolerance + 2.0 * ctx.problem.time_tolerance * abs(rate):
            rows.selected[n] = r
            cand.b[n] = ineq.phi_t[r]
            ctx.dense.rate[n] = rate
            n += 1
            approaching = approaching or rate < -ctx.settings.events.rate_tolerance
    if not approaching:
        return ZERO
    if n > ctx.dense.S.shape[0]:
        return -TOO_MANY
    add_candidates(system, ctx, state.quat, ZERO, n)
    if not with_restitution:
        for i in range(n):
            cand.restitution[i] = 0.0
    factor_equalities(system)
    energy = total_kinetic_energy(system, state, ctx, t)
    if apply_impacts(system, ctx, n, state.v, ctx.problem.resting) < 0:
        return -CONTRADICTORY
    if ctx.coordinates.used == 1:
        keep_rates(system, state, ctx, t)
    if ctx.problem.accumulates_work == 1:
        energy -= state.ledger[DRIVER_WORK]
        add_driver_work(system, state, ctx, n, 1.0, NO)
        state.ledger[DRIVER_WORK] += equality_work(system, state, ctx.eq.lam)
        energy += state.ledger[DRIVER_WORK]
    state.ledger[IMPACT_LOSS] += energy - total_kinetic_energy(system, state, ctx, t)
    record_impacts(ctx, t, n, ctx.problem.resting)
    return n


@on_demand(types.none)
def update_platt_set(system, state, ctx, t):
    """Algorithms 1 and 2 change their set after the step, by its λ and w."""
    rows, rule = ctx.ineq_work, ctx.problem.rule
    evaluate_inequalities(system, ctx, t, state.x, state.quat, state.v, NO)
    count = rows.active.shape[0]
    for r in range(count):
        if rows.active[r] == 0 and rows.g_start[r] > ctx.problem.gap_tolerance and rule == IMPROVED:
            rows.w[r] = 0.0  # only what touched can enter
    instant = ctx.events.instant[0] - 1
    after_step(rule, count, rows.active, rows.lam, rows.w, ctx.ineq.phi, 0.0, ctx.events.log, instant)
    record_changes(state, ctx, t)


@compiled
def advance_to_event(system, state, context, t, h):
    """(1): from t by h, or to the first event before; returns the time used and a status."""
    ctx = context.contact
    copy_state(state, ctx.saved)
    copy_vector(ctx.ineq_work.rate, ctx.ineq_work.rate_start)
    status = integrate(system, state, t, h, context)
    used = h
    if ctx.problem.rewind == 1 and status == OK:
        used, status = locate_event(system, state, context, t, h)
    if used < h:
        project_state(system, state, context, t + used)
    if not is_persistent(ctx.problem.rule) and ctx.coordinates.used == 0:
        project_drift(system, state, ctx, t + used)
    return used, status


@inline
def trial_length(method, state, rest):
    """The length of a trial step: the rest of the step, or the next step of an adaptive method."""
    if method.adaptive == 0:
        return rest
    return min(rest, state.memory[0] if state.memory[0] > 0.0 else method.first_step)


@compiled
def step(system, state, t, h, context):
    memory, method, ctx = state.memory, context.method, context.contact
    settings = ctx.settings.events
    if ctx.events.filled[0] > ctx.events.ints.shape[0] // 2:
        return EVENTS_FULL
    choose_charts(system, state, ctx)
    if method.number >= 0:
        begin_step(method.extended, t, state.x, state.quat, state.v)
        method.shortest[0] = 0.0 if method.adaptive == 1 else settings.shortest_part * h
    persistent = is_persistent(ctx.problem.rule)
    done = 0.0
    events = 0
    was_cut = False
    while done < h:
        now = t + done
        if not persistent:
            impacts = impact_now(system, state, ctx, now, events < settings.max_bounces)
            if impacts < 0:
                return -impacts
            if impacts > 0:
                was_cut = True
                forget_history(memory)
        status = choose_active(system, state, ctx, now, next_instant(ctx.events, now))
        if status != OK:
            return status
        record_changes(state, ctx, now)
        rest = h - done
        part = trial_length(method, state, rest)
        used, status = advance_to_event(system, state, context, now, part)
        if status != OK:
            return status
        done = h if used == rest else done + used
        if used < part:
            was_cut = True
            forget_history(memory)
            events += 1
            if events > settings.max_events:
                return STUCK
    if persistent:
        update_platt_set(system, state, ctx, t + h)
    elif ctx.problem.rewind == 0:
        impact_now(system, state, ctx, t + h, YES)
    if was_cut and method.adaptive == 0:  # the last part was no whole step
        forget_history(memory)
    return OK


@inline
def events_so_far(context):
    return events_of_steps(context.contact)


@inline
def forget_events(context, so_far):
    forget_steps(context.contact, so_far)


@inline
def forget_history(memory):
    """What a method remembers of steps before an event is of no use after it."""
    if memory.shape[0] > 0:
        memory[0] = 0.0


@compiled
def observe(system, state, t, context, lam):
    """λ of the instant: equalities, then the listed inequalities as the user wrote them; all in ctx.ineq_work.lam."""
    ctx = context.contact
    log = ctx.events.log
    logged = log.filled[0]
    choose_active(system, state, ctx, t, UNLOGGED)
    log.filled[0] = logged
    write_multipliers(ctx, ctx.eq.lam, lam)


@compiled
def measure(system, state, t, context, phi, rate, slide, force, totals, energy):
    """As measure_contacts."""
    measure_contacts(system, state, t, context.contact, phi, rate, slide, force, totals, energy)
    if context.contact.coordinates.used == 1:
        energy[0] += own_energy(state, context.contact, t)
