"""Constraint kinds: one file each, listed here.

A kind states Φ(x, t) of some points and its derivatives in closed form; `base.py` says how to write one.

    Φ       phi       what must be zero (or, of an inequality, not negative), in its natural unit
    J       J         ∂Φ/∂x, one 3-vector per row and point
    Φ_t     phi_t     ∂Φ/∂t at fixed x
    γ       gamma     d²Φ/dt² with zero acceleration, so that d²Φ/dt² = J a + γ
"""

from __future__ import annotations

from ..joints import JOINTS, PARTS
from . import (
    angle,
    ball,
    ball_contact,
    coplanar,
    custom,
    distance,
    fixed_point,
    limit,
    linear,
    max_distance,
    min_distance,
    obstacles,
    on_curve,
    on_line,
    on_plane,
    on_sphere,
    parallel,
)
from .base import Argument, At, Kind, Layout

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        fixed_point.KIND,
        distance.KIND,
        angle.KIND,
        parallel.KIND,
        on_line.KIND,
        on_plane.KIND,
        on_sphere.KIND,
        on_curve.KIND,
        coplanar.KIND,
        ball.KIND,
        linear.KIND,
        custom.KIND,
        *obstacles.KINDS,  # of each shape
        min_distance.KIND,
        max_distance.KIND,
        ball_contact.KIND,
        limit.KIND,
    )
} | {kind.name: kind for kind in JOINTS}
ALL: dict[str, Kind] = KINDS | {kind.name: kind for kind in PARTS}  # with the rows that joints are made of

__all__ = ["ALL", "KINDS", "Argument", "At", "Kind", "Layout"]
