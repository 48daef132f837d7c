"""Enforcement methods: one file each, listed here; `base.py` says how to write one.

    q, v        state.x and state.quat, state.v         configuration and velocity
    λ           state.lam                               multipliers: force on the system = +Jᵀ λ
    W f         work.a                                  accelerations of the applied forces
    J W Jᵀ      system.linear                           formed and factored by `prepare` or `solve`
"""

from __future__ import annotations

from . import (
    baumgarte,
    fast_projection,
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
from .sheets import implicit_euler, provot, xpbd

METHODS: dict[str, Method] = {
    module.METHOD.name: module.METHOD
    for module in (
        lagrange,
        baumgarte,
        post_stabilization,
        penalty,
        implicit_first,
        implicit_improved,
        implicit_second,
        fast_projection,
        rattle,
        rattle_fourth,
        reduced,
        reference,
        xpbd,
        provot,
        implicit_euler,
    )
}

__all__ = ["METHODS", "STATUSES", "Method", "Option"]
