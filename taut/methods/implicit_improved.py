"""Improved first-order implicit enforcement: a half step for λ, then a mid-point step.

    v½ = v + h/2 W (f + Jᵀ λ)                                           (1)  [HWC (5)]
    q½ = q ⊞ h/2 v½                                                     (2)  [HWC (6)]
    (J W Jᵀ) λ = -(4Φ/h² + 2Φ_t/h + J (2v/h + W f))                     (3)  [from HWC (7)]
    v' = v + h W (f + J(q½)ᵀ λ)                                         (4)  [HWC, mid-point step]
    q' = q ⊞ h v½                                                       (5)
    (J W Jᵀ) δλ = -2Φ(q')/h²                                            (6)  repeated when a tolerance is set
    J ← J(q'),   when (6) does not halve |Φ|                            (7)  see implicit_first.py

The paper prints (3) without Φ_t. λ is the paper's with the sign turned.

(3) sets the normal part of v½ from Φ alone, and v' = 2 v½ - v turns the rest of it round at each step. Both
Φ and Φ̇ are therefore multiplied by -1 from step to step, one driving the other: a body that starts on a
curved path with Φ = 0 rings, Φ̇ grows to the size of v and λ to v/h. Positions are of second order all the
same, and so are Φ̇ and λ (of first order) when the motion starts from rest. f is that of the old time: where
it changes along the way the order is one, and where it feels the ringing of v (drag, gyroscopic terms of
rigid bodies) the method does not converge; choose implicit_second there.
"""

from __future__ import annotations

from ..jit import part, word
from ..model.evaluate import (
    add_scaled,
    constraints,
    copy,
    forces,
    largest,
    move,
    prepare,
    push,
    resolve,
    set_time,
    times,
)
from .base import MOST_CORRECTIONS, NOT_CONVERGED, OK, Method
from .implicit_first import renew


@word
def full_step(system, state, t, h, v_half):
    """(5) from the half-step velocity, into x2 and quat2 at t + h."""
    work = system.work
    copy(state.x, work.x2)
    copy(state.quat, work.quat2)
    move(system, state.x, state.quat, v_half, h, work.x2, work.quat2)  # (5)


@part
def step(system, state, t, h, par):
    work, w = system.work, system.bodies.w
    x, quat, v, lam = state.x, state.quat, state.v, state.lam
    v_half = work.v1
    constraints(system, t, x, quat, v, False, work.J)
    forces(system, t, x, quat, v)
    add_scaled(v, 0.5 * h, work.a, v_half)
    times(system, work.J, v_half, work.b)
    for r in range(lam.shape[0]):
        work.b[r] = -2.0 * (2.0 * work.phi[r] / h + work.phi_t[r] + work.b[r]) / h  # (3)
    prepare(system, work.J, w)
    resolve(system, work.b, lam)
    push(system, work.J, w, lam, 0.5 * h, v_half)  # (1)
    status = OK
    copy(work.a, work.v2)  # W f is needed again in (4)
    if par[0] > 0.0:
        status = repeat(system, state, t, h, par, v_half)
    # mid-point step
    copy(x, work.x1)
    copy(quat, work.quat1)
    move(system, x, quat, v_half, 0.5 * h, work.x1, work.quat1)  # (2)
    set_time(system, t + 0.5 * h, work.x1, work.quat1, v_half)
    constraints(system, t + 0.5 * h, work.x1, work.quat1, v_half, False, work.J)
    move(system, x, quat, v_half, h, x, quat)  # (5)
    add_scaled(v, h, work.v2, v)
    push(system, work.J, w, lam, h, v)  # (4)
    set_time(system, t + h, x, quat, v)
    return status


@part
def repeat(system, state, t, h, par, v_half):
    """(6), with the force kept in the direction it has at q."""
    work, w = system.work, system.bodies.w
    copy(work.J, work.J2)
    status = NOT_CONVERGED
    last = 1e300
    for _ in range(MOST_CORRECTIONS):
        full_step(system, state, t, h, v_half)
        set_time(system, t + h, work.x2, work.quat2, v_half)
        constraints(system, t + h, work.x2, work.quat2, v_half, False, work.J)
        error = largest(work.phi)
        if error <= par[0]:
            status = OK
            break
        if error > 0.5 * last:
            renew(system)  # (7)
        last = error
        for r in range(work.b.shape[0]):
            work.b[r] = -2.0 * work.phi[r] / (h * h)  # (6)
        resolve(system, work.b, work.mu)
        for r in range(work.b.shape[0]):
            state.lam[r] += work.mu[r]
        push(system, work.J2, w, work.mu, 0.5 * h, v_half)
        work.counts[1] += 1
    set_time(system, t, state.x, state.quat, v_half)
    return OK if par[1] == 1.0 else status


METHOD = Method(
    name="implicit_improved",
    doc="A half step finds λ, a mid-point step uses it; one linear solve.",
    source="Hong, Welch and Choi 2005 (5)-(7)",
    level="position, linearised",
    order=2,
    order_position=2,
    order_velocity=0,
    step=step,
)
