"""The algorithm that each method uses for scenes with inequalities.

Scenes with inequalities need more than a method's own step. Each algorithm below is a whole `Method` with its own
doc, order, level, number of solves and options; CONTACT_METHODS lists them by the public name of the method.

    event_driven    the method's own steps, cut at located events
    time_stepping   complementarity at the end of a fixed step
    second_order_steps    the same, with the method's own step while the active set does not change

A method that has two of them is asked by its option `contacts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import limits
from ..compiled import entry
from ..errors import TautError, listed, present
from ..methods import METHODS
from ..methods.acceleration import STAGES
from ..methods.base import OK, Method, Option, named_options
from ..model.arrays import State
from ..model.model import Model
from . import event_driven as events
from . import second_order_steps as second
from . import time_stepping as fixed
from .active_set import initial_active_set
from .broad_phase import update_pairs
from .coordinates import coordinates, with_inequalities
from .enforced_rows import method_step, rings
from .event_location import EventContext
from .event_log import measure
from .problem import EVENT_OPTIONS, OPTIONS, ContactContext, contact_context
from .rules import EXACT, RULES
from .settings import current

GROWTH = 1.5  # of the capacity over the number of pairs that were found: it grows by itself, so this is no setting
# Defaults of the option `tolerance`, no settings:
FIXED_TOLERANCE = 1e-8  # [m] of Φ < 0 after a fixed step
RINGING_TOLERANCE = 1e-12  # [m] of |Φ|, for methods whose velocities ring
EVENTS_OPTION, STEPS_OPTION = (
    Option("contacts", default, "events: steps are cut at each; steps: fixed, with friction", ("events", "steps"))
    for default in ("events", "steps")
)


@entry
def pairs_fit(state, ctx):
    """Whether the capacity is enough for all pairs of balls that are near at the start."""
    return update_pairs(state, ctx, 0.0, 1.0) == OK


def contact_of(context: ContactContext | EventContext) -> ContactContext:
    """The context of the contact problem in what the steps of an algorithm get."""
    return context.contact if isinstance(context, EventContext) else context


def drain(ctx: ContactContext) -> tuple[np.ndarray, np.ndarray]:
    """The events since the last call."""
    count = min(int(ctx.events.filled[0]), len(ctx.events.ints))
    ctx.events.filled[0] = 0
    return ctx.events.ints[:count], ctx.events.numbers[:count]


def remarks(model: Model, ctx: ContactContext) -> list[str]:
    """Contacts whose forces statics alone do not tell."""
    names = [model.inequality_names[r] for r in np.flatnonzero(ctx.ineq_work.indeterminate)]
    return [f"the forces of inequalities {listed(names)} are not unique (they are statically indeterminate, "
            "at least at times): of the possible ones the smallest are given"] if names else []


def with_pairs(state: State, capacity: int) -> State:
    """The state with a larger capacity for pairs of balls that are near."""
    pairs, lam = np.zeros((capacity, 2), np.int64), np.zeros((capacity, 3))
    pairs[: len(state.pairs)], lam[: len(state.pairs)] = state.pairs, state.pair_lam
    return state._replace(pairs=pairs, pair_lam=lam)


# Hooks of algorithms whose context is an EventContext.
of_events: dict[str, Any] = {
    "drain": lambda context: drain(context.contact),
    "remarks": lambda model, context: remarks(model, context.contact),
    "log": lambda context: context.contact,
}


def event_driven(method: Method) -> Method:
    """A method for scenes with inequalities: its own steps, cut at located events."""
    has_steps = "steps" in method.contacts
    remedy = "use implicit_first" + (" or contacts='steps'" if has_steps else "")

    def refuses(model):
        if model.inequalities.friction.any() or model.inequalities.group_friction.any():
            return f"it has friction, which acts on velocities; {remedy}, or set friction to 0"
        if len(model.inequalities.ball_slot):
            return f"its groups have too many pairs to stop at every activation; {remedy}"
        return method.refuses(model)

    def prepare(model, system, state, values):
        named = named_options(options, values)
        named["resting"] = named["resting"] or current().events.landing_speed  # so rest comes in finite time
        dense = min(limits.most("touching"), max(1, len(model.inequality_names)))
        if method.coordinates != "reduced":
            ctx = contact_context(model, state, values, named, dense)
            return state, EventContext(ctx, method_step(method, model, system, state, values))
        prepare_reduced = present(method.hooks.prepare, "the hook of reduced coordinates")
        state, reduced = prepare_reduced(model, system, state, values)
        reduced = with_inequalities(model, reduced, dense)
        ctx = contact_context(model, state, values, named, dense)._replace(coordinates=coordinates(reduced))
        return state, EventContext(ctx, method_step(method, model, system, state, values, reduced))

    def begin(system, state, context):
        ctx = context.contact
        if list(RULES.values())[ctx.problem.rule].is_persistent:
            initial_active_set(system, state, ctx)

    options = (*method.options, *OPTIONS, *EVENT_OPTIONS, *((EVENTS_OPTION,) if has_steps else ()))
    # Velocities that ring are projected for the event functions; then only Φ = 0 at each end keeps the order.
    at_ends = replace(method, tolerance=RINGING_TOLERANCE, order_position=None, order_velocity=None)
    return replace(
        at_ends if rings(method) else method, form="contact", algorithm="event_driven",
        doc="Its own steps, cut where an inequality activates, is released or has an impact.",
        level=f"{method.level}; Φ ≥ 0 at located events", solves=f"{method.solves} for each trial of a step",
        step=events.step, options=options, refuses=refuses, stages=max(method.stages, STAGES),
        hooks=replace(method.hooks, prepare=prepare, begin=begin, observe=events.observe, measure=events.measure,
                      functions=130, **of_events),
    )  # fmt: skip


def fixed_context(method: Method, options: tuple[Option, ...], projected: bool) -> Callable:
    """What makes the context of fixed steps from a model, a state and the values of options."""

    def context_of(model, state, values):
        named = named_options(options, values) | {"projected": float(projected)}
        rule = list(RULES)[int(named["active_set"])]
        if RULES[rule].is_persistent:
            raise TautError(f"active_set is '{rule}', which changes its set by what accelerations did; with fixed "
                            f"steps of '{method.name}' choose exact or jonquet, or use method baumgarte.")
        ctx = contact_context(model, state, values, named)
        if ctx.problem.friction and rule != "exact":
            raise TautError(f"active_set is '{rule}', which knows no friction, but scene '{model.name}' has some; "
                            "choose exact, or set friction to 0.")
        return ctx

    return context_of


def time_stepping(method: Method, projected: bool = False) -> Method:
    """A method with the linearised constraints at the new time, for scenes with inequalities."""
    # Corrections of contacts are complementarity problems of their own, so they do not take the matrix of Newton's.
    shared = (option for option in method.options if option.name != "newton")
    options = (*shared, *OPTIONS, *((STEPS_OPTION,) if "events" in method.contacts else ()))
    context_of = fixed_context(method, options, projected)

    def prepare(model, system, state, values):
        ctx = context_of(model, state, values)
        while len(model.inequalities.ball_slot) and not pairs_fit(state, ctx):
            state = with_pairs(state, int(GROWTH * ctx.pairs.output[0]))
            ctx = context_of(model, state, values)
        return state, ctx

    def grow(model, system, state, numbers, ctx, least):
        state = with_pairs(state, max(least, int(GROWTH * ctx.pairs.output[0])))
        return state, context_of(model, state, numbers)

    return replace(
        method, form="contact", algorithm="time_stepping", shortest=0.5,
        hooks=replace(method.hooks, prepare=prepare, grow=grow, drain=drain, remarks=remarks, log=lambda ctx: ctx,
                      observe=fixed.observe, measure=measure, functions=130),
        doc="Complementarity of λ and the linearised Φ at the end of a fixed step, with Coulomb friction and impacts.",
        source="Moreau 1988; Stewart and Trinkle 1996; Hong ICRA 2005 (11)-(16)",
        level="position, to the tolerance", order_position=None,
        solves="1 complementarity problem, 1 more for each correction of Φ and for impacts",
        step=fixed.step, options=options, tolerance=FIXED_TOLERANCE,
    )  # fmt: skip


def second_order_steps(method: Method) -> Method:
    """A method of second order in fixed steps, for scenes with inequalities."""
    options = (*method.options, *OPTIONS, STEPS_OPTION)
    context_of = fixed_context(method, options, projected=False)

    def refuses(model):
        if len(model.inequalities.ball_slot):
            return "its groups have too many pairs for steps that enforce them; use implicit_first"
        return method.refuses(model)

    def prepare(model, system, state, values):
        return state, EventContext(context_of(model, state, values), method_step(method, model, system, state, values))

    first_order = time_stepping(method)
    return replace(
        first_order, algorithm="second_order_steps", refuses=refuses, options=options,
        doc="Fixed steps: its own while the active set does not change; else complementarity at the end of the step.",
        solves="1 complementarity problem, and those of its own step", step=second.step,
        hooks=replace(first_order.hooks, prepare=prepare, grow=None, observe=second.observe, measure=second.measure,
                      **of_events),
    )  # fmt: skip


def evaluation_context(model: Model, state: State) -> ContactContext:
    """A context in which inequalities are evaluated only: no step is taken."""
    named = {"active_set": float(EXACT), "resting": 0.0, "log": 0.0}
    return contact_context(model, state, np.zeros(3), named)


CONTACT_METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *(event_driven(method) for method in METHODS.values() if "events" in method.contacts),
        *(time_stepping(method) for method in METHODS.values() if method.contacts == ("steps",)),
    )
}
# By name, the methods that take fixed steps when they are asked to by contacts="steps".
STEP_METHODS: dict[str, Method] = {
    name: second_order_steps(method) if method.order > 1 else time_stepping(method, projected=True)
    for name, method in METHODS.items()
    if {"events", "steps"} <= {*method.contacts}
}
