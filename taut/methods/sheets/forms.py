"""The forms for cloth and solids of methods that hold constraints by multipliers."""

from __future__ import annotations

from dataclasses import replace

from ...model.model import Model
from ..base import Method, Option
from ..box import BOXES
from . import hold, report
from .box import contents, pack
from .net import memory_of
from .tables import UNCONSTRAINED, held, more_room

TOLERANCE = 1e-6  # of the length of hard edges
MOST_BALLS = 100
OPTIONS = (
    Option("unconstrained", "substeps", "how forces move nodes before constraints act", choices=UNCONSTRAINED),
)


def refuses(model: Model) -> str | None:
    """Why these steps can not treat a model with sheets."""
    if not any((model.bodies.w[sheet.slots, 0] > 0).any() for sheet in model.sheets):
        return "no node of its cloth can move; leave some unpinned"
    edges = tuple(f"{sheet.name}.edge[" for sheet in model.sheets)
    others = [info.name for info in model.constraint_info if not info.name.startswith(edges)]
    if others:
        return _beside_edges(model, others)
    if any(info.kind == "rigid" and info.motion == "free" for info in model.body_info):
        return (
            "it has rigid bodies that move freely beside its cloth; make them fixed, driven, or particles with a radius"
        )
    if model.inequalities.restitution.any():
        return "it has restitution, but contacts beside cloth are inelastic; set it to 0"
    free = int((model.bodies.w[: model.bodies.slots, 0] > 0).sum())
    if free - sum(int((model.bodies.w[sheet.slots, 0] > 0).sum()) for sheet in model.sheets) > MOST_BALLS:
        return f"it has more than {MOST_BALLS} free particles beside its cloth"
    two = model.inequalities.rows.ptr[1:] - model.inequalities.rows.ptr[:-1]
    if (two > 2).any():
        return "it has an inequality between more than two points beside its cloth"
    return None


def _beside_edges(model: Model, others: list[str]) -> str:
    pins = tuple(f"{sheet.name}.pin[" for sheet in model.sheets)
    pinned = next((name for name in others if name.startswith(pins)), None)
    what = f"it has the constraint '{others[0]}'"
    if pinned:
        what = f"a node is joined to a body that moves freely ('{pinned}')"
    remedy = "fix or drive that body" if pinned else "leave it out"
    if model.is_unilateral:
        without = "take limits and contacts away (limit=None) and use a method for any constraint, such as rattle"
    else:
        without = "use a method for any constraint, such as rattle"
    return f"{what}, but its steps with cloth hold hard edges, limits and contacts only; {remedy}, or {without}"


def refuses_beyond_hard_edges(model: Model) -> str | None:
    if model.inequality_names or len(model.touching) or any(sheet.is_limited for sheet in model.sheets):
        return "it has limits or contacts, and a projection knows equalities only; use implicit_first"
    return refuses(model)


def for_sheets(method: Method, projects: bool = False) -> Method:
    options = (*method.options, *OPTIONS)

    def start(model, system, state, par):
        named = dict(zip((option.name for option in options), par[3:]))
        return state, pack(system, state, held(model, state, par, named, projects))

    def grow(par):
        return pack(*BOXES[par.box][:2], more_room(contents(par)))

    return replace(
        method, form="sheets", step=hold.step, options=options, observe=report.observe, measure=report.measure,
        start=start, grow=grow, memory=memory_of, tolerance=TOLERANCE, takes_tolerance=True,
        refuses=refuses_beyond_hard_edges if projects else refuses, unilateral=None, sheets=None,
    )  # fmt: skip
