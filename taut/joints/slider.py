"""Slider (prismatic joint): a's body moves along one axis of b's and does not turn.

    x_a·y_b = y_a·z_b = z_a·x_b = 0,   x_b·d = y_b·d = 0,   d = x_a - x_b       (1)
    displacement: z_b·d                                                         (2)
"""

from __future__ import annotations

from ..arguments import example
from ..constraints.base import Layout
from .base import AXIS, DISPLACEMENT, RATE, axes_of, check_plane, displacement, frame, joint, locked, on_axis


def pack(positions, arguments):
    check_plane(arguments, turns=False)
    a, b = axes_of(arguments)
    return Layout(
        parts=(*on_axis(arguments, b), *locked(a, b)),  # (1)
        coordinates=(displacement(arguments, positions, b.z),),  # (2)
        frame=frame(arguments, b),
    )


KIND = joint(
    "slider", "A body moves along one axis of another and does not turn.", pack, rows=5,
    arguments=(*AXIS, DISPLACEMENT, RATE),
    synonyms=("prismatic", "translational", "translation", "sliding"),
    examples=(
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), axis=(1, 2, 2)),
        example((0, 1, 0), "rod", axis=(0, 0, 1)),
    ),
)
