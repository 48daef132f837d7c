"""Point on a plane of a body: a stays on the plane through b across a normal of b's body.

    z_b·d = 0,   d = x_a - x_b                               (1)
    displacement_x: x_b·d;  displacement_y: y_b·d            (2)
"""

from __future__ import annotations

from ..arguments import example
from ..constraints.base import Argument, Layout, Part
from .base import across, displacement, frame, joint, on_body, points_of, unit


def pack(positions, arguments):
    z = unit(arguments["normal"], "normal")
    b = on_body(arguments["frames"][1], across(z), z)
    return Layout(
        parts=(Part("offset", (*points_of(arguments), b.z), (0.0,)),),  # (1)
        coordinates=(
            displacement(arguments, positions, b.x, "displacement_x"),
            displacement(arguments, positions, b.y, "displacement_y"),  # (2)
        ),
        frame=frame(arguments, b),
    )


KIND = joint(
    "point_on_plane", "A point stays on a plane that moves with a body.", pack, rows=1, unit="m",
    arguments=(
        Argument("normal", "constant_vector", "of the plane through b, in the world at the start", required=True),
    ),
    synonyms=("point_in_plane",),
    examples=(
        example("p", ("rod", (0.5, 0, 0)), normal=(1, 2, 2)),
    ),
)
