"""Laws of taut.linalg.nodes: systems of nodes against dense numpy, and the supernodes that solve them."""

import numpy as np
import pytest
import scipy.sparse as sp

from taut.compiled import entry
from taut.errors import TautError
from taut.linalg.bisection import bisect_places
from taut.linalg.choose import elimination, work
from taut.linalg.multifrontal import solve_many
from taut.linalg.nodes import (
    add_diagonal,
    add_pair_block,
    clear_nodes,
    factor_and_solve_nodes,
    factor_nodes,
    multiply_nodes,
    plan_nodes,
    solve_many_nodes,
    solve_nodes,
)


@entry
def assemble(nodes, diagonal, blocks):
    clear_nodes(nodes)
    for a in range(diagonal.shape[0]):
        d = diagonal[a]
        add_diagonal(nodes, a, d[0], d[1], d[2], d[3], d[4], d[5])
    for k in range(blocks.shape[0]):
        d = blocks[k]
        add_pair_block(nodes, k, d[0], d[1], d[2], d[3], d[4], d[5])


@entry
def factor(nodes):
    return factor_nodes(nodes)


@entry
def factor_and_solve(nodes, b, out):
    return factor_and_solve_nodes(nodes, b, out)


@entry
def solve(nodes, b, out):
    solve_nodes(nodes, b, out)


@entry
def multiply(nodes, x, out):
    multiply_nodes(nodes, x, out)


@entry
def solve_lines(nodes, y, b, out):
    return solve_many(nodes.supernodes, nodes.fac, nodes.perm, y, b, out)


@entry
def solve_several(nodes, b, out):
    solve_many_nodes(nodes, b, out)


def sheet(n, shear=False):
    node = np.arange(n * n).reshape(n, n)
    joined = [(node[:, :-1], node[:, 1:]), (node[:-1], node[1:])]
    if shear:
        joined += [(node[:-1, :-1], node[1:, 1:]), (node[:-1, 1:], node[1:, :-1])]
    node_pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in joined])
    rest = np.stack([np.repeat(np.arange(n), n), np.zeros(n * n), np.tile(np.arange(n), n)], 1) / n
    return n * n, node_pairs, rest


def scattered(count, k, seed=0):
    rng = np.random.default_rng(seed)
    a, step = rng.integers(0, count, k), rng.integers(1, count, k)
    return count, np.stack([a, (a + step) % count], 1), rng.normal(size=(count, 3))


def one_place():
    count, node_pairs, rest = sheet(7)
    return count, node_pairs, np.zeros_like(rest)


def repeated():
    count, node_pairs, rest = sheet(6)
    return count, np.concatenate([node_pairs, node_pairs[::3, ::-1], node_pairs[:5]]), rest


NETS = {
    "two nodes": lambda: (2, np.array([[1, 0]]), np.zeros((2, 3))),
    "one node": lambda: (1, np.zeros((0, 2), int), np.zeros((1, 3))),
    "no pairs": lambda: (20, np.zeros((0, 2), int), np.random.default_rng(0).normal(size=(20, 3))),
    "chain": lambda: (50, np.stack([np.arange(49), np.arange(1, 50)], 1), np.arange(150.0).reshape(50, 3)),
    "star": lambda: (40, np.stack([np.zeros(39, int), np.arange(1, 40)], 1), np.eye(40, 3)),
    "sheet": lambda: sheet(13),
    "sheet with diagonals": lambda: sheet(11, shear=True),
    "repeated pairs": repeated,
    "all in one place": one_place,
    "scattered": lambda: scattered(90, 200),
    "dense": lambda: scattered(40, 1500),
    "pieces": lambda: scattered(120, 70),
}


def definite(rng, k, scale=1.0):
    """Symmetric positive definite blocks as xx, xy, xz, yy, yz, zz, and as matrices."""
    half = rng.normal(size=(k, 3, 3))
    block = scale * half @ half.transpose(0, 2, 1) + 0.01 * np.eye(3)
    return np.ascontiguousarray(block[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]), block


class System:
    def __init__(self, count, node_pairs, rest, seed=3):
        rng = np.random.default_rng(seed)
        self.nodes = plan_nodes(count, node_pairs, rest)
        self.diagonal, own = definite(rng, count, 0.1)
        self.blocks, block = definite(rng, len(node_pairs))
        dense = np.zeros((count, 3, count, 3))
        dense[np.arange(count), :, np.arange(count)] = own
        for (a, b), K in zip(node_pairs, block, strict=True):
            dense[a, :, a] += K
            dense[b, :, b] += K
            dense[a, :, b] -= K
            dense[b, :, a] -= K
        self.A = dense.reshape(3 * count, 3 * count)
        self.b = rng.normal(size=(count, 3))
        assemble(self.nodes, self.diagonal, self.blocks)


@pytest.mark.parametrize("name", NETS)
def test_systems_of_nodes_are_solved_and_multiplied(name):
    system = System(*NETS[name]())
    out, product = np.zeros_like(system.b), np.zeros_like(system.b)
    dependent = factor(system.nodes)
    solve(system.nodes, system.b, out)
    expected = np.linalg.solve(system.A, system.b.ravel())
    error = np.abs(out.ravel() - expected).max() / np.abs(expected).max()
    assert dependent == 0 and error < 1e-11, (dependent, error)
    multiply(system.nodes, out, product)
    error = np.abs(product - system.b).max() / np.abs(system.b).max()
    assert error < 1e-10, error
    multiply(system.nodes, system.b, product)
    error = np.abs(product.ravel() - system.A @ system.b.ravel()).max() / np.abs(product).max()
    assert error < 1e-14, error


@pytest.mark.parametrize("name", NETS)
def test_every_entry_of_the_matrix_has_its_place(name):
    """The lower triangle in val is that of the dense matrix, in the order of the nodes."""
    system = System(*NETS[name]())
    nodes = system.nodes
    factor(nodes)
    assert np.array_equal(np.sort(nodes.order), np.arange(len(system.b))), nodes.order
    assert np.array_equal(nodes.perm.reshape(-1, 3) // 3, np.repeat(nodes.order[:, None], 3, 1))
    held = sp.csr_matrix((nodes.val, nodes.idx.astype(int), nodes.ptr.astype(int))).toarray()
    error = np.abs(held - np.tril(system.A[np.ix_(nodes.perm, nodes.perm)])).max()
    assert error < 1e-12, error


@pytest.mark.parametrize("name", ("sheet", "scattered", "repeated pairs"))
def test_systems_of_nodes_repeat_bit_for_bit(name):
    outs = []
    for _ in range(2):
        system = System(*NETS[name]())
        for _ in range(2):
            assemble(system.nodes, system.diagonal, system.blocks)
            out = np.zeros_like(system.b)
            factor(system.nodes)
            solve(system.nodes, system.b, out)
            outs.append(out)
    assert all(np.array_equal(outs[0], other) for other in outs[1:])


@pytest.mark.parametrize("name", NETS)
def test_solving_along_with_the_factor_changes_no_bit(name):
    system = System(*NETS[name]())
    apart, together = np.zeros_like(system.b), np.zeros_like(system.b)
    factor(system.nodes)
    solve(system.nodes, system.b, apart)
    assemble(system.nodes, system.diagonal, system.blocks)
    dependent = factor_and_solve(system.nodes, system.b, together)
    assert dependent == 0 and np.array_equal(apart, together), np.abs(apart - together).max()


@pytest.mark.parametrize("lines", (1, 3, 4, 6))
def test_many_lines_are_solved_as_each_alone(lines):
    system = System(*sheet(12))
    m = system.b.size
    b, out, alone = np.random.default_rng(2).normal(size=(lines, m)), np.zeros((lines, m)), np.zeros_like(system.b)
    factor(system.nodes)
    solve_lines(system.nodes, np.zeros(4 * m), b, out)
    for line, found in zip(b, out, strict=True):
        solve(system.nodes, line.reshape(-1, 3), alone)
        error = np.abs(alone.ravel() - found).max() / np.abs(found).max()
        assert error < 1e-12, error
    by_node = np.zeros((lines, *system.b.shape))
    solve_several(system.nodes, b.reshape(by_node.shape), by_node)
    assert np.array_equal(by_node.reshape(lines, m), out)


def test_a_matrix_that_is_not_definite_is_told():
    system = System(*sheet(5))
    system.diagonal[7, 0] = -100.0
    assemble(system.nodes, system.diagonal, system.blocks)
    assert factor(system.nodes) > 0


def grid_graph(n, shear=False):
    count, node_pairs, rest = sheet(n, shear)
    ends = np.concatenate([node_pairs, node_pairs[:, ::-1], np.repeat(np.arange(count)[:, None], 2, 1)])
    return sp.csr_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), (count, count)), rest


def test_bisection_leaves_half_the_work_of_straight_cuts():
    """Millions of multiply-adds; cuts along the threads only need 26.5 and 210."""
    needed = [13.5e-6 * work(elimination(g, bisect_places(g, rest))[1]) for g, rest in map(grid_graph, (50, 100))]
    assert needed[0] < 14 and needed[1] < 120, needed


def test_bisection_makes_parts_larger_that_meet_less_outside():
    """Halves need 235 million multiply-adds, the best straight cuts 213."""
    graph, rest = grid_graph(100, shear=True)
    needed = 13.5e-6 * work(elimination(graph, bisect_places(graph, rest))[1])
    assert needed < 222, needed


def test_the_order_in_use_is_the_better_one():
    graph, rest = grid_graph(20)
    away = np.random.default_rng(0).permutation(rest)  # places that tell nothing
    counts = []
    for where in (rest, away):
        nodes = plan_nodes(*sheet(20)[:2], where)
        counts.append(work(elimination(graph, nodes.order.astype(int))[1]))
    blind = work(elimination(graph, bisect_places(graph, away))[1])
    assert counts[0] < counts[1] < 0.5 * blind, (counts, blind)


def test_bisection_is_always_alike():
    graph, rest = grid_graph(100)
    assert np.array_equal(bisect_places(graph, rest), bisect_places(graph, rest))


def test_wrong_pairs_are_refused():
    with pytest.raises(TautError, match=r"pair 1 joins \[0, 4\]; nodes are 0 to 3"):
        plan_nodes(4, np.array([[0, 1], [0, 4]]), np.zeros((4, 3)))
    with pytest.raises(TautError, match="pair 0 joins node 2 with itself"):
        plan_nodes(4, np.array([[2, 2]]), np.zeros((4, 3)))
