"""Contact of two balls.

    Φ = |x_a - x_b| - (r_a + r_b) ≥ 0           (1)

r are the radii of the two bodies. Derivatives are those of distance.py, whose kernel serves here too.
"""

from __future__ import annotations

from ..arguments import example
from . import distance
from .base import Kind, Layout


def pack(positions, arguments):
    reach = sum(arguments["radii"])
    if reach <= 0.0:
        raise ValueError("both its points have no radius; give one of the bodies a radius, or use min_distance")
    if not (positions[0] - positions[1]).any():
        raise ValueError("its two balls have the same centre, so the direction of the force is undefined; "
                         "move one of them")
    return Layout((reach,))  # (1)


KIND = Kind(
    name="ball_contact",
    doc="Two balls do not overlap; their radii are those of the bodies.",
    points=("a", "b"), pack=pack, kernel=distance.kernel, sense=">=", contact=True,
    examples=(
        example("p", "q"),
        example("p", ("box", (0.1, 0.2, 0.3))),
    ),
    stops={},
)  # fmt: skip
