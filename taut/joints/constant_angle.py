"""Constant angle: a direction on a's body keeps its angle to one on b's.

    u·w = cos α,   0 < α < π                                 (1)
"""

from __future__ import annotations

from math import acos, cos, pi

from ..arguments import example
from ..constraints.base import Argument, Kind, Layout, Part
from .base import unit


def pack(positions, arguments):
    first, second = arguments["frames"]
    u, w = unit(arguments["direction"], "direction"), unit(arguments["direction_2"], "direction_2")
    angle = arguments["angle"]
    angle = acos(min(1.0, max(-1.0, float(u @ w)))) if angle is None else angle
    if not 1e-6 < angle < pi - 1e-6:
        raise ValueError(f"its angle is {angle:.6g} rad, where one row can not hold it; give one between 0 and π, or "
                         "use hinge or cylindrical to keep axes parallel")
    return Layout(parts=(Part("perpendicular", (first.direction(u), second.direction(w)), (cos(angle),)),))  # (1)


KIND = Kind(
    name="constant_angle",
    doc="A direction on one body keeps its angle to a direction on another.",
    points=("a", "b"), unit="rad",
    arguments=(
        Argument("direction", "constant_vector", "on a's body, in the world at the start", required=True),
        Argument("direction_2", "constant_vector", "on b's body, in the world at the start", required=True),
        Argument("angle", "constant", "between them [rad]; default: as at the start"),
    ),
    pack=pack, frames=True,
    examples=(
        example("box", "rod", direction=(1, 0, 0), direction_2=(0, 1, 0)),
        example("box", (0, 0, 0), direction=(1, 0, 0), direction_2=(1, 1, 0), angle=0.7),
    ),
)  # fmt: skip
