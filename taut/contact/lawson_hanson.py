"""The active set of a strictly convex problem, after Lawson and Hanson (1974):

    minimise  ½ xᵀ (A + ε) x + gᵀ x   over   x ≥ 0                              (1)

Rows enter one at a time, the one with the most negative slack A x + g first. With the set enforced as
equalities the minimum is z; x moves towards z until a multiplier would change sign, and that row
leaves. The objective falls with every move, so no set comes twice. ε > 0 keeps the factor

    L Lᵀ = A + ε   on the set                                                   (2)

regular when rows are redundant; a row is appended to it, or rotated out, in p² operations.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled import compiled
from .face import solve_cholesky
from .work import record

ROUNDING = 1e-14  # of the terms of a slack: no row enters for less (a guard, not a setting)


@compiled
def append_row(row, p, work):
    """Row p of the factor (2)."""
    A, L, order, epsilon = work.A, work.L, work.order, work.settings.proximal_weight
    left = A[row, row] + epsilon
    for j in range(p):
        total = A[row, order[j]]
        for k in range(j):
            total -= L[p, k] * L[j, k]
        L[p, j] = total / L[j, j]
        left -= L[p, j] * L[p, j]
    L[p, p] = math.sqrt(max(left, 0.5 * epsilon))  # less than ε only by rounding
    order[p] = row


@compiled
def remove_row(k, p, work):
    """Take row k out of the p rows of (2): move the rows after it up, rotate their columns back into shape."""
    L, order = work.L, work.order
    for i in range(k, p - 1):
        order[i] = order[i + 1]
        for j in range(i + 2):
            L[i, j] = L[i + 1, j]
    for j in range(k, p - 1):
        a, b = L[j, j], L[j, j + 1]
        root = math.hypot(a, b)
        cosine, sine = a / root, b / root
        L[j, j] = root
        for i in range(j + 1, p - 1):
            a, b = L[i, j], L[i, j + 1]
            L[i, j] = cosine * a + sine * b
            L[i, j + 1] = cosine * b - sine * a


@compiled
def solve_active(p, work):
    """z: the minimum of (1) with the set enforced as equalities."""
    for i in range(p):
        work.z[i] = -work.g[work.order[i]]
    solve_cholesky(work.L, p, work.z)


@compiled
def worst_row(m, work):
    """The row outside the set with the most negative slack, or -1."""
    worst = -1
    lowest = 0.0
    for i in range(m):
        if work.active[i] != 0 or work.excluded[i] != 0 or work.d[i] == 0.0:
            continue
        total = work.g[i]
        size = abs(total)
        for j in range(m):
            if work.x[j] != 0.0:
                term = work.A[i, j] * work.x[j]
                total += term
                size += abs(term)
        work.s[i] = total
        if total < -ROUNDING * size and total < lowest:
            worst = i
            lowest = total
    return worst


@compiled
def step_length(p, work):
    """How far x may move towards z before a row of the set changes sign; 2 when nothing is in the way."""
    step = 2.0
    for i in range(p):
        if work.z[i] <= 0.0:
            x = work.x[work.order[i]]
            step = min(step, x / (x - work.z[i]) if x > 0.0 else 0.0)
    return step


@compiled
def minimise(m, work, log, instant, iteration):
    """Solve (1) from the set work.active (a guess is enough) into work.x. Returns the iterations so far.

    The log is told who enters (with its slack) and who leaves (with the multiplier it would need).
    """
    order, x, z = work.order, work.x, work.z
    p = np.int64(0)  # a literal would have every part compiled twice
    for i in range(m):
        x[i] = 0.0
        work.excluded[i] = 0
        if work.active[i] != 0:
            append_row(i, p, work)
            p += 1
    fresh = False
    # Beyond so many only rounding is left to fight.
    for _ in range(work.settings.changes_per_row * m + work.settings.changes_spare):
        iteration += 1
        solve_active(p, work)
        if fresh and z[p - 1] <= 0.0:  # it entered by rounding alone: wait until x has changed
            p -= 1
            work.active[order[p]] = 0
            work.excluded[order[p]] = 1
        else:
            step = step_length(p, work)
            if step <= 1.0:
                for i in range(p - 1, -1, -1):
                    row = order[i]
                    limits = z[i] <= 0.0 and (x[row] <= 0.0 or x[row] / (x[row] - z[i]) <= step)
                    x[row] += step * (z[i] - x[row])
                    if limits:
                        before = work.active[row]
                        x[row] = 0.0
                        work.active[row] = 0
                        record(log, instant, iteration, row, before, work.active[row], work.d[row] * z[i], 0.0)
                        remove_row(i, p, work)
                        p -= 1
                fresh = False
                continue
            for i in range(p):
                x[order[i]] = z[i]
            for i in range(m):
                work.excluded[i] = 0
        row = worst_row(m, work)
        if row < 0:
            break
        before = work.active[row]
        work.active[row] = 1
        record(log, instant, iteration, row, before, work.active[row], 0.0, work.s[row] / work.d[row])
        append_row(row, p, work)
        p += 1
        fresh = True
    return iteration
