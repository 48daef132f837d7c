"""The scene of a stored run: read from its folder, and compared by digests with one that a caller passes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import TautError
from ..model.model import Model
from ..scene.scene import Scene
from . import digests
from .files import Unreadable, read_whole
from .header import damaged
from .labels import Labels


def read_scene(path: Path, header: dict[str, Any]) -> Scene:
    """The stored scene; refused where its file has been changed since."""
    if not header["scene"]["saved"]:
        raise TautError(
            f"'{path}' was stored without its scene ({header['scene'].get('reason', '')}) "
            "Pass the scene: taut.open(path, scene=scene), taut.resume(path, scene=scene)."
        )
    from ..scene.load import load

    changed = [name for name in changed_files(path, header) if name.startswith("scene.")]
    for file in (path / "scene.yaml", path / "scene.npz"):
        if os.path.lexists(file) and not file.is_file():  # a pipe would wait for ever
            raise damaged(path, f"{file.name} is not a plain file")
    try:
        scene = load(path / "scene.yaml", allow_outside=True)  # its meshes stayed where they were
    except TautError as problem:
        if not changed:
            raise
        raise damaged(path, f"{changed[0]} was changed or damaged, and is no scene ({problem})") from None
    has_mesh = any("mesh" in deformable.arguments for deformable in scene.deformables.values())
    if _has_checksums(header) and (changed or has_mesh):
        what = digests.differences(header["digests"]["scene"], digests.of_scene(scene), None, None)
        if what:
            raise TautError(
                f"'{path / 'scene.yaml'}' was changed after the run began: {what}. Put the file back as it "
                "was, or pass the scene of the run (scene=scene)."
            )
    return scene


def changed_files(path: Path, header: dict[str, Any]) -> list[str]:
    """Files that are not those of the start of the run; unknown without checksums."""
    found = []
    for name, digest in header.get("files", {}).items():
        try:
            same = digests.of_file(read_whole(path / name)) == digest
        except Unreadable:
            same = False
        if not same:
            found.append(name)
    return found


def check_scene(path: Path, header: dict[str, Any], scene: Scene, model: Model) -> None:
    """Refuse a scene that is not the one of the run, with what differs."""
    if not _has_checksums(header):
        stored = Labels.from_json(header["labels"]).to_json()
        what = "names, masses or rows differ" if Labels.of(model).to_json() != stored else ""
    else:
        now, before = digests.of_scene(scene), header["digests"]["scene"]
        what = digests.differences(before, now, None, None)
        if what and header["scene"]["saved"] and not changed_files(path, header):
            with suppress(TautError):
                what = digests.differences(before, now, read_scene(path, header), scene)
    if what:
        raise TautError(f"'{path}' is a run of another scene than '{scene.name}': {what}; pass its own.")


def _has_checksums(header: dict[str, Any]) -> bool:
    return header["taut_run"] > 1
