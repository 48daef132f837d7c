#!/usr/bin/env python3
"""Make a wheel of taut that carries compiled code for the common commands.

    python scripts/ship.py [--out FOLDER] [--cache FOLDER]

Run it with an interpreter that has taut's dependencies, from a checkout, which stays as it is. It compiles for the
processor level of taut/compiled/level.py, puts the entries into a copy of the package and calls `pip wheel`. The wheel
is for this version of Python and this kind of machine; elsewhere, or with another numba, taut compiles as usual.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
BESIDE = ("pyproject.toml", "setup.py", "README.md", "LICENSE")  # what a wheel is built of, besides taut and page


def main() -> int:
    from taut.simulation.ship import copy_with_code

    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--out", default="dist", help="folder for the wheel")
    reader.add_argument("--cache", type=Path, help="folder that keeps compiled code for the next wheel")
    given = reader.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = copy_with_code(Path(place), given.cache)
        entries = list(folder.iterdir())
        print(f"{len(entries)} functions, {sum(entry.stat().st_size for entry in entries) / 1e6:.1f} MB")
        for name in BESIDE:
            shutil.copy(ROOT / name, place)
        shutil.copytree(ROOT / "page", Path(place) / "page", ignore=shutil.ignore_patterns("node_modules"))
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", given.out, place]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
