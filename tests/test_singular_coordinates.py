"""Reduced coordinates near their singular positions: the motion is right, or the run says where it ends and why."""

from __future__ import annotations

import numpy as np
import pytest

import taut

STEADY = -4.61538461538461538  # precession [rad/s] with which the heavy top passes its lower pole: C/A of its spin


def energy_lost(run: taut.Run) -> float:
    """The largest change of kinetic and potential energy, of the largest kinetic energy."""
    energy = run.records.energy[:, :2].sum(axis=1)
    return float(np.abs(energy - energy[0]).max() / run.records.energy[:, 0].max())


def pendulum(turning: float) -> taut.Scene:
    """A bob in polar coordinates, which swings past the pole at a distance that goes with `turning` [rad/s]."""
    scene = taut.Scene()
    velocity = (0, 0, turning * np.sin(1.0))
    bob = scene.particle((np.sin(1.0), -np.cos(1.0), 0), velocity=velocity, mass=1.0, name="bob")
    scene.distance(bob, (0, 0, 0))
    places = ("sin(theta)*cos(phi)", "-cos(theta)", "sin(theta)*sin(phi)")
    scene.reduced({"phi": (0, turning), "theta": 1.0}, {"bob": places})
    return scene


@pytest.mark.parametrize("apart", [1e-8, 1e-6, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("dt", [0.01, 0.001])
def test_a_heavy_top_keeps_its_energy_past_a_pole_at_any_distance(apart, dt, simulate):
    run = simulate(taut.gallery("heavy_top", precession=STEADY * (1 + apart)), "reduced", dt, 0.5)
    assert energy_lost(run) < 1e-7, f"{energy_lost(run):.3g} of the kinetic energy"


@pytest.mark.parametrize("tolerance", [None, 1e-9])
def test_a_heavy_top_past_a_pole_is_where_the_reference_is(tolerance, simulate):
    exact = simulate(taut.gallery("heavy_top"), "reference", 0.5, 0.5, tolerance=1e-11)
    run = simulate(taut.gallery("heavy_top"), "reduced", 0.001, 0.5, tolerance=tolerance)
    off = np.abs(run["top"].position.values[-1] - exact["top"].position.values[-1]).max()
    assert off < 1e-6, f"off by {off:.3g} m"
    assert any("'phi', 'psi' of scene.reduced came near a singular position at t = 0.37" in n for n in run.notes), (
        run.notes
    )


@pytest.mark.parametrize("turning", [1e-6, 1e-3, 0.1])
def test_a_bob_in_polar_coordinates_passes_poles_as_it_does_in_others(turning, simulate):
    exact = simulate(pendulum(turning), "reference", 0.5, 2.0, tolerance=1e-12)["bob"].position.values
    run = simulate(pendulum(turning), "reduced", 0.005, 2.0)
    off = np.abs(run["bob"].position.values[::100] - exact).max()
    assert off < 1e-6, f"off by {off:.3g} m"


def test_a_swing_through_the_pole_is_that_of_a_plane_pendulum(simulate):
    """No angle has to turn: longitude stays as it is, and latitude goes through 0."""
    run = simulate(pendulum(0.0), "reduced", 0.005, 2.0)
    angle = run["theta"].value.values
    assert angle.min() < -0.99 and energy_lost(run) < 1e-8, (angle.min(), energy_lost(run))
    assert not np.any(run["phi"].value.values), "longitude has changed"


@pytest.mark.parametrize("apart", [0.0, 1e-12, 1e-10])
@pytest.mark.parametrize("dt", [0.002, 0.0005])
def test_a_motion_through_the_pole_itself_is_right_or_ends_there_by_name(apart, dt):
    scene = taut.gallery("heavy_top", precession=STEADY * (1 + apart))
    run = taut.simulate(scene, method="reduced", dt=dt, duration=0.5, progress=False)
    assert energy_lost(run) < 1e-5, f"{run.status}: {energy_lost(run):.3g} of the kinetic energy"
    if run.status != "finished":
        assert abs(run.records.time[-1] - 0.373) < 0.005, run.message
        assert "'phi', 'psi' of scene.reduced can not describe the motion" in run.message, run.message
        assert "smaller dt" not in run.message, run.message


@pytest.mark.parametrize("tolerance", [None, 1e-8])
def test_a_coordinate_that_does_not_reach_on_is_named(tolerance):
    """x of a bob on a circle, which it leaves for the upper half."""
    scene = taut.Scene()
    scene.distance(scene.particle((0.5, -(0.75**0.5), 0), mass=1.0, name="bob"), (0, 0, 0))
    scene.reduced({"x": (0.5, 5.0)}, {"bob": ("x", "-sqrt(1 - x**2)", "0")})
    run = taut.simulate(scene, method="reduced", dt=0.01, duration=1.0, tolerance=tolerance, progress=False)
    assert run.status == "diverged", run.notes
    assert "coordinate 'x' of scene.reduced can not describe the motion" in run.message, run.message
    assert energy_lost(run) < 1e-5, f"{energy_lost(run):.3g} of the kinetic energy"


def test_far_from_singular_positions_no_step_is_taken_again(simulate, slope):
    exact = simulate(pendulum(2.0), "reference", 1.0, 1.0, tolerance=1e-12)["bob"].position.values[-1]
    steps = [1 / n for n in (40, 80, 160)]
    runs = [simulate(pendulum(2.0), "reduced", h, 1.0) for h in steps]
    errors = [np.abs(run["bob"].position.values[-1] - exact).max() for run in runs]
    assert [run.info["corrections"] for run in runs] == [40, 80, 160]
    assert abs(slope(steps, errors) - 4.0) < 0.2, f"order {slope(steps, errors):.3f}, errors {errors}"
