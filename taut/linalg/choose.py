"""Which solver suits a pattern, and in which order of its rows.

Work is estimated in multiply-adds of one factorisation:

    band     m (β + 1)²                  β: half bandwidth                     (1)
    sparse   Σ_j (c_j + 1)²              c_j: entries of column j of L         (2)

The band's loops run along memory and the sparse ones through indices, which costs up to
`INDIRECT` times more per operation (less when the columns of L are long: supernodes.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taut.linalg.dissection import nested_dissection
from taut.linalg.linear import BANDED, DENSE, PCG, SOLVERS, SPARSE
from taut.linalg.pattern import Pattern
from taut.linalg.sparse import symbolic
from taut.linalg.supernodes import postorder

if TYPE_CHECKING:
    import scipy.sparse as sp

INDIRECT = 1.5
NARROW = 2  # a band so narrow that no other order can be better
TINY = 4
SMALL = 60  # dense up to here if the band would be more than half full anyway
WIDE = 500  # rows from which on nested dissection may beat minimum degree by enough to be worth its time
MOST_FILL = 50_000_000  # entries of L beyond which the direct solver would not fit a desk


class Choice(NamedTuple):
    kind: int
    perm: np.ndarray
    bandwidth: int
    fill: int


def choose(pattern: Pattern, solver: str) -> Choice:
    """Pick the solver ("auto") or only the order for the one named."""
    m = pattern.rows
    natural = np.arange(m)
    if solver not in ("auto", "dense", "banded", "sparse"):
        return Choice(SOLVERS.index(solver), natural, 1, 0)
    if solver == "sparse":
        perm, counts = least_work(pattern.graph, pattern.members)
        return Choice(SPARSE, perm, 1, int(counts.sum()))
    perm, bandwidth = narrowest(pattern)
    full = Choice(DENSE, natural, max(1, m - 1), 0)
    band = Choice(BANDED, perm, max(1, bandwidth), 0)
    if solver != "auto":
        return full if solver == "dense" else band
    if bandwidth <= 1:
        return band
    if m <= TINY or (m <= SMALL and 2 * bandwidth >= m):
        return full
    if bandwidth <= NARROW:
        return band
    perm, counts = least_work(pattern.graph, pattern.members)
    fill = int(counts.sum())
    if m * (bandwidth + 1.0) ** 2 <= INDIRECT * work(counts):  # (1)
        return band._replace(fill=fill)
    if fill > MOST_FILL:
        return Choice(PCG, natural, 1, fill)
    return Choice(SPARSE, perm, band.bandwidth, fill)


def narrowest(pattern: Pattern) -> tuple[np.ndarray, int]:
    """The better of the user's own order and reverse Cuthill-McKee; the user's own when equal."""
    m, natural = pattern.rows, pattern.bandwidth
    if natural <= 1:
        return np.arange(m), natural
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    perm = reverse_cuthill_mckee(pattern.graph, symmetric_mode=True).astype(np.int64)
    place = np.empty(m, np.int64)
    place[perm] = np.arange(m)
    rows, columns = pattern.products.left_row, pattern.products.right_row
    reordered = int(np.abs(place[rows] - place[columns]).max(initial=0))
    return (perm, reordered) if reordered < natural else (np.arange(m), natural)


def least_work(graph: sp.csr_matrix, members: sp.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """The better fill-reducing order, as a postorder, and the entries of each column of L: trees and narrow nets
    are best eliminated from their ends (minimum degree), sheets and solids by nested dissection."""
    perm = minimum_degree(graph)
    parent, counts = elimination(graph, perm)
    if graph.shape[0] > WIDE:
        other = nested_dissection(members)
        other_parent, other_counts = elimination(graph, other)
        if work(other_counts) < work(counts):
            perm, parent, counts = other, other_parent, other_counts
    order = postorder(parent)
    return perm[order], counts[order]


def work(counts: np.ndarray) -> float:
    """(2)"""
    return float(((counts + 1.0) ** 2).sum())


def minimum_degree(graph: sp.csr_matrix) -> np.ndarray:
    """A fill-reducing order. SuperLU computes it; the incomplete factor, which we throw away,
    is of a matrix whose off-diagonal part it drops, so that it costs next to nothing."""
    m = graph.shape[0]
    if m < 2:
        return np.arange(m)
    import scipy.sparse as sp
    from scipy.sparse.linalg import spilu

    dummy = (sp.identity(m) + 1e-3 * graph).tocsc()
    order = spilu(
        dummy, drop_tol=0.5, fill_factor=1, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}
    ).perm_c
    # SuperLU says where each column goes
    perm = np.empty(m, np.int64)
    perm[order] = np.arange(m)
    return perm


def elimination(graph: sp.csr_matrix, perm: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Elimination tree, and entries below the diagonal in each column of L."""
    import scipy.sparse as sp

    lower = sp.tril(graph[perm][:, perm], format="csr")
    return symbolic(lower.indptr, lower.indices)
