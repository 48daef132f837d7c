"""Contacts with obstacles and balls where a run starts, evaluated for Python."""

from __future__ import annotations

from typing import Any

from ..compiled import entry
from ..model.evaluate import set_time
from .active_context import ActiveContext
from .baselines.common import BaselineContext
from .context import ClothContext
from .external_contact import evaluate_rows


@entry
def evaluate_at_start(system, state, ineq, rows, radius, x):
    """φ and n of the rows of obstacles and balls at t = 0, with nodes at x."""
    t = 0.0
    set_time(system, t, state.x, state.quat, state.v)
    evaluate_rows(system, ineq, rows, radius, t, x, state.quat, state.v)


def external_contacts(context: Any) -> tuple | None:
    """Inequalities, rows and radii that a step's context holds; None: it knows no contacts."""
    if isinstance(context, ActiveContext):
        return context.contacts.ineq, context.contacts.rows, context.contacts.radius
    if isinstance(context, BaselineContext):
        return context.contacts.ineq, context.contacts.rows, context.contacts.radius
    if isinstance(context, ClothContext):
        return context.ineq, context.external, context.problem.contact_radius
    return None
