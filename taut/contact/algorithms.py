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
from ..methods.base import OK, Method
from ..model import Model
from ..model.arrays import State
from . import active_set as handled
from . import event_driven as events
from . import time_stepping as fixed
from .broad_phase import find_pairs
from .context import contents, pack
from .event_log import measure
from .problem import EVENT_OPTIONS, EVENTS, OPTIONS, Contacts, contacts
from .rules import RULES

GROWTH = 1.5  # of the capacity over the number of pairs that were found
LANDING = 1e-6  # [m/s] below which an event-driven impact does not bounce: rest in finite time
FIXED_LOSSES = ("has_impacts", "count_impacts", "count_friction")
FIXED_TOLERANCE = 1e-8  # [m] of Φ < 0 after a fixed step


@entry
def pairs_fit(box):
    """Whether the capacity suffices for all pairs of balls that are near at the start."""
    return find_pairs((box, 0.0, 1.0)) == OK


def drain(par):
    """The events since the last call."""
    tables = contents(par)
    count = min(int(tables.event_count[0]), len(tables.event_ints))
    tables.event_count[0] = 0
    return tables.event_ints[:count], tables.event_numbers[:count]


def remarks(model: Model, par) -> list[str]:
    """Contacts whose forces statics alone do not tell."""
    names = [model.inequality_names[r] for r in np.flatnonzero(contents(par).shared)]
    return [f"the forces of inequalities {listed(names)} are not unique (they are statically indeterminate, "
            "at least at times): of the possible ones the smallest are given"] if names else []


def with_pairs(state: State, capacity: int) -> State:
    """The state with a larger capacity for pairs of balls that are near."""
    pairs, lam = np.zeros((capacity, 2), np.int64), np.zeros((capacity, 3))
    pairs[: len(state.pairs)], lam[: len(state.pairs)] = state.pairs, state.pair_lam
    return state._replace(pairs=pairs, pair_lam=lam)


def treats_contacts(method: Method, start: Callable, **declared: Any) -> Method:
    """A method for scenes with inequalities; start(model, system, state, par) packs its tables."""

    def start_with_capacity(model, system, state, par):
        packed = start(model, system, state, par)
        while len(model.inequalities.ball_slot) and not pairs_fit(packed.box):
            state = with_pairs(state, int(GROWTH * contents(packed).found[0]))
            packed = start(model, system, state, par)
        return state, packed

    def grow(model, system, state, numbers, par, least):
        state = with_pairs(state, max(least, int(GROWTH * contents(par).found[0])))
        return state, start(model, system, state, numbers)

    return replace(
        method, form="contact", start=start_with_capacity, grow=grow, drain=drain, remarks=remarks, log=contents,
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

    def start(model, system, state, par):
        named = dict(zip((option.name for option in options), par[3:]))
        named["resting"] = named["resting"] or LANDING
        tables = contacts(model, system, state, par, named)
        return pack(system, state, tables, {"fixed", "restitution", "pairs", *FIXED_LOSSES, *unused(tables)})

    def begin(par):
        if contents(par).rule in (handled.PLATT, handled.IMPROVED):
            handled.take_first_set(par.box)

    options = (*method.options, *OPTIONS, *EVENT_OPTIONS)
    return treats_contacts(
        method, start, algorithm="event_driven",
        doc="Steps at acceleration level, cut where an inequality activates, is released or collides.",
        level="acceleration; Φ ≥ 0 at located events", solves=f"{method.solves} for each trial of a step",
        step=events.step, options=options, observe=events.observe, begin=begin, refuses=refuses, levels=("position",),
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
        return pack(system, state, tables, {"events", "handled", *unused(tables)})

    # Corrections of contacts are complementarity problems of their own, so they do not take the matrix of Newton's.
    options = (*(option for option in method.options if option.name != "newton"), *OPTIONS)
    return treats_contacts(
        method, start, algorithm="time_stepping",
        doc="Complementarity of λ and the linearised Φ at the end of a fixed step, with Coulomb friction and impacts.",
        source="Moreau 1988; Stewart and Trinkle 1996; Hong ICRA 2005 (11)-(16)",
        level="position, to the tolerance", order_position=None,
        solves="1 complementarity problem, 1 more for each correction of Φ and for impacts",
        step=fixed.step, options=options, observe=fixed.observe, refuses=refuses, tolerance=FIXED_TOLERANCE,
        levels=("position",),
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
