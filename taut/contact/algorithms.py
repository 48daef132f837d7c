"""Which algorithm treats inequalities under the name of each method.

Scenes with inequalities need more than a method's own step. Each algorithm below is a whole `Method` with its own
doc, order, level, number of solves and options; CONTACT_METHODS lists them by the public name of the method.

    event_driven    of a method at acceleration level: its own integrator, cut at located events
    time_stepping   of implicit_first: complementarity at the end of a fixed step
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import TautError
from ..methods import METHODS
from ..methods.base import Method
from ..model.arrays import State
from ..model.model import Model
from . import event_driven as events
from . import time_stepping as fixed
from .active_set import initial_active_set
from .event_log import measure
from .problem import EVENT_OPTIONS, OPTIONS, ContactContext, contact_context
from .rules import EXACT, RULES

LANDING = 1e-6  # [m/s] below which an event-driven impact has no restitution: rest in finite time
FIXED_TOLERANCE = 1e-8  # [m] of Φ < 0 after a fixed step


def event_driven(method: Method) -> Method:
    """A method at acceleration level, for scenes with inequalities."""

    def refuses(model):
        if model.inequalities.friction.any() or model.inequalities.group_friction.any():
            return "it has friction, which acts on velocities; use implicit_first, or set friction to 0"
        if len(model.inequalities.ball_slot):
            return "its groups have too many pairs to stop at every activation; use implicit_first"
        return method.refuses(model)

    def start(model, system, state, par):
        named = dict(zip((option.name for option in options), par[3:]))
        named["resting"] = named["resting"] or LANDING
        return state, contact_context(model, state, par, named)

    def begin(system, state, ctx):
        if list(RULES.values())[ctx.problem.rule].is_persistent:
            initial_active_set(system, state, ctx)

    options = (*method.options, *OPTIONS, *EVENT_OPTIONS)
    return replace(
        method, algorithm="event_driven",
        doc="Steps at acceleration level, cut where an inequality activates, is released or has an impact.",
        level="acceleration; Φ ≥ 0 at located events", solves=f"{method.solves} for each trial of a step",
        step=events.step, options=options, observe=events.observe, measure=measure, start=start,
        begin=begin, refuses=refuses, form="contact",
    )  # fmt: skip


def time_stepping(method: Method) -> Method:
    """A method with the linearised constraints at the new time, for scenes with inequalities."""

    def start(model, system, state, par):
        named = dict(zip((option.name for option in options), par[3:]))
        rule = list(RULES)[int(named["active_set"])]
        if RULES[rule].is_persistent:
            raise TautError(f"active_set is '{rule}', which changes its set by what accelerations did; with method "
                            f"'{method.name}' choose exact or jonquet, or use method baumgarte.")
        ctx = contact_context(model, state, par, named)
        if ctx.problem.friction and rule != "exact":
            raise TautError(f"active_set is '{rule}', which knows no friction, but scene '{model.name}' has some; "
                            "choose exact, or set friction to 0.")
        return state, ctx

    # Corrections of contacts are complementarity problems of their own, so they do not take the matrix of Newton's.
    options = (*(option for option in method.options if option.name != "newton"), *OPTIONS)
    return replace(
        method, algorithm="time_stepping",
        doc="Complementarity of λ and the linearised Φ at the end of a fixed step, with Coulomb friction and impacts.",
        source="Moreau 1988; Stewart and Trinkle 1996; Hong ICRA 2005 (11)-(16)",
        level="position, to the tolerance", order_position=None,
        solves="1 complementarity problem, 1 more for each correction of Φ and for impacts",
        step=fixed.step, options=options, observe=fixed.observe, measure=measure, start=start,
        tolerance=FIXED_TOLERANCE, form="contact",
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
