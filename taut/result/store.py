"""A run as a folder on disk, readable after the process is killed at any moment.

    run.json       what was asked, and the names of all columns; written once
    scene.yaml     the scene (with scene.npz), unless it holds Python functions
    records.zarr   records in whole chunks, in arrays that have their full length from the start
    events.bin     activations, releases and impacts, as many as commit.npz says
    commit.npz     how many records count, those after the last whole chunk, and the state to go on from

A chunk is written once and counts only when commit.npz, which is replaced at one stroke, says so. So the
state of a commit always belongs to exactly the records that count, and a run resumes bit for bit.
"""

from __future__ import annotations

import json
import os
import shutil
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..errors import TautError
from ..model.model import Model
from ..scene.scene import Scene
from .events import NO_EVENTS
from .files import (
    append_events,
    check_free,
    create_arrays,
    plain,
    put_in_place,
    read_commit,
    read_events,
    read_header,
    save_scene,
    versions,
    write_commit,
    writing,
)
from .labels import Labels
from .records import Records

FORMAT = 1
CHUNK_BYTES = 2**20  # of all arrays together: the most that a commit repeats
RUNNING = "running"


class StoredRecords(Records):
    """Records that stay on disk until an array of them is asked for."""

    def __init__(self, store: Store) -> None:
        object.__setattr__(self, "store", store)

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in self.__dataclass_fields__:
            raise AttributeError(name)
        values = self.__dict__["store"].read_one(name)
        object.__setattr__(self, name, values)
        return values

    def part(self, at: np.ndarray) -> Records:
        """The records of these numbers; only what lies around them is read."""
        store: Store = self.__dict__["store"]
        first = int(at.min(initial=0))
        around = store.read(first, int(at.max(initial=-1)) + 1)
        return Records(**{name: values[at - first] for name, values in around.items()})

    def places(self, at: np.ndarray) -> np.ndarray:
        if len(self) < 100 * at.size:
            return self.x[at]
        store: Store = self.__dict__["store"]
        return np.concatenate([store.read_one("x", int(i), int(i) + 1) for i in at])

    def __len__(self) -> int:
        return len(self.__dict__["store"])


class Store:
    """`create` or `open`; then `append`, `finish`, and what has been committed so far."""

    def __init__(self, path: Path, header: dict[str, Any], commit: dict[str, Any]) -> None:
        self.path = path
        self._header = header
        self._commit = commit

    # Making and opening

    @classmethod
    def create(
        cls,
        path: str | Path,
        scene: Scene,
        model: Model,
        records: int,
        info: dict[str, Any],
        overwrite: bool = False,
    ) -> Store:
        """A new folder with room for so many records. An older run at the path goes only once it exists."""
        path = Path(path)
        check_free(path, overwrite)
        shapes = {name: list(shape) for name, shape in Records.shapes(model).items()}
        bytes_each = sum(8 * int(np.prod(shape)) for shape in shapes.values())
        chunk = int(min(max(1, CHUNK_BYTES // bytes_each), max(records, 1)))
        header = {
            "taut_run": FORMAT, "records": records, "chunk": chunk, "shapes": shapes,
            "info": {"versions": versions(), **info}, "labels": Labels.of(model).to_json(),
        }  # fmt: skip
        tail = {name: np.zeros((0, *shape)) for name, shape in shapes.items()}
        commit = {
            "step": 0, "start": 0, "status": RUNNING, "message": "", "info": {}, "events": 0, "tail": tail,
            "state": {},
        }  # fmt: skip
        draft = path.with_name(f".{path.name}.{os.getpid()}.part")
        with writing(path):
            try:
                draft.mkdir()
                header["scene"] = save_scene(scene, draft)
                create_arrays(draft / "records.zarr", shapes, records, chunk)
                (draft / "run.json").write_text(json.dumps(header, default=plain))
                write_commit(draft, commit)
                put_in_place(draft, path)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        return cls(path, header, commit)

    @classmethod
    def open(cls, path: str | Path) -> Store:
        path = Path(path)
        if not path.exists():
            raise TautError(f"there is no stored run '{path}'; check the path.")
        header = read_header(path)
        if header is None:
            raise TautError(f"'{path}' is not a stored run; give a folder that simulate(out=...) wrote.")
        if header["taut_run"] > FORMAT:
            raise TautError(f"'{path}' has format {header['taut_run']} of a newer taut; update taut.")
        try:
            return cls(path, header, read_commit(path))
        except (OSError, ValueError, KeyError, BadZipFile) as problem:
            raise TautError(f"'{path}' is damaged: commit.npz can not be read ({problem}).") from None

    # Writing

    def append(
        self, chunk: dict[str, np.ndarray], state: dict[str, np.ndarray], step: int, events: np.ndarray = NO_EVENTS
    ) -> None:
        """Add records and events, and the state after them to go on from. All count when this returns."""
        tail, start = self._commit["tail"], self._commit["start"]
        joined = {name: np.concatenate([tail[name], chunk[name]]) for name in tail}
        stop = start + len(joined["time"])
        if stop > self._header["records"]:
            raise ValueError(f"{stop} records, but room was made for {self._header['records']}")
        whole = stop - stop % self._header["chunk"] - start
        with writing(self.path):
            if whole:
                self._write(start, {name: values[:whole] for name, values in joined.items()})
            if len(events):
                append_events(self.path, self._commit["events"], events)
            # Copies: the caller's state changes while the commit may have to be written again.
            self._replace_commit(
                step=step,
                start=start + whole,
                tail={name: values[whole:].copy() for name, values in joined.items()},
                state={name: np.array(values) for name, values in state.items()},
                status=RUNNING,
                message="",
                events=self._commit["events"] + len(events),
            )

    def events(self) -> np.ndarray:
        """The committed events, in the columns of result/events.py."""
        return read_events(self.path, self._commit["events"], NO_EVENTS.shape[1])

    def finish(self, status: str, message: str, info: dict[str, Any]) -> None:
        """Say how the run ended. The last records also go into the arrays, for other readers of zarr."""
        with writing(self.path):
            if len(self._commit["tail"]["time"]):
                self._write(self._commit["start"], self._commit["tail"])
            self._replace_commit(status=status, message=message, info=info)

    def _write(self, start: int, values: dict[str, np.ndarray]) -> None:
        for name, array in self._arrays.items():
            array[start : start + len(values[name])] = values[name]

    def _replace_commit(self, **changes: Any) -> None:
        commit = {**self._commit, **changes}
        write_commit(self.path, commit)
        self._commit = commit

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        import zarr

        group = zarr.open_group(self.path / "records.zarr", mode="r+", use_consolidated=False)
        return {name: group[name] for name, shape in self._header["shapes"].items() if 0 not in shape}

    # Reading

    def __len__(self) -> int:
        """How many records count."""
        return self._commit["start"] + len(self._commit["tail"]["time"])

    @property
    def status(self) -> str:
        """running (or killed), finished, diverged, interrupted."""
        return self._commit["status"]

    @property
    def message(self) -> str:
        return self._commit["message"]

    @property
    def step(self) -> int:
        """Steps taken up to the last commit."""
        return self._commit["step"]

    @property
    def labels(self) -> Labels:
        return Labels.from_json(self._header["labels"])

    def read(self, begin: int = 0, end: int | None = None) -> dict[str, np.ndarray]:
        """The committed records from number `begin` to before `end`, by the names of Records."""
        return {name: self.read_one(name, begin, end) for name in self._commit["tail"]}

    def read_one(self, name: str, begin: int = 0, end: int | None = None) -> np.ndarray:
        """The same of one array."""
        start, last = self._commit["start"], self._commit["tail"][name]
        stop = len(self) if end is None else min(end, len(self))
        tail = last[max(begin - start, 0) : max(stop - start, 0)]
        if begin >= start:
            return tail  # spares the import of zarr
        rows = min(stop, start) - begin
        whole = self._arrays[name][begin : begin + rows] if name in self._arrays else np.zeros((rows, *last.shape[1:]))
        return np.concatenate([whole, tail])

    def state(self) -> tuple[dict[str, np.ndarray], int]:
        """The state to go on from, and how many steps led to it."""
        if not self._commit["state"]:
            raise TautError(f"'{self.path}' can not be resumed: it has no state; simulate with out=.")
        if self.status == "diverged":
            raise TautError(f"'{self.path}' can not be resumed: it diverged ({self.message})")
        return self._commit["state"], self.step

    def info(self) -> dict[str, Any]:
        """What was asked for and, once the run has ended, what it took."""
        return {**self._header["info"], **self._commit["info"]}

    @property
    def has_scene(self) -> bool:
        return self._header["scene"]["saved"]

    def scene(self) -> Scene:
        if not self.has_scene:
            raise TautError(
                f"'{self.path}' was stored without its scene ({self._header['scene']['reason']}) "
                "Pass the scene: taut.open(path, scene=scene), taut.resume(path, scene=scene)."
            )
        from ..scene.load import load

        return load(self.path / "scene.yaml")
