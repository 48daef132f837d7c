"""Who compiles what: locks between processes, one for each entry of the cache.

All locks are bytes of one file, numbered by the name of the entry; the system gives them back when a process ends,
however it ends. Functions call each other without cycles, so processes that wait for each other's functions can not
wait in a circle.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from typing import Any

from .folder import cache_folder

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: processes may compile the same function twice, which does no harm
    fcntl = None


def try_lock(name: str) -> bool:
    """Take the lock of an entry unless another process has it."""
    file = _file()
    if file is None:
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _number(name))
        return True
    except OSError:
        return False


def lock(name: str) -> None:
    """Take the lock of an entry; where another process has it, wait."""
    if not try_lock(name):
        with suppress(OSError):
            fcntl.lockf(_file(), fcntl.LOCK_EX, 1, _number(name))


def release(name: str) -> None:
    file = _file()
    if file is not None:
        with suppress(OSError):
            fcntl.lockf(file, fcntl.LOCK_UN, 1, _number(name))


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) >> 1


@cache
def _file() -> int | None:
    folder = cache_folder()
    if folder is None or fcntl is None:
        return None
    try:
        return os.open(folder / "locks", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None
