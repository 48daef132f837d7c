"""Runs of a comparison, on several cores.

This process works from the first moment on, and second ones (worker.py) join it as soon as they have loaded:
a small comparison is over before, a large one is shared. They are started as programs of their own and not with
`multiprocessing`, which would run the user's script again in each of them. A scene reaches them as a file; one
with Python functions can not be written, and is computed here alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time as clock
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Condition, Thread
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ...errors import TautError, present
from ...progress import compilation, print_status
from ...result.files import plain
from ...result.records import Records
from ...scene.scene import Scene
from ...settings import differing, taken
from ...simulation.run import simulate

SCENE_FILE = "scene.yaml"
PATIENCE = 2.0  # seconds until outcomes are told one by one


@dataclass(frozen=True)
class Job:
    """One call of simulate."""

    method: str
    dt: float
    arguments: dict[str, Any]  # further ones, that JSON can carry
    settings: dict[str, float] = field(default_factory=differing)  # of solvers, by package.name


@dataclass(frozen=True)
class Outcome:
    """What came of a job: records, or why the method refused."""

    records: Records | None = None
    status: str = "refused"
    message: str = ""
    info: dict[str, Any] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        arrays = self.records.as_dict() if self.records else {}
        arrays["words"] = np.array(json.dumps([self.status, self.message, self.info], default=plain))
        np.savez(path, **arrays)  # type: ignore[arg-type]

    @classmethod
    def read(cls, path: Path) -> Outcome:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files if name != "words"}
            return cls(Records(**arrays) if arrays else None, *json.loads(str(file["words"])))


def perform(scene: Scene, job: Job) -> Outcome:
    try:
        with warnings.catch_warnings(), taken(job.settings):
            warnings.simplefilter("ignore")  # info has the notes; the comparison says each once
            run = simulate(scene, job.method, job.dt, progress=False, **job.arguments)
    except TautError as refusal:
        return Outcome(message=str(refusal))
    return Outcome(run.records, run.status, run.message, run.info)


def perform_all(
    scene: Scene, jobs: Sequence[Job], processes: int, on_progress: Callable[[int, int], None]
) -> list[Outcome]:
    """Outcomes in the order of the jobs; `on_progress` hears how many of all are done."""
    board = _Board(jobs)
    helpers: list[_Helper] = []
    with tempfile.TemporaryDirectory(prefix="taut_compare_") as folder:
        try:
            if len(jobs) > 1 and processes > 1 and _is_saved(scene, Path(folder)):
                for _ in range(min(processes, len(jobs)) - 1):
                    helpers.append(_Helper(board, Path(folder)))
                    helpers[-1].start()
            while not board.is_done():
                on_progress(len(board.outcomes), len(jobs))
                number = board.take()
                if number is None:
                    board.wait()
                    continue
                outcome = perform(scene, jobs[number])
                if outcome.status == "interrupted":
                    raise KeyboardInterrupt
                board.finish(number, outcome)
            on_progress(len(jobs), len(jobs))
        finally:
            for helper in helpers:
                helper.stop()
    return [board.outcomes[number] for number in range(len(jobs))]


def _is_saved(scene: Scene, folder: Path) -> bool:
    try:
        scene.save(folder / SCENE_FILE)
    except TautError:
        return False
    return True


class _Board:
    """Jobs that wait, and outcomes; shared by threads."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.outcomes: dict[int, Outcome] = {}
        self._waiting = list(range(len(jobs)))
        self._busy: list[str] = []  # methods at work
        self._changed = Condition()
        self._began = clock.perf_counter()

    def take(self) -> int | None:
        """A job, if one waits: rather of a method that nobody compiles at this moment."""
        with self._changed:
            if not self._waiting:
                return None
            number = min(self._waiting, key=lambda number: self.jobs[number].method in self._busy)
            self._waiting.remove(number)
            self._busy.append(self.jobs[number].method)
            return number

    def put_back(self, number: int) -> None:
        with self._changed:
            self._busy.remove(self.jobs[number].method)
            self._waiting.append(number)
            self._changed.notify_all()

    def finish(self, number: int, outcome: Outcome) -> None:
        with self._changed:
            method = self.jobs[number].method
            self._busy.remove(method)
            self.outcomes[number] = outcome
            self._changed.notify_all()
        if clock.perf_counter() - self._began > PATIENCE:  # while others still compile or run
            compilation.finish()
            print_status(_in_a_line(self.jobs[number], outcome))

    def is_taken(self) -> bool:
        with self._changed:
            return not self._waiting

    def is_done(self) -> bool:
        with self._changed:
            return len(self.outcomes) == len(self.jobs)

    def wait(self) -> None:
        with self._changed:
            self._changed.wait(timeout=0.5)


def _in_a_line(job: Job, outcome: Outcome) -> str:
    text = f"{job.method}, dt {job.dt:g} s: {outcome.status}"
    if outcome.records is None or not outcome.records.phi.size or outcome.records.contacts.size:
        return text
    return f"{text}, largest |Φ| {np.abs(outcome.records.phi).max():.3g}"


class _Helper(Thread):
    """Feeds a second process. When that dies, its job goes back to the board, and this process does it."""

    def __init__(self, board: _Board, folder: Path) -> None:
        super().__init__(daemon=True)
        self.board, self.folder = board, folder
        package = str(Path(__file__).parents[2])  # the same taut as here, however it was found
        path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "taut.analysis.compare.worker", str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip

    def run(self) -> None:
        if self._answer() != "ready":
            return
        while not self.board.is_taken():
            number = self.board.take()
            if number is None:
                self.board.wait()
                continue
            outcome = self._outcome(number)
            if outcome is None:
                self.board.put_back(number)
                return
            self.board.finish(number, outcome)

    def _outcome(self, number: int) -> Outcome | None:
        stdin = present(self.process.stdin, "the pipe to a worker")
        try:
            job = json.dumps([number, asdict(self.board.jobs[number])], default=plain)
            print(job, file=stdin, flush=True)
            if self._answer() != str(number):
                return None
            return Outcome.read(self.folder / f"{number}.npz")
        except (OSError, ValueError, KeyError, BadZipFile):  # it died, or its disk is full
            return None

    def _answer(self) -> str:
        return present(self.process.stdout, "the pipe from a worker").readline().strip()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.join()
