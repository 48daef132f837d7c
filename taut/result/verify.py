"""What of a stored run is sound: every file compared with its checksum.

Records are sound up to the first damaged chunk, events up to the first that is missing or changed. A run goes on from
the newest commit before both: commit.npz, or one of checkpoints/, and otherwise from its start.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import TautError
from . import digests
from .chunks import FOLDER, SUMS, Chunks
from .commits import CHECKPOINTS, changed_plan, checkpoints
from .events import NO_EVENTS, are_events
from .files import COMMIT, EVENTS, Unreadable, read_commit, read_events, read_whole
from .header import NAME, read_header
from .stored_scene import changed_files, read_scene

OTHERS = "taut does not need it, other programs do"


@dataclass
class Examination:
    """What `examine` found.

    checked       False: the run is from before there were checksums, so only what is missing or torn shows
    faults        what is wrong, one sentence each, the gravest first
    records       committed; of these `sound` from the start
    events        committed; of these `sound_events` from the start
    commit        the newest that can be read
    resume        the newest before all damage; None: the run begins anew
    """

    header: dict[str, Any]
    header_bytes: bytes
    header_is_a_copy: bool
    commit: dict[str, Any]
    checked: bool
    faults: list[str] = field(default_factory=list)
    records: int = 0
    sound: int = 0
    events: int = 0
    sound_events: int = 0
    resume: dict[str, Any] | None = None


def examine(path: str | Path) -> Examination:
    """Look at every file of a stored run; a TautError where nothing can be made of it."""
    path = Path(path)
    faults: list[str] = []
    commits: list[dict[str, Any]] = []
    reason: TautError | None = None
    for name in (NAME, f"{CHECKPOINTS}/{NAME}"):
        try:
            header, data = read_header(path, name)
        except TautError as problem:
            reason = reason or problem
            continue
        commits, wrong = _commits(path, header, data)
        if commits:
            break
    else:
        raise reason or TautError(f"'{path}' can not be recovered: {'; '.join(wrong)}.")
    copied = name != NAME
    if copied:
        faults.append(f"{NAME} is damaged or was changed{_why(path)}; its copy in {CHECKPOINTS} is sound")
    examination = Examination(header, data, copied, commits[0], header["taut_run"] > 1, faults + wrong)
    _look_at_records(path, examination)
    _look_at_events(path, examination)
    examination.faults += _other_files(path, examination)
    whole = header["chunk"] * (examination.sound // header["chunk"])
    for commit in commits:
        if commit["start"] <= whole and commit["events"] <= examination.sound_events and commit["state"]:
            examination.resume = commit
            break
    return examination


def _commits(path: Path, header: dict[str, Any], data: bytes) -> tuple[list[dict[str, Any]], list[str]]:
    """Commits that belong to the header, newest first, and what is wrong with others."""
    found, faults = [], []
    for file in (path / COMMIT, *reversed(checkpoints(path))):
        file_name = file.relative_to(path)
        try:
            commit = read_commit(file, header)
        except Unreadable as reason:
            faults.append(f"{file_name} can not be read ({reason})")
            continue
        if commit.get("header", digests.of_file(data)) == digests.of_file(data):
            found.append(commit)
        else:
            faults.append(f"{file_name} belongs to another {NAME}")
    return found, faults


def _why(path: Path) -> str:
    try:
        return changed_plan(read_header(path)[0])
    except TautError:
        return ""


def _look_at_records(path: Path, examination: Examination) -> None:
    header, commit = examination.header, examination.commit
    chunks, count = Chunks(path, header), commit["start"] // header["chunk"]
    examination.records = examination.sound = commit["start"] + len(commit["tail"]["time"])
    first = count
    try:
        for name in chunks.arrays if count else ():
            for _, _, wrong in chunks.blocks(name, range(count)):
                examination.faults += wrong.values()
                first = min([first, *wrong])
    except Unreadable as reason:
        examination.faults.append(str(reason))
        first = 0
    if first < count:
        examination.sound = first * header["chunk"]
    elif examination.checked and zlib.crc32(chunks.read_sums(count)) != commit["chunks"]:
        examination.faults.append(f"{SUMS} does not belong to the commit")


def _look_at_events(path: Path, examination: Examination) -> None:
    examination.events = examination.commit["events"]
    try:
        events = read_events(path, examination.events, NO_EVENTS.shape[1], examination.checked)
    except Unreadable as reason:
        examination.faults.append(f"{EVENTS} can not be read ({reason})")
        return
    if not are_events(events):
        examination.faults.append(f"{EVENTS} holds rows that are no events")
        return
    examination.sound_events = len(events)
    if len(events) < examination.events:
        examination.faults.append(f"{EVENTS} holds {len(events)} sound events of {examination.events}")


def _other_files(path: Path, examination: Examination) -> list[str]:
    """The scene, and what only other readers of zarr need."""
    faults = []
    for name in changed_files(path, examination.header):
        faults.append(f"{name} was changed{'' if name.startswith('scene.') else f' ({OTHERS})'}")
        try:
            if name.startswith("scene."):
                read_scene(path, examination.header)
                faults[-1] += ", but describes the same scene"
        except TautError as reason:
            faults[-1] = str(reason)
    for name, metadata in examination.header.get("arrays", {}).items():
        file = f"{FOLDER}/{name}/zarr.json"
        try:
            if json.loads(read_whole(path / file)) != metadata:
                faults.append(f"{file} was changed ({OTHERS})")
        except (Unreadable, ValueError, RecursionError) as reason:
            faults.append(f"{file} can not be read ({reason}; {OTHERS})")
    copy = path / CHECKPOINTS / NAME
    try:
        if examination.checked and not examination.header_is_a_copy and read_whole(copy) != examination.header_bytes:
            faults.append(f"{CHECKPOINTS}/{NAME} was changed (it is a copy)")
    except Unreadable as reason:
        faults.append(f"{CHECKPOINTS}/{NAME} can not be read ({reason}; it is a copy)")
    return faults
