"""Projected Gauss-Seidel: many contacts at once, on velocities, with impulses λ that push and never pull.

    v' = v + W (Jᵀ λ_n + Tᵀ λ_t)                                              (1)
    w = J v' + b + c λ_n,      0 <= λ_n,   0 <= w,   λ_n w = 0                (2)
    |λ_t| <= μ λ_n,    λ_t brings T v' to zero, or as near to it as it may    (3)

With b = Φ / h bodies approach until they touch, and overlaps are resolved within the step. Contacts are hard
where the compliance c is 0. A small c > 0 lets them overlap by c h λ_n at rest (a spring of 1 / (c h²), treated
implicitly) and bounds the number of iterations for piles of any size: frictionless piles come to rest with just as
many contacts as they need, and then the smallest eigenvalues of A are nearly zero.

Without friction λ minimises f below over λ_n >= 0. With b = 0, f is no less than the gain of kinetic energy.

    f(λ) = λᵀ(J v + b) + ½ λᵀ A λ,      A = J W Jᵀ + diag(c)                  (4)

A is never formed: a sweep treats row after row, each with the velocities that the rows before it left behind (v' is
kept up to date),

    λ_n <- max(0, λ_n - w / A_rr),    λ_t <- λ_t - T v' / a_t, projected to |λ_t| <= μ λ_n     (5)

(a_t: the larger eigenvalue of the tangents' 2 x 2 block). Sweeps find quickly which contacts push, but pass
impulses on through a pile only from neighbour to neighbour. So rounds of a few sweeps alternate with conjugate
residuals on the contacts that push (conjugate_residuals.py).

A caller with equations of its own calls `prepare` and `apply_impulses` once, then `sweep_rows` and its own solve in
turns.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, entry, inline, structure
from .conjugate_residuals import solve_on_face
from .rows import add_impulse, project_to_cone, row_rate, row_slack
from .settings import SweepSettings, current

Array = np.ndarray


@structure
class SweepWork(NamedTuple):
    """Workspace of the iterative solver."""

    a: Array  # (rows, 2) A_rr of the normal, a_t of the tangents [1/kg]; 0: nothing here can move
    inverse: Array  # (rows, 2) 1 / a, or 0
    res: Array  # (rows, 3) of conjugate residuals: r,
    z: Array  # (rows, 3) D⁻¹ r,
    az: Array  # (rows, 3) A z,
    p: Array  # (rows, 3) direction,
    ap: Array  # (rows, 3) and A p
    sticks: Array  # (rows) 1 where the tangents are free
    working_set: Array  # (rows) the rows that may push: sweeps within a round treat these alone
    face: Array  # (rows) rows with λ_n > 0
    dz: Array  # (slots, 3) velocities of z
    dv: Array  # (slots, 3) and of p
    settings: SweepSettings


def sweep_work(rows: int, slots: int, settings: SweepSettings | None = None) -> SweepWork:
    """Workspace for `rows` rows and for velocities of `slots` slots; `settings`: by default the current ones."""
    pairs = [np.zeros((rows, 2)) for _ in range(2)]
    triples = [np.zeros((rows, 3)) for _ in range(5)]
    lists = [np.zeros(rows, np.int64) for _ in range(3)]
    velocities = [np.zeros((slots, 3)) for _ in range(2)]
    return SweepWork._make([*pairs, *triples, *lists, *velocities, settings or current().sweeps])


@entry
def solve_by_sweeps(cand, work, n, weight, v, tolerance, max_sweeps):
    """Find λ of the first n rows, from cand.lam on, and add its effect to v, which comes without any.

    weight: diagonal of W, shape (slots, 3). Ends when no row changes by more, nor is off by more, than
    `tolerance` [m/s]. Returns the sweeps (and iterations of conjugate residuals) that it took; more than
    `max_sweeps` says that the tolerance was not reached.
    """
    prepare(cand, work, n, weight)
    warm_start(cand, work, n, weight, v)
    spent = 0
    settings = work.settings
    sweeps_in_round = settings.first_sweeps
    best = math.inf
    while spent < max_sweeps:
        change = sweep_rows(cand, work, n, weight, v)
        spent += 1
        worst, working = find_working_set(cand, work, n, v, settings.near_slack * max(change, tolerance))
        if change <= tolerance and worst <= tolerance:
            return spent
        if worst > settings.worse_round * best:
            # The face misleads, as it may with friction.
            sweeps_in_round = min(2 * sweeps_in_round, settings.max_round_sweeps)
        best = min(best, worst)
        for _ in range(min(sweeps_in_round - 1, max_sweeps - spent)):
            for k in range(working):
                sweep_row(cand, work, work.working_set[k], weight, v)
            spent += 1
        spent += solve_on_face(cand, work, working, weight, v, tolerance, max_sweeps - spent)
    sweep_rows(cand, work, n, weight, v)  # so that λ satisfies its bounds, whatever the residual
    return max_sweeps + 1


@compiled
def prepare(cand, work, n, weight):
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
        work.a[r, 0] = normal + cand.compliance[r] if normal > 0.0 else 0.0
        work.a[r, 1] = 0.5 * (first + second) + math.sqrt(0.25 * (first - second) ** 2 + mixed**2)
        for c in range(2):
            work.inverse[r, c] = 1.0 / work.a[r, c] if work.a[r, c] > 0.0 else 0.0


@compiled
def apply_impulses(cand, n, weight, lam, v):
    """Add W (Jᵀ λ_n + Tᵀ λ_t) to v, for impulses or changes of impulses `lam` of the first n rows."""
    for r in range(n):
        add_impulse(cand, cand.J, r, weight, lam[r, 0], v)  # (1)
        if cand.mu[r] > 0.0:
            add_impulse(cand, cand.T1, r, weight, lam[r, 1], v)
            add_impulse(cand, cand.T2, r, weight, lam[r, 2], v)


@compiled
def warm_start(cand, work, n, weight, v):
    """Begin with the part of cand.lam, from none to all, that makes f smallest, and add its effect to v.

    So f is never above zero: impulses of the last step, which may be all wrong now, can not add energy.
    """
    lam, dv = cand.lam, work.dv
    dv[:] = 0.0
    apply_impulses(cand, n, weight, lam, dv)
    slope = 0.0
    curvature = 0.0
    for r in range(n):  # (4)
        slope += lam[r, 0] * (row_rate(cand, cand.J, r, v) + cand.b[r])
        curvature += lam[r, 0] * (row_rate(cand, cand.J, r, dv) + cand.compliance[r] * lam[r, 0])
        if cand.mu[r] > 0.0:
            slope += lam[r, 1] * row_rate(cand, cand.T1, r, v) + lam[r, 2] * row_rate(cand, cand.T2, r, v)
            curvature += lam[r, 1] * row_rate(cand, cand.T1, r, dv) + lam[r, 2] * row_rate(cand, cand.T2, r, dv)
    alpha = min(1.0, -slope / curvature) if slope < 0.0 < curvature else 0.0
    for r in range(n):
        for c in range(3):
            lam[r, c] *= alpha
    for s in range(v.shape[0]):
        for c in range(3):
            v[s, c] += alpha * dv[s, c]


@compiled
def sweep_rows(cand, work, n, weight, v):
    """Treat the first n rows one after the other. Returns the largest change of any row's velocity by its own λ."""
    largest = 0.0
    for r in range(n):
        largest = max(largest, sweep_row(cand, work, r, weight, v))
    return largest


@inline
def sweep_row(cand, work, r, weight, v):
    """Solve (2) and (3) of row r alone. Returns the change [m/s] of its velocity."""
    lam, a = cand.lam, work.a
    if not a[r, 0] > 0.0:
        return 0.0
    before = lam[r, 0]
    after = max(0.0, before - row_slack(cand, r, v) * work.inverse[r, 0])  # (5)
    change = abs(after - before) * a[r, 0]
    if change > 0.0:
        lam[r, 0] = after
        add_impulse(cand, cand.J, r, weight, after - before, v)
    if cand.mu[r] > 0.0 and a[r, 1] > 0.0 and (after > 0.0 or lam[r, 1] != 0.0 or lam[r, 2] != 0.0):
        first, second = tangent_update(cand, work, r, v)
        step = max(abs(first - lam[r, 1]), abs(second - lam[r, 2])) * a[r, 1]
        add_impulse(cand, cand.T1, r, weight, first - lam[r, 1], v)
        add_impulse(cand, cand.T2, r, weight, second - lam[r, 2], v)
        lam[r, 1], lam[r, 2] = first, second
        change = max(change, step)
    return change


@inline
def tangent_update(cand, work, r, v):
    """λ_t of row r: a step towards T v' = 0, projected to Coulomb's cone."""
    inverse = work.inverse[r, 1]
    first = cand.lam[r, 1] - row_rate(cand, cand.T1, r, v) * inverse  # (5)
    second = cand.lam[r, 2] - row_rate(cand, cand.T2, r, v) * inverse
    return project_to_cone(first, second, cand.mu[r] * cand.lam[r, 0])  # (3)


@compiled
def find_working_set(cand, work, n, v, margin):
    """The working set: rows with λ_n > 0 or a slack below `margin` [m/s].

    Returns by how much the worst of all rows is off (2) and (3) [m/s], and the length of the list.
    """
    lam, a = cand.lam, work.a
    worst = 0.0
    count = 0
    for r in range(n):
        if not a[r, 0] > 0.0:
            continue
        w = row_slack(cand, r, v)
        worst = max(worst, abs(min(w, lam[r, 0] * a[r, 0])))  # (2)
        if lam[r, 0] > 0.0 or w < margin:
            work.working_set[count] = r
            count += 1
        if lam[r, 0] > 0.0 and cand.mu[r] > 0.0 and a[r, 1] > 0.0:
            first, second = tangent_update(cand, work, r, v)  # (3)
            worst = max(worst, max(abs(first - lam[r, 1]), abs(second - lam[r, 2])) * a[r, 1])
    return worst, count
