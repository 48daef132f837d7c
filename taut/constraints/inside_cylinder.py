"""Inside a cylinder without ends, which may move, turn and shrink.

    Φ = R(t) - |d - (a·d) a| - r ≥ 0,    d = x - c(t)        (1)

c is a place on the axis and a the unit vector along it.
r is the ball's radius. Derivatives are in rounded.py.
"""

from __future__ import annotations

from .base import BALL, Argument, Kind
from .rounded import LINE, around, kernel


def lay_out(positions, arguments):
    return around(positions[0], arguments, LINE, arguments["point"], arguments["direction"], side=-1.0)  # (1)


KIND = Kind(
    name="inside_cylinder",
    doc="A ball stays inside a cylinder without ends, which may move and turn.",
    points=("a",),
    rows=1,
    unit="m",
    arguments=(
        Argument("point", "vector", "a place on the axis [m]", required=True),
        Argument("direction", "vector", "along the axis", required=True),
        Argument("radius", "number", "radius [m]", required=True),
        BALL,
    ),
    lay_out=lay_out,
    kernel=kernel,
    sense=">=",
    contact=True,
)
