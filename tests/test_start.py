"""The start: equalities are met, mended by the least motion and told, or refused by name."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import taut
from taut.cli import main
from taut.errors import TautError, TautWarning


def arm(stretch: float = 0.25, lower: float = 1.0) -> taut.Scene:
    """Two rods of 1 m, the first of which starts too long by `stretch`; the tip is twice as heavy."""
    scene = taut.Scene(name="arm")
    anchor = scene.particle((0, 0, 0), fixed=True, name="anchor")
    bob = scene.particle((1 + stretch, 0, 0), mass=1.0, name="bob")
    tip = scene.particle((1 + stretch, -1, 0), mass=2.0, name="tip")
    scene.distance(anchor, bob, length=1.0, name="upper")
    scene.distance(bob, tip, length=lower, name="lower")
    return scene


def started(scene: taut.Scene, **options) -> tuple[taut.Run, list[str]]:
    """A run of one step, and what was told."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = taut.simulate(scene, dt=1e-3, duration=1e-3, progress=False, **options)
    return run, [str(one.message) for one in told if issubclass(one.category, TautWarning)]


def test_a_rod_that_starts_too_long_is_refused_by_name_and_amount():
    scene = taut.Scene()
    scene.distance(scene.particle((0, 0, 0), fixed=True), scene.particle((1.25, 0, 0)), length=1.0, name="rod")
    with pytest.raises(TautError, match=r"'rod' by 0\.25 m.*start='repair'.*--repair.*start='as_given'"):
        taut.simulate(scene, dt=0.01, duration=1.0, progress=False)


def test_a_small_error_is_projected_away_with_one_line_that_says_how_far():
    run, told = started(arm(stretch=5e-4))
    (line,) = told
    assert "'upper' by 0.0005 m" in line and "moved by up to 0.0005 m" in line, line
    assert run.notes == [line.rstrip(".")], run.notes
    worst = np.abs(run.records.phi[0]).max()
    assert worst < 1e-14, f"|Φ| of {worst:.1e} m is left"


@pytest.mark.parametrize("asked", [{"start": "repair"}, {"repair": True}])
def test_repair_makes_the_least_change_weighted_by_mass(asked):
    """At the least, M (q' - q) = J(q')ᵀ μ: each body is moved along the rods that act on it, and nowhere else."""
    scene = arm(stretch=0.3, lower=0.9)
    run, told = started(scene, **asked)
    x, model = run.records.x[0], run.model
    push = {info.name: info.mass * (x[info.slot] - model.x[info.slot]) for info in model.body_info}
    upper, lower = x[1] / np.linalg.norm(x[1]), (x[2] - x[1]) / np.linalg.norm(x[2] - x[1])
    left = push["tip"] - (push["tip"] @ lower) * lower
    carried = push["bob"] + push["tip"]
    left = max(np.linalg.norm(left), np.linalg.norm(carried - (carried @ upper) * upper))
    assert np.abs(run.records.phi[0]).max() < 1e-12 and left < 1e-9, f"{left:.1e} kg m across the rods"
    assert any("moved by up to" in line for line in told), told


def test_repair_turns_rigid_bodies_too():
    scene = taut.Scene()
    bar = scene.rigid((0.5, 0, 0), mass=2.0, inertia=(0.1, 0.3, 0.2), name="bar")
    scene.ball(bar.at((-0.5, 0.2, 0)), (0, 0, 0), name="pin")
    scene.on_plane(bar.at((0.5, 0, 0)), point=(0, 0.1, 0), normal=(0, 1, 0), name="rest")
    run, (line,) = started(scene, start="repair")
    assert np.abs(run.records.phi[0]).max() < 1e-12 and "turned by up to" in line, line


@pytest.mark.parametrize("asked", [{"start": "as_given"}, {"project_initial": False}])
def test_a_start_as_given_is_kept_and_noted(asked):
    scene = arm(stretch=0.25)
    run, told = started(scene, method="implicit_first", **asked)
    assert told == [] and run.records.phi[0, 0] == 0.25, (told, run.records.phi[0])
    assert any("'upper' by 0.25 m" in note and "as_given" in note for note in run.notes), run.notes


def test_what_no_place_satisfies_is_told():
    scene = taut.Scene()
    bob = scene.particle((1, 0.5, 0), name="bob")
    scene.distance((0, 0, 0), bob, length=1.0, name="left")
    scene.distance((5, 0, 0), bob, length=1.0, name="right")
    with pytest.raises(TautError, match="'right' by .*no place was found where all constraints hold"):
        started(scene, start="repair")


@pytest.mark.parametrize("asked", [{"start": "as_is"}, {"start": "as_given", "repair": True}])
def test_a_start_that_taut_does_not_know_or_that_contradicts_itself_is_refused(asked):
    with pytest.raises(TautError, match="start"):
        started(arm(0.0), **asked)


def test_the_command_line_repairs_or_keeps_a_start_and_warns_once(tmp_path, capsys):
    path = str(tmp_path / "arm.yaml")
    arm().save(path)
    short = ["--dt", "1e-3", "--duration", "1e-3", "--method", "implicit_first"]
    assert main(["run", path, *short]) == 2
    assert "'upper' by 0.25 m" in capsys.readouterr().err
    for asked in (["--repair"], ["--start", "repair"]):
        assert main(["run", path, *short, *asked]) == 0
        error = capsys.readouterr().err
        assert error.count("moved by up to") == 1, error
    assert main(["run", path, *short, "--start", "as_given"]) == 0


def test_warnings_point_at_the_line_that_called_taut():
    scene = arm(stretch=5e-4)
    with pytest.warns(TautWarning) as told:
        taut.simulate(scene, dt=1e-3, duration=1e-3, progress=False)
    assert told[0].filename == __file__, told[0].filename


# Mechanisms that can not be assembled


def crooked_door() -> taut.Scene:
    """Its hinges do not stand in one line: 0.1 m apart."""
    scene = taut.Scene()
    door = scene.rigid((0.5, 0, 0), shape={"box": (1, 2, 0.1)}, mass=1, name="door")
    scene.hinge(door.at((-0.5, 0.8, 0)), (0, 0.8, 0), axis=(0, 1, 0), name="upper")
    scene.hinge(door.at((-0.5, -0.8, 0)), (0.1, -0.8, 0), axis=(0, 1, 0), name="lower")
    return scene


def bars(far: float, planar: bool) -> taut.Scene:
    """Three bars of 1 m whose ends stand `far` apart on the ground, which they reach up to 3 m."""
    scene = taut.Scene()
    ends = [(0, 0), (0, 1), (1, 1), (1, 0)]
    before = None
    for k, (start, end) in enumerate(zip(ends, ends[1:])):
        middle = (np.array(start) + end) / 2
        arm = np.append((np.array(end) - start) / 2, 0.0)
        bar = scene.rigid((*middle, 0), mass=1, name=f"bar{k}", planar=planar,
                          inertia=0.1 if planar else (0.1, 0.1, 0.1))  # fmt: skip
        scene.hinge(bar.at(-arm), (0, 0, 0) if before is None else before, axis=(0, 0, 1), name=f"pin{k}")
        before = bar.at(arm)
    scene.hinge(before, (far, 0, 0), axis=(0, 0, 1), name="ground")
    return scene


@pytest.mark.parametrize("start", [None, "repair"])
@pytest.mark.parametrize("scene", [crooked_door(), bars(5.0, True), bars(5.0, False)])
def test_a_mechanism_that_can_not_be_assembled_says_which_joints_disagree_by_how_much(scene, start):
    with pytest.raises(taut.TautError) as told:
        taut.simulate(scene, "rattle", 0.01, 0.1, start=start, progress=False)
    text = str(told.value)
    assert re.search(r"'(upper|lower|pin\d|ground)\[\d\]' by -?\d[\d.e-]* (m|rad)", text), text
    assert start is None or "can not be assembled" in text or "no place was found" in text, text


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
@pytest.mark.parametrize("planar", [True, False])
def test_a_mechanism_far_from_its_place_is_assembled_where_it_can_be(planar):
    run = taut.simulate(bars(2.5, planar), "rattle", 0.01, 0.1, start="repair", progress=False)
    worst = np.abs(run.records.phi[0]).max()
    assert run.status == "finished" and worst < 1e-9, f"Φ = {worst:.3g} at the start"
