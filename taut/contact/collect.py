"""Evaluate all inequalities, and collect the rows that may matter into candidates.

    n = J/|J| of the first point,  J_k = ω_k n                                          (1)
    T_k = ω_k t,    t ⟂ n          velocity of the surfaces along each other             (2)
    T_ω = r × Rᵀ T_k               r from the body's centre to the place of contact      (3)
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..compiled import compiled, inline
from ..model.dispatch import rechart_kind
from ..model.evaluate import (
    batch_offsets,
    evaluate_constraints,
    form_and_factor,
    inequalities_at,
    set_time,
    update_places,
)
from ..model.rotation import to_body


@compiled
def evaluate_equalities(system, t, x, quat, v, second):
    """Set the time; Φ_e, J_e and, if `second`, γ_e into system.work."""
    set_time(system, t, x, quat, v)
    evaluate_constraints(system, t, x, quat, v, second, system.work.J)


@compiled
def factor_equalities(system):
    """Factor J_e W J_eᵀ of the J_e last evaluated."""
    if system.work.phi.shape[0] > 0:
        form_and_factor(system, system.work.J, system.bodies.inverse_mass)


@compiled
def evaluate_inequalities(system, ctx, t, x, quat, v, second):
    """Φ, J, Φ_t and, if `second`, γ of all rows, with the sign that makes Φ ≥ 0 the condition."""
    ineq, spin_ptr = ctx.ineq, ctx.problem.spin_ptr
    rows = ineq.rows
    inequalities_at(system, ineq, t, x, quat, v, second)
    for r in range(ineq.sign.shape[0]):
        if ineq.sign[r] < 0.0:
            ineq.phi[r] = -ineq.phi[r]
            ineq.phi_t[r] = -ineq.phi_t[r]
            ineq.gamma[r] = -ineq.gamma[r]
            for k in range(rows.ptr[r], rows.ptr[r + 1]):
                negate_block(ineq.J, k)
            for k in range(spin_ptr[r], spin_ptr[r + 1]):
                negate_block(ineq.J, np.uint64(rows.spin_block[k]))


@inline
def negate_block(J, k):
    for c in range(3):
        J[k, c] = -J[k, c]


@compiled
def choose_charts(system, state, ctx):
    """Let the kinds with several charts choose the one for the present configuration."""
    batches = ctx.ineq.batches
    for b in range(batches.code.shape[0]):
        if batches.has_chart[b]:
            update_places(system, state.x, state.quat, state.v)
            arguments = (batches.members[b], batch_offsets(batches, b), batches.idx, batches.ints, state.x)
            rechart_kind(batches.chart[b], batches.code[b], arguments)


@compiled
def gap_rates(ctx, v, out):
    """J v of all rows (without Φ_t)."""
    ineq, spin_ptr = ctx.ineq, ctx.problem.spin_ptr
    rows, J = ineq.rows, ineq.J
    for r in range(out.shape[0]):
        total = 0.0
        for k in range(rows.ptr[r], rows.ptr[r + 1]):
            total += dot_block(J, k, v, rows.slot[k])
        for q in range(spin_ptr[r], spin_ptr[r + 1]):
            k = np.uint64(rows.spin_block[q])
            total += dot_block(J, k, v, rows.slot[k])
        out[r] = total


@inline
def dot_block(J, k, v, s):
    return J[k, 0] * v[s, 0] + J[k, 1] * v[s, 1] + J[k, 2] * v[s, 2]


@inline
def set_block(cand, at, slot, j0, j1, j2):
    """A block of a normal; its tangents are zero so far."""
    cand.slot[at] = slot
    cand.J[at, 0], cand.J[at, 1], cand.J[at, 2] = j0, j1, j2
    for c in range(3):
        cand.T1[at, c] = 0.0
        cand.T2[at, c] = 0.0


@compiled
def add_candidates(system, ctx, quat, n, count):
    """Append the rows ctx.ineq_work.selected[:count] to n candidates; returns how many there are.

    Their b, λ and membership of the active set are left to the caller.
    """
    ineq, cand, spin_ptr = ctx.ineq, ctx.candidates, ctx.problem.spin_ptr
    rows, J = ineq.rows, ineq.J
    for i in range(count):
        r = ctx.ineq_work.selected[i]
        at = cand.ptr[n]
        cand.source[n] = r
        cand.restitution[n] = ineq.restitution[r]
        cand.mu[n] = ineq.friction[r]
        n0 = n1 = n2 = 0.0
        for k in range(rows.ptr[r], rows.ptr[r + 1]):
            j0, j1, j2 = J[k, 0], J[k, 1], J[k, 2]
            set_block(cand, at, rows.slot[k], j0, j1, j2)
            at += 1
            size = sqrt(j0 * j0 + j1 * j1 + j2 * j2)
            if n0 == 0.0 and n1 == 0.0 and n2 == 0.0 and size > 0.0:
                n0, n1, n2 = j0 / size, j1 / size, j2 / size  # (1)
        for q in range(spin_ptr[r], spin_ptr[r + 1]):
            k = rows.spin_block[q]
            set_block(cand, at, rows.slot[k], J[k, 0], J[k, 1], J[k, 2])
            at += 1
        if ineq.friction[r] > 0.0:
            at = add_tangents(system.places, ctx, n, at, quat, (n0, n1, n2))
        n += 1
        cand.ptr[n] = at
    return n


@inline
def add_tangents(places, ctx, n, at, quat, normal):
    """Tangents of candidate n, whose blocks end at `at`; returns where they end with those of rigid balls."""
    ineq, cand, spin_ptr = ctx.ineq, ctx.candidates, ctx.problem.spin_ptr
    rows, r, first = ineq.rows, cand.source[n], cand.ptr[n]
    n0, n1, n2 = normal
    points = rows.ptr[r + 1] - rows.ptr[r]
    for i in range(points):
        weight = set_tangents(cand, first + i, n0, n1, n2)
        k = rows.ptr[r] + i
        if ineq.arm[k] > 0.0:  # a rigid ball: friction acts on its surface
            slot = rows.slot[k]
            body = ineq.quat_of[slot]
            arm = -ineq.arm[k] if weight > 0.0 else ineq.arm[k]
            set_block(cand, at, np.uint32(slot + 1), 0.0, 0.0, 0.0)
            place = to_body(quat, body, arm * n0, arm * n1, arm * n2)
            set_rotations(cand, at, first + i, quat, body, place)
            at += 1
    for q in range(spin_ptr[r], spin_ptr[r + 1]):
        here = first + points + (q - spin_ptr[r])
        source = first + (rows.spin_from[q] - rows.ptr[r])
        k = rows.spin_place[q]
        arm = (places.arm[k, 0], places.arm[k, 1], places.arm[k, 2])
        set_rotations(cand, here, source, quat, np.int64(places.body[k]), arm)
    return at


@inline
def set_tangents(cand, at, n0, n1, n2):
    """(2) at one block; returns ω."""
    weight = cand.J[at, 0] * n0 + cand.J[at, 1] * n1 + cand.J[at, 2] * n2
    # The first tangent is level unless the normal is upright: steady while things turn about y.
    t0, t1, t2 = n2, 0.0, -n0
    size = sqrt(t0 * t0 + t2 * t2)
    if size < 1e-3:
        t0, t1, t2 = 0.0, -n2, n1
        size = sqrt(t1 * t1 + t2 * t2)
    t0, t1, t2 = t0 / size, t1 / size, t2 / size
    cand.T1[at, 0], cand.T1[at, 1], cand.T1[at, 2] = weight * t0, weight * t1, weight * t2
    cand.T2[at, 0] = weight * (n1 * t2 - n2 * t1)
    cand.T2[at, 1] = weight * (n2 * t0 - n0 * t2)
    cand.T2[at, 2] = weight * (n0 * t1 - n1 * t0)
    return weight


@inline
def set_rotations(cand, at, source, quat, body, arm):
    """(3): what friction at a place `arm` (in principal axes) does to its body's rotation."""
    set_rotation(cand.T1, at, source, quat, body, arm)
    set_rotation(cand.T2, at, source, quat, body, arm)


@inline
def set_rotation(T, at, source, quat, body, arm):
    r0, r1, r2 = arm
    j0, j1, j2 = to_body(quat, body, T[source, 0], T[source, 1], T[source, 2])
    T[at, 0] = r1 * j2 - r2 * j1
    T[at, 1] = r2 * j0 - r0 * j2
    T[at, 2] = r0 * j1 - r1 * j0
