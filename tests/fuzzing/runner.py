"""Runs cases of the fuzzer in worker processes, under a watchdog.

Workers run kernels as plain Python (NUMBA_DISABLE_JIT): nothing is compiled, and an index out of bounds is an
exception rather than a wrong number. A worker takes a seed at a time and answers with the fault or with nothing.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, Queue
from typing import NamedTuple

LIMIT = 10.0  # seconds that a case may take: of the processor, or
WAITING = 6.0  # as many times of the clock, on a machine that is busy with others
STARTING = 120.0  # seconds that a worker may take to import taut
MEMORY = 6 << 30  # bytes of addresses of a worker: what allocates more is a fault, not the machine's end
TESTS = Path(__file__).parent.parent


class Fault(NamedTuple):
    part: str
    seed: int
    text: str

    def __str__(self) -> str:
        return f"{self.part}, seed {self.seed}: {self.text}"


def parts() -> list[str]:
    """The parts that are there."""
    own = ("__init__", "runner", "odd")
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in own)


def _serve(part: str, line: Connection) -> None:
    """The life of a worker."""
    # Here, and not in the process that runs the tests: with compiled code loaded, numba must not be switched off.
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.insert(0, str(TESTS))
    if part in ("files", "calls"):  # their durations are arbitrary: a million steps of plain Python are no hang
        os.environ.setdefault("TAUT_MAX_STEPS", "300")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # what a case prints is not ours
    os.dup2(null, 2)
    case: Callable[[int, Path], str | None] = importlib.import_module(f"fuzzing.{part}").case
    root = Path(tempfile.mkdtemp(prefix="taut_fuzz_"))
    line.send("ready")
    try:
        while (seed := line.recv()) is not None:
            folder = root / "case"
            folder.mkdir()
            try:
                answer = case(seed, folder)
            except BaseException:  # the case's own mistake, or one that it did not expect
                answer = traceback.format_exc()
            shutil.rmtree(folder, ignore_errors=True)
            line.send(answer)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _processor_seconds(pid: int | None) -> float:
    """What a process and its ended children have used so far; the clock where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return time.monotonic()


class _Worker:
    """A process that runs cases of a part, replaced when it ends or hangs."""

    def __init__(self, part: str) -> None:
        self.part = part
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, its = context.Pipe()
        self.process = context.Process(target=_serve, args=(self.part, its), daemon=True)
        self.process.start()
        its.close()
        try:
            if not self.line.poll(STARTING):
                raise RuntimeError(f"a worker of '{self.part}' did not start within {STARTING:g} s")
            self.line.recv()
        except EOFError:
            raise RuntimeError(f"a worker of '{self.part}' ended while it started") from None

    def run(self, seed: int) -> str | None:
        try:
            self.line.send(seed)
            began, used = time.monotonic(), _processor_seconds(self.process.pid)
            while not self.line.poll(0.5):
                waited = time.monotonic() - began
                if waited > LIMIT * WAITING or _processor_seconds(self.process.pid) - used > LIMIT:
                    break
            else:
                return self.line.recv()
            text = f"hang: no answer within {LIMIT:g} s"
        except (EOFError, OSError):
            self.process.join(5.0)
            text = f"the process ended with code {self.process.exitcode}"
        self.process.kill()
        self.process.join()
        self.start()
        return text

    def close(self) -> None:
        try:
            self.line.send(None)
            self.process.join(5.0)
        finally:
            self.process.kill()


def run(chosen: dict[str, range], jobs: int = 1, until: float | None = None) -> Iterator[Fault | int]:
    """Faults as they are found, and after each case its number; `until` is a moment of time.monotonic to stop at."""
    for part, seeds in chosen.items():
        todo: Queue[int] = Queue()
        for seed in seeds:
            todo.put(seed)
        found: Queue[Fault | int | BaseException | None] = Queue()

        def work(part: str = part, todo: Queue = todo, found: Queue = found) -> None:
            try:
                worker = _Worker(part)
                try:
                    while until is None or time.monotonic() < until:
                        seed = todo.get_nowait()
                        text = worker.run(seed)
                        if text:
                            found.put(Fault(part, seed, text))
                        found.put(seed)
                except Empty:
                    pass
                finally:
                    worker.close()
            except BaseException as problem:
                found.put(problem)
            found.put(None)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(max(1, jobs))]
        for thread in threads:
            thread.start()
        left = len(threads)
        while left:
            answer = found.get()
            if isinstance(answer, BaseException):
                raise answer
            if answer is None:
                left -= 1
            else:
                yield answer
