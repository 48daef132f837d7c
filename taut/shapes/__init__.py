"""Shapes: one file each, listed here; `base.py` says how to write one.

The inertia of rigid bodies, the contacts of obstacles, and the pictures of both follow from the same file.

    V           volume          [m³]
    I           moments         principal moments of inertia about the middle [kg m²]; the long axis is x
    d(y), n     distance        signed distance of a point from the surface [m], and its gradient
    s(u)        support         the place of the solid that is farthest along u
    Φ = ±d - r  sides           constraint kinds for balls of radius r, with their compiled kernels
"""

from __future__ import annotations

from ..registry import declared
from .base import Mesh, Placement, Shape, Side

SHAPES: dict[str, Shape] = {
    shape.name: shape
    for shape in declared(__name__, "SHAPE", "half_space sphere cylinder capsule box rod")
}
SOLIDS: dict[str, Shape] = {name: shape for name, shape in SHAPES.items() if shape.is_solid}
# The shape and the side that a constraint kind keeps balls on.
OBSTACLES: dict[str, tuple[Shape, Side]] = {
    side.kind: (shape, side) for shape in SHAPES.values() for side in shape.sides
}

__all__ = ["OBSTACLES", "SHAPES", "SOLIDS", "Mesh", "Placement", "Shape", "Side"]
