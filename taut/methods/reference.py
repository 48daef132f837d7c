"""Reference solution: Dormand-Prince of order 8 with error control, projected after each step.

    q̇ = N(q) v,   v̇ = W (f + Jᵀ λ),   J v̇ + γ = 0                              (1)
    y' = y + h Σ b_i k_i,   k_i = f(y + h Σ a_ij k_j, t + c_i h)                (2)
    error from the embedded formulas of order 5 and 3                           (3)
    Φ(q') = 0 and J v' + Φ_t = 0 by projection in the metric of M               (4)

Coefficients and step control: dormand_prince.py. dt is only the interval between records; `tolerance` is
the relative and absolute error allowed per step.

Redundant rows hold along the motion, and contradict each other beside it, where stages stand. Those that depend on
others at the start of a step are kept out of its stages (linalg/singular.py). They must hold at its end as well as all
others; else the rank was lost at the start alone, and the step is tried again with all rows. (4) holds them where it
holds the others; where it does not, they take part in it.

Where J loses rank on the way (a four-bar lying flat) an error ε of Φ is one of ε/s² in the velocity, s being
the smallest singular value of J. There the linear solver fades out what belongs to s (linalg/singular.py), smoothly, so
that steps become small, not too small, and the motion goes on along its branch.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..compiled import compiled, inline
from ..linalg import KEPT_OUT, keep_out
from ..model.arrays import CORRECTIONS, DOUBTFUL_SYSTEMS, DRIVER_WORK, FORCE_WORK
from ..model.evaluate import copy, evaluate_constraints, power_at, set_time, unwrap_angles
from ..model.rotation import normalise, quaternion_rate
from .acceleration import constrained, observe_lagrange
from .base import BOTH, NOT_CONVERGED, OK, ROUNDING, TOLERANCE, TOO_SMALL, Hooks, Method, Option, option_index
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
    size_to_begin,
    size_to_probe,
    sum_of_squares,
)
from .kept_rows import are_rows_alike
from .pace import LOOK, is_stuck, judged
from .post_stabilization import correct, correct_at_most, correct_velocity, project_velocity
from .style import DASHED, Style

OPTIONS = (Option("first_step", 0.0, "first internal step tried [s]; 0: as the start tells", minimum=0.0),)
FIRST_STEP = option_index(OPTIONS, "first_step")
ONE = np.ones(1)
FEW = 5  # corrections without the rows that were kept out; where these are still off after them, they take part


@inline
def slope(system, state, t, k):
    """(1) at the spare configuration 1, into stage k."""
    work = system.work
    constrained(system, t, work.x1, work.quat1, work.v1, 0.0, 0.0, state.lam)
    if system.accumulates_work == 1:
        power_at(system, work.J, work.v1, state.lam, work.stage_power[k])
    for i in range(system.bodies.slots):
        for c in range(3):
            work.stage_v[k, i, c] = work.v1[i, c]
            work.stage_a[k, i, c] = work.a[i, c]
    for i in range(state.quat.shape[0]):
        spin = system.bodies.spin_slot[i]
        rate = quaternion_rate(work.quat1, i, work.v1[spin, 0], work.v1[spin, 1], work.v1[spin, 2])
        for q in range(4):
            work.stage_quat[k, i, q] = rate[q]


@inline
def add_slopes(system, state, h, weights, count, x, quat, v):
    """(2): the state and that many slopes; places on bodies follow from it, and counters stay as they are."""
    work, slots, bodies = system.work, system.bodies.slots, state.quat.shape[0]
    combine(state.x, h, weights, count, slots, work.stage_v, x)
    combine(state.quat, h, weights, count, bodies, work.stage_quat, quat)
    combine(state.v, h, weights, count, slots, work.stage_a, v)


@compiled
def begin_size(system, state, t, tolerance):
    """The step to begin with, after `slope` of the start: dormand_prince.py (4)."""
    work, slots = system.work, system.bodies.slots
    x, v = state.x, state.v
    size = sqrt(sum_of_squares(x, x, slots, tolerance) + sum_of_squares(v, v, slots, tolerance))
    along, pull = work.stage_v[0], work.stage_a[0]
    speed = sqrt(sum_of_squares(x, along, slots, tolerance) + sum_of_squares(v, pull, slots, tolerance))
    probe = size_to_probe(size, speed)
    add_slopes(system, state, probe, ONE, 1, work.x1, work.quat1, work.v1)
    normalise(work.quat1)
    slope(system, state, t + probe, 1)
    for i in range(slots):
        for c in range(3):
            work.x2[i, c] = work.stage_v[1, i, c] - along[i, c]
            work.v2[i, c] = work.stage_a[1, i, c] - pull[i, c]
    change = sqrt(sum_of_squares(x, work.x2, slots, tolerance) + sum_of_squares(v, work.v2, slots, tolerance))
    count = sqrt(6.0 * slots)
    return size_to_begin(probe, speed / count, change / count)


@compiled
def try_step(system, state, t, h, tolerance):
    """(2) and (3): the new state in the second spare configuration and v1; returns the scaled error."""
    work = system.work
    x, quat, v = state.x, state.quat, state.v
    for k in range(1, STAGES):
        add_slopes(system, state, h, A[k], k, work.x1, work.quat1, work.v1)
        normalise(work.quat1)
        slope(system, state, t + C[k] * h, k)
    add_slopes(system, state, h, B, STAGES, work.x2, work.quat2, work.v2)
    slots = system.bodies.slots
    p3, p5 = error_part(x, work.x2, work.stage_v, slots, tolerance)
    q3, q5 = error_part(quat, work.quat2, work.stage_quat, quat.shape[0], tolerance)
    r3, r5 = error_part(v, work.v2, work.stage_a, slots, tolerance)
    return scaled_error(h, p3 + q3 + r3, p5 + q5 + r5, 6.0 * slots + 4.0 * quat.shape[0])


@compiled
def holds_all_rows(system, state, t, rounding):
    """Whether rows that were kept out are off at the new state by no more than others are."""
    work, x, quat, v = system.work, system.work.x2, system.work.quat2, system.work.v2
    if system.linear.state[KEPT_OUT] == 0:
        return True
    for i in range(system.bodies.slots, x.shape[0]):
        x[i, 0] = state.x[i, 0]  # counters
    set_time(system, t, x, quat, v)
    evaluate_constraints(system, t, x, quat, v, False, work.J)
    return are_rows_alike(system, v, rounding)


@compiled
def accept(system, state, t, h, options):
    """(4) and the work of the step to t. Returns a status."""
    work, x, quat, v = system.work, state.x, state.quat, state.v
    for k in range(STAGES):
        state.ledger[DRIVER_WORK] += h * B[k] * work.stage_power[k, 0]  # (2) for work
        state.ledger[FORCE_WORK] += h * B[k] * work.stage_power[k, 1]
    for i in range(system.bodies.slots):
        for c in range(3):
            x[i, c], v[i, c] = work.x2[i, c], work.v2[i, c]
    copy(work.quat2, quat)
    set_time(system, t, x, quat, v)
    if system.turns.shape[0] > 0:
        unwrap_angles(system, x, quat, v)
    work.counts[CORRECTIONS] += 1
    lin, weight, rounding = system.linear, system.bodies.inverse_mass, options[ROUNDING]
    if lin.state[KEPT_OUT] > 0:
        found = correct_at_most(system, state, t, weight, rounding, False, FEW)  # (4)
        if found == OK:
            project_velocity(system, state)
            found = OK if are_rows_alike(system, v, rounding) else NOT_CONVERGED
        lin.state[KEPT_OUT] = 0
        if found == OK:
            return OK
    found = correct(system, state, t, weight, rounding, False)
    if found == OK:
        project_velocity(system, state)
        return OK
    status = judged(system, options, found)
    correct_velocity(system, state, t, False)
    return status


@compiled
def step(system, state, t, h, options):
    work, lin = system.work, system.linear
    end, now = t + h, t
    size = state.memory[0] if state.memory[0] > 0.0 else options[FIRST_STEP]
    careful = False
    tries, mark = 0, t
    while now < end:
        lin.state[KEPT_OUT] = 0
        copy(state.x, work.x1)
        copy(state.quat, work.quat1)
        copy(state.v, work.v1)
        slope(system, state, now, 0)
        if not careful:
            keep_out(lin)
        if size == 0.0:
            size = begin_size(system, state, now, options[TOLERANCE])
        last = now + size * 1.0000001 >= end
        used = end - now if last else size
        doubtful = work.counts[DOUBTFUL_SYSTEMS]
        error = try_step(system, state, now, used, options[TOLERANCE])
        work.counts[DOUBTFUL_SYSTEMS] = doubtful  # stages stand off the constraints, where redundant rows are none
        normalise(work.quat2)
        if not holds_all_rows(system, state, now + used, options[ROUNDING]) and error < 1.0:
            careful = True
        elif error < 1.0:
            now = end if last else now + used
            status = accept(system, state, now, used, options)
            if status != OK:
                return status
            size, careful = size_after_success(error, used, size, last), False
        else:
            size = size_after_failure(error, used)
        tries += 1
        if is_stuck(size, now, tries, mark, h):
            lin.state[KEPT_OUT] = 0
            return TOO_SMALL
        if tries % LOOK == 0:
            mark = now
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
