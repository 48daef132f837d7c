"""Records as text, each number with all its digits; units are those of run.data (SI)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .base import Format, Options
from .tables import tables

if TYPE_CHECKING:
    from ..result import Run


def write(run: Run, path: Path, options: Options) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        for k, table in enumerate(tables(run, options)):
            table.to_csv(file, index=False, header=k == 0, lineterminator="\n", na_rep="nan")


FORMAT = Format("csv", (".csv",), "All records as a table of text.", write)
