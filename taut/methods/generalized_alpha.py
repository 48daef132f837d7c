"""Generalized-α on the constrained system: implicit in the forces, so that stiffness does not dictate the step.

    M v̇' = f(q', v', t') + J(q')ᵀ λ'                                                    (1)
    (1 - αm) a' + αm a = (1 - αf) v̇' + αf v̇                                            (2)
    v' = v + h ((1 - γ) a + γ a')                                                       (3)
    q' = q ⊞ (h v + h² ((½ - β) a + β a') + W J(q')ᵀ η)                                  (4)  orientations: R exp(·)
    Φ(q', t') = 0,   J(q') v' + Φ_t = 0                                                 (5)

    αm = (2ρ - 1)/(ρ + 1),   αf = ρ/(ρ + 1),   γ = ½ + αf - αm,   β = (γ + ½)²/4        (6)
    a₀ = v̇₀ + (αm - αf) (v̇₁ - v̇₀)                                                      (7)
    q' = q ⊞ (h v' + W J(q')ᵀ η),   v' = v + h v̇',   (1) and (5): backward Euler         (8)

(1)-(4) are those of Chung and Hulbert on the Lie group of rigid bodies [Brüls and Cardona 2010; Arnold and Brüls 2007],
with both levels of the constraints held as in the stabilised form of index 2 [Arnold, Brüls and Cardona 2015]: λ holds
the velocities and η the positions, so that q, v and λ are all of order 2. Conditions on velocities are rows of (5)
like all others. a stands for v̇ at t + (αm - αf) h, hence (7), for which (8) is tried first. Where its v̇₁ is far from
v̇₀, the start excites motions that the step does not resolve, and h v̇₀ would be a velocity that never was. Then v̇₀ is
extrapolated from (8) with h and with 2h, where such motions have faded.

ρ is what a step leaves of an infinitely fast oscillation: 0 damps it at once, 1 keeps the energy of linear systems.
Motions that the step does not resolve fade; those that it resolves lose little.

(1)-(5) by Newton's method on v' and λ with the matrix of tangent.py, where an inner step

    (J W Jᵀ) dη = -(Φ - c s),   s = J v' + Φ_t,   c = hβ/γ                               (9)

finds η at the same time. Both matrices are factored once, and again where |dv| does not fall to a half.
"""

from __future__ import annotations

from typing import NamedTuple

from ..compiled import compiled, inline, structure
from ..linalg import DEPENDENT
from ..model.arrays import CORRECTIONS, LINEAR_SOLVES, Array, State, System
from ..model.evaluate import (
    apply,
    clear,
    constraints,
    copy,
    largest,
    move,
    power_at,
    prepare,
    push,
    resolve,
    set_time,
    times,
)
from ..model.model import Model
from .acceleration import constrained, observe_lagrange
from .base import BOTH, NOT_CONVERGED, OK, Method, Option
from .style import SOLID, Style
from .tangent import Tangent, factor_tangent, plan_tangent, solve_tangent

A, A_NEW, RATE = 1, 2, 3  # work.stage_a: a, a', v̇; tangent.py works in the first
ETA, WAY, ONCE = 0, 1, 2  # work.stage_v: W Jᵀ η, the way of (4) or a change of v', and v̇₁ of (8)
MOST_ROUNDS = 50
ENOUGH = 1e-13  # a change of v' of this size, of v', ends the iteration
ROUNDED = 0.1  # and one that moves places by this much of the rounding error of Φ
STALLED = 1e-8  # and one that no longer falls does so from here on


class Weights(NamedTuple):
    """The numbers of (2)-(4)."""

    am: float
    af: float
    beta: float
    gamma: float


BACKWARD_EULER = Weights(0.0, 0.0, 1.0, 1.0)  # (8), with a = 0


@structure
class Alpha(NamedTuple):
    """What the step gets as `par`: the numbers of options.py, those of (6), and the matrix."""

    par: Array
    weights: Weights
    tangent: Tangent


def start(model: Model, system: System, state: State, par: Array) -> tuple[State, Alpha]:
    rho = float(par[3])
    am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 + af - am
    return state, Alpha(par, Weights(am, af, 0.25 * (gamma + 0.5) ** 2, gamma), plan_tangent(model))  # (6)


def memory(model: Model) -> int:
    """Whether there was a step before; both kinds of power; a and v̇."""
    return 3 + 6 * len(model.x)


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
def place_new(system, state, t, h, weights):
    """(4) into the first spare configuration, and Φ, J and Φ_t there."""
    work, free = system.work, system.bodies.free
    a, a_new, eta, way = work.stage_a[A], work.stage_a[A_NEW], work.stage_v[ETA], work.stage_v[WAY]
    for i in range(way.shape[0]):
        for c in range(3):
            along = state.v[i, c] + h * ((0.5 - weights.beta) * a[i, c] + weights.beta * a_new[i, c])
            way[i, c] = free[i, c] * (h * along + eta[i, c])
    copy(state.x, work.x1)
    copy(state.quat, work.quat1)
    move(system, state.x, state.quat, way, 1.0, work.x1, work.quat1)
    set_time(system, t + h, work.x1, work.quat1, work.v1)
    constraints(system, t + h, work.x1, work.quat1, work.v1, False, work.J)


@inline
def rate_of(weights, a, a_new, rate):
    """v̇' of (2)."""
    return ((1.0 - weights.am) * a_new + weights.am * a - weights.af * rate) / (1.0 - weights.af)


@compiled
def left_over(system, state, t, h, weights):
    """f + Jᵀ λ - M v̇' of (1) into work.a, and s of (9) into work.b."""
    work, mass = system.work, system.bodies.mass
    a, a_new, rate, left = work.stage_a[A], work.stage_a[A_NEW], work.stage_a[RATE], work.a
    apply(system, t + h, work.x1, work.quat1, work.v1)
    for i in range(left.shape[0]):
        for c in range(3):
            left[i, c] = work.f[i, c] - mass[i, c] * rate_of(weights, a[i, c], a_new[i, c], rate[i, c])
    push(system, work.J, system.bodies.free, state.lam, 1.0, left)
    times(system, work.J, work.v1, work.b)
    for r in range(work.b.shape[0]):
        work.b[r] += work.phi_t[r]


@compiled
def renew(system, t, h, weights, tangent):
    """Factor the matrices of Newton's method where q', v' and J stand."""
    work = system.work
    inertia = (1.0 - weights.am) / ((1.0 - weights.af) * weights.gamma)
    prepare(system, work.J, system.bodies.w)
    reach = h * weights.beta / weights.gamma
    factor_tangent(system, tangent, t + h, work.x1, work.quat1, work.v1, inertia, h, reach)


@compiled
def correct_positions(system, h, weights):
    """(9), after `left_over`."""
    work, rows = system.work, system.rows
    reach = h * weights.beta / weights.gamma
    for r in range(work.b.shape[0]):
        work.drift[r] = reach * work.b[r] - work.phi[r] if rows.at_velocity[r] == 0 else 0.0
    resolve(system, work.drift, work.mu)
    push(system, work.J, system.bodies.w, work.mu, 1.0, work.stage_v[ETA])


@compiled
def advance(system, state, t, h, weights, alpha):
    """(1)-(5): q' and v' in the first spare configuration, a' in stage_a[A_NEW], λ' in the state. Returns a status."""
    work, lam = system.work, state.lam
    a, a_new, dv = work.stage_a[A], work.stage_a[A_NEW], work.stage_v[WAY]
    clear(work.stage_v[ETA])
    copy(a, a_new)
    copy(state.v, work.v1)
    for i in range(a_new.shape[0]):
        for c in range(3):
            work.v1[i, c] += h * a[i, c]
    place_new(system, state, t, h, weights)
    renew(system, t, h, weights, alpha.tangent)
    last = 1e300
    noise = ROUNDED * alpha.par[2] * weights.gamma / (h * weights.beta)
    for _ in range(MOST_ROUNDS):
        left_over(system, state, t, h, weights)
        correct_positions(system, h, weights)
        solve_tangent(system, alpha.tangent, work.a, work.b, h, dv, work.mu)
        work.counts[LINEAR_SOLVES] += 1
        work.counts[CORRECTIONS] += 1
        change = size = 0.0
        for i in range(a_new.shape[0]):
            for c in range(3):
                work.v1[i, c] += dv[i, c]
                a_new[i, c] += dv[i, c] / (weights.gamma * h)  # (3)
                change = max(change, abs(dv[i, c]))
                size = max(size, abs(work.v1[i, c]), abs(h * a[i, c]))
        for r in range(lam.shape[0]):
            lam[r] += work.mu[r]
        place_new(system, state, t, h, weights)
        if not change <= 1e300:
            return NOT_CONVERGED
        held = largest(work.phi) <= alpha.par[0] or alpha.par[1] == 1.0
        if held and (change <= max(ENOUGH * size, noise) or (change <= STALLED * size and change > 0.5 * last)):
            return OK
        if change > 0.5 * last:
            renew(system, t, h, weights, alpha.tangent)
            change = 1e300
        last = change
    return NOT_CONVERGED


@compiled
def begin_motion(system, state, t, h, alpha):
    """a and v̇ of (7) and the power at the start. Returns a status."""
    work, weights = system.work, alpha.weights
    a, a_new, rate, once = work.stage_a[A], work.stage_a[A_NEW], work.stage_a[RATE], work.stage_v[ONCE]
    constrained(system, t, state.x, state.quat, state.v, 0.0, 0.0, state.lam)
    if system.counted == 1:
        power_at(system, work.J, state.v, state.lam, work.stage_power[0])
        state.memory[1], state.memory[2] = work.stage_power[0, 0], work.stage_power[0, 1]
    for i in range(a.shape[0]):
        for c in range(3):
            rate[i, c] = system.bodies.free[i, c] * work.a[i, c]
    clear(a)
    status = advance(system, state, t, h, BACKWARD_EULER, alpha)
    copy(a_new, once)
    if status == OK and is_rough(system, rate, once):
        status = advance(system, state, t, 2.0 * h, BACKWARD_EULER, alpha)
        for i in range(a.shape[0]):
            for c in range(3):
                rate[i, c] = 2.0 * once[i, c] - a_new[i, c]
    for i in range(a.shape[0]):
        for c in range(3):
            a[i, c] = rate[i, c] + (weights.am - weights.af) * (once[i, c] - rate[i, c])  # (7)
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
def step(system, state, t, h, alpha):
    work, weights = system.work, alpha.weights
    a, a_new, rate = work.stage_a[A], work.stage_a[A_NEW], work.stage_a[RATE]
    recall(state, a, rate)
    if state.memory[0] == 0.0:
        status = begin_motion(system, state, t, h, alpha)
        if status != OK:
            return status
    status = advance(system, state, t, h, weights, alpha)
    for i in range(a.shape[0]):
        for c in range(3):
            rate[i, c] = rate_of(weights, a[i, c], a_new[i, c], rate[i, c])
    keep(state, a_new, rate)
    copy(work.x1, state.x)
    copy(work.quat1, state.quat)
    copy(work.v1, state.v)
    if system.counted == 1:
        apply(system, t + h, state.x, state.quat, state.v)
        power_at(system, work.J, state.v, state.lam, work.stage_power[0])
        for k in range(2):
            state.ledger[k] += 0.5 * h * (state.memory[1 + k] + work.stage_power[0, k])
            state.memory[1 + k] = work.stage_power[0, k]
    return status


@compiled
def observe(system, state, t, alpha, lam):
    """λ of (1), which belongs to the end of the step; where J has lost rank, the smallest with the same forces."""
    work = system.work
    if state.memory[0] == 0.0:
        observe_lagrange(system, state, t, alpha.par, lam)
        return
    for r in range(lam.shape[0]):
        lam[r] = state.lam[r]
    set_time(system, t, state.x, state.quat, state.v)
    constraints(system, t, state.x, state.quat, state.v, False, work.J)
    prepare(system, work.J, system.bodies.w)
    if system.linear.state[DEPENDENT] > 0:
        clear(work.v1)
        push(system, work.J, system.bodies.w, lam, 1.0, work.v1)
        times(system, work.J, work.v1, work.b)
        resolve(system, work.b, lam)


METHOD = Method(
    name="generalized_alpha",
    doc="Implicit in the forces, for stiff springs and dampers; Φ = 0 and Φ̇ = 0 at each step.",
    source="Chung and Hulbert 1993; Arnold and Brüls 2007",
    style=Style("#8C564B", SOLID, "p"),
    level="position and velocity",
    order=2,
    step=step,
    observe=observe,
    tolerance=1e-12,
    options=(
        Option("rho", 0.8, "what a step leaves of infinitely fast oscillations, 0 to 1", minimum=0.0, maximum=1.0),
    ),
    memory=memory,
    stages=4,
    remedy="Try a smaller dt: Newton's method on the step did not converge.",
    solves="3 to 6",
    levels=BOTH,
    start=start,
)
