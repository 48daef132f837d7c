"""Where the time of compiling goes: common commands with an empty cache, watched through numba's own events.

Each command runs in a process of its own, `python -m taut.analysis.bench.compiling FILE run two_link`, which writes
what it has seen to FILE. Times are processor times without what is nested in them: while a caller's types are
inferred, for instance, its callees are compiled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from .base import Part, Report, Settings, Table

COMMANDS = ("run two_link", "run billiard", "run ball_pile", "run cloth_ball")  # of one process each
SHORT = {"run two_link": ["--duration", "1"], "run cloth_ball": ["--duration", "0.1"]}
PHASES = {  # phase: the passes of numba and the steps of library.py that belong to it
    "type inference": ("kernel_inference",),
    "lowering": ("kernel_lowering",),
    "linking": ("finalize",),
    "LLVM": ("_optimize_final_module", "_finalize_final_module"),
}


class Recorder:
    """Processor time by phase, each without what happens inside of it, and the functions that were compiled."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self.functions: Counter[str] = Counter()  # versions, by their source
        self.forms: Counter[str] = Counter()  # inlined or called
        self._open = ["rest"]
        self._since = time.process_time()
        self._phase_of = {name: phase for phase, names in PHASES.items() for name in names}

    def begin(self, name: str) -> None:
        self._account()
        self._open.append(self._phase_of.get(name, "other passes"))

    def end(self) -> None:
        self._account()
        self._open.pop()

    def _account(self) -> None:
        now = time.process_time()
        self.spent[self._open[-1]] += now - self._since
        self._since = now

    def install(self) -> None:
        """Listen to numba, and time the steps of our own libraries."""
        from numba.core import event

        from ...compiled.library import KernelLibrary

        recorder = self

        class Passes(event.Listener):
            def on_start(self, event: Any) -> None:
                recorder.begin(event.data["name"].split()[0])

            def on_end(self, event: Any) -> None:
                recorder.end()

        class Functions(event.Listener):
            def on_start(self, event: Any) -> None:
                dispatcher = event.data["dispatcher"]
                code = dispatcher.py_func.__code__
                recorder.functions[f"{dispatcher.__name__} ({Path(code.co_filename).name})"] += 1
                recorder.forms["inlined" if dispatcher.targetoptions.get("forceinline") else "called"] += 1
                recorder.begin("compile")

            def on_end(self, event: Any) -> None:
                recorder.end()

        event.register("numba:run_pass", Passes())
        event.register("numba:compile", Functions())
        for name in ("finalize", "_optimize_final_module", "_finalize_final_module"):
            setattr(KernelLibrary, name, self._timed(name, getattr(KernelLibrary, name)))

    def _timed(self, name: str, function: Callable) -> Callable:
        def call(*arguments: Any) -> Any:
            self.begin(name)
            try:
                return function(*arguments)
            finally:
                self.end()

        return call

    def numbers(self) -> dict[str, Any]:
        self._account()
        return {"spent": dict(self.spent), "functions": dict(self.functions), "forms": dict(self.forms)}


def watch(path: Path, words: list[str]) -> int:
    """Perform a command of taut and write what compiling it took."""
    recorder = Recorder()
    recorder.install()
    code = import_module("taut.cli").main(words)  # a look downstream, at what users type
    path.write_text(json.dumps(recorder.numbers()), encoding="utf-8")
    return code


def record(command: str, empty: bool = True) -> dict[str, Any]:
    """What a command compiles, from an empty cache or from the user's own, by one process."""
    words = command.split()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        env = {**os.environ, "TAUT_NATIVE": "1"} | ({"TAUT_CACHE_DIR": place} if empty else {})
        found = folder / "found.json"
        subprocess.run(
            [sys.executable, "-m", __name__, str(found), *words, *SHORT.get(command, [])], env=env, check=True,
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return json.loads(found.read_text(encoding="utf-8"))


def measure(settings: Settings) -> Report:
    """With `quick` the user's own cache serves, so that little or nothing is compiled."""
    rows, numbers = [], {}
    for command in COMMANDS[:1] if settings.quick else COMMANDS:
        found = record(command, empty=not settings.quick)
        numbers[command] = found
        versions, sources = sum(found["functions"].values()), len(found["functions"])
        spent = found["spent"]
        compiling = [spent.get(name, 0.0) for name in (*PHASES, "other passes")]
        rows.append([
            command, str(sources), str(versions), str(found["forms"].get("inlined", 0)),
            *(f"{seconds:.1f}" for seconds in (*compiling, sum(compiling), spent["rest"])),
        ])  # fmt: skip
    header = ["taut …", "functions", "versions", "inlined", *PHASES, "other passes", "compiling", "all else"]
    return Report([Table("processor time [s] with an empty cache, by one process", header, rows)], (), numbers)


PART = Part("compile", "what common commands compile, and what that takes", measure)

if __name__ == "__main__":
    sys.exit(watch(Path(sys.argv[1]), sys.argv[2:]))
