"""Which algorithm treats inequalities under the name of each method.

Scenes with inequalities need more than a method's own step. Each algorithm below is a whole `Method` with its own
doc, order, level, number of solves and options; CONTACT_METHODS lists them by the public name of the method.

    event_driven    of a method at acceleration level: its own integrator, cut at located events
    time_stepping   of implicit_first: complementarity at the end of a fixed step
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..compiled import entry
from ..errors import TautError, listed
from ..methods import METHODS
from ..methods.base import OK, Method, named_options
from ..model.arrays import State
from ..model.model import Model
from . import event_driven as events
from . import time_stepping as fixed
from .active_set import initial_active_set
from .broad_phase import update_pairs
from .event_log import measure
from .problem import EVENT_OPTIONS, OPTIONS, ContactContext, contact_context
from .rules import EXACT, RULES

GROWTH = 1.5  # of the capacity over the number of pairs that were found
LANDING = 1e-6  # [m/s] below which an event-driven impact has no restitution: rest in finite time
FIXED_TOLERANCE = 1e-8  # [m] of Φ < 0 after a fixed step


@entry
def pairs_fit(state, ctx):
    """Whether the capacity is enough for all pairs of balls that are near at the start."""
    return update_pairs(state, ctx, 0.0, 1.0) == OK


def drain(ctx: ContactContext) -> tuple[np.ndarray, np.ndarray]:
    """The events since the last call."""
    count = min(int(ctx.events.filled[0]), len(ctx.events.ints))
    ctx.events.filled[0] = 0
    return ctx.events.ints[:count], ctx.events.numbers[:count]


def remarks(model: Model, ctx: ContactContext) -> list[str]:
    """Contacts whose forces statics alone do not tell."""
    names = [model.inequality_names[r] for r in np.flatnonzero(ctx.rows.indeterminate)]
    return [f"the forces of inequalities {listed(names)} are not unique (they are statically indeterminate, "
            "at least at times): of the possible ones the smallest are given"] if names else []


def with_pairs(state: State, capacity: int) -> State:
    """The state with a larger capacity for pairs of balls that are near."""
    pairs, lam = np.zeros((capacity, 2), np.int64), np.zeros((capacity, 3))
    pairs[: len(state.pairs)], lam[: len(state.pairs)] = state.pairs, state.pair_lam
    return state._replace(pairs=pairs, pair_lam=lam)


def treats_contacts(method: Method, context_of: Callable, **declared: Any) -> Method:
    """A method for scenes with inequalities; context_of(model, state, par) is what its steps work on."""

    def start(model, system, state, par):
        ctx = context_of(model, state, par)
        while len(model.inequalities.ball_slot) and not pairs_fit(state, ctx):
            state = with_pairs(state, int(GROWTH * ctx.pairs.found[0]))
            ctx = context_of(model, state, par)
        return state, ctx

    def grow(model, system, state, numbers, ctx, least):
        state = with_pairs(state, max(least, int(GROWTH * ctx.pairs.found[0])))
        return state, context_of(model, state, numbers)

    return replace(
        method, form="contact", start=start, grow=grow, drain=drain, remarks=remarks, log=lambda ctx: ctx,
        measure=measure, functions=130, **declared,
    )  # fmt: skip


def event_driven(method: Method) -> Method:
    """A method at acceleration level, for scenes with inequalities."""

    def refuses(model):
        if model.inequalities.friction.any() or model.inequalities.group_friction.any():
            return "it has friction, which acts on velocities; use implicit_first, or set friction to 0"
        if len(model.inequalities.ball_slot):
            return "its groups have too many pairs to stop at every activation; use implicit_first"
        return method.refuses(model)

    def context_of(model, state, par):
        named = named_options(options, par)
        named["resting"] = named["resting"] or LANDING
        return contact_context(model, state, par, named)

    def begin(system, state, ctx):
        if list(RULES.values())[ctx.problem.rule].is_persistent:
            initial_active_set(system, state, ctx)

    options = (*method.options, *OPTIONS, *EVENT_OPTIONS)
    return treats_contacts(
        method, context_of, algorithm="event_driven",
        doc="Steps at acceleration level, cut where an inequality activates, is released or has an impact.",
        level="acceleration; Φ ≥ 0 at located events", solves=f"{method.solves} for each trial of a step",
        step=events.step, options=options, observe=events.observe, begin=begin, refuses=refuses,
    )  # fmt: skip


def time_stepping(method: Method) -> Method:
    """A method with the linearised constraints at the new time, for scenes with inequalities."""

    def context_of(model, state, par):
        named = named_options(options, par)
        rule = list(RULES)[int(named["active_set"])]
        if RULES[rule].is_persistent:
            raise TautError(f"active_set is '{rule}', which changes its set by what accelerations did; with method "
                            f"'{method.name}' choose exact or jonquet, or use method baumgarte.")
        ctx = contact_context(model, state, par, named)
        if ctx.problem.friction and rule != "exact":
            raise TautError(f"active_set is '{rule}', which knows no friction, but scene '{model.name}' has some; "
                            "choose exact, or set friction to 0.")
        return ctx

    # Corrections of contacts are complementarity problems of their own, so they do not take the matrix of Newton's.
    options = (*(option for option in method.options if option.name != "newton"), *OPTIONS)
    return treats_contacts(
        method, context_of, algorithm="time_stepping",
        doc="Complementarity of λ and the linearised Φ at the end of a fixed step, with Coulomb friction and impacts.",
        source="Moreau 1988; Stewart and Trinkle 1996; Hong ICRA 2005 (11)-(16)",
        level="position, to the tolerance", order_position=None,
        solves="1 complementarity problem, 1 more for each correction of Φ and for impacts",
        step=fixed.step, options=options, observe=fixed.observe, tolerance=FIXED_TOLERANCE,
    )  # fmt: skip


def evaluation_context(model: Model, state: State) -> ContactContext:
    """A context in which inequalities are evaluated only: no step is taken."""
    named = {"active_set": float(EXACT), "resting": 0.0, "log": 0.0}
    return contact_context(model, state, np.zeros(3), named)


CONTACT_METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        event_driven(METHODS["lagrange"]),
        event_driven(METHODS["baumgarte"]),
        time_stepping(METHODS["implicit_first"]),
    )
}
