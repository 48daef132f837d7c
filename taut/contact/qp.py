"""The exact solution of λ ≥ 0, w = Sλ + c ≥ 0, λ·w = 0, where S may be singular.

These are the conditions of a convex problem, here in the scaled unknowns of face.py:

    minimise  ½ yᵀ A y + qᵀ y   over   y ≥ 0                                    (1)

1.  The rows that pushed last time are tried first. Where they satisfy all conditions and nothing is
    redundant, this is the answer, for one factorisation.
2.  Otherwise the active set is found on the regularised problem

        x_k = argmin ½ xᵀ A x + qᵀ x + ½ ε |x - x_{k-1}|²,   x ≥ 0,   x_0 = 0   (2)

    and its set is solved without ε (face.py), with the smallest multipliers of all. One round is
    nearly always enough: as ε → 0 the set of x_1 is that of the smallest solution of (1). More
    rounds are a safe way on, since x_k tends to a solution whenever there is one.
3.  When there is none, x_k - x_{k-1} tends to a vector u that proves it: no motion at all can make
    the sum of the slacks, weighed by u, positive.

        u ≥ 0,   A u = 0,   qᵀ u < 0                                            (3)

λ is unique unless rows that push are dependent, or another solution gives a push to a row that has
w = 0 and λ = 0. A step (2) from a point where those rows push finds such a solution if there is one.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from ..compiled import compiled, on_demand
from .face import find_slack, scale_problem, solve_equalities, unscale
from .lawson_hanson import minimise
from .work import INFEASIBLE, NOT_CONVERGED, NOT_UNIQUE, OK, record_all, reject_nan


@compiled
def solve_face(m, work):
    """Multipliers and slack of the rows work.face, less those that would pull. Returns the dependent rows."""
    while True:
        dependent = solve_equalities(m, work.face, work)
        dropped = 0
        for i in range(m):
            if work.y[i] < 0.0:
                work.face[i] = 0
                dropped += 1
        if dropped == 0:
            find_slack(m, work)
            return dependent


@compiled
def violation(m, work):
    """By how much (relative to the terms of the sum) a slack is negative, or not zero where y > 0."""
    worst = 0.0
    for i in range(m):
        if work.magnitude[i] > 0.0:
            missed = abs(work.s[i]) if work.y[i] > 0.0 else -work.s[i]
            worst = max(worst, missed / work.magnitude[i])
    return worst


@compiled
def weak_rows(m, work):
    """How many rows have neither slack nor multiplier."""
    count = 0
    for i in range(m):
        if work.d[i] > 0.0 and work.y[i] == 0.0 and work.s[i] <= work.settings.weak_slack * work.magnitude[i]:
            count += 1
    return count


@compiled
def set_linear_term(m, work):
    """The linear term of (2)."""
    for i in range(m):
        work.g[i] = work.q[i] - work.settings.proximal_weight * work.centre[i]


@on_demand(types.boolean)
def is_infeasible(m, work):
    """Whether the move from work.centre to work.x, which is put into work.t, is a certificate (3) of infeasibility."""
    u, length, work_done, largest = work.t, 0.0, 0.0, 0.0
    settings = work.settings
    for i in range(m):
        u[i] = max(work.x[i] - work.centre[i], 0.0)
        largest = max(largest, u[i])
    for i in range(m):
        if u[i] < settings.ray_share * largest:
            u[i] = 0.0
        length += u[i] * u[i]
        work_done += work.q[i] * u[i]
    energy = 0.0
    for i in range(m):
        for j in range(m):
            energy += u[i] * work.A[i, j] * u[j]
    proven = work_done < 0.0 and work_done * work_done > (settings.slack_accepted * work.scale[1]) ** 2 * length
    return proven and energy <= settings.rank_tolerance * length


@on_demand(types.boolean)
def another_solution(m, work, instant):
    """Whether a weak row pushes in some other solution."""
    largest = 0.0
    for i in range(m):
        largest = max(largest, work.y[i])
    if largest == 0.0:
        return False
    push = work.settings.probing_push * largest
    for i in range(m):
        weak = work.d[i] > 0.0 and work.y[i] == 0.0 and work.s[i] <= work.settings.weak_slack * work.magnitude[i]
        work.face[i] = weak
        work.centre[i] = push if weak else work.y[i]
        work.active[i] = work.d[i] > 0.0 and (work.y[i] > 0.0 or weak)
    set_linear_term(m, work)
    minimise(m, work, work.no_log, instant, m)
    for i in range(m):
        if work.face[i] != 0 and work.x[i] > work.settings.probed_share * push:
            return True
    return False


@compiled
def unmovable(c, m, work):
    """The row most violated among those along which nothing can move, or -1."""
    top = 0.0
    for i in range(m):
        top = max(top, abs(c[i]))
    lowest_row = np.int64(-1)
    lowest = -work.settings.slack_accepted * top
    for i in range(m):
        if work.d[i] == 0.0 and c[i] < lowest:
            lowest_row = i
            lowest = c[i]
    return lowest_row


@on_demand(types.Tuple((types.float64, types.int64, types.boolean, types.int64)))
def search(m, work, log, instant):
    """Rounds of (2) from the rows work.face until the conditions hold or are proven to contradict each other.

    Leaves the multipliers in work.y, their slack in work.s and the set in work.active.
    Returns (violation, dependent rows, whether infeasible, iterations).
    """
    for i in range(m):
        work.active[i] = work.face[i]
        work.centre[i] = 0.0
    settings = work.settings
    iteration = np.int64(0)
    dependent = np.int64(0)
    best = math.inf
    proven = False
    for turn in range(settings.max_proximal_rounds):
        set_linear_term(m, work)
        iteration = minimise(m, work, log, instant, iteration)
        for i in range(m):
            work.face[i] = work.active[i]
        redundant = solve_face(m, work)
        now = violation(m, work)
        if turn == 0 or now < best:
            best = now
            dependent = redundant
            for i in range(m):
                work.y_best[i] = work.y[i]
        accepted = best <= settings.slack_accepted and turn >= settings.proximal_patience
        if best <= settings.slack_tolerance or accepted:
            break
        proven = is_infeasible(m, work)
        if proven:
            break
        for i in range(m):
            work.centre[i] = work.x[i]
    for i in range(m):
        work.y[i] = work.y_best[i]
    find_slack(m, work)
    return best, dependent, proven, iteration


@on_demand(types.none)
def write_certificate(c, m, fixed, lam, w, work):
    """λ = u of (3) with 1 as its largest entry, and w = c. A row that nothing can move contradicts itself."""
    largest = 0.0
    for i in range(m):
        lam[i] = (1.0 if i == fixed else 0.0) if fixed >= 0 else work.d[i] * work.t[i]
        largest = max(largest, lam[i])
        w[i] = c[i]
    for i in range(m):
        lam[i] /= largest


@compiled
def solve_qp(S, c, m, active, lam, w, work, log, instant):
    """The exact answer (1), starting from the rows in `active`, which becomes those with λ > 0. Returns a status."""
    if not scale_problem(S, c, m, work):
        return reject_nan(m, lam, w)
    for i in range(m):
        work.was_active[i] = active[i]
        work.face[i] = active[i] != 0 and work.d[i] > 0.0
    dependent = solve_face(m, work)
    missed = violation(m, work)
    proven = False
    iteration = np.int64(0)
    if missed > work.settings.slack_tolerance or dependent > 0 or weak_rows(m, work) > 0:
        missed, dependent, proven, iteration = search(m, work, log, instant)
        for i in range(m):
            work.was_active[i] = work.active[i]
    fixed = unmovable(c, m, work)
    if proven or fixed >= 0:
        status = INFEASIBLE
        write_certificate(c, m, fixed, lam, w, work)
    else:
        status = OK if missed <= work.settings.slack_accepted else NOT_CONVERGED
        unscale(S, c, m, work.y, lam, w, work)
        if dependent > 0 or (weak_rows(m, work) > 0 and another_solution(m, work, instant)):
            status |= NOT_UNIQUE
    for i in range(m):
        active[i] = lam[i] > 0.0
    record_all(log, instant, iteration, m, work.was_active, active, lam, w)
    return status
