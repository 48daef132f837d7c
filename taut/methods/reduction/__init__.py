"""Reduced coordinates: where they come from, and the motion they stand for.

    y = (θ, θ̇)     tables.y         coordinates and rates, (2, n)
    x(θ, t), v      place            positions and velocities of the bodies
    θ̈               accelerate       from the applied forces
    form            tables.form      FORMULAS, TREE or LINEAR: one file each, with `refuses`, `prepare`, `place`
                                     and `accelerate`
    B, c, H         basis            of any form, by the slots of bodies: basis.py
    A v + b = 0     enforced         by multipliers, as active inequalities are: enforced.py

What scene.reduced gives wins; distances make a tree of links; what is left must be linear.
"""

from __future__ import annotations

from ...model.model import Model
from . import formulas, linear, tree
from .basis import FORMULAS, LINEAR, TREE

FORMS = (formulas, tree, linear)


def form_of(model: Model) -> int:
    if model.reduced_map is not None:
        return FORMULAS
    return TREE if any(info.kind == "distance" for info in model.constraint_info) else LINEAR


def refuses(model: Model) -> str | None:
    """Why a model has no reduced coordinates, or None."""
    if model.deformables:
        return "it has cloth or solids, whose nodes move on their own"
    for info in model.body_info:
        turned = model.reduced_map is not None and info.name in model.reduced_map.turns
        if info.kind == "rigid" and info.motion == "free" and not turned:
            return (f"'{info.name}' is a rigid body, and its reduced coordinates are not found by themselves; give its "
                    "position and turns by scene.reduced")  # fmt: skip
    return FORMS[form_of(model)].refuses(model)
