"""Enforcement methods: one file each, listed here; `base.py` says how to write one.

    M v̇ = f + Jᵀ λ,   q̇ = v,   Φ(q, t) = 0

A method takes q and v over one step h. Methods differ in where the constraint is asked to hold: its second derivative
at the old time, Φ itself at the new one, or a spring in its place.

    q, v        state.x and state.quat, state.v         configuration and velocity
    λ           state.lam                               multipliers: force on the system = +Jᵀ λ
    W f         work.a                                  accelerations of the applied forces
    J W Jᵀ      system.linear                           formed and factored by `prepare` or `solve`
"""

from __future__ import annotations

from . import (
    baumgarte,
    fast_projection,
    generalized_alpha,
    implicit_first,
    implicit_improved,
    implicit_second,
    lagrange,
    penalty,
    post_stabilization,
    rattle,
    rattle_fourth,
    reduced,
    reference,
)
from .base import STATUSES, Method, Option
from .cloth_baselines import IMPLICIT_EULER, PROVOT, XPBD
from .style import Style, style_of_stranger

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        lagrange.METHOD,
        baumgarte.METHOD,
        post_stabilization.METHOD,
        penalty.METHOD,
        implicit_first.METHOD,
        implicit_improved.METHOD,
        implicit_second.METHOD,
        fast_projection.METHOD,
        rattle.METHOD,
        rattle_fourth.METHOD,
        generalized_alpha.METHOD,
        reduced.METHOD,
        reference.METHOD,
        XPBD,
        PROVOT,
        IMPLICIT_EULER,
    )
}


def style_of(name: str) -> Style:
    """How the method of that name looks; also of one that is not known here."""
    return (METHODS[name].style if name in METHODS else None) or style_of_stranger(name)


__all__ = ["METHODS", "STATUSES", "Method", "Option", "Style", "style_of"]
