"""Inequalities under every method that lists them: closed forms, orders across impacts, complementarity, agreement."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

import taut
from taut.contact.algorithms import CONTACT_METHODS
from taut.contact.rules import RULES

G = 9.81
EVENTS = [name for name, method in CONTACT_METHODS.items() if method.algorithm == "event_driven"]
every_method = pytest.mark.parametrize("name", EVENTS)


def falling(restitution: float) -> taut.Scene:
    scene = taut.Scene()
    ball = scene.particle((0, 1, 0), mass=2.0, velocity=(0.3, 0, 0), name="ball")
    scene.half_space(ball, point=(0, 0, 0), normal=(0, 1, 0), restitution=restitution, name="floor")
    return scene


def pendulum_at_a_wall(restitution: float) -> taut.Scene:
    scene = taut.Scene()
    bob = scene.particle((0.8, -0.6, 0), name="bob")
    scene.distance((0, 0, 0), bob, name="rod")
    scene.half_space(bob, point=(-0.1, 0, 0), normal=(1, 0, 0), restitution=restitution, name="wall")
    return scene


def bob_on_a_string() -> taut.Scene:
    """It falls freely, is caught by the string, and swings."""
    scene = taut.Scene()
    bob = scene.particle((0.6, 0.3, 0), name="bob")
    scene.max_distance((0, 0, 0), bob, length=1.0, name="string")
    return scene


@pytest.fixture(scope="module")
def truth(simulate):
    """Runs of the reference, by scene."""
    return {make: simulate(make(*given), "reference", 0.02, 1.2)
            for make, given in ((pendulum_at_a_wall, (0.7,)), (bob_on_a_string, ()))}  # fmt: skip


def off(run: taut.Run, truth: taut.Run) -> float:
    """Distance from the reference at its last record [m]."""
    every = round(truth.records.time[1] / run.records.time[1])
    return float(np.abs(run.records.x[every * (len(truth.records) - 1)] - truth.records.x[-1]).max())


@every_method
def test_a_bounce_has_the_moment_impulse_and_height_of_its_closed_form(name, simulate):
    e, m, v = 0.8, 2.0, sqrt(2 * G)
    run = simulate(falling(e), name, 0.01, 1.0)
    (impact,) = run.events[run.events.kind == "impact"].itertuples()
    after = 1.0 - v / G
    height = e * v * after - 0.5 * G * after**2
    errors = [impact.time - v / G, (impact.impulse - (1 + e) * m * v) / (m * v), run.records.x[-1, 0, 1] - height]
    most = 0.5 * 0.01 * v if CONTACT_METHODS[name].order == 1 else 1e-9  # others follow a parabola exactly
    assert np.abs(errors[:2]).max() < most and abs(errors[2]) < 4 * most, errors
    if CONTACT_METHODS[name].order == 1:
        finer = simulate(falling(e), name, 0.005, 1.0).records.x[-1, 0, 1] - height
        assert 0.4 < finer / errors[2] < 0.6, f"errors {errors[2]:.3g} and {finer:.3g} m with half the step"


@every_method
def test_the_order_of_a_method_reaches_across_an_impact(name, simulate, truth):
    method = CONTACT_METHODS[name]
    errors = [off(simulate(pendulum_at_a_wall(0.7), name, h, 1.2), truth[pendulum_at_a_wall]) for h in (0.02, 0.005)]
    if method.adaptive:
        assert max(errors) < 1e-10, errors
    else:
        order = np.log(errors[0] / errors[1]) / np.log(4)
        assert order > method.order - 0.3, f"order {order:.2f}, errors {errors} m"


@every_method
def test_a_string_pulls_only_while_it_is_taut(name, simulate, truth):
    run = simulate(bob_on_a_string(), name, 0.01, 1.2)
    gap = run.data.constraint_error.sel(constraint="string").values
    pull = run.data.multiplier.sel(constraint="string").values
    assert gap.min() > -1e-9, f"longer by {-gap.min():.3g} m"
    assert pull.min() >= 0.0, f"pushes with {-pull.min():.3g} N"
    assert np.abs(gap * pull).max() < 1e-8 * pull.max(), "it pulls while it is slack"
    assert list(run.events.kind) == ["impact", "activation"], run.events
    scale = 1.0 if CONTACT_METHODS[name].order == 1 else 0.02
    assert off(run, truth[bob_on_a_string]) < 0.1 * scale, "it does not follow the reference"


@every_method
def test_force_and_gap_are_complementary_in_a_rope_of_many_strings(name, simulate):
    """The gallery's slack_rope: Φ ≥ 0, λ ≥ 0, λ Φ = 0 in each link at each record."""
    run = simulate(taut.gallery("slack_rope"), name, 0.01, 0.6)
    rows = [row for info in run.labels.constraints if info.sense != "==" for row in info.rows]
    gap, force = run.records.phi[:, rows], run.records.lam[:, rows]
    sign = 1.0 if gap[0].min() >= -1e-9 else -1.0  # as the scene writes its links
    gap, force = sign * gap, sign * force
    assert gap.min() > -1e-9, f"a link is too long by {-gap.min():.3g} m"
    assert force.min() >= -1e-9 * force.max(), f"a link pushes with {-force.min():.3g} N"
    assert np.abs(gap * force).max() < 1e-8 * force.max(), "a slack link pulls"
    assert force.max() > 0.0 and gap.max() > 1e-3, "it neither holds nor goes slack"


def test_hundreds_of_strings_may_be_taut_at_once(simulate, monkeypatch):
    """A level rope that turns about its end pulls there with Σ m r ω²."""
    scene = taut.Scene(name="long rope")
    above = (0, 0, 0)
    for k in range(350):
        bob = scene.particle((0.1 * (k + 1), 0, 0), mass=0.1, velocity=(0, 0, 0.1 * (k + 1)), name=f"b{k}")
        scene.max_distance(above, bob, length=0.1, name=f"s{k}")
        above = bob
    run = simulate(scene, "rattle", 0.005, 0.01)
    gap, pull = run.records.phi, run.records.lam
    spin = 0.1 * sum(0.1 * (k + 1) for k in range(350))  # of a rope that turns with 1 rad/s: Σ m r ω²
    assert pull[0, 0] == pytest.approx(spin, rel=1e-9) and (pull > 0).all(), f"{pull[0, 0]:.6g} N, not {spin:.6g}"
    assert np.abs(gap).max() < 1e-9, f"{np.abs(gap).max():.3g} m"
    monkeypatch.setenv("TAUT_MAX_TOUCHING", "300")
    stopped = taut.simulate(scene, "rattle", 0.005, 0.01, progress=False)
    assert stopped.status == "diverged" and "TAUT_MAX_TOUCHING" in stopped.message


@every_method
def test_a_moving_wall_is_met_at_its_moment_while_another_contact_lasts(name, simulate):
    scene = taut.Scene()
    block = scene.particle((0, 0, 0), mass=2.0, name="block")
    scene.half_space(block, point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    scene.half_space(block, point=("-0.3 + t**2", 0, 0), normal=(1, 0, 0), name="wall")
    run = simulate(scene, name, 0.01, 1.0)
    (impact,) = run.events[run.events.kind == "impact"].itertuples()
    off = max(abs(impact.time - sqrt(0.3)), abs(impact.impulse - 2.0 * 2.0 * sqrt(0.3)))
    assert impact.constraint == "wall" and off < 1e-9, f"off by {off:.3g}: {impact}"
    assert run.records.x[-1, 0, 0] == pytest.approx(0.7, abs=0.02)


@every_method
def test_a_string_goes_slack_where_gravity_alone_bends_the_path_as_much(name, simulate):
    """Thrown at its lowest point with v, a bob leaves its circle at the height (v² - 2 g L)/(3 g) above the centre."""
    scene = taut.Scene()
    bob = scene.particle((0, -1, 0), velocity=(6, 0, 0), name="bob")
    scene.max_distance((0, 0, 0), bob, length=1.0, name="string")
    run = simulate(scene, name, 0.01, 0.6)
    released = run.events[run.events.kind == "release"].time.to_numpy()
    assert len(released) == 1, run.events
    at = int(np.searchsorted(run.records.time, released[0]))
    back = run.records.time[at] - released[0]
    height = run.records.x[at, 0, 1] - back * run.records.v[at, 0, 1] - 0.5 * G * back**2
    error = abs(height - (36 - 2 * G) / (3 * G))
    method = CONTACT_METHODS[name]
    most = 1e-9 if method.adaptive else {1: 0.15, 2: 5e-3, 4: 1e-4}[method.order]
    assert error < most, f"off by {error:.3g} m"


@every_method
def test_elastic_impacts_take_no_energy(name, simulate):
    run = simulate(pendulum_at_a_wall(1.0), name, 0.01, 2.0)
    taken, moved = float(run.data.energy_impact[-1]), run.records.energy[:, 0].max()
    assert len(run.events[run.events.kind == "impact"]) == 2, run.events
    most = 1e-6 if name in ("lagrange", "baumgarte") else 1e-10  # these two leave the rates of equalities as they drift
    assert abs(taken) < most * moved, f"{taken:.3g} J of {moved:.3g} J"


@pytest.mark.parametrize("rule", RULES)
@every_method
def test_every_rule_chooses_the_published_set_under_every_method(name, rule, simulate):
    """λ in the corner of Jonquet, Nocent and Remion at t = 0, and what it does in the first step."""
    published = {"platt": (-2, -1), "platt_improved": (0, 1), "jonquet": (0, 1), "exact": (0, 1)}[rule]
    run = simulate(taut.gallery("acute_corner", m=2.0, fx=2.0, fy=-1.0), name, 0.01, 0.02, active_set=rule)
    found = run.data.multiplier.sel(constraint=["g1", "g2"]).values[0]
    assert np.allclose(found, published, rtol=0, atol=1e-12), f"λ = {found}, published {published}"
    pushed = np.array([2.0 + published[0], -1.0 + published[1] - published[0]]) / 2.0  # m = 2
    share = 0.5 if CONTACT_METHODS[name].order > 1 else 1.0
    moved = run.records.x[1, 0, :2] / (share * 0.01**2)
    assert np.allclose(moved, pushed, rtol=0, atol=1e-6), f"v̇ = {moved}, published {pushed}"


@pytest.mark.parametrize("name", ["reference", "rattle", "implicit_second"])
def test_an_impact_between_two_records_is_found_though_nothing_is_wrong_at_either(name, simulate):
    """Gravity pulls up: the ball would dip 0.41 m through the floor and be above it again after the only step."""
    scene = taut.Scene(gravity=(0, G, 0))
    ball = scene.particle((0, 0.05, 0), velocity=(0, -3, 0), name="ball")
    scene.half_space(ball, point=(0, 0, 0), normal=(0, 1, 0), restitution=0.5, name="floor")
    run = simulate(scene, name, 1.0, 1.0)
    first = (3 - sqrt(9 - 2 * G * 0.05)) / G
    found = run.events[run.events.kind == "impact"].time.to_numpy()
    assert len(found) == 1 and abs(found[0] - first) < 1e-9, f"impacts at {found} s, closed form {first:.9f} s"


@every_method
def test_events_refuse_friction_and_too_many_pairs_by_name(name):
    for scene, words in (("block_on_incline", "friction.*implicit_first"), ("ball_pile", "pairs.*implicit_first")):
        with pytest.raises(taut.TautError, match=f"method '{name}'.*{words}"):
            taut.simulate(taut.gallery(scene), name, 0.01, 0.1, progress=False)


def test_compare_judges_a_scene_with_contacts_by_the_reference():
    found = taut.compare(falling(0.8), methods=["implicit_first", "fast_projection"], dt=0.01, duration=0.7,
                         processes=1, options={"fast_projection": {"active_set": "jonquet"}})
    assert found.reference is not None and found.reference.method == "reference", found.notes
    errors = {row["method"]: row["trajectory_error_max"] for row in found.table}
    assert all(1e-4 < error < 0.2 for error in errors.values()), errors
