"""Radau IIA of order 5 with error control, projected after each step: small errors where forces are stiff.

    y' = y + h Σ b_i k_i, with the stages of radau_stages.py, of which y' is the last                   (1)
    d = N v₀ + Σ e_i N V_i,   g = v̇₀ + Σ e_i K_i                                                       (2)
    error of v from radau_stages.py (4) for the real μ, with r = z (g + z P T_q d);  of q: z (error of v + d)   (3)
    Φ(q') = 0 and J v' + Φ_t = 0 by projection in the metric of M                                       (4)
    next step = 0.9 h error^{-1/4} (2n + 1)/(2n + rounds), within 0.2 h and 8 h, n = MOST_ROUNDS        (5)

It is stiffly accurate and damps what it does not resolve, so that stiffness does not dictate the step. (2) and (3) are
the embedded formula of order 3 of Hairer and Wanner 1996, IV.8, filtered by the matrix of the step; where it asks for
a shorter step, v̇₀ is looked at once more, next to the start by that error. (5) without a factor between 1 and 1.2, so
that matrices are kept. dt is only the interval between records; `tolerance` is the relative and absolute error allowed
per step.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure
from ..model.arrays import CORRECTIONS, DRIVER_WORK, FORCE_WORK, LINEAR_SOLVES, Array, State, System
from ..model.evaluate import add_scaled, advance_positions, copy, set_time, unwrap_angles
from ..model.model import Model
from .acceleration import constrained, observe_lagrange
from .base import BOTH, OK, ROUNDING, TOLERANCE, TOO_SMALL, Hooks, Method, Option, option_index
from .pace import LOOK, is_stuck, judged
from .post_stabilization import correct, correct_velocity
from .radau_stages import (
    LEFT,
    MU,
    QUAT,
    REAL,
    STAGE_ARRAYS,
    START,
    A,
    B,
    C,
    K,
    Newton,
    V,
    configuration,
    improve,
    left_over,
    place_stages,
    plan_newton,
    renew_factors,
    renew_forces,
    solve_real,
)
from .style import DASHED, Style
from .tangent import plan_tangent

OPTIONS = (Option("first_step", 1e-3, "first internal step tried [s]", minimum=1e-12),)
FIRST_STEP = option_index(OPTIONS, "first_step")
_s = sqrt(6.0)
E = np.array([-13 - 7 * _s, -13 + 7 * _s, -1.0]) / 3.0 @ A  # e of (2)
MOST_ROUNDS = 10
SLOW = 0.05  # a rate of convergence above which T is found anew


@structure
class Radau(NamedTuple):
    """What the step gets as `options`: the numbers of options.py, and Newton's matrices."""

    options: Array
    newton: Newton


def prepare(model: Model, system: System, state: State, options: Array) -> tuple[State, Radau]:
    return state, Radau(options, plan_newton(plan_tangent(model)))


@compiled
def predict(work, quat, ratio):
    """K_i from the parabola through those of the step before, which was 1/ratio as long; 0: v̇ of the start."""
    for p in range(work.stage_a.shape[1]):
        for c in range(3):
            one, two, three = work.stage_a[K, p, c], work.stage_a[K + 1, p, c], work.stage_a[K + 2, p, c]
            for i in range(3):
                s = 1.0 + ratio * C[i]
                new = one * (s - C[1]) * (s - C[2]) / ((C[0] - C[1]) * (C[0] - C[2]))
                new += two * (s - C[0]) * (s - C[2]) / ((C[1] - C[0]) * (C[1] - C[2]))
                new += three * (s - C[0]) * (s - C[1]) / ((C[2] - C[0]) * (C[2] - C[1]))
                work.stage_a[K + i, p, c] = new if ratio > 0.0 else work.stage_a[START, p, c]
    for i in range(3):
        copy(quat, work.stage_quat[QUAT + i])


@inline
def scaled(value, y, tolerance):
    return (value / (tolerance * (1.0 + abs(y)))) ** 2


@compiled
def converge(system, state, t, h, tolerance, newton):
    """Newton's method for the stages. Returns the rounds taken, or 0, and how much one of them left of the error."""
    work, slots = system.work, system.bodies.slots
    enough = max(1e-15 / tolerance, min(0.03, sqrt(tolerance)))
    last, rate = 0.0, 0.0
    for rounds in range(1, MOST_ROUNDS + 1):
        place_stages(system, state, h)
        left_over(system, state, t, h)
        improve(system, newton)
        work.counts[LINEAR_SOLVES] += 2
        total = 0.0
        for i in range(3):
            for p in range(slots):
                for c in range(3):
                    total += scaled(h * work.stage_a[LEFT + i, p, c], state.v[p, c], tolerance)
        size = sqrt(total / (9.0 * slots))
        if not size < 1e300:
            return 0, 1.0
        if rounds > 1:
            rate = size / last
            if rate >= 1.0 or rate ** (MOST_ROUNDS - rounds) / (1.0 - rate) * size > enough:
                return 0, rate
        if size == 0.0 or (rounds > 1 and rate / (1.0 - rate) * size < enough):
            return rounds, rate
        last = size
    return 0, rate


@compiled
def filtered_error(system, state, h, tolerance, newton, v0):
    """(3), scaled, of v̇ in stage_a[0] and velocities v0 at the start; the errors stay in stage_v[REAL] and v2."""
    work, tangent, z = system.work, newton.tangent, h * MU
    part, near, slots = work.stage_v[REAL], work.v2, system.bodies.slots
    for p in range(part.shape[0]):
        for c in range(3):
            one, two, three = work.stage_a[K, p, c], work.stage_a[K + 1, p, c], work.stage_a[K + 2, p, c]
            part[p, c] = z * (work.stage_a[0, p, c] + E[0] * one + E[1] * two + E[2] * three)  # (2)
            one, two, three = work.stage_v[V, p, c], work.stage_v[V + 1, p, c], work.stage_v[V + 2, p, c]
            near[p, c] = v0[p, c] + E[0] * one + E[1] * two + E[2] * three
    for k in range(tangent.column.shape[0]):
        u = tangent.column[k]
        for e in range(tangent.first[k], tangent.first[k + 1]):
            tangent.right[tangent.entry[e]] += z * z * newton.by_place[e] * near[tangent.slot[u], tangent.axis[u]]
    solve_real(system, newton, part)  # (3)
    total = 0.0
    for p in range(slots):
        for c in range(3):
            near[p, c] = z * (part[p, c] + near[p, c])
            total += scaled(part[p, c], max(abs(state.v[p, c]), abs(work.stage_v[V + 2, p, c])), tolerance)
            total += scaled(near[p, c], state.x[p, c], tolerance)
    return sqrt(total / (6.0 * slots))


@compiled
def estimate(system, state, t, h, tolerance, newton, wary):
    """The scaled error of the step; `wary`: looked at once more where it is too large."""
    work = system.work
    copy(work.stage_a[START], work.stage_a[0])
    error = filtered_error(system, state, h, tolerance, newton, state.v)
    if error < 1.0 or not wary or not error < 1e300:
        return error
    advance_positions(system, state.x, state.quat, work.v2, 1.0, work.x1, work.quat1)
    add_scaled(state.v, 1.0, work.stage_v[REAL], work.v1)
    constrained(system, t, work.x1, work.quat1, work.v1, 0.0, 0.0, state.lam)
    copy(work.a, work.stage_a[0])
    return filtered_error(system, state, h, tolerance, newton, work.v1)


@compiled
def accept(system, state, t, h, options):
    """(1) and (4): the last stage, projected, is the new state at t. Returns a status."""
    work = system.work
    for i in range(3):
        state.ledger[DRIVER_WORK] += h * B[i] * work.stage_power[i, 0]
        state.ledger[FORCE_WORK] += h * B[i] * work.stage_power[i, 1]
    place_stages(system, state, h)
    configuration(state, work, h, 2)
    copy(work.x1, state.x)
    copy(work.quat1, state.quat)
    copy(work.v1, state.v)
    set_time(system, t, state.x, state.quat, state.v)
    if system.turns.shape[0] > 0:
        unwrap_angles(system, state.x, state.quat, state.v)
    found = correct(system, state, t, system.bodies.inverse_mass, options[ROUNDING], False)
    status = judged(system, options, found)
    correct_velocity(system, state, t, False)
    work.counts[CORRECTIONS] += 1
    return status


@compiled
def step(system, state, t, h, radau):
    work, options, newton = system.work, radau.options, radau.newton
    end, now = t + h, t
    size = state.memory[0] if state.memory[0] > 0.0 else min(h, options[FIRST_STEP])
    factored = before = 0.0  # steps of the matrices, and of the K_i that are known
    stale, current, wary = True, False, True
    tries, mark = 0, t
    while now < end:
        last = now + size * 1.0000001 >= end
        used = end - now if last else size
        constrained(system, now, state.x, state.quat, state.v, 0.0, 0.0, state.lam)
        copy(work.a, work.stage_a[START])
        if stale:
            renew_forces(system, newton, now, state.x, state.quat, state.v)
            current = True
        if stale or used != factored:
            renew_factors(system, newton, used)
            factored = used
        stale = False
        predict(work, state.quat, used / before if before > 0.0 else 0.0)
        rounds, rate = converge(system, state, now, used, options[TOLERANCE], newton)
        before = 0.0
        if rounds == 0:
            stale, size = not current, used if not current else 0.5 * used
        else:
            error = estimate(system, state, now, used, options[TOLERANCE], newton, wary)
            factor = 0.9 * (2.0 * MOST_ROUNDS + 1.0) / (2.0 * MOST_ROUNDS + rounds)
            factor = max(0.2, min(8.0, factor * max(error, 1e-10) ** -0.25 if error < 1e300 else 0.2))  # (5)
            wary = not error < 1.0
            if wary:
                size = factor * used
            else:
                status = accept(system, state, end if last else now + used, used, options)
                if status != OK:
                    return status
                now = end if last else now + used
                before, current, stale = used, False, rate > SLOW
                if last:
                    size = max(size, factor * used)
                elif stale or not 1.0 <= factor <= 1.2:
                    size = factor * used
        tries += 1
        if is_stuck(size, now, tries, mark, h):
            return TOO_SMALL
        if tries % LOOK == 0:
            mark = now
    state.memory[0] = size
    return OK


METHOD = Method(
    name="radau", source="Hairer and Wanner 1996", style=Style("#7A7A00", DASHED, "x"),
    doc="Order 5 with error control, implicit in the forces: small errors where springs and dampers are stiff.",
    level="position and velocity", order=5, levels=BOTH, contacts=("events",),
    tolerance=1e-8, options=OPTIONS, memory=lambda model: 1, stages=STAGE_ARRAYS, step=step, adaptive=True,
    shortest=1e-9,
    solves="10 to 30 per internal step",
    hooks=Hooks(
        observe=observe_lagrange, prepare=prepare,
        remedy="dt is only the interval between records: try a larger tolerance, or a method with a fixed step such as "
               "generalized_alpha.",
    ),
)  # fmt: skip
