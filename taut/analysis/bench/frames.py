"""Cloth frame by frame: how long a frame takes, how far edges are stretched after it, and the memory it needs.

What is measured here runs in a process of its own with one thread, so that the peak of one scene is not taken for
that of the next. Times are those of the processor.
"""

from __future__ import annotations

import multiprocessing
import os
import time as clock
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from math import inf, nan
from typing import Any, Protocol

import numpy as np

from ...errors import TautWarning
from ...methods.base import PAIRS_FULL
from ...model import build
from ...result.dataset import elongations
from ...result.labels import Labels
from ...scene.scene import Scene
from ...simulation.loop import OK
from ...simulation.session import Session

FRAME = 1 / 60  # [s]
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}


class Sheet(Protocol):
    """Cloth in any engine."""

    def frame(self) -> float:
        """Advance by a frame; returns the seconds it took, nan where it failed."""
        ...

    def elongation(self) -> tuple[float, float]:
        """The largest and the mean of its structural edges."""
        ...


class Frames:
    """A scene with cloth, laid out for a method."""

    def __init__(self, scene: Scene, method: str, steps: int, tolerance: float | None = None, **options: Any) -> None:
        """steps: in a frame."""
        plan: dict[str, Any] = {
            "method": method, "dt": FRAME / steps, "steps": 1, "record_every": 1, "solver": "auto",
            "tolerance": tolerance, "project_initial": True, "options": options,
        }  # fmt: skip
        model = build(scene)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TautWarning)
            self.session = Session(scene, model, plan)
        self.steps, self.done = steps, 0
        labels = Labels.of(model)
        self.edges, self.lengths = labels.edges, labels.lengths

    def frame(self) -> float:
        own, left, took = self.session, self.steps, 0.0
        while left:
            loop = own.loop  # compiled, where it has to be, before the clock starts
            began = clock.process_time()
            taken, _, status = loop(own.plan["dt"], self.done, left, left + 1, 0, own.no_records)
            took += clock.process_time() - began
            self.done, left = self.done + taken, left - taken
            if status == PAIRS_FULL:
                own.grow()
            elif status != OK:
                return nan
        return took

    def elongation(self) -> tuple[float, float]:
        largest, mean = elongations(self.session.state.x[None], self.edges, self.lengths)
        return float(largest[0]), float(mean[0])


@dataclass(frozen=True)
class Span:
    """What is measured: frames first + 1 to last after the release."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first + 1} to {self.last}"


@dataclass(frozen=True)
class Measured:
    seconds: float  # per frame, the mean over those of the span
    largest: float  # elongation at the end of any of them,
    mean: float  # and the largest mean over edges
    ended: str = ""  # why it ended early, if it did


def watch(sheet: Sheet, span: Span, allowed: float = inf, patience: float = inf) -> Measured:
    """Take the frames of the span; ends where an edge is longer than allowed, or after so many seconds in all."""
    taken: list[float] = []
    before: list[float] = []
    largest = mean = 0.0
    spent = 0.0
    ended = ""
    for k in range(span.last):
        took = sheet.frame()
        spent += took
        if took != took:
            ended = f"diverged in frame {k + 1}"
            break
        if k < span.first:
            before.append(took)
        else:
            taken.append(took)
            now = sheet.elongation()
            largest, mean = max(largest, now[0]), max(mean, now[1])
            if not largest <= allowed:
                ended = f"longer than allowed in frame {k + 1}"
                break
        if spent > patience and k + 1 < span.last:
            ended = f"stopped in frame {k + 1}, after {patience:g} s"
            break
    if not taken:  # of the frames before, the later ones are nearest to what was to be measured
        return Measured(float(np.mean(before[len(before) // 2 :])) if before else nan, nan, nan, ended)
    return Measured(float(np.mean(taken)), largest, mean, ended)


def least_of_repeats(make: Callable[[], Sheet], span: Span, budget: float, patience: float = inf) -> Measured:
    """The quickest of a few runs, as many as start within the budget [s]; all give the same elongations."""
    began = clock.process_time()
    best = watch(make(), span, patience=patience)
    for _ in range(2):
        if best.ended or clock.process_time() - began > 0.5 * budget:
            break
        other = watch(make(), span)
        best = other if other.seconds < best.seconds else best
    return best


def memory(what: str) -> float:
    """Of this process [bytes]: "VmRSS", resident now, or "VmHWM", the most ever; nan where the system does not tell."""
    with suppress(OSError, StopIteration), open("/proc/self/status", encoding="utf-8") as lines:
        return 1024.0 * next(float(line.split()[1]) for line in lines if line.startswith(what + ":"))
    return nan


def forget_peak() -> None:
    """Begin to look for the most resident memory anew, where the system allows it."""
    with suppress(OSError), open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
        file.write("5")


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function's value, computed in a process of its own with one thread."""
    kept = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            return pool.submit(function, *arguments).result()
    finally:
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
