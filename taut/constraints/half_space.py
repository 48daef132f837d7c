"""Half space: a ball stays on one side of a plane, which may move and turn. A floor, a wall.

    Φ = n(t) · (x - c(t)) - r ≥ 0           (1)

r is the ball's radius. Derivatives are those of on_plane.py, whose kernel serves here too.
"""

from __future__ import annotations

from .base import BALL, Argument, Kind, Layout, ball_radius
from .on_plane import kernel, read_normal


def lay_out(positions, arguments):
    return Layout((*arguments["point"], *read_normal(arguments["normal"]), ball_radius(arguments)))  # (1)


KIND = Kind(
    name="half_space",
    doc="A ball stays on the side of a plane to which the normal points: a floor, a wall.",
    points=("a",),
    rows=1,
    unit="m",
    arguments=(
        Argument("point", "vector", "a place on the plane [m]", required=True),
        Argument("normal", "vector", "direction out of the wall", required=True),
        BALL,
    ),
    lay_out=lay_out,
    kernel=kernel,
    sense=">=",
    contact=True,
)
