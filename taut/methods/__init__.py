"""Enforcement methods: one file each, listed here; `base.py` says how to write one.

    M v̇ = f + Jᵀ λ,   q̇ = v,   Φ(q, t) = 0

A method takes q and v over one step h. Methods differ in where the constraint is asked to hold: its second derivative
at the old time, Φ itself at the new one, or a spring in its place.

    q, v        state.x and state.quat, state.v         configuration and velocity
    λ           state.lam                               multipliers: force on the system = +Jᵀ λ
    W f         work.a                                  accelerations of the applied forces
    J W Jᵀ      system.linear                           by `form_and_factor` or `solve`
"""

from __future__ import annotations

from ..registry import declared
from .base import STATUSES, Method, Option
from .style import Style, style_of_stranger

METHODS: dict[str, Method] = {
    method.name: method
    for method in declared(__name__, "METHOD", """
        lagrange baumgarte post_stabilization penalty
        implicit_first implicit_improved implicit_second fast_projection
        rattle rattle_fourth generalized_alpha radau reduced reference
        xpbd provot implicit_euler
    """)
}  # fmt: skip


def style_of(name: str) -> Style:
    """How the method of that name looks; also of one that is not known here."""
    return (METHODS[name].style if name in METHODS else None) or style_of_stranger(name)


__all__ = ["METHODS", "STATUSES", "Method", "Option", "Style", "style_of"]
