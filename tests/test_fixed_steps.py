"""Inequalities in steps of fixed length, under every method that takes them: orders, friction, impulses, refusals."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest

import taut
from taut.contact.algorithms import CONTACT_METHODS, STEP_METHODS

G = 9.81
FORMS = {"implicit_first": CONTACT_METHODS["implicit_first"], **STEP_METHODS}
every_method = pytest.mark.parametrize("name", FORMS)


def asked(name: str) -> dict[str, str]:
    return {"contacts": "steps"} if name in STEP_METHODS else {}


def in_a_bowl() -> taut.Scene:
    scene = taut.Scene()
    ball = scene.particle((0.6, -0.8, 0), name="ball")
    scene.inside_sphere(ball, center=(0, 0, 0), radius=1.0, name="bowl")
    return scene


def caught_by_a_string() -> taut.Scene:
    scene = taut.Scene()
    bob = scene.particle((0.6, 0.3, 0), mass=2.0, name="bob")
    scene.max_distance((0, 0, 0), bob, length=1.0, name="string")
    return scene


@every_method
def test_a_lasting_contact_has_the_order_of_the_method(name, simulate):
    truth = simulate(in_a_bowl(), "reference", 0.02, 1.0).records.x[-1]
    runs = [simulate(in_a_bowl(), name, h, 1.0, **asked(name)) for h in (0.02, 0.005)]
    assert runs[0].info["algorithm"] == FORMS[name].algorithm
    errors = [np.abs(run.records.x[-1] - truth).max() for run in runs]
    order = np.log(errors[0] / errors[1]) / np.log(4)
    assert order > FORMS[name].order - 0.15, f"order {order:.2f}, errors {errors} m"
    deepest = max(run.records.contacts[:, 1].max() for run in runs)
    assert deepest <= 1e-8, f"the bowl is left by {deepest:.3g} m"


@every_method
def test_impacts_without_restitution_tell_the_impulse_that_stops(name, simulate):
    """m (v·n) when the string becomes taut; a fixed step may take two events for it."""
    run = simulate(caught_by_a_string(), name, 0.001, 0.6, **asked(name))
    exact = simulate(caught_by_a_string(), "reference", 0.1, 0.6).events
    (impulse,) = exact[exact.kind == "impact"].impulse
    found = run.events[run.events.kind == "impact"].impulse.sum()
    assert abs(found / impulse - 1) < 0.02, f"{found:.4f} N s, closed form {impulse:.4f} N s"


@every_method
@pytest.mark.parametrize("restitution", [0.0, 0.6])
@pytest.mark.parametrize("height, speed", [(0.0205, 3.0), (0.001, 0.05)], ids=["fast", "slow"])
def test_events_of_a_step_have_the_impulse_that_changes_the_momentum(name, restitution, height, speed, simulate):
    """m (v' - v) + m g h = Σ impulses of the step in which the ball touches, by an impact or by an activation alone."""
    scene, m, h = taut.Scene(), 2.0, 0.01
    ball = scene.particle((0, height, 0), mass=m, velocity=(0.2, -speed, 0), name="ball")
    scene.half_space(ball, point=(0, 0, 0), normal=(0, 1, 0), restitution=restitution, name="floor")
    run = simulate(scene, name, h, 0.2, **asked(name))
    begun = run.events[run.events.kind == "activation"].iloc[0]
    step = int(round(begun.time / h))
    given = run.events[np.isclose(run.events.time, begun.time)]
    v = run.records.v[:, 0, 1]
    needed = m * (v[step] - v[step - 1]) + m * G * h
    assert needed > 0.05 and abs(given.impulse.sum() - needed) < 1e-9, f"{needed} N s needed, events {given}"
    assert ("impact" in set(given.kind)) == (speed == 3.0), given


@pytest.mark.parametrize("restitution", [0.0, 0.7])
def test_events_of_balls_in_a_crowd_have_the_impulse_that_changes_their_momentum(restitution, simulate):
    """A group with a broad phase: the first ball of a row hits the second, at rest."""
    scene, m = taut.Scene(gravity=(0, 0, 0)), 0.5
    balls = [scene.particle((0.25 * i, 0, 0), radius=0.1, mass=m, velocity=(4.0 * (i == 0), 0, 0), name=f"b{i}")
             for i in range(70)]  # fmt: skip
    scene.contacts(balls, restitution=restitution)
    run = simulate(scene, "implicit_first", 0.002, 0.03)
    change = m * np.diff(run.records.v[:, 0, 0])
    hits = run.events[run.events.constraint == "b0|b1"]
    given = np.bincount((hits.time / 0.002).round().astype(int) - 1, hits.impulse, len(change))
    assert given.max() > 0.1 and np.abs(given + change).max() < 1e-9, f"events {given}, momentum {change}"


@every_method
def test_friction_slows_a_block_as_coulomb_says(name, simulate):
    """Fixed steps have friction: a block on a slope a slides with g (sin a - μ cos a)."""
    a, mu = 0.4, 0.2
    scene = taut.Scene(gravity=(G * sin(a), -G * cos(a), 0))
    block = scene.particle((0, 0, 0), name="block")
    scene.half_space(block, point=(0, 0, 0), normal=(0, 1, 0), friction=mu, name="slope")
    run = simulate(scene, name, 0.01, 1.0, **asked(name))
    v = run.records.v[-1, 0, 0] - G * (sin(a) - mu * cos(a))
    assert abs(v) < 1e-9, f"off by {v:.3g} m/s"


@pytest.mark.parametrize("name", STEP_METHODS)
def test_what_fixed_steps_can_not_follow_is_refused_by_name(name):
    def run(scene: str, **options: str) -> None:
        taut.simulate(taut.gallery(scene), name, 0.01, 0.02, progress=False, **options)

    with pytest.raises(taut.TautError, match=f"platt.*fixed steps of '{name}'.*baumgarte"):
        run("bouncing_ball", contacts="steps", active_set="platt")
    with pytest.raises(taut.TautError, match="friction.*contacts='steps'"):
        run("block_on_incline")
    with pytest.raises(taut.TautError, match="contacts.*'later'.*events"):
        run("bouncing_ball", contacts="later")


def test_the_list_of_methods_has_each_form_that_can_be_asked_for():
    from taut.cli.listing import SUBJECTS, methods_for_readme

    _, rows = SUBJECTS["methods"]()
    for name, form in STEP_METHODS.items():
        assert any(row[0] == name and form.algorithm in row[1] for row in rows), name
        assert f"| `{name}` |" in methods_for_readme() and "events, steps" in methods_for_readme()


def test_the_method_of_fixed_steps_refuses_the_choice_by_name():
    with pytest.raises(taut.TautError, match="'implicit_first' meets inequalities in fixed steps alone; leave it out"):
        taut.simulate(taut.gallery("acute_corner"), method="implicit_first", dt=0.01, duration=0.1, contacts="events")


def test_a_rope_that_is_too_long_is_told_with_its_unit():
    scene = taut.Scene()
    scene.max_distance(scene.particle((0, -3, 0), name="bob"), (0, 0, 0), length=2, name="rope")
    with pytest.raises(taut.TautError, match="the start breaks 'rope', at worst by 1 m; place the bodies"):
        taut.simulate(scene, method="baumgarte", dt=0.01, duration=0.1)
