"""What a run says on the terminal while it works: a bar with rate and time left, and single lines."""

from __future__ import annotations

import os
import shutil
import sys
import time as clock
from typing import Any

WIDTH_OF_FILES = 200  # letters: a table in a file is not cut as on a terminal
BAR = 24  # letters of the bar of compilation
PATIENCE = 0.5  # seconds before a bar appears: a short run needs none, nor the time to import it


def print_status(text: str) -> None:
    """One line for the person who waits, apart from the results on the standard output."""
    print(f"taut: {text}", file=sys.stderr, flush=True)


def table_width() -> int:
    """Letters in a line of a table: of the terminal or, where it is set, of COLUMNS; of a file many."""
    told = os.environ.get("COLUMNS", "")
    if sys.stdout.isatty() or (told.isdecimal() and int(told) > 0):
        return shutil.get_terminal_size().columns
    return WIDTH_OF_FILES


class Compilation:
    """One line about compiling, which makes the first run of a method slow: on a terminal with the time left."""

    def __init__(self) -> None:
        self.silent, self.once = False, True
        self._expected, self._done, self._began, self._announced = 75, 0, 0.0, False
        self._shared = False  # whether a run of this process has compiled what methods share

    def expect(self, functions: int, once: bool = True) -> None:
        """A run begins that needs about so many functions, of which none may be compiled yet.

        once: whether they are kept for later runs; where they are not, a warning has said so
        """
        # What methods share has been compiled by the first run of a process: about three quarters.
        self._expected, self.once = max(functions // (4 if self._shared else 1), 1), once
        self._done = 0

    def tick(self, function: object) -> None:
        """One more function is compiled now."""
        if self.silent:
            return
        if self._done == 0:
            self._began = clock.perf_counter()
        if sys.stderr.isatty():
            took = clock.perf_counter() - self._began
            left = took / self._done * max(self._expected - self._done, 0) if self._done >= 3 else None
            guess = "" if left is None else f", about {left:.0f} s left"
            total = max(self._expected, self._done + 1)
            filled = BAR * (self._done + 1) // total
            text = (f"taut: compiling{', once' if self.once else ''} {'━' * filled}{'─' * (BAR - filled)} "
                    f"{self._done + 1} of about {total}{guess}")
            print(f"\r{text:<78}", end="", file=sys.stderr, flush=True)
        elif not self._announced and self.once:
            print_status("compiling, once for this version of taut; later runs start at once "
                         "(taut warm compiles ahead)")
        self._announced = True
        self._done += 1

    def finish(self) -> None:
        """The run itself begins: take the line away."""
        if self._done and not self.silent and sys.stderr.isatty():
            print(f"\r{'':<78}\r", end="", file=sys.stderr, flush=True)
        self._shared |= self._done > 0
        self._done = 0


compilation = Compilation()


class Progress:
    """A bar of steps, or of another unit of work, shown only when the standard error is a terminal.

    with Progress(total_steps) as bar: bar.update(steps_done)
    """

    def __init__(self, total: int, enabled: bool = True, unit: str = "steps") -> None:
        self.unit = unit
        self.total = total
        self.shown = enabled and sys.stderr.isatty()
        self.began = clock.perf_counter()
        self.bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def update(self, done: int) -> None:
        if not self.shown:
            return
        if self.bar is None:
            if clock.perf_counter() - self.began < PATIENCE:
                return
            self.bar = _bar(self.unit)
            self.bar.start()
            self.task = self.bar.add_task("", total=self.total, completed=done, start=True)
        self.bar.update(self.task, completed=done)

    def __exit__(self, *problem: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def _bar(unit: str) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, TaskProgressColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:,.0f} {unit}/s" if task.speed else "", style="progress.data.speed")

    columns = (BarColumn(), TaskProgressColumn(), Rate(), TimeRemainingColumn(elapsed_when_finished=True))
    return Bar(*columns, console=Console(stderr=True), transient=True)
