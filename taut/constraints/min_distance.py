"""Minimal distance: two points stay at least a length apart.

    Φ = |x_a - x_b| - L(t) ≥ 0          (1)

Derivatives are those of distance.py, whose kernel serves here too.
"""

from __future__ import annotations

from ..arguments import example
from . import distance
from .base import Kind


def pack(positions, arguments):
    return distance.pack(positions, arguments)  # (1)


KIND = Kind(
    name="min_distance",
    doc="Two points stay at least a given length apart (by default the length they start with).",
    points=("a", "b"), arguments=distance.KIND.arguments, pack=pack, kernel=distance.kernel, sense=">=", contact=True,
    link="strut",
    synonyms=("strut",),
    examples=(
        example("p", "q", length="1 + 0.2*sin(3*t)"),
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0))),
    ),
    stops={"length": 0.5},
)  # fmt: skip
