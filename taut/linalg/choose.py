"""Which solver suits a pattern, and in which order of its rows.

Work is estimated in multiply-adds of one factorisation:

    band     m (β + 1)²                  β: half bandwidth                     (1)
    sparse   Σ_j (c_j + 1)²              c_j: entries of column j of L         (2)

The band's loops run along memory and the sparse ones through indices, which costs up to
`INDIRECT` times more per operation (less when the columns of L are long: supernodes.py).

Orders differ in their pivots, too. In the middle of a long chain of rods, where two eliminated halves meet, what is
left of the diagonal is the inverse inertia of the halves: for n rods across their plane n⁻³ of a rod's own. Such a
pivot looks like that of a dependent row (singular.py), and the look at the rank that it calls for costs more than
the factor. From the ground outwards each joint meets a rod that nothing else holds yet, and its pivot is at least
what this rod alone gives, however long the chain. So that order is taken where it costs no more than `OUTWARD`, and
for joints, whose arms may be several and long, no more than `OUTWARD_OF_JOINTS`: a look at the rank costs more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taut.linalg.dissection import nested_dissection
from taut.linalg.group_plan import between_groups, group_rows
from taut.linalg.linear import BANDED, DENSE, PCG, SOLVERS, SPARSE
from taut.linalg.pattern import Pattern
from taut.linalg.sparse import symbolic
from taut.linalg.supernodes import postorder, worth_supernodes

if TYPE_CHECKING:
    import scipy.sparse as sp

INDIRECT = 1.2  # measured on chains of rods, half bandwidths 3 to 9
NARROW = 2  # a band so narrow that no other order can be better
TINY = 4
SMALL = 60  # dense up to here if the band would be more than half full anyway
WIDE = 500  # rows from which on nested dissection may beat minimum degree by enough to be worth its time
OUTWARD, OUTWARD_OF_JOINTS = 1.1, 10.0  # times the work of the order with the least
ROWS_ALIKE = 2.0  # rows of a group on average, from which on tiles of eight lanes pay; measured on planar joints alone
LONG_OF_GROUPS = 36  # as LONG of supernodes.py: columns of L up to which tiles serve; six arms of joints have such
MOST_FILL = 50_000_000  # entries of L beyond which the direct solver would not fit a desk


NO_GROUPS = np.zeros(0, np.int64)


class Choice(NamedTuple):
    kind: int
    perm: np.ndarray
    bandwidth: int
    fill: int
    width: np.ndarray = NO_GROUPS  # rows of each group, where they are eliminated by groups (groups.py)


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
    if bandwidth > NARROW and np.flatnonzero(perm == innermost(pattern.members))[0] > m // 2:
        perm = perm[::-1].copy()
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
    if (by_groups := grouped(pattern, band.bandwidth)) is not None:
        return by_groups
    perm, counts = least_work(pattern.graph, pattern.members)
    fill = int(counts.sum())
    if m * (bandwidth + 1.0) ** 2 <= INDIRECT * work(counts):  # (1)
        return band._replace(fill=fill)
    if fill > MOST_FILL:
        return Choice(PCG, natural, 1, fill)
    return Choice(SPARSE, perm, band.bandwidth, fill)


def grouped(pattern: Pattern, bandwidth: int) -> Choice | None:
    """Elimination by groups of rows, where they have enough rows and L is not nearly dense."""
    group = group_rows(pattern.graph)
    size = np.bincount(group)
    if pattern.rows < ROWS_ALIKE * size.size:
        return None
    joints = between_groups(pattern.graph, group), between_groups(pattern.members, group)
    order, _ = least_work(*joints, OUTWARD_OF_JOINTS)
    place = np.empty(size.size, np.int64)
    place[order] = np.arange(size.size)
    perm = np.argsort(place[group], kind="stable")
    _, counts = elimination(pattern.graph, perm)
    if worth_supernodes(counts, LONG_OF_GROUPS):
        return None
    return Choice(SPARSE, perm, bandwidth, int(counts.sum()), size[order])


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


def least_work(
    graph: sp.csr_matrix, members: sp.csr_matrix, outward: float = OUTWARD
) -> tuple[np.ndarray, np.ndarray]:
    """The better fill-reducing order, as a postorder, and the entries of each column of L: trees and narrow nets
    are best eliminated from their ends (minimum degree), sheets and solids by nested dissection."""
    perm = minimum_degree(graph)
    parent, counts = elimination(graph, perm)
    if graph.shape[0] > WIDE:
        other = nested_dissection(members)
        other_parent, other_counts = elimination(graph, other)
        if work(other_counts) < work(counts):
            perm, parent, counts = other, other_parent, other_counts
    other, bandwidth = outwards(graph, members)
    # else it can not be, and its entries may be too many to count
    if other.size * bandwidth <= max(4.0, outward) * counts.sum():
        other_parent, other_counts = elimination(graph, other)
        if work(other_counts) <= outward * work(counts):
            perm, parent, counts = other, other_parent, other_counts
    order = postorder(parent)
    return perm[order], counts[order]


def innermost(members: sp.csr_matrix) -> int:
    """A row next to the ground: the first of those that touch the fewest slots."""
    return int(np.argmin(np.diff(members.indptr)))


def outwards(graph: sp.csr_matrix, members: sp.csr_matrix) -> tuple[np.ndarray, int]:
    """Rows by their distance from the innermost row of each connected part, and the half bandwidth of that order."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    m = graph.shape[0]
    count, part = connected_components(graph, directed=False)
    by_part = np.lexsort((np.diff(members.indptr), part))
    first = by_part[np.searchsorted(part[by_part], np.arange(count))]
    ground = sp.csr_matrix((np.ones(count), (np.zeros(count, np.int64), first)), shape=(1, m))
    joined = sp.vstack([sp.hstack([graph, sp.csr_matrix((m, 1))]), sp.hstack([ground, sp.csr_matrix((1, 1))])])
    order = breadth_first_order(joined.tocsr(), m, return_predecessors=False)[1:].astype(np.int64)
    order = order[np.argsort(part[order], kind="stable")]
    place = np.empty(m, np.int64)
    place[order] = np.arange(m)
    apart = np.abs(np.repeat(place, np.diff(graph.indptr)) - place[graph.indices])
    return order, int(apart.max(initial=0))


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
