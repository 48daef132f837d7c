"""Couple: a joint's coordinate follows another's in a fixed ratio (a belt, a chain, a mimic joint).

    q_1 - r q_2 = c                                          (1)
"""

from __future__ import annotations

from ..arguments import example, made
from ..constraints.base import Argument, Kind, Layout
from .coordinates import relation
from .selection import coordinate_of

FIRST = Argument("first", "joint", "the joint that follows", required=True)
SECOND = Argument("second", "joint", "the joint that is followed, or a coordinate", required=True)
OFFSET = Argument("offset", "constant", "added to it [rad or m]", default=0.0)


def pack(positions, arguments):
    first, second = coordinate_of(arguments, "first"), coordinate_of(arguments, "second")
    ratio = arguments["ratio"]
    if ratio == 0.0:
        raise ValueError("its ratio is 0, so that one joint is held where it is; use drive for that")
    return Layout(parts=(relation((first, second), (1.0, -ratio), arguments["offset"]),))  # (1)


KIND = Kind(
    name="couple",
    doc="A joint's coordinate is a multiple of another's, plus an offset.",
    points=(),
    unit="rad",
    arguments=(
        FIRST,
        SECOND,
        Argument("ratio", "constant", "coordinate of the first over that of the second", default=1.0),
        OFFSET,
        Argument("coordinate", "text", "which coordinate of the first joint; default: its first"),
        Argument("coordinate_second", "text", "which coordinate of the second joint; default: its first"),
    ),
    pack=pack, joints=("first", "second"),
    synonyms=("coupler", "mimic", "differential"),
    examples=(
        example(
            made("hinge", ("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), axis=(1, 2, 2)),
            made("slider", (0, 1, 0), "rod", axis=(0, 0, 1)),
            ratio=-2.0, offset=0.3,
        ),
    ),
)  # fmt: skip
