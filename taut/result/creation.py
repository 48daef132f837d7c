"""The folder of a new run: its header, the scene, arrays of their full length, and a commit of no records."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..drafts import writing
from ..errors import TautError
from ..model.model import Model
from ..scene.scene import Scene
from . import digests
from .chunks import FOLDER, create_arrays
from .commits import CHECKPOINTS, empty_commit
from .files import plain, save_scene, versions, write_commit
from .header import FORMAT, NAME, OPTIONAL, is_run
from .labels import Labels
from .lock import Lock
from .records import Records


def new_header(scene: Scene, model: Model, records: int, info: dict[str, Any], chunk_bytes: int) -> dict[str, Any]:
    """What run.json says, but for what `fill` finds; a chunk of all arrays together has about so many bytes."""
    shapes = {name: list(shape) for name, shape in Records.shapes(model).items()}
    shapes = {name: shape for name, shape in shapes.items() if name not in OPTIONAL or 0 not in shape}
    bytes_each = sum(8 * int(np.prod(shape)) for shape in shapes.values())
    chunk = int(min(max(1, chunk_bytes // bytes_each), max(records, 1)))
    return {
        "taut_run": FORMAT, "records": records, "chunk": chunk, "shapes": shapes,
        "info": {"versions": versions(), **info}, "labels": Labels.of(model).to_json(),
        "digests": {"plan": digests.of_plan(json.loads(json.dumps(info, default=plain))),
                    "scene": digests.of_scene(scene)},
    }  # fmt: skip


def fill(draft: Path, scene: Scene, header: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write all files of a new run into an empty folder; the header as it is read back, and the commit."""
    header["scene"] = save_scene(scene, draft)
    header["arrays"] = create_arrays(draft / FOLDER, header["shapes"], header["records"], header["chunk"])
    written = [*draft.glob("scene.*"), draft / FOLDER / "zarr.json"]
    header["files"] = {file.relative_to(draft).as_posix(): digests.of_file(file.read_bytes()) for file in written}
    data = json.dumps(header, default=plain).encode()
    (draft / CHECKPOINTS).mkdir()
    for name in (NAME, f"{CHECKPOINTS}/{NAME}"):
        (draft / name).write_bytes(data)
    header = json.loads(data)
    commit = empty_commit(header, data)
    write_commit(draft, commit, durable=False)
    return header, commit


def check_free(path: Path, overwrite: bool) -> Lock | None:
    """The right to replace what is at the path, where there is anything."""
    if not os.path.lexists(path):
        return None
    if not overwrite:
        raise TautError(f"'{path}' exists; choose another name, or ask for it to be overwritten.")
    if path.is_symlink() or not is_run(path):
        # Overwriting deletes a whole folder, so it must be one of ours.
        raise TautError(f"'{path}' is not a stored run, so it is not overwritten; choose another name.")
    with writing(path):
        return Lock.take(path)
