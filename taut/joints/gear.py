"""Gear: the angles of two joints turn in a fixed ratio, in opposite senses where wheels mesh on the outside.

    θ_1 - r θ_2 = c,   r = -n_2/n_1 for wheels with n_1 and n_2 teeth            (1)
"""

from __future__ import annotations

from ..arguments import example, made
from ..constraints.base import Argument, Kind, Layout
from .coordinates import relation
from .couple import FIRST, OFFSET, SECOND
from .selection import coordinate_of


def pack(positions, arguments):
    ratio, teeth = arguments["ratio"], arguments["teeth"]
    if (ratio is None) == (teeth is None):
        raise ValueError("give either its ratio or the teeth of both wheels")
    if teeth is not None:
        if len(teeth) != 2 or not all(count > 0 for count in teeth):
            raise ValueError(f"its teeth are {list(teeth)}; give two numbers, of the first and of the second wheel")
        ratio = -teeth[1] / teeth[0]
    if ratio == 0.0:
        raise ValueError("its ratio is 0, so that one wheel is held where it is; use drive for that")
    first, second = coordinate_of(arguments, "first", "angle"), coordinate_of(arguments, "second", "angle")
    return Layout(parts=(relation((first, second), (1.0, -ratio), arguments["offset"]),))  # (1)


KIND = Kind(
    name="gear",
    doc="The angles of two joints turn in a fixed ratio.",
    points=(),
    unit="rad",
    arguments=(
        FIRST,
        SECOND,
        Argument("ratio", "constant", "angle of the first over that of the second; negative: opposite senses"),
        Argument("teeth", "numbers", "teeth of the first and the second wheel, which mesh on the outside"),
        OFFSET,
    ),
    pack=pack, joints=("first", "second"),
    synonyms=("gears", "gear_pair"),
    examples=(
        example(
            made("hinge", ("box", (0.1, 0.2, 0.3)), (0, 0, 0), axis=(1, 2, 2)),
            made("hinge", "rod", (0, 1, 0), axis=(0, 0, 1)),
            teeth=(17, 53),
        ),
    ),
)  # fmt: skip
