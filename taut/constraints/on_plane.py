"""On a plane, which may move and turn.

    Φ = n(t) · (x - c(t))           (1)

The plane is the surface of a half space, whose kernel serves here too, with derivatives, for a ball of radius 0.
"""

from __future__ import annotations

from ..arguments import example
from ..shapes.half_space import kernel, read_normal
from .base import Affine, Argument, Kind, Layout


def pack(positions, arguments):
    point = arguments["point"] or tuple(positions[0])
    return Layout((*point, *read_normal(arguments["normal"]), 0.0))  # (1)


KIND = Kind(
    name="on_plane",
    doc="A point stays on a plane; the plane may move and turn with time.",
    points=("a",),
    arguments=(
        Argument("point", "vector", "a place on the plane [m]; default: where the point starts"),
        Argument("normal", "vector", "direction across the plane", required=True),
    ),
    pack=pack, kernel=kernel, contact=True, affine=Affine(3, is_place=True),
    synonyms=("inplane",),
    examples=(
        example("p", point=("sin(2*t)", "t**2", 0), normal=("cos(3*t)", "sin(3*t)", 0)),
        example(("box", (0.1, 0.2, 0.3)), normal=(1, 2, -1)),
    ),
)  # fmt: skip
