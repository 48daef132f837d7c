"""taut bench: what a step costs and what accuracy costs, beside a yardstick measured in the same run."""

from __future__ import annotations

import json as formats
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..drafts import write_text
from ..errors import TautError, unknown
from .parameters import Flag
from .table import print_table

if TYPE_CHECKING:
    from ..analysis.bench import Report



def bench(
    *parts: str,
    quick: Flag = False,
    peers: Flag = False,
    methods: str | None = None,
    json: Path | None = None,
    overwrite: Flag = False,
) -> None:
    """Measure time per step, memory and precision of every method.

    Parameters
    ----------
    parts
        What to measure: chains, precision, calls, load, store, contact, cloth, systems, mechanisms, start,
        compile, view; all by default.
    quick
        Small sizes and few repeats, to see that it works; the times mean little.
    peers
        Also measure MuJoCo, pymunk, Exudyn and pyPBD, where they are installed.
    methods
        Names with commas between; default: all.
    json
        A file to write the numbers to as well.
    overwrite
        Replace that file.
    """
    from ..analysis.bench import PARTS, Settings
    from ..analysis.timing import machine
    from ..methods import METHODS
    from ..progress import print_status

    chosen = methods.split(",") if methods else [m.name for m in METHODS.values() if not m.is_for_deformables_only]
    for what, names, known in (("method", chosen, METHODS), ("part of the benchmark", parts, PARTS)):
        for name in names:
            if name not in known:
                raise unknown(what, name, known)
    if json is not None:
        _check_writable(json, overwrite)
    settings = Settings(tuple(METHODS[name] for name in chosen), quick=quick, peers=peers)
    print(machine())
    numbers: dict[str, Any] = {"machine": machine(), "quick": quick}
    for name in parts or PARTS:
        print_status(f"measuring {name}")
        report = PARTS[name].measure(settings)
        show(PARTS[name].doc, report)
        targets = [asdict(target) | {"met": target.met} for target in report.targets]
        numbers[name] = report.numbers | {"targets": targets}
    if json is not None:
        write_text(json, formats.dumps(numbers, indent=1, ensure_ascii=False) + "\n")


def show(title: str, report: Report) -> None:
    print(f"\n== {title}")
    for table in report.tables:
        print()
        print_table(table.rows, table.title, table.header)
    if report.targets:
        print()
        print_table([t.row() for t in report.targets], "targets", ["", "measured", "at most", ""])
    for note in report.notes:
        print(f"note: {note}")


def _check_writable(path: Path, overwrite: bool) -> None:
    """Before an hour of measuring, not after it."""
    if path.exists() and not overwrite:
        raise TautError(f"'{path}' exists; choose another name or pass --overwrite.")
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise TautError(f"'{path}' can not be written; give another path.")
