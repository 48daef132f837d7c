"""Inertia of coordinates that have none of their own, such as the parameter s of a curve.

    x = c(s, t):    T = m |ẋ|²/2 = m |∂c/∂s|² ṡ²/2 + …                          (1)

The body that sits at c(s) gives s its inertia m |∂c/∂s|². A coordinate needs some inertia of its own to appear in J W
Jᵀ, so it gets a fraction ε of (1): the relative error of the motion is ε, and λ loses log₁₀(1/ε) of its 16 digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..constraints import KINDS
from ..errors import TautError
from ..scene.scene import Scene
from ..scene.specs import Body

if TYPE_CHECKING:
    from .slots import Slots

SHARE = 1e-8


def give_inertia(slots: Slots) -> None:
    """Set the inertia of free coordinates that were given none.

    Generalized coordinates of scene.reduced are left without: the bodies that they place, or T, have it, and only the
    method `reduced` moves them.
    """
    known = slots.scene.reduced_map
    generalized = {name for name, _, _ in known.coordinates} if known is not None else set()
    specs = slots.scene.constraints.values()
    on_curves = {spec.points[1].body for spec in specs if KINDS[spec.kind].slope is not None}
    for body in slots.scene.bodies.values():
        if body.name in generalized and body.name not in on_curves:
            continue
        if body.kind == "coordinate" and body.motion == "free" and body.mass == 0.0:
            slots.mass[slots.info[body.name].slot] = (SHARE * inertia_on_curves(slots.scene, body), 0.0, 0.0)


def inertia_on_curves(scene: Scene, coordinate: Body) -> float:
    """(1) at the start, of all bodies that this coordinate places on curves."""
    total, curves = 0.0, []
    for spec in scene.constraints.values():
        slope = KINDS[spec.kind].slope
        if slope is None or spec.points[1].body != coordinate.name:
            continue
        on = scene.bodies.get(spec.points[0].body or "")
        if on is None or on.motion != "free":
            continue
        curves.append(spec.name)
        slopes = slope(spec.arguments, coordinate.position[0])
        total += on.mass * float(np.dot(slopes, slopes))
    what = f"coordinate '{coordinate.name}' has no inertia of its own"
    if not curves:
        raise TautError(f"{what}, and no on_curve of a free body gives it any; give it an inertia.")
    if not 0.0 < total < np.inf:
        raise TautError(f"{what}, and the curve of '{curves[0]}' is singular at {coordinate.name} = "
                        f"{coordinate.position[0]:g}, where its derivative gives an inertia of {total:g}; start "
                        "elsewhere, or give an inertia.")
    return total
