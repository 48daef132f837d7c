"""Rack and pinion: a slider moves by what a wheel rolls off.

    q - r θ = c,   θ of the pinion, q of the rack                                (1)
"""

from __future__ import annotations

from ..arguments import example, made
from ..constraints.base import Argument, Kind, Layout
from .coordinates import relation
from .couple import OFFSET
from .selection import coordinate_of


def pack(positions, arguments):
    radius = arguments["radius"]
    if radius == 0.0:
        raise ValueError("its radius is 0, so that the rack is held where it is; give the pinion's radius")
    turn, along = coordinate_of(arguments, "pinion", "angle"), coordinate_of(arguments, "rack", "displacement")
    return Layout(parts=(relation((along, turn), (1.0, -radius), arguments["offset"]),))  # (1)


KIND = Kind(
    name="rack_and_pinion",
    doc="A slider moves by what a wheel rolls off.",
    points=(),
    arguments=(
        Argument("pinion", "joint", "the joint that the pinion turns in", required=True),
        Argument("rack", "joint", "the joint that the rack slides in", required=True),
        Argument("radius", "constant", "of the pinion [m]; negative: on the other side of the rack", required=True),
        OFFSET,
    ),
    pack=pack, joints=("pinion", "rack"),
    synonyms=("rack", "pinion"),
    examples=(
        example(
            made("hinge", ("box", (0.1, 0.2, 0.3)), (0, 0, 0), axis=(1, 2, 2)),
            made("slider", "rod", (0, 1, 0), axis=(0, 0, 1)),
            radius=0.2,
        ),
    ),
)  # fmt: skip
