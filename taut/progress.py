"""What a run says on the terminal while it works: a bar with rate and time left, and single lines."""

from __future__ import annotations

import sys
import time as clock
from typing import Any

PATIENCE = 0.5  # seconds before a bar appears: a short run needs none, nor the time to import it


def say(text: str) -> None:
    """One line for the person who waits, apart from the results on the standard output."""
    print(f"taut: {text}", file=sys.stderr, flush=True)


class Progress:
    """A bar of steps, shown only when the standard error is a terminal.

    with Progress(total_steps) as bar: bar.update(steps_done)
    """

    def __init__(self, total: int, enabled: bool = True, unit: str = "steps") -> None:
        self.total, self.unit = total, unit
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
            return Text(f"{task.speed:,.3g} {unit}/s" if task.speed else "", style="progress.data.speed")

    columns = (BarColumn(), TaskProgressColumn(), Rate(), TimeRemainingColumn(elapsed_when_finished=True))
    return Bar(*columns, console=Console(stderr=True), transient=True)
