"""Inequalities evaluated, and the rows that may matter gathered into candidates.

    n = J/|J| of the first point,  J_k = ω_k n                                          (1)
    T_k = ω_k t,    t ⟂ n          velocity of the surfaces along each other             (2)
    T_ω = r × Rᵀ T_k               r from the body's centre to the place of contact      (3)
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..model.dispatch import rechart_kind
from ..model.evaluate import constraints, inequalities_at, place, prepare, set_time, start_of
from ..model.rotation import to_body
from .context import NOTHING, NUMBER, TABLE, TRUTH, VECTOR, WHOLE, far, open_box


@far(NOTHING, NUMBER, TABLE, TABLE, TABLE, TRUTH, TRUTH)
@compiled
def equalities(box, t, x, quat, v, second, factored):
    """The time set, Φ_e and J_e evaluated and, if asked, J_e W J_eᵀ factored."""
    system, state, par = open_box(box)
    set_time(system, t, x, quat, v)
    constraints(system, t, x, quat, v, second, system.work.J)
    if factored and par.target.shape[0] > 0:
        prepare(system, system.work.J, system.bodies.w)


@far(NOTHING, NUMBER, TABLE, TABLE, TABLE, TRUTH)
@compiled
def inequalities(box, t, x, quat, v, second):
    """Φ, J, Φ_t and, if asked, γ of all rows, turned so that Φ ≥ 0 is wanted."""
    system, state, par = open_box(box)
    ineq = par.ineq
    rows = ineq.rows
    inequalities_at(system, ineq, t, x, quat, v, second)
    for r in range(ineq.sign.shape[0]):
        if ineq.sign[r] < 0.0:
            ineq.phi[r] = -ineq.phi[r]
            ineq.phi_t[r] = -ineq.phi_t[r]
            ineq.gamma[r] = -ineq.gamma[r]
            for k in range(rows.ptr[r], rows.ptr[r + 1]):
                turn_round(ineq.J, k)
            for k in range(par.spin_ptr[r], par.spin_ptr[r + 1]):
                turn_round(ineq.J, rows.spin_block[k])


@inline
def turn_round(J, k):
    for c in range(3):
        J[k, c] = -J[k, c]


@far(NOTHING)
@compiled
def choose_charts(box):
    system, state, par = open_box(box)
    batches = par.ineq.batches
    for b in range(batches.code.shape[0]):
        if batches.has_chart[b]:
            place(system, state.x, state.quat, state.v)
            given = (batches.members[b], start_of(batches, b), batches.idx, batches.ints, state.x)
            rechart_kind(batches.chart[b], batches.code[b], given)


@far(NOTHING, TABLE, VECTOR)
@compiled
def rates(box, v, out):
    """J v of all rows (without Φ_t)."""
    system, state, par = open_box(box)
    ineq, spin_ptr = par.ineq, par.spin_ptr
    rows, J = ineq.rows, ineq.J
    for r in range(out.shape[0]):
        total = 0.0
        for k in range(rows.ptr[r], rows.ptr[r + 1]):
            total += dot(J, k, v, rows.slot[k])
        for q in range(spin_ptr[r], spin_ptr[r + 1]):
            k = rows.spin_block[q]
            total += dot(J, k, v, rows.slot[k])
        out[r] = total


@inline
def dot(J, k, v, s):
    return J[k, 0] * v[s, 0] + J[k, 1] * v[s, 1] + J[k, 2] * v[s, 2]


@inline
def put_block(cand, at, slot, j0, j1, j2):
    cand.slot[at] = slot
    cand.J[at, 0], cand.J[at, 1], cand.J[at, 2] = j0, j1, j2
    for c in range(3):
        cand.T1[at, c] = 0.0
        cand.T2[at, c] = 0.0


@far(WHOLE, WHOLE, WHOLE)
@compiled
def add_rows(box, n, count):
    """Append the rows par.wanted[:count] to n candidates; returns how many there are. Their b and λ are the caller's.

    The orientations are those of state.
    """
    system, state, par = open_box(box)
    ineq, cand = par.ineq, par.cand
    rows, J, quat = ineq.rows, ineq.J, state.quat
    for i in range(count):
        r = par.wanted[i]
        at = cand.ptr[n]
        par.source[n] = r
        par.bounce[n] = ineq.restitution[r]
        cand.mu[n] = ineq.friction[r]
        n0 = n1 = n2 = 0.0
        for k in range(rows.ptr[r], rows.ptr[r + 1]):
            j0, j1, j2 = J[k, 0], J[k, 1], J[k, 2]
            put_block(cand, at, rows.slot[k], j0, j1, j2)
            at += 1
            size = sqrt(j0 * j0 + j1 * j1 + j2 * j2)
            if n0 == 0.0 and n1 == 0.0 and n2 == 0.0 and size > 0.0:
                n0, n1, n2 = j0 / size, j1 / size, j2 / size  # (1)
        for q in range(par.spin_ptr[r], par.spin_ptr[r + 1]):
            k = rows.spin_block[q]
            put_block(cand, at, rows.slot[k], J[k, 0], J[k, 1], J[k, 2])
            at += 1
        if ineq.friction[r] > 0.0:
            at = add_tangents(system.places, ineq, cand, par.spin_ptr, n, r, at, quat, n0, n1, n2)
        n += 1
        cand.ptr[n] = at
    return n


@inline
def add_tangents(places, ineq, cand, spin_ptr, n, r, at, quat, n0, n1, n2):
    rows = ineq.rows
    first = cand.ptr[n]
    points = rows.ptr[r + 1] - rows.ptr[r]
    for i in range(points):
        weight = lay_tangents(cand, first + i, n0, n1, n2)
        k = rows.ptr[r] + i
        if ineq.arm[k] > 0.0:  # a rigid ball: friction acts on its surface
            slot = rows.slot[k]
            body = ineq.quat_of[slot]
            out = -ineq.arm[k] if weight > 0.0 else ineq.arm[k]
            put_block(cand, at, slot + 1, 0.0, 0.0, 0.0)
            r0, r1, r2 = to_body(quat, body, out * n0, out * n1, out * n2)
            twist(cand, at, first + i, quat, body, r0, r1, r2)
            at += 1
    for q in range(spin_ptr[r], spin_ptr[r + 1]):
        here = first + points + (q - spin_ptr[r])
        source = first + (rows.spin_from[q] - rows.ptr[r])
        k = rows.spin_place[q]
        twist(cand, here, source, quat, places.body[k], places.arm[k, 0], places.arm[k, 1], places.arm[k, 2])
    return at


@inline
def lay_tangents(cand, at, n0, n1, n2):
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
def twist(cand, at, source, quat, body, r0, r1, r2):
    """(3): what friction at a place r (in principal axes) does to its body's rotation."""
    twist_one(cand.T1, at, source, quat, body, r0, r1, r2)
    twist_one(cand.T2, at, source, quat, body, r0, r1, r2)


@inline
def twist_one(T, at, source, quat, body, r0, r1, r2):
    j0, j1, j2 = to_body(quat, body, T[source, 0], T[source, 1], T[source, 2])
    T[at, 0] = r1 * j2 - r2 * j1
    T[at, 1] = r2 * j0 - r0 * j2
    T[at, 2] = r0 * j1 - r1 * j0


@inline
def dot_row(cand, J, n, v):
    """J v of one candidate, with J one of its cand.J, cand.T1, cand.T2."""
    total = 0.0
    for k in range(cand.ptr[n], cand.ptr[n + 1]):
        total += dot(J, k, v, cand.slot[k])
    return total


@far(NOTHING, WHOLE, TABLE, TABLE)
@compiled
def push_candidates(box, n, weight, v):
    """v += weight (Jᵀ λ + friction) with the λ of the candidates."""
    system, state, par = open_box(box)
    cand = par.cand
    for i in range(n):
        a, b, c = cand.lam[i, 0], cand.lam[i, 1], cand.lam[i, 2]
        if a == 0.0 and b == 0.0 and c == 0.0:
            continue
        for k in range(cand.ptr[i], cand.ptr[i + 1]):
            s = cand.slot[k]
            for q in range(3):
                v[s, q] += weight[s, q] * (a * cand.J[k, q] + b * cand.T1[k, q] + c * cand.T2[k, q])
