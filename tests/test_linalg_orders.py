"""Laws of elimination orders and supernodes: little fill, children before parents, and the right answer."""

import numpy as np
import pytest
import scipy.sparse as sp
from words_linalg import assemble_factor_solve, cloth_blocks, fix_slots, relative, scattered, shortest_least_squares

from taut.linalg import describe, plan
from taut.linalg.choose import elimination, least_work, minimum_degree, work
from taut.linalg.dissection import nested_dissection
from taut.linalg.pattern import graph, members, products
from taut.linalg.supernodes import AT, COLUMN


def net(name):
    """Blocks of nets of distances: row_ptr, slot, free."""
    if name == "sheet":
        row_ptr, slot, _, w = cloth_blocks(40)
        return row_ptr, slot, w[:, 0] > 0
    rng = np.random.default_rng(1)
    cube = np.arange(10**3).reshape(10, 10, 10)
    ring = np.arange(800).reshape(80, 10)
    joined = {
        "cube": [cube[:-1], cube[1:], cube[:, :-1], cube[:, 1:], cube[:, :, :-1], cube[:, :, 1:]],
        "tube": [ring, np.roll(ring, 1, axis=1), ring[:-1], ring[1:]],
        "tree": [np.arange(1500) // 2, np.arange(1500) + 1],
        "pieces": [np.arange(0, 1800, 3), np.arange(1, 1800, 3), np.arange(1, 1800, 3), np.arange(2, 1800, 3)],
        "hub": [np.zeros(600, int), np.arange(600) + 1, np.arange(600) + 1, np.arange(600) + 2],
        "scattered": list(rng.integers(0, 900, (2, 1200))),
    }[name]
    ends = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in zip(joined[::2], joined[1::2])])
    free = np.ones(ends.max() + 1, bool)
    free[:3] = name == "hub"
    return np.arange(0, ends.size + 1, 2), ends.ravel(), free


def cloth_system(n):
    """Blocks, and A as a sparse matrix."""
    row_ptr, slot, J, w = cloth_blocks(n)
    columns = 3 * np.repeat(slot, 3) + np.tile(np.arange(3), slot.size)
    dense = sp.csr_matrix((J.ravel(), columns, 3 * row_ptr), shape=(row_ptr.size - 1, w.size))
    return row_ptr, slot, J, w, sp.csr_matrix(dense @ sp.diags(w.ravel()) @ dense.T)


NETS = ("sheet", "cube", "tube", "tree", "pieces", "hub", "scattered")


@pytest.mark.parametrize("name", NETS)
def test_dissection_orders_every_row_once_and_always_alike(name):
    touched = members(*net(name))
    order = nested_dissection(touched)
    assert np.array_equal(np.sort(order), np.arange(touched.shape[0])), np.sort(order)
    assert np.array_equal(order, nested_dissection(touched))


@pytest.mark.parametrize("name", NETS)
def test_the_order_in_use_is_the_better_one_and_leaves_children_before_parents(name):
    row_ptr, slot, free = net(name)
    joined, touched = graph(products(row_ptr, slot, free), row_ptr.size - 1), members(row_ptr, slot, free)
    perm, counts = least_work(joined, touched)
    parent, again = elimination(joined, perm)
    works = [work(elimination(joined, p)[1]) for p in (minimum_degree(joined), nested_dissection(touched))]
    assert np.array_equal(counts, again) and work(counts) == min(works), (work(counts), works)
    size = np.ones(parent.size, int)
    for k in np.flatnonzero(parent >= 0):
        size[parent[k]] += size[k]
    begin = np.arange(parent.size) - size
    inner = np.flatnonzero(parent >= 0)
    assert (begin[parent[inner]] <= begin[inner]).all(), "descendants are not neighbours"


@pytest.mark.parametrize(("name", "most"), (("sheet", 50_000), ("cube", 120_000), ("tube", 22_000)))
def test_dissection_fills_in_little(name, most):
    """Near METIS (pymetis 2025.2.2), which leaves 52,788, 111,213 and 21,179 entries."""
    row_ptr, slot, free = net(name)
    joined = graph(products(row_ptr, slot, free), row_ptr.size - 1)
    fill = elimination(joined, nested_dissection(members(row_ptr, slot, free)))[1].sum()
    assert fill < most, fill


def test_the_fill_of_sheets_grows_hardly_faster_than_their_rows():
    fill = []
    for n in (30, 60, 120):
        row_ptr, slot, _, w = cloth_blocks(n)
        fill.append(plan(row_ptr, slot, w[:, 0] > 0, "sparse").fill / row_ptr.size)
    steps = np.diff(fill)  # m log m: each doubling adds about the same per row
    assert steps[1] < 1.25 * steps[0], fill


@pytest.mark.parametrize("n", (30, 41))
def test_large_sheets_are_solved_with_fronts(n):
    row_ptr, slot, J, w, A = cloth_system(n)
    lin = plan(row_ptr, slot, w[:, 0] > 0)
    b = A @ np.random.default_rng(1).normal(size=A.shape[0])
    out, again = np.zeros(b.size), np.zeros(b.size)
    dependent, status = assemble_factor_solve(lin, J, w, b, out)
    assert lin.supernodes.row.size and describe(lin).startswith("sparse Cholesky"), describe(lin)
    error = relative(A @ out, b)
    assert (dependent, status) == (0, 0) and error < 1e-12, (dependent, status, error)
    assemble_factor_solve(plan(row_ptr, slot, w[:, 0] > 0), J, w, b, again)
    assert np.array_equal(out, again)


def test_fronts_hold_each_column_once_and_few_zeros():
    row_ptr, slot, _, w = cloth_blocks(40)
    lin = plan(row_ptr, slot, w[:, 0] > 0, "sparse")
    column, at = lin.supernodes.table[COLUMN].astype(int), lin.supernodes.table[AT].astype(int)
    width, rows = np.diff(column), np.diff(at)
    assert column[-1] == row_ptr.size - 1 and (width > 0).all() and (rows >= width).all()
    below_diagonal = (width * rows - width * (width + 1) // 2).sum()
    assert lin.fill <= below_diagonal < 1.25 * lin.fill, (below_diagonal, lin.fill)


@pytest.mark.parametrize("consistent", (True, False), ids=("redundant", "conflicting"))
@pytest.mark.parametrize("name", ("repeated rows", "zero row", "more rows than freedoms"))
def test_singular_systems_with_fronts_give_the_shortest_least_squares_multiplier(name, consistent):
    system = scattered(6, 250, 120)
    if name == "repeated rows":
        system = system.repeat_rows([3, 100, 200])
    elif name == "zero row":
        system = fix_slots(system, system.slot[:2])
    else:
        system = scattered(6, 250, 70)
    b = np.random.default_rng(4).normal(size=system.m)
    if consistent:
        b = system.A @ b
    lin, x = system.plan("sparse"), np.zeros(system.m)
    dependent, status = assemble_factor_solve(lin, system.J, system.w, b, x)
    error = relative(x, shortest_least_squares(system.A, b))
    assert lin.supernodes.row.size and dependent > 0 and status == 0 and error < 1e-7, (dependent, status, error)
