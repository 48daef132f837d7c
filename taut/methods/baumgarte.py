"""Baumgarte stabilization.

    Φ̈ + 2α Φ̇ + β² Φ = 0                                                (1)  [ICRA (4)]
    (J W Jᵀ) λ = -(J W f + γ + 2α (J v + Φ_t) + β² Φ)                   (2)  [ICRA (8), (10)]
    v̇ = W (f + Jᵀ λ)                                                    (3)  [ICRA (9)]

Of a condition on velocities Φ̇ is A v + b, and β has nothing to act on: it decays as exp(-2α t).

The τ form of Jonquet (5) is α = β = 1/τ: `tau=` sets both. λ is the papers' with the sign turned.
"""

from __future__ import annotations

from ..compiled import inline
from . import acceleration
from .base import Option, option_index
from .style import SOLID, Style

OPTIONS = (
    acceleration.integrator_option("rk4"),
    Option("alpha", 5.0, "damping of the feedback [1/s]", minimum=0.0),
    Option("beta", 5.0, "frequency of the feedback [1/s]", minimum=0.0),
    Option("tau", 0.0, "time of fulfilment [s]: sets alpha = beta = 1/tau when positive", minimum=0.0),
)
ALPHA, BETA, TAU = (option_index(OPTIONS, name) for name in ("alpha", "beta", "tau"))


@inline
def accelerate(system, t, x, quat, v, options, lam):
    alpha, beta = options[ALPHA], options[BETA]
    if options[TAU] > 0.0:
        alpha = beta = 1.0 / options[TAU]
    acceleration.constrained(system, t, x, quat, v, alpha, beta, lam)  # (1), (2), (3)


step = acceleration.step_of("baumgarte", accelerate, acceleration.stages_without_redundant_rows)
METHOD = acceleration.at_acceleration_level(
    "baumgarte", OPTIONS, source="Baumgarte 1972; Hong ICRA 2005 (4)-(10); Jonquet 2008 (5)",
    style=Style("#E69F00", SOLID, "^"),
    doc="Feedback of Φ and Φ̇ added to the twice differentiated constraints.",
    step=step, contacts=("events",),
    solves="1 (rk4: 4)",
)  # fmt: skip
