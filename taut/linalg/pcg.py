"""Preconditioned conjugate gradients [Hestenes and Stiefel 1952], M as in vectors.py.

    α = rᵀz / pᵀAp,    λ += α p,    r -= α A p                                 (1)
    z = M⁻¹ r,    p ← z + (rᵀz)_new / (rᵀz)_old p                              (2)

A curvature pᵀAp of nothing means that A is singular and b outside its range; the caller then turns
to MINRES.
"""

from __future__ import annotations

from numba import types

from taut.compiled import on_demand
from taut.linalg.vectors import dot, norm_by_row, precondition, start_from, times

NO_CURVATURE = 1e-14  # of the largest diagonal


@on_demand(types.UniTuple(types.int64, 2))
def pcg(matrix, preconditioner, tolerance, most, work, b, out):
    """Start from `out`. Returns (status, iterations), the latter at most `most`; status 0: |b - Aλ| <= tolerance |b|,
    by row. matrix: ptr, idx, val and diag; preconditioner: fac, inverse and which (vectors.py)."""
    ptr, idx, val, diag = matrix
    fac, inverse, which = preconditioner
    m = out.shape[0]
    r, z, p, Ap = work[0], work[1], work[2], work[3]
    goal = tolerance * norm_by_row(inverse, b)
    start_from(ptr, idx, val, inverse, b, out, r)
    largest = 0.0
    for i in range(m):
        largest = max(largest, val[diag[i]])
        p[i] = 0.0
    rz_old = 1.0
    for iteration in range(most):
        if norm_by_row(inverse, r) <= goal:
            return 0, iteration
        precondition(ptr, idx, diag, fac, inverse, which, r, z)
        rz = dot(r, z)
        for i in range(m):
            p[i] = z[i] + rz / rz_old * p[i]  # (2)
        rz_old = rz
        times(ptr, idx, val, p, Ap)
        curvature = dot(p, Ap)
        if not curvature > NO_CURVATURE * largest * dot(p, p):
            return 1, iteration
        alpha = rz / curvature
        for i in range(m):  # (1)
            out[i] += alpha * p[i]
            r[i] -= alpha * Ap[i]
    return 1, most
