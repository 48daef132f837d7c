"""A curve's parameter without inertia of its own: the bead alone gives it any."""

import numpy as np
import pytest

import taut

RISE, RADIUS = 0.3, 1.0
DOWN = -9.81 * RISE / (RADIUS**2 + RISE**2)  # d²s/dt² on the helix


def parameter_error(run):
    """Of s, against its closed form, at any record [rad]."""
    slot = next(info.slot for info in run.labels.bodies if info.name == "s")
    return float(np.abs(run.records.x[:, slot, 0] - 0.5 * DOWN * run.records.time**2).max())


def test_the_bead_on_the_helix_falls_as_its_closed_form_says(simulate):
    error = parameter_error(simulate(taut.gallery("bead_on_curve"), "reference", 0.05, 5.0)) / abs(0.5 * DOWN * 25.0)
    assert error < 2e-8, f"off by {error:.2e} of the way"


@pytest.mark.parametrize("method", ["implicit_second", "rattle", "generalized_alpha"])
def test_it_converges_with_the_order_of_the_method(method, simulate, slope):
    steps = np.array([0.02, 0.01, 0.005])
    found = [parameter_error(simulate(taut.gallery("bead_on_curve"), method, h, 1.0)) for h in steps]
    assert abs(slope(steps, found) - 2) < 0.2, f"order {slope(steps, found):.3f}, errors {found}"


def test_a_bead_is_thrown_along_a_loop_whose_tangent_turns_within_a_step():
    """generalized_alpha moved s along the tangent of the start of the step, and ended in its first one."""
    found = []
    for method, dt in (("reference", 0.1), ("generalized_alpha", 0.005), ("generalized_alpha", 0.0025)):
        scene = taut.Scene(gravity=(1.0, -9.81, 0.5))
        s = scene.coordinate(0.2, inertia=0, rate=1.5, name="s")
        at, way = np.cos(0.2), np.array([-np.sin(0.2), 0.6 * np.cos(0.4), 1.5 * np.cos(0.2)])
        bead = scene.particle((at, 0.3 * np.sin(0.4), 1.5 * np.sin(0.2)), mass=1.0, velocity=1.5 * way)
        scene.on_curve(bead, s, curve=("cos(s)", "0.3*sin(2*s)", "1.5*sin(s)"))
        run = taut.simulate(scene, method, dt=dt, duration=0.5, progress=False)
        assert run.status == "finished", run.message
        found.append(run["s"].value.values[-1])
    first, second = (abs(s - found[0]) for s in found[1:])
    assert first < 2e-4 and 3.5 < first / second < 4.5, f"errors {first:.3g} and {second:.3g}"


def test_a_scene_file_carries_it(tmp_path):
    scene = taut.gallery("bead_on_curve")
    scene.save(tmp_path / "helix.yaml")
    assert taut.load(tmp_path / "helix.yaml").bodies["s"].mass == 0.0


@pytest.mark.parametrize("curve, words", [(None, "no on_curve"), (("s**2", "s**3", "0"), "singular at s = 0")])
def test_a_parameter_that_nothing_moves_is_named(curve, words):
    scene = taut.Scene()
    bead, s = scene.particle((0, 0, 0), name="bead"), scene.coordinate(0.0, inertia=0.0, name="s")
    if curve is not None:
        scene.on_curve(bead, s, curve=curve)
    with pytest.raises(taut.TautError, match=f"coordinate 's' has no inertia of its own.*{words}"):
        taut.build(scene)
