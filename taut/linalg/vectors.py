"""Vector operations of the iterative solvers: products with the full rows of A, inner products, preconditioning.

Preconditioner M = L D Lᵀ: IC(0) keeps of L only what lies on the pattern of A,

    u_j = a_ij - Σ_k L_jk u_k,    L_ij = u_j / D_j,    D_i = a_ii - Σ_j L_ij u_j          (1)

over the columns j < i of row i; Jacobi keeps the diagonal alone.
"""

from __future__ import annotations

import math

import numpy as np

from taut.compiled import entry, inline
from taut.linalg.linear import IC0

SCALES_ALIKE = 100.0  # R of singular.py


@inline
def times(ptr, idx, val, x, out):
    """out = A x."""
    for i in range(out.shape[0]):
        total = 0.0
        for q in range(ptr[i], ptr[i + 1]):
            total += val[q] * x[idx[q]]
        out[i] = total


@inline
def times_scaled(ptr, idx, val, scale, x, out):
    """out = B x with B_ij = scale_i A_ij scale_j."""
    for i in range(out.shape[0]):
        total = 0.0
        for q in range(ptr[i], ptr[i + 1]):
            total += val[q] * scale[idx[q]] * x[idx[q]]
        out[i] = total * scale[i]


@inline
def times_scaled_transposed(ptr, idx, val, scale, x, out):
    """out = Bᵀ x."""
    for i in range(out.shape[0]):
        out[i] = 0.0
    for i in range(out.shape[0]):
        for q in range(ptr[i], ptr[i + 1]):
            out[idx[q]] += scale[idx[q]] * val[q] * scale[i] * x[i]


@inline
def weigh(val, diag, weight):
    """Weights (2) of singular.py; a row without a diagonal, which nothing can move, gets g."""
    logs = 0.0
    count = 0
    for i in range(diag.shape[0]):
        if val[diag[i]] > 0.0:
            logs += math.log(val[diag[i]])
            count += 1
    g = math.exp(logs / count) if count > 0 else 1.0
    for i in range(diag.shape[0]):
        a = val[diag[i]]
        weight[i] = min(max(g, a / SCALES_ALIKE), a * SCALES_ALIKE) if a > 0.0 else g


@inline
def dot(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@inline
def norm(x):
    return math.sqrt(dot(x, x))


@inline
def norm_by_row(inverse, x):
    """Each row measured by its own pivot, so that small rows count as much as large ones."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * inverse[i] * x[i]
    return math.sqrt(total)


@inline
def start_from(ptr, idx, val, inverse, b, x, r):
    """r = b - A x; x becomes zero where it is a worse start than none."""
    times(ptr, idx, val, x, r)
    for i in range(x.shape[0]):
        r[i] = b[i] - r[i]
    if not norm_by_row(inverse, r) < norm_by_row(inverse, b):
        for i in range(x.shape[0]):
            x[i] = 0.0
            r[i] = b[i]


@inline
def invert_pivot(inverse, i, d, a, tolerance):
    """1/d of a pivot; of one below `tolerance` times its diagonal a 0. Returns 1 for such a dependent one, else 0."""
    if d <= tolerance * a:
        inverse[i] = 0.0
        return 1
    inverse[i] = 1.0 / d
    return 0


@inline
def most_iterations(m):
    """Beyond this an iteration that exact arithmetic ends after m rounds will not end."""
    return 3 * m + 100


@entry
def factor_preconditioner(ptr, idx, val, diag, fac, inverse, u, which, tolerance):
    """(1). u must come in as zeros and goes out as zeros. Returns dependent pivots, as LDLᵀ does."""
    dependent = 0
    for i in range(inverse.shape[0]):
        a = val[diag[i]]
        d = a
        if which == IC0:
            end = np.uint64(diag[i])
            for q in range(ptr[i], end):
                j = idx[q]
                t = val[q]
                for p in range(ptr[j], np.uint64(diag[j])):
                    t -= fac[p] * u[idx[p]]
                u[j] = t
                fac[q] = t * inverse[j]
                d -= fac[q] * t
            for q in range(ptr[i], end):
                u[idx[q]] = 0.0
        dependent += invert_pivot(inverse, i, d, a, tolerance)
    return dependent


@inline
def precondition(ptr, idx, diag, fac, inverse, which, r, z):
    """z = M⁻¹ r."""
    m = z.shape[0]
    if which != IC0:
        for i in range(m):
            z[i] = r[i] * inverse[i]
        return
    for i in range(m):
        total = r[i]
        for q in range(ptr[i], np.uint64(diag[i])):
            total -= fac[q] * z[idx[q]]
        z[i] = total
    for i in range(m):
        z[i] *= inverse[i]
    for i in range(m - 1, -1, -1):
        for q in range(ptr[i], np.uint64(diag[i])):
            z[idx[q]] -= fac[q] * z[i]
