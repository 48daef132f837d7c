"""Elimination by groups of rows (linalg/groups.py): joints of any number of rows, in chains, trees and loops."""

import numpy as np
import pytest
from words_linalg import System, assemble_factor_solve, relative, shortest_least_squares

from taut.compiled import entry
from taut.linalg import describe, multiply


@entry
def multiply_only(lin, y, out):
    multiply(lin, y, out)


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
