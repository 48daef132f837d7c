"""Systems of nodes: n × n blocks of 3 × 3, symmetric, with a block off the diagonal where two nodes are coupled.

A pair of nodes a and b with the symmetric block K adds

    [ K  -K ]   rows and columns of a
    [-K   K ]   rows and columns of b                                          (1)

Blocks are added up one by one, in `node_block` and `pair_block`, whose entries are next to each other. From there they
are laid out in `val`, the lower triangle by rows, in an order of nodes that fills in little; its multifrontal factor is
in `fac` (multifrontal.py). Order, pattern and memory are made once, by plan_nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taut.compiled import compiled, inline, structure
from taut.errors import TautError
from taut.linalg.bisection import bisect_places
from taut.linalg.choose import elimination, work
from taut.linalg.dissection import nested_dissection
from taut.linalg.multifrontal import factor_and_solve_one, factor_supernodes, solve_four, solve_one
from taut.linalg.sparse import factor_columns, symbolic
from taut.linalg.supernodes import PANEL, Supernodes, aligned, plan_supernodes, postorder

ONE, TWO = np.uint64(1), np.uint64(2)
DEPENDENT = 1e-14  # a pivot below this share of its diagonal


@structure
class Nodes(NamedTuple):
    """n nodes and k pairs of them that are coupled; rows are 3 a + r for the node in place a of the order."""

    order: np.ndarray  # (n,) uint32: the node in each place
    perm: np.ndarray  # (3n,) uint32: 3 node + r for each row
    ptr: np.ndarray  # (3n+1,) uint64: rows of the lower triangle
    idx: np.ndarray  # (.,) uint32: their columns
    val: np.ndarray  # (.,) float64
    node_pair: np.ndarray  # (k,) uint32: where the block of each pair stands in `pair_block`
    node_block: np.ndarray  # (n, 6) float64: what was added to each node: xx, xy, xz, yy, yz, zz
    pair_block: np.ndarray  # (blocks, 6) float64: K summed over the pairs of the same two nodes
    later: np.ndarray  # (blocks,) uint32: the node whose rows the block has
    earlier: np.ndarray  # (blocks,) uint32: the node whose columns it has
    diagonal: np.ndarray  # (n, 3) uint32: place in val of the first of r + 1 entries in row r of the node's own block
    at: np.ndarray  # (blocks, 3) uint32: place in val of the first of three entries in row r of the block
    supernodes: Supernodes
    fac: np.ndarray
    inverse: np.ndarray  # (3n,) float64
    y: np.ndarray  # (2, 3n) float64: workspace of solves and products,
    four: np.ndarray  # (12n,) float64: and of four solves at once


def plan_nodes(count: int, node_pairs: np.ndarray, rest: np.ndarray) -> Nodes:
    """Order the nodes and allocate memory. node_pairs (k, 2): nodes; rest (count, 3): where nodes are, or once were.

    Pairs may repeat."""
    node_pairs = np.asarray(node_pairs, np.int64).reshape(-1, 2)
    rest = np.asarray(rest, float).reshape(count, -1)
    wrong = np.flatnonzero((node_pairs < 0).any(axis=1) | (node_pairs >= count).any(axis=1))
    if wrong.size:
        raise TautError(f"pair {wrong[0]} joins {node_pairs[wrong[0]].tolist()}; nodes are 0 to {count - 1}.")
    same = np.flatnonzero(node_pairs[:, 0] == node_pairs[:, 1])
    if same.size:
        raise TautError(f"pair {same[0]} joins node {node_pairs[same[0], 0]} with itself; give two nodes.")
    order = order_nodes(count, node_pairs, rest)
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    ends = place[node_pairs]
    row, column = ends.max(axis=1, initial=0), ends.min(axis=1, initial=count)
    # blocks below the diagonal, each once, and which of them each pair has
    key, of_pair = np.unique(row * count + column, return_inverse=True)
    block_row, block_column = key // max(count, 1), key % max(count, 1)
    first = np.searchsorted(block_row, np.arange(count + 1))
    ptr = np.zeros(3 * count + 1, np.int64)
    ptr[1:] = np.cumsum((3 * np.diff(first)[:, None] + np.arange(1, 4)).ravel())
    at_diagonal = ptr[1:].reshape(count, 3) - np.arange(1, 4)
    at = ptr[:-1].reshape(count, 3)[block_row] + 3 * (np.arange(key.size) - first[block_row])[:, None]
    idx = np.empty(ptr[-1], np.int64)
    for c in range(3):
        idx[at + c] = 3 * block_column[:, None] + c
        idx[at_diagonal[:, c:] + c] = 3 * np.arange(count)[:, None] + c
    # the same pattern by nodes, the diagonal at the end of each row
    by_node = first + np.arange(count + 1), np.insert(block_column, first[1:], np.arange(count))
    parent, entries = symbolic(*by_node)
    supernodes = plan_supernodes(ptr, idx, parent, entries, *factor_columns(*by_node, parent, entries), block=3)
    diagonal = np.empty((count, 3), np.uint32)
    diagonal[order] = at_diagonal
    return Nodes(
        order=order.astype(np.uint32),
        perm=(3 * order[:, None] + np.arange(3)).ravel().astype(np.uint32),
        ptr=ptr.astype(np.uint64),
        idx=idx.astype(np.uint32),
        val=np.zeros(idx.size),
        node_pair=of_pair.ravel().astype(np.uint32),
        node_block=np.zeros((count, 6)),
        pair_block=np.zeros((key.size, 6)),
        later=order[block_row].astype(np.uint32),
        earlier=order[block_column].astype(np.uint32),
        diagonal=diagonal,
        at=at.astype(np.uint32).reshape(-1, 3),
        supernodes=supernodes,
        fac=aligned(int(supernodes.table[PANEL, -1])),
        inverse=np.zeros(3 * count),
        y=np.zeros((2, 3 * count)),
        four=np.zeros(12 * count),
    )


def order_nodes(count: int, node_pairs: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """The better of two orders, as a postorder."""
    import scipy.sparse as sp

    ones = np.ones(node_pairs.size)
    k = len(node_pairs)
    members = sp.csr_matrix((ones, (node_pairs.ravel(), np.repeat(np.arange(k), 2))), (count, k))
    graph = sp.csr_matrix(members @ members.T + sp.identity(count))
    graph.sort_indices()
    orders = bisect_places(graph, rest), nested_dissection(members)
    trees = [elimination(graph, order) for order in orders]
    better = int(work(trees[1][1]) < work(trees[0][1]))
    return orders[better][postorder(trees[better][0])]


@inline
def clear_nodes(nodes):
    for a in range(nodes.node_block.shape[0]):
        for c in range(6):
            nodes.node_block[a, c] = 0.0
    for k in range(nodes.pair_block.shape[0]):
        for c in range(6):
            nodes.pair_block[k, c] = 0.0


@inline
def add_block(blocks, k, xx, xy, xz, yy, yz, zz):
    blocks[k, 0] += xx
    blocks[k, 1] += xy
    blocks[k, 2] += xz
    blocks[k, 3] += yy
    blocks[k, 4] += yz
    blocks[k, 5] += zz


@inline
def add_diagonal(nodes, node, xx, xy, xz, yy, yz, zz):
    """Add a symmetric block to the node's own."""
    add_block(nodes.node_block, node, xx, xy, xz, yy, yz, zz)


@inline
def add_pair_block(nodes, k, xx, xy, xz, yy, yz, zz):
    """(1)"""
    add_block(nodes.pair_block, nodes.node_pair[k], xx, xy, xz, yy, yz, zz)


@compiled
def pack_blocks(nodes):
    """`val` of all that was added. They go over to the nodes' own blocks here, once."""
    node_block, pair_block, val = nodes.node_block, nodes.pair_block, nodes.val
    for k in range(pair_block.shape[0]):
        xx, xy, xz = pair_block[k, 0], pair_block[k, 1], pair_block[k, 2]
        yy, yz, zz = pair_block[k, 3], pair_block[k, 4], pair_block[k, 5]
        add_block(node_block, nodes.later[k], xx, xy, xz, yy, yz, zz)
        add_block(node_block, nodes.earlier[k], xx, xy, xz, yy, yz, zz)
        x, y, z = nodes.at[k, 0], nodes.at[k, 1], nodes.at[k, 2]
        val[x], val[x + ONE], val[x + TWO] = -xx, -xy, -xz
        val[y], val[y + ONE], val[y + TWO] = -xy, -yy, -yz
        val[z], val[z + ONE], val[z + TWO] = -xz, -yz, -zz
    for a in range(node_block.shape[0]):
        x, y, z = nodes.diagonal[a, 0], nodes.diagonal[a, 1], nodes.diagonal[a, 2]
        val[x], val[y], val[y + ONE] = node_block[a, 0], node_block[a, 1], node_block[a, 3]
        val[z], val[z + ONE], val[z + TWO] = node_block[a, 2], node_block[a, 4], node_block[a, 5]


@compiled
def factor_nodes(nodes):
    """Once after all was added. Returns the number of dependent pivots: not 0 if A is not positive definite."""
    pack_blocks(nodes)
    return factor_supernodes(nodes.supernodes, nodes.ptr, nodes.val, nodes.fac, nodes.inverse, DEPENDENT)


@compiled
def gather_nodes(nodes, x, out):
    """x (n, 3) in the order of rows."""
    for a in range(nodes.order.shape[0]):
        node = nodes.order[a]
        for r in range(3):
            out[3 * a + r] = x[node, r]


@compiled
def scatter_nodes(nodes, y, out):
    for a in range(nodes.order.shape[0]):
        node = nodes.order[a]
        for r in range(3):
            out[node, r] = y[3 * a + r]


@compiled
def solve_nodes(nodes, b, out):
    """A out = b, both (n, 3), with the factor last made; `out` may be `b`."""
    y = nodes.y[0]
    gather_nodes(nodes, b, y)
    solve_one(nodes.supernodes, nodes.fac, y)
    scatter_nodes(nodes, y, out)


@compiled
def solve_many_nodes(nodes, b, out):
    """A out[r] = b[r] for all r, both (., n, 3): four at a time, so that the factor is read once for them."""
    y = nodes.four
    lines = b.shape[0]
    for first in range(0, lines, 4):
        some = min(4, lines - first)
        for a in range(nodes.order.shape[0]):
            node = nodes.order[a]
            for c in range(3):
                for r in range(4):
                    y[4 * (3 * a + c) + r] = b[first + r, node, c] if r < some else 0.0
        solve_four(nodes.supernodes, nodes.fac, y)
        for a in range(nodes.order.shape[0]):
            node = nodes.order[a]
            for c in range(3):
                for r in range(some):
                    out[first + r, node, c] = y[4 * (3 * a + c) + r]


@compiled
def factor_and_solve_nodes(nodes, b, out):
    """A out = b, both (n, 3), with a factor made now. Returns the number of dependent pivots."""
    y = nodes.y[0]
    pack_blocks(nodes)
    gather_nodes(nodes, b, y)
    dependent = factor_and_solve_one(nodes.supernodes, nodes.ptr, nodes.val, nodes.fac, nodes.inverse, DEPENDENT, y)
    scatter_nodes(nodes, y, out)
    return dependent


@compiled
def multiply_nodes(nodes, x, out):
    """out = A x, both (n, 3), with A as factored; `out` may be `x`."""
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
