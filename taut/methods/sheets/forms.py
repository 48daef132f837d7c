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
    if model.row_count > sum(len(sheet.hard_edges) for sheet in model.sheets):
        return (
            "it has constraints besides the hard edges of its sheets, such as pins to bodies that move freely; rattle "
            "and other methods treat these where sheets have no limits and no contacts"
        )
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
