"""Systems of nodes: n × n blocks of 3 × 3, symmetric, with a block off the diagonal where two nodes are coupled.

A couple of nodes a and b with the symmetric block K adds

    [ K  -K ]   rows and columns of a
    [-K   K ]   rows and columns of b                                          (1)

The lower triangle lies in `val` by rows, in an order of nodes that fills in little; its multifrontal factor in
`fac` (multifrontal.py). Order, pattern and memory are made once, by plan_nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from taut.errors import TautError
from taut.jit import part, word
from taut.linalg.bisection import bisect_places
from taut.linalg.choose import elimination, work
from taut.linalg.dissection import nested_dissection
from taut.linalg.fronts import PANEL, Fronts, aligned, plan_fronts, postorder
from taut.linalg.multifrontal import factor_and_solve_line, factor_fronts, solve_line
from taut.linalg.sparse import factor_columns, symbolic

ONE, TWO = np.uint64(1), np.uint64(2)
DEPENDENT = 1e-14  # a pivot below this share of its diagonal


class Nodes(NamedTuple):
    """n nodes and k couples; rows are 3 a + r for the node in place a of the order."""

    order: np.ndarray  # (n,) uint32: the node in each place
    perm: np.ndarray  # (3n,) uint32: 3 node + r for each row
    ptr: np.ndarray  # (3n+1,) uint64: rows of the lower triangle
    idx: np.ndarray  # (.,) uint32: their columns
    val: np.ndarray  # (.,) float64
    diagonal: np.ndarray  # (n, 3) uint32: place in val of the first of r + 1 entries in row r of the node's own block
    couple: np.ndarray  # (k, 3) uint32: place in val of the first of three entries in row r of the couple's block
    later: np.ndarray  # (k,) uint32: the node whose rows that block has
    earlier: np.ndarray  # (k,) uint32: the node whose columns it has
    fronts: Fronts
    fac: np.ndarray
    inverse: np.ndarray  # (3n,) float64
    y: np.ndarray  # (2, 3n) float64: room for solves and products


def plan_nodes(count: int, couples: np.ndarray, rest: np.ndarray) -> Nodes:
    """Order the nodes and reserve the memory. couples (k, 2): nodes; rest (count, 3): where nodes are, or once were.

    Couples may repeat."""
    couples = np.asarray(couples, np.int64).reshape(-1, 2)
    rest = np.asarray(rest, float).reshape(count, -1)
    wrong = np.flatnonzero((couples < 0).any(axis=1) | (couples >= count).any(axis=1))
    if wrong.size:
        raise TautError(f"couple {wrong[0]} joins {couples[wrong[0]].tolist()}; nodes are 0 to {count - 1}.")
    same = np.flatnonzero(couples[:, 0] == couples[:, 1])
    if same.size:
        raise TautError(f"couple {same[0]} joins node {couples[same[0], 0]} with itself; give two nodes.")
    order = order_nodes(count, couples, rest)
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    ends = place[couples]
    row, column = ends.max(axis=1, initial=0), ends.min(axis=1, initial=count)
    # blocks below the diagonal, each once, and which of them each couple has
    key, of_couple = np.unique(row * count + column, return_inverse=True)
    block_row, block_column = key // max(count, 1), key % max(count, 1)
    first = np.searchsorted(block_row, np.arange(count + 1))
    ptr = np.zeros(3 * count + 1, np.int64)
    ptr[1:] = np.cumsum((3 * np.diff(first)[:, None] + np.arange(1, 4)).ravel())
    own = ptr[1:].reshape(count, 3) - np.arange(1, 4)
    at = ptr[:-1].reshape(count, 3)[block_row] + 3 * (np.arange(key.size) - first[block_row])[:, None]
    idx = np.empty(ptr[-1], np.int64)
    for c in range(3):
        idx[at + c] = 3 * block_column[:, None] + c
        idx[own[:, c:] + c] = 3 * np.arange(count)[:, None] + c
    # the same pattern by nodes, the diagonal at the end of each row
    by_node = first + np.arange(count + 1), np.insert(block_column, first[1:], np.arange(count))
    parent, entries = symbolic(*by_node)
    fronts = plan_fronts(ptr, idx, parent, entries, *factor_columns(*by_node, parent, entries), block=3)
    diagonal = np.empty((count, 3), np.uint32)
    diagonal[order] = own
    return Nodes(
        order=order.astype(np.uint32),
        perm=(3 * order[:, None] + np.arange(3)).ravel().astype(np.uint32),
        ptr=ptr.astype(np.uint64),
        idx=idx.astype(np.uint32),
        val=np.zeros(idx.size),
        diagonal=diagonal,
        couple=at[of_couple.ravel()].astype(np.uint32).reshape(-1, 3),
        later=order[row].astype(np.uint32),
        earlier=order[column].astype(np.uint32),
        fronts=fronts,
        fac=aligned(int(fronts.table[PANEL, -1])),
        inverse=np.zeros(3 * count),
        y=np.zeros((2, 3 * count)),
    )


def order_nodes(count: int, couples: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """The better of two orders, as a postorder."""
    ones = np.ones(couples.size)
    members = sp.csr_matrix((ones, (couples.ravel(), np.repeat(np.arange(len(couples)), 2))), (count, len(couples)))
    graph = sp.csr_matrix(members @ members.T + sp.identity(count))
    graph.sort_indices()
    orders = bisect_places(graph, rest), nested_dissection(members)
    trees = [elimination(graph, order) for order in orders]
    better = int(work(trees[1][1]) < work(trees[0][1]))
    return orders[better][postorder(trees[better][0])]


@word
def clear_nodes(nodes):
    for e in range(nodes.val.shape[0]):
        nodes.val[e] = 0.0


@word
def add_diagonal(nodes, node, xx, xy, xz, yy, yz, zz):
    """Add a symmetric block to the node's own."""
    val = nodes.val
    x, y, z = nodes.diagonal[node, 0], nodes.diagonal[node, 1], nodes.diagonal[node, 2]
    val[x] += xx
    val[y] += xy
    val[y + ONE] += yy
    val[z] += xz
    val[z + ONE] += yz
    val[z + TWO] += zz


@word
def add_couple(nodes, k, xx, xy, xz, yy, yz, zz):
    """(1)"""
    add_diagonal(nodes, nodes.later[k], xx, xy, xz, yy, yz, zz)
    add_diagonal(nodes, nodes.earlier[k], xx, xy, xz, yy, yz, zz)
    val = nodes.val
    x, y, z = nodes.couple[k, 0], nodes.couple[k, 1], nodes.couple[k, 2]
    val[x] -= xx
    val[x + ONE] -= xy
    val[x + TWO] -= xz
    val[y] -= xy
    val[y + ONE] -= yy
    val[y + TWO] -= yz
    val[z] -= xz
    val[z + ONE] -= yz
    val[z + TWO] -= zz


@part
def factor_nodes(nodes):
    """Returns the number of dependent pivots: not 0 if the matrix is not positive definite."""
    return factor_fronts(nodes.fronts, nodes.ptr, nodes.val, nodes.fac, nodes.inverse, DEPENDENT)


@part
def gather_nodes(nodes, x, out):
    """x (n, 3) in the order of rows."""
    for a in range(nodes.order.shape[0]):
        node = nodes.order[a]
        for r in range(3):
            out[3 * a + r] = x[node, r]


@part
def scatter_nodes(nodes, y, out):
    for a in range(nodes.order.shape[0]):
        node = nodes.order[a]
        for r in range(3):
            out[node, r] = y[3 * a + r]


@part
def solve_nodes(nodes, b, out):
    """A out = b, both (n, 3), with the factor last made; `out` may be `b`."""
    y = nodes.y[0]
    gather_nodes(nodes, b, y)
    solve_line(nodes.fronts, nodes.fac, y)
    scatter_nodes(nodes, y, out)


@part
def factor_and_solve_nodes(nodes, b, out):
    """A out = b, both (n, 3), with a factor made now. Returns the number of dependent pivots."""
    y = nodes.y[0]
    gather_nodes(nodes, b, y)
    dependent = factor_and_solve_line(nodes.fronts, nodes.ptr, nodes.val, nodes.fac, nodes.inverse, DEPENDENT, y)
    scatter_nodes(nodes, y, out)
    return dependent


@part
def multiply_nodes(nodes, x, out):
    """out = A x, both (n, 3), with A as added; `out` may be `x`."""
    y, z = nodes.y[0], nodes.y[1]
    gather_nodes(nodes, x, y)
    for i in range(y.shape[0]):
        last = nodes.ptr[i + 1] - ONE
        here = y[i]
        total = nodes.val[last] * here
        for e in range(nodes.ptr[i], last):
            j = nodes.idx[e]
            total += nodes.val[e] * y[j]
            z[j] += nodes.val[e] * here
        z[i] = total
    scatter_nodes(nodes, z, out)
