"""The files of a stored run, each written whole or not at all; store.py says what they are for."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TautError
from ..scene.scene import Scene


def create_arrays(path: Path, shapes: dict[str, list[int]], records: int, chunk: int) -> None:
    import zarr

    group = zarr.open_group(path, mode="w", zarr_format=3)
    for name, shape in shapes.items():
        if 0 in shape:
            continue  # nothing to keep
        group.create_array(
            name, shape=(records, *shape), chunks=(chunk, *shape), dtype="float64", fill_value=float("nan"),
            config={"write_empty_chunks": True},
        )  # fmt: skip


def save_scene(scene: Scene, folder: Path) -> dict[str, Any]:
    """A scene with Python functions can not be written; the run is stored all the same."""
    try:
        scene.save(folder / "scene.yaml")
    except TautError as reason:
        return {"saved": False, "reason": str(reason)}
    return {"saved": True}


def write_commit(folder: Path, commit: dict[str, Any]) -> None:
    words = {key: commit[key] for key in ("step", "start", "status", "message", "info", "events")}
    arrays = {f"{part}.{name}": values for part in ("tail", "state") for name, values in commit[part].items()}
    draft = folder / ".commit.npz.part"
    with open(draft, "wb") as file:
        np.savez(file, words=np.array(json.dumps(words, default=plain)), **arrays)
    os.replace(draft, folder / "commit.npz")


def read_commit(folder: Path) -> dict[str, Any]:
    with np.load(folder / "commit.npz") as file:
        commit = {"events": 0} | json.loads(str(file["words"])) | {"tail": {}, "state": {}}
        for key in file.files:
            part, _, name = key.partition(".")
            if name:
                commit[part][name] = file[key]
    return commit


def append_events(path: Path, count: int, events: np.ndarray) -> None:
    """Add events after the first `count`; what a stopped process left behind them is cut off."""
    with open(path / "events.bin", "r+b" if (path / "events.bin").exists() else "w+b") as file:
        file.truncate(count * events.itemsize * events.shape[1])
        file.seek(0, os.SEEK_END)
        file.write(np.ascontiguousarray(events, "<f8").tobytes())


def read_events(path: Path, count: int, width: int) -> np.ndarray:
    if not count:
        return np.zeros((0, width))
    return np.fromfile(path / "events.bin", "<f8", count * width).reshape(-1, width)


def read_header(path: Path) -> dict[str, Any] | None:
    """None where the path is not a stored run."""
    try:
        header = json.loads((path / "run.json").read_text())
    except (OSError, ValueError):
        return None
    return header if isinstance(header, dict) and isinstance(header.get("taut_run"), int) else None


def check_free(path: Path, overwrite: bool) -> None:
    if not os.path.lexists(path):
        return
    if not overwrite:
        raise TautError(f"'{path}' exists; choose another name, or ask for it to be overwritten.")
    if path.is_symlink() or read_header(path) is None:
        # Overwriting deletes a whole folder, so it must be one of ours.
        raise TautError(f"'{path}' is not a stored run, so it is not overwritten; choose another name.")


def put_in_place(draft: Path, path: Path) -> None:
    if not path.exists():
        os.rename(draft, path)
        return
    aside = path.with_name(f".{path.name}.{os.getpid()}.old")
    os.rename(path, aside)
    try:
        os.rename(draft, path)
    except OSError:
        os.rename(aside, path)
        raise
    shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise TautError(
            f"'{path}' can not be written: {problem.strerror or problem}. Give another path, or make room; "
            "what was stored before is kept."
        ) from None


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
