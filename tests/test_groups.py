"""Elimination by groups of rows (linalg/groups.py): joints of any number of rows, in chains, trees and loops."""

import numpy as np
import pytest
from words_linalg import System, assemble_factor_solve, relative, shortest_least_squares

from taut.compiled import entry
from taut.linalg import DOUBT, FIRST_KEPT, KEPT_OUT, describe, multiply, sweep_back, sweep_forwards


@entry
def multiply_only(lin, y, out):
    multiply(lin, y, out)


@entry
def sweep(lin, J, w, divisor, scale, b, v, lam):
    dependent = sweep_forwards(lin, J, w, v, divisor, b, DOUBT)
    sweep_back(lin, w, scale, v, lam)
    return dependent


def joints(pairs, rows, seed=0, twice=False):
    """Joints between bodies of two slots each, body 0 being fixed: of `rows` rows the last third turns bodies only.
    twice: rows have two blocks on the first body's rotation."""
    rng = np.random.default_rng(seed)
    slot, width = [], []
    for (a, b), count in zip(pairs, rows):
        for r in range(count):
            own = [2 * a + 1, 2 * b + 1] if 3 * r >= 2 * count > 2 else [2 * a, 2 * b, 2 * a + 1, 2 * b + 1]
            own += [2 * a + 1] if twice else []
            slot += own
            width.append(len(own))
    w = rng.uniform(0.5, 2.0, (2 * int(np.max(pairs)) + 2, 3))
    w[:2] = 0.0
    ptr = np.concatenate([[0], np.cumsum(width)])
    return System(ptr, np.array(slot), rng.normal(size=(len(slot), 3)), w)


def chain(n):
    return [(i, i + 1) for i in range(n)]


LOOP = [*chain(12), (12, 0)]
TREE = [(i // 2, i + 1) for i in range(20)]
SYSTEMS = {
    "hinges": lambda: joints(chain(15), [5] * 15),
    "two rows": lambda: joints(chain(30), [2] * 30),
    "all kinds of joints": lambda: joints(chain(12), [1, 2, 3, 4, 5, 5, 5, 5, 4, 3, 2, 5]),
    "a tree": lambda: joints(TREE, [3, 5, 4, 2, 5] * 4),
    "a closed loop": lambda: joints(LOOP, [5] * 13),
    "two loops": lambda: joints([*LOOP, (3, 13), (13, 9)], [4] * 15),
    "nine rows between two bodies": lambda: joints([(0, 1), (1, 2), *chain(12)[1:]], [1, 4] + [5] * 11),
    "rows with two blocks on a slot": lambda: joints(chain(15), [5] * 15, twice=True),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_joints_are_eliminated_by_groups_of_their_rows_and_solved(name):
    system = SYSTEMS[name]()
    lin = system.plan()
    assert lin.groups.width.size > 1 and lin.groups.width.sum() == system.m, describe(lin)
    b, x, product = np.random.default_rng(9).normal(size=system.m), np.zeros(system.m), np.zeros(system.m)
    dependent, status = assemble_factor_solve(lin, system.J, system.w, b, x)
    multiply_only(lin, b, product)
    error, wrong = relative(system.A @ x, b), relative(product, system.A @ b)
    assert (dependent, status) == (0, 0) and error < 1e-9 and wrong < 1e-13, (dependent, status, error, wrong)


@pytest.mark.parametrize("consistent", (True, False), ids=("redundant", "conflicting"))
@pytest.mark.parametrize("name", ("hinges", "a tree", "a closed loop"))
def test_repeated_rows_of_joints_give_the_shortest_least_squares_multiplier(name, consistent):
    system = SYSTEMS[name]().repeat_rows([3, 3, 7, 20])
    lin, b, x = system.plan(), np.random.default_rng(4).normal(size=system.m), np.zeros(system.m)
    assert lin.groups.width.size > 1, describe(lin)
    if consistent:
        b = system.A @ b
    dependent, status = assemble_factor_solve(lin, system.J, system.w, b, x)
    error = relative(x, shortest_least_squares(system.A, b))
    assert dependent > 0 and status == 0 and error < 1e-7, (dependent, status, error)


LONG = {
    "150 hinges": lambda: joints(chain(150), [5] * 150),
    "a loop of 150 hinges": lambda: joints([*chain(149), (149, 0)], [5] * 150),
}


@pytest.mark.parametrize("kept_out", (False, True), ids=("all rows", "rows kept out"))
@pytest.mark.parametrize("name", [*SYSTEMS, *LONG])
def test_one_sweep_and_back_solves_the_residual_and_applies_the_multipliers(name, kept_out):
    system, rng = (SYSTEMS | LONG)[name](), np.random.default_rng(5)
    lin, dense, divisor, scale = system.plan(), system.matrix(system.J), 0.3, 0.7
    c, v, lam = rng.normal(size=system.m), rng.normal(size=system.w.shape) * (system.w > 0), np.zeros(system.m)
    kept = np.array([4, system.m - 1] if kept_out else [], np.int64)
    lin.state[KEPT_OUT] = kept.size
    lin.state[FIRST_KEPT : FIRST_KEPT + kept.size] = kept
    right, rest = -(c + dense @ v.ravel()) / divisor, np.setdiff1d(np.arange(system.m), kept)
    true = np.zeros(system.m)
    true[rest] = np.linalg.solve(system.A[np.ix_(rest, rest)], right[rest])
    moved = v + scale * (system.w.ravel() * (dense.T @ true)).reshape(v.shape)
    b, dependent = c.copy(), sweep(lin, system.J, system.w, divisor, scale, c, v, lam)
    wrong = relative(c, right), relative(system.A[rest] @ lam, right[rest]), relative(v, moved)
    assert dependent == 0 and max(wrong) < 1e-9 and not np.array_equal(b, c), (dependent, wrong)
