#!/usr/bin/env python3
"""Make a wheel of taut that carries compiled code for the common commands.

    python scripts/ship.py [--out FOLDER]

Run it with an interpreter that has taut's dependencies, from a checkout. It compiles for the processor level of
taut/compiled/level.py, puts the entries into taut/compiled/shipped/ (which git ignores) and calls `pip wheel`. The
wheel is for this version of Python and this kind of machine; elsewhere, or with another numba, taut compiles as usual.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def compile_shipped() -> Path:
    """Fill taut/compiled/shipped with what `taut warm` compiles."""
    from taut.compiled.level import LEVEL, SHIPPED, shipped_name

    shutil.rmtree(SHIPPED, ignore_errors=True)
    with tempfile.TemporaryDirectory() as cache:
        env = {
            **os.environ, "NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": "", "TAUT_CACHE_DIR": cache,
            "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        subprocess.run([sys.executable, "-m", "taut", "warm"], check=True, env=env, cwd=ROOT)
        folder = SHIPPED / shipped_name()
        folder.mkdir(parents=True)
        for entry in Path(cache).glob("*/*.kernel"):
            shutil.copy(entry, folder)
    return folder


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--out", default="dist", help="folder for the wheel")
    reader.add_argument("--no-wheel", action="store_true", help="only fill taut/compiled/shipped")
    given = reader.parse_args()
    folder = compile_shipped()
    entries = list(folder.iterdir())
    size = sum(entry.stat().st_size for entry in entries) / 1e6
    print(f"{len(entries)} functions, {size:.1f} MB in {folder.relative_to(ROOT)}")
    if given.no_wheel:
        return 0
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", given.out, str(ROOT)]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
