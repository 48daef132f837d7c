"""Cylindrical joint: a's body turns about one axis of b's and moves along it.

    z_a·x_b = z_a·y_b = 0,   x_b·d = y_b·d = 0,   d = x_a - x_b                  (1)
    angle: the turn of x_a from x_b to y_b;  displacement: z_b·d                 (2)
"""

from __future__ import annotations

from ..arguments import example
from ..constraints.base import Layout
from .base import ANGLE, AXIS, DISPLACEMENT, aligned, angle, axes_of, displacement, frame, joint, on_axis, rate


def pack(positions, arguments):
    a, b = axes_of(arguments)
    return Layout(
        parts=(*on_axis(arguments, b), *aligned(a, b)),  # (1)
        coordinates=(
            angle(arguments, a.x, b.x, b.y),
            displacement(arguments, positions, b.z, rate="displacement_rate"),  # (2)
        ),
        frame=frame(arguments, b),
    )


KIND = joint(
    "cylindrical", "A body turns about one axis of another and moves along it.", pack, rows=4,
    arguments=(
        *AXIS, ANGLE, DISPLACEMENT, rate("rate", "its angle", "rad/s"),
        rate("displacement_rate", "its displacement", "m/s"),
    ),
    examples=(
        example("box", ("rod", (0.5, 0, 0)), axis=(1, 2, 2)),
    ),
)
