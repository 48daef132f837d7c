"""How long a new user waits: the first and the second run of common commands, in processes of their own.

The first run starts with an empty folder of compiled code; the second finds what the first has left. Where code came
with the installation (scripts/ship.py), it is measured with it and without it (TAUT_NATIVE=1).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ...compiled.level import shipped_folder
from .base import Part, Report, Settings, Table, Target

COMMANDS = {
    "run two_link": (3.0, 32.6), "compare two_link": (15.0, 198.0), "run billiard": (4.0, None),
    "run ball_pile": (4.0, None), "run cloth_ball": (10.0, 98.0),
}  # command: seconds [s] allowed with shipped code, processor time [s] of version 0.1.0 from source  # fmt: skip
SHORT = {"run two_link": ["--duration", "1"], "run cloth_ball": ["--duration", "0.1"]}


def once(command: str, folder: Path, native: bool) -> tuple[float, float]:
    """Wall and processor time [s] of one process and its helpers."""
    words = command.split()
    out = ["--out", str(folder / "report"), "--overwrite"] if words[0] == "compare" else []
    env = {**os.environ, "TAUT_CACHE_DIR": str(folder), "TAUT_NATIVE": "1" if native else "0"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "taut", *words, *SHORT.get(command, []), *out], env=env, check=True, cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(settings: Settings) -> Report:
    commands = list(COMMANDS)[:1] if settings.quick else list(COMMANDS)
    forms = [("from source", True), *([("shipped", False)] if shipped_folder() is not None else [])]
    rows, targets, numbers = [], [], {}
    for command in commands:
        for form, native in forms:
            with tempfile.TemporaryDirectory() as folder:
                first, second = (once(command, Path(folder), native) for _ in range(2))
            numbers[f"{command}, {form}"] = {"first": first, "second": second}
            rows.append([command, form, *(f"{value:.1f}" for value in (*first, *second))])
            allowed, before = COMMANDS[command]
            if not native:
                targets.append(Target(f"{command}, shipped code, wall time", first[0], allowed, "s"))
            elif before is not None:
                targets.append(Target(f"{command}, from source, processor time", first[1], round(before / 3, 1), "s"))
            if command == "run two_link":
                targets.append(Target(f"{command}, {form}, second run, wall time", second[0], 1.0, "s"))
    header = ["taut …", "code", "first: wall [s]", "processor [s]", "second: wall [s]", "processor [s]"]
    notes = [] if len(forms) > 1 else ["this installation carries no compiled code (python scripts/ship.py)"]
    return Report([Table("from the start of a process to its end", header, rows)], targets, numbers, notes)


PART = Part("start", "seconds from an empty cache to a result", measure)
