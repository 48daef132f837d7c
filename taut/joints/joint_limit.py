"""Limits of a joint's coordinate.

    q - lower ≥ 0,   upper - q ≥ 0                           (1)
"""

from __future__ import annotations

from math import pi, radians

from ..arguments import example, made
from ..compiled import compiled
from ..constraints.base import Argument, Kind, Layout
from .coordinates import TYPES, bias, gradient, value
from .selection import COORDINATE, coordinate_of

MOST_ANGLE = 4.0 * pi  # rad: limits beyond it are likely to be in degrees
UNLIMITED = 1e6  # of any unit: what robots' files write for none


def pack(positions, arguments):
    coordinate = coordinate_of(arguments)
    lower, upper = arguments["lower"], arguments["upper"]
    if lower is None and upper is None:
        raise ValueError("it has neither lower nor upper; give at least one")
    if lower is not None and upper is not None and lower > upper:
        raise ValueError(f"its lower limit, {lower:g} {coordinate.unit}, is above its upper limit, {upper:g} "
                         f"{coordinate.unit}; exchange them")
    rows = [(1.0, lower)] if lower is not None else []
    rows += [(-1.0, upper)] if upper is not None else []
    parameters = [number for sign, bound in rows for number in (sign, sign * (coordinate.offset - bound))]
    return Layout(tuple(parameters), (len(rows), TYPES[coordinate.type]), len(rows), points=coordinate.points)


def doubt(arguments):
    """Limits of an angle that are likely to be in degrees."""
    far = max((bound for bound in (arguments["lower"], arguments["upper"]) if bound is not None), key=abs)
    if not coordinate_of(arguments).turns or not MOST_ANGLE < abs(far) < UNLIMITED:
        return ""
    turns = abs(far) / (2.0 * pi)
    return (f"its limit {far:g} rad is {turns:.3g} turns; is it meant in degrees? Angles are in radians: "
            f"{far:g}° are {radians(far):.4g} rad")


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    count = ints[at.ints]  # the same in all of a batch, whose constraints have the same number of rows
    for i in range(n):
        kind, m = ints[at.ints + 2 * i + 1], at.idx + 4 * i
        q = value(kind, x, idx, m)
        for j in range(count):
            r = at.row + count * i + j
            sign, constant = p[at.p + 2 * (count * i + j)], p[at.p + 2 * (count * i + j) + 1]
            phi[r] = sign * q + constant  # (1)
            gradient(kind, x, idx, m, sign, J, at.blk + 4 * (count * i + j))
            phi_t[r] = 0.0
            if second:
                gamma[r] = sign * bias(kind, x, v, idx, m)


KIND = Kind(
    name="joint_limit",
    doc="A joint's coordinate stays between two limits.",
    points=(),
    rows=0, unit="1",
    arguments=(
        Argument("joint", "joint", "the joint that is limited", required=True),
        Argument("lower", "constant", "smallest value [rad or m]"),
        Argument("upper", "constant", "largest value [rad or m]"),
        COORDINATE,
    ),
    pack=pack, kernel=kernel, sense=">=", joints=("joint",), doubt=doubt,
    synonyms=("stop", "end_stop", "limits"),
    examples=(
        example(
            made("hinge", ("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), axis=(1, 2, 2), angle=0.2),
            lower=-0.5, upper=1.0,
        ),
        example(made("hinge", ("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), axis=(1, 2, 2), angle=0.2), upper=1.0),
        example(
            made("serial_joint", "box", (2, 1, 0), hinge_1=(0, 0, 1), hinge_2=(0, 1, 0), hinge_3=(9, 0, 1)),
            lower=-0.5, coordinate="angle_2",
        ),
    ),
)  # fmt: skip
