"""Stiff springs with one global implicit Euler step; the system and its equations: implicit_solve.py.

Hard edges are springs of the given stiffness, limits a second phase of it. Contacts that push are stiff springs in the
system as well. Nodes that are still inside after the solve are projected out (position_contact.py), where friction is
applied.
"""

from __future__ import annotations

from ...compiled import compiled
from ...methods import implicit_euler as declared
from ...methods.base import EVENTS_FULL, OK, option_index
from ...model.arrays import FAILED_SOLVES, LINEAR_SOLVES
from ...model.evaluate import set_time
from ..contact_events import is_nearly_full
from .common import baseline, baseline_context, end_step, external, springs_of
from .explicit import measure_velocity
from .implicit_solve import implicit, nearing, step_implicit
from .position_contact import begin_contacts, finish_contacts, push_out

STIFFNESS, RESIDUAL = (option_index(declared.METHOD.options, name) for name in ("stiffness", "residual"))


def prepare(model, system, state, options):
    springs = springs_of(model, float(options[STIFFNESS]), limits=True)
    context = baseline_context(model, system, state, options, springs, None)
    members = context.contacts.rows.slot[:, :2]
    work = implicit(len(springs.rest), len(model.x), members, context.contacts.least)
    # Δv is where the next step's iteration starts, so it belongs to the state: a resumed run needs it.
    return state, context._replace(work=work._replace(dv=state.memory[: model.x.size].reshape(model.x.shape)))


@compiled
def predict_contacts(state, h, contacts, touch):
    """Contacts for the linear system, from the normals and gaps of begin_contacts."""
    rows, ineq, v = contacts.rows, contacts.ineq, state.v
    for r in range(rows.phi.shape[0]):
        for c in range(3):
            touch.n[r, c] = rows.n[r, c]
        touch.ahead[r] = nearing(touch, r, v) - (rows.phi[r] - rows.depth_allowed[r]) / h
        if r < ineq.phi.shape[0]:
            touch.ahead[r] += ineq.sign[r] * ineq.phi_t[r]


@compiled
def take_over(rows, touch, h):
    """Copy the λ of the linear system to the contact rows."""
    for r in range(rows.phi.shape[0]):
        rows.lam[r] = max(0.0, -touch.firm[r] * touch.after[r] * h)


@compiled
def step(system, state, t, h, ctx):
    if is_nearly_full(ctx.contacts.events):
        return EVENTS_FULL
    external(system, state, t, ctx.batch, ctx.members)
    touches = ctx.contacts.rows.phi.shape[0] > 0
    if touches:
        begin_contacts(system, state, t, h, ctx.contacts)
        predict_contacts(state, h, ctx.contacts, ctx.work.touch)
    max_gradients = ctx.work.settings.max_gradients
    taken = step_implicit(
        ctx.work, ctx.springs, state.x, state.v, ctx.w, system.work.f, h, ctx.options[RESIDUAL], max_gradients
    )
    system.work.counts[LINEAR_SOLVES] += ctx.work.solves[0]
    if taken < 0:
        system.work.counts[FAILED_SOLVES] += 1
    set_time(system, t + h, state.x, state.quat, state.v)
    if touches:
        take_over(ctx.contacts.rows, ctx.work.touch, h)
        for _ in range(ctx.work.settings.max_push_out_passes):
            if push_out(system, state, t + h, ctx.contacts, ctx.w) == 0:
                break
        measure_velocity(state.x, ctx.contacts.x_start, h, state.v)
        finish_contacts(system, state, ctx.contacts, h)
    end_step(system, state, ctx.contacts, t + h, h)
    return OK


METHOD = baseline(declared.METHOD, step, prepare)
