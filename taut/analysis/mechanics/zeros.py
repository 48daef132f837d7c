"""Eigenvalues of small motions, with those that are zero told as zero.

A wheel may stand anywhere, face anywhere and roll a little faster. Such neutral motions are one Jordan block: heading
moves the wheel sideways, a rate of the heading changes the heading. Rounding e parts the zeros of a block of k by
e^(1/k), 1e-4 of three, which looks like a motion that grows. Null vectors do not suffer so. With N a basis of those of
A, W of what is perpendicular,

    A [N W] = [N W] [0  Nᵀ A W]
                    [0  Wᵀ A W]                                                        (1)

so that A has the eigenvalues of Wᵀ A W and as many zeros as N has vectors; and so on with Wᵀ A W. A is balanced first:
states have units.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
NOTHING = 1e-7  # a singular value of this share of the largest is zero


def eigen(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors, as of numpy; an eigenvalue that rounding alone keeps from zero is 0."""
    from scipy.optimize import linear_sum_assignment

    values, vectors = np.linalg.eig(matrix)
    others = nonzero(matrix)
    if len(others) == len(values):
        return values, vectors
    own, place = linear_sum_assignment(np.abs(others[:, None] - values))
    found = np.zeros(len(values), complex)
    found[place] = others[own]
    return found, vectors


def nonzero(matrix: Array) -> Array:
    """The eigenvalues that are not zero, by (1)."""
    from scipy.linalg import matrix_balance

    if not matrix.size:
        return np.zeros(0, complex)
    A, _ = matrix_balance(matrix, permute=False)
    limit = NOTHING * float(np.linalg.norm(A, 2))
    while A.size:
        _, sizes, right = np.linalg.svd(A)
        rank = int((sizes > limit).sum())
        if rank == len(sizes):
            break
        W = right[:rank].T
        A = W.T @ A @ W
    return np.linalg.eigvals(A).astype(complex)
