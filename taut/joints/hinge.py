"""Hinge (revolute joint): a's body turns about one axis of b's.

    x_a = x_b,   z_a·x_b = z_a·y_b = 0                       (1)
    angle: the turn of x_a from x_b to y_b                   (2)
"""

from __future__ import annotations

from ..arguments import example
from ..constraints.base import Layout
from .base import ANGLE, AXIS, RATE, aligned, angle, axes_of, check_plane, coincident, frame, joint


def pack(positions, arguments):
    check_plane(arguments, turns=True)
    a, b = axes_of(arguments)
    return Layout(
        parts=(coincident(arguments), *aligned(a, b)),  # (1)
        coordinates=(angle(arguments, a.x, b.x, b.y),),  # (2)
        frame=frame(arguments, b),
    )


KIND = joint(
    "hinge", "Two bodies share a point and turn about one axis.", pack, rows=5, arguments=(*AXIS, ANGLE, RATE),
    synonyms=("revolute", "pin", "pivot", "rotational", "turning_pair"),
    examples=(
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), axis=(1, 2, 2)),
        example("rod", (1, -1, 2), axis_a=(0, 0, 1), axis_b=(0, 1, 0)),
    ),
)
