"""Laws of the rules for active sets: complementarity, the paper's corner, contradictions, the log."""

import re
from itertools import product

import numpy as np
import pytest
from words_rules import Answer, problem

from taut.contact.rules import RULES, jonquet
from taut.contact.work import ENTERED, INFEASIBLE, KEPT, KEPT_OUT, LEFT, NOT_CONVERGED, NOT_UNIQUE, empty_log

CASES = 2000


def missed(S, c, lam):
    """By how much the conditions of complementarity are missed; λ·w relative to λ where that is large."""
    w = S @ lam + c
    return max(-lam.min(), -w.min(), np.abs(lam * w).max() / max(1, lam.max()))


def independent(J, W, a):
    """argmin ½ (v - a)ᵀ M (v - a) with J v ≥ 0, by a solver that shares nothing with ours."""
    import daqp

    m = len(J)
    v, _, flag, _ = daqp.solve(
        np.diag(1 / W), -a / W, J.copy(), np.full(m, 1e30), np.zeros(m), np.zeros(m, np.int32)
    )  # fmt: skip
    assert flag == 1, f"daqp: {flag}"
    return v


# The paper's corner: x - y ≥ 0, y ≥ 0.
CORNER = np.array([[1.0, -1.0], [0.0, 1.0]])


def corner(force, mass):
    return CORNER @ CORNER.T / mass, CORNER @ np.array(force) / mass


@pytest.mark.parametrize("mass", [2.0, 3.0])
def test_platt_leaves_the_corner_through_the_floor(mass):
    S, c = corner((2, -1), mass)
    first = Answer("platt", S, c, {0, 1})
    assert np.allclose(first.lam, (-2, -1), atol=1e-14), first.lam
    handled = first.next_set("platt")
    assert handled == set()
    second = Answer("platt", S, c, handled)
    assert second.w[1] == pytest.approx(-1 / mass), "y accelerates downwards"
    assert second.next_set("platt", phi=(0.1, -1e-9)) == {1}


@pytest.mark.parametrize("mass", [2.0, 3.0])
def test_improved_platt_is_right_for_the_first_force_and_wrong_for_the_second(mass):
    S, c = corner((2, -1), mass)
    start = Answer("platt_improved", S, c).next_set("platt_improved")
    assert start == {1}
    assert np.allclose(Answer("platt_improved", S, c, start).lam, (0, 1), atol=1e-14)
    S, c = corner((-1, -2), mass)
    start = Answer("platt_improved", S, c).next_set("platt_improved")
    answer = Answer("platt_improved", S, c, start)
    assert np.allclose(answer.lam, (0, 2), atol=1e-14), answer.lam
    assert answer.w[0] == pytest.approx(-1 / mass), "it goes through the other wall"
    assert answer.next_set("platt_improved") == {0, 1}


@pytest.mark.parametrize("rule, mass", list(product(("jonquet", "exact"), (2.0, 3.0))))
def test_the_right_rules_hold_the_corner(rule, mass):
    for force, lam in (((2, -1), (0, 1)), ((-1, -2), (1, 3))):
        answer = Answer(rule, *corner(force, mass))
        assert np.allclose(answer.lam, lam, atol=1e-14) and answer.status == 0, answer.lam


@pytest.mark.parametrize(
    "force, mass, expected",
    [
        ((2, -1), 2, (1, 0, 0, 1)),
        ((2, -1), 3, (2 / 3, 0, 0, 1)),
        ((-1, -2), 1, (0, 0, 1, 3)),
        ((1, 2), 1, (1.5, 1.5, 0.5, 0)),
        ((-3, -1), 2, (0, 0, 3, 4)),
        ((1, 0.5), 1, (1, 0.5, 0, 0)),
    ],
)
def test_exact_meets_the_reference_of_the_acute_corner(force, mass, expected):
    answer = Answer("exact", *corner(force, mass))
    found = [*((np.array(force) + CORNER.T @ answer.lam) / mass), *answer.lam]
    assert np.abs(np.array(found) - expected).max() < 1e-14, found


@pytest.mark.parametrize("dependent", [False, True])
def test_exact_satisfies_all_conditions_and_agrees_with_an_independent_solver(dependent):
    rng = np.random.default_rng(20 + dependent)
    worst = apart = energy = 0.0
    for _ in range(CASES):
        J, W, a = problem(rng, dependent)
        S, c = J * W @ J.T, J @ a
        answer = Answer("exact", S, c)
        assert answer.status in (0, NOT_UNIQUE), answer.status
        v, other = a + W * (J.T @ answer.lam), independent(J, W, a)
        worst = max(worst, missed(S, c, answer.lam))
        apart = max(apart, np.abs(answer.w - J @ other).max())
        taken, least = (v - a) ** 2 @ (1 / W) / 2, (other - a) ** 2 @ (1 / W) / 2
        energy = max(energy, abs(taken - least) / max(1, least))
    # λ reaches thousands where rows are nearly dependent, and the energy feels the rounding of S twice
    assert max(worst, apart) < 1e-9 and energy < 1e-8, f"conditions {worst:.1e}, w {apart:.1e}, energy {energy:.1e}"


def test_jonquet_never_violates_but_pulls_as_often_as_its_page_says():
    rng = np.random.default_rng(20)
    pulls, worst = 0, 0.0
    for _ in range(CASES):
        J, W, a = problem(rng)
        S, c = J * W @ J.T, J @ a
        answer = Answer("jonquet", S, c)
        worst = max(worst, -(S @ answer.lam + c).min())
        pulls += answer.lam.min() < -1e-9
    share = 100 * pulls / CASES
    (stated,) = re.findall(r"in (\d+) % of", jonquet.__doc__)
    assert worst < 1e-9 and abs(share - int(stated)) <= 0.5, f"violation {worst:.1e}, λ < 0 in {share} %"


def test_of_all_solutions_exact_gives_the_smallest():
    import daqp

    rng = np.random.default_rng(3)
    worst = several = 0
    for _ in range(300):
        J, W, a = problem(rng, dependent=True)
        S, c = J @ J.T, J @ a
        answer = Answer("exact", S, c)
        held = np.flatnonzero(answer.w < 1e-8)
        if held.size == 0:
            continue
        values, vectors = np.linalg.eigh(S[np.ix_(held, held)])
        rows = (vectors * values)[:, values > 1e-9 * values.max()].T  # the equations, the dependent ones left out
        known = rows @ answer.lam[held]
        n, r = held.size, len(rows)
        least, _, flag, _ = daqp.solve(
            np.eye(n), np.zeros(n), rows, np.r_[np.full(n, 1e30), known], np.r_[np.zeros(n), known],
            np.r_[np.zeros(n, np.int32), np.full(r, 5, np.int32)],
        )  # fmt: skip
        assert flag == 1
        several += answer.status == NOT_UNIQUE
        worst = max(worst, np.abs(answer.lam[held] - least).max() / max(1, least.max()))
    assert worst < 1e-7 and several > 50, f"{worst:.1e} from the smallest, {several} with several solutions"


def test_equal_rows_share_alike_and_say_so():
    S, c = np.full((3, 3), 2.0), np.full(3, -3.0)
    for rule in RULES:
        answer = Answer(rule, S, c, {0, 1, 2})
        assert np.allclose(answer.lam, 0.5, rtol=1e-14) and answer.status == NOT_UNIQUE, (rule, answer.lam)


def test_a_beam_on_three_supports_is_known_to_be_indeterminate_even_where_one_support_is_idle():
    J = np.array([[1.0, -1.0], [1.0, 1.0], [1.0, 3.0]])  # force and moment of supports at -1, 1, 3
    answer = Answer("exact", J @ J.T, J @ np.array([-1.0, 0.8]))  # load 1 at -0.8
    assert np.allclose(answer.lam, (0.9, 0.1, 0), atol=1e-12) and answer.status == NOT_UNIQUE, answer.lam
    two = Answer("exact", J[:2] @ J[:2].T, J[:2] @ np.array([-1.0, 0.8]))
    assert two.status == 0, "two supports are determinate"


def test_a_touching_row_that_carries_nothing_does_not_make_the_answer_ambiguous():
    J = np.array([[0.0, 1.0], [1.0, 0.0]])  # floor and wall, gravity along the wall
    answer = Answer("exact", J @ J.T, J @ np.array([0.0, -9.81]))
    assert np.allclose(answer.lam, (9.81, 0)) and answer.status == 0


def test_contradictions_are_found_proven_and_nothing_else_is_called_one():
    from scipy.optimize import linprog

    rng = np.random.default_rng(5)
    found = wrong = 0
    worst = 0.0
    for _ in range(600):
        J, W, a = problem(rng, dependent=True)
        J[1] *= -1
        d = 0.3 * rng.normal(size=len(J))
        answer = Answer("exact", J * W @ J.T, J @ a - d)
        possible = linprog(np.zeros(6), A_ub=-J, b_ub=-d, bounds=[(None, None)] * 6).status == 0
        wrong += possible != (answer.status in (0, NOT_UNIQUE))
        if not possible:
            found += answer.status == INFEASIBLE
            u = answer.lam
            assert u.min() >= 0 and u @ d > 0, "u ≥ 0 asks for something"
            worst = max(worst, np.abs(J.T @ u).max())  # of no motion at all
    assert wrong == 0 and found > 20 and worst < 1e-4, f"{wrong} wrong, {found} contradictions, Jᵀu {worst:.1e}"


def test_floor_and_ceiling_that_close_are_the_rows_of_the_contradiction():
    J = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    answer = Answer("exact", J @ J.T, J @ np.array([-1.0, 0.0]) - np.array([0.0, 1.0, 1.0]))
    assert answer.status == INFEASIBLE and np.allclose(answer.lam, (0, 1, 1)) and answer.members == {1, 2}
    held = Answer("platt", J @ J.T, J @ np.array([-1.0, 0.0]) - np.array([0.0, 1.0, 1.0]), {1, 2})
    assert held.status == NOT_UNIQUE | NOT_CONVERGED and np.allclose(held.w[1:], -1), "least squares: both miss"


def test_a_row_that_nothing_moves_carries_nothing():
    S = np.diag([1.0, 0.0])
    for rule in RULES:
        answer = Answer(rule, S, np.array([-1.0, 2.0]), {0, 1})
        assert np.allclose(answer.lam, (1, 0)) and np.allclose(answer.w, (0, 2)), rule
    stuck = Answer("exact", S, np.array([-1.0, -2.0]))
    assert stuck.status == INFEASIBLE and np.allclose(stuck.lam, (0, 1))


@pytest.mark.parametrize("rule", RULES)
def test_numbers_that_are_none_are_not_hidden(rule):
    for S, c in ((np.eye(2), (np.nan, -1)), (np.eye(2), (-1, np.inf)), (np.diag([np.nan, 1]), (-1, -1))):
        answer = Answer(rule, S, np.array(c, float), {0})
        assert answer.status == NOT_CONVERGED and np.isnan(answer.lam).all()


def test_units_of_rows_do_not_matter():
    rng = np.random.default_rng(6)
    worst = 0.0
    for _ in range(300):
        J, W, a = problem(rng)
        S, c = J * W @ J.T, J @ a
        unit = 10.0 ** rng.uniform(-3, 3, size=len(c))
        plain, scaled = Answer("exact", S, c), Answer("exact", unit[:, None] * S * unit, unit * c)
        worst = max(worst, np.abs(scaled.w / unit - plain.w).max())
        if plain.status == 0:
            size = max(1, plain.lam.max())
            worst = max(worst, np.abs(unit * scaled.lam - plain.lam).max() / size)
    assert worst < 1e-9, f"{worst:.1e}"


def test_where_it_starts_does_not_matter():
    rng = np.random.default_rng(7)
    for _ in range(300):
        J, W, a = problem(rng, dependent=True)
        S, c = J * W @ J.T, J @ a
        cold = Answer("exact", S, c)
        warm = Answer("exact", S, c, cold.members)
        other = Answer("exact", S, c, np.flatnonzero(rng.random(len(c)) < 0.5))
        assert cold.status == warm.status == other.status
        assert np.array_equal(cold.lam, warm.lam), "from its own answer: the same bits"
        apart = np.abs(cold.lam - other.lam).max() / max(1, cold.lam.max())
        assert apart < 1e-9, f"{apart:.1e}"


@pytest.mark.parametrize("seed", range(6))
def test_many_redundant_rows(seed):
    """77 rows of rank 48, as in the billiard of the paper."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(77, 48)) @ rng.normal(size=(48, 60))
    J[40:60] = J[:20]
    x = rng.normal(size=60)
    J *= np.sign(J @ x)[:, None]  # there is a way out: x
    S, c = J @ J.T, J @ (rng.normal(size=60) - 3 * x)
    answer = Answer("exact", S, c)
    relative = missed(S, c, answer.lam) / np.abs(c).max()
    assert relative < 1e-12 and answer.status == NOT_UNIQUE, f"{relative:.1e}, status {answer.status}"
    apart = np.abs(answer.lam[40:60] - answer.lam[:20]).max() / answer.lam.max()
    assert apart < 1e-9, f"copies differ by {apart:.1e}"


@pytest.mark.parametrize("angle", [1e-1, 1e-3, 1e-5])
def test_a_thin_wedge_holds(angle):
    J = np.array([[0.0, 1.0], [np.sin(angle), -np.cos(angle)]])
    answer = Answer("exact", J @ J.T, J @ np.array([-1.0, 0.0]))
    expected = np.array([np.cos(angle), 1.0]) / np.sin(angle)
    assert answer.status == 0 and np.allclose(answer.lam, expected, rtol=1e-5), answer.lam


def test_the_log_tells_every_change():
    S, c = corner((-1, -2), 2.0)
    log = empty_log(50)
    Answer("jonquet", S, c, log=log)
    events = [tuple(e) for e in log.ints[: log.filled[0], 1:]]
    assert events == [
        (1, 0, 0, KEPT_OUT), (1, 1, 0, ENTERED),
        (2, 0, 0, ENTERED), (2, 1, 1, KEPT),
        (3, 0, 1, KEPT), (3, 1, 1, KEPT),
    ], events  # fmt: skip
    assert np.allclose(log.numbers[2], (0, -0.5)), "the other wall is noticed by w = -1/m"

    rng = np.random.default_rng(8)
    for _ in range(100):
        J, W, a = problem(rng)
        start = set(np.flatnonzero(rng.random(len(J)) < 0.5).tolist())
        log = empty_log(500)
        answer = Answer("exact", J * W @ J.T, J @ a, start, log)
        last = {row: action for _, _, row, _, action in log.ints[: log.filled[0]]}
        assert {row for row, action in last.items() if action in (KEPT, ENTERED)} == answer.members
        for _, _, _, before, action in log.ints[: log.filled[0]]:
            assert (action in (KEPT, LEFT)) == (before == 1)


def test_a_full_log_goes_on_counting_and_an_empty_one_costs_nothing():
    S, c = corner((-1, -2), 2.0)
    small, none = empty_log(2), empty_log(0)
    Answer("jonquet", S, c, log=small)
    Answer("jonquet", S, c, log=none)
    assert small.filled[0] == 6 and none.filled[0] == 0
