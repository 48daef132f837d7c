"""Many contacts at once, on velocities, with impulses λ that push and never pull.

    v' = v + W (Jᵀ λ_n + Tᵀ λ_t)                                              (1)
    w = J v' + b + c λ_n,      0 <= λ_n,   0 <= w,   λ_n w = 0                (2)
    |λ_t| <= μ λ_n,    λ_t brings T v' to zero, or as near to it as it may    (3)

With b = Φ / h bodies approach until they touch, and what overlaps is parted within the step. Contacts are hard
where c = 0. A small c > 0 lets them overlap by c h λ_n at rest (a spring of 1 / (c h²), treated implicitly) and
bounds the number of iterations for piles of any size: frictionless piles come to rest with just as many contacts
as they need, and then the smallest eigenvalues of A are nearly zero.

Without friction λ minimises f below over λ_n >= 0. With b = 0, f is no less than the gain of kinetic energy.

    f(λ) = λᵀ(J v + b) + ½ λᵀ A λ,      A = J W Jᵀ + diag(c)                  (4)

A is never formed: a sweep of projected Gauss-Seidel treats row after row, each seeing the velocities that the
rows before it left behind (v' is kept up to date),

    λ_n <- max(0, λ_n - w / A_rr),    λ_t <- (λ_t - T v' / a_t) cut to |λ_t| <= μ λ_n     (5)

(a_t: the larger eigenvalue of the tangents' 2 x 2 block). Sweeps find out quickly which contacts push, but pass
impulses on through a pile only from neighbour to neighbour. So rounds of a few sweeps alternate with conjugate
residuals on the contacts that push (descent.py).

A caller with equations of its own calls `prepare` and `begin` once, then `sweep` and its own solve in turns, and
`apply` for changes of λ that it makes itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taut.compiled import compiled, entry, inline, structure
from taut.contact.conjugate_residuals import descend
from taut.contact.rows import opening, push, rate

Array = np.ndarray
FEW = 8  # sweeps in a round, at first
MANY = 64  # and at most, where the face misleads: with friction it may
WORSE = 2.0  # times the best round so far
WATCHED = 8.0  # rows that open by less than this times the last change of any row may soon close


@structure
class Candidates(NamedTuple):
    """Rows that may push: up to `rows` rows of together `blocks` blocks."""

    ptr: Array  # (rows + 1) blocks ptr[r] : ptr[r + 1] of row r
    slot: Array  # (blocks) slot that each block acts on
    J: Array  # (blocks, 3) normals
    T1: Array  # (blocks, 3) tangents, not read where mu is zero
    T2: Array
    b: Array  # (rows) [m/s]
    mu: Array  # (rows) coefficient of friction
    soft: Array  # (rows) c [1/kg], zero for hard contacts
    lam: Array  # (rows, 3) impulses [N s]: normal, two tangents; the next call starts from them
    # from here on: room of the solver
    a: Array  # (rows, 2) A_rr of the normal, a_t of the tangents [1/kg]; 0: nothing here can move
    inverse: Array  # (rows, 2) 1 / a, or 0
    res: Array  # (rows, 3) of conjugate residuals: r,
    z: Array  # (rows, 3) D⁻¹ r,
    az: Array  # (rows, 3) A z,
    p: Array  # (rows, 3) direction,
    ap: Array  # (rows, 3) and A p
    stick: Array  # (rows) 1 where the tangents are free
    watched: Array  # (rows) rows of the sweeps within a round
    face: Array  # (rows) rows that push
    dz: Array  # (slots, 3) velocities of z
    dv: Array  # (slots, 3) and of p


def candidates(rows: int, blocks: int, slots: int) -> Candidates:
    """Room for `rows` rows of together `blocks` blocks, and for velocities of `slots` slots."""
    whole = np.int64
    return Candidates(
        ptr=np.zeros(rows + 1, whole),
        slot=np.zeros(blocks, whole),
        J=np.zeros((blocks, 3)),
        T1=np.zeros((blocks, 3)),
        T2=np.zeros((blocks, 3)),
        b=np.zeros(rows),
        mu=np.zeros(rows),
        soft=np.zeros(rows),
        lam=np.zeros((rows, 3)),
        a=np.zeros((rows, 2)),
        inverse=np.zeros((rows, 2)),
        res=np.zeros((rows, 3)),
        z=np.zeros((rows, 3)),
        az=np.zeros((rows, 3)),
        p=np.zeros((rows, 3)),
        ap=np.zeros((rows, 3)),
        stick=np.zeros(rows, whole),
        watched=np.zeros(rows, whole),
        face=np.zeros(rows, whole),
        dz=np.zeros((slots, 3)),
        dv=np.zeros((slots, 3)),
    )


@entry
def project(cand, n, weight, v, tolerance, most):
    """Find λ of the first n rows, from cand.lam on, and add its effect to v, which comes without any.

    weight: diagonal of W, shape (slots, 3). Ends when no row changes by more, nor is off by more, than
    `tolerance` [m/s]. Returns the sweeps (and iterations of conjugate gradients) that it took; more than
    `most` says that the tolerance was not reached.
    """
    prepare(cand, n, weight)
    begin(cand, n, weight, v)
    spent = 0
    in_round = FEW
    best = math.inf
    while spent < most:
        change = sweep(cand, n, weight, v)
        spent += 1
        worst, watched = watch(cand, n, v, WATCHED * max(change, tolerance))
        if change <= tolerance and worst <= tolerance:
            return spent
        if worst > WORSE * best:
            in_round = min(2 * in_round, MANY)
        best = min(best, worst)
        for _ in range(min(in_round - 1, most - spent)):
            for k in range(watched):
                sweep_row(cand, cand.watched[k], weight, v)
            spent += 1
        spent += descend(cand, watched, weight, v, tolerance, most - spent)
    sweep(cand, n, weight, v)  # so that λ obeys its bounds, whatever the rows lack
    return most + 1


@compiled
def prepare(cand, n, weight):
    """A_rr and a_t of each row: once for given J and T."""
    for r in range(n):
        normal, first, second, mixed = 0.0, 0.0, 0.0, 0.0
        for k in range(cand.ptr[r], cand.ptr[r + 1]):
            s = cand.slot[k]
            for c in range(3):
                normal += weight[s, c] * cand.J[k, c] ** 2
                if cand.mu[r] > 0.0:
                    first += weight[s, c] * cand.T1[k, c] ** 2
                    second += weight[s, c] * cand.T2[k, c] ** 2
                    mixed += weight[s, c] * cand.T1[k, c] * cand.T2[k, c]
        cand.a[r, 0] = normal + cand.soft[r] if normal > 0.0 else 0.0
        cand.a[r, 1] = 0.5 * (first + second) + math.sqrt(0.25 * (first - second) ** 2 + mixed**2)
        for c in range(2):
            cand.inverse[r, c] = 1.0 / cand.a[r, c] if cand.a[r, c] > 0.0 else 0.0


@compiled
def apply(cand, n, weight, lam, v):
    """Add W (Jᵀ λ_n + Tᵀ λ_t) to v, for impulses or changes of impulses `lam` of the first n rows."""
    for r in range(n):
        push(cand, cand.J, r, weight, lam[r, 0], v)  # (1)
        if cand.mu[r] > 0.0:
            push(cand, cand.T1, r, weight, lam[r, 1], v)
            push(cand, cand.T2, r, weight, lam[r, 2], v)


@compiled
def begin(cand, n, weight, v):
    """Begin with the part of cand.lam, from none to all, that makes f smallest, and add its effect to v.

    So f is never above zero: impulses of the last step, which may be all wrong now, can not add energy.
    """
    lam, dv = cand.lam, cand.dv
    dv[:] = 0.0
    apply(cand, n, weight, lam, dv)
    slope = 0.0
    curvature = 0.0
    for r in range(n):  # (4)
        slope += lam[r, 0] * (rate(cand, cand.J, r, v) + cand.b[r])
        curvature += lam[r, 0] * (rate(cand, cand.J, r, dv) + cand.soft[r] * lam[r, 0])
        if cand.mu[r] > 0.0:
            slope += lam[r, 1] * rate(cand, cand.T1, r, v) + lam[r, 2] * rate(cand, cand.T2, r, v)
            curvature += lam[r, 1] * rate(cand, cand.T1, r, dv) + lam[r, 2] * rate(cand, cand.T2, r, dv)
    share = min(1.0, -slope / curvature) if slope < 0.0 < curvature else 0.0
    for r in range(n):
        for c in range(3):
            lam[r, c] *= share
    for s in range(v.shape[0]):
        for c in range(3):
            v[s, c] += share * dv[s, c]


@compiled
def sweep(cand, n, weight, v):
    """Treat the first n rows one after the other. Returns the largest change of any row's velocity by its own λ."""
    largest = 0.0
    for r in range(n):
        largest = max(largest, sweep_row(cand, r, weight, v))
    return largest


@inline
def sweep_row(cand, r, weight, v):
    """Solve (2) and (3) of row r alone. Returns the change [m/s] of its velocity."""
    lam, a = cand.lam, cand.a
    if not a[r, 0] > 0.0:
        return 0.0
    before = lam[r, 0]
    after = max(0.0, before - opening(cand, r, v) * cand.inverse[r, 0])  # (5)
    change = abs(after - before) * a[r, 0]
    if change > 0.0:
        lam[r, 0] = after
        push(cand, cand.J, r, weight, after - before, v)
    if cand.mu[r] > 0.0 and a[r, 1] > 0.0 and (after > 0.0 or lam[r, 1] != 0.0 or lam[r, 2] != 0.0):
        first, second = wanted(cand, r, v)
        step = max(abs(first - lam[r, 1]), abs(second - lam[r, 2])) * a[r, 1]
        push(cand, cand.T1, r, weight, first - lam[r, 1], v)
        push(cand, cand.T2, r, weight, second - lam[r, 2], v)
        lam[r, 1], lam[r, 2] = first, second
        change = max(change, step)
    return change


@inline
def wanted(cand, r, v):
    """λ_t that row r would like best, of those that its λ_n allows."""
    inverse = cand.inverse[r, 1]
    first = cand.lam[r, 1] - rate(cand, cand.T1, r, v) * inverse  # (5)
    second = cand.lam[r, 2] - rate(cand, cand.T2, r, v) * inverse
    limit = cand.mu[r] * cand.lam[r, 0]
    length = math.sqrt(first * first + second * second)
    share = limit / length if length > limit else 1.0  # (3)
    return share * first, share * second


@compiled
def watch(cand, n, v, margin):
    """List the rows that push or open by less than `margin` [m/s].

    Returns by how much the worst of all rows is off (2) and (3) [m/s], and the length of the list.
    """
    lam, a = cand.lam, cand.a
    worst = 0.0
    count = 0
    for r in range(n):
        if not a[r, 0] > 0.0:
            continue
        w = opening(cand, r, v)
        worst = max(worst, abs(min(w, lam[r, 0] * a[r, 0])))  # (2)
        if lam[r, 0] > 0.0 or w < margin:
            cand.watched[count] = r
            count += 1
        if lam[r, 0] > 0.0 and cand.mu[r] > 0.0 and a[r, 1] > 0.0:
            first, second = wanted(cand, r, v)  # (3)
            worst = max(worst, max(abs(first - lam[r, 1]), abs(second - lam[r, 2])) * a[r, 1])
    return worst, count
