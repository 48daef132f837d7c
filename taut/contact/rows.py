"""Two words on sparse rows: the velocity of a row, and the velocities that its impulse brings.

`B` is one of cand.J, cand.T1, cand.T2: 3-vectors, one for each block.
"""

from __future__ import annotations

import numpy as np

from taut.compiled import inline


@inline
def rate(cand, B, r, v):
    """B v of row r."""
    total = 0.0
    for k in range(np.uint64(cand.ptr[r]), np.uint64(cand.ptr[r + 1])):
        s = np.uint64(cand.slot[k])
        total += B[k, 0] * v[s, 0] + B[k, 1] * v[s, 1] + B[k, 2] * v[s, 2]
    return total


@inline
def opening(cand, r, v):
    """w of row r."""
    return rate(cand, cand.J, r, v) + cand.b[r] + cand.soft[r] * cand.lam[r, 0]


@inline
def push(cand, B, r, weight, impulse, v):
    """v += W Bᵀ impulse of row r."""
    for k in range(np.uint64(cand.ptr[r]), np.uint64(cand.ptr[r + 1])):
        s = np.uint64(cand.slot[k])
        for c in range(3):
            v[s, c] += weight[s, c] * B[k, c] * impulse
