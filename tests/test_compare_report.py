"""What a comparison writes, also of runs that end early, what it refuses, and its second process."""

from __future__ import annotations

import base64
import csv
import json
import re
import sys

import numpy as np
import pytest
from words_compare import compared, rows

import taut
from taut.analysis.compare import jobs
from taut.analysis.compare.curves import lines
from taut.analysis.compare.saving import MARK
from taut.cli import main
from taut.methods import METHODS, style_of


@pytest.fixture(scope="module")
def diverging():
    """A penalty too stiff for the larger step, beside a method that does not mind."""
    return compared(methods=["penalty", "implicit_first"], dt=[0.01, 0.05], duration=5.0)


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
    module = sys.modules["taut.analysis.compare.compare"]  # the attribute of that name is the function
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


# Styles


def test_no_two_methods_declare_the_same_colour_or_marker():
    declared = [method.style for method in METHODS.values() if method.style is not None]
    for attribute in ("color", "marker"):
        seen = [getattr(style, attribute) for style in declared]
        assert len(set(seen)) == len(seen), f"two methods share a {attribute}"


def test_a_method_that_declares_no_style_looks_the_same_each_time():
    assert style_of("not_written_yet") == style_of("not_written_yet")
