"""Laws of impacts and of dry friction, by their dense kernels."""

import numpy as np
import pytest
from words_rules import Answer, problem, room

from taut.compiled import entry
from taut.contact.friction import stick_or_slip
from taut.contact.impact import solve_impacts


@entry
def collide_only(S, gamma, e, m, impulse, work, resting):
    return solve_impacts(S, gamma, e, m, impulse, work, resting)


@entry
def rub(S, c, mu, n, lam, work, tolerance, most):
    return stick_or_slip(S, c, mu, n, lam, work, tolerance, most)


# Impacts


def impact(S, gamma, e, resting=0.0):
    m = len(gamma)
    after, impulse = gamma.copy(), np.zeros(m)
    rounds = collide_only(S, after, np.broadcast_to(np.asarray(e, float), m).copy(), m, impulse, room(), resting)
    return rounds, after, impulse


def test_newtons_cradle_hands_the_velocity_to_the_last_ball():
    n = 9
    S = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    rounds, gamma, impulse = impact(S, -np.eye(n)[0], 1.0)
    assert np.array_equal(gamma, np.eye(n)[-1]) and np.array_equal(impulse, np.ones(n)) and rounds == n


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_one_ball_bounces_with_its_restitution(e):
    _, gamma, impulse = impact(np.array([[0.5]]), np.array([-3.0]), e)
    assert gamma[0] == pytest.approx(3 * e) and impulse[0] == pytest.approx(6 * (1 + e))


def test_what_approaches_slower_than_the_resting_speed_does_not_bounce():
    _, gamma, _ = impact(np.eye(2), np.array([-0.9, -1.1]), 0.5, resting=1.0)
    assert np.allclose(gamma, (0, 0.55)), gamma


def test_no_impact_gains_energy_and_elastic_ones_keep_it():
    rng = np.random.default_rng(9)
    gain = loss = approach = -np.inf
    ended = 0
    for case in range(3000):
        J, W, v = problem(rng, dependent=True)
        J[1:][rng.random(len(J) - 1) < 0.1] *= -1  # some are squeezed between opposite rows
        S, before = J * W @ J.T, J @ v
        elastic = case % 4 == 0
        rounds, gamma, impulse = impact(S, before, 1.0 if elastic else rng.random(len(J)))
        energy = v @ (v / W) / 2
        change = impulse @ (before + gamma) / 2 / energy
        assert rounds >= 0 and impulse.min() >= 0
        gain, approach = max(gain, change), max(approach, -gamma.min())
        if elastic and rounds <= 200:
            ended += 1
            loss = max(loss, -change)
    assert gain < 1e-12 and approach < 1e-9, f"gain {gain:.1e}, approach {approach:.1e}"
    assert ended > 100 and loss < 1e-12, f"{ended} elastic ones lose {loss:.1e}"


def test_different_restitutions_that_would_gain_energy_do_not():
    """A light body between heavy ones: Poisson's law alone gains energy here."""
    J = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [-1.0, 0.0, 1.0]])
    S = J * np.array([1.0, 50.0, 1.0]) @ J.T
    rng = np.random.default_rng(10)
    poisson = -np.inf
    for _ in range(500):
        before, e = J @ rng.normal(size=3), rng.random(3).round()
        compressed = Answer("exact", S, before).lam
        naive = (1 + e) * compressed
        poisson = max(poisson, naive @ (2 * before + S @ naive))
        _, gamma, impulse = impact(S, before, e)
        assert impulse @ (before + gamma) <= 1e-12 * (before @ before)
    assert poisson > 0.1, "or this test shows nothing"


def test_walls_that_close_are_told():
    J = np.array([[1.0], [-1.0]])
    assert impact(J @ J.T, np.array([-1.0, -1.0]), 0.5)[0] == -1


# Friction


def slide(S, c, mu, lam=None, tolerance=1e-12, most=20_000):
    lam = np.zeros(len(c)) if lam is None else lam
    sweeps = rub(S, np.asarray(c, float), np.asarray(mu, float), len(mu), lam, room(), tolerance, most)
    assert sweeps < most, "did not converge"
    return lam, S @ lam + c


@pytest.mark.parametrize("mu", [0.2, 0.55, 0.6, 1.0])
def test_a_block_on_an_incline_sticks_below_the_angle_of_friction_and_slips_above(mu):
    angle, mass, h, g = 0.5236, 3.0, 0.01, 9.81  # tan = 0.577
    free = h * g * np.array([-np.cos(angle), 0.6 * np.sin(angle), 0.8 * np.sin(angle)])
    lam, w = slide(np.eye(3) / mass, free, [mu])
    acceleration = max(0.0, np.sin(angle) - mu * np.cos(angle)) * g
    assert np.allclose(w, h * acceleration * np.array([0, 0.6, 0.8]), atol=1e-13), w / h


@pytest.mark.parametrize("height", [0.3, 0.9, 1.4])
def test_a_sliding_box_leans_on_its_front_edge(height):
    """Box of mass m, edges at ±b/2, centre at `height`: N = m g/2 (1 ± 2 μ height / b)."""
    mass, b, mu, h, g = 2.0, 1.0, 0.3, 0.01, 9.81
    J = np.zeros((6, 3))  # acts on x, y and the turn about z
    for k, x in enumerate((b / 2, -b / 2)):
        J[3 * k] = 0, 1, x
        J[3 * k + 1] = 1, 0, height
    inertia = mass * (b**2 + (2 * height) ** 2) / 12
    W = np.array([1 / mass, 1 / mass, 1 / inertia])
    lam, w = slide(J * W @ J.T, J @ np.array([5.0, -h * g, 0.0]), [mu, mu])
    share = 2 * mu * height / b
    assert np.allclose(lam[[0, 3]], h * mass * g / 2 * np.array([1 + share, 1 - share]), atol=1e-10), lam
    assert np.allclose(w[[1, 4]], 5 - h * mu * g, atol=1e-10), w


def test_friction_obeys_coulomb_and_never_feeds_energy():
    rng = np.random.default_rng(11)
    worst, power, slow = 0.0, -np.inf, 0
    for _ in range(500):
        n = rng.integers(1, 7)
        J = rng.normal(size=(3 * n, 6 * rng.integers(1, 4)))
        mu = rng.random(n) * (rng.random(n) < 0.8)
        v = rng.normal(size=J.shape[1])
        S, lam = J @ J.T, np.zeros(3 * n)
        sweeps = rub(S, J @ v, mu, n, lam, room(), 1e-12, 5000)
        w = S @ lam + J @ v
        L, V = lam.reshape(n, 3), w.reshape(n, 3)
        N, r, size = L[:, 0], np.hypot(L[:, 1], L[:, 2]), np.hypot(V[:, 1], V[:, 2])
        along = L[:, 1] * V[:, 1] + L[:, 2] * V[:, 2]
        assert N.min() >= 0 and (r - mu * N).max() <= 1e-15, "the cone is obeyed, converged or not"
        if sweeps == 5000:
            slow += 1
            continue
        worst = max(worst, -V[:, 0].min(), np.abs(N * V[:, 0]).max())
        worst = max(worst, np.abs(along + mu * N * size).max())  # sticking: w_t = 0; slipping: opposite
        power = max(power, along.max(), lam @ (w + J @ v))
    assert worst < 1e-8 and power < 1e-8, f"conditions {worst:.1e}, power {power:.1e}"
    assert slow <= 2, f"{slow} of 500 are slow: contacts that very nearly lock each other"


def test_without_friction_it_is_the_exact_answer():
    rng = np.random.default_rng(12)
    worst = 0.0
    for _ in range(200):
        n = rng.integers(1, 9)
        J = np.zeros((3 * n, 6))  # no tangents at all
        J[::3] = rng.normal(size=(n, 6))
        S, c = J @ J.T, J @ rng.normal(size=6)
        _, w = slide(S, c, np.zeros(n), most=200_000)
        worst = max(worst, np.abs(w[::3] - Answer("exact", S[::3, ::3], c[::3]).w).max())
    assert worst < 1e-9, f"{worst:.1e}"


def test_friction_starts_from_the_last_answer():
    rng = np.random.default_rng(13)
    J = rng.normal(size=(12, 12))
    S, c, mu = J @ J.T, J @ rng.normal(size=12), np.full(4, 0.5)
    lam, _ = slide(S, c, mu)
    sweeps = rub(S, c, mu, 4, lam.copy(), room(), 1e-12, 100)
    assert sweeps <= 2, f"{sweeps} sweeps"
