"""Point on a line of a body: a stays on the line through b along an axis of b's body.

    x_b·d = y_b·d = 0,   d = x_a - x_b                       (1)
    displacement: z_b·d                                      (2)
"""

from __future__ import annotations

from ..arguments import example
from ..constraints.base import Argument, Layout
from .base import DISPLACEMENT, RATE, across, displacement, frame, joint, on_axis, on_body, unit


def pack(positions, arguments):
    z = unit(arguments["axis"], "axis")
    b = on_body(arguments["frames"][1], across(z), z)
    return Layout(
        parts=on_axis(arguments, b),  # (1)
        coordinates=(displacement(arguments, positions, b.z),),  # (2)
        frame=frame(arguments, b),
    )


KIND = joint(
    "point_on_line", "A point stays on a line that moves with a body.", pack, rows=2, unit="m",
    arguments=(
        Argument("axis", "constant_vector", "of the line through b, in the world at the start", required=True),
        DISPLACEMENT,
        RATE,
    ),
    synonyms=("slot", "point_in_line"),
    examples=(
        example("p", ("rod", (0.5, 0, 0)), axis=(1, 2, 2)),
        example(("box", (0.1, 0.2, 0.3)), (0, 1, 0), axis=(0, 0, 1)),
    ),
)
