"""Laws of comparisons: what the papers' methods do to each other, what a reference may judge, what errors are."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from words_compare import compared, rows

import taut
from taut.analysis.compare.fields import FIELDS
from taut.analysis.metrics import horizon, multiplier_error, scene_size, trajectory_error
from taut.methods import METHODS
from taut.result.labels import Labels


@pytest.fixture(scope="module")
def papers():
    """The methods of the papers on their two links."""
    methods = ["implicit_first", "implicit_improved", "implicit_second", "post_stabilization"]
    return compared(methods=methods, duration=20.0)


# What the papers say


def test_the_improved_scheme_halves_the_drift_of_first_order(papers):
    drift = papers.data.drift_accumulated.sel(dt=0.01)
    ratio = float(drift.loc["implicit_first"] / drift.loc["implicit_improved"])
    assert 1.9 <= ratio <= 2.1, f"ratio {ratio:.4f}"


def test_second_order_drifts_a_hundred_times_less_than_first(papers):
    drift = papers.data.drift_accumulated.sel(dt=0.01)
    ratio = float(drift.loc["implicit_first"] / drift.loc["implicit_second"])
    assert ratio >= 100, f"ratio {ratio:.1f}"


def test_post_stabilization_keeps_the_lengths_but_not_the_motion(papers):
    post, first = (rows(papers)[name, 0.01] for name in ("post_stabilization", "implicit_first"))
    assert post["drift_accumulated"] < 1e-3, f"drift {post['drift_accumulated']:.3g} m"
    ratio = post["trajectory_error_max"] / first["trajectory_error_max"]
    assert ratio >= 3, f"its error is {ratio:.2f} times that of implicit_first"
    assert post["horizon"] < 20.0 and np.isinf(first["horizon"]), (post["horizon"], first["horizon"])


def test_cost_counts_the_linear_systems_of_steps_alone(papers):
    solves = {row["method"]: row["solves_per_step"] for row in papers.table}
    assert solves == {"implicit_first": 1, "implicit_improved": 1, "implicit_second": 2, "post_stabilization": 2}


# What the reference may judge


def test_the_reference_is_in_reduced_coordinates_where_the_scene_has_them(papers):
    assert papers.reference.method == "reduced"
    assert compared("ten_link_sawtooth", methods=["implicit_first"], duration=0.05).reference.method == "reference"


def test_the_reference_tells_an_error_of_its_own_and_what_it_can_not_judge_is_not_resolved():
    found = compared("pendulum", methods=["reference", "implicit_first"])
    own = found.reference_errors[0.01]["trajectory_error_max"]
    assert 0 < own < 1e-10, f"own error {own:.3g} m"
    doubtful, certain = rows(found)["reference", 0.01], rows(found)["implicit_first", 0.01]
    assert "trajectory_error_max" in doubtful["not_resolved"], doubtful
    assert certain["not_resolved"] == [] and certain["trajectory_error_max"] > 100 * own, certain
    assert not found.data.trajectory_error_max_resolved.loc["reference", 0.01]
    assert any("not resolved" in note for note in found.notes)


def test_two_references_agree_within_a_hundredth_of_what_they_judge(papers):
    other = compared(methods=["implicit_second"], duration=20.0, reference="reference")
    one, two = rows(papers)["implicit_second", 0.01], rows(other)["implicit_second", 0.01]
    for name in ("trajectory_error_max", "trajectory_error_end", "multiplier_error_rms"):
        apart = abs(one[name] - two[name]) / one[name]
        assert apart < 1e-2, f"{name}: {one[name]:.6g} and {two[name]:.6g}"


def test_a_method_of_fixed_step_can_be_the_reference():
    found = compared(methods=["implicit_first"], reference="rattle_fourth")
    assert found.reference_errors[0.01]["trajectory_error_max"] < 1e-8
    assert rows(found)["implicit_first", 0.01]["not_resolved"] == []


@pytest.mark.parametrize("reference", ["none", "impossible"])
def test_without_a_reference_its_columns_are_absent_and_the_notes_say_so(reference, monkeypatch):
    if reference == "impossible":
        for name in ("reduced", "reference"):
            monkeypatch.setitem(METHODS, name, replace(METHODS[name], refuses=lambda model: "it is not smooth"))
    found = compared(methods=["implicit_first"], reference="auto" if reference == "impossible" else "none")
    judged = {field.name for field in FIELDS if field.judged}
    assert not judged & set(found.table[0]) and not judged & set(found.data), sorted(found.data)
    assert any("reference" in note and "not measured" in note for note in found.notes), found.notes
    assert "no reference" in found.__repr__()


# How errors are measured


def test_the_horizon_is_the_first_time_off_by_a_tenth_of_the_size():
    time, error = np.arange(5.0), np.array([0.0, 0.5, 1.01, 0.2, 3.0])
    assert horizon(time, error, limit=1.0, ended=True) == 2.0
    assert horizon(time, error, limit=10.0, ended=True) == np.inf
    assert horizon(time, error, limit=10.0, ended=False) == 4.0, "a run that diverged tracked at most to its end"


def test_the_size_is_the_diagonal_of_the_box_around_the_start_or_of_the_motion():
    labels = Labels.of(taut.build(taut.gallery("two_link")))
    start = np.array([[0.0, 0, 0], [3, 4, 0], [0, 0, 0]])
    assert scene_size(labels, start, start[None]) == 5.0
    still = np.zeros((3, 3))
    assert scene_size(labels, still, np.stack([still, start])) == 5.0


def test_the_error_of_motion_is_that_of_the_worst_body_and_a_turn_counts_by_its_radius():
    scene = taut.Scene()
    scene.rigid((0, 0, 0), mass=2.0, inertia=(8.0, 6.0, 4.0), name="top")
    scene.particle((1, 0, 0), name="dot")
    run = taut.simulate(scene, dt=0.1, duration=0.1, progress=False)
    records = run.records
    x = records.x.copy()
    x[1, next(body.slot for body in run.labels.bodies if body.name == "dot")] += (0.3, 0.4, 0.0)
    assert trajectory_error(run.labels, replace(records, x=x), records) == pytest.approx([0.0, 0.5])
    angle = 1e-9
    quat = records.quat.copy()
    quat[1, 0] = [np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0]
    turned, straight = replace(records, quat=quat), records.quat.copy()
    straight[:] = [1.0, 0, 0, 0]
    assert trajectory_error(run.labels, turned, replace(records, quat=straight))[1] == pytest.approx(2.0 * angle)


def test_the_error_of_multipliers_is_relative_to_the_largest_of_their_unit():
    run = taut.simulate(taut.gallery("angle_hold"), dt=0.01, duration=0.1, progress=False)  # lengths and an angle
    lam = np.ones_like(run.records.lam)
    rows_of = dict(zip(run.labels.row_names(), run.labels.rows()))
    lam[:, rows_of["bend"]] = 1000.0
    other = lam.copy()
    other[-1, rows_of["upper"]] += 0.5
    found = multiplier_error(run.labels, replace(run.records, lam=other), replace(run.records, lam=lam))
    assert found.max() == 0.5, f"largest {found.max()}"


# Cloth


BASELINES = ["implicit_first", "xpbd", "provot", "implicit_euler"]


@pytest.fixture(scope="module")
def cloths(tmp_path_factory):
    """A small sheet with a limit under all methods for cloth, and the folder of the comparison."""
    folder = tmp_path_factory.mktemp("cloth") / "out"
    found = taut.compare(taut.gallery("cloth_hang", n=6, hard=False), methods=BASELINES, dt=1 / 240, duration=0.5,
                         out=folder, processes=1)  # fmt: skip
    return found, folder


def test_elongations_of_a_comparison_are_those_of_its_runs(cloths):
    for (name, dt), run in cloths[0].runs.items():
        row = rows(cloths[0])[name, dt]
        assert row["elongation_max"] == run.data.elongation[1:].max() > 0.01, f"{name}: {row['elongation_max']}"
        assert row["elongation_mean"] == run.data.mean_elongation[1:].max(), f"{name}: {row['elongation_mean']}"
        per_frame = row["us_per_step"] * 4 / 1000
        assert row["ms_per_frame"] == pytest.approx(per_frame) and per_frame > 0, f"{name}: {row['ms_per_frame']}"


def test_the_system_is_counted_in_places_of_nodes_and_is_none_for_sweeps(cloths):
    sizes = {name: rows(cloths[0])[name, 1 / 240]["system_size"] for name in BASELINES}
    places = 3 * (36 - 2)
    assert sizes == {"implicit_first": places, "xpbd": 0, "provot": 0, "implicit_euler": places}, sizes
    held = rows(cloths[0])["implicit_first", 1 / 240]["held_rows"]
    limits = cloths[0].runs["implicit_first", 1 / 240].data.limited_edges[1:].mean().item()
    assert held == limits > 0, f"{held} held, {limits} limits"


def test_the_system_of_active_springs_is_told_over_time():
    scene = taut.Scene()
    scene.cloth(grid=(6, 6), density=0.5, stiffness=50, pins=[0, 5], limit_rule="paper", system="active")
    found = taut.compare(scene, methods=["implicit_first", "implicit_euler"], dt=1 / 120, duration=0.5, processes=1)
    run = found.runs["implicit_first", 1 / 120]
    sizes = found.data.system_size_over_time.sel({"method": "implicit_first", "dt": 1 / 120})
    active = run.data.limited_edges.sel(time=sizes.time, method="pad").values
    assert np.array_equal(sizes.values, active) and len(set(active.tolist())) > 3, f"{sizes.values}, active {active}"
    assert rows(found)["implicit_first", 1 / 120]["system_size"] == run.data.limited_edges[1:].mean() < 40
    assert (found.data.system_size_over_time.sel({"method": "implicit_euler"}) == 3 * 34).all(), "places of nodes"


def test_cloth_gets_no_reference_by_itself_and_the_report_draws_its_elongation(cloths):
    found, folder = cloths
    assert found.reference is None and any("cloth" in note for note in found.notes), found.notes
    page = (folder / "report.html").read_text()
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    packed = {run["method"]: run["elongation"] for run in json.loads(text)["runs"]}
    for name in BASELINES:
        drawn = np.frombuffer(base64.b64decode(packed[name]), "<f4")
        assert np.allclose(drawn, found.runs[name, 1 / 240].data.elongation, atol=1e-6), name
    assert (folder / "plots" / "elongation.png").exists()
    line = compared(methods=["implicit_first"])
    assert "elongation_max" not in line.table[0], "a scene without cloth has no elongation"


def test_springs_alone_are_provot_with_a_limit_out_of_reach():
    scene = taut.gallery("cloth_hang", n=6, hard=False)
    free = compared(scene, methods=["provot"], dt=1 / 240, duration=0.5, options={"provot": {"limit": 1e9}})
    held = compared(scene, methods=["provot"], dt=1 / 240, duration=0.5)
    longest = [one.table[0]["elongation_max"] for one in (free, held)]
    assert longest[0] > 0.15 > 0.11 > longest[1], longest


def test_a_note_of_one_run_names_its_method_and_step():
    """What each run says about itself is of no use without its name; what all say is about the scene."""
    result = taut.compare(taut.gallery("two_link"), methods=["rattle", "fast_projection"], dt=0.05, duration=5.0)
    told = [note for note in result.notes if "method's own error" in note]
    assert told and all(note.startswith("fast_projection at dt 0.05 s: energy changed") for note in told), result.notes
