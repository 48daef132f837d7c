"""Limits of joints, and ropes on rigid bodies, under every method that takes inequalities."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np
import pytest

import taut
from taut.contact.algorithms import CONTACT_METHODS, STEP_METHODS
from taut.methods import METHODS

G, LIMIT = 9.81, 0.3
FORMS = {name: (name, {}) for name in CONTACT_METHODS} | {
    f"{name} in steps": (name, {"contacts": "steps"}) for name in STEP_METHODS
}
EVENTS = [name for name, form in CONTACT_METHODS.items() if form.algorithm == "event_driven" and name != "reference"]
SHAPE = {"box": (1, 0.1, 0.2)}


def pendulum() -> taut.Scene:
    """A rod of 1 m and 2 kg that falls from the horizontal onto the limit of its hinge."""
    scene = taut.Scene(name="pendulum")
    rod = scene.rigid((0.5, 0, 0), shape=SHAPE, mass=2.0, name="rod")
    pin = scene.hinge(rod.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.joint_limit(pin, lower=-LIMIT, upper=1.0, name="stop")
    scene.reduced({"q": 0.0}, {rod: ("0.5*cos(q)", "0.5*sin(q)", "0")}, turns={rod: [((0, 0, 1), "q")]})
    return scene


def arm() -> taut.Scene:
    """Two rods on hinges that are not parallel; the second runs into its limit, and leaves it again."""
    scene = taut.Scene(name="arm")
    upper = scene.rigid((0.5, 0, 0), shape=SHAPE, mass=1.0, name="upper")
    lower = scene.rigid((1.5, 0, 0), shape=SHAPE, mass=1.0, name="lower")
    scene.hinge(upper.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="shoulder")
    elbow = scene.hinge(lower.at((-0.5, 0, 0)), upper.at((0.5, 0, 0)), axis=(0, 0.1, 1), name="elbow")
    scene.joint_limit(elbow, lower=-LIMIT, upper=LIMIT, name="stop")
    return scene


def tethered() -> taut.Scene:
    """A free box whose corner a string catches: no equality acts on it."""
    scene = taut.Scene(name="tethered")
    box = scene.rigid((0.6, 0.2, 0), shape={"box": (0.4, 0.2, 0.1)}, mass=1.0, angular_velocity=(1, 2, 0), name="box")
    scene.max_distance((0, 0, 0), box.at((0.2, 0.1, 0.05)), length=1.0, name="string")
    return scene


@pytest.mark.parametrize("form", FORMS)
def test_a_pendulum_comes_to_rest_on_its_limit_with_the_torque_and_impulse_of_its_closed_form(form, simulate):
    method, options = FORMS[form]
    dt = 0.002
    run = simulate(pendulum(), method, dt, 0.6, **options)
    inertia, torque = 2.0 * (1 + 0.01) / 12 + 0.5, 2.0 * G * 0.5  # about the pin [kg m²], of gravity [N m]
    tolerance = 1e-6 if METHODS[method].order > 1 and not options else 0.02
    assert float(run["pin"].angle[-1]) == pytest.approx(-LIMIT, abs=1e-7)
    assert float(run["stop"].multiplier[-1, 0]) == pytest.approx(torque * cos(LIMIT), rel=1e-4)
    impulse = run.events[run.events.kind == "impact"].impulse.sum()
    exact = sqrt(2 * inertia * torque * sin(LIMIT))
    assert impulse == pytest.approx(exact, rel=max(tolerance, 10 * dt**2)), f"{impulse:.6f} for {exact:.6f} N m s"
    lost = float(run.data.energy_impact[-1])
    assert lost == pytest.approx(torque * sin(LIMIT), rel=max(2 * tolerance, 20 * dt**2))


@pytest.mark.parametrize("make", [arm, tethered])
@pytest.mark.parametrize("method", [name for name in EVENTS if name != "reduced"])
def test_bodies_go_on_after_events_with_the_order_of_the_method(method, make, simulate):
    truth = simulate(make(), "reference", 0.05, 0.8)
    runs = [simulate(make(), method, h, 0.8) for h in (0.005, 0.00125)]
    errors = [float(np.abs(run.data.position[-1] - truth.data.position[-1]).max()) for run in runs]
    assert len(truth.events) >= 1 and len(runs[1].events) == len(truth.events)
    order = np.log(errors[0] / errors[1]) / np.log(4)
    assert order > CONTACT_METHODS[method].order - 0.35 or errors[1] < 1e-9, f"order {order:.2f}, errors {errors} m"
    drift = float(np.abs(runs[1].data.energy_drift).max() / runs[1].data.energy_kinetic.max())
    assert drift < (2e-3 if CONTACT_METHODS[method].order > 1 else 0.3), f"{drift:.2%} of the energy, beside impacts"


def test_without_a_method_limits_of_joints_are_located_and_contacts_are_not():
    with_limit, with_string = pendulum(), tethered()
    assert taut.simulate(with_limit, dt=0.01, duration=0.1).info["algorithm"] == "event_driven"
    assert taut.simulate(with_string, dt=0.01, duration=0.1).info["algorithm"] == "time_stepping"
