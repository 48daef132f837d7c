"""Methods at acceleration level: an acceleration a(q, v, t), and a base integrator to follow it.

    explicit Euler        q' = q ⊞ h v,    v' = v + h a                                      (1)
    symplectic Euler      v' = v + h a,    q' = q ⊞ h v'                                     (2)
    Adams-Bashforth 2     v' = v + h (3 a - a₋)/2,    q' = q ⊞ h (3 v - v₋)/2                (3)
    Runge-Kutta 4         the classical four stages                                          (4)

The work of drivers and of forces without potential are further unknowns, Ẇ = P, followed like the others.

Adams-Bashforth starts with one step of (1). The Hong-Welch-Choi paper prints its velocity update without
the factor ½ and moves positions with v'; (3) is the scheme itself, of second order in both.
`accelerate` is bound by each method: `specialise` compiles one copy of `step` per method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from ..compiled import compiled, inline, on_demand, specialise
from ..linalg import KEPT_OUT
from ..model.applied_forces import free_accelerations, set_driven_accelerations
from ..model.arrays import DRIVER_WORK, FORCE_WORK, State, System
from ..model.constraint_rows import evaluate_constraints
from ..model.driver_work import power_at
from ..model.instant import set_time
from ..model.jacobian import constrain, jacobian_times
from ..model.rotation import normalise, quaternion_rate
from ..model.slot_vectors import add_scaled, advance_positions, copy
from .base import BOTH, FIRST_OPTION, ROUNDING, Hooks, Method, Option
from .kept_rows import REMEMBERED, are_rows_alike, keep_out_agreeing, recall_kept, remember_kept, still_depend
from .slope_kernels import add_weighted

INTEGRATORS = ("euler", "symplectic", "ab2", "rk4")
EULER, SYMPLECTIC, AB2, RK4 = range(4)
ORDERS = {"euler": 1, "symplectic": 1, "ab2": 2, "rk4": 4}
STAGES = 4
SIXTHS, ONE = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0, np.ones(1)
INTEGRATOR = FIRST_OPTION  # of methods at acceleration level the integrator is the first option


def integrator_option(default: str) -> Option:
    return Option("integrator", default, "base integrator", INTEGRATORS)


def memory(model) -> int:
    """Of the step before: whether there was one, v and a, and both kinds of power; rows that are kept out."""
    return 3 + 6 * len(model.x) + REMEMBERED


def step_of(name: str, accelerate: Callable, four_stages: Callable | None = None) -> Callable:
    """`step` with the acceleration of one method, compiled under its name."""
    one, four = stages_of(name, four_stages, accelerate=accelerate)
    return specialise(step, f"step_{name}", compiled, runge_kutta=four, one_stage=one)


def stages_of(name: str, four_stages: Callable | None = None, **words: Callable) -> tuple[Any, Any]:
    """`one_stage` and `runge_kutta` with the given `accelerate`, and with other `power` and `integrator_of`."""
    one = specialise(one_stage, f"one_stage_{name}", on_demand(types.none), **words)
    each = specialise(stage, f"stage_{name}", compiled, **words)
    slopes = specialise(every_stage, f"every_stage_{name}", compiled, stage=each)
    if four_stages is not None:
        slopes = specialise(four_stages, f"four_stages_{name}", compiled, stage=each, every_stage=slopes)
    return one, specialise(runge_kutta, f"runge_kutta_{name}", on_demand(types.none), every_stage=slopes)


def at_acceleration_level(name: str, options: tuple[Option, ...], **declared: Any) -> Method:
    """A method whose step is that of `step_of`, or begins with it; options[0] is its integrator."""
    integrator = options[0].default
    usual: dict[str, Any] = {
        "level": "acceleration", "order": ORDERS[integrator], "order_position": ORDERS[integrator],
        "order_velocity": ORDERS[integrator], "orders": {k: n for k, n in ORDERS.items() if k != integrator},
        "takes_tolerance": False, "hooks": Hooks(observe=observe_lagrange), "levels": BOTH,
    }  # fmt: skip
    return Method(name=name, options=options, memory=memory, stages=STAGES, **(usual | declared))


@compiled
def constrained(system: System, t, x, quat, v, alpha, beta, lam):
    """Accelerations with d²Φ/dt² + 2α dΦ/dt + β² Φ = 0, into work.a; α = β = 0 is plain Lagrange."""
    work = system.work
    set_time(system, t, x, quat, v)
    evaluate_constraints(system, t, x, quat, v, True, work.J)
    free_accelerations(system, t, x, quat, v)
    set_driven_accelerations(system)
    for r in range(work.b.shape[0]):
        work.b[r] = work.gamma[r]
    if alpha != 0.0 or beta != 0.0:
        jacobian_times(system, work.J, v, work.mu)
        for r in range(work.b.shape[0]):
            work.b[r] += 2.0 * alpha * (work.mu[r] + work.phi_t[r]) + beta * beta * work.phi[r]
    constrain(system, work.J, system.bodies.inverse_mass, 1.0, work.a, 1.0, lam, True)


def accelerate(system: System, t, x, quat, v, options, lam):
    """Bound by each method: fill work.a with the acceleration at (q, v, t), and lam."""
    raise NotImplementedError


@inline
def power(system: System, v, options, lam, out):
    """Of drivers and forces at the instant of the last `accelerate` [W]."""
    power_at(system, system.work.J, v, lam, out)


@compiled
def observe_lagrange(system: System, state: State, t, options, lam):
    constrained(system, t, state.x, state.quat, state.v, 0.0, 0.0, lam)


@inline
def integrator_of(options):
    return int(options[INTEGRATOR])


def step(system: System, state: State, t, h, options):
    if integrator_of(options) == RK4:
        runge_kutta(system, state, t, h, options)
    else:
        one_stage(system, state, t, h, options)
    return 0


def one_stage(system: System, state: State, t, h, options):
    """(1), (2) or (3)."""
    work = system.work
    x, quat, v, memory_ = state.x, state.quat, state.v, state.memory
    integrator = integrator_of(options)
    points = x.shape[0]
    accelerate(system, t, x, quat, v, options, state.lam)
    now = work.stage_power[0]
    if system.accumulates_work == 1:
        power(system, v, options, state.lam, now)
    before = 0.0
    if integrator == EULER or (integrator == AB2 and memory_[0] == 0.0):
        copy(v, work.v1)
        add_scaled(v, h, work.a, v)  # (1)
        advance_positions(system, x, quat, work.v1, h, x, quat)
    elif integrator == SYMPLECTIC:
        add_scaled(v, h, work.a, v)  # (2)
        advance_positions(system, x, quat, v, h, x, quat)
        copy(v, work.v1)
    else:
        for i in range(points):
            for c in range(3):
                k = 1 + 6 * i + c
                work.v1[i, c] = v[i, c]
                work.v2[i, c] = 1.5 * v[i, c] - 0.5 * memory_[k]
                v[i, c] += h * (1.5 * work.a[i, c] - 0.5 * memory_[k + 3])  # (3)
        advance_positions(system, x, quat, work.v2, h, x, quat)
        before = 0.5
    for k in range(2):
        kept = 1 + 6 * points + k
        state.ledger[k] += h * ((1.0 + before) * now[k] - before * memory_[kept])
        memory_[kept] = now[k]
    if integrator == AB2:
        memory_[0] = 1.0
        for i in range(points):
            for c in range(3):
                memory_[1 + 6 * i + c] = work.v1[i, c]
                memory_[4 + 6 * i + c] = work.a[i, c]
    set_time(system, t + h, x, quat, v)


def runge_kutta(system: System, state: State, t, h, options):
    """(4), from the slopes of the four stages."""
    work = system.work
    every_stage(system, state, t, h, options)
    slots, bodies = system.bodies.slots, state.quat.shape[0]
    add_weighted(state.x, h, SIXTHS, STAGES, slots, work.stage_v, state.x)
    add_weighted(state.v, h, SIXTHS, STAGES, slots, work.stage_a, state.v)
    add_weighted(state.quat, h, SIXTHS, STAGES, bodies, work.stage_quat, state.quat)
    normalise(state.quat)
    for k in range(STAGES):
        state.ledger[DRIVER_WORK] += h * SIXTHS[k] * work.stage_power[k, 0]
        state.ledger[FORCE_WORK] += h * SIXTHS[k] * work.stage_power[k, 1]
    set_time(system, t + h, state.x, state.quat, state.v)


def every_stage(system: System, state: State, t, h, options):
    """The slopes of (4)."""
    for k in range(STAGES):
        stage(system, state, t, h, k, options)


def stages_without_redundant_rows(system: System, state: State, t, h, options):
    """The same by λ, without rows that depend on others (kept_rows.py)."""
    lin, at = system.linear, state.memory.shape[0] - REMEMBERED
    rounding = options[ROUNDING]
    recall_kept(lin, state.memory, at)
    stage(system, state, t, h, 0, options)
    if lin.state[KEPT_OUT] > 0 and not still_depend(system, rounding):
        lin.state[KEPT_OUT] = 0
        stage(system, state, t, h, 0, options)
    keep_out_agreeing(system, rounding)
    for k in range(1, STAGES):
        stage(system, state, t, h, k, options)
    if lin.state[KEPT_OUT] > 0 and not are_rows_alike(system, system.work.v1, rounding):
        lin.state[KEPT_OUT] = 0
        every_stage(system, state, t, h, options)
    remember_kept(lin, state.memory, at)


def stage(system: System, state: State, t, h, k, options):
    """The slopes of stage k, which stands at t + c h and starts from those of stage k - 1."""
    work, bodies, slots = system.work, system.bodies, system.bodies.slots
    x, quat, v = state.x, state.quat, state.v
    c = 0.0 if k == 0 else (1.0 if k == 3 else 0.5)
    if k == 0:
        copy(x, work.x1)
        copy(v, work.v1)
        copy(quat, work.quat1)
    else:  # places on bodies follow from these, and counters stay as they are
        add_weighted(x, c * h, ONE, 1, slots, work.stage_v[k - 1 : k], work.x1)
        add_weighted(v, c * h, ONE, 1, slots, work.stage_a[k - 1 : k], work.v1)
        add_weighted(quat, c * h, ONE, 1, quat.shape[0], work.stage_quat[k - 1 : k], work.quat1)
        normalise(work.quat1)
    accelerate(system, t + c * h, work.x1, work.quat1, work.v1, options, state.lam)
    if system.accumulates_work == 1:
        power(system, work.v1, options, state.lam, work.stage_power[k])
    for i in range(slots):
        for d in range(3):
            work.stage_v[k, i, d] = work.v1[i, d]
            work.stage_a[k, i, d] = work.a[i, d]
    for i in range(quat.shape[0]):
        spin = bodies.spin_slot[i]
        rate = quaternion_rate(work.quat1, i, work.v1[spin, 0], work.v1[spin, 1], work.v1[spin, 2])
        for q in range(4):
            work.stage_quat[k, i, q] = rate[q]
