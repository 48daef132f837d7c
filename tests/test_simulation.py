"""A scene stepped by hand does what simulate() does, and what is applied to it does what forces do."""

from __future__ import annotations

import numpy as np
import pytest

import taut


@pytest.mark.parametrize("name, method", [("two_link", "implicit_first"), ("bouncing_ball", "implicit_first")])
def test_steps_by_hand_are_those_of_simulate_to_the_bit(name, method, simulate):
    run = simulate(taut.gallery(name), method, 0.01, 0.4)
    for sizes in ([40], [1] * 40, [7, 33]):
        sim = taut.Simulation(taut.gallery(name), method=method, dt=0.01)
        for n in sizes:
            sim.step(n)
        record = sim.state.record.as_dict()
        whole = run.records.as_dict()
        different = [key for key, values in whole.items() if values[-1:].tobytes() != record[key].tobytes()]
        assert not different, f"{sizes}: {different}"
        assert sim.time == pytest.approx(0.4)


@pytest.mark.parametrize("name", ["two_link", "bouncing_ball"])
def test_a_restored_state_goes_on_to_the_bit(name):
    sim = taut.Simulation(taut.gallery(name), method="implicit_first", dt=0.01)
    sim.step(30)
    saved = sim.save_state()
    first = sim.step(30).record.x.copy()
    sim.restore_state(saved)
    assert sim.time == pytest.approx(0.3)
    again = sim.step(30).record.x
    assert first.tobytes() == again.tobytes()


def test_an_applied_force_accelerates_by_force_over_mass_and_leaves_the_potential_energy_alone():
    scene = taut.Scene(gravity=(0, 0, 0))
    ball = scene.particle((1, 2, 3), mass=2.0, name="ball")
    sim = taut.Simulation(scene, method="implicit_first", dt=0.01)
    sim.apply(ball, force=(4, 0, 0))
    state = sim.step(100)
    assert state.velocity["ball"] == pytest.approx([2.0, 0, 0])
    assert state.record.energy[0] == pytest.approx([4.0, 0, 0, 0, 0, 0], abs=1e-12)
    sim.apply("ball")
    assert sim.step(100).velocity["ball"] == pytest.approx([2.0, 0, 0]), "released, it goes on as it was"


def test_a_torque_is_in_the_axes_of_the_world():
    scene = taut.Scene(gravity=(0, 0, 0))
    scene.rigid((0, 0, 0), mass=1.0, inertia=(2, 2, 3), orientation=((0, 0, 1), np.pi / 2), name="body")
    sim = taut.Simulation(scene, method="implicit_first", dt=0.001)
    sim.apply("body", torque=(3, 0, 0))  # the x of the world is the -y of the body, with the moment 2
    sim.step(100)
    spin = sim.state.record.v[0, 1]
    assert spin == pytest.approx([0, -0.15, 0], abs=1e-9), spin


@pytest.mark.parametrize(
    "act, words",
    [
        (lambda sim: sim.apply("bob", force=(1, 0, 0)), "middle"),
        (lambda sim: sim.apply("anchor", force=(1, 0, 0)), "fixed"),
        (lambda sim: sim.apply("tip", torque=(1, 0, 0)), "does not turn"),
        (lambda sim: sim.apply("tip", force=(1, 0)), "force"),
        (lambda sim: sim.step(-1), "whole number"),
        (lambda sim: taut.Simulation(sim.scene, method="implicit"), "implicit_first"),
        (lambda sim: taut.Simulation(sim.scene, dt=0.0), "dt"),
    ],
)
def test_mistakes_are_one_message(act, words):
    sim = taut.Simulation(taut.gallery("two_link"), method="implicit_first", dt=0.01)
    with pytest.raises(taut.TautError, match=words):
        act(sim)


@pytest.mark.parametrize("dt, duration, told", [
    (0.3, 1.0, True), (0.01, 0.1, False), (0.1, 0.3, False), (0.5, 0.2, True),
])  # fmt: skip
def test_a_duration_that_is_no_multiple_of_dt_is_told(dt, duration, told):
    run = taut.simulate(taut.gallery("pendulum"), method="rattle", dt=dt, duration=duration, progress=False)
    notes = [text for text in run.notes if "no multiple of dt" in text]
    assert len(notes) == told, run.notes
    assert not told or f"ends at t = {float(run.data.time[-1]):.9g} s" in notes[0], notes


def test_what_is_no_saved_state_is_refused():
    sim = taut.Simulation(taut.gallery("pendulum"), method="rattle", dt=0.01)
    with pytest.raises(taut.TautError, match="is no saved state; give what save_state"):
        sim.restore_state({"step": 3})
