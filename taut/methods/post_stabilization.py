"""Post-stabilization: an unstabilized step, then the shortest way back to Φ = 0.

    (J Jᵀ) μ = -Φ(q),    q' = q ⊞ Jᵀ μ                          (1)  [ICRA (17), (18)]
    (J W Jᵀ) μ = -Φ(q),    q' = q ⊞ W Jᵀ μ                      (2)  weighted by mass
    (J W Jᵀ) ν = -(J v + Φ_t),    v' = v + W Jᵀ ν               (3)  velocity stabilization, optional

The paper corrects once; with a tolerance the correction is repeated until |Φ| is below it. Conditions on velocities
have no Φ: the correction of positions obeys A (q' - q) = 0, and (3) is always made for them, the rates of all others
left as they are.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, on_demand
from ..model.evaluate import (
    advance_positions,
    apply_multipliers,
    clear,
    constrain,
    drop_slip,
    evaluate_constraints,
    jacobian_times,
    largest,
    solve,
)
from . import acceleration
from .base import MOST_CORRECTIONS, NOT_CONVERGED, OK, RESIDUAL_ACCEPTED, TOLERANCE, Option, option_index
from .lagrange import step as lagrange_step
from .style import DASHED, Style

OPTIONS = (
    acceleration.integrator_option("symplectic"),
    Option("weight", "none", "metric of the correction: none as in the paper, or mass", ("none", "mass")),
    Option("velocity", "no", "also project the velocities", ("no", "yes")),
)
WEIGHT, VELOCITY = option_index(OPTIONS, "weight"), option_index(OPTIONS, "velocity")


@compiled
def correct(system, state, t, weight, tolerance, may_slip):
    """(1) or (2), once, or until |Φ| is below the tolerance; conditions on velocities bind it unless it may slip."""
    return correct_at_most(system, state, t, weight, tolerance, may_slip, MOST_CORRECTIONS)


@compiled
def correct_at_most(system, state, t, weight, tolerance, may_slip, times):
    """`correct`, given up after so many times. Where it is OK, J and Φ_t are left as they are at the end."""
    work = system.work
    for _ in range(times):
        evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
        if may_slip and system.nonholonomic == 1:
            drop_slip(system, work.J)
        if tolerance > 0.0 and largest(work.phi) <= tolerance:
            return OK
        for r in range(work.b.shape[0]):
            work.b[r] = -work.phi[r]
        solve(system, work.J, weight, work.b, work.mu)
        clear(work.v1)
        apply_multipliers(system, work.J, weight, work.mu, 1.0, work.v1)
        advance_positions(system, state.x, state.quat, work.v1, 1.0, state.x, state.quat)  # (1), (2)
        if tolerance <= 0.0:
            return OK
    return NOT_CONVERGED


@compiled
def project_velocity(system, state):
    """(3) of all rows, where J and Φ_t are known."""
    work = system.work
    for r in range(work.b.shape[0]):
        work.b[r] = work.phi_t[r]
    constrain(system, work.J, system.bodies.inverse_mass, 1.0, state.v, 1.0, work.mu, False)  # (3)


@on_demand(types.none)
def correct_velocity(system, state, t, slip_alone):
    """(3), of all rows or of conditions on velocities alone."""
    work = system.work
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
    if not slip_alone:
        project_velocity(system, state)
        return
    jacobian_times(system, work.J, state.v, work.b)
    for r in range(work.b.shape[0]):
        work.b[r] = 0.0 if system.rows.at_velocity[r] == 0 else -(work.b[r] + work.phi_t[r])
    solve(system, work.J, system.bodies.inverse_mass, work.b, work.mu)
    apply_multipliers(system, work.J, system.bodies.inverse_mass, work.mu, 1.0, state.v)


@compiled
def step(system, state, t, h, options):
    lagrange_step(system, state, t, h, options)
    weight = system.bodies.inverse_mass if options[WEIGHT] == 1.0 else system.bodies.free
    status = correct(system, state, t + h, weight, options[TOLERANCE], False)
    if options[VELOCITY] == 1.0 or system.nonholonomic == 1:
        correct_velocity(system, state, t + h, options[VELOCITY] != 1.0)
    return OK if options[RESIDUAL_ACCEPTED] == 1.0 else status


METHOD = acceleration.at_acceleration_level(
    "post_stabilization", OPTIONS, source="Cline and Pai 2003; Hong ICRA 2005 (17), (18)",
    style=Style("#D55E00", DASHED, "s"),
    doc="An unstabilized step followed by a projection of the positions.",
    level="position", order_position=4,
    takes_tolerance=True, step=step, contacts=("events",),
    solves="2",
)  # fmt: skip
