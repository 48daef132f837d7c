"""Forces that jump at the ends of steps: `generalized_alpha` keeps its order across samples, switches and pushes."""

from __future__ import annotations

import numpy as np
import pytest

import taut

ALPHA = "generalized_alpha"


def arm(rate: float | None = None, stiffness: float = 0.0, torque: dict | None = None) -> taut.Scene:
    """Two rods on hinges: a sampled controller turns the first, or a torque that is switched; a spring at the elbow."""
    scene = taut.Scene()
    bodies = [scene.rigid((k + 0.5, 0, 0), mass=1.0 - 0.5 * k, inertia=(0.01, 0.1, 0.1)) for k in range(2)]
    pin = scene.hinge(bodies[0].at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    elbow = scene.hinge(bodies[1].at((-0.5, 0, 0)), bodies[0].at((0.5, 0, 0)), axis=(0, 0, 1), name="elbow")
    if stiffness:
        scene.spring_on(elbow, stiffness=stiffness, damping=50.0)
    if rate is not None:
        scene.controller(pin, function=lambda t, q, speed: 40.0 * (0.5 - q) - 4.0 * speed, rate=rate)
    if torque is not None:
        scene.motor(pin, torque=20.0, **torque)
    return scene


def errors_of(scene: taut.Scene, counts: tuple[int, ...], simulate) -> dict[str, list[float]]:
    """Of q, v, the work of forces and λ after 1 s, against `reference` with samples at the same times."""
    exact = simulate(scene, "reference", 0.01, 1.0, tolerance=1e-10).records
    runs = [simulate(scene, ALPHA, 1.0 / n, 1.0, record_every=n).records for n in counts]
    return {what: [float(np.abs(getattr(run, what)[-1] - getattr(exact, what)[-1])[slice(*part)].max()) for run in runs]
            for what, part in (("x", (0, 4)), ("v", (0, 4)), ("energy", (2, 4)), ("lam", (0, None)))}  # fmt: skip


@pytest.mark.parametrize("rate", [20.0, 100.0])
def test_the_order_is_two_with_a_sampled_controller_whose_samples_are_ends_of_steps(rate, simulate, slope):
    counts = (100, 200, 400)
    for what, errors in errors_of(arm(rate), counts, simulate).items():
        fitted = slope([1 / n for n in counts], errors)
        assert abs(fitted - 2.0) < 0.2, f"{what}: order {fitted:.3f}, errors {errors}"


def test_the_order_is_two_with_a_torque_that_is_switched_at_ends_of_steps(simulate, slope):
    counts = (100, 200, 400)
    for what, errors in errors_of(arm(torque={"from_": 0.2, "until": 0.6}), counts, simulate).items():
        fitted = slope([1 / n for n in counts], errors)
        assert abs(fitted - 2.0) < 0.25, f"{what}: order {fitted:.3f}, errors {errors}"


def test_the_order_is_two_with_a_string_that_is_cut_and_tied_at_ends_of_steps(simulate, slope):
    scene = taut.Scene()
    ends = [scene.particle((1.0, 0, 0), mass=1.0, name="a"), scene.particle((1.6, 0.3, 0), mass=0.5, name="b")]
    scene.distance(ends[0], (0, 0, 0))
    scene.distance(*ends, from_=0.2, until=0.6, ease=0.2)
    counts = (100, 200, 400)
    exact = simulate(scene, "reference", 0.01, 1.0, tolerance=1e-10).records
    runs = [simulate(scene, ALPHA, 1.0 / n, 1.0, record_every=n).records for n in counts]
    for what in ("x", "v"):
        errors = [np.abs(getattr(run, what)[-1, :2] - getattr(exact, what)[-1, :2]).max() for run in runs]
        fitted = slope([1 / n for n in counts], errors)
        assert fitted > 1.75, f"{what}: order {fitted:.3f}, errors {errors}"


def test_a_joint_far_too_stiff_for_the_step_is_not_shaken_by_samples(simulate):
    """The rods are as one, and the elbow's spring takes what holds the second of them."""
    exact = simulate(arm(20.0, stiffness=1e6), "radau", 0.01, 1.0, tolerance=1e-8)
    run = simulate(arm(20.0, stiffness=1e6), ALPHA, 0.01, 1.0)
    off = np.abs(run["elbow"].angle.values - exact["elbow"].angle.values)
    assert off.max() < 1e-5, f"the elbow is off by up to {off.max():.3g} rad"
    apart = np.abs(run["pin"].angle.values - exact["pin"].angle.values).max()
    assert apart < 1e-3, f"the pin is off by {apart:.3g} rad"


def test_a_push_between_steps_acts_from_its_step_on_to_second_order(slope):
    """A ball on a spring, pushed by `apply` from 0.3 s on: the closed form."""
    t, k, push = 1.0, 30.0, 5.0
    errors, counts = [], (100, 200, 400)
    for n in counts:
        scene = taut.Scene(gravity=(0, 0, 0))
        scene.spring(scene.particle((1.0, 0, 0), name="ball"), (0, 0, 0), stiffness=k, length=1.0)
        sim = taut.Simulation(scene, method=ALPHA, dt=t / n)
        sim.step(3 * n // 10)
        sim.apply("ball", force=(push, 0, 0))
        now = sim.step(n - 3 * n // 10)
        away = push / k * (1.0 - np.cos(np.sqrt(k) * 0.7 * t))
        errors.append(abs(now.position["ball"][0] - 1.0 - away))
    fitted = slope([1 / n for n in counts], errors)
    assert abs(fitted - 2.0) < 0.2, f"order {fitted:.3f}, errors {errors}"


def test_a_restored_simulation_with_samples_and_pushes_gives_the_same_bits():
    sim = taut.Simulation(arm(20.0, stiffness=100.0), method=ALPHA, dt=0.01)
    sim.step(7)
    sim.apply("rigid_0", force=(0, 3, 0))
    sim.step(5)
    saved = sim.save_state()
    first = sim.step(20).record.x
    sim.restore_state(saved)
    assert np.array_equal(sim.step(20).record.x, first)
