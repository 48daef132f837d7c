"""taut convert: a robot's file, or any scene, as a scene file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

Words = Annotated[list[str], Parameter(negative="", consume_multiple=False)]


def convert(
    file: str,
    /,
    *,
    out: Annotated[Path, Parameter(alias="-o")],
    set: Words | None = None,
    overwrite: Annotated[bool, Parameter(negative="")] = False,
    allow_outside: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Write a URDF or MJCF file, or any other scene, as a scene file.

    Parameters
    ----------
    file
        A .urdf or .xml (MJCF) file, or any scene that taut run takes.
    out
        The scene file to write (.yaml).
    set
        NAME=VALUE, a parameter: base=floating or limits=false of a URDF, controls="shoulder = 0.5" of MJCF.
    overwrite
        Replace an older file.
    allow_outside
        Let a .yaml file name meshes and arrays outside of its folder.
    """
    from ..scene import open_scene, parse_parameters

    scene = open_scene(file, allow_outside, **parse_parameters(set or ()))
    path = scene.save(out, overwrite=overwrite)
    print(f"{path}: {len(scene.bodies):,} bodies, {len(scene.constraints):,} constraints, {len(scene.forces):,} forces")
