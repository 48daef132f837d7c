"""Event-driven steps, cut at every activation, release and impact.

    event functions g: Φ of rows that are not active, λ of those that are                       (1)
    the step ends where the first of them becomes negative, and the rest of it follows          (2)
    rows that touch and approach there have an impact                                           (3)
    of a row with Φ̇ < 0 before and Φ̇ > 0 after a step, the cubic with these Φ and Φ̇ is asked
    whether it was negative in between                                                          (4)

Between events the active rows (active_set.py) are held as equalities: by methods at acceleration level with the λ of
accelerate_active, by all others with their own step (held_rows.py). With a rule of Platt nothing is rewound and nothing
has impacts: its set is changed after the step, as printed. One compiled step serves all methods: it calls theirs.

What an event leaves of a step may be short, and a method that asks for Φ = 0 at its end divides Φ by it. So positions
are projected at each event, and what is shorter than a hundredth of a step is left to Runge-Kutta.
"""

from __future__ import annotations

from typing import NamedTuple

from ..compiled import compiled, inline, specialise, structure
from ..methods.acceleration import runge_kutta as runge_kutta_template
from ..methods.acceleration import step as step_template
from ..methods.base import CONTRADICTORY, EVENTS_FULL, OK, STUCK, TOO_MANY
from ..methods.post_stabilization import correct, correct_velocity
from ..model.evaluate import begin
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
from .event_log import measure as measure_contacts
from .event_log import next_instant, record_changes, record_impacts, write_multipliers
from .held_rows import OwnStep, copy_state, copy_vector, hold, step_by, step_held
from .problem import ContactContext
from .rows import NO, YES, ZERO
from .rules import EXACT, IMPROVED
from .rules import after as after_step
from .solve_contacts import apply_impacts

MOST_EVENTS = 2000  # in one step; then impacts have no restitution until it ends
ITP_KAPPA = 0.2  # of the ITP method, divided by the length of the bracket
SHORTEST = 0.01  # of a step: what is shorter is left to Runge-Kutta


@structure
class EventContext(NamedTuple):
    """The `par` of event-driven steps."""

    contact: ContactContext
    own: OwnStep


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


runge_kutta = specialise(runge_kutta_template, "runge_kutta_contact", compiled, accelerate=accelerate, power=power)
accelerate_and_move = specialise(
    step_template, "integrate_contact", compiled, accelerate=accelerate, runge_kutta=runge_kutta,
    integrator_of=integrator_of, power=power,
)  # fmt: skip


@compiled
def integrate(system, state, t, h, par):
    """From t to t + h with the active rows held; returns the status of the method's step."""
    own, ctx = par.own, par.contact
    if own.number < 0:
        return accelerate_and_move(system, state, t, h, ctx)
    if h < own.shortest[0]:
        runge_kutta(system, state, t, h, ctx)
        return OK
    if not hold(own, ctx.rows.active):
        status = step_by(own.address, own.number, (system, state, t, h, own.par))
        if own.rings == 1:
            correct_velocity(system, state, t + h, False)
        return status
    status = step_held(state, own, t, h)
    if own.rings == 1:
        correct_velocity(own.held, own.state, t + h, False)
        copy_state(own.state, state)
    return status


@compiled
def project_positions(system, state, par, t):
    """Bring Φ of equalities and active rows to its rounding error."""
    own = par.own
    if own.number < 0:
        return
    if not hold(own, par.contact.rows.active):
        correct(system, state, t, system.bodies.w, own.par[2], False)
        return
    copy_state(state, own.state)
    correct(own.held, own.state, t, system.bodies.w, own.par[2], False)
    copy_state(own.state, state)


@compiled
def first_dip(system, state, ctx, t, h):
    """(4) after a step of h that ended at t + h without an event: when a row was first negative, or h."""
    ineq, rows = ctx.ineq, ctx.rows
    gap_rates(ctx, state.v, rows.rate)
    first = h
    for r in range(rows.active.shape[0]):
        start, end = h * rows.rate_start[r], h * (rows.rate[r] + ineq.phi_t[r])
        if rows.active[r] == 1 or start >= 0.0 or end <= 0.0:
            continue
        rise = ineq.phi[r] - rows.phi_start[r]
        b, c = 3.0 * rise - 2.0 * start - end, start + end - 2.0 * rise
        s = -start / (b + max(b * b - 3.0 * c * start, 0.0) ** 0.5)  # where the cubic is lowest, as a share of h
        if rows.phi_start[r] + s * (start + s * (b + s * c)) < -rows.sink_tol[r]:
            first = min(first, s * h)
    return first


@compiled
def locate_event(system, state, par, t, h):
    """(2): from the end of a trial step of h to the state at its first event; returns the time used and a status.

    The bracket is narrowed by the ITP method: as safe as bisection, and fast where events are smooth.
    """
    ctx = par.contact
    rows, tol = ctx.rows, ctx.problem.time_tolerance
    for r in range(rows.g_lo.shape[0]):
        rows.g_lo[r] = rows.phi_start[r] + rows.sink_tol[r]
    if not event_functions(system, state, ctx, t + h, rows.g_hi):
        dip = first_dip(system, state, ctx, t, h)
        if dip >= h:
            return h, OK
        copy_state(ctx.saved, state)
        integrate(system, state, t, dip, par)
        if not event_functions(system, state, ctx, t + dip, rows.g_hi):
            copy_state(ctx.saved, state)
            return h, integrate(system, state, t, h, par)
        h = dip
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
        integrate(system, state, t, guess, par)
        if event_functions(system, state, ctx, t + guess, rows.g_trial):
            hi = guess
            copy_vector(rows.g_trial, rows.g_hi)
        else:
            lo = guess
            copy_vector(rows.g_trial, rows.g_lo)
    copy_state(ctx.saved, state)
    if lo == 0.0:  # an event at once: let it happen, or time would not go on
        lo = hi
    return lo, integrate(system, state, t, lo, par)


@compiled
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
def advance_to_event(system, state, par, t, h):
    """From t by h, or to the first event before; returns the time used and a status."""
    ctx = par.contact
    copy_state(state, ctx.saved)
    copy_vector(ctx.rows.rate, ctx.rows.rate_start)
    status = integrate(system, state, t, h, par)
    used = h
    if ctx.problem.rewind == 1 and status == OK:
        used, status = locate_event(system, state, par, t, h)
    if used < h:
        project_positions(system, state, par, t + used)
    if not is_persistent(ctx.problem.rule):
        project_drift(system, state, ctx, t + used)
    return used, status


@inline
def longest_part(own, state, rest):
    """How far a trial step goes: an adaptive method is looked at after each of its own steps."""
    if own.adaptive == 0:
        return rest
    return min(rest, state.memory[0] if state.memory[0] > 0.0 else own.first)


@compiled
def step(system, state, t, h, par):
    memory, own, ctx = state.memory, par.own, par.contact
    if ctx.events.filled[0] > ctx.events.ints.shape[0] // 2:
        return EVENTS_FULL
    choose_charts(system, state, ctx)
    if own.number >= 0:
        begin(own.held, t, state.x, state.quat, state.v)
        own.shortest[0] = 0.0 if own.adaptive == 1 else SHORTEST * h
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
                restart(memory)
        status = choose_active(system, state, ctx, now, next_instant(ctx.events, now))
        if status != OK:
            return status
        record_changes(state, ctx, now)
        rest = h - done
        part = longest_part(own, state, rest)
        used, status = advance_to_event(system, state, par, now, part)
        if status != OK:
            return status
        done = h if used == rest else done + used
        if used < part:
            broken = True
            restart(memory)
            events += 1
            if events > 2 * MOST_EVENTS:
                return STUCK
    if platt:
        update_platt_set(system, state, ctx, t + h)
    elif ctx.problem.rewind == 0:
        impact_now(system, state, ctx, t + h, YES)
    if broken and own.adaptive == 0:  # the last part was no whole step
        restart(memory)
    return OK


@inline
def restart(memory):
    """What a method remembers of steps before an event is of no use after it."""
    if memory.shape[0] > 0:
        memory[0] = 0.0


@compiled
def observe(system, state, t, par, lam):
    """λ of the instant: equalities, then the listed inequalities as the user wrote them; all in ctx.rows.lam."""
    ctx = par.contact
    log = ctx.events.log
    logged = log.filled[0]
    choose_active(system, state, ctx, t, UNLOGGED)
    log.filled[0] = logged
    write_multipliers(ctx, ctx.eq.lam, lam)


@compiled
def measure(system, state, t, par, phi, rate, slide, force, totals):
    """As measure_contacts."""
    measure_contacts(system, state, t, par.contact, phi, rate, slide, force, totals)
