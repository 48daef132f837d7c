"""One writer at a time: a lock on a run's folder that dies with its process."""

from __future__ import annotations

import json
import os
import platform
import time
import warnings
from pathlib import Path
from typing import IO

from ..errors import TautError, TautWarning

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

NAME = "writer.lock"


class Lock:
    """Held from `take` until `release`, or until the process ends in whatever way."""

    def __init__(self, file: IO[bytes] | None) -> None:
        self._file = file

    @classmethod
    def take(cls, folder: Path) -> Lock:
        """The right to write into a folder; a TautError that names the writer where there is one."""
        if fcntl is None:  # Windows: no lock
            return cls(None)
        while True:
            file = open(folder / NAME, "a+b")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                writer = _writer(file)
                file.close()
                raise TautError(f"'{folder}' is being written by {writer}; wait until it ends, or stop it.") from None
            except OSError as problem:
                file.close()
                warnings.warn(
                    f"'{folder}' can not be locked ({problem.strerror}): see that nobody else writes to it.",
                    TautWarning, stacklevel=4,
                )  # fmt: skip
                return cls(None)
            if _is_at(file, folder / NAME):
                break
            file.close()  # the folder was replaced in between: ask the new one
        file.truncate(0)
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        file.write(json.dumps({"pid": os.getpid(), "host": platform.node(), "since": now}).encode())
        file.flush()
        return cls(file)

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _is_at(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False


def _writer(file: IO[bytes]) -> str:
    try:
        file.seek(0)
        told = json.loads(file.read(1000))
        return f"process {int(told['pid'])} on '{told['host']}' since {told['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
