"""Outside a sphere, which may move and grow.

    Φ = |x - c(t)| - R(t) - r ≥ 0        (1)

c is the centre.
r is the ball's radius. Derivatives are in rounded.py.
"""

from __future__ import annotations

from .base import BALL, Argument, Kind
from .rounded import POINT, around, kernel


def lay_out(positions, arguments):
    return around(positions[0], arguments, POINT, arguments["center"], side=1.0)  # (1)


KIND = Kind(
    name="outside_sphere",
    doc="A ball stays outside a sphere; centre and radius may change with time.",
    points=("a",),
    rows=1,
    unit="m",
    arguments=(
        Argument("center", "vector", "centre [m]", required=True),
        Argument("radius", "number", "radius [m]", required=True),
        BALL,
    ),
    lay_out=lay_out,
    kernel=kernel,
    sense=">=",
    contact=True,
)
