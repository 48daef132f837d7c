"""Laws of comparisons: what the papers' methods do to each other, what a reference may judge, what is written."""

from __future__ import annotations

import base64
import csv
import json
import re
import sys
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest

import taut
from taut.cli import main
from taut.compare import jobs
from taut.compare.colors import LOOKS, look
from taut.compare.curves import lines
from taut.compare.fields import FIELDS
from taut.compare.measure import horizon, multiplier_error, scene_size, trajectory_error
from taut.compare.saving import MARK
from taut.jit import take_turns
from taut.methods import METHODS
from taut.result.labels import Labels


def compared(scene="two_link", **arguments):
    found = {"dt": 0.01, "duration": 1.0, "processes": 1, **arguments}
    return taut.compare(taut.gallery(scene) if isinstance(scene, str) else scene, **found)


@pytest.fixture(scope="module")
def papers():
    """The methods of the papers on their two links."""
    methods = ["implicit_first", "implicit_improved", "implicit_second", "post_stabilization"]
    return compared(methods=methods, duration=20.0)


@pytest.fixture(scope="module")
def diverging():
    """A penalty too stiff for the larger step, beside a method that does not mind."""
    return compared(methods=["penalty", "implicit_first"], dt=[0.01, 0.05], duration=5.0)


def rows(comparison):
    return {(row["method"], row["dt"]): row for row in comparison.table}


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
    assert horizon(time, error, size=10.0, ended=True) == 2.0
    assert horizon(time, error, size=100.0, ended=True) == np.inf
    assert horizon(time, error, size=100.0, ended=False) == 4.0, "a run that diverged tracked at most to its end"


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


# Runs that end early, methods that refuse


def test_a_run_that_diverges_is_data(diverging):
    row = rows(diverging)["penalty", 0.05]
    assert re.fullmatch(r"diverged at step \d+", row["status"]), row["status"]
    assert row["steps_done"] < 100 and row["horizon"] < 5.0 and np.isnan(row["trajectory_error_end"]), row
    assert rows(diverging)["implicit_first", 0.05]["status"] == "finished"
    drawn = lines(diverging, diverging.runs["penalty", 0.05], None, ["tip"], ["upper"])
    assert drawn.broken and np.abs(drawn.places["tip"]).max() < 20 * diverging.size, "what is far out is not drawn"


def test_a_report_is_written_when_all_methods_diverge(tmp_path, capsys):
    arguments = ["--methods", "penalty", "--dt", "0.05", "--duration", "5", "--out", str(tmp_path / "out")]
    assert main(["compare", "two_link", *arguments]) == 0
    assert "diverged at step" in capsys.readouterr().out
    assert "diverged at step" in (tmp_path / "out" / "report.html").read_text()
    assert list((tmp_path / "out" / "plots").glob("*.png"))


def test_a_method_that_can_not_treat_the_scene_is_named_with_the_reason_and_the_others_run(tmp_path):
    found = compared("ten_link_sawtooth", methods=["reduced", "implicit_first"], dt=0.001, duration=0.05)
    assert found.methods == ["implicit_first"] and list(found.refused) == ["reduced"]
    page = found.report(tmp_path / "report.html").read_text()
    assert "Refused by reduced" in page
    with pytest.raises(taut.TautError, match="no method can treat"):
        compared("ten_link_sawtooth", methods=["reduced"], reference="none")


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"methods": ["implicit"]}, "implicit_first"),
        ({"methods": []}, "methods"),
        ({"dt": 0.0}, "dt"),
        ({"dt": []}, "dt"),
        ({"duration": -1.0}, "duration"),
        ({"record_every": 0}, "record_every"),
        ({"reference": "referense"}, "reference"),
        ({"options": {"baumgart": {}}}, "baumgarte"),
        ({"options": {"baumgarte": {"dt": 1.0}}}, "same for all methods"),
        ({"options": {"baumgarte": {"gamma": 1.0}}}, "alpha"),
    ],
)
def test_a_mistake_is_one_message_before_anything_is_computed(arguments, words, monkeypatch):
    module = sys.modules["taut.compare.compare"]  # by its attribute, taut.compare is the function
    monkeypatch.setattr(module, "perform_all", lambda *_: pytest.fail("something was computed"))
    with pytest.raises(taut.TautError, match=words):
        compared(**{"methods": ["baumgarte"], **arguments})


def test_options_reach_their_method_only():
    given = {"alpha": 1.0, "integrator": "symplectic"}
    found = compared(methods=["baumgarte", "penalty"], options={"baumgarte": given})
    assert found.runs["baumgarte", 0.01].info["options"] == given
    assert found.runs["penalty", 0.01].info["options"] == {}


# What is written


def test_table_dataset_and_file_agree(diverging, tmp_path):
    with open(diverging.csv(tmp_path / "table.csv"), newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == len(diverging.table) == 4
    for line, row in zip(written, diverging.table):
        cell = diverging.data.loc[{"method": row["method"], "dt": row["dt"]}]
        assert line["status"] == row["status"] == cell.status.item()
        for field in diverging.fields:
            values = [float(line[field.name]), float(row[field.name]), cell[field.name].item()]
            assert np.array_equal(values, [values[0]] * 3, equal_nan=True), f"{field.name}: {values}"
    assert diverging.data.drift_max.attrs["units"] == "m"


def test_the_report_is_one_file_that_asks_for_nothing_and_holds_the_data(diverging, tmp_path):
    page = diverging.report(tmp_path / "report.html").read_text()
    assert not re.findall(r"https?://|@import|<link[^>]*stylesheet|<script[^>]*src|url\(", page)
    assert "<!--" not in page and "/*style*/" not in page, "a part was not filled in"
    assert len(page) < 5e6, f"{len(page)} characters"
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    data = json.loads(text)
    run = next(r for r in data["runs"] if (r["method"], r["dt"]) == ("implicit_first", "0.01"))
    places = np.frombuffer(base64.b64decode(run["places"]["tip"]), "<f4").reshape(-1, 3)
    records = diverging.runs["implicit_first", 0.01].data.position.sel(body="tip").values
    assert np.allclose(places, records, rtol=1e-6), "each record is drawn while there are at most 2,000"


def test_a_name_with_markup_stays_text(tmp_path):
    scene = taut.gallery("pendulum")
    scene.name = "</script><b>"
    page = compared(scene, methods=["implicit_first"]).report(tmp_path / "report.html").read_text()
    assert "</script><b>" not in page


def test_lines_are_thinned_without_losing_peaks():
    found = compared("pendulum", methods=["implicit_first"], dt=0.001, duration=3.0)
    run = found.runs["implicit_first", 0.001]
    thin = lines(found, run, None, ["bob"], ["rod"], most=100)
    assert len(thin.time) == 100 and thin.time[-1] == run.records.time[-1]
    assert thin.drift.max() == np.abs(run.records.phi).sum(axis=1).max()
    assert thin.accumulated[-1] == pytest.approx(found.table[0]["drift_accumulated"])


def test_a_folder_is_replaced_only_when_asked_and_only_if_it_is_a_comparison(tmp_path, capsys):
    asked = ["compare", "pendulum", "--methods", "implicit_first", "--dt", "0.05", "--duration", "0.5"]
    out = tmp_path / "out"
    assert main([*asked, "--out", str(out)]) == 0
    found = {str(path.relative_to(out)) for path in out.rglob("*")}
    assert {"report.html", "table.csv", MARK, "plots/drift.png", "plots/drift.svg"} <= found, found
    assert main([*asked, "--out", str(out)]) == 2 and "exists" in capsys.readouterr().err
    assert main([*asked, "--out", str(out), "--overwrite"]) == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    assert main([*asked, "--out", str(tmp_path / "mine"), "--overwrite"]) == 2
    assert (tmp_path / "mine" / "thesis.txt").exists()
    assert main([*asked, "--out", str(tmp_path / "no" / "where")]) == 2
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"out", "mine"}, f"something half-written: {left}"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["two_lnk"], "two_link"),
        (["two_link", "--methods", "implicit"], "implicit_first"),
        (["two_link", "--dt", "0.01,soon"], "soon"),
        (["two_link", "--reference", "truth"], "none"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_message_and_exit_code_2(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *arguments]) == 2
    out, error = capsys.readouterr()
    assert words in error and "Traceback" not in error and out == "", error
    assert not list(tmp_path.iterdir())


# Two processes


def test_a_second_process_computes_the_same_bits(tmp_path):
    scene = taut.gallery("two_link")
    scene.save(tmp_path / jobs.SCENE_FILE)
    todo = [jobs.Job(name, 0.01, {"duration": 1.0}) for name in ("implicit_first", "rattle")]
    board = jobs._Board(todo)
    helper = jobs._Helper(board, tmp_path)
    helper.start()
    helper.join(timeout=60)
    helper.stop()
    assert board.is_done(), "the second process did not do its jobs"
    for number, job in enumerate(todo):
        here, there = jobs.perform(scene, job).records.as_dict(), board.outcomes[number].records.as_dict()
        different = [name for name in here if here[name].tobytes() != there[name].tobytes()]
        assert not different, f"{job.method}: {different}"


def test_a_second_process_that_dies_costs_only_time(monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert len(compared(methods=["implicit_first", "rattle"], processes=2).table) == 2


def test_a_scene_with_a_python_function_is_compared_here(tmp_path):
    scene = taut.Scene()
    bob = scene.particle((1, 0, 0), name="bob")
    scene.distance((0, 0, 0), bob, length=1.0)
    scene.custom_force(bob, function=lambda x, v, t: -0.1 * v)
    with pytest.raises(taut.TautError, match="Python function"):
        scene.save(tmp_path / "scene.yaml")
    assert compared(scene, methods=["implicit_first", "rattle"], processes=2).methods == ["implicit_first", "rattle"]


def test_writers_of_the_cache_take_turns(tmp_path):
    from numba.core.caching import IndexDataCacheFile

    def write(who: int) -> None:
        for number in range(25):
            files = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
            take_turns(files)
            files.save((who, number), f"{who} {number}")

    threads = [Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    wrong = [(who, n) for who in range(4) for n in range(25) if kept.load((who, n)) != f"{who} {n}"]
    assert not wrong, f"{len(wrong)} of 100 entries are lost or mixed up"


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


# Looks


def test_every_method_has_a_look_of_its_own():
    assert set(METHODS) <= set(LOOKS), set(METHODS) - set(LOOKS)
    for attribute in ("color", "marker"):
        seen = [getattr(own, attribute) for own in LOOKS.values()]
        assert len(set(seen)) == len(seen), f"two methods share a {attribute}"
    assert look("not_written_yet") == look("not_written_yet")
