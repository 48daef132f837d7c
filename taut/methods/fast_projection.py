"""Fast projection: an unconstrained step, then Newton steps back to Φ = 0.

    v* = v + h W f,   q₀ = q ⊞ h v*                                             (1)
    h² (J W Jᵀ) δλ = -Φ(q_j, t+h),   q_{j+1} = q_j ⊞ h² W Jᵀ δλ                 (2)
    v' = (q' - q)/h,   λ = Σ δλ                                                 (3)
    h² (J_j W J₀ᵀ) δλ = -Φ(q_j, t+h),   q_{j+1} = q_j ⊞ h² W J₀ᵀ δλ             (4)  in place of (2) with newton="full"

    h (A(q_j) v_j + b) in place of Φ(q_j)                                       (5)  of conditions on velocities

J is taken anew at each q_j. (4) projects along J(q₀)ᵀ alone, for which it is Newton's exact iteration (full_newton.py);
where it does not halve |Φ|, (2) takes over. Goldenthal et al. 2007, named in COL865 and in Hong 2008 [14].
"""

from __future__ import annotations

from ..compiled import compiled
from ..model.applied_forces import free_accelerations
from ..model.arrays import CORRECTIONS, DRIVER_WORK, FORCE_WORK
from ..model.constraint_rows import evaluate_constraints
from ..model.driver_work import find_drift, impulse_power, power_against_forces
from ..model.instant import set_time
from ..model.jacobian import add_slip, apply_multipliers, solve
from ..model.slot_vectors import add_scaled, advance_positions, clear, copy, largest
from .base import BOTH, MOST_CORRECTIONS, NOT_CONVERGED, OK, RESIDUAL_ACCEPTED, TOLERANCE, Hooks, Method, option_index
from .full_newton import FULL, solve_pair, solver_with, take_back
from .full_newton import OPTION as NEWTON_OPTION
from .style import DOTTED, Style

OPTIONS = (NEWTON_OPTION,)
NEWTON = option_index(OPTIONS, "newton")


@compiled
def step(system, state, t, h, options):
    work, w = system.work, system.bodies.inverse_mass
    x, quat, v, lam = state.x, state.quat, state.v, state.lam
    free_accelerations(system, t, x, quat, v)
    if system.accumulates_work == 1:
        state.ledger[DRIVER_WORK] += h * power_against_forces(system, v)
        state.ledger[FORCE_WORK] += h * work.power[0]
    add_scaled(v, h, work.a, v)
    advance_positions(system, x, quat, v, h, x, quat)  # (1)
    set_time(system, t + h, x, quat, v)
    for r in range(lam.shape[0]):
        lam[r] = 0.0
    full = options[NEWTON] == FULL
    last = -1.0
    for _ in range(MOST_CORRECTIONS):
        evaluate_constraints(system, t + h, x, quat, v, False, work.J)
        if system.nonholonomic == 1:
            add_slip(system, work.J, work.phi_t, v, h)  # (5)
        error = largest(work.phi)
        if error <= options[TOLERANCE]:
            return OK
        exact = full and error <= 0.5 * last
        worse = full and last >= 0.0 and error > last
        full = full and (exact or last < 0.0)
        last = error
        for r in range(lam.shape[0]):
            work.b[r] = -work.phi[r] / (h * h)
        if exact:
            solve_pair(system, work.J, work.J2, work.b, work.mu)  # (4)
        elif worse:
            take_back(system, work.J2, work.mu)
        else:
            copy(work.J, work.J2)
            solve(system, work.J, w, work.b, work.mu)
        if system.accumulates_work == 1:
            find_drift(system, work.J, v)
            state.ledger[DRIVER_WORK] += h * impulse_power(system, work.mu)
        clear(work.v1)
        apply_multipliers(system, work.J2, w, work.mu, h, work.v1)
        advance_positions(system, x, quat, work.v1, h, x, quat)  # (2), (4)
        add_scaled(v, 1.0, work.v1, v)  # (3)
        for r in range(lam.shape[0]):
            lam[r] += work.mu[r]
        work.counts[CORRECTIONS] += 1
    return OK if options[RESIDUAL_ACCEPTED] == 1.0 else NOT_CONVERGED


METHOD = Method(
    name="fast_projection", source="Goldenthal et al. 2007; COL865", style=Style("#882255", DOTTED, "X"),
    doc="An unconstrained step projected onto the constraints by Newton's method.",
    level="position", order=1, order_velocity=1, levels=BOTH, contacts=("events", "steps"),
    tolerance=1e-9, options=OPTIONS, hooks=Hooks(solver=solver_with(NEWTON)), step=step,
    solves="3 to 6",
)  # fmt: skip
