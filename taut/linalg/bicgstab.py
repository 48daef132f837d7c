"""BiCGSTAB [van der Vorst 1992] for A = Ja W Jbᵀ, and CGLS where it breaks down.

Right-preconditioned with M of vectors.py, made from the lower triangle: Ja and Jb differ little.

    v = A M⁻¹ p,    α = ρ / r̂ᵀv,    s = r - α v                                (1)
    t = A M⁻¹ s,    ω = tᵀs / tᵀt                                              (2)
    λ += M⁻¹(α p + ω s),    r = s - ω t                                        (3)

CGLS, conjugate gradients for BᵀB x = Bᵀc without forming BᵀB (B, c as in minres.py), needs no more
than that A is a matrix: from zero it gives the λ of singular.py (1), slowly.
"""

from __future__ import annotations

import math

from numba import types

from taut.compiled import on_demand
from taut.linalg.vectors import (
    dot,
    most_iterations,
    norm,
    norm_by_row,
    precondition,
    start_from,
    times,
    times_scaled,
    times_scaled_transposed,
    weigh,
)

BREAKDOWN = 1e-30


@on_demand(types.UniTuple(types.int64, 2))
def bicgstab(matrix, preconditioner, tolerance, work, b, out):
    """Start from `out`. Returns (status, iterations); status 0: |b - Aλ| <= tolerance |b|, by row. See pcg."""
    ptr, idx, val, diag = matrix
    fac, inverse, which = preconditioner
    m = out.shape[0]
    r, shadow, p, v, t, z = work[0], work[1], work[2], work[3], work[4], work[5]
    goal = tolerance * norm_by_row(inverse, b)
    start_from(ptr, idx, val, inverse, b, out, r)
    for i in range(m):
        shadow[i] = r[i]
        p[i] = 0.0
        v[i] = 0.0
    rho_old, alpha, omega = 1.0, 1.0, 1.0
    for iteration in range(most_iterations(m)):
        if norm_by_row(inverse, r) <= goal:
            return 0, iteration
        rho = dot(shadow, r)
        if not abs(rho) > BREAKDOWN * norm(shadow) * norm(r):
            return 1, iteration
        beta = rho / rho_old * alpha / omega
        for i in range(m):
            p[i] = r[i] + beta * (p[i] - omega * v[i])
        rho_old = rho
        precondition(ptr, idx, diag, fac, inverse, which, p, z)  # (1)
        times(ptr, idx, val, z, v)
        alpha = rho / dot(shadow, v)
        for i in range(m):
            r[i] -= alpha * v[i]
            out[i] += alpha * z[i]
        if norm_by_row(inverse, r) <= goal:
            return 0, iteration + 1
        precondition(ptr, idx, diag, fac, inverse, which, r, z)  # (2)
        times(ptr, idx, val, z, t)
        omega = dot(t, r) / dot(t, t)
        for i in range(m):  # (3)
            out[i] += omega * z[i]
            r[i] -= omega * t[i]
        if not abs(omega) > 0.0:
            return 1, iteration + 1
    return 1, most_iterations(m)


@on_demand(types.UniTuple(types.int64, 2))
def cgls(ptr, idx, val, diag, scale, tolerance, work, b, out):
    """Start from zero. Returns (status, iterations)."""
    m = out.shape[0]
    r, s, p, q = work[0], work[1], work[2], work[3]
    weigh(val, diag, scale)
    for i in range(m):
        scale[i] = 1.0 / math.sqrt(scale[i])
        out[i] = 0.0
        r[i] = b[i] * scale[i]
    goal = tolerance * norm(r)
    times_scaled_transposed(ptr, idx, val, scale, r, s)
    first = norm(s)
    ss = first * first
    for i in range(m):
        p[i] = s[i]
    iteration = 0
    while norm(r) > goal and ss > (tolerance * first) ** 2 and iteration < most_iterations(m):
        times_scaled(ptr, idx, val, scale, p, q)
        alpha = ss / dot(q, q)
        for i in range(m):
            out[i] += alpha * p[i]
            r[i] -= alpha * q[i]
        times_scaled_transposed(ptr, idx, val, scale, r, s)
        ss_new = dot(s, s)
        for i in range(m):
            p[i] = s[i] + ss_new / ss * p[i]
        ss = ss_new
        iteration += 1
    for i in range(m):
        out[i] *= scale[i]
    return 0 if norm(r) <= goal or ss <= (tolerance * first) ** 2 else 1, iteration
