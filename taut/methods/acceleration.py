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

from numba import types

from ..compiled import compiled, inline, on_demand, specialise
from ..model.applied_forces import free_accelerations, set_driven_accelerations
from ..model.arrays import DRIVER_WORK, FORCE_WORK, State, System
from ..model.constraint_rows import evaluate_constraints
from ..model.driver_work import power_at
from ..model.instant import set_time
from ..model.jacobian import constrain, jacobian_times
from ..model.rotation import normalise, quaternion_rate
from ..model.slot_vectors import add_scaled, advance_positions, copy
from .base import BOTH, FIRST_OPTION, Hooks, Method, Option

INTEGRATORS = ("euler", "symplectic", "ab2", "rk4")
EULER, SYMPLECTIC, AB2, RK4 = range(4)
ORDERS = {"euler": 1, "symplectic": 1, "ab2": 2, "rk4": 4}
STAGES = 4
INTEGRATOR = FIRST_OPTION  # of methods at acceleration level the integrator is the first option


def integrator_option(default: str) -> Option:
    return Option("integrator", default, "base integrator", INTEGRATORS)


def memory(model) -> int:
    """Of the step before: whether there was one, v and a, and both kinds of power."""
    return 3 + 6 * len(model.x)


def step_of(name: str, accelerate: Callable) -> Callable:
    """`step` with the acceleration of one method, compiled under its name."""
    one, four = stages_of(name, accelerate=accelerate)
    return specialise(step, f"step_{name}", compiled, runge_kutta=four, one_stage=one)


def stages_of(name: str, **words: Callable) -> tuple[Any, Any]:
    """`one_stage` and `runge_kutta` with the given `accelerate`, and with other `power` and `integrator_of`."""
    one = specialise(one_stage, f"one_stage_{name}", on_demand(types.none), **words)
    each = specialise(stage, f"stage_{name}", compiled, **words)
    return one, specialise(runge_kutta, f"runge_kutta_{name}", on_demand(types.none), stage=each)


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
    for k in range(4):
        stage(system, state, t, h, k, options)
    combine(state.x, h, work.stage_v)
    combine(state.v, h, work.stage_a)
    combine(state.quat, h, work.stage_quat)
    normalise(state.quat)
    for k in range(4):
        weight = h / 6.0 if k == 0 or k == 3 else h / 3.0
        state.ledger[DRIVER_WORK] += weight * work.stage_power[k, 0]
        state.ledger[FORCE_WORK] += weight * work.stage_power[k, 1]
    set_time(system, t + h, state.x, state.quat, state.v)


@inline
def combine(values, h, slopes):
    outer, inner = h / 6.0, h / 3.0
    first, second, third, fourth = slopes[0], slopes[1], slopes[2], slopes[3]
    for i in range(values.shape[0]):
        for c in range(values.shape[1]):
            values[i, c] = (
                values[i, c] + outer * first[i, c] + inner * second[i, c] + inner * third[i, c] + outer * fourth[i, c]
            )


def stage(system: System, state: State, t, h, k, options):
    """The slopes of stage k, which stands at t + c h and starts from those of stage k - 1."""
    work, bodies = system.work, system.bodies
    x, quat, v = state.x, state.quat, state.v
    c = 0.0 if k == 0 else (1.0 if k == 3 else 0.5)
    if k == 0:
        copy(x, work.x1)
        copy(v, work.v1)
        copy(quat, work.quat1)
    else:
        add_scaled(x, c * h, work.stage_v[k - 1], work.x1)
        add_scaled(v, c * h, work.stage_a[k - 1], work.v1)
        for i in range(quat.shape[0]):
            for q in range(4):
                work.quat1[i, q] = quat[i, q] + c * h * work.stage_quat[k - 1, i, q]
        normalise(work.quat1)
    accelerate(system, t + c * h, work.x1, work.quat1, work.v1, options, state.lam)
    if system.accumulates_work == 1:
        power(system, work.v1, options, state.lam, work.stage_power[k])
    copy(work.v1, work.stage_v[k])
    copy(work.a, work.stage_a[k])
    for i in range(quat.shape[0]):
        spin = bodies.spin_slot[i]
        rate = quaternion_rate(work.quat1, i, work.v1[spin, 0], work.v1[spin, 1], work.v1[spin, 2])
        for q in range(4):
            work.stage_quat[k, i, q] = rate[q]
