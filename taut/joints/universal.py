"""Universal joint (Hooke, Cardan): the two axes of a cross, one fixed to each body, stay perpendicular.

    x_a = x_b,   u·w = 0,   u = axis on a's body, w = axis_2 on b's              (1)
    angle_1: the turn of u about w, as seen from b                               (2)
    angle_2: the turn of w about u, as seen from a                               (3)
"""

from __future__ import annotations

import numpy as np

from ..arguments import example
from ..constraints.base import Argument, Layout, Part
from .base import TWO_ANGLES, angle, coincident, frame, joint, on_body, unit


def pack(positions, arguments):
    first, second = arguments["frames"]
    u, w = unit(arguments["axis"], "axis"), unit(arguments["axis_2"], "axis_2")
    if abs(float(u @ w)) > 1e-6:
        raise ValueError(f"its axes stand at {np.degrees(np.arccos(np.clip(u @ w, -1, 1))):.4g} degrees; the two axes "
                         "of a cross are perpendicular")
    a, b = on_body(first, w, u), on_body(second, u, w)
    return Layout(
        parts=(coincident(arguments), Part("perpendicular", (a.z, b.z), (0.0,))),  # (1)
        coordinates=(
            angle(arguments, a.z, b.x, b.y, "angle_1", "rate_1"),  # (2)
            angle(arguments, b.z, a.x, a.y, "angle_2", "rate_2"),  # (3)
        ),
        frame=frame(arguments, b),
    )


KIND = joint(
    "universal", "Two bodies share a point and turn about the two axes of a cross.", pack, rows=4,
    arguments=(
        Argument("axis", "constant_vector", "axis of the cross on a's body, in the world at the start", required=True),
        Argument("axis_2", "constant_vector", "axis of the cross on b's body, perpendicular to it", required=True),
        *TWO_ANGLES,
    ),
    synonyms=("cardan", "hooke", "cross"),
    examples=(
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), axis=(1, 2, 2), axis_2=(2, 1, -2)),
    ),
)
