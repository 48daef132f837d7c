"""The forms for cloth and solids of methods that hold constraints by multipliers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...model.model import Model
from ..base import Method, Option
from ..box import BOXES
from . import hold, report
from .box import contents, pack
from .joins import pins_of
from .net import memory_of
from .tables import UNCONSTRAINED, Held, held, more_room

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
    known = {info.name for info in pins_of(model)}
    other = next((i.name for i in model.constraint_info if i.name not in known and not i.name.startswith(edges)), None)
    if other is not None:
        without = "take limits and contacts away (limit=None) and " if model.is_unilateral else ""
        return (
            f"it has the constraint '{other}', but its steps with cloth hold hard edges, pins, limits and contacts "
            f"only; leave it out, or {without}use a method for any constraint, such as rattle"
        )
    if model.inequalities.restitution.any():
        return "it has restitution, but contacts beside cloth are inelastic; set it to 0"
    free = int((model.bodies.w[: model.bodies.slots, 0] > 0).sum())
    if free - sum(int((model.bodies.w[sheet.slots, 0] > 0).sum()) for sheet in model.sheets) > MOST_BALLS:
        return f"it has more than {MOST_BALLS} free particles beside its cloth (a rigid body counts as two)"
    two = model.inequalities.rows.ptr[1:] - model.inequalities.rows.ptr[:-1]
    if (two > 2).any():
        return "it has an inequality between more than two points beside its cloth"
    return _of_rigid(model) or _of_seams(model)


def _of_rigid(model: Model) -> str | None:
    """Contacts of rigid bodies that these steps do not know."""
    rigid = {info.slot: info.name for info in model.body_info if info.kind == "rigid" and info.motion == "free"}
    ineq, touching = model.inequalities, model.touching
    ptr = ineq.rows.ptr.astype(np.int64)
    friction = np.repeat(ineq.friction, ptr[1:] - ptr[:-1])  # of each block of a point
    rough = ineq.rows.slot[: len(friction)][(friction > 0) & (ineq.arm[: len(friction)] > 0)].tolist()
    rough += touching.ball_slot[touching.ball_friction > 0].tolist()
    ball = next((rigid[slot] for slot in rough if slot in rigid), None)
    if ball is not None:
        return f"the rigid ball '{ball}' has friction, which would turn it; make it a particle, or set friction to 0"
    row, places = np.unique(ineq.rows.spin_row, return_counts=True)
    if (places > 1).any():
        name = model.inequality_names[int(row[places > 1][0])]
        return f"the inequality '{name}' is between places on two rigid bodies; make one of them a particle"
    return None


def _of_seams(model: Model) -> str | None:
    """Sheets that are sewn together would always touch along the seam."""
    sheet_of = {int(slot): k for k, sheet in enumerate(model.sheets) for slot in sheet.slots}
    pairs = {tuple(pair) for pair in model.touching.sheet_pairs.tolist()}
    for pin in pins_of(model):
        ends = tuple(sorted(sheet_of.get(point, -1) for point in pin.points))
        if ends in pairs:
            a, b = (model.sheets[k].name for k in ends)
            return f"'{a}' is sewn to '{b}' ('{pin.name}'), and they may touch; leave that contact out, or the pin"
    return None


def refuses_beyond_hard_edges(model: Model) -> str | None:
    if model.inequality_names or len(model.touching) or any(sheet.is_limited for sheet in model.sheets):
        return "it has limits or contacts, and a projection knows equalities only; use implicit_first"
    return refuses(model)


def unused(tables: Held) -> set[str]:
    """Functions and files that a scene never calls need not be compiled; see hold.piece and settle.settle."""
    solids, pins = tables.net.solids, len(tables.net.joins.row)
    inside = tables.limited and not tables.paper
    touching = len(solids.phi) > 0 or tables.has_facets
    rough = (solids.friction > 0).any() or (tables.friction > 0).any()
    found = set()
    if not tables.has_facets:
        found |= {"between", "bind_facets"}
    if tables.projects and not pins:
        return found | {"settle", "interior", "rooms", "descent"}
    found |= {"lengths"}
    if not inside:
        found |= {"interior", "rooms"}
    if inside or not (tables.limited or touching):
        found |= {"descend", "go_downhill", "energy"}
    if not rough:
        found |= {"in_rounds"}
    return found


def for_sheets(method: Method, projects: bool = False) -> Method:
    options = (*method.options, *OPTIONS)

    def start(model, system, state, par):
        named = dict(zip((option.name for option in options), par[3:]))
        tables = held(model, state, par, named, projects)
        return state, pack(system, state, tables, unused(tables))

    def grow(par):
        tables = more_room(contents(par))
        return pack(*BOXES[par.box][:2], tables, unused(tables))

    return replace(
        method, form="sheets", step=hold.step, options=options, observe=report.observe, measure=report.measure,
        start=start, grow=grow, memory=memory_of, tolerance=TOLERANCE, takes_tolerance=True,
        refuses=refuses_beyond_hard_edges if projects else refuses, unilateral=None, sheets=None,
        levels=("position",),
    )  # fmt: skip
