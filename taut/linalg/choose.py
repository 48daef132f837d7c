"""Which solver suits a pattern, and in which order of its rows.

Work is estimated in multiply-adds of one factorisation:

    band     m (β + 1)²                  β: half bandwidth                     (1)
    sparse   Σ_j (c_j + 1)²              c_j: entries of column j of L         (2)

The band's loops run along memory and the sparse ones through indices, which costs about
`INDIRECT` times more per operation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import spilu

from taut.linalg.linear import BANDED, DENSE, PCG, SOLVERS, SPARSE
from taut.linalg.sparse import symbolic

INDIRECT = 4
NARROW = 2  # a band so narrow that no other order can be better
TINY = 4
SMALL = 60  # dense up to here if the band would be more than half full anyway
MOST_FILL = 50_000_000  # entries of L beyond which the direct solver would not fit a desk


class Choice(NamedTuple):
    kind: int
    perm: np.ndarray
    bandwidth: int
    fill: int


def choose(graph: sp.csr_matrix, solver: str) -> Choice:
    """Pick the solver ("auto") or only the order for the one named."""
    m = graph.shape[0]
    natural = np.arange(m)
    if solver not in ("auto", "dense", "banded", "sparse"):
        return Choice(SOLVERS.index(solver), natural, 1, 0)
    if solver == "sparse":
        perm = minimum_degree(graph)
        return Choice(SPARSE, perm, 1, int(factor_counts(graph, perm).sum()))
    perm, bandwidth = narrowest(graph)
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
    perm = minimum_degree(graph)
    counts = factor_counts(graph, perm)
    fill = int(counts.sum())
    if m * (bandwidth + 1.0) ** 2 <= INDIRECT * ((counts + 1.0) ** 2).sum():  # (1), (2)
        return band._replace(fill=fill)
    if fill > MOST_FILL:
        return Choice(PCG, natural, 1, fill)
    return Choice(SPARSE, perm, band.bandwidth, fill)


def narrowest(graph: sp.csr_matrix) -> tuple[np.ndarray, int]:
    """The better of the user's own order and reverse Cuthill-McKee; the user's own when equal."""
    m = graph.shape[0]
    coo = graph.tocoo()
    natural = int(np.abs(coo.row - coo.col).max(initial=0))
    if natural <= 1:
        return np.arange(m), natural
    perm = reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)
    place = np.empty(m, np.int64)
    place[perm] = np.arange(m)
    reordered = int(np.abs(place[coo.row] - place[coo.col]).max(initial=0))
    return (perm, reordered) if reordered < natural else (np.arange(m), natural)


def minimum_degree(graph: sp.csr_matrix) -> np.ndarray:
    """A fill-reducing order. SuperLU computes it; the incomplete factor, which we throw away,
    is of a matrix whose off-diagonal part it drops, so that it costs next to nothing."""
    m = graph.shape[0]
    if m < 2:
        return np.arange(m)
    dummy = (sp.identity(m) + 1e-3 * graph).tocsc()
    order = spilu(
        dummy, drop_tol=0.5, fill_factor=1, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}
    ).perm_c
    # SuperLU says where each column goes
    perm = np.empty(m, np.int64)
    perm[order] = np.arange(m)
    return perm


def factor_counts(graph: sp.csr_matrix, perm: np.ndarray) -> np.ndarray:
    """Entries below the diagonal in each column of L."""
    lower = sp.tril(graph[perm][:, perm], format="csr")
    return symbolic(lower.indptr, lower.indices)[1]
