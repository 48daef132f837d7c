"""A run as a folder on disk, readable after the process is killed, or the power is lost, at any moment.

    run.json       what was asked, the names of all columns, digests of the scene and of the plan; written once
    scene.yaml     the scene (with scene.npz), unless it holds Python functions
    records.zarr   records in whole chunks, in arrays that have their full length from the start (chunks.py)
    chunks.bin     checksums of these chunks
    events.bin     activations, releases and impacts, as many as commit.npz says, each with its checksum
    commit.npz     how many records count, those after the last whole chunk, and the state to go on from
    checkpoints/   the commit before, some earlier ones, and a copy of run.json: what damage is recovered from
    writer.lock    held by the process that writes

A chunk is written once and counts only when commit.npz, which is replaced at one stroke, says so. So the
state of a commit always belongs to exactly the records that count, and a run resumes bit for bit. A commit holds
the digest of run.json and ends with its own, so a change of any of these files is noticed.

Runs of format 1, from before there were checksums, are read, and gone on with, as they are.
"""

from __future__ import annotations

import os
import shutil
import time as clock
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..drafts import writing
from ..errors import present
from ..model.model import Model
from ..scene.scene import Scene
from . import older
from .commits import CHECKPOINTS, RUNNING, checkpoints, empty_commit, read_header_and_commit, records_before
from .creation import check_free, fill, new_header
from .events import NO_EVENTS
from .files import (
    COMMIT,
    EVENTS,
    append_events,
    keep_link,
    put_in_place,
    sync,
    sync_tree,
    write_commit,
)
from .header import NAME, read_header
from .lock import Lock
from .stored_run import StoredRun
from .verify import examine

# Of all arrays together: the most that a commit repeats. Most of what a chunk costs does not depend on its size.
CHUNK_BYTES = 2**22
SHARE = 20  # a durable run spends at most one part in so many on commits,
REPEATED = 4e6  # and writes at most so many bytes a second again and again; but it waits at most
LONGEST_WAIT = 10.0  # seconds
MOST_WAITING = 2**26  # and bytes
SPACING = 16  # bytes of records for each byte of checkpoints that are kept


class Store(StoredRun):
    """A stored run that can be written: `create` or `open`; then `append` and `finish`."""

    def __init__(
        self, path: Path, header: dict[str, Any], commit: dict[str, Any], lock: Lock | None, durable: bool
    ) -> None:
        super().__init__(path, header, commit)
        self._lock = lock
        self._durable = durable
        self._waiting: list[tuple] = []  # appended since the last commit
        self._size = 0  # bytes of these
        self._due = 0.0  # when the next commit may be

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
        durable: bool = True,
    ) -> Store:
        """A new folder with room for so many records. An older run at the path goes only once it exists."""
        path = Path(path)
        before = check_free(path, overwrite)
        header = new_header(scene, model, records, info, CHUNK_BYTES)
        draft = path.with_name(f".{path.name}.{os.getpid()}.part")
        lock = None
        with writing(path):
            try:
                draft.mkdir()
                lock = Lock.take(draft)
                header, commit = fill(draft, scene, header)
                if durable:
                    sync_tree(draft)
                put_in_place(draft, path, durable)
            except BaseException:
                if lock is not None:
                    lock.release()
                raise
            finally:
                if before is not None:
                    before.release()
                shutil.rmtree(draft, ignore_errors=True)
        return cls(path, header, commit, lock, durable)

    @classmethod
    def open(
        cls, path: str | Path, to_write: bool = False, recover: bool = False, durable: bool = True
    ) -> Store:
        """A stored run; to_write: to go on with it, which one process at a time may do.

        recover: also a damaged one. Then `read` and `events` give what is sound, and `rewind` goes back to where the
        run can go on from.
        """
        path = Path(path)
        lock = None
        if to_write:
            if not (recover and (path / CHECKPOINTS / NAME).is_file()):
                read_header(path)  # no lock is left in a folder that is none of ours
            with writing(path):
                lock = Lock.take(path)
        try:
            if recover:
                examination = examine(path)
                store = cls(path, examination.header, examination.commit, lock, durable)
                store._sound = examination
                return store
            return cls(path, *read_header_and_commit(path), lock, durable)
        except BaseException:
            if lock is not None:
                lock.release()
            raise

    def release(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.release()

    # Writing

    def append(
        self, chunk: dict[str, np.ndarray], state: dict[str, np.ndarray], step: int, events: np.ndarray = NO_EVENTS
    ) -> None:
        """Add records and events, and the state after them to go on from.

        They count with the next commit. That is now, unless commits would take more than 1/SHARE of the time: then it
        is after SHARE times as long as the last one took, or with `finish`.
        """
        present(self._lock, "the lock of a run that is written")
        # Copies: the caller's state changes while the commit waits, or has to be written again.
        kept = {name: np.array(values) for name, values in state.items()}
        self._waiting.append((chunk, kept, step, events))
        self._size += sum(values.nbytes for values in chunk.values())
        if self._size > MOST_WAITING or clock.monotonic() >= self._due:
            self.commit()

    def commit(self) -> None:
        """Let all that was appended count."""
        if not self._waiting:
            return
        began = clock.monotonic()
        chunks, states, steps, events = zip(*self._waiting)
        joined = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}
        self._commit_all(joined, states[-1], steps[-1], np.concatenate(events))
        self._waiting, self._size = [], 0
        if self._durable:
            now = clock.monotonic()
            repeated = sum(values.nbytes for values in self._commit["tail"].values())
            self._due = now + min(max(SHARE * (now - began), repeated / REPEATED), LONGEST_WAIT)

    def _commit_all(self, chunk: dict[str, np.ndarray], state: dict[str, Any], step: int, events: np.ndarray) -> None:
        tail, start, sums = self._commit["tail"], self._commit["start"], self._commit.get("chunks", 0)
        column_count = self._header["shapes"]["energy"][0]  # fewer in a run of an older version
        chunk = {**chunk, "energy": chunk["energy"][:, :column_count]}
        chunk = older.without_slots(chunk, self._lacking)
        joined = {name: np.concatenate([tail[name], chunk[name]]) for name in tail}
        stop = start + len(joined["time"])
        if stop > self._header["records"]:
            raise ValueError(f"{stop} records, but room was made for {self._header['records']}")
        whole = stop - stop % self._header["chunk"] - start
        with writing(self.path):
            if whole:
                values = {name: values[:whole] for name, values in joined.items()}
                self._chunks.write(start, values, self._durable)
                if self._checked:
                    sums = self._chunks.append_sums(start, sums, values, self._durable)
            if len(events):
                append_events(self.path, self._commit["events"], events, self._checked)
                if self._durable:
                    sync([self.path / EVENTS])
            self._replace_commit(
                step=step,
                start=start + whole,
                tail={name: values[whole:].copy() for name, values in joined.items()},
                state=state,
                status=RUNNING,
                message="",
                events=self._commit["events"] + len(events),
                **({"chunks": sums} if self._checked else {}),
            )

    def finish(self, status: str, message: str, info: dict[str, Any]) -> None:
        """Say how the run ended. The last records also go into the arrays, for other readers of zarr."""
        self.commit()
        with writing(self.path):
            if len(self._commit["tail"]["time"]):
                self._chunks.write(self._commit["start"], self._commit["tail"], self._durable)
            self._replace_commit(status=status, message=message, info=info)
        self.release()

    def _replace_commit(self, **changes: Any) -> None:
        commit = {**self._commit, **changes}
        if self._commit["state"]:
            self._keep_checkpoint()
        write_commit(self.path, commit, self._durable)
        self._commit = commit

    def _keep_checkpoint(self) -> None:
        """The outgoing commit stays under another name; of those before, one for SPACING times its size."""
        folder = self.path / CHECKPOINTS
        folder.mkdir(exist_ok=True)
        newest = folder / f"{self._commit['start']}-{self._commit['step']}.npz"
        keep_link(self.path / COMMIT, newest)
        files = self._kept
        if newest in files:
            return
        files.append(newest)
        if len(files) > 1:
            last, before = files[-2], (records_before(files[-3]) if len(files) > 2 else 0)
            bytes_each = sum(8 * int(np.prod(shape)) for shape in self._header["shapes"].values())
            with suppress(FileNotFoundError):
                if (records_before(last) - before) * bytes_each < SPACING * last.stat().st_size:
                    last.unlink()
                    files.remove(last)

    @cached_property
    def _kept(self) -> list[Path]:
        """Checkpoints, oldest first."""
        return checkpoints(self.path)

    def rewind(self) -> None:
        """Go back to the newest commit before all damage, or to the start of the run."""
        if self._sound is None:
            return
        examination, self._sound = self._sound, None
        self._commit = examination.resume or empty_commit(self._header, examination.header_bytes)
        with writing(self.path):
            if examination.header_is_a_copy:
                (self.path / NAME).write_bytes(examination.header_bytes)
            for path in self._kept:
                if int(path.stem.partition("-")[2]) > self._commit["step"]:
                    path.unlink()
            del self._kept
            # What is damaged is computed, and written, again.
            write_commit(self.path, self._commit, self._durable)
