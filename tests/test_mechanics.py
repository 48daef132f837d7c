"""Equilibrium, small motions and the diagnosis of a scene, against closed forms."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import taut
from taut.analysis.mechanics import doctor, fastest
from taut.analysis.mechanics.doctor import examine
from taut.analysis.mechanics.perturbation import Perturbed
from taut.model import build

G = 9.81


def pendulum(size=1.0) -> taut.Scene:
    scene = taut.Scene()
    rod = scene.rigid((0.5 * size, 1, 0), shape={"box": (size, 0.1, 0.1)}, mass=2.0, name="rod")
    scene.hinge(rod.at((-0.5 * size, 0, 0)), (0, 1, 0), axis=(0, 0, 1), name="pin")
    return scene


@pytest.mark.parametrize("size", [0.02, 1.0, 50.0])
def test_a_pendulum_rests_below_its_pin_and_swings_at_its_known_frequency(size):
    found = taut.equilibrium(pendulum(size))
    place = found.data.position.sel(body="rod").values
    assert np.allclose(place, (0, 1 - 0.5 * size, 0), atol=1e-8 * size), place
    inertia = 2.0 * (size**2 + 0.1**2) / 12.0 + 2.0 * (0.5 * size) ** 2
    expected = np.sqrt(2.0 * G * 0.5 * size / inertia) / (2 * np.pi)
    motions = taut.linearise(found)
    assert motions.is_stable
    assert abs(motions.frequencies[0] / expected - 1.0) < 1e-7, f"{motions.frequencies} Hz instead of {expected}"


def spring(t, angle, rate):
    return -60.0 * angle - 3.0 * rate


@pytest.mark.filterwarnings("ignore:the controllers of the scene")
def test_a_controller_counts_as_the_continuous_function_that_it_is():
    """One that does what a spring and a damper do rests, swings and loads a driver as these do."""
    scenes = {"controller": pendulum(), "spring_on": pendulum()}
    scenes["controller"].controller("pin", function=spring, rate=100, name="drag")
    scenes["spring_on"].spring_on("pin", stiffness=60.0, damping=3.0, name="drag")
    rests = [taut.equilibrium(scene) for scene in scenes.values()]
    angles, efforts = ([float(value(rest)[0]) for rest in rests]
                       for value in (lambda rest: rest["pin"].angle, lambda rest: rest["drag"].effort))
    assert abs(angles[0] - angles[1]) < 1e-9 and abs(efforts[0] - efforts[1]) < 1e-7, (angles, efforts)
    swings = [taut.linearise(rest).eigenvalues for rest in rests]
    assert np.allclose(*swings, rtol=1e-7), swings
    for scene in scenes.values():
        scene.drive("pin", angle="sin(3*t)", name="driver")
    torques = [taut.kinematics(scene, np.linspace(0, 1, 7))["driver"].multiplier.values for scene in scenes.values()]
    assert np.allclose(*torques, rtol=1e-9), torques


def test_dry_friction_is_left_out_about_rest_and_named():
    """It would stick there; what is told is the motion that the joint has without it."""
    with_friction, without = pendulum(), pendulum()
    with_friction.joint_friction("pin", torque=2.0, name="dry")
    with pytest.warns(taut.TautWarning, match="'dry'.* may hold it at rest elsewhere"):
        rest = taut.equilibrium(with_friction)
    with pytest.warns(taut.TautWarning, match="'dry'.* is left out"):
        found = taut.linearise(rest).eigenvalues
    expected = taut.linearise(taut.equilibrium(without)).eigenvalues
    assert np.allclose(found, expected, atol=1e-8), (found, expected)


def test_limits_that_small_motions_leave_out_are_told():
    scene = pendulum()
    with warnings.catch_warnings():
        warnings.simplefilter("error", taut.TautWarning)
        free = taut.linearise(taut.equilibrium(scene)).frequencies
    hung = pendulum()
    hung.joint_limit("pin", lower=-3.0, name="stop")
    hung.suggest(method="rattle")
    with pytest.warns(taut.TautWarning, match=r"limits and contacts of the scene \('stop'\) are left out"):
        found = taut.linearise(taut.simulate(hung, duration=0.1, dt=0.01, progress=False).at(0.0))
    assert free.size == 1 and len(found.eigenvalues) == 2



def test_a_hanging_chain_has_the_frequencies_of_bessel_like_matrix():
    """Two equal masses on equal rods: ω² = (2 ± √2) g/L, in two planes."""
    motions = taut.linearise(taut.equilibrium(taut.gallery("two_link")))
    expected = np.sqrt(np.array([2 - np.sqrt(2)] * 2 + [2 + np.sqrt(2)] * 2) * G / 10.0) / (2 * np.pi)
    assert np.allclose(motions.frequencies, expected, rtol=1e-7), motions.frequencies


@pytest.mark.parametrize("n", [10, 40])
def test_a_chain_of_short_links_keeps_its_digits(n):
    """n particles on links of 1/n m: M ω² = K of its tensions, in two planes; differences are scaled to the links."""
    scene, above = taut.Scene(), (0, 0, 0)
    for i in range(n):
        bead = scene.particle((0, -(i + 1) / n, 0), mass=1 / n)
        scene.distance(above, bead)
        above = bead
    pull = G * np.arange(n, 0, -1)  # tension / length
    K = np.diag(pull + np.append(pull[1:], 0.0)) - np.diag(pull[1:], 1) - np.diag(pull[1:], -1)
    expected = np.repeat(np.sqrt(n * np.linalg.eigvalsh(K)), 2) / (2 * np.pi)
    found = taut.linearise(scene).frequencies
    error = np.abs(found / expected - 1.0).max()
    print(f"{n} links: {error:.2g}")
    assert error < 1e-9, f"{n} links: frequencies are off by {error:.3g}"


@pytest.mark.parametrize("axis,growth", [((1, 0, 0), 0.0), ((0, 1, 0), 5 * np.sqrt(1 / 3)), ((0, 0, 1), 0.0)])
def test_only_the_middle_axis_of_a_free_body_is_unstable(axis, growth):
    """Inertias 1, 2, 3: about the middle axis the rate is ω √((I2 - I1)(I3 - I2)/(I1 I3))."""
    scene = taut.Scene(gravity=(0, 0, 0))
    scene.rigid((0, 0, 0), mass=1.0, inertia=(1, 2, 3), angular_velocity=5 * np.array(axis))
    motions = taut.linearise(scene)
    assert abs(motions.eigenvalues.real.max() - growth) < 1e-4, motions


def test_an_inverted_pendulum_falls_at_the_rate_of_its_frequency():
    scene = taut.Scene()
    bob = scene.particle((0, 1, 0))
    scene.distance(bob, (0, 0, 0))
    motions = taut.linearise(scene)
    assert np.allclose(sorted(motions.eigenvalues.real), np.sqrt(G) * np.array([-1, -1, 1, 1]), rtol=1e-6)
    assert not motions.is_stable


def test_what_can_not_rest_says_so():
    scene = taut.Scene()
    scene.particle((0, 0, 0), name="stone")
    with pytest.raises(taut.TautError, match="no equilibrium"):
        taut.equilibrium(scene)
    with pytest.raises(taut.TautError, match="inequalities"):
        taut.equilibrium(taut.gallery("billiard"))


def test_limits_that_are_not_reached_leave_the_rest_where_it_is():
    hung = pendulum()
    hung.joint_limit("pin", lower=-3.0, upper=1.0, name="stop")
    assert float(taut.equilibrium(hung)["pin"].angle[0]) == pytest.approx(-np.pi / 2, abs=1e-8)
    scalar = taut.Scene()
    scalar.joint_limit(scalar.coordinate(0.1, inertia=1.0, name="q"), lower=-1, upper=1)
    scalar.spring_on("q", stiffness=2.0)
    assert abs(float(taut.equilibrium(scalar)["q"].value[0])) < 1e-8
    held = pendulum()
    held.joint_limit("pin", lower=-1.0, name="stop")
    with pytest.raises(taut.TautError, match="has inequalities.* the angle of 'pin' is -1.571, beyond 'stop'"):
        taut.equilibrium(held)


def topics(scene: taut.Scene) -> dict[str, str]:
    return {finding.topic: finding.value for finding in examine(scene)}


def near_start(scene: taut.Scene) -> Perturbed:
    model = build(scene)
    return Perturbed(model, model.x, model.quat, model.v, 0.0)


def test_the_doctor_names_redundant_hinges_and_counts_what_is_free():
    scene = pendulum()
    assert topics(scene)["degrees of freedom"] == "1"
    door = taut.Scene()
    leaf = door.rigid((0.5, 1, 0), shape={"box": (1, 2, 0.05)}, mass=20.0, name="leaf")
    door.hinge(leaf.at((-0.5, -0.8, 0)), (0, 0.2, 0), axis=(0, 1, 0), name="lower")
    door.hinge(leaf.at((-0.5, 0.8, 0)), (0, 1.8, 0), axis=(0, 1, 0), name="upper")
    found = topics(door)
    assert found["degrees of freedom"] == "1" and found["rank"] == "5 of 10 rows"
    assert "lower" in found["redundant"] and "upper" in found["redundant"]


def test_the_doctor_names_what_contradicts_itself():
    scene = taut.Scene()
    bob = scene.particle((0, -1, 0), name="bob")
    scene.distance(bob, (0, 0, 0), length=1.0, name="one")
    scene.distance(bob, (0, 0, 0), length=1.2, name="other")
    found = topics(scene)
    assert found["conflict"] == "one, other", found


@pytest.mark.parametrize("name", ["door_on_two_hinges", "bricard", "andrews_squeezer", "flyball_governor"])
def test_the_doctor_finds_without_matrices_what_it_finds_with_them(name, monkeypatch):
    """Rank, freedom and who is redundant agree; the fastest motion nearly, since (3) knows no speeds."""
    scene = taut.gallery(name)
    dense, small = examine(scene), fastest.fastest(near_start(scene))
    monkeypatch.setattr(doctor, "MOST_UNKNOWNS", 0)
    monkeypatch.setattr(fastest, "MOST_LINEARISED", 0)
    sparse, iterated = examine(scene), fastest.fastest(near_start(scene))
    for topic in ("rank", "degrees of freedom", "redundant"):
        told = [{finding.value for finding in found if finding.topic == topic} for found in (dense, sparse)]
        assert told[0] == told[1], f"{topic}: {told}"
    ratio = iterated.small / small.small
    assert 0.8 < ratio < 1.25, f"{iterated.small:.5g} instead of {small.small:.5g} rad/s"


def test_the_doctor_examines_a_chain_of_a_thousand_springs():
    """n masses on springs in a row, each on a rail: the fastest motion is 2 √(k/m) sin(π n/(2n + 1))."""
    scene = taut.Scene(gravity=(0, 0, 0))
    beads = [scene.particle((0.1 * i, 0, 0), mass=0.5, fixed=i == 0, name=f"bead_{i}") for i in range(1001)]
    scene.springs(*beads, pairs=[(i, i + 1) for i in range(1000)], stiffness=800.0)
    for bead in beads[1:]:
        scene.on_line(bead, point=(0, 0, 0), direction=(1, 0, 0))
    found = {finding.topic: finding.value for finding in examine(scene, 0.001)}
    assert found["rank"] == "2,000 of 2,000 rows" and found["degrees of freedom"] == "1,000", found
    rate = float(found["fastest motion"].split()[0])
    assert 0.9 * 80.0 < rate < 1.001 * 80.0, f"{rate} rad/s instead of 80"


def arm(axis, gravity=G) -> taut.Scene:
    """A rod released from the horizontal."""
    scene = taut.Scene(gravity=(0, -gravity, 0))
    rod = scene.rigid((0.5, 0, 0), mass=2.0, inertia=(0.01, 1 / 6, 1 / 6))
    scene.hinge(rod.at((-0.5, 0, 0)), (0, 0, 0), axis=axis)
    return scene


@pytest.mark.parametrize("axis,gravity", [((0, 1, 0), G), ((0, 1, 0), 0.0), ((0, 0, 1), 0.0), ((1, 1, 1), 0.0)])
def test_the_doctor_takes_no_step_from_a_frequency_of_rounding(axis, gravity):
    """A door's angle is neutral: 1e-25 rad/s is no motion."""
    found = topics(arm(axis, gravity))
    assert "fastest motion" not in found and found["dt"] == "0.005 s", found


def test_the_doctor_takes_a_step_from_how_fast_what_is_released_will_move():
    """A rod from the horizontal starts with 3 g/(2 L), a chain with g: about a twentieth of √(L/g)."""
    found = topics(arm((0, 0, 1)))
    assert found["dt"] == "0.01 s" and found["fastest motion"].startswith("3.84 rad/s, by the accelerations"), found
    chain, before = taut.Scene(), (0, 0, 0)
    for i in range(3):
        bead = chain.particle((0.25 * (i + 1), 0, 0))
        chain.distance(before, bead)
        before = bead
    found = topics(chain)
    assert found["dt"] == "0.008 s", found
    thrown = taut.Scene(gravity=(0, 0, 0))
    thrown.particle((0, 0, 0), velocity=(3, 0, 0))
    assert "by the velocities" in topics(thrown)["fastest motion"]


def test_an_equilibrium_tells_angles_reactions_and_springs_as_a_run_does():
    """A rod on a torsional spring: 10 θ + m g l/2 cos θ = 0; the pin carries the weight, and no torque of its axis."""
    scene = taut.Scene()
    rod = scene.rigid((0.5, 0, 0), shape={"rod": 1.0}, mass=1.0, name="rod")
    pin = scene.hinge(rod.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.spring_on(pin, stiffness=10.0, name="spring")
    found = taut.equilibrium(scene)
    angle = float(found["pin"].angle[0])
    assert abs(10.0 * angle + 0.5 * G * np.cos(angle)) < 1e-9, f"{angle:.10g} rad"
    assert np.abs(found["pin"].force.sel(body="rod").values[0] - (0, G, 0)).max() < 1e-8
    assert abs(float(found["pin"].reaction.sel(component="torque", axis="z")[0])) < 1e-9
    assert abs(float(found["spring"].effort[0]) + 10.0 * angle) < 1e-9
    energy = float(found.run.data.energy_potential[0])
    assert abs(energy - 5.0 * angle**2 - 0.5 * G * np.sin(angle)) < 1e-9, f"{energy:.10g} J"


# Modes that play


def test_a_mode_plays_as_a_run_whose_joints_hold(tmp_path):
    """The slow mode of a hanging double pendulum: both bobs on one side, the lower one 1 + √2 times as far."""
    motions = taut.linearise(taut.equilibrium(taut.gallery("two_link")))
    which = int(np.argmin(np.abs(motions.eigenvalues.imag - 2 * np.pi * motions.frequencies[0])))
    run = motions.run(which, amplitude=0.01, cycle=1.0, cycles=1)
    assert run.data.time[-1] == 1.0 and np.abs(run.records.phi).max() < 1e-9, np.abs(run.records.phi).max()
    sizes = np.linalg.norm(run.data.position.values[..., [0, 2]], axis=2).max(axis=0)
    ratio = sizes[-1] / sizes[-2]
    assert abs(ratio - (1 + np.sqrt(2))) < 1e-2, f"the lower bob moves {ratio:.5g} times as far"
    back = np.abs(run.records.x[-1] - run.records.x[0]).max()
    assert back < 1e-6, f"after a cycle it is {back:.2g} m off"
    picture = run.draw(tmp_path / "mode.png", at=0.25, size=(80, 60))
    assert picture.stat().st_size > 0
    with pytest.raises(taut.TautError, match="give a number from 0 to 7"):
        motions.run(8)


def test_a_mode_of_a_rigid_mechanism_turns_its_body():
    motions = taut.linearise(taut.equilibrium(pendulum()))
    angle = motions.run(0, amplitude=0.03)["pin"].angle.values
    assert abs(np.ptp(angle) - 0.06) < 1e-4, f"it swings by {np.ptp(angle):.4g} rad"


@pytest.mark.parametrize("name", ["stewart_platform", "slider_crank"])
def test_a_fully_driven_mechanism_has_no_small_motions(name):
    """All its motion follows from its drivers: nothing is left to linearise, and the doctor says so."""
    scene = taut.gallery(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", taut.TautWarning)
        assert len(taut.linearise(scene).eigenvalues) == 0
    assert topics(scene)["degrees of freedom"] == "0"


@pytest.mark.parametrize("seed", range(8))
def test_an_equilibrium_is_found_though_forces_rise_on_the_way(seed):
    """Random chains in which all that moves is held by springs; the largest force of the first grows, then falls."""
    rng = np.random.default_rng(seed + 120)
    scene = taut.Scene(gravity=0.02 * rng.normal(size=3))
    on: Any = (0, 0, 0)
    for i in range(3):
        way, axis = rng.normal(size=(2, 3))
        bar = scene.rigid(0.5 * way, mass=1.0, inertia=(0.05, 0.06, 0.07), name=f"bar_{i}")
        if rng.random() < 0.5:
            joint = scene.universal(bar.at(-0.5 * way), on, axis=axis, axis_2=np.cross(axis, way))
            for coordinate in ("angle_1", "angle_2"):
                scene.spring_on(joint, stiffness=float(rng.uniform(2, 10)), coordinate=coordinate)
        else:
            scene.spring_on(scene.slider(bar.at(-0.5 * way), on, axis=axis), stiffness=float(rng.uniform(2, 10)))
        on = bar.at(-0.5 * way)
    found = taut.equilibrium(scene)
    assert found.imbalance < 1e-10 and found.steps < 50
