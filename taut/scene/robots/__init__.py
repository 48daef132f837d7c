"""Robots from the formats that people have: URDF (urdf.py) and MuJoCo's MJCF (mjcf.py).

    T_child = T_parent · origin · motion(q)      tree.Joint: origin, axis, anchor; q its position at the start
    I_body = R I Rᵀ + m (|c|² 1 - c cᵀ)          tree.Link: mass, centre of mass c and inertia of a link
    (x, y, z) → (x, z, -y)                       both formats have z up, a scene has y up: a quarter turn about x

    xml.py    elements with the lines they stand on, for messages
    tree.py   Link, Joint, Tree: what both formats have in common;  build.py  how it becomes a scene;  pose.py  frames
    urdf_visuals.py, mjcf_geoms.py   what is seen of links, which nothing but pictures depends on

    features.py, urdf_features.py, mjcf_features.py   what a file says that is not taken over, with its lines
    suggestion.py   method and step that suit
    loops.py   NAME.loops.yaml beside a URDF;  mjcf_start.py, mjcf_equalities.py, mjcf_actuators.py   parts of an MJCF
    series.py  joints one after the other as one: of an MJCF body (mjcf_several.py), or across links without mass
               (massless.py)

What a scene can not express is collected in `dropped` and reported once.
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
