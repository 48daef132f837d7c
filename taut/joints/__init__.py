"""Joints of rigid bodies, drivers, relations between joint coordinates, skates and wheels: one file each, listed here.

`base.py` says how to write one. Joints have no kernels of their own: they are made of the rows in `rows.py` and
`slip.py`, and speak of the coordinates in `coordinates.py`.

    x, y, z    Axes           directions fixed to a body; z is the joint's axis
    q          Coordinate     angle [rad] over any number of turns, or displacement [m]
    d          x_a - x_b      from the joint's place on b's body to its place on a's
"""

from __future__ import annotations

from ..registry import declared
from .coordinates import RELATIONS
from .rows import ROWS
from .slip import SLIP

JOINTS = tuple(
    declared(__name__, "KIND", """
        weld hinge slider cylindrical universal planar_joint serial_joint double_hinge
        point_on_line point_on_plane constant_angle constant_velocity screw
        drive couple gear rack_and_pinion joint_limit
        skate rolling
    """)
)  # fmt: skip
PARTS = (*ROWS, *RELATIONS, *SLIP)

__all__ = ["JOINTS", "PARTS"]
