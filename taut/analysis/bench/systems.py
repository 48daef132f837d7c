"""Cloth with limits: what the choice of the system costs (system="auto"), beside each system alone.

The constants of cloth/choice.py were fitted on sheets hung by two corners of 30, 60 and 100 nodes a side. Scenes here
have other sizes, weights, stiffnesses, rules and contacts, so that the choice is judged on what it has not seen. Times
are those of the processor per step, without set-up: of a run less those of its first steps, the least of repeats, the
three systems in turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...progress import print_status
from ...result import Run
from ...scene import gallery
from ...scene.deformables import with_system
from ...scene.scene import Scene
from ...simulation.run import simulate
from .base import Part, Report, Settings, Table, Target, digits

ALLOWED = 1.2  # times as long as the better of both
STEP, FEW, REPEATS = 1 / 240, 4, 2
SYSTEMS = ("active", "nodes", "auto")


@dataclass(frozen=True)
class Case:
    label: str
    make: Callable[[], Scene]
    steps: int
    rule: str = "exact"

    def scene(self, system: str) -> Scene:
        scene = with_system(self.make(), system)
        for name, one in scene.deformables.items():
            scene._deformables[name] = replace(one, limit_rule=self.rule)
        return scene


def hung(n: int, density: float, stiffness: float = 50.0) -> Callable[[], Scene]:
    def make() -> Scene:
        scene = Scene(name="hung")
        scene.cloth(grid=(n, n), density=density, stiffness=stiffness, shear=5, bending=0.05, damping=1e-3, limit=0.1,
                    pins=[0, n - 1], system="auto")  # fmt: skip
        return scene

    return make


def shown(name: str, **parameters: Any) -> Callable[[], Scene]:
    return lambda: gallery(name, **parameters)


CASES = (
    *(Case(f"hung, {n} x {n}, {density:g} kg/m²", hung(n, density), steps)
      for n, density, steps in ((20, 0.5, 120), (40, 0.1, 120), (40, 0.5, 120), (40, 2.0, 120), (40, 10.0, 120),
                                (80, 0.1, 96), (80, 0.5, 96), (80, 3.0, 96))),
    Case("hung, 40 x 40, 0.5 kg/m², 10 N/m", hung(40, 0.5, 10.0), 120),
    Case("hung, 40 x 40, 0.5 kg/m², 1,000 N/m", hung(40, 0.5, 1000.0), 120),
    Case("hung, 40 x 40, 0.5 kg/m², paper", hung(40, 0.5), 120, "paper"),
    Case("hung, 40 x 40, 10 kg/m², paper", hung(40, 10.0), 120, "paper"),
    Case("cloth_hang, 40 x 40", shown("cloth_hang", n=40, hard=False), 240),
    Case("cloth_ball, 40 x 40, 1 kg", shown("cloth_ball", n=40, mass=1.0), 120),
    Case("cloth_ball, 40 x 40, 20 kg", shown("cloth_ball", n=40, mass=20.0), 120),
    Case("cloth_ball, 40 x 40, 20 kg, paper", shown("cloth_ball", n=40, mass=20.0), 120, "paper"),
    Case("cloth_ball, 40 x 40, two corners, 3 kg", shown("cloth_ball", n=40, mass=3.0, corners=2), 120),
    Case("flag_wind, 20 x 30", shown("flag_wind"), 240),
    Case("flag_wind, 40 x 60, 15 m/s", shown("flag_wind", n=40, speed=15.0), 120),
)  # fmt: skip
QUICK = (Case("hung, 8 x 8, 0.5 kg/m²", hung(8, 0.5), 8),)


def milliseconds(case: Case, repeats: int) -> tuple[dict[str, float], dict[str, Run]]:
    """Of each system, ms of the processor per step, and its run."""
    scenes = {system: case.scene(system) for system in SYSTEMS}
    found: dict[str, list[float]] = {system: [] for system in SYSTEMS}
    runs: dict[str, Run] = {}

    def spent(system: str, steps: int) -> float:
        began = time.process_time()
        runs[system] = simulate(scenes[system], "implicit_first", STEP, steps * STEP, record_every=FEW, progress=False)
        return time.process_time() - began

    for system in SYSTEMS:
        spent(system, min(case.steps, 3 * FEW))  # code is compiled or loaded
    for _ in range(repeats):
        for system in SYSTEMS:
            short = spent(system, FEW)
            found[system].append(1e3 * max(spent(system, case.steps) - short, 1e-9) / (case.steps - FEW))
    return {system: min(times) for system, times in found.items()}, runs


def measure(settings: Settings) -> Report:
    rows, numbers, targets = [], {}, []
    for case in QUICK if settings.quick else CASES:
        print_status(case.label)
        took, runs = milliseconds(case, 1 if settings.quick else REPEATS)
        better = min(took[system] for system in ("active", "nodes") if runs[system].status == "finished")
        ratio = took["auto"] / better
        steps = runs["auto"].info.get("system_steps", {"active": 0, "nodes": case.steps, "changes": 0})
        held = runs["auto"].records.contacts[:, 2].mean()
        rows.append([case.label, f"{held:,.0f}", *(digits(took[system]) for system in SYSTEMS), f"{ratio:.2f}",
                     f"{steps['active']} of {case.steps}", str(steps["changes"])])  # fmt: skip
        numbers[case.label] = {**took, "ratio": ratio, "active_limits": float(held), **steps,
                               "status": {system: run.status for system, run in runs.items()}}
        if not settings.quick:
            targets.append(Target(f"{case.label}: auto over the better one", ratio, ALLOWED))
    header = ["scene", "active limits", "active", "nodes", "auto", "auto / better", "steps with active", "changes"]
    return Report([Table("ms of the processor per step", header, rows)], targets, numbers)


PART = Part("systems", "cloth with limits: system='auto' beside each system alone", measure)
