"""What xpbd, provot and implicit_euler have in common: known ways to step cloth, to compare with.

They treat deformables alone: springs are springs to them, a hard edge a stiff one. Their files here declare them; the
algorithms, with their equations, stand in cloth/baselines, one file each, and are listed in cloth/algorithms.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.model import Model
from .base import Method


def refuses(model: Model) -> str | None:
    """Why these methods can not treat a model."""
    if not model.deformables:
        return "it has no cloth or solid (scene.cloth, scene.solid)"
    hard = sum(len(deformable.hard_edges) for deformable in model.deformables)
    if model.row_count > hard:
        return "it has constraints besides the hard edges of its deformables, which this method does not know"
    if len(model.touching.deformable_pairs):
        return (
            "its cloth may touch itself or other cloth (self_contact, contacts between deformables), and this method "
            "knows contacts of nodes with obstacles and balls only; use implicit_first"
        )
    if model.inequalities.restitution.any():
        return "it has restitution, but contacts beside cloth are inelastic; set it to 0"
    if (np.diff(model.inequalities.rows.ptr.astype(np.int64)) > 2).any():
        return "it has an inequality between more than two points, which this method does not know"
    if any(info.kind == "rigid" and info.motion == "free" for info in model.body_info):
        return "it has rigid bodies, which this method does not know; use implicit_first"
    return None


def baseline(**declared: Any) -> Method:
    """A method of first order that treats deformables alone and takes no tolerance: its lengths are as springs are."""
    usual: dict[str, Any] = {"order": 1, "order_position": 0, "order_velocity": 0, "refuses": refuses}
    iterated = {"level": "position, iterated", "solves": "0"}
    return Method(step=None, takes_tolerance=False, **(usual | iterated | declared))
