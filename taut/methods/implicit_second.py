"""Second-order implicit enforcement: a first-order predictor, then a corrector at the half step.

    vᵖ = v + h W (f + Jᵀ λᵖ),   qᵖ = q ⊞ h vᵖ                           (1)  [Hong 2008 (8), (9)]
    (J W Jᵀ) λᵖ = -(Φ/h² + Φ_t/h + J (v/h + W f))                       (2)  [Hong 2008 (7)]
    qʰ, vʰ: mean of old and predicted;  Jʰ = J(qʰ, t + h/2)             (3)
    v' = v + h W (fʰ + Jʰᵀ λ),   q' = q ⊞ h (v + v')/2                  (4)  [Hong 2008 (11), (12)]
    Φ(qᵖ, t+h) + Jʰ (q' - qᵖ) = 0                                       (5)
    (Jʰ W Jʰᵀ) λ = -(2Φ(qᵖ)/h² + 2 Jʰ (v - vᵖ)/h + Jʰ W fʰ)             (6)  [Hong 2008 (10)]
    (Jʰ W Jʰᵀ) δλ = -2Φ(q')/h²                                          (7)  repeated when a tolerance is set
    Jʰ ← J(q'),   when (7) does not halve |Φ|                           (8)  see implicit_first.py
    vʰ ← (v + v')/2 and once more (4)-(6), where forces depend on v     (9)

    -h λ·(Jʰ v_d + Φ_t): the work of drivers, at t + h/2                (10)
    h (Aʰ vᵖ + bʰ) in place of Φ(qᵖ)                                    (11)  of conditions on velocities

(11) makes (5) the condition at the half step, Aʰ (v + v')/2 + bʰ = 0.

λ is the paper's with the sign turned. The paper drops Φ_t in (2). It takes f at the old time in (4) and
(6), `integrator="euler"`; fʰ at the half-time variables is the same under gravity and keeps second order for
forces that depend on q or t. Drag and gyroscopic terms need (9) besides: vᵖ keeps to the old tangent of the
constraints, J vᵖ = 0, so that the mean with it is wrong by O(h) across them. The choices: unconstrained.py.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, on_demand
from ..model.applied_forces import accelerations_of_forces, evaluate_forces
from ..model.arrays import CORRECTIONS, DRIVER_WORK
from ..model.constraint_rows import evaluate_constraints
from ..model.driver_work import accumulate_work, impulse_power
from ..model.instant import set_time
from ..model.jacobian import add_slip, apply_multipliers, form_and_factor, jacobian_times, solve_with_factor
from ..model.slot_vectors import add_scaled, advance_positions, clear, copy, largest, mean
from .base import BOTH, MOST_CORRECTIONS, NOT_CONVERGED, OK, RESIDUAL_ACCEPTED, TOLERANCE, Method
from .implicit_first import correct_multipliers, first_order, refactor
from .style import SOLID, Style
from .unconstrained import INTEGRATOR, MIDPOINT, integrator_option, memory


@compiled
def step(system, state, t, h, options):
    work, w = system.work, system.bodies.inverse_mass
    x, quat, v, lam = state.x, state.quat, state.v, state.lam
    v_predicted, v_half = work.v1, work.v2
    slots = system.bodies.slots  # of points, these alone: places on bodies follow from them

    # Predictor
    midpoint = options[INTEGRATOR] == MIDPOINT
    first_order(system, state, t, h, options[INTEGRATOR], v_predicted, lam, False)  # (1), (2)
    copy(x[:slots], work.x1)
    copy(quat, work.quat1)
    advance_positions(system, x, quat, v_predicted, h, work.x1, work.quat1)
    copy(v_predicted[:slots], v_half)
    set_time(system, t + h, work.x1, work.quat1, v_half)
    evaluate_constraints(system, t + h, work.x1, work.quat1, v_half, False, work.J)
    for r in range(lam.shape[0]):
        work.mu[r] = work.phi[r]  # Φ(qᵖ)

    # Half-time variables
    mean(v[:slots], v_predicted, v_half)
    copy(x[:slots], work.x2)
    copy(quat, work.quat2)
    advance_positions(system, x, quat, v_predicted, 0.5 * h, work.x2, work.quat2)  # (3)
    set_time(system, t + 0.5 * h, work.x2, work.quat2, v_half)
    evaluate_constraints(system, t + 0.5 * h, work.x2, work.quat2, v_half, False, work.J)
    form_and_factor(system, work.J, w)
    if system.nonholonomic == 1:
        evaluate_slip(system, h, v_predicted, v_half)  # (11)

    # Corrector
    v_new = work.v3
    for _ in range(2 if midpoint and system.bodies.velocity_forces else 1):  # (9)
        if midpoint:
            evaluate_forces(system, t + 0.5 * h, work.x2, work.quat2, v_half)
        accelerations_of_forces(system)
        for i in range(slots):
            for c in range(3):
                v_new[i, c] = 2.0 * (v[i, c] - v_predicted[i, c]) / h + work.a[i, c]
        jacobian_times(system, work.J, v_new, work.b)
        for r in range(lam.shape[0]):
            work.b[r] = -(2.0 * work.mu[r] / (h * h) + work.b[r])  # (5), (6)
        solve_with_factor(system, work.b, lam)
        add_scaled(v[:slots], h, work.a, v_new)
        apply_multipliers(system, work.J, w, lam, h, v_new)  # (4)
        mean(v[:slots], v_new, v_half)
        set_time(system, t + 0.5 * h, work.x2, work.quat2, v_half)
    if system.accumulates_work == 1:
        if midpoint:
            evaluate_forces(system, t + 0.5 * h, work.x2, work.quat2, v_half)  # the power of forces feels v'
        accumulate_work(system, state, work.J, v_half, lam, h)  # (10)
    advance_positions(system, x, quat, v_half, h, x, quat)
    copy(v_new[:slots], v)
    set_time(system, t + h, x, quat, v)
    if options[TOLERANCE] > 0.0:
        return correct(system, state, t, h, options)
    return OK


@on_demand(types.none)
def evaluate_slip(system, h, v_predicted, v_half):
    """(11) into work.mu: free bodies move with the predicted velocity, driven ones as at the half step."""
    work, free = system.work, system.bodies.free
    for i in range(work.v3.shape[0]):
        for c in range(3):
            work.v3[i, c] = free[i, c] * v_predicted[i, c] + (1.0 - free[i, c]) * v_half[i, c]
    add_slip(system, work.J, work.phi_t, work.v3, h)
    for r in range(work.mu.shape[0]):
        if system.rows.at_velocity[r] == 1:
            work.mu[r] = work.phi[r]


@on_demand(types.int64)
def correct(system, state, t, h, options):
    """(7): bring |Φ| at the new time below the tolerance."""
    work, w = system.work, system.bodies.inverse_mass
    copy(work.J, work.J2)
    last = 1e300
    for _ in range(MOST_CORRECTIONS):
        evaluate_constraints(system, t + h, state.x, state.quat, state.v, False, work.J)
        error = largest(work.phi)
        if error <= options[TOLERANCE]:
            return OK
        if error > 0.5 * last:
            refactor(system)  # (8)
        last = error
        correct_multipliers(system, h, state.lam)  # (7)
        if system.accumulates_work == 1:
            state.ledger[DRIVER_WORK] += h * impulse_power(system, work.mu)  # (10)
        clear(work.v1)
        apply_multipliers(system, work.J2, w, work.mu, h, work.v1)
        add_scaled(state.v, 1.0, work.v1, state.v)
        advance_positions(system, state.x, state.quat, work.v1, 0.5 * h, state.x, state.quat)
        work.counts[CORRECTIONS] += 1
    return OK if options[RESIDUAL_ACCEPTED] == 1.0 else NOT_CONVERGED


METHOD = Method(
    name="implicit_second", source="Hong et al. 2008 (7)-(12)", style=Style("#332288", SOLID, "p"),
    doc="A first-order predictor and a half-step corrector; two linear solves.",
    level="position, linearised", order=2, order_position=3, order_velocity=2, orders={"euler": 1, "ab2": 2},
    levels=BOTH, contacts=("events", "steps"),
    options=(integrator_option("midpoint"),), memory=memory, step=step, shortest=0.5,
    solves="2",
)  # fmt: skip
