"""Robots from the formats that people have: URDF (urdf.py) and MuJoCo's MJCF (mjcf.py).

    xml.py    elements with the lines they stand on
    tree.py   links and joints as both formats have them, and how they become a scene

Both formats have z up. A scene has y up, so that all is turned by a quarter about x: (x, y, z) becomes (x, z, -y).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..parameters import called_with
from ..scene import Scene


def load_robot(path: str | Path, **parameters: Any) -> Scene:
    """The scene of a URDF or MJCF file; parameters base and limits, or limits and controls."""
    from .mjcf import load_mjcf
    from .urdf import load_urdf

    path = Path(path)
    function: Callable[..., Scene] = load_urdf if path.suffix == ".urdf" else load_mjcf
    return called_with(partial(function, path), parameters, f"'{path}'")
