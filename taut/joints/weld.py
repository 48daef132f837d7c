"""Weld: a's body and b's move as one.

    x_a = x_b,   x_a·y_b = y_a·z_b = z_a·x_b = 0             (1)

The axes are those of the world at the start; `orientation` instead says how a's body stands in b's frame.
"""

from __future__ import annotations

import numpy as np

from ..arguments import example
from ..constraints.base import Argument, Layout
from .base import Axes, coincident, frame, joint, locked, on_body


def pack(positions, arguments):
    first, second = arguments["frames"]
    b = on_body(second, np.eye(3)[0], np.eye(3)[2])
    a = on_body(first, np.eye(3)[0], np.eye(3)[2])
    given = arguments["orientation"]
    if given is not None:
        # a's own axes, as b carries them: where they shall be is where `given` turns b's own axes to.
        w, x, y, z = given
        columns = [second.world(_turned((w, x, y, z), axis)) for axis in np.eye(3)]
        b = Axes(*(second.direction(column) for column in columns))
        a = Axes(*(first.direction(first.world(axis)) for axis in np.eye(3)))
    return Layout(parts=(coincident(arguments), *locked(a, b)), frame=frame(arguments, b))  # (1)


def _turned(quaternion, vector):
    w, u = quaternion[0], np.array(quaternion[1:])
    swing = np.cross(u, vector)
    return vector + 2.0 * (w * swing + np.cross(u, swing))


KIND = joint(
    "weld", "Two bodies move as one.", pack, rows=6,
    arguments=(
        Argument("orientation", "quaternion", "how a's body stands in the frame of b's; default: as at the start"),
    ),
    synonyms=("fixed", "rigid_connection", "lock", "glue"),
    examples=(
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0))),
        example("rod", (1, -1, 2), orientation=((0, 1, 1), 0.3)),
    ),
)
