"""Lagrange multipliers at acceleration level, without stabilization.

    M v̇ = f + Jᵀ λ                              (1)  [COL865: constrained equations of motion]
    J v̇ + γ = 0                                 (2)
    (J W Jᵀ) λ = -(J W f + γ)                   (3)

γ collects J̇v, Φ_qt and Φ_tt. Only the second derivative of Φ is held at zero, so Φ drifts: that is what
the other methods are there to prevent, and what this one shows. Conditions on velocities take part in (2) with the
derivative of A v + b, which drifts likewise.
"""

from __future__ import annotations

from ..compiled import compiled, inline, specialise
from . import acceleration
from .base import BOTH, Method
from .style import DOTTED, Style


@inline
def accelerate(system, t, x, quat, v, par, lam):
    acceleration.constrained(system, t, x, quat, v, 0.0, 0.0, lam)  # (1), (2), (3)


runge_kutta = specialise(acceleration.runge_kutta, "runge_kutta_lagrange", compiled, accelerate=accelerate)
step = specialise(
    acceleration.step, "step_lagrange", compiled, accelerate=accelerate, runge_kutta=runge_kutta
)

METHOD = Method(
    name="lagrange",
    doc="Multipliers from the twice differentiated constraints; nothing corrects the drift.",
    source="COL865; Witkin and Baraff",
    style=Style("#999933", DOTTED, "v"),
    level="acceleration",
    order=4,
    order_position=4,
    order_velocity=4,
    step=step,
    orders=acceleration.other_orders("rk4"),
    takes_tolerance=False,
    observe=acceleration.observe_lagrange,
    options=(acceleration.integrator_option("rk4"),),
    memory=acceleration.memory,
    stages=acceleration.STAGES,
    solves="1 (rk4: 4)",
    levels=BOTH,
)
