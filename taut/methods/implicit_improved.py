"""Improved first-order implicit enforcement: a half step for λ, then a mid-point step.

    v½ = v + h/2 W (f + Jᵀ λ)                                           (1)  [HWC (5)]
    q½ = q ⊞ h/2 v½                                                     (2)  [HWC (6)]
    (J W Jᵀ) λ = -(4Φ/h² + 2Φ_t/h + J (2v/h + W f))                     (3)  [from HWC (7)]
    v' = v + h W (f½ + J(q½)ᵀ λ)                                        (4)  [HWC, mid-point step]
    q' = q ⊞ h v½                                                       (5)
    (J W Jᵀ) δλ = -2Φ(q')/h²                                            (6)  repeated when a tolerance is set
    J ← J(q'),   when (6) does not halve |Φ|                            (7)  see implicit_first.py
    f ← f½ and once more (1)-(3), where forces depend on v              (8)
    -h λ·(J(q½) v_d + Φ_t): the work of drivers, at t + h/2             (9)
    (J W Jᵀ) δλ = -2 (A(q½) v½ + b)/h                                   (10)  once, for conditions on velocities

(3) holds a condition on velocities with A of the old time, which is wrong by O(h) in v½; (10) brings that to O(h²).

The paper prints (3) without Φ_t, and (4) with f of the old time, `integrator="euler"`: then forces that change
along the way make the order one. f½ = f(q½, v½) is the mid-point rule for them too. The paper's own remedy,
Adams-Bashforth 2 (`integrator="ab2"`), serves for forces that depend on places alone; see below.

λ is the paper's with the sign turned. (3) sets the normal part of v½ from Φ alone, and v' = 2 v½ - v turns the
rest of it round at each step. Both Φ and Φ̇ are therefore multiplied by -1 from step to step, one driving the other:
a body that starts on a curved path with Φ = 0 rings, Φ̇ grows to the size of v and λ to v/h, and on a fast loop of rigid
bars to many times v whatever h is, so that by its energy the run counts as diverged. Positions, q½ and v½ are of second
order all the same, and so are Φ̇ and λ (of first order) when the motion starts from rest. f½ does not feel the ringing;
f of the old time does: with `euler` or `ab2` and forces of second degree in v, such as gyroscopic terms of rigid
bodies, the method does not converge, and a run with forces that depend on v is warned.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from ..model.applied_forces import accelerations_of_forces, evaluate_forces
from ..model.arrays import CORRECTIONS
from ..model.constraint_rows import evaluate_constraints
from ..model.driver_work import accumulate_work
from ..model.instant import set_time
from ..model.jacobian import add_slip, apply_multipliers, form_and_factor, jacobian_times, solve_with_factor
from ..model.slot_vectors import add_scaled, advance_positions, copy, largest
from .base import BOTH, MOST_CORRECTIONS, NOT_CONVERGED, OK, RESIDUAL_ACCEPTED, TOLERANCE, Caveat, Hooks, Method
from .implicit_first import correct_multipliers, refactor
from .style import DASHED, Style
from .unconstrained import AB2, INTEGRATOR, MIDPOINT, extrapolate, integrator_option, memory


@inline
def full_step(system, state, t, h, v_half):
    """(5) from the half-step velocity, into x2 and quat2 at t + h."""
    work = system.work
    copy(state.x, work.x2)
    copy(state.quat, work.quat2)
    advance_positions(system, state.x, state.quat, v_half, h, work.x2, work.quat2)  # (5)


@inline
def half_step(system, state, t, h, v_half):
    """(2), and all that moves on its own, into x1, quat1 and v½ at t + h/2."""
    work = system.work
    copy(state.x, work.x1)
    copy(state.quat, work.quat1)
    advance_positions(system, state.x, state.quat, v_half, 0.5 * h, work.x1, work.quat1)  # (2)
    set_time(system, t + 0.5 * h, work.x1, work.quat1, v_half)


@compiled
def step(system, state, t, h, options):
    work, w = system.work, system.bodies.inverse_mass
    x, quat, v, lam = state.x, state.quat, state.v, state.lam
    v_half = work.v1
    midpoint = options[INTEGRATOR] == MIDPOINT
    evaluate_constraints(system, t, x, quat, v, False, work.J)
    form_and_factor(system, work.J, w)
    evaluate_forces(system, t, x, quat, v)
    if options[INTEGRATOR] == AB2:
        extrapolate(system, state.memory)
    for r in range(lam.shape[0]):
        work.mu[r] = 2.0 * work.phi[r] / h + work.phi_t[r]
    for again in range(2 if midpoint and system.bodies.velocity_forces else 1):  # (8)
        if again == 1:
            half_step(system, state, t, h, v_half)
            evaluate_forces(system, t + 0.5 * h, work.x1, work.quat1, v_half)
        accelerations_of_forces(system)
        add_scaled(v, 0.5 * h, work.a, v_half)
        jacobian_times(system, work.J, v_half, work.b)
        for r in range(lam.shape[0]):
            work.b[r] = -2.0 * (work.mu[r] + work.b[r]) / h  # (3)
        solve_with_factor(system, work.b, lam)
        apply_multipliers(system, work.J, w, lam, 0.5 * h, v_half)  # (1)
    if system.nonholonomic == 1:
        enforce_slip(system, state, t, h, v_half)  # (10)
    status = OK
    if options[TOLERANCE] > 0.0:
        status = repeat(system, state, t, h, options, v_half)
    # mid-point step
    half_step(system, state, t, h, v_half)
    evaluate_constraints(system, t + 0.5 * h, work.x1, work.quat1, v_half, False, work.J)
    if midpoint:
        evaluate_forces(system, t + 0.5 * h, work.x1, work.quat1, v_half)
        accelerations_of_forces(system)
    if system.accumulates_work == 1:
        accumulate_work(system, state, work.J, v_half, lam, h)  # (9)
    advance_positions(system, x, quat, v_half, h, x, quat)  # (5)
    add_scaled(v, h, work.a, v)
    apply_multipliers(system, work.J, w, lam, h, v)  # (4)
    set_time(system, t + h, x, quat, v)
    return status


@on_demand(types.none)
def enforce_slip(system, state, t, h, v_half):
    """(10), with J(q) and its factor at hand before and after."""
    work = system.work
    copy(work.J, work.J2)
    half_step(system, state, t, h, v_half)
    evaluate_constraints(system, t + 0.5 * h, work.x1, work.quat1, v_half, False, work.J)
    for r in range(work.b.shape[0]):
        work.phi[r] = 0.0
    add_slip(system, work.J, work.phi_t, v_half, 1.0)
    for r in range(work.b.shape[0]):
        work.b[r] = -2.0 * work.phi[r] / h
    solve_with_factor(system, work.b, work.mu)
    for r in range(work.b.shape[0]):
        state.lam[r] += work.mu[r]
    apply_multipliers(system, work.J2, system.bodies.inverse_mass, work.mu, 0.5 * h, v_half)  # (10)
    copy(work.J2, work.J)
    set_time(system, t, state.x, state.quat, v_half)


@compiled
def repeat(system, state, t, h, options, v_half):
    """(6), with the force kept in the direction it has at q."""
    work, w = system.work, system.bodies.inverse_mass
    copy(work.J, work.J2)
    status = NOT_CONVERGED
    last = 1e300
    for _ in range(MOST_CORRECTIONS):
        full_step(system, state, t, h, v_half)
        set_time(system, t + h, work.x2, work.quat2, v_half)
        evaluate_constraints(system, t + h, work.x2, work.quat2, v_half, False, work.J)
        error = largest(work.phi)
        if error <= options[TOLERANCE]:
            status = OK
            break
        if error > 0.5 * last:
            refactor(system)  # (7)
        last = error
        correct_multipliers(system, h, state.lam)  # (6)
        apply_multipliers(system, work.J2, w, work.mu, 0.5 * h, v_half)
        work.counts[CORRECTIONS] += 1
    set_time(system, t, state.x, state.quat, v_half)
    return OK if options[RESIDUAL_ACCEPTED] == 1.0 else status


METHOD = Method(
    name="implicit_improved", source="Hong, Welch and Choi 2005 (5)-(7)", style=Style("#0072B2", DASHED, "D"),
    doc="A half step finds λ, a mid-point step uses it; one linear system.",
    level="position, linearised", order=2, order_position=2, order_velocity=0, orders={"euler": 1, "ab2": 2},
    levels=BOTH, contacts=("events",),
    caveat=Caveat(
        "with integrator euler or ab2 it does not converge where forces depend on velocity (drag, damping, rigid "
        "bodies); leave integrator at midpoint",
        lambda model, options: bool(model.bodies.velocity_forces) and options[INTEGRATOR] != MIDPOINT,
    ),
    options=(integrator_option("midpoint"),), memory=memory, step=step, shortest=0.5,
    solves="1 (forces of v: 2)",
    hooks=Hooks(
        remedy="Its velocities oscillate about the motion with an amplitude that does not fall with dt; positions "
        "converge. Use implicit_second or rattle."
    ),
)  # fmt: skip
