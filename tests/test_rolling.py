"""Skates, wheels, discs and balls against closed forms, with `reference`."""

from __future__ import annotations

from math import asinh, atan, cos, pi, sin, tan, tanh

import numpy as np
import pytest

import taut

UP = np.array([0.0, 1.0, 0.0])


def solid_ball(scene: taut.Scene, velocity, ground_velocity=(0, 0, 0), spin: float = 0.0, **where) -> taut.Scene:
    """A ball of radius 0.3 m that rolls with this velocity on ground that moves with that one, and spins."""
    omega = np.cross(UP, np.array(velocity, float) - ground_velocity) / 0.3 + spin * UP
    return scene.rigid(mass=2.0, shape={"sphere": 0.3}, velocity=velocity, angular_velocity=omega, name="ball", **where)


def assert_energy(run: taut.Run) -> None:
    drift = float(np.abs(run.data.energy_drift).max() / np.abs(run.data.energy_total).max())
    assert drift < 1e-10, f"energy drifts by {drift:.3g} of its size"


def test_chaplygins_sleigh_turns_round_as_its_closed_form_says(simulate):
    """u = U tanh s, ω = (U/b) sech s, s = s₀ + a U t/b², b² = (I + m a²)/m: energy is kept, u grows to the end."""
    mass, inertia, arm, speed, spin = 1.3, 0.2, 0.5, -1.0, 0.8
    run = simulate(taut.gallery("chaplygin_sleigh", mass=mass, inertia=inertia, arm=arm, speed=speed, spin=spin),
                   "reference", 0.5, 10.0)
    b = ((inertia + mass * arm**2) / mass) ** 0.5
    U = (speed**2 + (b * spin) ** 2) ** 0.5
    s = asinh(speed / (b * spin)) + arm * U * run.records.time / b**2
    omega = run.data.angular_velocity.sel(rigid="sleigh").values
    assert np.abs(omega - UP * (U / b / np.cosh(s))[:, None]).max() < 1e-9, "its angular velocity is not U/b sech s"
    angle = 2 * b / arm * (np.arctan(np.tanh(s / 2)) - atan(tanh(s[0] / 2)))
    ahead = np.array([np.cos(angle), 0 * angle, -np.sin(angle)]).T
    edge = run.data.velocity.sel(body="sleigh").values - np.cross(omega, arm * ahead)
    off = np.abs(edge - (U * np.tanh(s))[:, None] * ahead).max()
    assert off < 1e-9, f"the velocity of its edge is off by {off:.3g} m/s"
    assert s[0] < -1 and s[-1] > 5, "it must turn round"
    assert_energy(run)


def test_a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_rate(simulate):
    """r̈ = (2/7) Ω × ṙ of a solid ball: a circle wherever it starts, of radius v / (2Ω/7)."""
    rate, at, velocity = 3.0, np.array([0.7, 0.3, -0.2]), np.array([0.4, 0.0, 0.3])
    scene = taut.Scene()
    table = scene.rigid((0, 0, 0), rotation=((0, 1, 0), f"{rate}*t"), name="table")
    ball = solid_ball(scene, velocity, np.cross(rate * UP, at * (1, 0, 1)), spin=2.0, position=at)
    scene.rolling(ball, table, name="ground")
    run = simulate(scene, "reference", 0.1, 2 * pi / (2 / 7 * rate))
    turn = 2 / 7 * rate * run.records.time
    v = run.data.velocity.sel(body="ball").values
    expected = np.array([velocity[0] * np.cos(turn) + velocity[2] * np.sin(turn), 0 * turn,
                         velocity[2] * np.cos(turn) - velocity[0] * np.sin(turn)]).T  # fmt: skip
    assert np.abs(v - expected).max() < 1e-9, f"off by {np.abs(v - expected).max():.3g} m/s"
    spin = run.data.angular_velocity.sel(rigid="ball").values[:, 1]
    assert np.abs(spin - 2.0).max() < 1e-9, "it must keep spinning about the vertical"
    assert_energy(run)


def test_a_ball_on_a_plane_that_is_pulled_away_follows_with_two_sevenths(simulate):
    scene = taut.Scene()
    tray = scene.rigid(path=("0.5*t**2 + 0.1*sin(3*t)", "0.2*t", 0), name="tray")
    ball = solid_ball(scene, (0.3, 0.2, 0), (0.3, 0.2, 0), position=(0, 0.3, 0))
    scene.rolling(ball, tray, name="ground")
    run = simulate(scene, "reference", 0.1, 2.0)
    t = run.records.time
    moved = 0.3 * t + 2 / 7 * (0.5 * t**2 + 0.1 * np.sin(3 * t) - 0.3 * t)
    expected = np.array([moved, 0.3 + 0.2 * t, 0 * t]).T
    off = np.abs(run.data.position.sel(body="ball").values - expected).max()
    assert off < 1e-9, f"off by {off:.3g} m"
    push = run["ground"].force.sel(body="ball").values
    assert np.abs(push - 2.0 * np.array([2 / 7 * (1 - 0.9 * np.sin(3 * t)), 9.81 + 0 * t, 0 * t]).T).max() < 1e-8
    assert_energy(run)


def test_a_coin_in_steady_motion_keeps_its_height_and_goes_round_in_a_circle(simulate):
    """The relation of steady motion (scene/gallery/rolling.py) was derived apart from the constraint."""
    rate, lean, radius = 12.0, 0.6, 0.012
    run = simulate(taut.gallery("rolling_coin", rate=rate, lean=lean, radius=radius), "reference", 0.05, 2.0)
    x = run.data.position.sel(body="coin").values
    assert np.abs(x[:, 1] - radius * cos(lean)).max() < 1e-10, "its height changes"
    v = run.data.velocity.sel(body="coin").values
    centre = x[0] + np.cross(UP, v[0]) / rate  # from v = Ω × (x - centre)
    centre[1] = x[0, 1]
    around = np.linalg.norm(x - centre, axis=1)
    assert np.abs(around - np.linalg.norm(v[0]) / rate).max() < 1e-9, f"distances from the centre: {around}"
    assert_energy(run)


def test_an_upright_disc_rolls_straight_and_carries_its_weight(simulate):
    run = simulate(taut.gallery("rolling_disc", lean=0.0, speed=2.0, mass=1.5), "reference", 0.1, 2.0)
    x, t = run.data.position.sel(body="disc").values, run.records.time
    assert np.abs(x - np.array([2 * t, 0 * t + 0.5, 0 * t]).T).max() < 1e-10
    reaction = run["ground"].reaction.sel(component="force").values
    assert np.abs(reaction - [0, 0, 1.5 * 9.81]).max() < 1e-9, f"reaction in the axes of the plane: {reaction[-1]} N"


@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_a_wheel_whose_rim_is_a_ball_rolls_as_a_ball_does(tilt, simulate):
    """tube = radius: the axle does not matter. Down a slope, where a solid ball has 5/7 of g sin a."""
    found = []
    for extra in ({}, {"axis": (0, sin(tilt), cos(tilt)), "tube": 0.3}):
        scene = taut.Scene(gravity=(2.0, -9.0, 1.0))
        scene.rolling(solid_ball(scene, (0.5, 0, 0.2), spin=1.0, position=(0, 0.3, 0)), (0, 0, 0), **extra)
        found.append(simulate(scene, "reference", 0.1, 1.0).data)
    t = found[0].time.values
    expected = np.array([0.5 * t + 5 / 7 * t**2, 0 * t + 0.3, 0.2 * t + 5 / 14 * t**2]).T
    for data in found:
        off = np.abs(data.position.sel(body="ball").values - expected).max()
        assert off < 1e-10, f"off by {off:.3g} m"


def test_a_wheel_with_a_round_rim_keeps_its_energy_and_the_velocity_of_its_lowest_place_is_zero(simulate):
    scene = taut.Scene()
    axle = np.array([0.0, sin(0.3), cos(0.3)])
    wheel = scene.rigid((0, 0.4 * cos(0.3) + 0.1, 0), mass=1.0, inertia=(0.05, 0.05, 0.09), orientation=("x", -0.3),
                        angular_velocity=-6 * axle, velocity=(3, 0, 0), name="wheel")
    scene.rolling(wheel, (0, 0, 0), axis=axle, radius=0.5, tube=0.1)
    run = simulate(scene, "reference", 0.05, 1.0)
    assert_energy(run)
    omega = run.data.angular_velocity.sel(rigid="wheel").values
    x, v = (run.data[name].sel(body="wheel").values for name in ("position", "velocity"))
    w, a, b, c = np.moveaxis(run.data.orientation.sel(rigid="wheel").values, -1, 0)
    z = np.array([2 * (a * c + w * b), 2 * (b * c - w * a), w * w - a * a - b * b + c * c]).T  # the axle
    out = -UP + z * z[:, 1:2]
    lowest = 0.4 * out / np.linalg.norm(out, axis=1)[:, None] - 0.1 * UP
    assert np.abs((x + lowest)[:, 1]).max() < 1e-12, "it does not touch"
    assert np.abs(v + np.cross(omega, lowest)).max() < 1e-9, "it slips"


def test_a_car_whose_front_wheels_stay_turned_goes_round_about_the_meeting_of_its_axles(simulate):
    """Radius of the rear axle L / tan δ, rate v tan δ / L."""
    base, steer, speed = 2.0, 0.4, 3.0
    rate = speed * tan(steer) / base
    scene = taut.Scene()
    car = scene.rigid((base, 0, 0), mass=10, inertia=(1, 2, 3), velocity=(speed, 0, -rate * base),
                      angular_velocity=(0, rate, 0), name="car")
    scene.planar_joint(car, (0, 0, 0), axis=(0, 1, 0))
    scene.skate(car.at((-base, 0, 0)), direction=(1, 0, 0))
    scene.skate(car, direction=(cos(steer), 0, -sin(steer)))
    run = simulate(scene, "reference", 0.1, 2 * pi / rate)
    around = np.linalg.norm(run.data.position.sel(body="car").values - [0, 0, -base / tan(steer)], axis=1)
    expected = base / sin(steer)
    assert np.abs(around - expected).max() < 1e-9, f"distances {around}, expected {expected}"


def test_steering_in_the_gallery_takes_work_that_is_counted(simulate):
    run = simulate(taut.gallery("car_turning"), "reference", 0.25, 5.0)
    assert_energy(run)
    assert np.abs(run.data.energy_driver_work).max() > 1.0, "the kingpin must do work"
    assert np.abs(run.data.constraint_rate).max() < 1e-10


@pytest.mark.parametrize("speed", [1.25, 1.31])
def test_small_motions_of_an_upright_disc_have_their_closed_form(speed):
    """σ² = 4g/5r - 12 v²/5r² of a thin disc: stable above v² = g r/3."""
    radius = 0.5
    values = taut.linearise(taut.gallery("rolling_disc", radius=radius, lean=0.0, speed=speed)).eigenvalues
    expected = 4 * 9.81 / (5 * radius) - 12 * speed**2 / (5 * radius**2)
    square = values[np.argmax(np.abs(values))] ** 2
    assert abs(square - expected) < 2e-3 * abs(4 * 9.81 / (5 * radius)), f"σ² is {square:.6g}, expected {expected:.6g}"


PUBLISHED = {  # Meijaard et al. 2007, table 2: weave, capsize, castering [1/s]
    5.0: [-14.07838969279822, -0.77534188219585 - 4.46486771378823j, -0.77534188219585 + 4.46486771378823j,
          -0.32286642900409],
}  # fmt: skip


@pytest.mark.parametrize("speed", [2.0, 5.0])
def test_eigenvalues_of_the_bicycle_are_those_of_the_benchmark(speed):
    """M σ² + v C₁ σ + g K₀ + v² K₂ with the matrices that are published for these parameters."""
    M = [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]]
    K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
    K2 = np.array([[0, 76.59734589573222], [0, 2.65431523794604]])
    C1 = np.array([[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
    stiffness, damping = np.linalg.solve(M, 9.81 * K0 + speed**2 * K2), np.linalg.solve(M, speed * C1)
    expected = np.sort_complex(np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness, -damping]])))
    found = taut.linearise(taut.gallery("bicycle", speed=speed, roll=0.0)).eigenvalues
    found = np.sort_complex(found[np.abs(found) > 1e-2])  # the others are zero: place, heading, speed
    assert np.abs(found - expected).max() < 1e-6, f"{found} instead of {expected}"
    if speed in PUBLISHED:
        assert np.abs(found - np.sort_complex(PUBLISHED[speed])).max() < 1e-6, f"{found}"


def test_a_bicycle_rights_itself_within_its_stable_speeds_alone(simulate):
    """After a push it comes up again at 5 m/s, and falls at 3 m/s; the energy is kept."""
    for speed, rights in ((5.0, True), (3.0, False)):
        run = simulate(taut.gallery("bicycle", speed=speed, roll=0.05), "reference", 0.1, 2.0)
        w, x, y, z = run.data.orientation.sel(rigid="frame").values[-1]
        lean = abs(2 * (y * z + w * x))
        assert (lean < 0.01) == rights, f"at {speed:g} m/s it leans by {lean:.3g} rad after 2 s"
        assert_energy(run)


MISTAKES = [
    (lambda scene, disc: scene.rolling(disc, (0, 0, 0)), "has no radius"),
    (lambda scene, disc: scene.rolling(disc, (0, 0, 0), radius=-1), "radius must be positive"),
    (lambda scene, disc: scene.rolling(disc, (0, 0, 0), radius=1, axis=(0, 1, 0)), "lies flat"),
    (lambda scene, disc: scene.rolling(disc, (0, 0, 0), radius=1, axis=(0, 0, 0)), "has no direction"),
    (lambda scene, disc: scene.rolling(disc, (0, 0, 0), radius=1, axis=(0, 0, 1), tube=2), "between 0"),
    (lambda scene, disc: scene.rolling(disc, scene.particle((0, 0, 0)), radius=1), "has no axes that could turn"),
    (lambda scene, disc: scene.skate(scene.particle((0, 0, 0)), direction=(1, 0, 0)), "has no axes that could turn"),
    (lambda scene, disc: scene.skate(disc, direction=(0, 2, 0)), "along its normal"),
    (lambda scene, disc: scene.skate(disc), "has no direction"),
    (lambda scene, disc: scene.skate(disc, direction=(1, 0, 0), sense=">="), "sense is '>='"),
]


@pytest.mark.parametrize("k", range(len(MISTAKES)))
def test_mistakes_are_named(k):
    scene = taut.Scene()
    disc = scene.rigid((0, 1, 0), mass=1, inertia=(1, 1, 1), name="disc")
    with pytest.raises(taut.TautError, match=MISTAKES[k][1]):
        MISTAKES[k][0](scene, disc)
