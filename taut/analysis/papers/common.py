"""What experiments share: a method with its options, a quiet run, the yardstick, and what is measured.

Σ|Φ| over the constraints at a step: the papers' constraint error                   (1)
Σ over steps of (1): the accumulated error                                          (2)
e(t) = |x(t) - x_ref(t)| of one body: the trajectory error                          (3)
the horizon: the first t with e(t) above a limit                                    (4)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from ...errors import TautWarning
from ...methods import METHODS
from ...model import build
from ...result import Run
from ...scene.scene import Scene
from ...simulation.run import simulate
from .. import metrics
from ..metrics import body_error as trajectory_error
from ..metrics import constraint_error as drift
from .base import number

TIGHT, LOOSE = 1e-12, 1e-11  # tolerances of the reference solution and of the one that tells its error
BUSY = 0.2  # by which the two least times of a method may differ
LOOSE_INTERVAL = 0.5  # s between its records, so that its internal steps are its own

INTEGRATOR_WORDS = {
    "euler": "explicit Euler",
    "symplectic": "symplectic Euler",
    "ab2": "Adams-Bashforth 2",
    "rk4": "Runge-Kutta 4",
}


@dataclass(frozen=True)
class Case:
    """A method with its options, and how plots and claims call it."""

    method: str
    options: dict[str, Any] = field(default_factory=dict)
    label: str = ""

    def __str__(self) -> str:
        if self.label:
            return self.label
        base = self.options.get("integrator")
        return f"{self.method} on {INTEGRATOR_WORDS[base]}" if base else self.method


def by_integrator(values: dict[str, Any]) -> str:
    """Values by base integrator, in words."""
    return ", ".join(f"{INTEGRATOR_WORDS[base]} {number(value)}" for base, value in values.items())



def case(method: str, label: str = "", **options: Any) -> Case:
    return Case(method, options, label)


def go(scene: Scene, case: Case | str, dt: float, duration: float, **more: Any) -> Run:
    """Simulate without a word: warnings about starts and solvers are part of the experiment."""
    case = Case(case) if isinstance(case, str) else case
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", TautWarning)
        return simulate(scene, method=case.method, dt=dt, duration=duration, progress=False, **{**case.options, **more})


@dataclass(frozen=True)
class Truth:
    """The reference solution, and how far it can be trusted."""

    run: Run
    own: np.ndarray  # (T,) largest distance of any body, up to each record, from a looser solution [m]

    def own_until(self, time: float) -> float:
        row = int(np.searchsorted(self.run.records.time, time - 1e-9))
        return float(self.own[min(row, len(self.own) - 1)])


def truth(scene: Scene, dt: float, duration: float) -> Truth:
    """Reduced coordinates where the scene has them, otherwise the projected solution of order 8."""
    model = build(scene)
    reduced = METHODS.get("reduced")
    method = "reduced" if reduced is not None and reduced.refusal(model) is None else "reference"
    run = go(scene, method, dt, duration, tolerance=TIGHT)
    skip = max(1, round(LOOSE_INTERVAL / dt))
    loose = go(scene, method, skip * dt, duration, tolerance=LOOSE).records.x
    tight = run.records.x[::skip]
    rows = min(len(tight), len(loose))
    apart = np.maximum.accumulate(np.linalg.norm(tight[:rows] - loose[:rows], axis=2).max(axis=1))
    place = np.minimum(-(-np.arange(len(run.records)) // skip), rows - 1)  # the next common record
    return Truth(run, apart[place])


def solves_per_step(scene: Scene, case: Case, dt: float, steps: int = 200) -> float:
    """Linear systems solved in a step, from two runs: some methods solve one more where they record λ."""
    counts = [go(scene, case, dt, n * dt, record_every=n).info["linear_solves"] for n in (steps, 2 * steps)]
    return (counts[1] - counts[0]) / steps


def microseconds(
    scene: Scene, cases: Sequence[Case], dt: float, steps: int, most: int
) -> dict[str, tuple[float, float]]:
    """Time per step of each method: the least of a few runs, and the next to it.

    Methods take turns, so that what else the machine does meets all alike. It only ever adds time, hence the
    least; when the next is near it, it was met undisturbed, and less than `most` runs will do.
    """
    per_step: dict[str, list[float]] = {str(one): [] for one in cases}
    for k in range(most):
        if k >= 20 and all(np.diff(sorted(times)[:2])[0] < 0.5 * BUSY * min(times) for times in per_step.values()):
            break
        for one in cases:
            result = go(scene, one, dt, steps * dt, record_every=steps)
            per_step[str(one)].append(1e6 * result.info["wall_time"] / steps)
    return {name: (sorted(times)[0], sorted(times)[1]) for name, times in per_step.items()}


def busy(times: Iterable[tuple[float, float]]) -> str:
    """Says so where the least times are not met twice."""
    noise = max(second / least - 1 for least, second in times)
    return f"the machine was busy: times repeat only to {100 * noise:.0f} %" if noise > BUSY else ""


def accumulated(run: Run, until: float = inf) -> float:
    """(2); the start is not a step."""
    taken = run.records.time <= until + 1e-9
    with np.errstate(all="ignore"):
        return float(drift(run)[taken][1:].sum())


def reached_end(run: Run) -> bool:
    """Whether all steps were taken; one that diverged may have gone on, and is data all the same."""
    return run.steps == run.info["steps"]


def horizon(run: Run, reference: Run, body: str, limit: float) -> float:
    """(4), or infinity."""
    return metrics.horizon(run.records.time, trajectory_error(run, reference, body), limit, reached_end(run))


def horizon_words(seconds: float, duration: float) -> str:
    return f"more than {duration:g} s" if seconds == inf else number(seconds, "s")


def broken_at(run: Run, limit: float) -> int | None:
    """The first step at which the constraint error (1) is above the limit or not finite."""
    beyond = np.flatnonzero(~(drift(run) <= limit))
    if beyond.size:
        return int(beyond[0]) * run.info["record_every"]
    return None if reached_end(run) else run.steps


def height(run: Run, body: str) -> np.ndarray:
    slot = next(info.slot for info in run.labels.bodies if info.name == body)
    return run.records.x[:, slot, 1]


def total_energy(run: Run) -> np.ndarray:
    with np.errstate(all="ignore"):
        return run.records.energy[:, 0] + run.records.energy[:, 1]
