"""Laws of taut.linalg: every solver against numpy on structured, singular and badly scaled systems."""

import numpy as np
import pytest
from words_linalg import (
    System,
    assemble_factor_solve,
    chain,
    cloth,
    cloth_blocks,
    fix_slots,
    relative,
    scattered,
    shortest_least_squares,
)

from taut.compiled import entry
from taut.errors import TautError
from taut.linalg import SOLVERS, assemble_pair, dependences, dependent_rows, describe, factor, multiply, plan, solve
from taut.linalg.linear import ASYMMETRIC


@entry
def pair_factor_solve(lin, Ja, Jb, w, b, out):
    assemble_pair(lin, Ja, Jb, w)
    factor(lin)
    return solve(lin, b, out)


@entry
def solve_only(lin, b, out):
    return solve(lin, b, out)


@entry
def multiply_only(lin, y, out):
    multiply(lin, y, out)


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


@pytest.mark.parametrize("solver", ("pcg", "minres", "bicgstab"))
def test_iterative_solvers_switch_to_bicgstab_where_the_matrix_is_not_symmetric(solver):
    system = cloth(6)
    rng = np.random.default_rng(2)
    Jb = system.J + 0.05 * rng.normal(size=system.J.shape)
    b, out = rng.normal(size=system.m), np.zeros(system.m)
    lin = system.plan(solver)
    status = pair_factor_solve(lin, system.J, Jb, system.w, b, out)
    error = relative(system.product(system.J, Jb) @ out, b)
    assert status == 0 and error < 1e-10, (status, error)
    kept = lin.state[ASYMMETRIC]
    pair_factor_solve(lin, system.J, system.J, system.w, b, out)  # and back
    assert kept == 1 and lin.state[ASYMMETRIC] == 0, (kept, lin.state)


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


def test_the_plan_of_a_chain_grows_with_its_length():
    def memory(links: int) -> int:
        blocks = np.stack([np.arange(links), np.arange(links) + 1], 1).ravel()
        made = plan(np.arange(0, 2 * links + 1, 2), blocks, np.ones(links + 1, bool))
        return sum(part.nbytes for part in made if isinstance(part, np.ndarray))

    small, large = memory(10_000), memory(100_000)
    assert large < 10.1 * small, f"{small:,} and {large:,} bytes"


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
    ranks = [dependences(s.A)[0] - s.A.shape[0] for s in (repeated, closed, zero, scattered())]
    assert ranks == [-2, -1, -1, 0], ranks
    for A in (repeated.A, closed.A, zero.A):
        for dependence in dependences(A)[1]:
            left = np.abs(dependence.weights @ A[dependence.rows]).max()
            assert left < 1e-9 * np.abs(A).max(), f"{left:.2g} is left of rows {dependence.rows}"
