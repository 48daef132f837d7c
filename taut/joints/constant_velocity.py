"""Constant-velocity joint (homokinetic): two shafts that meet at any angle turn at the same rate.

    x_a = x_b,   x_a·y_b - y_a·x_b = 0,   z along each shaft                     (1)

The second condition keeps the twist about the line that halves the angle between the shafts at zero.
"""

from __future__ import annotations

from ..arguments import example
from ..constraints.base import Layout, Part
from .base import AXIS, axes_of, coincident, frame, joint


def pack(positions, arguments):
    a, b = axes_of(arguments)
    return Layout(
        parts=(coincident(arguments), Part("homokinetic", (a.x, a.y, b.x, b.y))),  # (1)
        frame=frame(arguments, b),
    )


KIND = joint(
    "constant_velocity", "Two shafts that meet at any angle turn at the same rate.", pack, rows=4,
    arguments=AXIS,
    synonyms=("cv", "homokinetic", "rzeppa"),
    examples=(
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), axis_a=(1, 0, 0), axis_b=(0, 1, 0)),
    ),
)
