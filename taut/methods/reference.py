"""Reference solution: Dormand-Prince of order 8 with error control, projected after each step.

    q̇ = N(q) v,   v̇ = W (f + Jᵀ λ),   J v̇ + γ = 0                              (1)
    y' = y + h Σ b_i k_i,   k_i = f(y + h Σ a_ij k_j, t + c_i h)                (2)
    error from the embedded formulas of order 5 and 3                           (3)
    Φ(q') = 0 and J v' + Φ_t = 0 by projection in the metric of M               (4)

Coefficients and step control: dormand_prince.py. dt is only the interval between records; `tolerance` is
the relative and absolute error allowed per step.

Where J loses rank on the way (a four-bar lying flat) an error ε of Φ is one of ε/s² in the velocity, s being
the smallest singular value of J. There the linear solver fades out what belongs to s (linalg/singular.py), smoothly, so
that steps become small, not too small, and the motion goes on along its branch.
"""

from __future__ import annotations

from ..compiled import compiled, inline
from ..model.arrays import CORRECTIONS, DRIVER_WORK, FORCE_WORK
from ..model.evaluate import copy, count_turns, power_at, set_time
from ..model.rotation import normalise, quaternion_rate
from .acceleration import constrained, observe_lagrange
from .base import BOTH, OK, ROUNDING, TOLERANCE, TOO_SMALL, Hooks, Method, Option, option_index
from .dormand_prince import (
    STAGES,
    A,
    B,
    C,
    combine,
    error_part,
    scaled_error,
    size_after_failure,
    size_after_success,
)
from .post_stabilization import correct, correct_velocity
from .style import DASHED, Style

OPTIONS = (Option("first_step", 1e-3, "first internal step tried [s]", minimum=1e-12),)
FIRST_STEP = option_index(OPTIONS, "first_step")


@inline
def slope(system, state, t, k):
    """(1) at the spare configuration 1, into stage k."""
    work = system.work
    constrained(system, t, work.x1, work.quat1, work.v1, 0.0, 0.0, state.lam)
    if system.counted == 1:
        power_at(system, work.J, work.v1, state.lam, work.stage_power[k])
    copy(work.v1, work.stage_v[k])
    copy(work.a, work.stage_a[k])
    for i in range(state.quat.shape[0]):
        spin = system.bodies.spin_slot[i]
        rate = quaternion_rate(work.quat1, i, work.v1[spin, 0], work.v1[spin, 1], work.v1[spin, 2])
        for q in range(4):
            work.stage_quat[k, i, q] = rate[q]


@compiled
def try_step(system, state, t, h, tolerance):
    """(2) and (3): the new state in the second spare configuration and v1; returns the scaled error."""
    work = system.work
    x, quat, v = state.x, state.quat, state.v
    for k in range(1, STAGES):
        combine(x, h, A[k], k, work.stage_v, work.x1)
        combine(quat, h, A[k], k, work.stage_quat, work.quat1)
        combine(v, h, A[k], k, work.stage_a, work.v1)
        normalise(work.quat1)
        slope(system, state, t + C[k] * h, k)
    combine(x, h, B, STAGES, work.stage_v, work.x2)
    combine(quat, h, B, STAGES, work.stage_quat, work.quat2)
    combine(v, h, B, STAGES, work.stage_a, work.v2)
    slots = system.bodies.slots
    p3, p5 = error_part(x, work.x2, work.stage_v, slots, tolerance)
    q3, q5 = error_part(quat, work.quat2, work.stage_quat, quat.shape[0], tolerance)
    r3, r5 = error_part(v, work.v2, work.stage_a, slots, tolerance)
    return scaled_error(h, p3 + q3 + r3, p5 + q5 + r5, 6.0 * slots + 4.0 * quat.shape[0])


@compiled
def step(system, state, t, h, options):
    work = system.work
    x, quat, v = state.x, state.quat, state.v
    end = t + h
    now = t
    size = state.memory[0] if state.memory[0] > 0.0 else min(h, options[FIRST_STEP])
    while now < end:
        last = now + size * 1.0000001 >= end
        used = end - now if last else size
        copy(x, work.x1)
        copy(quat, work.quat1)
        copy(v, work.v1)
        slope(system, state, now, 0)
        error = try_step(system, state, now, used, options[TOLERANCE])
        if error < 1.0:
            for k in range(STAGES):
                state.ledger[DRIVER_WORK] += used * B[k] * work.stage_power[k, 0]  # (2) for work
                state.ledger[FORCE_WORK] += used * B[k] * work.stage_power[k, 1]
            copy(work.x2, x)
            copy(work.quat2, quat)
            copy(work.v2, v)
            normalise(quat)
            now = end if last else now + used
            set_time(system, now, x, quat, v)
            if system.turns.shape[0] > 0:
                count_turns(system, x, quat, v)
            correct(system, state, now, system.bodies.inverse_mass, options[ROUNDING], False)  # (4)
            correct_velocity(system, state, now, False)
            work.counts[CORRECTIONS] += 1
            size = size_after_success(error, used, size, last)
        else:
            size = size_after_failure(error, used)
            if size < 1e-14 * max(1.0, abs(now)):
                return TOO_SMALL
    state.memory[0] = size
    return OK


METHOD = Method(
    name="reference", source="Hairer, Nørsett and Wanner 1993", style=Style("#000000", DASHED, "."),
    doc="Order 8 with error control and projection of positions and velocities: the yardstick for smooth scenes.",
    level="position and velocity", order=8, levels=BOTH, contacts=("events",),
    tolerance=1e-12, options=OPTIONS, memory=lambda model: 1, stages=STAGES, step=step, adaptive=True,
    suits={"fast": "its step adapts to the fastest motion", "judging": "smooth scenes"}, shortest=1e-9,
    solves="14 per internal step",
    hooks=Hooks(
        observe=observe_lagrange,
        remedy="dt is only the interval between records: try a larger tolerance, or a method with a fixed step such as "
               "rattle_fourth.",
    ),
)  # fmt: skip
