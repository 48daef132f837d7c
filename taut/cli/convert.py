"""taut convert: a robot's file, or any scene, as a scene file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .parameters import AS_IT_IS, Flag, Opening


def convert(
    file: str,
    /,
    *,
    out: Annotated[Path, Parameter(alias="-o")],
    overwrite: Flag = False,
    opening: Opening = AS_IT_IS,
) -> None:
    """Write a URDF or MJCF file, or any other scene, as a scene file.

    Parameters (--set) are base=floating or limits=false of a URDF, key=home or controls="shoulder = 0.5" of MJCF.

    Parameters
    ----------
    file
        A .urdf or .xml (MJCF) file, or any scene that taut run takes.
    out
        The scene file to write (.yaml).
    overwrite
        Replace an older file.
    """
    scene = opening.open(file)
    path = scene.save(out, overwrite=overwrite)
    print(f"{path}: {len(scene.bodies):,} bodies, {len(scene.constraints):,} constraints, {len(scene.forces):,} forces")
