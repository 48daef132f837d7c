"""Planar joint: a's body slides and turns on a plane of b's.

    z_a·x_b = z_a·y_b = 0,   z_b·d = 0,   d = x_a - x_b,   z the plane's normal  (1)
    displacement_x: x_b·d;  displacement_y: y_b·d;  angle: the turn of x_a       (2)
"""

from __future__ import annotations

from ..arguments import example
from ..constraints.base import Argument, Layout, Part
from .base import ANGLE, AXIS, aligned, angle, axes_of, displacement, frame, joint, points_of, rate


def pack(positions, arguments):
    a, b = axes_of(arguments, arguments["direction"])
    return Layout(
        parts=(Part("offset", (*points_of(arguments), b.z), (0.0,)), *aligned(a, b)),  # (1)
        coordinates=(
            angle(arguments, a.x, b.x, b.y),
            displacement(arguments, positions, b.x, "displacement_x", "rate_x"),
            displacement(arguments, positions, b.y, "displacement_y", "rate_y"),  # (2)
        ),
        frame=frame(arguments, b),
    )


KIND = joint(
    "planar_joint", "A body slides and turns on a plane of another.", pack, rows=3,
    arguments=(
        *AXIS,
        Argument("direction", "constant_vector", "of displacement_x, in the world at the start (default: axis × the "
                                                 "first of x, y, z that is least along it); displacement_y is along "
                                                 "axis × direction", later=True),
        ANGLE, rate("rate", "its angle", "rad/s"), rate("rate_x", "displacement_x", "m/s"),
        rate("rate_y", "displacement_y", "m/s"),
    ),
    synonyms=("planar", "plane_contact"),
    examples=(
        example("box", ("rod", (0.5, 0, 0)), axis=(1, 2, 2)),
        example("box", ("rod", (0.5, 0, 0)), axis=(1, 2, 2), direction=(2, 1, -2)),
    ),
)
