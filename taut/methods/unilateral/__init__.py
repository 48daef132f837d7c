"""Inequalities in a step: which rows are handled, when they activate, what an impact does.

    tables.py       Contacts: the `par` of these steps, and the options that they add
    gather.py       inequalities evaluated; rows that may matter become candidates
    pairs.py        the same for balls of groups with many pairs
    respond.py      λ of equalities and candidates together (few: exact; many: sweeps)
    box.py          how compiled functions hand all of this to each other
    handled.py      who is handled at acceleration level
    events.py       steps at acceleration level, rewound to the first activation
    fixed.py        fixed steps with complementarity at the new time
    restitution.py  impacts in fixed steps
    drivers.py      the work of moving walls and of driven bodies that are touched
    losses.py       what impacts and friction take
    report.py       events and records
    snapshot.py     one instant opened up, for `taut explain`

A method says `unilateral=event_driven(METHOD)` or `fixed_step(METHOD)`; both share one compiled step each.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...contact.rules import RULES
from ...errors import TautError
from ..base import Method
from . import events, fixed, handled
from .box import contents, pack
from .report import measure
from .tables import EVENT_OPTIONS, EVENTS, OPTIONS, Contacts, contacts

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
        method, step=events.step, options=options, observe=events.observe, measure=measure, start=start,
        begin=begin, refuses=refuses, form="unilateral", levels=("position",),
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


def fixed_step(method: Method) -> Method:
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
        method, step=fixed.step, options=options, observe=fixed.observe, measure=measure, start=start,
        refuses=refuses, tolerance=FIXED_TOLERANCE, form="unilateral", levels=("position",),
    )  # fmt: skip


def viewer(model, system, state):
    """A box for looking at inequalities only: the functions of gather.py."""
    named = {"active_set": 3.0, "resting": 0.0, "log": 0.0}
    tables = contacts(model, system, state, np.zeros(3), named)
    others = {"fixed", "restitution", "events", "handled", "drivers", "losses", "pairs", "respond", "report"}
    return pack(system, state, tables, others)


__all__ = ["EVENTS", "contents", "event_driven", "fixed_step", "viewer"]
