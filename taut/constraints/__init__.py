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
    half_space,
    inside_box,
    inside_capsule,
    inside_cylinder,
    inside_sphere,
    limit,
    linear,
    max_distance,
    min_distance,
    on_curve,
    on_line,
    on_plane,
    on_sphere,
    outside_box,
    outside_capsule,
    outside_cylinder,
    outside_sphere,
    parallel,
)
from .base import Argument, At, Kind, Layout

KINDS: dict[str, Kind] = {
    module.KIND.name: module.KIND
    for module in (
        fixed_point,
        distance,
        angle,
        parallel,
        on_line,
        on_plane,
        on_sphere,
        on_curve,
        coplanar,
        ball,
        linear,
        custom,
        half_space,
        outside_sphere,
        inside_sphere,
        outside_cylinder,
        inside_cylinder,
        outside_capsule,
        inside_capsule,
        outside_box,
        inside_box,
        min_distance,
        max_distance,
        ball_contact,
        limit,
    )
} | {kind.name: kind for kind in JOINTS}
ALL: dict[str, Kind] = KINDS | {kind.name: kind for kind in PARTS}  # with the rows that joints are made of

__all__ = ["ALL", "KINDS", "Argument", "At", "Kind", "Layout"]
