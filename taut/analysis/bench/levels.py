"""What shipped code loses: steps in code for a level of processors, which a wheel carries, beside those in code for the
processor at hand.

Each kind of code runs in processes of its own, `python -m taut.analysis.bench.levels`, which take turns: how arrays and
functions come to lie in memory differs between processes and alone makes a short step up to 5 % slower, so the least
of several processes counts, in time of the processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time as clock
from math import inf
from typing import Any

from ...compiled.level import LEVEL
from ...methods import METHODS
from ...model import build
from ...scene import gallery
from ..timing import Loop, enough_steps
from .base import Part, Report, Settings, Table, digits

Case = tuple[str, dict[str, int], str, float | None]  # scene, its parameters, method, time step (None: the scene's own)
CHAINS: dict[str, Case] = {
    f"chain of {n:,}, {method}": ("chain", {"n": n}, method, 0.001)
    for n in (2, 100, 1_000)
    for method in ("implicit_first", "implicit_second", "rattle")
}
SCENES: dict[str, Case] = {
    f"{scene}, {method}": (scene, {}, method, None)
    for scene, method in (
        ("billiard", "baumgarte"), ("ball_pile", "implicit_first"), ("four_bar", "implicit_second"),
        ("four_bar_rigid", "implicit_second"), ("cloth_ball", "implicit_first"),
    )  # fmt: skip
}
CASES = CHAINS | SCENES
QUICK = "chain of 2, implicit_first"
PROCESSES = 4  # of each kind
BUDGET = 0.5  # seconds of repeats of one case in one process
MOST_STEPS = 4_000
SCENE_STEPS = 300  # of scenes whose steps become dearer as a run goes on: both kinds of code must take the same
NATIVE = "native"
LOSS = 1.05  # from which on code for the processor at hand is compiled in the background (simulation/native.py)


def loop_of(name: str) -> Loop:
    scene_name, parameters, method, dt = CASES[name]
    scene = gallery(scene_name, **parameters)
    return Loop.of(scene, build(scene), METHODS[method], dt or scene.suggested["dt"])


def least(name: str, budget: float) -> float:
    """Seconds of the processor per step, the least of repeats."""
    loop = loop_of(name)
    steps = SCENE_STEPS if name in SCENES else min(MOST_STEPS, enough_steps(loop.processor_seconds))
    began, best, rounds = clock.process_time(), inf, 0
    while rounds < 3 or clock.process_time() - began < budget:
        best = min(best, loop.processor_seconds(steps) / steps)
        rounds += 1
    return best


def once(level: str, names: list[str], budget: float) -> list[float]:
    """The cases in a new process, in code for a level or for the processor at hand."""
    env = {**os.environ, "TAUT_NATIVE": "1"}
    if level != NATIVE:
        env |= {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
    command = [sys.executable, "-m", __name__, str(budget), *names]
    found = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(found.stdout)


def measure(settings: Settings) -> Report:
    """With `quick` one case in one process of each kind."""
    names = [QUICK] if settings.quick else list(CASES)
    best: dict[str, dict[str, float]] = {name: {NATIVE: inf, LEVEL: inf} for name in names}
    for _ in range(1 if settings.quick else PROCESSES):
        for level in (NATIVE, LEVEL):
            for name, seconds in zip(names, once(level, names, 0.0 if settings.quick else BUDGET)):
                best[name][level] = min(best[name][level], seconds)
    rows = []
    for name, found in best.items():
        ratio = found[LEVEL] / found[NATIVE]
        shown = f"**{ratio:.2f}**" if ratio > LOSS else f"{ratio:.2f}"
        rows.append([name, digits(1e6 * found[NATIVE]), digits(1e6 * found[LEVEL]), shown])
    numbers: dict[str, Any] = {"seconds_per_step": best}
    header = ["", NATIVE, LEVEL, f"{LEVEL} / {NATIVE}"]
    return Report([Table("µs of the processor per step", header, rows)], (), numbers)


PART = Part("levels", "steps in shipped code beside steps in code for this processor", measure)

if __name__ == "__main__":
    print(json.dumps([least(name, float(sys.argv[1])) for name in sys.argv[2:]]))
