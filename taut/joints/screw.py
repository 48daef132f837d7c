"""Screw: a's body moves along an axis of b's by one pitch for each turn about it.

    z_a·x_b = z_a·y_b = 0,   x_b·d = y_b·d = 0,   d = x_a - x_b                  (1)
    z_b·d - p θ/2π = const                                                       (2)
"""

from __future__ import annotations

from math import pi

import numpy as np

from ..arguments import example
from ..constraints.base import Argument, Layout
from .base import ANGLE, AXIS, DISPLACEMENT, aligned, angle, axes_of, displacement, frame, joint, on_axis, rate
from .coordinates import relation


def pack(positions, arguments):
    a, b = axes_of(arguments)
    turn, along = angle(arguments, a.x, b.x, b.y), displacement(arguments, positions, b.z, rate="")
    if arguments["pitch"] == 0.0:
        raise ValueError("its pitch is 0 m, with which nothing moves along its axis; give the displacement for one "
                         "turn [m], or use a hinge")
    slope = arguments["pitch"] / (2.0 * pi)
    measured = float(np.dot(arguments["frames"][1].world(b.z.offset), positions[0] - positions[1]))
    start = measured + along.offset - slope * turn.offset
    return Layout(
        parts=(*on_axis(arguments, b), *aligned(a, b), relation((along, turn), (1.0, -slope), start)),  # (1), (2)
        coordinates=(turn, along),
        frame=frame(arguments, b),
    )


KIND = joint(
    "screw", "A body moves along an axis of another by one pitch for each turn about it.", pack, rows=5,
    arguments=(
        *AXIS,
        Argument("pitch", "constant", "displacement for one turn [m]; negative: left-handed", required=True),
        ANGLE,
        DISPLACEMENT,
        rate("rate", "its angle", "rad/s"),
    ),
    synonyms=("helical", "lead_screw"),
    examples=(
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), axis=(1, 2, 2), pitch=0.3),
    ),
)
