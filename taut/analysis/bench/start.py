"""How long a new user waits: the first and the second run of common commands, in processes of their own.

The first run starts with an empty folder of compiled code; the second finds what the first has left. Each command is
measured from source (TAUT_NATIVE=1) and with shipped code: the installation's own (scripts/ship.py) or, where it
carries none, that of a copy of the package which is made for this measurement and takes minutes of compiling.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import taut

from ...compiled.level import shipped_folder
from ...simulation.ship import copy_with_code
from .base import Part, Report, Settings, Table, Target

# What version 0.1.0 took of the processor [s], from source with an empty cache; a first run may take a third of it.
# Runs with contacts were measured later, with the code of then: the least that was found (docs/start.md).
BEFORE = {
    "run two_link": 32.6, "compare two_link": 198.0, "run billiard": 37.6, "run ball_pile": 39.8,
    "run cloth_ball": 98.0,
}  # fmt: skip
ALLOWED = {  # seconds [s] of a first run with shipped code
    "run two_link": 3.0, "compare two_link": 15.0, "run billiard": 4.0, "run ball_pile": 4.0, "run cloth_ball": 10.0,
}  # fmt: skip
SHORT = {"run two_link": ["--duration", "1"], "run cloth_ball": ["--duration", "0.1"]}
AT_ONCE = ("list", "run --help", "run two_link")  # these take at most a second when nothing is to be compiled
SOURCE, CODE = "from source", "shipped"
Times = tuple[float, float]  # wall and processor [s]


def once(command: str, folder: Path, package: Path, native: bool, empty: bool = True) -> Times:
    """Wall and processor time of one process and its helpers.

    folder   where it writes; its cache, too, unless not `empty`: then the user's own serves
    package  the folder that holds taut
    """
    words = command.split()
    out = ["--out", str(folder / "report"), "--overwrite"] if words[0] == "compare" else []
    cache = {"TAUT_CACHE_DIR": str(folder)} if empty else {}
    env = {**os.environ, **cache, "TAUT_NATIVE": "1" if native else "0", "PYTHONPATH": str(package)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process parses numba's sources anew, as no user's does
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "taut", *words, *SHORT.get(command, []), *out], env=env, check=True, cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def packages(quick: bool) -> Iterator[dict[str, Path]]:
    """Folders with taut in them, by the code that they offer."""
    own = Path(str(taut.__file__)).parents[1]
    if shipped_folder() is not None:
        yield {SOURCE: own, CODE: own}
    elif quick:
        yield {SOURCE: own}
    else:
        with tempfile.TemporaryDirectory() as place:
            copy_with_code(Path(place))
            subprocess.run([sys.executable, "-m", "compileall", "-q", place], check=True)  # as pip does
            yield {SOURCE: own, CODE: Path(place)}


def measure(settings: Settings) -> Report:
    """With `quick` the user's own cache serves, so that little or nothing is compiled."""
    rows, targets = [], []
    numbers: dict[str, dict[str, Any]] = {}
    with packages(settings.quick) as places:
        for command in list(BEFORE)[:1] if settings.quick else BEFORE:
            for form, package in places.items():
                with tempfile.TemporaryDirectory() as folder:
                    first, second = (
                        once(command, Path(folder), package, form == SOURCE, not settings.quick) for _ in range(2)
                    )
                numbers[f"{command}, {form}"] = {"first": first, "second": second}
                rows.append([command, form, *(f"{value:.1f}" for value in (*first, *second))])
                if form == CODE:
                    targets.append(Target(f"{command}, {form}, wall time", first[0], ALLOWED[command], "s"))
                else:
                    limit = round(BEFORE[command] / 3, 1)
                    targets.append(Target(f"{command}, {form}, processor time", first[1], limit, "s"))
        with tempfile.TemporaryDirectory() as folder:
            form, package = list(places.items())[-1]
            for command in AT_ONCE:
                given = command, Path(folder), package, form == SOURCE, not settings.quick
                times = [once(*given) for _ in range(2 if settings.quick else 4)][1:]
                wall, used = min(wall for wall, _ in times), min(used for _, used in times)
                numbers[command] = {"wall": wall, "processor": used}
                rows.append([f"{command}, again", form, "", "", f"{wall:.2f}", f"{used:.2f}"])
                targets.append(Target(f"{command}, nothing to compile, wall time", wall, 1.0, "s"))
    header = ["taut …", "code", "first: wall [s]", "processor [s]", "second: wall [s]", "processor [s]"]
    notes = [] if len(places) > 1 else ["with --quick no code is compiled for shipping"]
    return Report([Table("from the start of a process to its end", header, rows)], targets, numbers, notes)


PART = Part("start", "seconds from an empty cache to a result", measure)
