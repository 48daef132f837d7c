"""Cholesky factors that keep to their envelope [George and Liu 1981].

Row i of the lower triangle is kept from its first entry f_i to the diagonal, zeros included. Nothing else fills in:

    L_ij = (a_ij - Σ_k L_ik L_jk) / L_jj,    L_ii = √(a_ii - Σ_k L_ik²),    k ≥ max(f_i, f_j)          (1)

Entry (i, j) is number offset[i] + j. The envelope is small where rows are numbered along something long and narrow.
"""

from __future__ import annotations

from math import sqrt

from taut.compiled import compiled, inline


@inline
def dot(a, b):
    """In four sums, which need not wait for each other."""
    count = a.shape[0]
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    fours = count - count % 4
    for k in range(0, fours, 4):
        s0 += a[k] * b[k]
        s1 += a[k + 1] * b[k + 1]
        s2 += a[k + 2] * b[k + 2]
        s3 += a[k + 3] * b[k + 3]
    for k in range(fours, count):
        s0 += a[k] * b[k]
    return (s0 + s1) + (s2 + s3)


@inline
def place_envelope(first, count, offset):
    """Returns how many entries there are."""
    begin = 0
    for i in range(count):
        offset[i] = begin - first[i]
        begin += i + 1 - first[i]
    return begin


@compiled
def factor_envelope(first, offset, count, val, dependent):
    """(1) in place of A. A pivot below `dependent` times its diagonal becomes that diagonal."""
    for i in range(count):
        begin, end = offset[i] + first[i], offset[i] + i
        for j in range(first[i], i):
            k = max(first[i], first[j])
            done = dot(val[offset[i] + k : offset[i] + j], val[offset[j] + k : offset[j] + j])
            val[offset[i] + j] = (val[offset[i] + j] - done) / val[offset[j] + j]
        diagonal = val[end]
        pivot = diagonal - dot(val[begin:end], val[begin:end])
        val[end] = sqrt(pivot if pivot > dependent * diagonal else diagonal)


@compiled
def solve_envelope(first, offset, count, val, b, out):
    """L Lᵀ out = b; `out` may be `b`."""
    for i in range(count):
        row = val[offset[i] + first[i] : offset[i] + i]
        out[i] = (b[i] - dot(row, out[first[i] : i])) / val[offset[i] + i]
    for i in range(count - 1, -1, -1):
        row, before = val[offset[i] + first[i] : offset[i] + i], out[first[i] : i]
        out[i] /= val[offset[i] + i]
        x_i = out[i]
        for k in range(row.shape[0]):
            before[k] -= x_i * row[k]
