"""Forces of contacts: what rests is carried to the last digit, and friction holds, drags and rolls as Coulomb says."""

from __future__ import annotations

from math import cos, sin, sqrt, tan

import numpy as np
import pytest

import taut

G = 9.81
METHODS = ["baumgarte", "implicit_first"]


def carried(run: taut.Run, record: int = -1) -> np.ndarray:
    """Forces of all contacts on each body [N]."""
    return run.data.contact_force.values[record]


# At rest


def pyramid() -> taut.Scene:
    """Two balls in a box and a third between them, above: all at rest."""
    radius, width = 0.1, 0.44
    scene = taut.Scene(name="pyramid")
    half = width / 2 - radius
    top = radius + sqrt(4 * radius**2 - half**2)
    balls = [
        scene.particle((x, y, 0), mass=mass, radius=radius, name=name)
        for name, x, y, mass in (
            ("first", radius, radius, 1.0), ("second", width - radius, radius, 2.0), ("top", width / 2, top, 3.0),
        )
    ]  # fmt: skip
    walls = [
        scene.obstacle("half_space", point=point, normal=normal, name=name)
        for name, point, normal in (
            ("floor", (0, 0, 0), (0, 1, 0)), ("left", (0, 0, 0), (1, 0, 0)), ("right", (width, 0, 0), (-1, 0, 0)),
        )
    ]  # fmt: skip
    scene.planar(*balls)
    scene.contacts(balls, name="balls")
    scene.contacts(balls, walls, name="walls")
    return scene


@pytest.mark.parametrize("method", METHODS)
def test_a_pyramid_of_balls_is_carried_to_the_last_digit(simulate, method):
    run = simulate(pyramid(), method, 0.005, 1.0)
    weight = G * np.array([1.0, 2.0, 3.0])
    for k in (1, -1):
        off = np.abs(carried(run, k) - np.column_stack([0 * weight, weight, 0 * weight])).max()
        assert off <= 1e-9, f"forces off the weights by {off:.3g} N at record {k}"
    speed = np.abs(run.records.v).max()
    assert speed <= 1e-9, f"what rests moves with {speed:.3g} m/s"
    push = {name: float(run[name].multiplier[-1]) for name in ("first|floor", "first|left", "first|top")}
    # The top ball leans on both: its weight over twice the cosine of the lean.
    lean = 3.0 * G / 2 / (sqrt(0.2**2 - 0.12**2) / 0.2)
    assert abs(push["first|top"] - lean) <= 1e-9, f"{push}, expected {lean} from the top"
    assert abs(push["first|left"] - lean * 0.6) <= 1e-9, f"{push}, expected {lean * 0.6} at the wall"
    assert abs(push["first|floor"] - (1.0 + 1.5) * G) <= 1e-9, f"{push}, expected {2.5 * G} on the floor"


def table(across: float = 0.0) -> taut.Scene:
    """A plate on four legs, whose centre of mass stands `across` from the middle."""
    scene = taut.Scene(name="table")
    plate = scene.rigid((across, 0.1, 0), mass=4.0, inertia=(0.1, 0.2, 0.1), name="plate")
    for i, (x, z) in enumerate(((-0.5, -0.3), (-0.5, 0.3), (0.5, -0.3), (0.5, 0.3))):
        leg = plate.at((x - across, -0.1, z))
        scene.half_space(leg, point=(0, 0, 0), normal=(0, 1, 0), name=f"leg_{i}")
    return scene


@pytest.mark.parametrize("method", METHODS)
def test_a_table_on_four_legs_gets_the_smallest_forces_and_a_note(method):
    with pytest.warns(taut.TautWarning, match="statically indeterminate"):
        run = taut.simulate(table(0.2), method=method, dt=0.005, duration=0.5, progress=False)
    weight, x, z = 4.0 * G, np.array([-0.5, -0.5, 0.5, 0.5]) - 0.2, np.array([-0.3, 0.3, -0.3, 0.3])
    # λ = a + b x + c z is the smallest answer to Σ λ = weight, Σ λ x = Σ λ z = 0.
    balance = np.array([np.ones(4), x, z])
    smallest = np.linalg.pinv(balance) @ np.array([weight, 0.0, 0.0])
    found = run.records.lam[-1]
    assert np.abs(found - smallest).max() <= 1e-9, f"λ = {found}, the smallest is {smallest}"
    assert abs(found.sum() - weight) <= 1e-9, f"legs carry {found.sum()}, the weight is {weight}"
    notes = " ".join(run.info["notes"])
    assert all(f"leg_{i}" in notes for i in range(4)), f"the note does not name the legs: {notes}"
    torque = sum(run[f"leg_{i}"].torque.values[-1, 0] for i in range(4))
    assert np.abs(torque).max() <= 1e-9, f"torques of the legs add up to {torque}"


def test_a_table_on_three_legs_says_nothing():
    scene = taut.Scene(name="stool")
    plate = scene.rigid((0, 0.1, 0), mass=4.0, inertia=(0.1, 0.2, 0.1), name="plate")
    for i, (x, z) in enumerate(((-0.5, -0.3), (-0.5, 0.3), (0.5, 0.0))):
        scene.half_space(plate.at((x, -0.1, z)), point=(0, 0, 0), normal=(0, 1, 0), name=f"leg_{i}")
    run = taut.simulate(scene, method="baumgarte", dt=0.005, duration=0.1, progress=False)
    assert not run.info["notes"], f"a note where forces are unique: {run.info['notes']}"


@pytest.mark.parametrize("method", METHODS)
def test_the_corner_of_balls_carries_its_load(simulate, method):
    """The ten balls of the billiard, drawn into their corner: 21 contacts, of which statics need 20."""
    scene = taut.gallery("billiard", restitution=0.0, speed=1.0)
    scene.gravity = (-1.0, -2.0, 0.0)
    run = simulate(scene, method, 0.002, 0.1)
    load = 0.17 * np.array([1.0, 2.0, 0.0])
    off = np.abs(carried(run, 20)[:10] - load).max()
    assert off <= 1e-9, f"forces on the resting balls off their load by {off:.3g} N"


def test_force_of_a_contact_is_told_on_both_bodies(simulate):
    run = simulate(pyramid(), "baumgarte", 0.005, 0.05)
    force = run["first|top"].force
    first, top = (force.sel(body=name).values[-1] for name in ("first", "top"))
    assert np.abs(first + top).max() <= 1e-12, f"{first} and {top} are not opposite"
    expected = float(run["first|top"].multiplier[-1]) * np.array([-0.6, -0.8, 0.0])
    assert np.abs(first - expected).max() <= 1e-9, f"force {first}, λ says {expected}"


# Friction


def incline(simulate, friction: float, speed: float = 0.0, angle: float = 0.4, dt: float = 0.005) -> taut.Run:
    scene = taut.gallery("block_on_incline", angle=angle, friction=friction, speed=speed)
    return simulate(scene, "implicit_first", dt, 1.0)


def test_a_block_sticks_below_the_angle_of_friction(simulate):
    run = incline(simulate, friction=1.001 * tan(0.4))
    moved = np.abs(run.records.x[-1] - run.records.x[0]).max()
    assert moved <= 1e-9, f"it moves by {moved:.3g} m"
    off = np.abs(carried(run)[0] - (0, G, 0)).max()
    assert off <= 1e-9, f"the slope carries it with an error of {off:.3g} N"


@pytest.mark.parametrize("friction", [0.0, 0.1, 0.3, 0.99 * tan(0.4)])
def test_a_block_slides_above_it(simulate, friction):
    run = incline(simulate, friction)
    along = run.records.v[:, 0] @ (cos(0.4), -sin(0.4), 0.0)
    expected = G * (sin(0.4) - friction * cos(0.4)) * run.records.time
    off = np.abs(along - expected).max()
    assert off <= 1e-9, f"speeds off g (sin - μ cos) t by {off:.3g} m/s"


def test_a_block_that_slides_stops_where_it_should(simulate, slope):
    """On the level, v² / (2 μ g): with an error of the order of the step."""
    steps = np.array([0.01, 0.005, 0.0025])
    exact = 2.0**2 / (2 * 0.4 * G)
    errors = []
    for h in steps:
        run = incline(simulate, friction=0.4, speed=2.0, angle=0.0, dt=float(h))
        errors.append(abs(run.records.x[-1, 0, 0] - run.records.x[0, 0, 0] - exact))
        rest = np.abs(run.records.v[-1]).max()
        assert rest <= 1e-9, f"dt = {h}: it still moves with {rest:.3g} m/s"
    assert max(np.array(errors) / steps) <= 2.0, f"errors {errors} for steps {steps}: more than v h"


@pytest.mark.parametrize("friction, slips", [(0.5, False), (0.1, True)])
def test_a_sphere_rolls_or_slips_down_a_slope(simulate, friction, slips):
    """Without slip a = 5/7 g sin; it slips where μ < 2/7 tan."""
    angle, radius = 0.5, 0.1
    assert slips == (friction < 2 / 7 * tan(angle))
    normal, down = np.array((sin(angle), cos(angle), 0.0)), np.array((cos(angle), -sin(angle), 0.0))
    scene = taut.Scene(name="rolling")
    ball = scene.rigid(radius * normal, mass=2.0, shape={"sphere": radius}, name="ball")
    scene.half_space(ball, point=(0, 0, 0), normal=normal, friction=friction, name="slope")
    run = simulate(scene, "implicit_first", 0.001, 1.0)
    speed = run["ball"].velocity.values[-1] @ down
    spin = -run["ball"].angular_velocity.values[-1, 2] * radius  # clockwise is down the slope
    wanted = (sin(angle) - friction * cos(angle)) * G if slips else 5 / 7 * G * sin(angle)
    turning = 5 / 2 * friction * G * cos(angle) if slips else wanted
    assert abs(speed - wanted) <= 1e-9, f"speed {speed} m/s, expected {wanted}"
    assert abs(spin - turning) <= 1e-9, f"its surface turns with {spin} m/s, expected {turning}"
    force = run["slope"].force.values[-1, 0]
    rubbing = -(force @ down)
    assert abs(rubbing - 2.0 * (G * sin(angle) - wanted)) <= 1e-9, f"friction {rubbing} N"
    assert np.abs(carried(run)[0] - force).max() <= 1e-9, f"contact_force {carried(run)[0]}, its one contact {force}"
    torque = run["slope"].torque.values[-1, 0, 2]
    assert abs(torque + rubbing * radius) <= 1e-9, f"torque {torque} N m, expected {-rubbing * radius}"


def test_friction_turns_with_the_motion(simulate):
    """A puck on the level slows down along its way: it goes straight, whichever way that is."""
    for turn in (0.0, 0.3, 1.0, 2.0, 4.0):
        scene = taut.Scene(name="puck")
        puck = scene.particle((0, 0, 0), velocity=(cos(turn), 0, sin(turn)), name="puck")
        scene.half_space(puck, point=(0, 0, 0), normal=(0, 1, 0), friction=0.2, name="ice")
        run = simulate(scene, "implicit_first", 0.001, 0.3)
        v = run["puck"].velocity.values[-1]
        expected = (1 - 0.2 * G * 0.3) * np.array([cos(turn), 0, sin(turn)])
        assert np.abs(v - expected).max() <= 1e-9, f"direction {turn}: velocity {v}, expected {expected}"


def test_friction_never_exceeds_the_cone(simulate):
    run = simulate(taut.gallery("ball_pile", n=8, friction=0.3), "implicit_first", 0.005, 1.0)
    normal, rubbing = run.records.lam, np.hypot(*np.moveaxis(run.records.slide, 2, 0))
    excess = (rubbing - 0.3 * normal).max()
    assert excess <= 1e-9, f"friction beyond μ λ by {excess:.3g} N"
    assert normal.min() >= 0.0, f"a contact pulls with {normal.min():.3g} N"
