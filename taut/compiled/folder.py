"""The folder of compiled code: where it is, who may write it, and what may be deleted in it.

Compiled code is executed, so it is loaded only from a folder that belongs to the user and that nobody else can
write. taut makes that folder itself (`compiled-1` below `TAUT_CACHE_DIR`, `$XDG_CACHE_HOME/taut` or
`~/.cache/taut`), puts a mark into it, and deletes nothing but its own entries inside a folder with that mark. Where
no such folder can be had (read-only, full, foreign), compiled code stays in the memory of the process, and one
warning says so.

Entries are named by the content they were made of (fingerprint.py): versions of taut, of Python and of numba share
the folder without disturbing each other, and a changed function is another entry.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

from ..errors import TautWarning

NAME = "compiled-1"  # the number is the version of the layout
MARK = "taut-compiled-code"
MARK_TEXT = "Compiled code of taut. The files beside this one may be deleted at any time.\n"
FORMULAS = "formulas"  # inside it: generated text of formulas, with its compiled code below __pycache__
ENTRY = ".kernel"
OURS = re.compile(r"(.+-[0-9a-f]{32}\.kernel|f[0-9a-f]{24}\..*)")  # the names that taut gives
CAPACITY = 1_000_000_000  # bytes of entries that are kept; the oldest go first


@cache
def cache_folder() -> Path | None:
    """The folder of compiled code, made if need be; None where code can only be kept in memory."""
    base = _base()
    folder = base / NAME
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = _untrusted(folder) or _untrusted(base)
        if reason is None:
            _put_mark(folder)
            with tempfile.TemporaryFile(dir=folder) as trial:
                trial.write(b"\0" * 4096)
            return folder
    except (OSError, RuntimeError) as mistake:
        reason = f"can not be written ({getattr(mistake, 'strerror', None) or mistake})"
    _warn(folder, reason)
    return None


def keep(path: Path, data: bytes) -> bool:
    """Write an entry whole or not at all; False where there is no room (told once)."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
        return True
    except OSError as mistake:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)
        _warn(path.parent, f"can not be written ({mistake.strerror or mistake})")
        return False


def has_failed(folder: Path) -> bool:
    """Whether an entry could not be kept in this folder by this process."""
    return folder in _warned


def forget_oldest(folder: Path, capacity: int = CAPACITY) -> int:
    """Delete the oldest of taut's own entries until they fit; how many were deleted.

    Only files with the names that taut gives, in a folder that carries its mark, are ever deleted.
    """
    if not (folder / MARK).is_file():
        return 0
    entries = []
    for place in (folder, folder / FORMULAS, folder / FORMULAS / "__pycache__"):
        with suppress(OSError):
            for path in place.iterdir():
                about = path.lstat()
                if stat.S_ISREG(about.st_mode) and OURS.fullmatch(path.name):
                    entries.append((about.st_mtime, about.st_size, path))
    total, deleted = sum(size for _, size, _ in entries), 0
    for _, size, path in sorted(entries):
        if total <= capacity:
            break
        with suppress(OSError):
            path.unlink()
            deleted += 1
        total -= size
    return deleted


def _base() -> Path:
    told = os.environ.get("TAUT_CACHE_DIR")
    if told:
        return Path(told)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home and os.path.isabs(home) else Path.home() / ".cache") / "taut"


def _untrusted(folder: Path) -> str | None:
    """Why code in this folder must not be executed, or None."""
    if not hasattr(os, "getuid"):
        return None  # Windows: folders of the user's profile are the user's own
    about = folder.stat()
    if about.st_uid not in (os.getuid(), 0):
        return "belongs to another user"
    others_write = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if others_write and not about.st_mode & stat.S_ISVTX:  # in a sticky folder others can not replace ours
        return "can be written by others"
    if folder.name == NAME and (about.st_uid != os.getuid() or others_write):
        return "can be written by others"
    return None


def _put_mark(folder: Path) -> None:
    mark = folder / MARK
    if mark.exists():
        return
    if any(folder.iterdir()):
        raise RuntimeError(f"it holds files but not taut's mark, {MARK}")
    mark.write_text(MARK_TEXT, encoding="utf-8")


_warned: set[Path] = set()


def _warn(folder: Path, reason: str) -> None:
    if folder in _warned:
        return
    _warned.add(folder)
    warnings.warn(
        f"compiled code is not kept: '{folder}' {reason}. Every process compiles what did not come with taut; set "
        "TAUT_CACHE_DIR to a folder that only you can write.", TautWarning, stacklevel=2,
    )  # fmt: skip
