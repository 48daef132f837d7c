"""What a stored run holds: committed records, events, the state to go on from, and the header, checked when read.

Of a run that is recovered this is what is sound (verify.py). store.py says what the files are, and writes them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TautError
from ..model.model import Model
from ..scene.scene import Scene
from . import digests, older
from .chunks import SUMS, Chunks
from .events import NO_EVENTS, are_events
from .files import EVENTS, Unreadable, read_events
from .header import OPTIONAL, SHAPES, damaged
from .labels import Labels
from .stored_scene import check_scene, read_scene

if TYPE_CHECKING:
    from .verify import Examination


class StoredRun:
    """A stored run as its newest commit has it."""

    def __init__(self, path: Path, header: dict[str, Any], commit: dict[str, Any]) -> None:
        self.path = path
        self._header = header
        self._commit = commit
        self._checked = header["taut_run"] > 1
        self._chunks = Chunks(path, header)
        self._lacking = np.zeros(0, np.int64)  # slots that it was stored without: older.py
        self._sound: Examination | None = None  # of a run that is recovered

    def __len__(self) -> int:
        """How many records count."""
        if self._sound is not None:
            return self._sound.sound
        return self._commit["start"] + len(self._commit["tail"]["time"])

    @property
    def status(self) -> str:
        """running (or killed), finished, diverged, interrupted."""
        return "interrupted" if self._sound is not None and self._sound.faults else self._commit["status"]

    @property
    def message(self) -> str:
        examination = self._sound
        if examination is None or not examination.faults:
            return self._commit["message"]
        sound = f"of {examination.records} records the first {examination.sound} are sound"
        return f"damaged, {sound}: {examination.faults[0]}"

    @property
    def step(self) -> int:
        """Steps taken up to the last commit."""
        if self._sound is not None and self._sound.sound < self._sound.records:
            return max(0, self._sound.sound - 1) * int(self.info().get("record_every", 1))
        return self._commit["step"]

    @property
    def labels(self) -> Labels:
        return Labels.from_json(self._header["labels"])

    def read(self, begin: int = 0, end: int | None = None) -> dict[str, np.ndarray]:
        """The committed records from number `begin` to before `end`, by the names of Records.

        Every chunk that is read is checked.
        """
        return self._read({**self._commit["tail"], **dict.fromkeys(OPTIONAL)}, begin, end)

    def read_one(self, name: str, begin: int = 0, end: int | None = None) -> np.ndarray:
        """The same of one array."""
        return self._read((name,), begin, end)[name]

    def fit(self, model: Model) -> None:
        """Read and write slots as this model has them."""
        self._lacking = older.lacking(model, self._header["shapes"]["x"][0], int(model.bodies.slots))

    def _read(self, names: Iterable[str], begin: int, end: int | None) -> dict[str, np.ndarray]:
        return older.with_slots(self._read_stored(names, begin, end), self._lacking)

    def _read_stored(self, names: Iterable[str], begin: int, end: int | None) -> dict[str, np.ndarray]:
        start, tail = self._commit["start"], self._commit["tail"]
        tail = {name: np.zeros((len(tail["time"]), *SHAPES[name])) for name in OPTIONAL} | tail
        if self._sound is not None and self._sound.sound < self._sound.records:
            start, tail = self._sound.sound, {name: last[:0] for name, last in tail.items()}
        stop = max(begin, len(self) if end is None else min(end, len(self)))
        if begin >= start:
            return {name: tail[name][begin - start : stop - start] for name in names}  # spares the import of zarr
        chunk, faults, arrays = self._header["chunk"], {}, {}
        rows = min(stop, start) - begin  # that lie in chunks
        numbers = range(begin // chunk, -(-(begin + rows) // chunk))
        try:
            for name in names:
                pieces = []
                if name in self._chunks.arrays:
                    for first, values, wrong in self._chunks.blocks(name, numbers):
                        at = first * chunk - begin
                        pieces.append(values[max(0, -at) : rows - at])
                        faults.update({k: fault for k, fault in wrong.items() if k not in faults})
                else:
                    pieces.append(np.zeros((rows, *tail[name].shape[1:])))
                if stop > start or not pieces:
                    pieces.append(tail[name][: stop - begin - rows])
                arrays[name] = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)  # most are read without a copy
        except Unreadable as reason:
            raise damaged(self.path, str(reason)) from None
        except MemoryError:
            raise TautError(f"'{self.path}' is larger than the memory; it has {len(self)} records.") from None
        if faults:
            first = min(faults)
            whole = not begin and len(arrays) == len(tail)  # else there may be more damage before
            sound = f"; the first {first * chunk} of {len(self)} records are sound" if whole else ""
            raise damaged(self.path, f"{faults[first]}{sound}")
        sums = self._commit.get("chunks") if self._sound is None else None
        if sums is not None and zlib.crc32(self._chunks.read_sums(start // chunk)) != sums:
            raise damaged(self.path, f"{SUMS} does not belong to the commit")
        return arrays

    def events(self) -> np.ndarray:
        """The committed events, in the columns of result/events.py."""
        count = self._sound.sound_events if self._sound is not None else self._commit["events"]
        try:
            rows = read_events(self.path, count, NO_EVENTS.shape[1], self._checked)
        except Unreadable as reason:
            raise damaged(self.path, f"{EVENTS} can not be read ({reason})") from None
        if len(rows) < count:
            raise damaged(self.path, f"{EVENTS} holds {len(rows)} sound events of {count}")
        if not are_events(rows):
            raise damaged(self.path, f"{EVENTS} holds rows that are no events")
        return rows

    def state(self) -> tuple[dict[str, np.ndarray], int]:
        """The state to go on from, and how many steps led to it; no state: nothing has been recorded yet."""
        if self.status == "diverged":
            raise TautError(f"'{self.path}' can not be resumed: it diverged ({self.message})")
        if not self._commit["state"] and len(self):
            raise TautError(f"'{self.path}' can not be resumed: it has no state; simulate with out=.")
        return self._commit["state"], self.step

    def info(self) -> dict[str, Any]:
        """What was asked for and, once the run has ended, what it took."""
        return {**self._header["info"], **self._commit["info"]}

    def plan(self) -> dict[str, Any]:
        """What was asked for, by the keys of digests.PLAN."""
        return {key: value for key, value in self._header["info"].items() if key in digests.PLAN}

    @property
    def has_scene(self) -> bool:
        return self._header["scene"]["saved"]

    def scene(self) -> Scene:
        """The stored scene; refused where its file has been changed since."""
        return read_scene(self.path, self._header)

    def check_scene(self, scene: Scene, model: Model) -> None:
        """Refuse a scene that is not the one of the run, with what differs."""
        check_scene(self.path, self._header, scene, model)
