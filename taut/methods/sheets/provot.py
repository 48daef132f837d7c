"""Provot's correction: springs integrated explicitly, then over-long ones cut back; see taut/cloth/provot.py.

What got into a solid meanwhile is pushed out (bump.py) after each pass over springs.
"""

from __future__ import annotations

from dataclasses import replace

from ...cloth.explicit import EULER, measure_velocity
from ...cloth.provot import provot, set_out, shorten
from ...compiled import compiled
from ...model.evaluate import set_time
from ..base import OK, Method, Option
from .base import external, sheets, springs_of
from .base import refuses as refuses_in_general
from .bump import push_out, set_off, to_forces
from .report import count_drivers, measure_bumps, observe_bumps

LIMIT = 0.1  # where a sheet has none of its own


def refuses(model):
    if any(len(sheet.hard_edges) for sheet in model.sheets):
        return "it has hard edges; give them a limit instead"
    return refuses_in_general(model)


def start(model, system, state, par):
    return state, sheets(model, system, par, springs_of(model, 0.0, limits=False), provot(len(model.x)))


@compiled
def step(system, state, t, h, par):
    external(system, state, t, par.batch, par.members)
    substeps, iterations, limit = int(par.numbers[3]), int(par.numbers[4]), par.numbers[5]
    x, v, dt, rule = state.x, state.v, h / substeps, EULER
    for k in range(substeps):
        now = t + (k + 1) * dt
        set_off(system, state, now - dt, dt, par.solids)
        set_out(par.room, par.springs, x, v, par.w, system.work.f, dt, rule)
        set_time(system, now, x, state.quat, v)
        for _ in range(iterations):
            too_long = shorten(par.springs, x, par.w, limit)
            inside = push_out(system, state, now, par.solids, par.w)
            if too_long + inside == 0:
                break
        measure_velocity(x, par.room.start, dt, v)
        to_forces(par.solids, dt)
    set_time(system, t + h, state.x, state.quat, state.v)
    count_drivers(system, state, t + h, h)
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
    observe=observe_bumps,
    measure=measure_bumps,
)
METHOD = replace(METHOD, sheets=METHOD)
