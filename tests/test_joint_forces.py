"""Forces on the coordinates of joints: springs, motors, controllers and friction, against closed forms."""

from __future__ import annotations

import warnings
from math import atanh, exp, sqrt

import numpy as np
import pytest

import taut

EXACT = {"method": "reference", "tolerance": 1e-13}
INERTIA, MASS = 0.4, 2.0


def wheel(rate: float = 0.0, **given) -> tuple[taut.Scene, taut.Scene]:
    """A wheel between two bearings, askew in space."""
    scene = taut.Scene(gravity=(0, 0, 0))
    axis = np.array([1.0, 2.0, 2.0]) / 3
    disc = scene.rigid((0.3, 0, 0), mass=MASS, inertia=(0.2, 0.3, INERTIA), angular_velocity=rate * axis, name="disc",
                       orientation=_turning(axis))
    return scene, scene.hinge(disc, (0.3, 0, 0), axis=axis, name="pin", **given)


def _turning(axis):
    """The shortest turn of z to an axis, as (axis, angle)."""
    across = np.cross((0.0, 0.0, 1.0), axis)
    return across, float(np.arccos(axis[2]))


def cart(**given):
    """A cart on inclined rails, without gravity."""
    scene = taut.Scene(gravity=(0, 0, 0))
    body = scene.rigid((0, 0, 0), mass=MASS, inertia=(1, 1, 1), name="body")
    return scene, scene.slider(body, (0, 0, 0), axis=(3, 0, 4), name="rail", **given)


@pytest.mark.parametrize("make, start, inertia", [
    (wheel, {"angle": 0.3}, INERTIA), (cart, {"displacement": 0.3}, MASS),
])  # fmt: skip
@pytest.mark.parametrize("damping", [0.0, 0.25])
def test_a_spring_on_a_joint_swings_as_its_closed_form(make, start, inertia, damping, simulate):
    scene, joint = make(**start)
    scene.spring_on(joint, stiffness=2.5, damping=damping, rest=0.1)
    run = simulate(scene, dt=0.25, duration=5.0, **EXACT)
    decay = damping / (2 * inertia)
    frequency = sqrt(2.5 / inertia - decay**2)
    t = run.records.time
    swing = np.exp(-decay * t) * (np.cos(frequency * t) + decay / frequency * np.sin(frequency * t))
    found = getattr(run[joint.name], next(iter(start))).values
    error = np.abs(found - 0.1 - 0.2 * swing).max()
    assert error < 1e-10, f"off by {error:.3g}"
    assert abs(float(run.data.energy_potential[0]) - 0.5 * 2.5 * 0.04) < 1e-14
    drift = float(abs(run.data.energy_drift).max())
    assert drift < 1e-11, f"energy drifts by {drift:.3g} J"
    assert (float(run.data.energy_force_work[-1]) < -0.01) == (damping > 0), "dampers alone take energy"


@pytest.mark.parametrize("make, given, inertia", [(wheel, "torque", INERTIA), (cart, "force", MASS)])
def test_the_work_of_a_motor_is_what_the_joint_gains(make, given, inertia, simulate):
    """Q = 2 sin t: rate 2 (1 - cos t)/I, work I rate²/2."""
    scene, joint = make()
    scene.motor(joint, **{given: "2*sin(t)"})
    run = simulate(scene, dt=0.25, duration=5.0, **EXACT)
    rate = 2 * (1 - np.cos(run.records.time)) / inertia
    error = np.abs(run[joint.name].rate.values - rate).max()
    work = np.abs(run.data.energy_force_work.values - 0.5 * inertia * rate**2).max()
    assert error < 1e-10 and work < 1e-10, f"the rate is off by {error:.3g}, the work by {work:.3g} J"


def test_position_control_rests_where_its_stiffness_meets_the_load(simulate):
    """k (q_d - q) = load; the error of a limited one is what its limit can not carry."""
    scene, joint = wheel()
    scene.motor(joint, torque=-0.5)
    scene.motor(joint, target=0.7, stiffness=20.0, damping=4.0)
    run = simulate(scene, dt=1.0, duration=12.0, **EXACT)
    error = float(run["pin"].angle[-1]) - (0.7 - 0.5 / 20.0)
    assert abs(error) < 1e-9, f"the angle is off by {error:.3g} rad"
    assert abs(float(run["pin"].rate[-1])) < 1e-8


def test_position_control_follows_a_moving_target_with_its_rate(simulate):
    """From the target's own state it follows q_d = t exactly: there is no lag, since q̇_d is in the damping."""
    scene, joint = wheel(rate=1.0)
    scene.motor(joint, target="t", stiffness=20.0, damping=4.0)
    run = simulate(scene, dt=1.0, duration=8.0, **EXACT)
    error = np.abs(run["pin"].angle.values - run.records.time).max()
    assert error < 1e-10, f"lags by {error:.3g} rad"
    assert float(run["pin"].angle[-1]) > 2 * np.pi, "the angle is counted over turns"


def test_velocity_control_comes_up_exponentially_and_a_limit_makes_it_linear(simulate):
    scene, joint = wheel()
    scene.motor(joint, velocity=3.0, gain=0.8)
    run = simulate(scene, dt=0.25, duration=2.0, **EXACT)
    expected = 3 * (1 - np.exp(-0.8 / INERTIA * run.records.time))
    assert np.abs(run["pin"].rate.values - expected).max() < 1e-10
    scene, joint = wheel()
    scene.motor(joint, velocity=3.0, gain=1e3, limit=0.2)
    run = simulate(scene, dt=0.25, duration=2.0, **EXACT)
    assert np.abs(run["pin"].rate.values - 0.2 / INERTIA * run.records.time).max() < 1e-10


def test_dry_friction_stops_linearly_and_creeps_under_a_load_as_it_says(simulate):
    scene, joint = wheel(rate=2.0)
    scene.joint_friction(joint, torque=0.3, width=0.02)
    run = simulate(scene, dt=0.25, duration=2.0, **EXACT)
    expected = 2.0 - 0.3 / INERTIA * run.records.time
    assert np.abs(run["pin"].rate.values - expected).max() < 1e-9, "beyond its width friction is constant"
    assert float(run.data.energy_force_work[-1]) < -0.5
    assert float(abs(run.data.energy_drift).max()) < 1e-10
    scene, joint = wheel()
    scene.joint_friction(joint, torque=0.3, width=0.02)
    scene.motor(joint, torque=0.15)
    run = simulate(scene, dt=0.25, duration=2.0, **EXACT)
    creep = float(run["pin"].rate[-1])
    assert abs(creep - 0.02 * atanh(0.5)) < 1e-10, f"creeps at {creep:.5g} rad/s"


@pytest.mark.parametrize("method, dt, bound", [
    ("reference", 0.05, 1e-10), ("rattle", 0.01, 1e-10), ("lagrange", 0.02, 1e-8),
])  # fmt: skip
def test_a_controller_is_sampled_at_its_rate_and_held(method, dt, bound, simulate):
    """With Q constant in between, q and its rate obey an exact recursion from sample to sample."""
    asked = []

    def control(t, q, rate):
        asked.append((t, q, rate))
        return 2.0 * (1.0 - q) - 0.8 * rate

    scene, joint = wheel(angle=0.2)
    scene.controller(joint, function=control, rate=10)
    run = simulate(scene, method=method, dt=dt, duration=2.0)
    q, rate, expected = 0.2, 0.0, []
    for k in range(20):
        expected.append((k / 10, q, rate))
        push = (2.0 * (1.0 - q) - 0.8 * rate) / INERTIA
        q, rate = q + 0.1 * rate + 0.005 * push, rate + 0.1 * push
    assert len(asked) == 20, f"asked {len(asked)} times in 2 s at 10 Hz"
    error = np.abs(np.array(asked) - expected).max()
    assert error < bound, f"its samples are off by {error:.3g}"
    assert abs(float(run["pin"].angle[-1]) - q) < bound
    assert float(abs(run.data.energy_drift).max()) < bound


def missing(t, q, rate):
    return {}["gain"]


@pytest.mark.parametrize("answer, words", [
    (float("nan"), "returned nan"), (float("inf"), "returned inf"), ([1.0, 2.0], "returned [1.0, 2.0]"),
    ([1.0], "returned [1.0]"), ("5", "returned '5'"), (True, "returned True"),
    (None, "returned None"), (missing, "raised KeyError: 'gain' ("),
])  # fmt: skip
def test_a_controller_that_answers_nonsense_ends_the_call_and_is_named(answer, words):
    def confused(t, q, rate):
        if t < 0.45:
            return 0.0
        return answer(t, q, rate) if answer is missing else answer

    scene, joint = wheel()
    scene.controller(joint, function=confused, name="servo")
    with pytest.raises(taut.TautError) as told:
        taut.simulate(scene, method="rattle", dt=0.1, duration=1.0, progress=False)
    said = str(told.value)
    assert all(word in said for word in ("controller 'servo' of joint 'pin'", "t = 0.5 s", "'confused' (", words)), said
    assert "mend it there" in said or "return one finite number [N m]" in said
    sim = taut.Simulation(scene, method="rattle", dt=0.1)
    with pytest.raises(taut.TautError, match="servo"):
        sim.step(8)


@pytest.mark.parametrize("answer", [2, 0.5, np.float32(0.5), np.array(0.5), np.array([0.5])])
def test_a_controller_may_answer_with_any_real_number(answer, simulate):
    scene, joint = wheel()
    scene.controller(joint, function=lambda t, q, rate: answer)
    run = simulate(scene, method="rattle", dt=0.1, duration=0.2)
    expected = 0.2 * float(np.ravel(answer)[0]) / INERTIA
    assert run.status == "finished" and float(run["pin"].rate[-1]) == pytest.approx(expected)


def test_a_saved_state_holds_the_sample():
    scene, joint = wheel()
    scene.controller(joint, function=lambda t, q, rate: 1.0 - q, rate=2)
    sim = taut.Simulation(scene, method="rattle", dt=0.125)
    sim.step(5)
    saved = sim.save_state()
    first = sim.step(9).record.x.copy()
    sim.restore_state(saved)
    assert np.array_equal(sim.step(9).record.x, first), "a restored state must go on as before"


@pytest.mark.parametrize("verb, given, words", [
    ("motor", {}, "it has nothing to do"),
    ("motor", {"torque": 1, "force": 1}, "a torque and a force"),
    ("motor", {"force": 1}, "has no displacement"),
    ("motor", {"target": 1}, "no stiffness"),
    ("motor", {"velocity": 1}, "no gain"),
    ("motor", {"velocity": 1, "target": 1}, "give one of them"),
    ("motor", {"torque": 1, "gain": 1}, "a gain but no velocity"),
    ("motor", {"torque": 1, "limit": -1}, "limit is -1"),
    ("spring_on", {"stiffness": -1}, "stiffness is -1"),
    ("joint_friction", {}, "it has no size"),
    ("joint_friction", {"torque": 1, "width": 0}, "width is 0"),
    ("controller", {"function": exp, "rate": 0}, "rate is 0"),
    ("controller", {"function": 3}, "give a Python function"),
    ("spring_on", {"coordinate": "angle_2"}, "no coordinate 'angle_2'"),
])  # fmt: skip
def test_mistaken_forces_on_joints_are_refused(verb, given, words):
    scene, joint = wheel()
    with pytest.raises(taut.TautError) as told:
        getattr(scene, verb)(joint, **given)
    assert words in str(told.value) and f"{verb} '" in str(told.value), f"said: {told.value}"


def test_forces_on_joints_are_kept_in_scene_files(tmp_path):
    scene, joint = wheel()
    scene.spring_on(joint, stiffness=2, damping="0.1*t", rest=0.3)
    scene.motor("pin", target="sin(t)", stiffness=3, limit=2)
    scene.joint_friction(joint, torque=0.1)
    assert taut.load(scene.save(tmp_path / "wheel.yaml")) == scene
    with pytest.raises(taut.TautError, match="unknown joint 'pim'"):
        scene.motor("pim", torque=1)


@pytest.mark.parametrize(("often", "told"), [(50.0, False), (100.0, False), (333.0, True), (30.0, True)])
def test_a_rate_that_steps_can_not_follow_is_told(often, told):
    scene = taut.Scene()
    wheel = scene.rigid((0, 0, 0), mass=1.0, inertia=(1, 1, 1))
    pin = scene.hinge(wheel, (0, 0, 0), axis=(0, 0, 1))
    scene.controller(pin, function=lambda t, q, rate: 0.0, rate=often, name="sampled")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", taut.TautWarning)
        run = taut.simulate(scene, method="rattle", dt=0.01, duration=0.02, progress=False)
    assert any("of controller 'sampled' is" in text and "steps of dt" in text for text in run.notes) == told, run.notes


def test_a_controller_that_takes_other_arguments_is_refused_before_the_run():
    scene, joint = wheel()
    with pytest.raises(taut.TautError, match=r"its function takes \(t\).*called with three numbers: t \[s\]"):
        scene.controller(joint, function=lambda t: 1.0)


def test_a_torque_beside_a_target_is_added_to_its_control(simulate):
    """Feedforward: Q = T + k (q_d - q) - c q̇ rests where q = q_d + T/k."""
    scene, joint = wheel()
    scene.motor(joint, torque=1.0, target=1.0, stiffness=4.0, damping=2.0)
    run = simulate(scene, dt=0.5, duration=20.0, **EXACT)
    assert abs(float(run["pin"].angle[-1]) - 1.25) < 1e-6, float(run["pin"].angle[-1])


def test_a_screw_without_pitch_is_refused_and_a_limit_in_degrees_is_told():
    scene, joint = wheel()
    with pytest.warns(taut.TautWarning, match="its limit 90 rad is 14.3 turns; is it.*90° are 1.571 rad"):
        scene.joint_limit(joint, lower=-1.0, upper=90)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.joint_limit(joint, lower=-12.0, upper=12.0)
    rod = scene.rigid((1, 0, 0), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(taut.TautError, match="its pitch is 0 m.*or use a hinge"):
        scene.screw(rod, (1, 0, 0), axis=(1, 0, 0), pitch=0)
