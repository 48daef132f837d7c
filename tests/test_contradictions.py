"""Constraints and drivers that can not all hold: refused at the start, or the end of the run, by name."""

from __future__ import annotations

import pytest

import taut
from taut.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")


def arm() -> tuple[taut.Scene, taut.Body]:
    scene = taut.Scene()
    bar = scene.rigid((0.5, 0, 0), mass=1.0, inertia=(0.01, 0.1, 0.1), name="arm")
    scene.hinge(bar.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="h")
    return scene, bar


def two_drivers(one: str, two: str) -> taut.Scene:
    scene, _ = arm()
    scene.drive("h", angle=one, name="one")
    scene.drive("h", angle=two, name="two")
    return scene


def driven_against_a_rod(angle: str) -> taut.Scene:
    scene, bar = arm()
    scene.drive("h", angle=angle, name="one")
    scene.distance(bar.at((0.5, 0, 0)), (1, -1, 0), name="rod")
    return scene


def beyond_reach() -> taut.Scene:
    """A crank of 0.5 m that is driven past where its rod of 0.3 m ends, at sin 3t = 0.6: t = 0.2145 s."""
    scene = taut.Scene()
    crank = scene.rigid((0.25, 0, 0), mass=1.0, inertia=0.1, planar=True)
    rod = scene.rigid((0.65, 0, 0), mass=1.0, inertia=0.1, planar=True)
    block = scene.rigid((0.8, 0, 0), mass=1.0, inertia=0.1, planar=True)
    scene.hinge(crank.at((-0.25, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.hinge(rod.at((-0.15, 0, 0)), crank.at((0.25, 0, 0)), axis=(0, 0, 1), name="knee")
    scene.hinge(rod.at((0.15, 0, 0)), block, axis=(0, 0, 1), name="wrist")
    scene.slider(block, (0, 0, 0), axis=(1, 0, 0), name="guide")
    scene.drive("pin", angle="3*t", name="crank")
    return scene


def run_of(scene: taut.Scene, method: str, dt: float, duration: float) -> taut.Run:
    return taut.simulate(scene, method=method, dt=dt, duration=duration, progress=False)


@pytest.mark.parametrize("scene, level, names", [
    (two_drivers("t", "2*t"), "velocities", ("'one'", "'two'")),
    (two_drivers("t", "t + t**2"), "accelerations", ("'one'", "'two'")),
    (driven_against_a_rod("sin(t)"), "velocities", ("'one'", "'rod'")),
    (driven_against_a_rod("t**2"), "accelerations", ("'one'", "'rod'")),
])  # fmt: skip
def test_drivers_that_contradict_each_other_at_the_start_are_refused(scene, level, names, tmp_path, capsys):
    with pytest.raises(taut.TautError, match=f"the {level} that constraints .* contradict each other") as told:
        run_of(scene, "rattle", 0.01, 0.02)
    assert all(name in str(told.value) for name in names), told.value
    scene.save(tmp_path / "scene.yaml")
    code = main(["doctor", str(tmp_path / "scene.yaml")])
    said = capsys.readouterr().out
    assert code == 1 and "conflict" in said and "motion is right" not in said, said


def test_drivers_that_agree_are_redundant():
    run = run_of(two_drivers("t", "t"), "rattle", 0.01, 0.1)
    assert run.status == "finished" and any("redundant" in note for note in run.notes), run


@pytest.mark.parametrize("method", ["rattle", "implicit_second", "baumgarte", "reference", "radau"])
@pytest.mark.parametrize("scene, names, earliest, latest", [
    (two_drivers("t", "t + t**3"), ("'one'", "'two'"), 0.0, 0.03),
    (two_drivers("t", "t + 0.5*(t - 0.06 + abs(t - 0.06))"), ("'one'", "'two'"), 0.05, 0.08),
    (driven_against_a_rod("t**3"), ("'one'", "'rod'"), 0.0, 0.03),
])  # fmt: skip
def test_a_run_whose_drivers_come_to_contradict_each_other_has_diverged(method, scene, names, earliest, latest):
    run = run_of(scene, method, 0.01, 0.1)
    assert run.status == "diverged", f"{run.status}: constraints off by {abs(run.records.phi).max():.2g}"
    assert "contradict each other" in run.message and all(name in run.message for name in names), run.message
    at = 0.01 * run.info["diverged_step"]
    assert earliest <= at <= latest, f"t = {at:g} s: {run.message}"


@pytest.mark.parametrize("method", ["reference", "radau", "rattle"])
def test_a_driver_beyond_the_reach_of_its_linkage_ends_the_run_there(method):
    """Steps with error control become ever smaller there, and creep."""
    run = run_of(beyond_reach(), method, 0.005, 0.25)
    assert run.status == "diverged" and run.info["diverged_step"] == 43, run.message
    assert "'crank'" in run.message and "contradict each other" in run.message, run.message


@pytest.mark.parametrize("method", ["rattle", "reference", "baumgarte"])
def test_a_formula_that_stops_being_a_number_is_named(method):
    def scene_with(**parts):
        scene, bar = arm()
        if "force" in parts:
            scene.force(bar, value=("0", parts["force"], "0"), name="push")
        if "custom" in parts:
            scene.custom_force(bar, formula=("0", parts["custom"], "0"), name="own")
        if "driver" in parts:
            scene.drive("h", angle=parts["driver"], name="motor")
        return scene

    for what, text, owner in (("force", "sqrt(0.025 - t)", "push"), ("custom", "sqrt(0.025 - t) + 0*arm.x", "own"),
                              ("driver", "(0.025 - t)**2.5", "motor")):  # fmt: skip
        run = run_of(scene_with(**{what: text}), method, 0.01, 0.1)
        assert run.status == "diverged", f"{what}: {run.status}"
        assert f"'{owner}'" in run.message and "not a number" in run.message, run.message
        assert text in run.message and "smaller dt" not in run.message and "residuals" not in run.message, run.message
