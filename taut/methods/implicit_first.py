"""First-order implicit enforcement: λ such that the linearised constraint holds at the new time.

    v' = v + h W (f + Jᵀ λ)                                             (1)  [ICRA (11)]
    q' = q ⊞ h v'                                                       (2)  [ICRA (12)]
    Φ + J (q' - q) + h Φ_t = 0                                          (3)  [ICRA (13), (14)]
    (J W Jᵀ) λ = -(Φ/h² + Φ_t/h + J (v/h + W f))                        (4)  [ICRA (16)]
    (J W Jᵀ) δλ = -Φ(q')/h²                                             (5)  repeated when a tolerance is set
    J ← J(q'),   when (5) does not halve |Φ|                            (6)
    (J(q') W Jᵀ) δλ = -Φ(q')/h²,   in place of (5) with newton="full"   (8)
    -h λ·(J v_d + Φ_t): the work of drivers, v_d of driven bodies       (7)

λ is the paper's with the sign turned. In exact terms (4) is one Newton iteration of the implicit
(index-3) Euler or SHAKE step, and (5) goes on with it; readers from game physics know the velocity-level
form as "ERP = 1, CFM = 0 with a direct solve". (6) is for large steps, and for mechanisms that pass a
configuration where J loses rank: there J(q) says nothing about q'. (8) is the exact Newton iteration of full_newton.py,
whose fixed point is that of (5); where it does not halve |Φ| either, (5) and (6) take over. f is that of
unconstrained.py. Of a condition on velocities, where Φ = 0, (3) is that condition at the new time, linearised,

    A v' + b + h (Ȧ v + ḃ) = 0                                                 (9)

which (5) leaves as it is.
"""

from __future__ import annotations

from numba import types

from ..compiled import inline, on_demand
from ..model.applied_forces import evaluate_forces, kick
from ..model.arrays import CORRECTIONS, DRIVER_WORK
from ..model.constraint_rows import carry_all, evaluate_at_points, evaluate_constraints
from ..model.driver_work import accumulate_work, impulse_power
from ..model.instant import set_time
from ..model.jacobian import apply_multipliers, constrain, constrain_by_panels, form_and_factor, solve_with_factor
from ..model.panels import takes_panels
from ..model.slot_vectors import add_scaled, advance_positions, clear, copy, largest
from .base import BOTH, MOST_CORRECTIONS, NOT_CONVERGED, OK, RESIDUAL_ACCEPTED, TOLERANCE, Hooks, Method, option_index
from .full_newton import FULL, FULL_TOLERANCE, solve_pair, solver_with, take_back
from .full_newton import OPTION as NEWTON_OPTION
from .style import SOLID, Style
from .unconstrained import AB2, INTEGRATOR, extrapolate, integrator_option, memory

OPTIONS = (integrator_option("euler", ("euler", "ab2")), NEWTON_OPTION)
NEWTON = option_index(OPTIONS, "newton")


@inline
def first_order(system, state, t, h, integrator, out_v, lam, keep):
    """(1) and (4): the new velocity, and where `keep` says so the factor of J W Jᵀ at q left ready for (5)."""
    work, w = system.work, system.bodies.inverse_mass
    second, in_panels = system.nonholonomic == 1, not keep and system.accumulates_work == 0 and takes_panels(system)
    evaluate_at_points(system, t, state.x, state.quat, state.v, second, work.J)
    if not in_panels:
        carry_all(system, state.v, second, work.J)
    evaluate_forces(system, t, state.x, state.quat, state.v)
    if integrator == AB2:
        extrapolate(system, state.memory)
    kick(system, state.v, h, out_v)  # (1) without λ
    for r in range(lam.shape[0]):
        work.b[r] = work.phi[r] / h + work.phi_t[r]
    if system.nonholonomic == 1:
        for r in range(lam.shape[0]):
            if system.rows.at_velocity[r] == 1:
                work.b[r] += h * work.gamma[r]  # (9)
    if in_panels:
        constrain_by_panels(system, work.J, w, h, out_v, h, lam)
        return
    constrain(system, work.J, w, h, out_v, h, lam, keep)  # (3) with (1) and (2) put in: (4); then (1)


@on_demand(types.none)
def refactor(system):
    """(6): from now on corrections are made with the J last evaluated."""
    copy(system.work.J, system.work.J2)
    form_and_factor(system, system.work.J, system.bodies.inverse_mass)


@inline
def correct_multipliers(system, h, lam):
    """δλ of (J W Jᵀ) δλ = -2 Φ/h², with the factor at hand, into work.mu, and added to lam."""
    work = system.work
    for r in range(work.b.shape[0]):
        work.b[r] = -2.0 * work.phi[r] / (h * h)
    solve_with_factor(system, work.b, work.mu)
    for r in range(work.b.shape[0]):
        lam[r] += work.mu[r]


@on_demand(types.int64)
def correct(system, state, t, h, options):
    """(5) or (8): bring |Φ| at the new time below the tolerance. The force keeps the direction it has at q."""
    work, w = system.work, system.bodies.inverse_mass
    copy(system.work.J, system.work.J2)
    last = 1e300
    full = options[NEWTON] == FULL
    bound = options[TOLERANCE] if options[TOLERANCE] > 0.0 else FULL_TOLERANCE
    for _ in range(MOST_CORRECTIONS):
        evaluate_constraints(system, t + h, state.x, state.quat, state.v, False, work.J)
        error = largest(work.phi)
        if error <= bound:
            return OK
        worse = full and error > last
        if worse:
            take_back(system, work.J2, work.mu)
        elif error > 0.5 * last:
            refactor(system)  # (6)
        full = full and error <= 0.5 * last
        last = 1e300 if worse else error
        for r in range(work.b.shape[0]):
            work.b[r] = -work.phi[r] / (h * h)
        if full:
            solve_pair(system, work.J, work.J2, work.b, work.mu)  # (8)
        elif not worse:
            solve_with_factor(system, work.b, work.mu)  # (5)
        for r in range(work.b.shape[0]):
            state.lam[r] += work.mu[r]
        clear(work.v1)
        if system.accumulates_work == 1:
            state.ledger[DRIVER_WORK] += h * impulse_power(system, work.mu)  # (7)
        apply_multipliers(system, work.J2, w, work.mu, h, work.v1)
        add_scaled(state.v, 1.0, work.v1, state.v)
        advance_positions(system, state.x, state.quat, work.v1, h, state.x, state.quat)
        work.counts[CORRECTIONS] += 1
    return OK if options[RESIDUAL_ACCEPTED] == 1.0 else NOT_CONVERGED


@inline
def step(system, state, t, h, options):
    corrects = options[TOLERANCE] > 0.0 or options[NEWTON] == FULL
    first_order(system, state, t, h, options[INTEGRATOR], state.v, state.lam, corrects)
    if system.accumulates_work == 1:
        accumulate_work(system, state, system.work.J, state.v, state.lam, h)  # (7)
    advance_positions(system, state.x, state.quat, state.v, h, state.x, state.quat)  # (2)
    set_time(system, t + h, state.x, state.quat, state.v)
    if corrects:
        return correct(system, state, t, h, options)
    return OK


METHOD = Method(
    name="implicit_first", source="Hong ICRA 2005 (11)-(16)", style=Style("#56B4E9", SOLID, "o"),
    doc="One linear solve makes the linearised constraints hold at the new time.",
    level="position, linearised", order=1, order_position=2, order_velocity=1, orders={"ab2": 1}, levels=BOTH,
    contacts=("steps",),
    suits={
        "deformables": "cloth and contacts are held implicitly",
        "contacts": "contacts and limits at fixed steps; impacts as they come",
    },
    options=OPTIONS, hooks=Hooks(solver=solver_with(NEWTON)), memory=memory, step=step, shortest=0.5,
)  # fmt: skip
