"""Generalized-α on the constrained system: implicit in the forces, so that stiffness does not dictate the step.

A step is that of alpha_newton.py, in which a stands for v̇ at t + (αm - αf) h, with

    αm = (2ρ - 1)/(ρ + 1),   αf = ρ/(ρ + 1),   γ = ½ + αf - αm,   β = (γ + ½)²/4        (1)  [Chung and Hulbert 1993]
    a₀ = v̇₀ + (αm - αf) (v̇₁ - v̇₀)                                                      (2)
    αm = αf = 0,   γ = β = 1,   a = 0:   v' = v + h v̇',   q' = q ⊞ h v'                  (3)  backward Euler

ρ is what a step leaves of an infinitely fast oscillation: 0 damps it at once, 1 keeps the energy of linear systems.
Motions that the step does not resolve fade; those that it resolves lose little.

v̇₁ of (2) is the acceleration where (3) ends: v̇ of (3) but for the share of λ, which holds a velocity there and is that
of half a step. Where v̇ of (3) is far from v̇₀, the start excites motions that the step does not resolve, and h v̇₀ would
be a velocity that never was. Then v̇₀ is extrapolated from (3) with h and with 2h, where such motions have faded.

Where forces jump between two steps a and v̇ go with them (alpha_jumps.py). A step that fails is taken again with care
(alpha_branch.py), and so is one where J nearly loses rank that seems to leave its branch, in velocities or in places:

    |v' - v - h a| or |W Jᵀ η| / h  >  0.5 h |a|   and   0.005 |v'|,   in the norm of M    (4)

One that does so with care, too, fails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, structure
from ..linalg import DEPENDENT
from ..model.arrays import DOUBTFUL_SYSTEMS, Array, State, System
from ..model.evaluate import (
    apply_multipliers,
    clear,
    copy,
    evaluate_constraints,
    evaluate_forces,
    form_and_factor,
    jacobian_times,
    power_at,
    set_time,
    solve_with_factor,
)
from ..model.model import Model
from .acceleration import constrained, observe_lagrange
from .alpha_branch import advance_on_branch
from .alpha_jumps import differs, jump, kept, remember, sampled
from .alpha_newton import A_NEW, ETA, FORCE, ONCE, RATE, A, Weights, advance, rate_of
from .base import BOTH, LEFT_BRANCH, NOT_CONVERGED, OK, Hooks, Method, Option, option_index
from .style import SOLID, Style
from .tangent import Tangent, plan_tangent

OPTIONS = (
    Option("rho", 0.8, "what a step leaves of infinitely fast oscillations, 0 to 1", minimum=0.0, maximum=1.0),
)
RHO = option_index(OPTIONS, "rho")
BACKWARD_EULER = Weights(0.0, 0.0, 1.0, 1.0)  # (3)
STRAY, SLIGHT = 0.5, 0.005  # (4)
SHARES = (1e-11, 1e-8, 1e-6)  # E of alpha_branch.py: the first that does not stray


@structure
class Alpha(NamedTuple):
    """What the step gets as `options`: the numbers of options.py, those of (1), and the matrix."""

    options: Array
    weights: Weights
    tangent: Tangent
    before: Array  # (rows,) λ of the step before
    sampled: Array  # points that keep samples (alpha_jumps.py)


def prepare(model: Model, system: System, state: State, options: Array) -> tuple[State, Alpha]:
    rho = float(options[RHO])
    am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 + af - am
    return state, Alpha(options, Weights(am, af, 0.25 * (gamma + 0.5) ** 2, gamma), plan_tangent(model),
                        np.zeros(model.row_count), sampled(model))  # (1)


def memory(model: Model) -> int:
    """Whether there was a step before; both kinds of power; a and v̇; what may jump."""
    return 3 + 6 * len(model.x) + kept(model)


@compiled
def recall(state, a, rate):
    """a and v̇ as the step before left them."""
    n = 3 * a.shape[0]
    for i in range(a.shape[0]):
        for c in range(3):
            a[i, c] = state.memory[3 + 3 * i + c]
            rate[i, c] = state.memory[3 + n + 3 * i + c]


@compiled
def keep(state, a, rate):
    n = 3 * a.shape[0]
    for i in range(a.shape[0]):
        for c in range(3):
            state.memory[3 + 3 * i + c] = a[i, c]
            state.memory[3 + n + 3 * i + c] = rate[i, c]


@compiled
def begin_motion(system, state, t, h, alpha):
    """a and v̇ of (2) and the power at the start. Returns a status."""
    work, weights = system.work, alpha.weights
    a, a_new, rate = work.stage_a[A], work.stage_a[A_NEW], work.stage_a[RATE]
    once, after = work.stage_v[ONCE], work.stage_v[FORCE]
    constrained(system, t, state.x, state.quat, state.v, 0.0, 0.0, state.lam)
    if system.accumulates_work == 1:
        power_at(system, work.J, state.v, state.lam, work.stage_power[0])
        state.memory[1], state.memory[2] = work.stage_power[0, 0], work.stage_power[0, 1]
    for i in range(a.shape[0]):
        for c in range(3):
            rate[i, c] = system.bodies.free[i, c] * work.a[i, c]
    clear(a)
    status = try_twice(system, state, t, h, BACKWARD_EULER, alpha, False)
    copy(a_new, once)
    constrained(system, t + h, work.x1, work.quat1, work.v1, 0.0, 0.0, alpha.before)
    copy(work.a, after)
    if status == OK and is_rough(system, rate, once):
        status = try_twice(system, state, t, 2.0 * h, BACKWARD_EULER, alpha, False)
        for i in range(a.shape[0]):
            for c in range(3):
                rate[i, c] = 2.0 * once[i, c] - a_new[i, c]
    for i in range(a.shape[0]):
        for c in range(3):
            change = system.bodies.free[i, c] * after[i, c] - rate[i, c]
            a[i, c] = rate[i, c] + (weights.am - weights.af) * change  # (2)
    state.memory[0] = 1.0
    return status


@compiled
def is_rough(system, first, second):
    """Whether accelerations differ by more than half of the larger, in the norm of M."""
    mass = system.bodies.mass
    apart = one = other = 0.0
    for i in range(first.shape[0]):
        for c in range(3):
            apart += mass[i, c] * (second[i, c] - first[i, c]) ** 2
            one += mass[i, c] * first[i, c] ** 2
            other += mass[i, c] * second[i, c] ** 2
    return apart > 0.25 * max(one, other)


@compiled
def strays(system, v, a, h):
    """(4), of a and the velocity of the step before, and the new one in v1."""
    mass, v_new, eta = system.bodies.mass, system.work.v1, system.work.stage_v[ETA]
    expected = off = size = moved = 0.0
    for i in range(v.shape[0]):
        for c in range(3):
            expected += mass[i, c] * (h * a[i, c]) ** 2
            moved += mass[i, c] * eta[i, c] ** 2
            off += mass[i, c] * (v_new[i, c] - v[i, c] - h * a[i, c]) ** 2
            size += mass[i, c] * v_new[i, c] ** 2
    slight = SLIGHT**2 * size
    return max(off, moved / (h * h)) > max(STRAY**2 * expected, slight)


@compiled
def try_twice(system, state, t, h, weights, alpha, compared):
    """`advance`, and with care where that fails; compared: a is that of the step before, so that (4) tells of jumps."""
    a, doubtful = system.work.stage_a[A], system.work.counts[DOUBTFUL_SYSTEMS]
    for r in range(state.lam.shape[0]):
        alpha.before[r] = state.lam[r]
    status = advance(system, state, t, h, weights, alpha.options, alpha.tangent)
    in_doubt = system.work.counts[DOUBTFUL_SYSTEMS] > doubtful
    if status == OK and not (compared and in_doubt and strays(system, state.v, a, h)):
        return OK
    for share in SHARES:
        status = advance_on_branch(system, state, t, h, weights, alpha, share, in_doubt)
        if status == OK and not (compared and strays(system, state.v, a, h)):
            return OK
    return LEFT_BRANCH if in_doubt and status == OK else NOT_CONVERGED


@compiled
def step(system, state, t, h, alpha):
    work, weights = system.work, alpha.weights
    a, a_new, rate = work.stage_a[A], work.stage_a[A_NEW], work.stage_a[RATE]
    recall(state, a, rate)
    last = 3 + 6 * a.shape[0]
    if state.memory[0] == 1.0 and differs(system, state, alpha.sampled, last):
        jump(system, state, t, h, alpha, last)
    if state.memory[0] == 0.0:
        status = begin_motion(system, state, t, h, alpha)
        if status != OK:
            return status
    status = try_twice(system, state, t, h, weights, alpha, True)
    for i in range(a.shape[0]):
        for c in range(3):
            rate[i, c] = rate_of(weights, a[i, c], a_new[i, c], rate[i, c])
    keep(state, a_new, rate)
    remember(system, state, alpha.sampled, last)
    copy(work.x1, state.x)
    copy(work.quat1, state.quat)
    copy(work.v1, state.v)
    if system.accumulates_work == 1:
        evaluate_forces(system, t + h, state.x, state.quat, state.v)
        power_at(system, work.J, state.v, state.lam, work.stage_power[0])
        for k in range(2):
            state.ledger[k] += 0.5 * h * (state.memory[1 + k] + work.stage_power[0, k])
            state.memory[1 + k] = work.stage_power[0, k]
    return status


@compiled
def observe(system, state, t, alpha, lam):
    """λ of the step, which belongs to the end of the step; where J has lost rank, the smallest with the same forces."""
    work = system.work
    if state.memory[0] == 0.0:
        observe_lagrange(system, state, t, alpha.options, lam)
        return
    for r in range(lam.shape[0]):
        lam[r] = state.lam[r]
    set_time(system, t, state.x, state.quat, state.v)
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
    form_and_factor(system, work.J, system.bodies.inverse_mass)
    if system.linear.state[DEPENDENT] > 0:
        clear(work.v1)
        apply_multipliers(system, work.J, system.bodies.inverse_mass, lam, 1.0, work.v1)
        jacobian_times(system, work.J, work.v1, work.b)
        solve_with_factor(system, work.b, lam)


METHOD = Method(
    name="generalized_alpha", source="Chung and Hulbert 1993; Arnold and Brüls 2007",
    style=Style("#8C564B", SOLID, "8"),
    doc="Implicit in the forces, for stiff springs and dampers; Φ = 0 and Φ̇ = 0 at each step.",
    level="position and velocity", order=2, levels=BOTH, contacts=("events",),
    tolerance=1e-12, options=OPTIONS, memory=memory, stages=4, step=step, hooks=Hooks(observe=observe, prepare=prepare),
    suits={"stiff": "implicit in the stiff forces: the step follows the slow motion alone"},
    solves="3 to 6",
)  # fmt: skip
