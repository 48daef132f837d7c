"""Timing: the compiled loop of a run without records, from the same start each time.

Minima of repeats are reported: on a shared machine all that disturbs a run makes it longer. What is compared
with each other is measured in turns, so that a busy minute does not fall on one side only.
"""

from __future__ import annotations

import os
import platform
import time as clock
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numba
import numpy as np

from ..errors import TautWarning
from ..expressions.compiled import raise_mistake
from ..methods import Method
from ..model import Model
from ..model.arrays import LINEAR_SOLVES
from ..scene.scene import Scene
from ..simulation.loop import OK
from ..simulation.session import Session

LONGEST = 20_000  # steps in a repeat: unstabilized methods leave their constraints after many more
LONGEST_REPEAT, LONGEST_OF_CLOTH = 0.25, 20.0  # seconds at most, of steps that are timed in a comparison
ENOUGH, REPEATS = 0.03, (3, 100)  # seconds of all its repeats together at least; fewest and most
SHORTEST_REPEAT = 0.008  # seconds, where LONGEST allows; short ones find a quiet moment on a busy machine

Seconds = Callable[[int], float]  # how long that many steps take


class Loop:
    """A scene laid out for a plan: its time loop can be run again and again from the start."""

    def __init__(self, scene: Scene, model: Model, plan: dict[str, Any]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TautWarning)
            self.session = Session(scene, model, plan)
        self.dt = plan["dt"]
        self.state, self.system = self.session.state, self.session.system
        self.start = [array.copy() for array in self.state]

    @classmethod
    def of(cls, scene: Scene, model: Model, method: Method, dt: float, tolerance: float | None = None) -> Loop:
        """With the method's own options."""
        return cls(scene, model, {
            "method": method.name, "dt": dt, "steps": 1, "record_every": 1, "solver": "auto",
            "tolerance": tolerance, "project_initial": True, "options": {},
        })  # fmt: skip

    def restart(self) -> None:
        for array, first in zip(self.state, self.start):
            array[...] = first
        self.system.work.counts[:] = 0

    def advance(self, steps: int) -> bool:
        """Take steps without a record; False where they did not come to their end."""
        never, session = steps + 1, self.session
        _, _, status = session.loop(self.dt, 0, steps, never, 0, session.no_records)
        raise_mistake()
        return status == OK

    def seconds(self, steps: int, now: Callable[[], float] = clock.perf_counter) -> float:
        """How long that many steps from the start take; nan where they do not come to their end."""
        self.restart()
        began = now()
        finished = self.advance(steps)
        return now() - began if finished else nan

    def processor_seconds(self, steps: int) -> float:
        """The same in time of the processor, which other work on the machine does not lengthen."""
        return self.seconds(steps, clock.thread_time)

    @property
    def nbytes(self) -> int:
        """Memory [bytes] of all arrays that the loop works on: the system's and the state's."""
        return sum(array.nbytes for array in arrays((self.system, self.state)))


def arrays(value: Any) -> Iterable[np.ndarray]:
    """The arrays in named tuples of named tuples."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays(part)


def enough_steps(seconds: Seconds, most: int = LONGEST) -> int:
    """How many steps make a repeat that a clock can measure."""
    steps = 1
    seconds(steps)  # compiles, or loads what was compiled
    while steps < most and seconds(steps) < SHORTEST_REPEAT:
        steps = min(most, 2 * steps)
    return steps


def in_turns(runs: Mapping[str, tuple[Seconds, int]], budget: float, least: int = 3) -> dict[str, float]:
    """Seconds per step of each run, the least of repeats taken in turns for about `budget` seconds."""
    best = dict.fromkeys(runs, inf)
    began, rounds = clock.perf_counter(), 0
    while rounds < least or clock.perf_counter() - began < budget:
        for name, (seconds, steps) in runs.items():
            best[name] = least_of(best[name], seconds(steps) / steps)
        rounds += 1
    return best


def least_of(a: float, b: float) -> float:
    """As min, but what was not measured stays so."""
    return nan if a != a or b != b else min(a, b)


@dataclass(frozen=True)
class Cost:
    """Of a step, in a comparison; nan: not timed."""

    us_per_step: float
    solves_per_step: float


def cost_of_step(scene: Scene, model: Model, info: dict[str, Any]) -> Cost:
    """The shortest of some repeats of a run's first steps; `info` is that of the run.

    One method after the other in one process: runs of a comparison share the cores with each other, so their own times
    would depend on their neighbours.
    """
    steps = int(info["steps_done"])
    if steps == 0:
        return Cost(nan, nan)
    per_step = max(info["wall_time"] / steps, 1e-9)
    if model.deformables:
        return _of_whole_run(scene, model, info, max(1, min(steps, int(LONGEST_OF_CLOTH / per_step))))
    steps = max(1, min(steps, int(LONGEST_REPEAT / per_step)))
    timed = Loop(scene, model, info)
    timed.seconds(1)  # loads the code
    spent: list[float] = []
    while len(spent) < REPEATS[0] or (sum(spent) < ENOUGH and len(spent) < REPEATS[1]):
        spent.append(timed.seconds(steps))
    return Cost(1e6 * min(spent) / steps, timed.system.work.counts[LINEAR_SOLVES] / steps)


def _of_whole_run(scene: Scene, model: Model, info: dict[str, Any], steps: int) -> Cost:
    """The same of cloth, whose steps differ: cheap while they fall, dear when something hits them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Session(scene, model, {**_plan(info), "steps": steps, "record_every": steps}).run(progress=False).info
    return Cost(1e6 * found["wall_time"] / steps, found["linear_solves"] / steps)


def _plan(info: dict[str, Any]) -> dict[str, Any]:
    names = ("method", "dt", "solver", "tolerance", "project_initial", "repair", "options")
    return {**{name: info[name] for name in names}, "settings": info.get("settings", {})}


def machine() -> str:
    """The machine and what ran on it, for the head of a report."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return (
        f"{name}, {os.cpu_count()} cores; Python {platform.python_version()}, numpy {np.__version__}, "
        f"numba {numba.__version__}"
    )
