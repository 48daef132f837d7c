"""One step of generalized-α with constraints on both levels, by Newton's method.

    M v̇' = f(q', v', t') + J(q')ᵀ λ'                                                    (1)
    (1 - αm) a' + αm a = (1 - αf) v̇' + αf v̇                                            (2)
    v' = v + h ((1 - γ) a + γ a')                                                       (3)
    q' = q ⊞ (h v + h² ((½ - β) a + β a') + W J(q')ᵀ η)                                  (4)  orientations: R exp(·)
    Φ(q', t') = 0,   J(q') v' + Φ_t = 0                                                 (5)

(1)-(4) are those of Chung and Hulbert on the Lie group of rigid bodies [Brüls and Cardona 2010; Arnold and Brüls 2007],
with both levels of the constraints held as in the stabilised form of index 2 [Arnold, Brüls and Cardona 2015]: λ holds
the velocities and η the positions, so that q, v and λ are all of order 2. Conditions on velocities are rows of (5)
like all others.

Newton's method finds v' and λ with the matrix of tangent.py, and at the same time η with that of J:

    (J W Jᵀ) dη = -(Φ - c s),   s = J v' + Φ_t,   c = hβ/γ                               (6)

Both matrices are factored once, and again where |dv| does not fall to a half. Where |Φ| grows in a scene with the
parameter of a curve, which may have next to no inertia, they are factored in every round: (6) moves it far along the
tangent that was factored, from which the curve has turned.
"""

from __future__ import annotations

from typing import NamedTuple

from ..compiled import compiled, inline
from ..model.arrays import CORRECTIONS, LINEAR_SOLVES
from ..model.evaluate import (
    advance_positions,
    apply_multipliers,
    clear,
    copy,
    evaluate_constraints,
    evaluate_forces,
    form_and_factor,
    jacobian_times,
    largest,
    set_time,
    solve_with_factor,
)
from .base import NOT_CONVERGED, OK, RESIDUAL_ACCEPTED, ROUNDING, TOLERANCE
from .tangent import factor_tangent, solve_tangent

A, A_NEW, RATE = 1, 2, 3  # work.stage_a: a, a', v̇; tangent.py works in the first
ETA, WAY, ONCE, FORCE = range(4)  # work.stage_v: W Jᵀ η, the way of (4) or a change of v', one for the caller, Jᵀ λ
MOST_ROUNDS = 50
ENOUGH = 1e-13  # a change of v' of this size, of v', ends the iteration,
ROUNDED = 0.1  # and one that moves places by this much of the rounding error of Φ;
STALLED = 1e-8  # one that no longer falls does so from here on


class Weights(NamedTuple):
    """The numbers of (2)-(4)."""

    am: float
    af: float
    beta: float
    gamma: float


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
    advance_positions(system, state.x, state.quat, way, 1.0, work.x1, work.quat1)
    set_time(system, t + h, work.x1, work.quat1, work.v1)
    evaluate_constraints(system, t + h, work.x1, work.quat1, work.v1, False, work.J)


@inline
def rate_of(weights, a, a_new, rate):
    """v̇' of (2)."""
    return ((1.0 - weights.am) * a_new + weights.am * a - weights.af * rate) / (1.0 - weights.af)


@compiled
def left_over(system, state, t, h, weights):
    """f + Jᵀ λ - M v̇' of (1) into work.a, and s of (6) into work.b."""
    work, mass = system.work, system.bodies.mass
    a, a_new, rate, left = work.stage_a[A], work.stage_a[A_NEW], work.stage_a[RATE], work.a
    evaluate_forces(system, t + h, work.x1, work.quat1, work.v1)
    for i in range(left.shape[0]):
        for c in range(3):
            left[i, c] = work.f[i, c] - mass[i, c] * rate_of(weights, a[i, c], a_new[i, c], rate[i, c])
    apply_multipliers(system, work.J, system.bodies.free, state.lam, 1.0, left)
    jacobian_times(system, work.J, work.v1, work.b)
    for r in range(work.b.shape[0]):
        work.b[r] += work.phi_t[r]


@compiled
def factor_newton(system, t, h, weights, tangent):
    """Factor the matrix of Newton's method where q', v' and J stand."""
    work = system.work
    inertia = (1.0 - weights.am) / ((1.0 - weights.af) * weights.gamma)
    reach = h * weights.beta / weights.gamma
    factor_tangent(system, tangent, t + h, work.x1, work.quat1, work.v1, inertia, h, reach)


@compiled
def refactor(system, t, h, weights, tangent):
    """Factor both matrices."""
    form_and_factor(system, system.work.J, system.bodies.inverse_mass)
    factor_newton(system, t, h, weights, tangent)


@compiled
def correct_positions(system, h, weights):
    """(6), after `left_over`."""
    work, rows = system.work, system.rows
    reach = h * weights.beta / weights.gamma
    for r in range(work.b.shape[0]):
        work.drift[r] = reach * work.b[r] - work.phi[r] if rows.at_velocity[r] == 0 else 0.0
    solve_with_factor(system, work.drift, work.mu)
    apply_multipliers(system, work.J, system.bodies.inverse_mass, work.mu, 1.0, work.stage_v[ETA])


@compiled
def first_guess(system, state, h):
    """a' = a, the velocity that goes with it, and η = 0."""
    work = system.work
    clear(work.stage_v[ETA])
    copy(work.stage_a[A], work.stage_a[A_NEW])
    copy(state.v, work.v1)
    for i in range(work.v1.shape[0]):
        for c in range(3):
            work.v1[i, c] += h * work.stage_a[A][i, c]


@compiled
def change_by(system, lam, h, weights):
    """Add what `solve_tangent` has found to v', a' and λ. Returns the largest change of v', and the size of v'."""
    work = system.work
    a, a_new, dv = work.stage_a[A], work.stage_a[A_NEW], work.stage_v[WAY]
    change = size = 0.0
    for i in range(a_new.shape[0]):
        for c in range(3):
            work.v1[i, c] += dv[i, c]
            a_new[i, c] += dv[i, c] / (weights.gamma * h)  # (3)
            change = max(change, abs(dv[i, c]))
            size = max(size, abs(work.v1[i, c]), abs(h * a[i, c]))
    for r in range(lam.shape[0]):
        lam[r] += work.mu[r]
    work.counts[LINEAR_SOLVES] += 1
    work.counts[CORRECTIONS] += 1
    return change, size


@compiled
def advance(system, state, t, h, weights, options, tangent):
    """(1)-(5): q' and v' into the first spare configuration, a' into stage_a[A_NEW], λ' into the state.

    Returns a status.
    """
    work = system.work
    first_guess(system, state, h)
    place_new(system, state, t, h, weights)
    refactor(system, t, h, weights, tangent)
    last = last_error = 1e300
    each_round = False
    noise = ROUNDED * options[ROUNDING] * weights.gamma / (h * weights.beta)
    for _ in range(MOST_ROUNDS):
        left_over(system, state, t, h, weights)
        correct_positions(system, h, weights)
        solve_tangent(system, tangent, work.a, work.b, h, work.stage_v[WAY], work.mu)
        change, size = change_by(system, state.lam, h, weights)
        place_new(system, state, t, h, weights)
        if not change <= 1e300:
            return NOT_CONVERGED
        error = largest(work.phi)
        held = error <= options[TOLERANCE] or options[RESIDUAL_ACCEPTED] == 1.0
        if held and (change <= max(ENOUGH * size, noise) or (change <= STALLED * size and change > 0.5 * last)):
            return OK
        each_round |= tangent.light == 1 and not held and error > last_error
        if each_round or change > 0.5 * last:
            refactor(system, t, h, weights, tangent)
            change = 1e300
        last, last_error = change, error
    return NOT_CONVERGED
