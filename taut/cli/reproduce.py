"""taut reproduce: make the papers' figures again and judge their claims."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..errors import TautError
from ..progress import print_status
from .parameters import Flag
from .table import print_table


def reproduce(
    *figures: str,
    quick: Flag = False,
    out: Path = Path("reproduction"),
    overwrite: Flag = False,
    claims: Path | None = None,
) -> int:
    """Make figures of the papers again and judge each claim.

    Parameters
    ----------
    figures
        Names from taut list figures, such as icra2005-fig2, or all.
    quick
        Smaller sizes, for a first look.
    out
        Folder for index.html, claims.csv and the pictures.
    overwrite
        Replace files in that folder.
    claims
        Also write the claims as a Markdown table to this file.
    """
    from ..analysis.papers.page import totals
    from ..analysis.papers.reproduce import chosen, reproduce

    if not figures:
        raise TautError("no figure is given; name some (see taut list figures), or all.")
    with _Bar(len(chosen(figures))) as bar:
        outcomes = reproduce(figures, out, quick, overwrite, claims, report=bar.done)
    print_table(
        [
            [outcome.figure.name, *_summary(outcome), f"{outcome.seconds:.1f} s", outcome.problem]
            for outcome in outcomes
        ],
        header=["figure", "claims", "verdicts", "time", ""],
    )
    print(", ".join(f"{count} {verdict}" for verdict, count in totals(outcomes).items()))
    print(f"page: {out / 'index.html'}")
    failed = [outcome.figure.name for outcome in outcomes if outcome.problem]
    if failed:
        print(f"taut: failed: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def _summary(outcome: Any) -> tuple[str, str]:
    from ..analysis.papers.page import totals

    counted = totals([outcome])
    return str(len(outcome.claims)), ", ".join(f"{count} {verdict}" for verdict, count in counted.items())


class _Bar:
    """One tick per figure on a terminal; without one, a line at the start."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.bar: Any = None

    def __enter__(self) -> _Bar:
        if not sys.stderr.isatty():
            print_status(f"{self.total} figures; methods that are not compiled yet take up to a minute each, once")
            return self
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.bar.start()
        self.task = self.bar.add_task("loading or compiling methods", total=self.total)
        return self

    def done(self, outcome: Any) -> None:
        if self.bar is not None:
            self.bar.update(self.task, advance=1, description=f"{outcome.figure.name} done")

    def __exit__(self, *problem: object) -> None:
        if self.bar is not None:
            self.bar.stop()
