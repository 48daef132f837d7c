"""Provot's correction: springs integrated explicitly, then over-long ones cut back; see taut/cloth/provot.py."""

from __future__ import annotations

from dataclasses import replace

from ...cloth.explicit import EULER
from ...cloth.provot import provot, step_provot
from ...jit import part
from ...model.evaluate import set_time
from ..base import OK, Method, Option
from .base import external, sheets, springs_of
from .base import refuses as refuses_in_general

LIMIT = 0.1  # where a sheet has none of its own


def refuses(model):
    if any(len(sheet.hard_edges) for sheet in model.sheets):
        return "it has hard edges; give them a limit instead"
    return refuses_in_general(model)


def start(model, system, state, par):
    return state, sheets(model, system, par, springs_of(model, 0.0, limits=False), provot(len(model.x)))


@part
def step(system, state, t, h, par):
    external(system, state, t, par.batch, par.members)
    substeps, iterations, limit = int(par.numbers[3]), int(par.numbers[4]), par.numbers[5]
    rule = EULER
    step_provot(
        par.room, par.springs, state.x, state.v, par.w, system.work.f, h, rule, substeps, limit, iterations
    )
    set_time(system, t + h, state.x, state.quat, state.v)
    return OK


METHOD = Method(
    name="provot",
    doc="Cloth: explicit springs, then over-long ones are cut back by moving their nodes.",
    source="Provot 1995",
    level="position, iterated",
    order=1,
    order_position=0,
    order_velocity=0,
    step=step,
    takes_tolerance=False,
    options=(
        Option("substeps", 1, "small steps in one", minimum=1),
        Option("iterations", 20, "corrections over all springs", minimum=1),
        Option("limit", LIMIT, "elongation above which springs are cut back", minimum=0.0),
    ),
    solves="0",
    refuses=refuses,
    start=start,
)
METHOD = replace(METHOD, sheets=METHOD)
