"""Fast projection: an unconstrained step, then Newton steps back to Φ = 0.

    v* = v + h W f,   q₀ = q ⊞ h v*                                             (1)
    h² (J W Jᵀ) δλ = -Φ(q_j, t+h),   q_{j+1} = q_j ⊞ h² W Jᵀ δλ                 (2)
    v' = (q' - q)/h,   λ = Σ δλ                                                 (3)

    h (A(q_j) v_j + b) in place of Φ(q_j)                                       (4)  of conditions on velocities

J is taken anew at each q_j. Goldenthal et al. 2007, named in COL865 and in Hong 2008 [14].
"""

from __future__ import annotations

from ..compiled import compiled
from ..model.arrays import CORRECTIONS
from ..model.evaluate import (
    add_scaled,
    add_slip,
    clear,
    constraints,
    find_drift,
    forces,
    impulse_power,
    largest,
    move,
    power_against_forces,
    push,
    set_time,
    solve,
)
from .base import BOTH, MOST_CORRECTIONS, NOT_CONVERGED, OK, Method
from .style import DOTTED, Style


@compiled
def step(system, state, t, h, par):
    work, w = system.work, system.bodies.w
    x, quat, v, lam = state.x, state.quat, state.v, state.lam
    forces(system, t, x, quat, v)
    if system.counted == 1:
        state.ledger[0] += h * power_against_forces(system, v)
        state.ledger[1] += h * work.power[0]
    add_scaled(v, h, work.a, v)
    move(system, x, quat, v, h, x, quat)  # (1)
    set_time(system, t + h, x, quat, v)
    for r in range(lam.shape[0]):
        lam[r] = 0.0
    for _ in range(MOST_CORRECTIONS):
        constraints(system, t + h, x, quat, v, False, work.J)
        if system.nonholonomic == 1:
            add_slip(system, work.J, work.phi_t, v, h)  # (4)
        if largest(work.phi) <= par[0]:
            return OK
        for r in range(lam.shape[0]):
            work.b[r] = -work.phi[r] / (h * h)
        solve(system, work.J, w, work.b, work.mu)
        if system.counted == 1:
            find_drift(system, work.J, v)
            state.ledger[0] += h * impulse_power(system, work.mu)
        clear(work.v1)
        push(system, work.J, w, work.mu, h, work.v1)
        move(system, x, quat, work.v1, h, x, quat)  # (2)
        add_scaled(v, 1.0, work.v1, v)  # (3)
        for r in range(lam.shape[0]):
            lam[r] += work.mu[r]
        work.counts[CORRECTIONS] += 1
    return OK if par[1] == 1.0 else NOT_CONVERGED


METHOD = Method(
    name="fast_projection",
    doc="An unconstrained step projected onto the constraints by Newton's method.",
    source="Goldenthal et al. 2007; COL865",
    style=Style("#882255", DOTTED, "X"),
    level="position",
    order=1,
    order_position=None,
    order_velocity=1,
    step=step,
    tolerance=1e-9,
    solves="3 to 6",
    levels=BOTH,
)
