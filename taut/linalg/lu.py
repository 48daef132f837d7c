"""Sparse LU of a square matrix whose pattern is symmetric and whose values need not be, without pivoting.

    L U = P A Pᵀ,   U_ij = A_ij - Σ_{k<i} L_ik U_kj,   L_ij = (A_ij - Σ_{k<j} L_ik U_kj) / U_jj        (1)

The pattern of L and of Uᵀ is that of the Cholesky factor of the pattern (sparse.py), so that it is known once and for
all. The order P is the caller's, who knows which pivots can not vanish: of

    [S  -Jᵀ]
    [J   0 ]                                                                                          (2)

each row of J must stand after all unknowns that it acts on. Its pivot is then one of J S⁻¹ Jᵀ, positive where S is and
where J has full rank.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taut.compiled import compiled, structure
from taut.linalg.choose import minimum_degree
from taut.linalg.sparse import factor_pattern


@structure
class SparseLU(NamedTuple):
    """A matrix and its factors. A `place` is where the order puts an unknown."""

    ptr: np.ndarray  # (n+1,) uint64: rows of A by place
    idx: np.ndarray  # (.,) uint32: their columns, by place
    val: np.ndarray  # (.,) float64: A, never overwritten by `factor_lu`
    perm: np.ndarray  # (n,) uint32: the unknown at each place
    row_ptr: np.ndarray  # (n+1,) uint64: rows of L
    row_idx: np.ndarray  # (.,) uint32
    col_ptr: np.ndarray  # (n+1,) uint64: rows of U
    col_idx: np.ndarray  # (.,) uint32
    lower: np.ndarray  # (.,) float64: L below its diagonal of ones
    upper: np.ndarray  # (.,) float64: U above its diagonal
    inverse: np.ndarray  # (n,) float64: 1/U_ii
    y: np.ndarray  # (n,) float64


def plan_lu(rows: np.ndarray, columns: np.ndarray, perm: np.ndarray) -> tuple[SparseLU, np.ndarray]:
    """Memory for a matrix with entries at (rows, columns), and the place of each of them in `val`.

    Entries may repeat; diagonals and transposed places are added where they are missing.
    """
    n = len(perm)
    place = np.empty(n, np.int64)
    place[perm] = np.arange(n)
    i, j, diagonal = place[rows], place[columns], np.arange(n)
    key = np.unique(np.concatenate([i * n + j, j * n + i, diagonal * (n + 1)]))
    a, b = key // max(n, 1), key % max(n, 1)
    lower = a >= b
    ptr = np.searchsorted(a[lower], np.arange(n + 1))
    col_ptr, col_idx, row_ptr, row_idx = factor_pattern(ptr, b[lower])
    lu = SparseLU(
        np.searchsorted(a, np.arange(n + 1)).astype(np.uint64), b.astype(np.uint32), np.zeros(len(key)),
        perm.astype(np.uint32), row_ptr.astype(np.uint64), row_idx.astype(np.uint32), col_ptr.astype(np.uint64),
        col_idx.astype(np.uint32), np.zeros(len(row_idx)), np.zeros(len(col_idx)), np.zeros(n), np.zeros(n),
    )  # fmt: skip
    return lu, np.searchsorted(key, i * n + j)


def saddle_order(nodes: list[np.ndarray], members: list[np.ndarray]) -> np.ndarray:
    """An order for (2): unknowns node by node, by minimum degree, and each row of J after the last node it acts on.

    nodes    the unknowns of each node
    members  the nodes of each row of J; the row's number follows those of all unknowns
    """
    import scipy.sparse as sp

    count = len(nodes)
    widths = [len(row_nodes) for row_nodes in members]
    touches = sp.csr_matrix(
        (np.ones(sum(widths)), np.concatenate([*members, np.zeros(0, np.int64)]).astype(np.int64),
         np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)), (len(members), count))  # fmt: skip
    graph = sp.csr_matrix(touches.T @ touches + sp.identity(count))
    order = minimum_degree(graph) if count else np.zeros(0, np.int64)
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    after: list[list[int]] = [[] for _ in range(count + 1)]
    first = sum(len(unknowns) for unknowns in nodes)
    for row, row_nodes in enumerate(members):
        after[int(rank[row_nodes].max()) + 1 if len(row_nodes) else 0].append(first + row)
    parts = [np.array(after[0], np.int64)]
    for k, node in enumerate(order):
        parts += [np.asarray(nodes[node], np.int64), np.array(after[k + 1], np.int64)]
    return np.concatenate(parts)


@compiled
def factor_lu(lu):
    """(1). Returns how many pivots vanish, which are left out."""
    y, inverse, lower, upper = lu.y, lu.inverse, lu.lower, lu.upper
    vanished = 0
    for i in range(inverse.shape[0]):
        for q in range(lu.ptr[i], lu.ptr[i + 1]):
            y[lu.idx[q]] = lu.val[q]
        for q in range(lu.row_ptr[i], lu.row_ptr[i + 1]):
            k = lu.row_idx[q]
            l = y[k] * inverse[k]
            y[k] = 0.0
            lower[q] = l
            for p in range(lu.col_ptr[k], lu.col_ptr[k + 1]):
                y[lu.col_idx[p]] -= l * upper[p]
        if y[i] == 0.0:
            vanished += 1
            inverse[i] = 0.0
        else:
            inverse[i] = 1.0 / y[i]
        y[i] = 0.0
        for p in range(lu.col_ptr[i], lu.col_ptr[i + 1]):
            upper[p] = y[lu.col_idx[p]]
            y[lu.col_idx[p]] = 0.0
    return vanished


@compiled
def solve_lu(lu, b, out):
    """A out = b; they may be the same array. y goes out as zeros, as `factor_lu` wants it."""
    y, n = lu.y, lu.inverse.shape[0]
    for i in range(n):
        total = b[lu.perm[i]]
        for q in range(lu.row_ptr[i], lu.row_ptr[i + 1]):
            total -= lu.lower[q] * y[lu.row_idx[q]]
        y[i] = total
    for i in range(n - 1, -1, -1):
        total = y[i]
        for p in range(lu.col_ptr[i], lu.col_ptr[i + 1]):
            total -= lu.upper[p] * y[lu.col_idx[p]]
        y[i] = total * lu.inverse[i]
    for i in range(n):
        out[lu.perm[i]] = y[i]
        y[i] = 0.0
