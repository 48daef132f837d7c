"""Fixed steps of second order: the method's own step wherever the set of rows that push does not change.

    the set A of rows with λ > 0, by a step of time_stepping.py                                 (1)
    where no row of A has friction, or came into A just now, or approaches: the method's own
    step with A enforced (enforced_rows.py) takes the place of (1)                              (2)
    unless after (2) λ of a row of A, or Φ of another row, is negative                          (3)

So impacts, friction and changes of the set are of first order, as in (1), and the motion between them is of second.
"""

from __future__ import annotations

from ..compiled import compiled, inline
from ..methods.base import OK
from ..model.evaluate import begin_step, copy_state
from .collect import evaluate_inequalities, gap_rates
from .dissipation import impact_speed
from .enforced_rows import call_step, copy_vector_start, enforce_active
from .event_log import measure as measure_contacts
from .rows import NO
from .time_stepping import observe as observe_fixed
from .time_stepping import step as first_order_step


@compiled
def is_smooth(system, state, context, t, h):
    """Whether (2) may be tried after (1), whose start is still in method.state; A into ctx.ineq_work.active."""
    ctx, before = context.contact, context.method.state
    rows, ineq = ctx.ineq_work, ctx.ineq
    for k in range(state.pair_count[0]):
        if state.pair_lam[k, 0] > 0.0:
            return False
    evaluate_inequalities(system, ctx, t, before.x, before.quat, before.v, NO)
    gap_rates(ctx, before.v, rows.rate)
    for r in range(rows.active.shape[0]):
        rows.active[r] = 1 if state.contact[r, 0] > 0.0 else 0
        if rows.active[r] == 1:
            rate = abs(rows.rate[r] + ineq.phi_t[r])
            if rows.touching[r] == 0 or ineq.friction[r] > 0.0 or rate > impact_speed(ctx, h):
                return False
    return True


@compiled
def is_admissible(system, context, t):
    """(3) at the end of (2), which method.state holds."""
    method, ctx = context.method, context.contact
    after, rows, ineq = method.state, ctx.ineq_work, ctx.ineq
    first = after.lam.shape[0] - rows.active.shape[0]
    evaluate_inequalities(system, ctx, t, after.x, after.quat, after.v, NO)
    for r in range(rows.active.shape[0]):
        rows.lam[r] = ineq.sign[r] * after.lam[first + r] if rows.active[r] == 1 else 0.0
        if rows.lam[r] < 0.0 or (rows.active[r] == 0 and ineq.phi[r] < -ctx.problem.tolerance):
            return False
    return True


@inline
def save_start(state, context):
    """Copy the state from which (1) starts into method.state, and note which rows pushed in the last step."""
    copy_state(state, context.method.state)
    for r in range(context.contact.ineq_work.touching.shape[0]):
        context.contact.ineq_work.touching[r] = 1 if state.contact[r, 3] == 1.0 else 0


@compiled
def step(system, state, t, h, context):
    method, ctx = context.method, context.contact
    save_start(state, context)
    status = first_order_step(system, state, t, h, ctx)  # (1)
    if status != OK or not is_smooth(system, state, context, t, h):
        return status
    begin_step(method.extended, t, method.state.x, method.state.quat, method.state.v)
    enforce_active(method, ctx.ineq_work.active)
    status = call_step(method.address, method.number, (method.extended, method.state, t, h, method.context))  # (2)
    if status != OK or not is_admissible(system, context, t + h):
        return OK
    copy_state(method.state, state)
    copy_vector_start(method.state.lam, state.lam)
    for r in range(ctx.ineq_work.lam.shape[0]):
        state.contact[r, 0] = ctx.ineq_work.lam[r]
    return OK


@compiled
def observe(system, state, t, context, lam):
    observe_fixed(system, state, t, context.contact, lam)


@compiled
def measure(system, state, t, context, phi, rate, slide, force, totals, energy):
    measure_contacts(system, state, t, context.contact, phi, rate, slide, force, totals, energy)
