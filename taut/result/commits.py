"""Commits of a stored run: the one that counts, the first, which is empty, and the earlier ones that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from . import digests
from .files import COMMIT, Unreadable, read_commit
from .header import NAME, damaged, read_header

CHECKPOINTS = "checkpoints"
RUNNING = "running"


def checkpoints(path: Path) -> list[Path]:
    """Earlier commits, oldest first."""
    found = [file for file in (path / CHECKPOINTS).glob("*-*.npz")
             if all(part.isdigit() for part in file.stem.split("-", 1))]  # fmt: skip
    return sorted(found, key=lambda file: [int(part) for part in file.stem.split("-")][::-1])


def records_before(checkpoint: Path) -> int:
    """The records in whole chunks before a checkpoint."""
    return int(checkpoint.stem.partition("-")[0])


def read_header_and_commit(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and commit."""
    header, data = read_header(path)
    try:
        commit = read_commit(path / COMMIT, header)
    except Unreadable as reason:
        raise damaged(path, f"{COMMIT} can not be read ({reason})") from None
    if commit.get("header", digests.of_file(data)) != digests.of_file(data):
        raise damaged(path, f"{NAME} was changed after the run began{changed_plan(header)}")
    return header, commit


def changed_plan(header: dict[str, Any]) -> str:
    """Which parts of the plan of a header are not those of its digests."""
    stored = header.get("digests", {}).get("plan", {})
    now = digests.of_plan(header["info"])
    names = [key for key in digests.PLAN if isinstance(stored, dict) and stored.get(key) != now.get(key)]
    return f" ({', '.join(names)})" if names else ""


def empty_commit(header: dict[str, Any], data: bytes) -> dict[str, Any]:
    """The commit of a run that has no records yet; data: the bytes of its header."""
    tail = {name: np.zeros((0, *shape)) for name, shape in header["shapes"].items()}
    commit = {
        "step": 0, "start": 0, "status": RUNNING, "message": "", "info": {}, "events": 0, "tail": tail, "state": {},
    }  # fmt: skip
    return commit | ({"header": digests.of_file(data), "chunks": 0} if header["taut_run"] > 1 else {})
