"""Outside a capsule, which may move, turn and grow.

    Φ = |x - y| - R(t) - r ≥ 0        (1)

y is the place nearest to x on the axis from start to end.
r is the ball's radius. Derivatives are in rounded.py.
"""

from __future__ import annotations

from .base import BALL, Argument, Kind
from .rounded import PIECE, around, kernel


def lay_out(positions, arguments):
    return around(positions[0], arguments, PIECE, arguments["start"], arguments["end"], side=1.0)  # (1)


KIND = Kind(
    name="outside_capsule",
    doc="A ball stays outside a capsule, whose ends may move.",
    points=("a",),
    rows=1,
    unit="m",
    arguments=(
        Argument("start", "vector", "one end of the axis [m]", required=True),
        Argument("end", "vector", "the other end of the axis [m]", required=True),
        Argument("radius", "number", "radius [m]", required=True),
        BALL,
    ),
    lay_out=lay_out,
    kernel=kernel,
    sense=">=",
    contact=True,
)
