"""Event-driven steps at acceleration level, cut at every activation, release and impact.

    event functions g: Φ of rows that are not active, λ of those that are                       (1)
    the step ends where the first of them becomes negative, and the rest of it follows          (2)
    rows that touch and approach there have an impact                                           (3)

Between events the active rows (active_set.py) are held as equalities. With a rule of Platt nothing is rewound and
nothing has impacts: its set is changed after the step, as printed. One compiled step serves all methods at
acceleration level: they differ in numbers.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand, specialise
from ..methods.acceleration import runge_kutta as runge_kutta_template
from ..methods.acceleration import step as step_template
from ..methods.base import CONTRADICTORY, EVENTS_FULL, OK, STUCK, TOO_MANY
from ..model.evaluate import copy
from .active_set import (
    RATE_TOLERANCE,
    UNLOGGED,
    accelerate_active,
    choose_active,
    is_persistent,
    project_drift,
)
from .collect import (
    add_candidates,
    choose_charts,
    evaluate_equalities,
    evaluate_inequalities,
    factor_equalities,
    gap_rates,
)
from .dissipation import kinetic_energy
from .driver_work import add_driver_work, driver_power, equality_work
from .event_log import next_instant, record_changes, record_impacts, write_multipliers
from .rows import NO, YES, ZERO
from .rules import EXACT, IMPROVED
from .rules import after as after_step
from .solve_contacts import apply_impacts

MOST_EVENTS = 2000  # in one step; then impacts have no restitution until it ends
ITP_KAPPA = 0.2  # of the ITP method, divided by the length of the bracket


@compiled
def event_functions(system, state, ctx, t, out):
    """(1) at the end of a trial step, λ by the acceleration that it causes; returns whether any is negative."""
    rows, dense = ctx.rows, ctx.dense
    evaluate_inequalities(system, ctx, t, state.x, state.quat, state.v, NO)
    negative = False
    some = False
    for r in range(out.shape[0]):
        out[r] = 1.0
        if rows.active[r] == 1:
            some = True
        else:
            out[r] = ctx.ineq.phi[r] + rows.sink_tol[r]
            negative = negative or out[r] < 0.0
    if some and ctx.problem.rule == EXACT:
        accelerate_active(system, ctx, t, state.x, state.quat, state.v, ctx.eq.lam_unused)
        n = 0
        for r in range(out.shape[0]):
            if rows.active[r] == 1:
                out[r] = dense.lam[n] * dense.S[n, n] + rows.sink_tol[r]
                negative = negative or out[r] < 0.0
                n += 1
    return negative


@inline
def copy_state(source, out):
    """Between State and SavedState, either way."""
    copy(source.x, out.x)
    copy(source.quat, out.quat)
    copy(source.v, out.v)
    copy_vector(source.memory, out.memory)
    copy_vector(source.ledger, out.ledger)


@inline
def copy_vector(source, out):
    for i in range(source.shape[0]):
        out[i] = source[i]


@inline
def first_crossing(rows, lo, hi):
    """Where straight lines between the ends of the bracket first reach zero."""
    best = hi
    for r in range(rows.g_lo.shape[0]):
        if rows.g_hi[r] < 0.0:
            g_lo = max(rows.g_lo[r], 0.0)
            best = min(best, lo + (hi - lo) * g_lo / (g_lo - rows.g_hi[r]))
    return best


@compiled
def impact_now(system, state, ctx, t, with_restitution):
    """(3): returns how many rows took part, or a status with the sign turned."""
    ineq, rows, cand = ctx.ineq, ctx.rows, ctx.cand
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
            ctx.dense.w[n] = rate
            n += 1
            approaching = approaching or rate < -RATE_TOLERANCE
    if not approaching:
        return ZERO
    if n > ctx.dense.S.shape[0]:
        return -TOO_MANY
    add_candidates(system, ctx, state.quat, ZERO, n)
    if not with_restitution:
        for i in range(n):
            cand.restitution[i] = 0.0
    factor_equalities(system)
    energy = kinetic_energy(system, state.v)
    if apply_impacts(system, ctx, n, state.v, ctx.problem.resting) < 0:
        return -CONTRADICTORY
    if ctx.problem.counted == 1:
        energy -= state.ledger[0]
        add_driver_work(system, state, ctx, n, 1.0, NO)
        state.ledger[0] += equality_work(system, state, ctx.eq.lam)
        energy += state.ledger[0]
    state.ledger[2] += energy - kinetic_energy(system, state.v)
    record_impacts(state, ctx, t, n, ctx.problem.resting)
    return n


@inline
def accelerate(system, t, x, quat, v, par, lam):
    accelerate_active(system, par, t, x, quat, v, lam)


@inline
def power(system, v, par, lam, out):
    driver_power(system, par, v, lam, out)


@inline
def integrator_of(par):
    return par.problem.integrator


runge_kutta = specialise(
    runge_kutta_template, "runge_kutta_contact", on_demand(types.none), accelerate=accelerate, power=power
)  # fmt: skip
integrate = specialise(
    step_template, "integrate_contact", compiled, accelerate=accelerate, runge_kutta=runge_kutta,
    integrator_of=integrator_of, power=power,
)  # fmt: skip


@on_demand(types.float64)
def locate_event(system, state, ctx, t, h):
    """(2): from the end of a trial step of h to the state at its first event; returns the time used.

    The bracket is narrowed by the ITP method: as safe as bisection, and fast where events are smooth.
    """
    rows, tol = ctx.rows, ctx.problem.time_tolerance
    for r in range(rows.g_lo.shape[0]):
        rows.g_lo[r] = rows.phi_start[r] + rows.sink_tol[r]
    if not event_functions(system, state, ctx, t + h, rows.g_hi):
        return h
    lo, hi = 0.0, h
    kappa = ITP_KAPPA / h
    budget = tol
    while budget < h:
        budget *= 2.0
    while hi - lo > tol:
        half = 0.5 * (lo + hi)
        guess = first_crossing(rows, lo, hi)
        towards = 1.0 if half >= guess else -1.0
        nudge = min(kappa * (hi - lo) ** 2, abs(half - guess))
        guess += towards * max(nudge, 0.25 * tol)
        radius = max(budget - 0.5 * (hi - lo), 0.0)
        if abs(guess - half) > radius:
            guess = half - towards * radius
        budget *= 0.5
        if not lo < guess < hi:
            guess = half
        copy_state(ctx.saved, state)
        integrate(system, state, t, guess, ctx)
        if event_functions(system, state, ctx, t + guess, rows.g_trial):
            hi = guess
            copy_vector(rows.g_trial, rows.g_hi)
        else:
            lo = guess
            copy_vector(rows.g_trial, rows.g_lo)
    copy_state(ctx.saved, state)
    if lo == 0.0:  # an event at once: let it happen, or time would not go on
        lo = hi
    integrate(system, state, t, lo, ctx)
    return lo


@on_demand(types.none)
def update_platt_set(system, state, ctx, t):
    """Algorithms 1 and 2 change their set after the step, by its λ and w."""
    rows, rule = ctx.rows, ctx.problem.rule
    evaluate_inequalities(system, ctx, t, state.x, state.quat, state.v, NO)
    count = rows.active.shape[0]
    for r in range(count):
        if rows.active[r] == 0 and rows.phi_start[r] > ctx.problem.gap_tolerance and rule == IMPROVED:
            rows.w[r] = 0.0  # only what touched can enter
    instant = ctx.events.instant[0] - 1
    after_step(rule, count, rows.active, rows.lam, rows.w, ctx.ineq.phi, 0.0, ctx.events.log, instant)
    record_changes(state, ctx, t)


@compiled
def advance_to_event(system, state, ctx, t, h):
    """From t by h, or to the first event before; returns the time used."""
    copy_state(state, ctx.saved)
    integrate(system, state, t, h, ctx)
    used = h
    if ctx.problem.rewind == 1:
        used = locate_event(system, state, ctx, t, h)
    if not is_persistent(ctx.problem.rule):
        project_drift(system, state, ctx, t + used)
    return used


@compiled
def step(system, state, t, h, ctx):
    memory = state.memory
    if ctx.events.filled[0] > ctx.events.ints.shape[0] // 2:
        return EVENTS_FULL
    choose_charts(system, state, ctx)
    platt = is_persistent(ctx.problem.rule)
    done = 0.0
    events = 0
    broken = False
    while done < h:
        now = t + done
        if not platt:
            impacts = impact_now(system, state, ctx, now, events < MOST_EVENTS)
            if impacts < 0:
                return -impacts
            if impacts > 0:
                broken = True
                memory[0] = 0.0  # multistep methods start again
        status = choose_active(system, state, ctx, now, next_instant(ctx.events, now))
        if status != OK:
            return status
        record_changes(state, ctx, now)
        rest = h - done
        used = advance_to_event(system, state, ctx, now, rest)
        broken = broken or used < rest
        done = h if used == rest else done + used
        events += 1
        if events > 2 * MOST_EVENTS:
            return STUCK
    if platt:
        update_platt_set(system, state, ctx, t + h)
    elif ctx.problem.rewind == 0:
        impact_now(system, state, ctx, t + h, YES)
    if broken:
        memory[0] = 0.0
    return OK


@compiled
def observe(system, state, t, ctx, lam):
    """λ of the instant: equalities, then the listed inequalities as the user wrote them; all in ctx.rows.lam."""
    log = ctx.events.log
    logged = log.filled[0]
    choose_active(system, state, ctx, t, UNLOGGED)
    log.filled[0] = logged
    write_multipliers(ctx, ctx.eq.lam, lam)
