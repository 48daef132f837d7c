"""Elimination by groups of rows (linalg/groups.py): joints of any number of rows, in chains, trees and loops."""

import numpy as np
import pytest
from words_linalg import System, assemble_factor_solve, relative, shortest_least_squares

import taut
from taut.compiled import entry
from taut.linalg import DOUBT, FIRST_KEPT, KEPT_OUT, describe, multiply, solve, sweep_back, sweep_forwards
from taut.model import build


@entry
def solve_only(lin, b, out):
    return solve(lin, b, out)


@entry
def multiply_only(lin, y, out):
    multiply(lin, y, out)


@entry
def sweep(lin, J, w, divisor, scale, b, v, lam, keep):
    dependent = sweep_forwards(lin, J, w, v, divisor, b, DOUBT, keep)
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
    "joints that do not meet": lambda: joints([(0, k + 1) for k in range(40)], [5, 3] * 20),
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


@pytest.mark.parametrize("keep", (False, True), ids=("without a factor", "with its factor"))
@pytest.mark.parametrize("kept_out", (False, True), ids=("all rows", "rows kept out"))
@pytest.mark.parametrize("name", [*SYSTEMS, *LONG])
def test_one_sweep_and_back_solves_the_residual_and_applies_the_multipliers(name, kept_out, keep):
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
    dependent = sweep(lin, system.J, system.w, divisor, scale, c, v, lam, keep)
    wrong = relative(system.A[rest] @ lam, right[rest]), relative(v, moved)
    assert dependent == 0 and max(wrong) < 1e-9, (dependent, wrong)
    if keep:
        again = np.zeros(system.m)
        solve_only(lin, right, again)
        assert relative(again[rest], true[rest]) < 1e-9


def blocks_on_guides(n):
    """Boxes that slide on each other, one after the other, and turn about every other one: rows of sliders have two
    blocks on one rotation, that of the place and that of the direction."""
    scene, before = taut.Scene(), (0.0, 0.0, 0.0)
    for i in range(n):
        box = scene.rigid((0.4 * i + 0.2, 0.0, 0.0), shape={"box": [0.4, 0.1, 0.1]}, mass=1.0, name=f"box_{i}")
        if i % 2:
            scene.slider(box.at((-0.2, 0.0, 0.0)), before, axis=(1, 0, 0.5), name=f"guide_{i}")
        else:
            scene.hinge(box.at((-0.2, 0.0, 0.0)), before, axis=(0, 0.3, 1), name=f"pin_{i}")
        before = box.at((0.2, 0.0, 0.0))
    return scene


def ring(n):
    """A closed ring of rods in a plane, with hinges in space: of the last one's five rows three are redundant."""
    scene, angle = taut.Scene(), 2.0 * np.pi / n
    half = np.sin(0.5 * angle)
    corners = [(np.cos(k * angle), np.sin(k * angle), 0.0) for k in range(n + 1)]
    rods = []
    for k in range(n):
        (x, y, _), (u, w, _) = corners[k], corners[k + 1]
        turn = 0.5 * np.arctan2(w - y, u - x)
        rods.append(scene.rigid(((x + u) / 2, (y + w) / 2, 0.0), shape={"box": [2 * half, 0.02, 0.02]}, mass=1.0,
                                orientation=(np.cos(turn), 0, 0, np.sin(turn)), name=f"rod_{k}"))  # fmt: skip
    for k in range(n):
        scene.hinge(rods[k].at((-half, 0, 0)), rods[k - 1].at((half, 0, 0)), axis=(0, 0, 1), name=f"joint_{k}")
    scene.hinge(rods[0].at((-half, 0, 0)), corners[0], axis=(0, 0, 1), name="ground")
    return scene


CHAINS = {
    "hinges": lambda: taut.gallery("rigid_chain", n=80),
    "balls": lambda: taut.gallery("rigid_chain", n=30, joint="ball"),
    "guides": lambda: blocks_on_guides(16),
    "a ring with redundant rows": lambda: ring(16),
}


@pytest.mark.parametrize("name", CHAINS)
def test_steps_straight_from_panels_are_those_of_another_solver(name, simulate):
    scene = CHAINS[name]()
    assert len(build(scene).system().panels.first) > 1
    found, other = (
        simulate(scene, "implicit_first", 0.002, 0.03, solver=solver, record_every=5) for solver in ("auto", "sparse")
    )
    assert (found.info["singular_systems"] > 0) == (name == "a ring with redundant rows")
    for quantity in ("position", "velocity", "multiplier"):
        near, true = found.data[quantity].values, other.data[quantity].values
        assert relative(near, true) < 1e-7, quantity
