"""Inequalities in reduced coordinates: agreement with maximal ones, KKT conditions, energy, whatever the form is."""

from __future__ import annotations

from math import cos

import numpy as np
import pytest

import taut
from taut import Scene
from taut.contact.rules import RULES


def chain_at_a_wall() -> Scene:
    """A tree of links in a plane, that hits a wall with two of its bobs."""
    scene = Scene(name="chain at a wall")
    above = (0, 0, 0)
    for k in range(4):
        bob = scene.particle((0.4 * (k + 1), -0.1 * (k % 2), 0), mass=1.0 + 0.2 * k, name=f"b{k}")
        scene.distance(above, bob)
        if k in (1, 3):
            scene.half_space(bob, point=(-0.2, 0, 0), normal=(1, 0.1, 0), restitution=0.3 * k, name=f"wall_{k}")
        above = bob
    return scene


def spherical_pendulum_on_a_floor() -> Scene:
    """A tree in space, that comes to rest on a floor and slides along it."""
    scene = Scene(name="spherical on a floor")
    bob = scene.particle((0.6, -0.2, 0.1), velocity=(0.1, 0, 0.9), name="bob")
    low = scene.particle((0.9, -0.3, 0.3), mass=0.5, name="low")
    scene.distance((0, 0, 0), bob)
    scene.distance(bob, low)
    scene.half_space(low, point=(0, -0.8, 0), normal=(0, 1, 0), name="floor")
    return scene


def bead_on_a_slope_with_a_moving_stop() -> Scene:
    """Linear constraints, and a wall that moves."""
    scene = Scene(name="bead and stop")
    bead = scene.particle((0, 0, 0), mass=2.0, name="bead")
    scene.on_line(bead, point=(0, 0, 0), direction=(1, -0.5, 0))
    scene.half_space(bead, point=("0.3 - 0.1*sin(3*t)", 0, 0), normal=(-1, 0, 0), restitution=0.5, name="stop")
    return scene


def bar_on_a_step() -> Scene:
    """A rigid body turned by an angle of formulas, whose free end falls onto a step, with its joint as equalities."""
    scene = Scene(name="bar on a step")
    bar = scene.rigid((0.5, 0, 0), mass=2.0, inertia=(0.01, 0.2, 0.2), name="bar")
    scene.hinge(bar.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.half_space(bar.at((0.5, 0, 0)), point=(0, -0.4, 0), normal=(0, 1, 0), restitution=0.6, name="step")
    scene.reduced({"a": 0.0}, {bar: ("0.5*cos(a)", "0.5*sin(a)", "0")}, turns={bar: ((0, 0, 1), "a")})
    return scene


def apart(run: taut.Run, truth: taut.Run) -> float:
    """Largest distance of a body from where the other run has it, at any record [m]."""
    return float(np.abs(run.data.position.values - truth.data.position.values).max())


SCENES = (chain_at_a_wall, spherical_pendulum_on_a_floor, bead_on_a_slope_with_a_moving_stop, bar_on_a_step)
every_form = pytest.mark.parametrize("make", SCENES)


@every_form
def test_reduced_coordinates_follow_the_reference_across_impacts_and_while_contacts_last(make, simulate):
    truth = simulate(make(), "reference", 0.02, 1.0)
    run = simulate(make(), "reduced", 0.02, 1.0, tolerance=1e-12)
    off = apart(run, truth)
    assert off < 1e-7, f"{off:.3g} m apart"
    ours, theirs = run.events, truth.events
    assert list(ours.kind) == list(theirs.kind) and "impact" in set(ours.kind), (ours, theirs)
    assert np.abs(ours.time.to_numpy() - theirs.time.to_numpy()).max() < 1e-7
    assert np.allclose(ours.impulse.to_numpy(), theirs.impulse.to_numpy(), atol=1e-7), (ours, theirs)
    lam = np.abs(run.records.lam - truth.records.lam).max() / max(1.0, np.abs(truth.records.lam).max())
    assert lam < 1e-6, f"λ {lam:.3g} apart, relative"


@every_form
def test_the_order_of_runge_kutta_reaches_across_impacts(make, simulate):
    truth = simulate(make(), "reduced", 0.05, 1.0, tolerance=1e-13).data.position.values[-1]
    ends = [simulate(make(), "reduced", h, 1.0).data.position.values[-1] for h in (0.01, 0.005)]
    errors = [np.abs(end - truth).max() for end in ends]
    order = np.log2(errors[0] / errors[1])
    assert order > 3.4 or errors[1] < 1e-11, f"order {order:.2f}, errors {errors} m"


@every_form
def test_forces_and_gaps_are_complementary_and_equalities_do_not_drift(make, simulate):
    run = simulate(make(), "reduced", 0.01, 1.0)
    infos = [info for info in run.labels.constraints if info.sense != "=="]
    rows = [row for info in infos for row in info.rows]
    others = [row for row in range(run.records.phi.shape[1]) if row not in rows]
    gap, force = run.records.phi[:, rows], run.records.lam[:, rows]
    assert gap.min() > -1e-9 and force.min() >= 0.0, f"{gap.min():.3g} m, {force.min():.3g} N"
    assert np.abs(gap * force).max() < 1e-8 * max(force.max(), 1.0), "it pushes across a gap"
    assert np.abs(run.records.phi[:, others]).max(initial=0.0) < 1e-13


@pytest.mark.parametrize("make", [chain_at_a_wall, bar_on_a_step])
def test_energy_and_what_impacts_take_of_it_add_up(make, simulate):
    data = simulate(make(), "reduced", 0.01, 1.0, tolerance=1e-12).data
    taken = float(data.energy_impact[-1])
    assert taken > 1e-3 and np.abs(data.energy_drift.values).max() < 1e-9, (taken, np.abs(data.energy_drift).max())


def limited(restitution: float, **given) -> Scene:
    """A pendulum of T and Q alone, with a stop on its angle."""
    scene = Scene(name="limited")
    theta = scene.coordinate(1.0, inertia=0.0, name="theta")
    scene.reduced([theta], kinetic="4.5*theta.v**2/2")
    scene.custom_force(theta, formula=("-29.43*sin(theta)", "0", "0"))
    scene.custom(theta, formula="theta + 0.5", sense=">=", name="stop", restitution=restitution, **given)
    return scene


def test_a_stop_on_a_coordinate_that_only_has_an_energy_gives_energy_back(simulate):
    """cos θ falls to the start's again; the impulse is H θ̇ (1 + e)."""
    run = simulate(limited(1.0), "reduced", 0.01, 3.0, tolerance=1e-12)
    impacts = run.events[run.events.kind == "impact"]
    rate = np.sqrt(2 * 29.43 * (cos(0.5) - cos(1.0)) / 4.5)
    assert len(impacts) >= 2 and np.abs(impacts.impulse - 2 * 4.5 * rate).max() < 1e-8, impacts
    assert np.abs(run.data.energy_drift.values).max() < 1e-9
    rest = simulate(limited(0.0), "reduced", 0.01, 2.0)
    taken = float(rest.data.energy_impact[-1])
    assert taken == pytest.approx(29.43 * (cos(0.5) - cos(1.0)), rel=1e-4), taken


def test_a_condition_on_velocities_holds_through_an_impact(simulate):
    """A sleigh that is thrown against a wall: its blade takes part in the impact."""
    def sleigh() -> Scene:
        scene = taut.gallery("chaplygin_sleigh")
        scene.half_space("sleigh", point=(-1.0, 0, 0), normal=(1, 0, 0), restitution=0.5, name="wall")
        return scene
    truth = simulate(sleigh(), "reference", 0.02, 3.0)
    run = simulate(sleigh(), "reduced", 0.02, 3.0, tolerance=1e-12)
    assert "impact" in set(run.events.kind), run.events
    off = apart(run, truth)
    assert off < 1e-7, f"{off:.3g} m apart"
    rows = [info.rows[0] for info in run.labels.constraints if info.sense == "=="]
    assert np.abs(run.records.rate[:, rows]).max() < 1e-11


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_chooses_the_same_set_in_reduced_coordinates(rule, simulate):
    scene = taut.gallery("acute_corner", m=2.0, fx=2.0, fy=-1.0)
    ours, theirs = (simulate(scene, name, 0.01, 0.05, active_set=rule) for name in ("reduced", "rattle"))
    assert np.allclose(ours.records.lam[0], theirs.records.lam[0], atol=1e-10)


def test_rows_that_depend_on_each_other_are_held_together(simulate):
    """A slab on four posts: one redundant contact, and three freedoms that are left."""
    scene = Scene(name="slab")
    slab = scene.rigid((0, 0, 0), mass=3.0, inertia=(1, 2, 1), name="slab", velocity=(0.4, 0, 0.1))
    for k, (x, z) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        scene.half_space(slab.at((x, 0, z)), point=(0, 0, 0), normal=(0, 1, 0), name=f"post_{k}")
    scene.reduced(
        {"x": (0, 0.4), "y": 0.0, "z": (0, 0.1), "a": 0.0, "b": 0.0}, {slab: ("x", "y", "z")},
        turns={slab: [((1, 0, 0), "a"), ((0, 0, 1), "b")]},
    )
    run = simulate(scene, "reduced", 0.01, 0.5)
    force = run.records.lam.sum(axis=1)
    assert np.abs(force - 3.0 * 9.81).max() < 1e-9 and np.abs(run.records.x[:, 0, 1]).max() < 1e-12
    assert run.records.x[-1, 0, 0] == pytest.approx(0.2, abs=1e-12)
