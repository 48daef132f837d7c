"""Contact rows: sparse rows of J and of the tangents T, for contacts of kinds, groups and pairs alike.

A row consists of blocks: a 3-vector for each slot (a point, or the rotation of a rigid body) that the contact acts on.
`B` below is one of cand.J, cand.T1, cand.T2.

    w = J v + b + c λ,      v ← v + W Bᵀ λ                                      (1)
    |λ_t| ≤ μ λ_n           Coulomb's cone                                      (2)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure

Array = np.ndarray
# Constants for compiled functions: for a plain 0 or False numba would compile a callee a second time.
ZERO = np.int64(0)
NO, YES = np.False_, np.True_


@structure
class ContactRows(NamedTuple):
    """Candidates: rows that may push in a step, in arrays with a fixed capacity."""

    ptr: Array  # (capacity + 1) blocks ptr[r] : ptr[r + 1] of row r
    slot: Array  # (blocks) slot that each block acts on
    J: Array  # (blocks, 3) normals
    T1: Array  # (blocks, 3) tangents, not read where mu is zero
    T2: Array
    b: Array  # (capacity) constant part of w [m/s]
    mu: Array  # (capacity) coefficient of friction
    compliance: Array  # (capacity) c [1/kg], zero for hard contacts
    lam: Array  # (capacity, 3) impulses [N s]: normal, two tangents; comes in as a warm start
    restitution: Array  # (capacity)
    source: Array  # (capacity) inequality row of each candidate, or -1 - its place in state.pairs
    active: Array  # (capacity) 1: in the active set


def contact_rows(capacity: int, blocks: int) -> ContactRows:
    """Arrays for `capacity` rows of together `blocks` blocks."""
    whole = np.int64
    return ContactRows(
        ptr=np.zeros(capacity + 1, whole),
        slot=np.zeros(blocks, whole),
        J=np.zeros((blocks, 3)),
        T1=np.zeros((blocks, 3)),
        T2=np.zeros((blocks, 3)),
        b=np.zeros(capacity),
        mu=np.zeros(capacity),
        compliance=np.zeros(capacity),
        lam=np.zeros((capacity, 3)),
        restitution=np.zeros(capacity),
        source=np.zeros(capacity, whole),
        active=np.zeros(capacity, whole),
    )


@inline
def row_rate(cand, B, r, v):
    """B v of row r."""
    total = 0.0
    for k in range(np.uint64(cand.ptr[r]), np.uint64(cand.ptr[r + 1])):
        s = np.uint64(cand.slot[k])
        total += B[k, 0] * v[s, 0] + B[k, 1] * v[s, 1] + B[k, 2] * v[s, 2]
    return total


@inline
def row_slack(cand, r, v):
    """w of row r (1)."""
    return row_rate(cand, cand.J, r, v) + cand.b[r] + cand.compliance[r] * cand.lam[r, 0]


@inline
def add_impulse(cand, B, r, weight, impulse, v):
    """v += W Bᵀ impulse of row r (1)."""
    for k in range(np.uint64(cand.ptr[r]), np.uint64(cand.ptr[r + 1])):
        s = np.uint64(cand.slot[k])
        for c in range(3):
            v[s, c] += weight[s, c] * B[k, c] * impulse


@compiled
def add_impulses(cand, n, weight, v):
    """v += weight (Jᵀ λ_n + Tᵀ λ_t) of the first n rows, with λ in cand.lam."""
    for i in range(n):
        a, b, c = cand.lam[i, 0], cand.lam[i, 1], cand.lam[i, 2]
        if a == 0.0 and b == 0.0 and c == 0.0:
            continue
        for k in range(cand.ptr[i], cand.ptr[i + 1]):
            s = cand.slot[k]
            for q in range(3):
                v[s, q] += weight[s, q] * (a * cand.J[k, q] + b * cand.T1[k, q] + c * cand.T2[k, q])


@inline
def project_to_cone(first, second, limit):
    """The λ_t nearest to (first, second) with |λ_t| ≤ limit = μ λ_n (2)."""
    length = math.sqrt(first * first + second * second)
    scale = limit / length if length > limit else 1.0
    return scale * first, scale * second
