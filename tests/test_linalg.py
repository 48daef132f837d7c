"""Laws of taut.linalg: every solver against numpy on structured, singular and badly scaled systems."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

from taut.errors import TautError
from taut.jit import kernel
from taut.linalg import (
    SOLVERS,
    assemble,
    assemble_pair,
    dependent_rows,
    describe,
    factor,
    multiply,
    plan,
    solve,
)
from taut.linalg.choose import elimination, least_work, minimum_degree, work
from taut.linalg.dissection import nested_dissection
from taut.linalg.fronts import AT, COLUMN
from taut.linalg.pattern import graph, members, products


@kernel
def assemble_factor_solve(lin, J, w, b, out):
    assemble(lin, J, w)
    dependent = factor(lin)
    return dependent, solve(lin, b, out)


@kernel
def pair_factor_solve(lin, Ja, Jb, w, b, out):
    assemble_pair(lin, Ja, Jb, w)
    factor(lin)
    return solve(lin, b, out)


@kernel
def solve_only(lin, b, out):
    return solve(lin, b, out)


@kernel
def multiply_only(lin, y, out):
    multiply(lin, y, out)


class System:
    """Blocks of J, and the dense twin of A."""

    def __init__(self, row_ptr, slot, J, w):
        self.row_ptr, self.slot, self.J, self.w = row_ptr, slot, J, w
        self.m = len(row_ptr) - 1
        self.A = self.product(J, J)

    def product(self, Ja, Jb):
        return self.matrix(Ja) @ (self.w.ravel()[:, None] * self.matrix(Jb).T)

    def matrix(self, J):
        dense = np.zeros((self.m, self.w.size))
        for r in range(self.m):
            for k in range(self.row_ptr[r], self.row_ptr[r + 1]):
                dense[r, 3 * self.slot[k] : 3 * self.slot[k] + 3] += J[k]
        return dense

    def plan(self, solver="auto", **options):
        return plan(self.row_ptr, self.slot, self.w[:, 0] > 0, solver, **options)

    def solve(self, solver, b, **options):
        out = np.zeros(self.m)
        lin = self.plan(solver, **options)
        dependent, status = assemble_factor_solve(lin, self.J, self.w, b, out)
        return out, dependent, status

    def repeat_rows(self, rows, scale=1.0):
        """The same system with copies of some rows, multiplied by `scale`, at its end."""
        blocks = [np.arange(self.row_ptr[r], self.row_ptr[r + 1]) for r in rows]
        extra = np.concatenate(blocks)
        sizes = np.append(np.diff(self.row_ptr), [b.size for b in blocks])
        return System(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([self.slot, self.slot[extra]]),
            np.concatenate([self.J, scale * self.J[extra]]),
            self.w,
        )


def scattered(seed=0, m=20, slots=15, blocks=2):
    rng = np.random.default_rng(seed)
    slot = np.concatenate([rng.choice(slots, blocks, replace=False) for _ in range(m)])
    w = rng.uniform(0.5, 2.0, (slots, 3))
    w[slots // 2] = 0.0  # a fixed slot
    J = rng.normal(size=(m * blocks, 3))
    return System(np.arange(0, m * blocks + 1, blocks), slot, J, w)


def chain(n, straight=False, closed=False, seed=0):
    rng = np.random.default_rng(seed)
    u = np.tile([1.0, 0.0, 0.0], (n, 1)) if straight else rng.normal(size=(n, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    w = np.ones((n + 1, 3))
    w[0] = 0.0
    if closed:
        w[-1] = 0.0
    slot = np.stack([np.arange(n), np.arange(n) + 1], 1).ravel()
    return System(np.arange(0, 2 * n + 1, 2), slot, np.stack([u, -u], 1).reshape(-1, 3), w)


def cloth_blocks(n, seed=0):
    node = np.arange(n * n).reshape(n, n)
    across = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], 1)
    along = np.stack([node[:-1].ravel(), node[1:].ravel()], 1)
    edges = np.concatenate([across, along])
    x = np.stack([np.repeat(np.arange(n), n), np.tile(np.arange(n), n), np.zeros(n * n)], 1).astype(float)
    x[:, 2] = 0.3 * np.random.default_rng(seed).normal(size=n * n)
    u = x[edges[:, 0]] - x[edges[:, 1]]
    u /= np.linalg.norm(u, axis=1)[:, None]
    w = np.ones((n * n, 3))
    w[[0, n - 1]] = 0.0
    return np.arange(0, 2 * len(edges) + 1, 2), edges.ravel(), np.stack([u, -u], 1).reshape(-1, 3), w


def cloth(n):
    return System(*cloth_blocks(n))


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


def shortest_least_squares(A, b):
    """Equations (1) and (2) of singular.py, by numpy."""
    a = np.diag(A)
    g = np.exp(np.log(a[a > 0]).mean()) if a.any() else 1.0
    e = np.where(a > 0, np.clip(g, a / 100, a * 100), g)
    s = 1 / np.sqrt(e)
    return s * np.linalg.lstsq(s[:, None] * A * s, s * b, rcond=1e-11)[0]


def relative(x, expected):
    return np.abs(x - expected).max() / (np.abs(expected).max() or 1.0)


REGULAR = {
    "one row": lambda: chain(1),
    "two links": lambda: chain(2),
    "chain": lambda: chain(40),
    "scattered": scattered,
    "cloth": lambda: cloth(6),
    "three blocks": lambda: scattered(3, 12, 14, 3),
    "badly scaled": lambda: scale_rows(scattered(5), 10.0 ** np.linspace(-5, 5, 20)),
}
SINGULAR = {
    "repeated rows": lambda: scattered().repeat_rows([3, 3, 7]),
    "doubled rows": lambda: scattered(1).repeat_rows([3, 7], 2.0),
    "repeated rows of another scale": lambda: scattered(2).repeat_rows([3, 3, 7], 1e-6),
    "straight closed chain": lambda: chain(30, straight=True, closed=True),
    "row between fixed slots": lambda: fix_slots(chain(20), [5, 6]),
    "only a zero row": lambda: fix_slots(chain(1), [1]),
}


def scale_rows(system, factors):
    J = system.J * np.repeat(factors, np.diff(system.row_ptr))[:, None]
    return System(system.row_ptr, system.slot, J, system.w)


def fix_slots(system, slots):
    w = system.w.copy()
    w[slots] = 0.0
    return System(system.row_ptr, system.slot, system.J, w)


@pytest.mark.parametrize("solver", ("auto", *SOLVERS))
@pytest.mark.parametrize("name", REGULAR)
def test_regular_systems_are_solved(name, solver):
    system = REGULAR[name]()
    b = system.A @ np.random.default_rng(9).normal(size=system.m)
    x, dependent, status = system.solve(solver, b)
    s = 1 / np.sqrt(np.diag(system.A))
    error = relative(s * (system.A @ x), s * b)
    assert (dependent, status) == (0, 0) and error < 1e-10, (dependent, status, error)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("consistent", (True, False), ids=("redundant", "conflicting"))
@pytest.mark.parametrize("name", SINGULAR)
def test_singular_systems_give_the_shortest_least_squares_multiplier(name, consistent, solver):
    system = SINGULAR[name]()
    b = np.random.default_rng(4).normal(size=system.m)
    if consistent:
        b = system.A @ b
    x, dependent, status = system.solve(solver, b)
    error = relative(x, shortest_least_squares(system.A, b))
    assert dependent > 0 and status == 0 and error < 1e-8, (dependent, status, error)


@pytest.mark.parametrize("solver", SOLVERS)
def test_identical_rows_share_alike(solver):
    system = scattered().repeat_rows([4])
    b = np.random.default_rng(4).normal(size=system.m)
    x, _, _ = system.solve(solver, b)
    error = relative(x, np.linalg.lstsq(system.A, b, rcond=1e-11)[0])
    assert abs(x[4] - x[-1]) < 1e-9 * abs(x[4]) and error < 1e-8, (x[4], x[-1], error)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ("scattered", "chain", "cloth"))
def test_multiply_is_the_assembled_matrix(name, solver):
    system = REGULAR[name]()
    lin, y, out = system.plan(solver), np.random.default_rng(1).normal(size=system.m), np.zeros(system.m)
    assemble_factor_solve(lin, system.J, system.w, y, out)
    multiply_only(lin, y, out)
    assert relative(out, system.A @ y) < 1e-14, relative(out, system.A @ y)


def test_two_blocks_of_one_row_may_share_a_slot():
    J = np.arange(12.0).reshape(4, 3) + 1
    system = System(np.array([0, 2, 4]), np.array([0, 0, 0, 1]), J, np.ones((2, 3)))
    b = np.array([1.0, -2.0])
    x, _, _ = system.solve("auto", b)
    assert relative(system.A @ x, b) < 1e-13, relative(system.A @ x, b)


def test_bicgstab_solves_the_unsymmetric_system():
    system = cloth(6)
    rng = np.random.default_rng(2)
    Jb = system.J + 0.05 * rng.normal(size=system.J.shape)
    b, out = rng.normal(size=system.m), np.zeros(system.m)
    lin = system.plan("bicgstab")
    status = pair_factor_solve(lin, system.J, Jb, system.w, b, out)
    error = relative(system.product(system.J, Jb) @ out, b)
    assert status == 0 and error < 1e-10, (status, error)


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_factor_serves_many_solves_and_repeats_bit_for_bit(solver):
    system = scattered(7).repeat_rows([2]) if solver == "sparse" else scattered(7)
    lin, out, again = system.plan(solver), np.zeros(system.m), np.zeros(system.m)
    first, second = np.random.default_rng(3).normal(size=(2, system.m))
    assemble_factor_solve(lin, system.J, system.w, first, out)
    kept = out.copy()
    out[:] = 0.0
    solve_only(lin, second, out)
    error = relative(out, shortest_least_squares(system.A, second))
    solve_only(lin, first, again)
    fresh, _, _ = system.solve(solver, first)
    assert error < 1e-9 and np.array_equal(kept, again) and np.array_equal(kept, fresh), error


@pytest.mark.parametrize("solver", ("pcg", "bicgstab"))
def test_a_warm_start_saves_iterations(solver):
    system = cloth(12)
    b, out = np.random.default_rng(3).normal(size=system.m), np.zeros(system.m)
    lin = system.plan(solver)
    assemble_factor_solve(lin, system.J, system.w, b, out)
    cold = lin.state[1]
    solve_only(lin, b * (1 + 1e-8), out)
    assert lin.state[1] < 0.8 * cold, (lin.state[1], cold)


def test_incomplete_factor_needs_fewer_iterations_than_the_diagonal():
    system = cloth(12)
    b = np.random.default_rng(3).normal(size=system.m)
    used = {}
    for preconditioner in ("ic0", "jacobi"):
        lin, out = system.plan("pcg", preconditioner=preconditioner, tolerance=1e-6), np.zeros(system.m)
        assemble_factor_solve(lin, system.J, system.w, b, out)
        used[preconditioner] = int(lin.state[1])
    assert used["ic0"] <= 15 and used["ic0"] * 2 < used["jacobi"], used


def test_the_choice_follows_the_structure():
    shuffled = chain(50)
    order = np.random.default_rng(0).permutation(50)
    shuffled.slot = shuffled.slot.reshape(-1, 2)[order].ravel()
    chosen = {
        "chain": describe(chain(50).plan()),
        "shuffled chain": describe(shuffled.plan()),
        "star": describe(System(np.arange(4), np.zeros(3, int), np.eye(3), np.ones((1, 3))).plan()),
        "cloth": describe(plan(*cloth_blocks(20)[:2], cloth_blocks(20)[3][:, 0] > 0)),
        "named": describe(chain(50).plan("pcg")),
    }
    expected = {
        "chain": "banded LDLᵀ, 50 rows (half bandwidth 1 in the given order)",
        "shuffled chain": "banded LDLᵀ, 50 rows (half bandwidth 1 after reordering)",
        "star": "dense LDLᵀ, 3 rows (few rows that nearly all meet)",
        "named": "preconditioned conjugate gradients, 50 rows (as named)",
    }
    assert {k: chosen[k] for k in expected} == expected and chosen["cloth"].startswith("sparse"), chosen


def test_planning_stays_linear_for_large_systems():
    plan(*cloth_blocks(30)[:2], np.ones(900, bool))  # compiled
    blocks = np.stack([np.arange(100_000), np.arange(100_000) + 1], 1).ravel()
    start = time.perf_counter()
    plan(np.arange(0, 200_001, 2), blocks, np.ones(100_001, bool))
    middle = time.perf_counter()
    row_ptr, slot, _, w = cloth_blocks(60)
    plan(row_ptr, slot, w[:, 0] > 0)
    seconds = middle - start, time.perf_counter() - middle
    assert seconds[0] < 3.0 and seconds[1] < 2.0, seconds


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
    assert lin.fronts.row.size and describe(lin).startswith("sparse Cholesky"), describe(lin)
    error = relative(A @ out, b)
    assert (dependent, status) == (0, 0) and error < 1e-12, (dependent, status, error)
    assemble_factor_solve(plan(row_ptr, slot, w[:, 0] > 0), J, w, b, again)
    assert np.array_equal(out, again)


def test_fronts_hold_each_column_once_and_few_zeros():
    row_ptr, slot, _, w = cloth_blocks(40)
    lin = plan(row_ptr, slot, w[:, 0] > 0, "sparse")
    column, at = lin.fronts.table[COLUMN].astype(int), lin.fronts.table[AT].astype(int)
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
    assert lin.fronts.row.size and dependent > 0 and status == 0 and error < 1e-7, (dependent, status, error)


def test_unknown_names_are_refused_with_the_nearest_one():
    with pytest.raises(TautError, match="unknown solver 'spars'. Did you mean 'sparse'"):
        chain(2).plan("spars")
    with pytest.raises(TautError, match="unknown preconditioner 'ilu'"):
        chain(2).plan("pcg", preconditioner="ilu")


def test_an_empty_system_is_no_special_case():
    system = System(np.zeros(1, int), np.zeros(0, int), np.zeros((0, 3)), np.ones((2, 3)))
    for solver in ("auto", *SOLVERS):
        _, dependent, status = system.solve(solver, np.zeros(0))
        assert (dependent, status) == (0, 0), (solver, dependent, status)


@pytest.mark.parametrize("solver", SOLVERS)
def test_numbers_that_are_not_finite_end_the_solve(solver):
    system = scattered()
    b = np.full(system.m, np.nan)
    x, _, _ = system.solve(solver, b)
    assert not np.isfinite(x).all(), x


def test_dependent_rows_are_named():
    repeated = scattered().repeat_rows([3, 7])
    closed = chain(12, straight=True, closed=True)
    zero = fix_slots(chain(20), [5, 6])
    found = [dependent_rows(s.A) for s in (repeated, closed, zero, scattered())]
    # a chain cut by two neighbouring fixed slots also has a row that nothing can move
    assert found[0] == [[3, 20], [7, 21]] and found[1] == [list(range(12))], found
    assert found[2] == [[5]] and found[3] == [], found
