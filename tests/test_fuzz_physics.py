"""A few hundred random trees of fuzzing/physics.py and mechanisms of fuzzing/mechanisms.py: each run is right, or has
said that it is not; and what constraints and forces are said to do to a body is what moves it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from fuzzing import mechanisms, physics
from scipy.spatial.transform import Rotation

import taut

SEEDS = range(200)


@pytest.mark.parametrize("cases", [physics, mechanisms], ids=["trees", "mechanisms"])
@pytest.mark.parametrize("method", physics.METHOD_NAMES)
def test_a_finished_run_agrees_with_the_reference(method, cases):
    seeds = [seed for seed in SEEDS if cases.random_case(seed).method == method]
    faults = {seed: fault for seed in seeds if (fault := physics.judged(seed, cases.random_case)[1])}
    assert seeds and not faults, "\n".join(f"seed {seed}: {fault}" for seed, fault in faults.items())


def rate_of_spin(found, body) -> np.ndarray:
    """d(I ω)/dt = I α + ω × I ω, (records, 3) in the world's axes."""
    axes = Rotation.from_quat(found.orientation.values, scalar_first=True)
    own = axes.inv().apply(found.angular_acceleration.values) @ np.asarray(body.inertia)
    return axes.apply(own) + np.cross(found.angular_velocity.values, found.angular_momentum.values)


@pytest.mark.parametrize("method", ["reference", "rattle"])
def test_forces_and_torques_by_name_add_up_to_what_moves_each_body(method):
    """m a and d(I ω)/dt of every body, at every record but those next to an event, in which velocities jump."""
    judged = 0
    for seed in range(30):
        scene = mechanisms.random_case(seed).scene
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = taut.simulate(scene, method=method, dt=0.002, duration=0.1, progress=False)
        apart = np.abs(run.data.time.values[:, None] - run.events.time.values).min(axis=1, initial=1.0) > 0.0021
        for name, body in scene.bodies.items():
            force, torque = np.zeros((2, len(apart), 3))
            for of in (run[each] for each in [*scene.constraints, *scene.forces]):
                force += of.force.sel(body=name).values if name in of.force.body else 0.0
                torque += of.torque.sel(body=name).values if name in of.torque.body else 0.0
            moved = body.mass * (run[name].acceleration.values - scene.gravity)
            turned = rate_of_spin(run[name], body)
            used = slice(2) if body.planar else slice(3)
            across = slice(2, 3) if body.planar else slice(3)
            for found, given, axes in ((moved, force, used), (turned, torque, across)):
                error, scale = np.abs(found - given)[apart][:, axes].max(initial=0.0), max(1.0, np.abs(given).max())
                assert error < 1e-7 * scale, f"seed {seed}, '{name}': off by {error:.3g} of {scale:.3g} N or N m"
            judged += 1
    assert judged > 50
