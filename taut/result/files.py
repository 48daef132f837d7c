"""The files of a stored run, each written whole or not at all; store.py says what they are for.

Durable means that bytes have reached the disk (fsync) before anything says that they count, and that the name of a new
file has (fsync of its folder) before anything relies on it. Then a commit outlives a loss of power, not only the
process.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import shutil
import stat
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..errors import TautError
from ..scene.scene import Scene
from . import digests

COMMIT = "commit.npz"
EVENTS = "events.bin"
_SIZES = ("step", "start", "events")
_WORDS = (*_SIZES, "status", "message", "info")
_CHECKED = ("header", "chunks")  # of runs with checksums
_WAITING = 32  # threads that wait for the disk
_END = 64  # bytes of a digest at the end of a commit


class Unreadable(Exception):
    """Why a file of a stored run can not be used."""


def save_scene(scene: Scene, folder: Path) -> dict[str, Any]:
    """A scene with Python functions can not be written; the run is stored all the same."""
    try:
        scene.save(folder / "scene.yaml")
    except TautError as reason:
        return {"saved": False, "reason": str(reason)}
    return {"saved": True}


# Commits


def write_commit(folder: Path, commit: dict[str, Any], durable: bool) -> None:
    """Replace the commit at one stroke. It is an npz file that ends with the SHA-256 of the rest of it."""
    words = {key: commit[key] for key in (*_WORDS, *_CHECKED) if key in commit}
    arrays = {f"{part}.{name}": values for part in ("tail", "state") for name, values in commit[part].items()}
    buffer = io.BytesIO()
    np.savez(buffer, words=np.array(json.dumps(words, default=plain)), **arrays)
    # A zip file ends with the length of a comment, and the comment: here the digest.
    data = bytes(buffer.getbuffer()[:-2]) + _END.to_bytes(2, "little")
    draft = folder / f".{COMMIT}.part"
    with open(draft, "wb") as file:
        file.write(data)
        file.write(hashlib.sha256(data).hexdigest().encode())
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(draft, folder / COMMIT)
    if durable:
        sync([folder])


def read_commit(path: Path, header: dict[str, Any]) -> dict[str, Any]:
    """A commit that fits the header; Unreadable says why it is none."""
    data = read_whole(path)
    ended = len(data) > _END and hashlib.sha256(data[:-_END]).hexdigest().encode() == data[-_END:]
    if header["taut_run"] > 1 and not ended:
        raise Unreadable("it does not match its checksum")
    try:
        with np.load(io.BytesIO(data)) as file:
            commit = {"events": 0} | json.loads(str(file["words"])) | {"tail": {}, "state": {}}
            for key in file.files:
                part, _, name = key.partition(".")
                if name:
                    commit[part][name] = file[key]
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile, NotImplementedError, MemoryError,
            RecursionError, SyntaxError, AttributeError, OverflowError, RuntimeError) as problem:  # fmt: skip
        raise Unreadable(f"{type(problem).__name__}: {problem}") from None
    fault = _fault_of_commit(commit, header)
    if fault:
        raise Unreadable(fault)
    return commit


def _fault_of_commit(commit: dict[str, Any], header: dict[str, Any]) -> str | None:
    wanted = (*_WORDS, *_CHECKED) if header["taut_run"] > 1 else _WORDS
    for key in wanted:
        if key not in commit:
            return f"it has no '{key}'"
    for key in _SIZES:
        value = commit[key]
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
            return f"its '{key}' is {value!r}"
    if not isinstance(commit["info"], dict) or not all(isinstance(commit[k], str) for k in ("status", "message")):
        return "its status, message or info is of another type"
    tail, shapes = commit["tail"], header["shapes"]
    if tail.keys() != shapes.keys():
        return "it does not hold the arrays of the run"
    rows = len(tail["time"]) if tail["time"].ndim else 0
    for name, shape in shapes.items():
        if tail[name].dtype != np.float64 or tail[name].shape != (rows, *shape):
            return f"its last records of '{name}' have shape {tail[name].shape} and type {tail[name].dtype}"
    if commit["start"] % header["chunk"] and commit["start"] + rows:
        return f"its 'start' is {commit['start']}, no whole number of chunks"
    if commit["start"] + rows > header["records"]:
        return f"it has {commit['start'] + rows} records, and the run has room for {header['records']}"
    return None


# Events: rows of numbers, each with its CRC-32 where the run has checksums


def append_events(path: Path, count: int, events: np.ndarray, checked: bool) -> None:
    """Add events after the first `count`; what a stopped process left behind them is cut off."""
    rows = np.ascontiguousarray(events, "<f8")
    if checked:
        rows = np.column_stack([rows, digests.of_events(count, rows).view("<f8")])
    with open(path / EVENTS, "r+b" if (path / EVENTS).exists() else "w+b") as file:
        file.truncate(count * rows.itemsize * rows.shape[1])
        file.seek(0, os.SEEK_END)
        file.write(np.ascontiguousarray(rows).tobytes())


def read_events(path: Path, count: int, width: int, checked: bool) -> np.ndarray:
    """The first `count` events, or fewer: those before the first that is missing or does not match its checksum."""
    if not count:
        return np.zeros((0, width))
    stride = 8 * (width + checked)
    data = read_whole(path / EVENTS, count * stride)
    found = np.frombuffer(data[: len(data) - len(data) % stride], "<f8").reshape(-1, width + checked)[:count]
    events = np.ascontiguousarray(found[:, :width])
    if checked and len(found):
        right = np.ascontiguousarray(found[:, width]).view("<u8") == digests.of_events(0, events)
        events = events[: len(events) if right.all() else int(np.argmin(right))]
    return events


# Reading, writing, making sure


def read_whole(path: Path, max_bytes: int | None = None) -> bytes:
    """The bytes of a plain file (`max_bytes` of them), or Unreadable; a pipe would wait for ever."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise Unreadable("it is not a plain file")
        with open(path, "rb") as file:
            return file.read(-1 if max_bytes is None else max_bytes)
    except FileNotFoundError:
        raise Unreadable("it is missing") from None
    except (OSError, ValueError, MemoryError) as problem:
        raise Unreadable(getattr(problem, "strerror", None) or str(problem)) from None


def sync(paths: Iterable[Path]) -> None:
    """Wait until files and folders have reached the disk; all at once, since nearly all of it is waiting."""
    paths = list(paths)
    if len(paths) == 1:
        _sync_one(paths[0])
        return
    with ThreadPoolExecutor(min(_WAITING, len(paths))) as pool:
        for _ in pool.map(_sync_one, paths):
            pass


def _sync_one(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    sync([folder, *folder.rglob("*")])


def put_in_place(draft: Path, path: Path, durable: bool = True) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}.old")
    replaces = path.exists()
    if replaces:
        os.rename(path, aside)
    try:
        os.rename(draft, path)
    except OSError:
        if replaces:
            os.rename(aside, path)
        raise
    if durable:
        sync([path.parent])
    shutil.rmtree(aside, ignore_errors=True)


def keep_link(source: Path, target: Path) -> None:
    """Another name for a file, which then outlives the first; a copy where the file system has no such thing."""
    with suppress(FileNotFoundError):
        os.unlink(target)
    try:
        os.link(source, target)
    except FileNotFoundError:
        return  # there is nothing to keep
    except OSError:
        shutil.copyfile(source, target)


def plain(value: Any) -> Any:
    """Numbers of numpy and paths, as JSON knows them."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)


def versions() -> dict[str, str]:
    import numba

    from .. import __version__

    return {
        "taut": __version__, "numpy": np.__version__, "numba": numba.__version__,
        "python": platform.python_version(),
    }  # fmt: skip
