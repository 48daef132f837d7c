"""How often Python is entered while a run goes on: it must not depend on the number of steps.

Between two records only compiled code runs. A run comes back to Python to hand over records, to move the
progress bar and to notice Ctrl-C, which is a matter of seconds and not of steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ...methods import Method
from ...model import build
from ...scene import Scene, gallery
from ...simulation.loop import TimeLoop
from ...simulation.run import simulate
from ..timing import Loop
from .base import Part, Report, Settings, Table, Target

SCENE, DT = "two_link", 1e-4
STEPS = (10_000, 100_000)
STEPS_ASKED = 3  # which argument of TimeLoop.__call__ says how many steps to take
MOST_CALLS = 2_000  # before the first step


def python_calls(action: Callable[[], object]) -> int:
    """Calls of Python functions, and from Python of others, that an action makes."""
    count = 0

    def note(frame: object, event: str, what: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def calls_in_loop(method: Method, steps: int) -> int:
    """Calls while the compiled loop takes the steps, the call of the loop itself included."""
    scene = gallery(SCENE)
    loop = Loop.of(scene, build(scene), method, DT)
    loop.seconds(1)  # loads compiled code
    return python_calls(lambda: loop.advance(steps))


def calls_in_run(method: Method, steps: int) -> int:
    """Calls of a whole simulate() that keeps the start and the end."""
    scene = gallery(SCENE)

    def run() -> object:
        return simulate(
            scene, method=method.name, dt=DT, duration=steps * DT, record_every=steps, progress=False
        )

    run()
    return python_calls(run)


class _FirstStep(Exception):
    """The loop is asked for a step."""


def calls_before_first_step(method: Method, known: bool) -> int:
    """Calls of simulate() until its first step: of a scene that was simulated before, or of a new one like it."""

    def run(scene: Scene) -> object:
        return simulate(scene, method=method.name, dt=DT, duration=DT, progress=False)

    def until_step(*arguments: Any) -> Any:
        if arguments[STEPS_ASKED]:
            raise _FirstStep
        return own(*arguments)

    first, own = gallery(SCENE), TimeLoop.__call__
    run(first)
    scene = first if known else gallery(SCENE)

    def start() -> None:
        with suppress(_FirstStep):
            run(scene)

    TimeLoop.__call__ = until_step  # type: ignore[method-assign, assignment]
    try:
        return python_calls(start)
    finally:
        TimeLoop.__call__ = own  # type: ignore[method-assign, assignment]


def measure(settings: Settings) -> Report:
    rows, numbers, added, begun = [], {}, [], []
    for method in settings.methods:
        if method.refusal(build(gallery(SCENE))) is not None:
            continue
        inside = [calls_in_loop(method, steps) for steps in STEPS]
        whole = [calls_in_run(method, steps) for steps in STEPS]
        before = [calls_before_first_step(method, known) for known in (False, True)]
        begun.append(before)
        rows.append([method.name, *(f"{count:,}" for count in (*inside, *whole, *before))])
        numbers[method.name] = {"loop": inside, "simulate": whole, "before the first step": before}
        added.append(inside[1] - inside[0])
    header = ["", *(f"{where}, {steps:,} steps" for where in ("loop", "simulate()") for steps in STEPS),
              "before the first step, new scene", "same scene again"]  # fmt: skip
    return Report(
        tables=[Table("Python calls", header, rows)],
        targets=[
            Target(f"calls added by {STEPS[1] - STEPS[0]:,} more steps in the loop, any method", max(added), 0),
            Target("calls before the first step, new scene, any method", max(new for new, _ in begun), MOST_CALLS),
            Target("calls before the first step, same scene again", max(again for _, again in begun), MOST_CALLS),
        ],
        numbers={"steps": list(STEPS), "calls": numbers},
    )


PART = Part("calls", "Python calls while a run goes on", measure)
