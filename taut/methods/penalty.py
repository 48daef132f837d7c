"""Penalty forces: each constraint becomes a spring with damping.

    λ = -(α Φ + β Φ̇),    Φ̇ = J v + Φ_t                 (1)  [COL865: penalty forces]
    v̇ = W (f + Jᵀ λ)                                    (2)

No system is solved. Φ settles near -λ/α, and the step must follow the stiffness: h < 2/√(α J W Jᵀ). As h
falls the result goes to the motion of (1), (2) with the order of the integrator, and not to the constrained
one: of that distance, which falls as 1/α, the order in h is zero.
"""

from __future__ import annotations

from ..compiled import compiled, inline, specialise
from ..model.evaluate import constraints, drive, forces, push, set_time, times
from . import acceleration
from .base import Method, Option
from .style import DASHDOT, Style


@inline
def accelerate(system, t, x, quat, v, par, lam):
    work = system.work
    set_time(system, t, x, quat, v)
    constraints(system, t, x, quat, v, False, work.J)
    forces(system, t, x, quat, v)
    drive(system)
    times(system, work.J, v, work.b)
    for r in range(lam.shape[0]):
        lam[r] = -(par[4] * work.phi[r] + par[5] * (work.b[r] + work.phi_t[r]))  # (1)
    push(system, work.J, system.bodies.w, lam, 1.0, work.a)  # (2)


@compiled
def observe(system, state, t, par, lam):
    accelerate(system, t, state.x, state.quat, state.v, par, lam)


runge_kutta = specialise(acceleration.runge_kutta, "runge_kutta_penalty", compiled, accelerate=accelerate)
step = specialise(
    acceleration.step, "step_penalty", compiled, accelerate=accelerate, runge_kutta=runge_kutta
)

METHOD = Method(
    name="penalty",
    doc="A stiff spring with damping in place of each constraint; no linear system.",
    source="COL865: penalty forces",
    style=Style("#CC79A7", DASHDOT, "P"),
    level="force",
    order=0,
    order_position=0,
    order_velocity=0,
    step=step,
    takes_tolerance=False,
    observe=observe,
    options=(
        acceleration.integrator_option("rk4"),
        Option("alpha", 1e4, "stiffness [N per unit of Φ]", minimum=0.0),
        Option("beta", 10.0, "damping [N s per unit of Φ]", minimum=0.0),
    ),
    memory=acceleration.memory,
    stages=acceleration.STAGES,
    solves="0",
)
