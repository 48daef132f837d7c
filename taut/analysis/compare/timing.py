"""What a step costs: the compiled loop alone, without records, one method after the other in one process.

Runs of a comparison share the cores with each other, so their own times would depend on their neighbours.
"""

from __future__ import annotations

import time as clock
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model import Model
from ...model.arrays import LINEAR_SOLVES
from ...scene.scene import Scene
from ...simulation.loop import calls_for, loop
from ...simulation.session import Session

LONGEST = 0.25  # seconds of one repeat at most
LONGEST_OF_SHEETS = 20.0
ENOUGH = 0.03  # seconds of all repeats together at least
REPEATS = (3, 100)  # fewest and most
NOT_TIMED = (np.nan, np.nan)


@dataclass(frozen=True)
class Cost:
    us_per_step: float
    solves_per_step: float


def cost_of_step(scene: Scene, model: Model, info: dict[str, Any]) -> Cost:
    """The shortest of some repeats of a run's first steps; `info` is that of the run."""
    steps = int(info["steps_done"])
    if steps == 0:
        return Cost(*NOT_TIMED)
    per_step = max(info["wall_time"] / steps, 1e-9)
    if model.sheets:
        return _of_whole_run(scene, model, info, max(1, min(steps, int(LONGEST_OF_SHEETS / per_step))))
    steps = max(1, min(steps, int(LONGEST / per_step)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = Session(scene, model, info)
    calls = calls_for(session.method, session.system, session.state, session.par)
    start = [array.copy() for array in session.state]
    none = session.buffers(1)
    counts = session.system.work.counts

    def seconds(count: int) -> float:
        for array, values in zip(session.state, start):
            array[...] = values
        counts[:] = 0
        began = clock.perf_counter()
        loop(calls, session.system, session.state, session.par, info["dt"], 0, count, count + 1, False, none)
        return clock.perf_counter() - began

    seconds(1)  # loads the code
    spent: list[float] = []
    while len(spent) < REPEATS[0] or (sum(spent) < ENOUGH and len(spent) < REPEATS[1]):
        spent.append(seconds(steps))
    return Cost(1e6 * min(spent) / steps, counts[LINEAR_SOLVES] / steps)


def _of_whole_run(scene: Scene, model: Model, info: dict[str, Any], steps: int) -> Cost:
    """The same of sheets, whose steps differ: cheap while they fall, dear when something hits them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Session(scene, model, {**_plan(info), "steps": steps, "record_every": steps}).run(progress=False).info
    return Cost(1e6 * found["wall_time"] / steps, found["linear_solves"] / steps)


def _plan(info: dict[str, Any]) -> dict[str, Any]:
    names = ("method", "dt", "solver", "tolerance", "project_initial", "repair", "options")
    return {name: info[name] for name in names}
