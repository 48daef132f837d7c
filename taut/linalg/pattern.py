"""The pattern of A = J W Jᵀ and the list of block products behind each of its entries."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp


class Products(NamedTuple):
    """All ordered pairs of blocks that meet on a free slot."""

    left: np.ndarray
    right: np.ndarray
    left_row: np.ndarray
    right_row: np.ndarray


class Entries(NamedTuple):
    """The lower triangle in some order, sorted; `first` cuts the products into entries."""

    first: np.ndarray
    left: np.ndarray
    right: np.ndarray
    place_row: np.ndarray
    place_col: np.ndarray


def products(row_ptr: np.ndarray, slot: np.ndarray, free: np.ndarray) -> Products:
    """List the pairs, without a Python loop: each block meets all blocks of its slot."""
    row_of = np.repeat(np.arange(row_ptr.size - 1), np.diff(row_ptr))
    blocks = np.flatnonzero(free[slot])
    blocks = blocks[np.argsort(slot[blocks], kind="stable")]
    count = np.bincount(slot[blocks], minlength=free.size)
    begin = np.cumsum(count) - count
    size = count[slot[blocks]]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    left = np.repeat(blocks, size)
    right = blocks[np.repeat(begin[slot[blocks]], size) + within]
    return Products(left, right, row_of[left], row_of[right])


class Pattern:
    """The pattern of A, and the matrices from which orders are found. Those are made when they are first asked for:
    scipy.sparse takes longer to import than a small system takes to analyse."""

    def __init__(self, row_ptr: np.ndarray, slot: np.ndarray, free: np.ndarray) -> None:
        self.blocks = row_ptr, slot, free
        self.rows = row_ptr.size - 1
        self.products = products(row_ptr, slot, free)

    @property
    def bandwidth(self) -> int:
        """The half bandwidth of A in the given order."""
        return int(np.abs(self.products.left_row - self.products.right_row).max(initial=0))

    @cached_property
    def graph(self) -> sp.csr_matrix:
        return graph(self.products, self.rows)

    @cached_property
    def members(self) -> sp.csr_matrix:
        return members(*self.blocks)


def graph(pairs: Products, m: int) -> sp.csr_matrix:
    """The pattern of A as a matrix of ones, with a full diagonal."""
    import scipy.sparse as sp

    data = np.ones(pairs.left_row.size)
    matrix = sp.csr_matrix((data, (pairs.left_row, pairs.right_row)), shape=(m, m)) + sp.identity(m)
    matrix = sp.csr_matrix(matrix)
    matrix.data[:] = 1.0
    matrix.sort_indices()
    return matrix


def members(row_ptr: np.ndarray, slot: np.ndarray, free: np.ndarray) -> sp.csr_matrix:
    """Which free slots each row touches, as a matrix (rows, slots) that holds each of them once."""
    import scipy.sparse as sp

    row_of = np.repeat(np.arange(row_ptr.size - 1), np.diff(row_ptr))
    kept = free[slot]
    where = row_of[kept], slot[kept]
    matrix = sp.csr_matrix((np.ones(kept.sum()), where), shape=(row_ptr.size - 1, free.size))
    matrix.sum_duplicates()
    return matrix


def entries(pairs: Products, perm: np.ndarray, by_column: bool) -> Entries:
    """The lower triangle of P A Pᵀ, sorted by row (or column), each diagonal present even if empty."""
    m = perm.size
    place = np.empty(m, np.int64)
    place[perm] = np.arange(m)
    i, j = place[pairs.left_row], place[pairs.right_row]
    # off the diagonal each product comes twice, once in each triangle; on it both orders belong to the sum
    lower = i >= j
    i, j = i[lower], j[lower]
    key = j * m + i if by_column else i * m + j
    order = np.argsort(key, kind="stable")
    key = key[order]
    both = np.sort(np.concatenate([key, np.arange(m) * (m + 1)]))
    unique = both[np.diff(both, prepend=-1) > 0]
    first = np.append(np.searchsorted(key, unique), key.size)
    major, minor = unique // max(m, 1), unique % max(m, 1)
    rows, cols = (minor, major) if by_column else (major, minor)
    return Entries(first, pairs.left[lower][order], pairs.right[lower][order], rows, cols)
