"""Blocks of reduced coordinates that move no body in common: H has entries within a block alone.

    ptr, member    coordinates of block b: member[ptr[b] : ptr[b + 1]], rising
    begin, end     of row i of B: its entries are in the coordinates member[begin[i] : end[i]], those of one block
    of             (n,) which block a coordinate belongs to

Loops over a block do what loops over all coordinates would, without the zeros: results have the same bits.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...compiled import compiled, structure
from ...model.arrays import Array


@structure
class Blocks(NamedTuple):
    ptr: Array
    member: Array
    begin: Array
    end: Array
    of: Array


def one_block(points: int, n: int) -> Blocks:
    """All coordinates may move all bodies."""
    return blocks_of(np.zeros(n, np.int64), np.full(3 * points, 0 if n else -1, np.int64))


def blocks_of(labels: np.ndarray, rows: np.ndarray) -> Blocks:
    """labels: (n,) the block of each coordinate; rows: (3 points,) that of each row of B, -1: nothing moves it."""
    count = int(labels.max(initial=-1)) + 1
    member = np.argsort(labels, kind="stable").astype(np.int64)
    ptr = np.searchsorted(labels[member], np.arange(count + 1)).astype(np.int64)
    begin, end = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    moved = rows >= 0
    begin[moved], end[moved] = ptr[rows[moved]], ptr[rows[moved] + 1]
    return Blocks(ptr, member, begin, end, labels.astype(np.int64))


def blocks_of_tree(slot: np.ndarray, parent: np.ndarray, width: int, points: int) -> Blocks:
    """Links that hang from one anchor's link move what hangs below; each has `width` coordinates."""
    top = np.arange(len(slot))
    for k, above in enumerate(parent.tolist()):  # links come after those that they hang from
        top[k] = k if above < 0 else top[above]
    labels = np.unique(top, return_inverse=True)[1]
    rows = np.full((points, 3), -1, np.int64)
    rows[slot] = labels[:, None]
    return blocks_of(np.repeat(labels, width), rows.ravel())


def blocks_of_matrix(B: np.ndarray, slot: np.ndarray, part: np.ndarray, points: int) -> Blocks:
    """Of constant B, whose row i is that of number part[i] of slot[i]."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    pattern = csr_array(B != 0.0)
    whole = csr_array((pattern.T.astype(float) @ pattern.astype(float)) != 0.0) if B.size else csr_array((0, 0))
    labels = connected_components(whole, directed=False)[1] if B.shape[1] else np.zeros(0, np.int64)
    rows = np.full((points, 3), -1, np.int64)
    held = np.diff(pattern.indptr) > 0
    rows[slot[held], part[held]] = labels[pattern.indices[pattern.indptr[:-1][held]]]
    return blocks_of(labels, rows.ravel())


@compiled
def factor_blocks(blocks, H):
    """H = L Lᵀ in its lower half, block by block; returns 1 where one is not positive."""
    member = blocks.member
    for block in range(blocks.ptr.shape[0] - 1):
        low = blocks.ptr[block]
        for a in range(low, blocks.ptr[block + 1]):
            j = member[a]
            for b in range(low, a + 1):
                k = member[b]
                total = H[j, k]
                for c in range(low, b):
                    total -= H[j, member[c]] * H[k, member[c]]
                if k < j:
                    H[j, k] = total / H[k, k]
                elif total > 0.0:
                    H[j, j] = sqrt(total)
                else:
                    return 1
    return 0


@compiled
def solve_block(blocks, block, H, g, out):
    """H out = g of one block, from its factor."""
    low, high, member = blocks.ptr[block], blocks.ptr[block + 1], blocks.member
    for a in range(low, high):
        j = member[a]
        total = g[j]
        for k in member[low:a]:
            total -= H[j, k] * out[k]
        out[j] = total / H[j, j]
    for a in range(high - 1, low - 1, -1):
        j = member[a]
        total = out[j]
        for k in member[a + 1 : high]:
            total -= H[k, j] * out[k]
        out[j] = total / H[j, j]


@compiled
def solve_all_blocks(blocks, H, g, out):
    for block in range(blocks.ptr.shape[0] - 1):
        solve_block(blocks, block, H, g, out)
