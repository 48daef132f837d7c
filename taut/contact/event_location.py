"""Location of the first event in a step: trial steps of a method with the active rows enforced, and root finding along
them.

    event functions g: Φ of rows that are not active, λ of those that are                       (1)
    the step ends where the first of them becomes negative                                      (2)
    of a row with Φ̇ < 0 before and Φ̇ > 0 after a step, the cubic with these Φ and Φ̇ is asked
    whether it was negative in between                                                          (3)

Methods at acceleration level enforce active rows with the λ of accelerate_active, all others with their own step
(enforced_rows.py). The rest of a step after an event may be short, and a method that asks for Φ = 0 at its end divides
Φ by its length. So the state is projected at each event, and a rest shorter than a hundredth of a step is integrated by
Runge-Kutta.
"""

from __future__ import annotations

from typing import NamedTuple

from numba import types

from ..compiled import compiled, inline, on_demand, specialise, structure
from ..methods.acceleration import stages_of
from ..methods.acceleration import step as step_template
from ..methods.base import OK, ROUNDING
from ..methods.post_stabilization import correct, correct_velocity
from ..model.evaluate import copy_state, copy_vector, set_time
from .active_set import accelerate_active
from .collect import evaluate_inequalities, gap_rates
from .coordinates import evaluate_coordinates
from .driver_work import driver_power
from .enforced_rows import MethodStep, call_step, enforce_active, step_extended, step_reduced
from .problem import ContactContext
from .rows import NO
from .rules import EXACT


@structure
class EventContext(NamedTuple):
    """The context of event-driven steps."""

    contact: ContactContext
    method: MethodStep


@compiled
def event_functions(system, state, ctx, t, out):
    """(1) at the end of a trial step, λ by the acceleration that it causes; returns whether any is negative."""
    rows, dense = ctx.ineq_work, ctx.dense
    evaluate_inequalities(system, ctx, t, state.x, state.quat, state.v, NO)
    negative = False
    some = False
    for r in range(out.shape[0]):
        out[r] = 1.0
        if rows.active[r] == 1:
            some = True
        else:
            out[r] = ctx.ineq.phi[r] + rows.g_tol[r]
            negative = negative or out[r] < 0.0
    if some and ctx.problem.rule == EXACT:
        if ctx.coordinates.used == 1:
            evaluate_coordinates(system, state, ctx, t)
        accelerate_active(system, ctx, t, state.x, state.quat, state.v, ctx.eq.lam_unused)
        n = 0
        for r in range(out.shape[0]):
            if rows.active[r] == 1:
                out[r] = dense.lam[n] * dense.S[n, n] + rows.g_tol[r]
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


@inline
def accelerate(system, t, x, quat, v, context, lam):
    accelerate_active(system, context, t, x, quat, v, lam)


@inline
def power(system, v, context, lam, out):
    driver_power(system, context, v, lam, out)


@inline
def integrator_of(context):
    return context.problem.integrator


one_stage, runge_kutta = stages_of("contact", accelerate=accelerate, power=power, integrator_of=integrator_of)
accelerate_and_move = specialise(
    step_template, "integrate_contact", inline, runge_kutta=runge_kutta, one_stage=one_stage,
    integrator_of=integrator_of,
)  # fmt: skip


@compiled
def integrate(system, state, t, h, context):
    """From t to t + h with the active rows enforced; returns the status of the method's step."""
    method, ctx = context.method, context.contact
    if method.number < 0:
        return accelerate_and_move(system, state, t, h, ctx)
    if ctx.coordinates.used == 1:
        enforce_active(method, ctx.ineq_work.active)
        status = step_reduced(state, method, ctx.coordinates.reduced, t, h)
        set_time(system, t + h, state.x, state.quat, state.v)
        return status
    if h < method.shortest[0]:
        runge_kutta(system, state, t, h, ctx)
        return OK
    if not enforce_active(method, ctx.ineq_work.active) and method.extends == 0:
        status = call_step(method.address, method.number, (system, state, t, h, method.options))
        if method.rings == 1:
            correct_velocity(system, state, t + h, False)
        return status
    status = step_extended(state, method, t, h)
    set_time(system, t + h, state.x, state.quat, state.v)  # it was that of the extended system which was set
    if method.rings == 1:
        correct_velocity(method.extended, method.state, t + h, False)
        copy_state(method.state, state)
    return status


@inline
def project_state(system, state, context, t):
    """Bring Φ and Φ̇ of equalities and active rows to their rounding error, as an impact law expects them; methods at
    acceleration level and in reduced coordinates leave that to `project_drift`."""
    if context.method.number >= 0 and context.contact.coordinates.used == 0:
        project_own_state(system, state, context, t)


@on_demand(types.none)
def project_own_state(system, state, context, t):
    """`project_state`, of methods with steps of their own."""
    method = context.method
    if not enforce_active(method, context.contact.ineq_work.active):
        correct(system, state, t, system.bodies.inverse_mass, method.options[ROUNDING], False)
        correct_velocity(system, state, t, False)
        return
    copy_state(state, method.state)
    correct(method.extended, method.state, t, system.bodies.inverse_mass, method.options[ROUNDING], False)
    correct_velocity(method.extended, method.state, t, False)
    copy_state(method.state, state)


@compiled
def first_undershoot(system, state, ctx, t, h):
    """(3) after a step of h that ended at t + h without an event: when a row was first negative, or h."""
    ineq, rows = ctx.ineq, ctx.ineq_work
    gap_rates(ctx, state.v, rows.rate)
    first = h
    for r in range(rows.active.shape[0]):
        start, end = h * rows.rate_start[r], h * (rows.rate[r] + ineq.phi_t[r])
        if rows.active[r] == 1 or start >= 0.0 or end <= 0.0:
            continue
        rise = ineq.phi[r] - rows.g_start[r]
        b, c = 3.0 * rise - 2.0 * start - end, start + end - 2.0 * rise
        s = -start / (b + max(b * b - 3.0 * c * start, 0.0) ** 0.5)  # where the cubic is lowest, as a share of h
        if rows.g_start[r] + s * (start + s * (b + s * c)) < -rows.g_tol[r]:
            first = min(first, s * h)
    return first


@on_demand(types.Tuple((types.float64, types.int64)))
def locate_event(system, state, context, t, h):
    """(2): from the end of a trial step of h to the state at its first event; returns the time used and a status.

    The bracket is narrowed by the ITP method: as safe as bisection, and fast where events are smooth.
    """
    ctx = context.contact
    rows, tol, settings = ctx.ineq_work, ctx.problem.time_tolerance, ctx.settings.events
    for r in range(rows.g_lo.shape[0]):
        rows.g_lo[r] = rows.g_start[r] + rows.g_tol[r]
    if not event_functions(system, state, ctx, t + h, rows.g_hi):
        dip = first_undershoot(system, state, ctx, t, h)
        if dip >= h:
            return h, OK
        copy_state(ctx.saved, state)
        integrate(system, state, t, dip, context)
        if not event_functions(system, state, ctx, t + dip, rows.g_hi):
            copy_state(ctx.saved, state)
            return h, integrate(system, state, t, h, context)
        h = dip
    lo, hi = 0.0, h
    kappa = settings.itp_slope / h
    budget = tol
    while budget < h:
        budget *= 2.0
    while hi - lo > tol:
        half = 0.5 * (lo + hi)
        guess = first_crossing(rows, lo, hi)
        towards = 1.0 if half >= guess else -1.0
        nudge = min(kappa * (hi - lo) ** 2, abs(half - guess))
        guess += towards * max(nudge, settings.itp_nudge * tol)
        radius = max(budget - 0.5 * (hi - lo), 0.0)
        if abs(guess - half) > radius:
            guess = half - towards * radius
        budget *= 0.5
        if not lo < guess < hi:
            guess = half
        copy_state(ctx.saved, state)
        integrate(system, state, t, guess, context)
        if event_functions(system, state, ctx, t + guess, rows.g_trial):
            hi = guess
            copy_vector(rows.g_trial, rows.g_hi)
        else:
            lo = guess
            copy_vector(rows.g_trial, rows.g_lo)
    copy_state(ctx.saved, state)
    if lo == 0.0:  # an event at once: let it happen, or time would not go on
        lo = hi
    return lo, integrate(system, state, t, lo, context)
