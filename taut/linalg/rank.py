"""Which rows depend on which: the names behind a warning about a singular A.

LDLᵀ leaves a pivot of nothing at each row k that the rows before it already imply. Then

    Lᵀ z = e_k   gives   A z = L D Lᵀ z = D_k L e_k = 0                        (1)

and the rows where z is not zero are one smallest dependent set: without any of them, the others
are independent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taut.compiled import entry
from taut.linalg.choose import minimum_degree
from taut.linalg.sparse import factor_pattern, factor_sparse

if TYPE_CHECKING:
    import scipy.sparse as sp

PIVOT_TOLERANCE = 1e-10
SUPPORT = 1e-6  # of the largest entry of z; below, a row takes no part
MOST_GROUPS = 10


@entry
def null_vector(col_ptr, col_idx, fac, k, z):
    """Back substitution (1)."""
    for j in range(z.shape[0]):
        z[j] = 0.0
    z[k] = 1.0
    for j in range(k - 1, -1, -1):
        total = 0.0
        for p in range(col_ptr[j], col_ptr[j + 1]):
            total -= fac[p] * z[col_idx[p]]
        z[j] = total


class Dependence(NamedTuple):
    """A smallest set of dependent rows: Σ weights_k J_k = 0, with weights of length one."""

    rows: list[int]
    weights: np.ndarray


def dependent_rows(A: np.ndarray | sp.spmatrix) -> list[list[int]]:
    """The groups of rows of A = J W Jᵀ that are linearly dependent, at most MOST_GROUPS of them."""
    return [dependence.rows for dependence in dependences(A)[1]]


def dependences(A: np.ndarray | sp.spmatrix) -> tuple[int, list[Dependence]]:
    """The rank of A = J W Jᵀ, and its dependent rows, at most MOST_GROUPS sets of them."""
    import scipy.sparse as sp

    A = sp.csr_matrix(A)
    A.eliminate_zeros()
    m = A.shape[0]
    diagonal = A.diagonal()
    unit = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scale = sp.diags(unit)
    A = sp.csr_matrix(scale @ A @ scale + 0.0 * sp.identity(m))  # the pattern needs every diagonal
    perm = minimum_degree(A)
    lower = sp.tril(A[perm][:, perm], format="csr")
    lower.sort_indices()
    ptr, idx = lower.indptr.astype(np.uint64), lower.indices.astype(np.uint32)
    col_ptr, col_idx, row_ptr, row_idx = factor_pattern(ptr, idx)
    fac, inverse, z = np.zeros(col_idx.size), np.zeros(m), np.zeros(m)
    filled = np.zeros(m, np.uint64)
    row_ptr, row_idx = row_ptr.astype(np.uint64), row_idx.astype(np.uint32)
    pattern = col_ptr, col_idx, row_ptr, row_idx
    factor_sparse((ptr, idx, lower.data), pattern, filled, fac, inverse, z, PIVOT_TOLERANCE)
    without_pivot = np.flatnonzero(inverse == 0.0)
    found = []
    for k in without_pivot[:MOST_GROUPS]:
        null_vector(col_ptr, col_idx, fac, int(k), z)
        places = np.flatnonzero(np.abs(z) > SUPPORT * np.abs(z).max())
        places = places[np.argsort(perm[places])]
        weights = unit[perm[places]] * z[places]
        found.append(Dependence(perm[places].tolist(), weights / np.linalg.norm(weights)))
    return m - len(without_pivot), sorted(found, key=lambda dependence: dependence.rows)
