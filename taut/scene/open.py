"""A scene by any name that users know it by: of the gallery, of a .yaml, .urdf, .xml (MJCF) or .py file."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

from .. import limits
from ..arguments import checked
from ..errors import TautError, unknown
from .gallery import SCENES, gallery
from .load import ROBOTS, load
from .parameters import called_with
from .robots import load_robot
from .scene import Scene


@checked
def open_scene(what: str | Path, allow_outside: bool = False, **parameters: Any) -> Scene:
    """The scene that `what` names; parameters go to the gallery's function or to the file's build().

    A .py file is executed, with all that you may do yourself; a .yaml file is only read.

    allow_outside  whether the meshes and arrays that a .yaml file names may lie outside of its folder
    """
    path, what = Path(what), str(what)
    if path.suffix in (".yaml", ".yml"):
        if parameters:
            raise TautError(f"'{what}' takes no parameters, but {', '.join(parameters)} was given; "
                            "change the file, or write the scene as a .py file with build(...).")
        return load(path, allow_outside)
    if path.suffix == ".py":
        return load_python(path, **parameters)
    if path.suffix in ROBOTS:
        return load_robot(path, **parameters)
    if what in SCENES:
        return gallery(what, **parameters)
    if os.path.lexists(path):
        raise TautError(f"'{what}' is not a scene file; its name must end in .yaml, .urdf, .xml (MJCF) or .py.")
    raise TautError(f"{unknown('scene', what, SCENES)} Or give a .yaml, .urdf, .xml (MJCF) or .py file.")


def load_python(path: str | Path, **parameters: Any) -> Scene:
    """The scene that build(**parameters) of a Python file returns."""
    path = Path(path)
    limits.check("scene_bytes", limits.regular_size(path, "scene file"), f"scene file '{path}'")
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)  # as when the file is run: it may import its neighbours
    try:
        names = runpy.run_path(str(path), run_name="scene")
        build = names.get("build")
        if not callable(build):
            raise TautError(f"'{path}' has no function build(); write one that returns a taut.Scene.")
        scene = called_with(build, parameters, f"build() of '{path}'")
    except TautError as mistake:
        raise TautError(f"{_place(mistake, path)}{mistake}") from None
    except (Exception, SystemExit) as mistake:
        kind = type(mistake).__name__
        raise TautError(f"{_place(mistake, path) or f'{path}: '}{kind}: {mistake}") from mistake
    finally:
        sys.path.remove(folder)
    if not isinstance(scene, Scene):
        raise TautError(f"build() of '{path}' returned {type(scene).__name__}; let it return the taut.Scene.")
    return scene


def _place(mistake: BaseException, path: Path) -> str:
    """file:line of the user's code where the mistake happened, if it was there."""
    if isinstance(mistake, SyntaxError) and mistake.lineno:
        return f"{mistake.filename}:{mistake.lineno}: "
    frames = traceback.extract_tb(mistake.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f"{path}:{lines[-1]}: " if lines else ""
