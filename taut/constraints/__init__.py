"""Constraint kinds: one file each, listed here.

A kind states Φ(x, t) of some points and its derivatives in closed form; `base.py` says how to write one.

    Φ       phi       the constraint function, zero (of an inequality: not negative) when satisfied, in its natural unit
    J       J         ∂Φ/∂x, one 3-vector per row and point
    Φ_t     phi_t     ∂Φ/∂t at fixed x
    γ       gamma     d²Φ/dt² with zero acceleration, so that d²Φ/dt² = J a + γ
"""

from __future__ import annotations

from ..joints import JOINTS, PARTS
from ..registry import declared
from .base import Argument, At, Kind, Layout

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in declared(__name__, "KIND", """
        fixed_point distance angle parallel
        on_line on_plane on_sphere on_curve coplanar
        ball linear custom
        obstacles min_distance max_distance ball_contact limit
    """)
} | {kind.name: kind for kind in JOINTS}  # fmt: skip
ALL: dict[str, Kind] = KINDS | {kind.name: kind for kind in PARTS}  # with the rows that joints are made of

__all__ = ["ALL", "KINDS", "Argument", "At", "Kind", "Layout"]
