"""Kinematics of driven mechanisms and their inverse dynamics, against closed forms and driven runs."""

from __future__ import annotations

import numpy as np
import pytest

import taut

R, L, START = 0.3, 1.0, 0.4  # crank and rod [m], first angle of the crank [rad]
TIMES = np.concatenate([np.linspace(0.0, 1.0, 11), np.linspace(1.3, 4.0, 10)])
Z = (0, 0, 1)
FIRST = float(R * np.cos(START) + np.sqrt(L**2 - (R * np.sin(START)) ** 2))  # place of the block


def slider_crank(**drive) -> taut.Scene:
    """All bodies in space: eight of the rows are redundant."""
    scene = taut.Scene()
    knee = R * np.array([np.cos(START), np.sin(START), 0.0])
    crank = scene.rigid(knee / 2, mass=1.0, inertia=(0.01, 0.02, 0.02), orientation=(Z, START), name="crank")
    rod = scene.rigid((knee + (FIRST, 0, 0)) / 2, mass=2.0, inertia=(0.01, 0.2, 0.2),
                      orientation=(Z, -np.arcsin(knee[1] / L)), name="rod")  # fmt: skip
    block = scene.rigid((FIRST, 0, 0), mass=3.0, inertia=(0.1, 0.1, 0.1), name="block")
    scene.hinge(crank.at((-R / 2, 0, 0)), (0, 0, 0), axis=Z, name="pin")
    scene.hinge(rod.at((-L / 2, 0, 0)), crank.at((R / 2, 0, 0)), axis=Z, name="knee")
    scene.universal(rod.at((L / 2, 0, 0)), block, axis=Z, axis_2=(0, 1, 0), name="wrist")
    scene.slider(block, (0, 0, 0), axis=(1, 0, 0), name="guide")
    for joint, law in drive.items():
        scene.drive(joint, **law, name=f"drive_{joint}")
    return scene


TURNING = {"pin": {"angle": "2*t + 0.5*sin(3*t)"}}


@pytest.fixture(scope="module")
def driven():
    with pytest.warns(taut.TautWarning, match="redundant"):
        return taut.kinematics(slider_crank(**TURNING), TIMES)


def test_a_slider_crank_follows_its_closed_form(driven):
    t = TIMES
    angle = START + 2 * t + 0.5 * np.sin(3 * t)
    rate, change = 2 + 1.5 * np.cos(3 * t), -4.5 * np.sin(3 * t)
    sine, cosine = np.sin(angle), np.cos(angle)
    along = np.sqrt(L**2 - (R * sine) ** 2)  # of the rod
    slope = -R * sine - R**2 * sine * cosine / along
    bend = -R * cosine - R**2 * np.cos(2 * angle) / along - R**4 * (sine * cosine) ** 2 / along**3
    expected = R * cosine + along, slope * rate, bend * rate**2 + slope * change
    block = driven["block"].at((0, 0, 0))
    for found, right in zip((block.position, block.velocity, block.acceleration), expected):
        error = np.abs(found.values[:, 0] - right).max()
        assert error < 1e-12, f"{found.name} is off by {error:.2g}"
    assert np.abs(driven["pin"].angle.values - (angle - START)).max() < 1e-12, "turns are not counted"


def test_the_torque_of_a_driver_is_that_of_a_driven_run(driven):
    run = taut.simulate(slider_crank(**TURNING), "reference", dt=0.1, duration=1.0, progress=False)
    of_run, found = run["drive_pin"].multiplier.values, driven["drive_pin"].multiplier.values[:11]
    error = np.abs(found - of_run).max() / np.abs(of_run).max()
    assert error < 1e-9, f"torques differ by {error:.2g}"
    carried = np.abs(driven["knee"].force.values[:11] - run["knee"].force.values).max()
    assert carried < 1e-8, f"forces in the knee differ by {carried:.2g} N"


def test_the_power_of_a_driver_is_the_change_of_energy():
    times = np.linspace(0.5, 0.5 + 1e-3, 3)
    run = taut.kinematics(slider_crank(**TURNING), times)
    power = float((run["drive_pin"].multiplier * run["pin"].rate)[1])
    change = float(run.data.energy_total[2] - run.data.energy_total[0]) / (times[2] - times[0])
    assert abs(power / change - 1) < 1e-5, f"{power:.9g} W brought in, energy grows by {change:.9g} W"


@pytest.mark.parametrize(
    ("scene", "words"),
    (
        (slider_crank, "1 degree of freedom is left, which moves 'crank', 'rod', 'block'"),
        (lambda: taut.gallery("two_link"), "4 degrees of freedom are left"),
        (lambda: taut.gallery("billiard"), "has inequalities"),
        (lambda: taut.gallery("rolling_disc"), "has conditions on velocities"),
    ),
    ids=("free", "pendulum", "contacts", "rolling"),
)
def test_what_is_not_fully_driven_is_refused_with_what_is_left(scene, words):
    with pytest.raises(taut.TautError, match=words):
        taut.kinematics(scene(), [0.0, 0.1])


@pytest.mark.parametrize("times", ([1.0, 0.0], [], "soon", [0.0, float("nan")], [[0.0, 1.0]]))
def test_times_must_ascend(times):
    with pytest.raises(taut.TautError, match="ascending times"):
        taut.kinematics(slider_crank(**TURNING), times)


# Singular positions


def test_a_mechanism_that_locks_says_when_and_where():
    """The block is pushed to its dead centre at 1.3 m, and beyond."""
    scene = slider_crank(guide={"displacement": f"{FIRST!r} + 0.05*t"})
    locked = (R + L - FIRST) / 0.05
    with pytest.raises(taut.TautError, match=f"can not be moved beyond t = {locked:.5f}"):
        taut.kinematics(scene, [0.0, 1.0])
    with pytest.raises(taut.TautError, match=f"singular position at t = {locked:.5g}.* 'crank', 'rod'"):
        taut.kinematics(scene, [0.0, locked])


def parallelogram() -> taut.Scene:
    """It lies flat at t = 1, where it could go on as an antiparallelogram."""
    scene = taut.Scene()
    c, s = np.cos(1.0), np.sin(1.0)
    crank = scene.rigid((c / 2, s / 2, 0), mass=1, inertia=0.1, orientation=(Z, 1.0), planar=True, name="crank")
    coupler = scene.rigid((c + 1, s, 0), mass=1, inertia=0.1, planar=True, name="coupler")
    rocker = scene.rigid((2 + c / 2, s / 2, 0), mass=1, inertia=0.1, orientation=(Z, 1.0), planar=True, name="rocker")
    pin = scene.hinge(crank.at((-0.5, 0, 0)), (0, 0, 0), axis=Z, name="pin")
    scene.hinge(crank.at((0.5, 0, 0)), coupler.at((-1, 0, 0)), axis=Z)
    scene.hinge(coupler.at((1, 0, 0)), rocker.at((0.5, 0, 0)), axis=Z)
    scene.hinge(rocker.at((-0.5, 0, 0)), (2, 0, 0), axis=Z)
    scene.drive(pin, angle="-t")
    return scene


def test_a_singular_position_on_the_way_is_told_and_the_branch_kept():
    with pytest.warns(taut.TautWarning, match="passes a singular position.*'coupler', 'rocker'"):
        run = taut.kinematics(parallelogram(), [0.0, 0.97, 2.0])
    place = run["coupler"].at((0, 0, 0)).position.values[-1]
    assert np.allclose(place, (np.cos(1) + 1, -np.sin(1), 0), atol=1e-12), place


def coupler(second: str) -> taut.Scene:
    """An RSSR linkage: a crank about z, a coupler, and a rocker about x."""
    scene = taut.Scene(name="rssr")
    ends = np.array([[0.1, 0, 0], [0.4, 0.3, 0.1]])
    crank = scene.rigid((0.05, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1), name="crank")
    rod = scene.rigid(ends.mean(axis=0), mass=1.0, inertia=(0.1, 0.1, 0.1), name="coupler")
    rocker = scene.rigid((0.4, 0.15, 0.1), mass=1.0, inertia=(0.1, 0.1, 0.1), name="rocker")
    pin = scene.hinge(crank, (0.05, 0, 0), axis=(0, 0, 1), name="in")
    scene.hinge(rocker, (0.4, 0.15, 0.1), axis=(1, 0, 0), name="out")
    half = 0.5 * (ends[1] - ends[0])
    scene.ball(rod.at(half), rocker.at((0, 0.15, 0)))
    places = rod.at(-half), crank.at((0.05, 0, 0))
    if second == "ball":
        scene.ball(*places)
    else:
        scene.universal(*places, axis=np.cross(half, (0, 0, 1.0)), axis_2=np.cross(half, np.cross(half, (0, 0, 1.0))))
    scene.drive(pin, angle="t")
    return scene


def test_a_coupler_between_two_balls_is_told_to_spin_idly_and_how_to_hold_it():
    with pytest.raises(taut.TautError, match="'coupler' can spin about the line through its joints.*put a universal"):
        taut.kinematics(coupler("ball"), [0.0, 0.1])
    run = taut.kinematics(coupler("universal"), [0.0, 0.1])
    assert abs(float(run["in"].angle[-1]) - 0.1) < 1e-9
