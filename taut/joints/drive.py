"""Drive: a joint's coordinate follows a function of time; λ is the torque or force that it takes.

    q - p(t) = 0                                             (1)
"""

from __future__ import annotations

from ..arguments import example, made
from ..constraints.base import Argument, Kind, Layout
from .coordinates import relation
from .selection import COORDINATE, TARGETS, chosen_target


def pack(positions, arguments):
    coordinate, target = chosen_target(arguments, "drive")
    return Layout(parts=(relation((coordinate,), (1.0,), target),))  # (1)


KIND = Kind(
    name="drive",
    doc="A joint's coordinate follows a function of time; λ is the torque or force that it takes.",
    points=(),
    unit="rad",
    arguments=(Argument("joint", "joint", "the joint that is driven", required=True), *TARGETS, COORDINATE),
    pack=pack, joints=("joint",),
    synonyms=("driver", "motion", "prescribed_motion", "rheonomic", "rotational_motion"),
    examples=(
        example(
            made("cylindrical", ("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), axis=(1, 2, 2)),
            angle="3*t + sin(2*t)",
        ),
        example(
            made("cylindrical", ("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), axis=(1, 2, 2)),
            displacement="0.3*t**2",
        ),
        example(
            made("serial_joint", ("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), hinge_1=(0, 0, 1), hinge_2=(0, 1, 0),
                 hinge_3=(9, 0, 1)),
            value="0.3*t**2", coordinate="angle_2",
        ),
    ),
)  # fmt: skip
