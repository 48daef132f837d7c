"""XPBD: springs and hard edges as position constraints with a compliance; see taut/cloth/xpbd.py.

Hard edges and limits have none, and neither have contacts (bump.py), which follow each sweep over springs. Small
steps with one iteration each are the strong form. λ of hard edges is not reported: it is what one sweep leaves.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...cloth.explicit import measure_velocity
from ...cloth.springs import in_colours
from ...cloth.xpbd import predict, project, xpbd
from ...compiled import compiled
from ...model.evaluate import set_time
from ..base import OK, Method, Option
from .base import external, refuses, sheets, springs_of
from .bump import push_out, set_off, to_forces
from .report import count_drivers, measure_bumps, observe_bumps


def start(model, system, state, par):
    springs = in_colours(springs_of(model, np.inf, limits=True), len(model.x))
    return state, sheets(model, system, par, springs, xpbd(springs, len(model.x)))


@compiled
def step(system, state, t, h, par):
    external(system, state, t, par.batch, par.members)
    substeps, iterations = int(par.numbers[3]), int(par.numbers[4])
    x, v, dt = state.x, state.v, h / substeps
    for k in range(substeps):
        now = t + (k + 1) * dt
        set_off(system, state, now - dt, dt, par.solids)
        predict(par.room, x, v, par.w, system.work.f, dt)
        set_time(system, now, x, state.quat, v)
        for _ in range(iterations):
            project(par.room, par.springs, x, par.w, dt)
            push_out(system, state, now, par.solids, par.w)
        measure_velocity(x, par.room.start, dt, v)
        to_forces(par.solids, dt)
    set_time(system, t + h, state.x, state.quat, state.v)
    count_drivers(system, state, t + h, h)
    return OK


METHOD = Method(
    name="xpbd",
    doc="Cloth: springs and edges as compliant position constraints, swept over.",
    source="Macklin, Müller, Chentanez 2016",
    level="position, iterated",
    order=1,
    order_position=0,
    order_velocity=0,
    step=step,
    takes_tolerance=False,
    options=(
        Option("substeps", 20, "small steps in one", minimum=1),
        Option("iterations", 1, "sweeps in each", minimum=1),
    ),
    solves="0",
    refuses=refuses,
    start=start,
    observe=observe_bumps,
    measure=measure_bumps,
)
METHOD = replace(METHOD, sheets=METHOD)
