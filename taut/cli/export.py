"""taut export: a stored run as a file for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..errors import TautError
from .parameters import Flag


def export(
    run: Path,
    /,
    *,
    to: str | None = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    fps: float | None = None,
    every: int | None = None,
    size: str | None = None,
    scene: str | None = None,
    overwrite: Flag = False,
    allow_outside: Flag = False,
) -> None:
    """Write a stored run for other tools: films, pictures, 3D files, tables.

    Parameters
    ----------
    run
        A folder that taut run --out wrote.
    to
        html, mp4, gif, png, usd, glb, vtk, obj, csv, parquet or nc; default: what the ending of --out says.
    out
        The file or folder; default: the run's name with the format's ending.
    fps
        Frames a second of the run's time, for films, pictures and 3D files.
    every
        Each so-manieth record instead; of tables, all records are kept where nothing is said.
    size
        Of pictures and films in pixels, such as 1280x720.
    scene
        The scene of a run that was stored without it: a name or a file.
    overwrite
        Replace an older file or folder.
    allow_outside
        Let the .yaml file of --scene name meshes and arrays outside of its folder.
    """
    from ..export import export as write
    from ..export.write import check, format_of
    from ..picture.picture import SIZE
    from ..result import open as open_run
    from ..scene import open_scene

    form = format_of(out, to)
    path = out if out is not None else Path(f"{run.resolve().name.removesuffix('.taut')}{form.endings[0]}")
    check(form, path, overwrite)
    opened = open_run(run, open_scene(scene, allow_outside) if scene is not None else None)
    write(opened, path, form.name, fps, every, _size(size) if size is not None else SIZE, overwrite)
    print(path)


def _size(text: str) -> tuple[int, int]:
    width, found, height = text.lower().partition("x")
    if not found or not width.isdecimal() or not height.isdecimal():
        raise TautError(f"--size is '{text}'; write width x height in pixels, such as 1280x720.")
    return int(width), int(height)
