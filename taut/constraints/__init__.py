"""Constraint kinds: one file each, listed here.

A kind states Φ(x, t) of some points and its derivatives in closed form; `base.py` says how to write one.

    Φ       phi       what must be zero, in its natural unit
    J       J         ∂Φ/∂x, one 3-vector per row and point
    Φ_t     phi_t     ∂Φ/∂t at fixed x
    γ       gamma     d²Φ/dt² with zero acceleration, so that d²Φ/dt² = J a + γ
"""

from __future__ import annotations

from . import (
    angle,
    ball,
    coplanar,
    custom,
    distance,
    fixed_point,
    linear,
    on_curve,
    on_line,
    on_plane,
    on_sphere,
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
    )
}

__all__ = ["KINDS", "Argument", "At", "Kind", "Layout"]
