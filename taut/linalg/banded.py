"""LDLᵀ within a band; a dense matrix is a band of full width.

Column j of the lower triangle is stored from its diagonal downwards, `stride = bandwidth + 1` numbers:

    val[j stride + p] = A[j + p, j]                              (1)

so that the updates of the factorisation and of the solves run along memory. A pivot below
`tolerance` times its original diagonal counts as dependent: its row is left out (1/D = 0).
"""

from __future__ import annotations

from numba import types

from taut.compiled import inline, on_demand


@inline
def factor_tridiagonal(val, fac, inverse, tolerance):
    """bandwidth 1: fac[i] = L[i+1, i]. Returns the number of dependent pivots."""
    dependent = 0
    l = 0.0
    below = 0.0
    for i in range(inverse.shape[0]):
        a = val[2 * i]
        d = a - l * below
        below = val[2 * i + 1]
        if d <= tolerance * a:
            dependent += 1
            inverse[i] = 0.0
            l = 0.0
        else:
            inverse[i] = 1.0 / d
            l = below / d
        fac[i] = l
    return dependent


@inline
def solve_tridiagonal(fac, inverse, perm, b, out):
    """`out` holds L⁻¹ b on the way: long chains are bound by memory, and every array counts."""
    m = inverse.shape[0]
    l = 0.0
    value = 0.0
    for i in range(m):
        row = perm[i]
        value = b[row] - l * value
        out[row] = value
        l = fac[i]
    value = 0.0
    for i in range(m - 1, -1, -1):
        row = perm[i]
        value = out[row] * inverse[i] - fac[i] * value
        out[row] = value


@on_demand(types.int64)
def factor_band(val, fac, inverse, bandwidth, tolerance):
    """Right-looking LDLᵀ of (1). Returns the number of dependent pivots."""
    m = inverse.shape[0]
    stride = bandwidth + 1
    dependent = 0
    for k in range(val.shape[0]):
        fac[k] = val[k]
    for j in range(m):
        at = j * stride
        last = min(bandwidth, m - 1 - j)
        d = fac[at]
        if d <= tolerance * val[at]:
            dependent += 1
            inverse[j] = 0.0
            for p in range(1, last + 1):
                fac[at + p] = 0.0
            continue
        r = 1.0 / d
        inverse[j] = r
        for p in range(1, last + 1):
            l = fac[at + p] * r
            to = at + p * bandwidth  # so that to + i is A[j + i, j + p]
            for i in range(p, last + 1):
                fac[to + i] -= l * fac[at + i]
        for p in range(1, last + 1):
            fac[at + p] *= r
    return dependent


@on_demand(types.none)
def solve_band(fac, inverse, perm, bandwidth, y, b, out):
    m = inverse.shape[0]
    stride = bandwidth + 1
    for i in range(m):
        y[i] = b[perm[i]]
    for j in range(m):
        value = y[j]
        at = j * stride
        for p in range(1, min(bandwidth, m - 1 - j) + 1):
            y[j + p] -= fac[at + p] * value
    for j in range(m - 1, -1, -1):
        value = y[j] * inverse[j]
        at = j * stride
        for p in range(1, min(bandwidth, m - 1 - j) + 1):
            value -= fac[at + p] * y[j + p]
        y[j] = value
        out[perm[j]] = value
