"""Skate (knife edge, or the wheels of an axle): a place on a body moves along the body's heading, and not across it.

    w·v = 0,   w = normal × direction, fixed to the body                                 (1)

It does not keep the body on the ground: add a planar_joint, or on_plane for each runner.
"""

from __future__ import annotations

import numpy as np

from ..arguments import example
from ..constraints.base import Argument, Kind, Layout, Part
from .base import unit


def pack(positions, arguments):
    heading = unit(arguments["direction"], "direction")
    across = np.cross(unit(arguments["normal"], "normal"), heading)
    if np.linalg.norm(across) < 1e-9:
        raise ValueError("its direction is along its normal; a skate moves along the ground: give another direction, "
                         "or the normal of the ground")
    w = arguments["frames"][0].direction(unit(across, "direction"))
    return Layout(parts=(Part("across", (arguments["points"][0], w)),))  # (1)


KIND = Kind(
    name="skate",
    doc="A place on a body moves along a direction that turns with the body, and not across it (knife edge, car axle).",
    points=("a",), level="velocity",
    arguments=(
        Argument("direction", "constant_vector", "heading of the blade in the world, at the start", required=True),
        Argument("normal", "constant_vector", "of the ground, in the world at the start", default=(0.0, 1.0, 0.0)),
    ),
    pack=pack, frames=True,
    synonyms=("knife_edge", "no_side_slip"),
    examples=(
        example(("box", (0.1, 0.2, 0.3)), direction=(1, 0, 2)),
        example("rod", direction=(1, 1, 0), normal=(0, 0, 1)),
    ),
)  # fmt: skip
