"""Equalities on a set of rows: S_FF λ_F = -c_F, λ = 0 elsewhere, whatever the rank of S_FF.

Rows are scaled, so that tolerances do not depend on units and masses:

    A = D S D,   q = D c,   λ = D y,   D = diag(e)^(-1/2)                       (1)

with the weights e of linalg/singular.py: equal while the diagonals of S lie within a factor `alike_scales` of their
geometric mean g, a row's own beyond. Cholesky with diagonal pivoting splits the face into independent rows B and the
rows N that depend on them:

    A_BB = L Lᵀ,   X = L⁻ᵀ (L⁻¹ A_BN),   Z = (-X, 1),   A Z = 0                 (2)
    P = 1 - Z (ZᵀZ)⁻¹ Zᵀ                                                        (3)

P removes null vectors. Of the right-hand side b = -q it keeps what A can reach, so that rows in conflict
share the residual (least squares); of a solution it keeps the smallest:

    y ← y + P (A_BB⁻¹ (P (b - A y))_B, 0)                                       (4)

from y = 0; the later rounds remove what rounding left in the first.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled import compiled

MOVABLE = 1e-14  # of the largest diagonal: below, nothing can move along this row (rounding, not a setting)


@compiled
def scale_problem(S, c, m, work):
    """The scaled problem (1), with d = 0 for rows along which nothing can move.

    Returns whether all numbers are finite.
    """
    largest = 0.0
    for i in range(m):
        largest = max(largest, S[i, i])
    logs = 0.0
    count = 0
    for i in range(m):
        if S[i, i] > MOVABLE * largest:
            logs += math.log(S[i, i])
            count += 1
    g = math.exp(logs / count) if count > 0 else 1.0
    top, alike = work.scale[0], work.settings.alike_scales
    total = 0.0
    for i in range(m):
        a = S[i, i]
        total += abs(c[i])
        if a > MOVABLE * largest:
            work.d[i] = 1.0 / math.sqrt(min(max(g, a / alike), a * alike))
        else:
            work.d[i] = 0.0
        work.q[i] = work.d[i] * c[i]
        top = max(top, abs(work.q[i]))
        for j in range(i + 1):
            total += abs(S[i, j])
            work.A[i, j] = work.d[i] * S[i, j] * work.d[j]
            work.A[j, i] = work.A[i, j]
    work.scale[1] = top
    return math.isfinite(total)


@compiled
def factor_face(p, work):
    """Cholesky of A on work.rows[:p], reordered by pivots (2). Returns the rank."""
    A, K, rows, left = work.A, work.K, work.rows, work.pivot
    for i in range(p):
        left[i] = A[rows[i], rows[i]]
    for k in range(p):
        best = -1
        ratio = work.settings.rank_tolerance
        for i in range(k, p):
            quotient = left[i] / A[rows[i], rows[i]]
            if quotient > ratio:
                best = i
                ratio = quotient
        if best < 0:
            return np.int64(k)
        root = math.sqrt(left[best])
        if best != k:
            row = rows[k]
            rows[k] = rows[best]
            rows[best] = row
            left[best] = left[k]
            for j in range(k):
                exchanged = K[k, j]
                K[k, j] = K[best, j]
                K[best, j] = exchanged
        K[k, k] = root
        for i in range(k + 1, p):
            total = A[rows[i], rows[k]]
            for j in range(k):
                total -= K[i, j] * K[k, j]
            K[i, k] = total / root
            left[i] -= K[i, k] * K[i, k]
    return np.int64(p)


@compiled
def factor_null_space(p, rank, work):
    """X of (2), one dependent row after the other, and the Cholesky factor of ZᵀZ = 1 + XᵀX."""
    K, X, G = work.K, work.X, work.G
    for n in range(p - rank):
        for i in range(rank - 1, -1, -1):
            total = K[rank + n, i]  # K of a dependent row is L⁻¹ of its column of A
            for j in range(i + 1, rank):
                total -= K[j, i] * X[n, j]
            X[n, i] = total / K[i, i]
        for k in range(n + 1):
            total = 1.0 if k == n else 0.0
            for i in range(rank):
                total += X[n, i] * X[k, i]
            for j in range(k):
                total -= G[n, j] * G[k, j]
            G[n, k] = math.sqrt(total) if k == n else total / G[k, k]


@compiled
def project_out_null_space(p, rank, x, work):
    """x ← P x (3)"""
    X, G, t = work.X, work.G, work.t
    count = p - rank
    for n in range(count):
        total = x[rank + n]
        for i in range(rank):
            total -= X[n, i] * x[i]
        for k in range(n):
            total -= G[n, k] * t[k]
        t[n] = total / G[n, n]
    for n in range(count - 1, -1, -1):
        total = t[n]
        for k in range(n + 1, count):
            total -= G[k, n] * t[k]
        t[n] = total / G[n, n]
    for n in range(count):
        x[rank + n] -= t[n]
        for i in range(rank):
            x[i] += X[n, i] * t[n]


@compiled
def solve_cholesky(K, rank, x):
    """x ← (K Kᵀ)⁻¹ x, for the leading rows of a lower triangle K"""
    for i in range(rank):
        total = x[i]
        for j in range(i):
            total -= K[i, j] * x[j]
        x[i] = total / K[i, i]
    for i in range(rank - 1, -1, -1):
        x[i] /= K[i, i]
        for j in range(i):
            x[j] -= K[i, j] * x[i]


@compiled
def solve_equalities(m, flags, work):
    """Multipliers work.y with w = 0 on the flagged rows (4). Returns how many of these depend on the others."""
    A, rows, r = work.A, work.rows, work.r
    p = np.int64(0)  # a literal would have every part compiled twice
    for i in range(m):
        work.y[i] = 0.0
        if flags[i] != 0 and work.d[i] > 0.0:
            rows[p] = i
            p += 1
    rank = factor_face(p, work)
    if rank < p:
        factor_null_space(p, rank, work)
    for _ in range(work.settings.refinement_rounds):
        for i in range(p):
            total = -work.q[rows[i]]
            for j in range(p):
                total -= A[rows[i], rows[j]] * work.y[rows[j]]
            r[i] = total
        if rank < p:
            project_out_null_space(p, rank, r, work)
        for i in range(rank, p):
            r[i] = 0.0
        solve_cholesky(work.K, rank, r)
        if rank < p:
            project_out_null_space(p, rank, r, work)
        for i in range(p):
            work.y[rows[i]] += r[i]
    return p - rank


@compiled
def find_slack(m, work):
    """s = A y + q, and in work.magnitude how large the terms of each sum are."""
    for i in range(m):
        total = work.q[i]
        size = abs(total)
        for j in range(m):
            term = work.A[i, j] * work.y[j]
            total += term
            size += abs(term)
        work.s[i] = total
        work.magnitude[i] = size + work.settings.slack_floor * work.scale[1]


@compiled
def unscale(S, c, m, y, lam, w, work):
    """Back to the unknowns before scaling: λ = D y (1), and w = S λ + c."""
    for i in range(m):
        lam[i] = work.d[i] * y[i]
    for i in range(m):
        total = c[i]
        for j in range(m):
            total += S[i, j] * lam[j]
        w[i] = total
