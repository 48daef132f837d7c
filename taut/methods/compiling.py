"""Functions of a box compiled by several processes at once.

Each of them is compiled alone (box.py), so the minutes that a first run with cloth would take can be shared. A process
that wants functions which are not in the cache goes through them and takes those that nobody is at, under a lock that
ends with the process that holds it; then it waits for the others. It starts as many helpers as there are cores left:
TAUT_COMPILERS says how many instead. Processes that need the same at the same time, like those of a test run, share the
work as well.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..compiled import cache_folder, is_stored
from ..compiled.function_pointers import address_of
from ..compiled.locks import release, try_lock

if TYPE_CHECKING:
    from .box import BoxKind

Entry = tuple[Any, Any, tuple]  # function, type of its result, types of its arguments
ENOUGH = 6  # functions: for fewer of them a helper comes too late
MOST_HELPERS = 7
_HELP = "from taut.methods.compiling import help_out; help_out()"


def compile_all(kind: BoxKind, wanted: Sequence[Entry]) -> None:
    """See to it that all these are in the cache."""
    if cache_folder() is None:  # each when it is asked for
        return
    new = [entry for entry in wanted if not is_stored(entry[0], entry[2])]
    if not new:
        return
    helpers = [helper for _ in range(_helper_count(len(new))) if (helper := _start(kind, new)) is not None]
    try:
        _share(new)
    except BaseException:
        for helper in helpers:
            helper.terminate()
        raise
    finally:
        for helper in helpers:
            helper.wait()


def help_out() -> None:
    """What a helper does."""
    from . import box

    name, bundle, names = pickle.load(sys.stdin.buffer)
    kind = box.KINDS[name]
    kind.type = bundle
    _share([entry for entry in kind.functions if entry[0].__name__ in names])


def _helper_count(functions: int) -> int:
    told = os.environ.get("TAUT_COMPILERS", "")
    if told.isdecimal():
        return int(told)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores - 1, MOST_HELPERS, functions // ENOUGH)


def _start(kind: BoxKind, new: Sequence[Entry]) -> subprocess.Popen | None:
    """A helper, or nothing where Python can not be started: then it just takes longer."""
    if not Path(sys.executable or "").name.startswith("python"):
        return None
    with suppress(OSError):
        folder = cache_folder()
        assert folder is not None
        paths = os.pathsep.join(path for path in sys.path if path)
        helper = subprocess.Popen(
            [sys.executable, "-c", _HELP], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths, "TAUT_CACHE_DIR": str(folder.parent)},
        )  # fmt: skip
        assert helper.stdin is not None
        with helper.stdin:
            pickle.dump((kind.name, kind.type, [entry[0].__name__ for entry in new]), helper.stdin)
        return helper
    return None


def _share(new: Sequence[Entry]) -> None:
    """First what nobody is at, then, when they are done, what others have left."""
    for wait in (False, True):
        for function, result, given in new:
            name = function._cache.file_name(given)
            if is_stored(function, given) or not (wait or try_lock(name)):
                continue
            address_of(function, result, *given)
            release(name)
