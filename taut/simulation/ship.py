"""Compiled code to be shipped: what `taut warm` compiles, for a level of processors instead of the one at hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..compiled.folder import ENTRY
from ..compiled.level import LEVEL, SHIPPED, shipped_name


def copy_with_code(place: Path, cache: Path | None = None) -> Path:
    """Copy the package into a folder and put compiled code beside it, as in a wheel; returns the folder of that code.

    cache: where the code is kept for the next time; only what has changed is compiled again
    """
    package = SHIPPED.parents[1]
    away = shutil.ignore_patterns("__pycache__", SHIPPED.name, "node_modules")
    shutil.copytree(package, place / package.name, ignore=away, dirs_exist_ok=True)
    folder = place / SHIPPED.relative_to(package.parent) / shipped_name()
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as temporary:
        kept = cache if cache is not None else Path(temporary)
        env = {
            **os.environ, "NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": "", "TAUT_NATIVE": "1",
            "TAUT_CACHE_DIR": str(kept), "PYTHONPATH": str(place),
        }  # fmt: skip
        subprocess.run([sys.executable, "-m", package.name, "warm"], check=True, env=env, cwd=place)
        for entry in kept.glob(f"*/*{ENTRY}"):
            shutil.copy(entry, folder)
    return folder
