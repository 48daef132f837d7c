"""Sparse LDLᵀ: symbolic work once per pattern, numeric work row by row ("up-looking", Davis 2005).

Row k of L solves a triangular system with the rows above it:

    Σ_{j<=i} L_ij u_j = A_ki  (i < k),    L_ki = u_i / D_i,    D_k = A_kk - Σ_i L_ki u_i        (1)

The pattern of L follows from the elimination tree, parent(i) = min{k > i : L_ki ≠ 0}: row k of L
holds the nodes on the tree paths from the entries of row k of A up to k.
"""

from __future__ import annotations

import numpy as np
from numba import types

from taut.compiled import entry, on_demand
from taut.linalg.vectors import invert_pivot


@entry
def count_factor(ptr, idx, parent, mark, count):
    """Elimination tree and number of entries below the diagonal per column of L."""
    for k in range(parent.shape[0]):
        parent[k] = -1
        mark[k] = k
        count[k] = 0
        for q in range(ptr[k], ptr[k + 1]):
            i = np.int64(idx[q])
            while i < k and mark[i] != k:
                if parent[i] < 0:
                    parent[i] = k
                count[i] += 1
                mark[i] = k
                i = parent[i]


@entry
def fill_columns(ptr, idx, parent, mark, col_ptr, col_idx, filled):
    """Row indices of each column of L, ascending."""
    for k in range(parent.shape[0]):
        mark[k] = k
        filled[k] = col_ptr[k]
        for q in range(ptr[k], ptr[k + 1]):
            i = np.int64(idx[q])
            while i < k and mark[i] != k:
                col_idx[filled[i]] = k
                filled[i] += np.uint64(1)
                mark[i] = k
                i = parent[i]


def symbolic(ptr: np.ndarray, idx: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Elimination tree and column counts for the rows of a lower triangle."""
    m = ptr.size - 1
    parent, mark, count = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    count_factor(ptr.astype(np.uint64), idx.astype(np.uint32), parent, mark, count)
    return parent, count


def factor_columns(
    ptr: np.ndarray, idx: np.ndarray, parent: np.ndarray, count: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The pattern of L by columns: col_ptr, col_idx."""
    m = ptr.size - 1
    col_ptr = np.concatenate([[0], np.cumsum(count)]).astype(np.uint64)
    col_idx = np.empty(count.sum(), np.uint32)
    mark, filled = np.empty(m, np.int64), np.empty(m, np.uint64)
    fill_columns(ptr.astype(np.uint64), idx.astype(np.uint32), parent, mark, col_ptr, col_idx, filled)
    return col_ptr, col_idx


def factor_pattern(ptr: np.ndarray, idx: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The pattern of L by columns and by rows: col_ptr, col_idx, row_ptr, row_idx."""
    col_ptr, col_idx = factor_columns(ptr, idx, *symbolic(ptr, idx))
    return col_ptr, col_idx, *transpose_pattern(col_ptr, col_idx, ptr.size - 1)


def transpose_pattern(ptr: np.ndarray, idx: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a pattern given by columns (or the reverse), ascending."""
    order = np.argsort(idx, kind="stable")
    begin = ptr.astype(np.int64)
    other = np.repeat(np.arange(m), begin[1:] - begin[:-1])
    starts = np.concatenate([[0], np.cumsum(np.bincount(idx, minlength=m))])
    return starts, other[order]


@on_demand(types.int64)
def factor_sparse(matrix, pattern, filled, fac, inverse, y, tolerance):
    """Numeric LDLᵀ (1). y must come in as zeros and goes out as zeros. Returns dependent pivots.

    matrix: ptr, idx and val of the lower triangle; pattern of L: col_ptr, col_idx, row_ptr, row_idx.
    """
    ptr, idx, val = matrix
    col_ptr, col_idx, row_ptr, row_idx = pattern
    dependent = 0
    for k in range(inverse.shape[0]):
        filled[k] = col_ptr[k]
        for q in range(ptr[k], ptr[k + 1]):
            y[idx[q]] = val[q]
        a = y[k]
        y[k] = 0.0
        d = a
        for t in range(row_ptr[k], row_ptr[k + 1]):
            i = row_idx[t]
            u = y[i]
            y[i] = 0.0
            for p in range(col_ptr[i], filled[i]):
                y[col_idx[p]] -= fac[p] * u
            l = u * inverse[i]
            d -= l * u
            fac[filled[i]] = l
            filled[i] += np.uint64(1)
        dependent += invert_pivot(inverse, k, d, a, tolerance)
    return dependent


@on_demand(types.none)
def solve_sparse(col_ptr, col_idx, fac, inverse, perm, y, b, out):
    """y goes out as zeros, as factor_sparse wants it."""
    m = inverse.shape[0]
    for i in range(m):
        y[i] = b[perm[i]]
    for j in range(m):
        value = y[j]
        for p in range(col_ptr[j], col_ptr[j + 1]):
            y[col_idx[p]] -= fac[p] * value
    for j in range(m - 1, -1, -1):
        value = y[j] * inverse[j]
        for p in range(col_ptr[j], col_ptr[j + 1]):
            value -= fac[p] * y[col_idx[p]]
        y[j] = value
    for i in range(m):
        out[perm[i]] = y[i]
        y[i] = 0.0
