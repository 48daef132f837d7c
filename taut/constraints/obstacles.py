"""Balls outside and inside of the shapes of `shapes/`: the kinds that obstacles are made of.

    Φ = ± d(x, t) - r ≥ 0        (1)

d is the signed distance from the shape's surface and r the ball's radius; + keeps the ball outside. Kernels and their
equations stand with the shapes.
"""

from __future__ import annotations

from ..arguments import example
from ..shapes import OBSTACLES, Shape, Side
from .base import BALL, Kind, Layout, ball_radius


def kind_of(shape: Shape, side: Side) -> Kind:
    def pack(positions, arguments):
        parameters, ints = side.pack(positions[0], arguments, ball_radius(arguments))  # (1)
        return Layout(parameters, ints=ints)

    return Kind(
        name=side.kind,
        doc=side.doc,
        points=("a",),
        rows=side.rows,
        unit="m",
        arguments=(*shape.arguments, BALL),
        pack=pack,
        kernel=side.kernel,
        sense=">=",
        contact=True,
        synonyms=side.synonyms,
        examples=(
            *(example("p", **arguments) for arguments in shape.moving),
            example(("box", (0.6, 1.2, -0.4)), **shape.still, ball=0.1),
        ),
        stops=shape.still,
    )


KINDS = tuple(kind_of(shape, side) for shape, side in OBSTACLES.values())
