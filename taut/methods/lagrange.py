"""Lagrange multipliers at acceleration level, without stabilization.

    M v̇ = f + Jᵀ λ                              (1)  [COL865: constrained equations of motion]
    J v̇ + γ = 0                                 (2)
    (J W Jᵀ) λ = -(J W f + γ)                   (3)

γ collects J̇v, Φ_qt and Φ_tt. Only the second derivative of Φ is held at zero, so Φ drifts: that is what
the other methods are there to prevent, and what this one shows. Conditions on velocities take part in (2) with the
derivative of A v + b, which drifts likewise.
"""

from __future__ import annotations

from ..compiled import inline
from . import acceleration
from .style import DOTTED, Style


@inline
def accelerate(system, t, x, quat, v, options, lam):
    acceleration.constrained(system, t, x, quat, v, 0.0, 0.0, lam)  # (1), (2), (3)


step = acceleration.step_of("lagrange", accelerate, acceleration.stages_without_redundant_rows)
METHOD = acceleration.at_acceleration_level(
    "lagrange", (acceleration.integrator_option("rk4"),), source="COL865; Witkin and Baraff",
    style=Style("#999933", DOTTED, "v"),
    doc="Multipliers from the twice differentiated constraints; nothing corrects the drift.",
    step=step, contacts=("events",),
    solves="1 (rk4: 4)",
)  # fmt: skip
