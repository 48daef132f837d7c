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
from . import active_set as handled
from . import event_driven as events
from . import time_stepping as fixed
from .context import contents, pack
from .event_log import measure
from .problem import EVENT_OPTIONS, EVENTS, OPTIONS, Contacts, contacts
from .rules import RULES

LANDING = 1e-6  # [m/s] below which an event-driven impact does not bounce: rest in finite time
FIXED_LOSSES = ("has_impacts", "count_impacts", "count_friction")
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
        tables = contacts(model, system, state, par, named)
        return state, pack(system, state, tables, {"fixed", "restitution", "pairs", *FIXED_LOSSES, *unused(tables)})

    def begin(par):
        if contents(par).rule in (handled.PLATT, handled.IMPROVED):
            handled.take_first_set(par.box)

    options = (*method.options, *OPTIONS, *EVENT_OPTIONS)
    return replace(
        method, algorithm="event_driven",
        doc="Steps at acceleration level, cut where an inequality activates, is released or collides.",
        level="acceleration; Φ ≥ 0 at located events", solves=f"{method.solves} for each trial of a step",
        step=events.step, options=options, observe=events.observe, measure=measure, start=start,
        begin=begin, refuses=refuses, form="contact",
    )  # fmt: skip


def unused(tables: Contacts) -> set[str]:
    """Functions that a scene never calls need not be compiled."""
    found = set()
    if not tables.counted:
        found |= {"drivers"}
    if not tables.friction:
        found |= {"rub", "reduce_triples", "count_friction"}
    if tables.rule not in (handled.PLATT, handled.IMPROVED):
        found |= {"first_set"}
    if not tables.bouncing:
        found |= {"restitution"}
    if not len(tables.ineq.ball_slot):
        found |= {"pairs"}
        if len(tables.source) * (3 if tables.friction else 1) <= len(tables.S):
            found |= {"sweep_all"}
    return found


def time_stepping(method: Method) -> Method:
    """A method with the linearised constraints at the new time, for scenes with inequalities."""

    def refuses(model):
        return method.refuses(model)

    def start(model, system, state, par):
        named = dict(zip((option.name for option in options), par[3:]))
        rule = list(RULES)[int(named["active_set"])]
        if rule in ("platt", "platt_improved"):
            raise TautError(f"active_set is '{rule}', which changes its set by what accelerations did; with method "
                            f"'{method.name}' choose exact or jonquet, or use method baumgarte.")
        tables = contacts(model, system, state, par, named)
        if tables.friction and rule != "exact":
            raise TautError(f"active_set is '{rule}', which knows no friction, but scene '{model.name}' has some; "
                            "choose exact, or set friction to 0.")
        return state, pack(system, state, tables, {"events", "handled", *unused(tables)})

    options = (*method.options, *OPTIONS)
    return replace(
        method, algorithm="time_stepping",
        doc="Complementarity of λ and the linearised Φ at the end of a fixed step, with Coulomb friction and impacts.",
        source="Moreau 1988; Stewart and Trinkle 1996; Hong ICRA 2005 (11)-(16)",
        level="position, to the tolerance", order_position=None,
        solves="1 complementarity problem, 1 more for each correction of Φ and for impacts",
        step=fixed.step, options=options, observe=fixed.observe, measure=measure, start=start,
        refuses=refuses, tolerance=FIXED_TOLERANCE, form="contact",
    )  # fmt: skip


def viewer(model, system, state):
    """A box for looking at inequalities only: the functions of gather.py."""
    named = {"active_set": 3.0, "resting": 0.0, "log": 0.0}
    tables = contacts(model, system, state, np.zeros(3), named)
    others = {"fixed", "restitution", "events", "handled", "drivers", "losses", "pairs", "respond", "report"}
    return pack(system, state, tables, others)


CONTACT_METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        event_driven(METHODS["lagrange"]),
        event_driven(METHODS["baumgarte"]),
        time_stepping(METHODS["implicit_first"]),
    )
}

__all__ = ["CONTACT_METHODS", "EVENTS", "contents", "event_driven", "time_stepping", "viewer"]
