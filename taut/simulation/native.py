"""Compilation for this processor in the background, after a first run with shipped code.

One process of the lowest priority compiles what `taut warm` does, leaves a mark when it is done (compiled/level.py),
and later processes take that code. It is started by the command line only, never by a program that uses taut.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from ..compiled.folder import has_failed, keep
from ..compiled.level import native_mark, shipped_folder
from ..compiled.locks import release, try_lock
from ..progress import print_status
from .warm import Job, common_jobs, perform

LOCK = "native"
LOWEST = 19  # priority
ROOM = 100_000_000  # bytes that must be free: a folder that gets full would be tried again by every run


def compile_in_background() -> bool:
    """Start it, unless it is done, under way or not wanted (TAUT_NATIVE=0); whether it was started."""
    if os.environ.get("TAUT_NATIVE") or shipped_folder() is None:
        return False
    mark = native_mark()
    if mark is None or shutil.disk_usage(mark.parent).free < ROOM or not try_lock(LOCK):
        return False
    release(LOCK)
    try:
        subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import work; work()"], env={**os.environ, "TAUT_NATIVE": "1"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except OSError:
        return False
    print_status("compiling for this very processor in the background; later runs are faster "
                 "(TAUT_NATIVE=0 prevents it)")
    return True


def work(jobs: Sequence[Job] | None = None) -> None:
    """What the process in the background does."""
    mark = native_mark()
    if mark is None or not try_lock(LOCK):
        return
    with suppress(AttributeError, OSError):  # Windows has no such call
        os.nice(LOWEST)
    for job in common_jobs() if jobs is None else jobs:
        perform(job)
        if has_failed(mark.parent):
            break
    else:  # shipped code is left aside only where all of this is there instead
        keep(mark, b"")
    release(LOCK)
