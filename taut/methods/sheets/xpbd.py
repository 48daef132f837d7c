"""XPBD: springs and hard edges as position constraints with a compliance; see taut/cloth/xpbd.py.

Hard edges and limits have none. Small steps with one iteration each are the strong form. λ of hard edges is not
reported: it is what one sweep leaves.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...cloth.springs import in_colours
from ...cloth.xpbd import step_xpbd, xpbd
from ...jit import part
from ...model.evaluate import set_time
from ..base import OK, Method, Option
from .base import external, refuses, sheets, springs_of


def start(model, system, state, par):
    springs = in_colours(springs_of(model, np.inf, limits=True), len(model.x))
    return state, sheets(model, system, par, springs, xpbd(springs, len(model.x)))


@part
def step(system, state, t, h, par):
    external(system, state, t, par.batch, par.members)
    substeps, iterations = int(par.numbers[3]), int(par.numbers[4])
    step_xpbd(par.room, par.springs, state.x, state.v, par.w, system.work.f, h, substeps, iterations)
    set_time(system, t + h, state.x, state.quat, state.v)
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
)
METHOD = replace(METHOD, sheets=METHOD)
