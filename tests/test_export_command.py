"""Laws of `taut export`: it writes beside, and refuses mistakes and damaged runs with one message."""

from __future__ import annotations

import json
import shutil

import pytest
from words_runs import STEPS, made_run, mixed_scene

from taut.cli import main


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "mixed.taut"
    made_run(mixed_scene()).save(path)
    return path


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["missing.taut", "--to", "csv"], "there is no stored run 'missing.taut'"),
        (["RUN", "--to", "mp5"], "Did you mean 'mp4'"),
        (["RUN", "--to", "csv", "-o", "x.mp4"], "let it end in .csv"),
        (["RUN", "-o", "x.docx"], "unknown format 'docx'"),
        (["RUN"], "no format is named"),
        (["RUN", "--to", "csv", "-o", "no/such/x.csv"], "there is no folder"),
        (["RUN", "--to", "gif", "--fps", "0"], "fps is 0"),
        (["RUN", "--to", "csv", "--every", "0"], "every is 0"),
        (["RUN", "--to", "gif", "--size", "wide"], "1280x720"),
        (["RUN", "--to", "gif", "--size", "4x4"], "16 to"),
    ],
)
def test_mistakes_have_one_message_and_exit_code_2(arguments, words, stored, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["export", *(str(stored) if word == "RUN" else word for word in arguments)]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1, told
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_beside_and_names_the_file(stored, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(stored), "--to", "csv", "--every", "5"]) == 0
    assert capsys.readouterr().out.strip() == "mixed.csv"
    assert len((tmp_path / "mixed.csv").read_text().splitlines()) == 1 + 3
    assert main(["export", str(stored), "--to", "csv"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main(["export", str(stored), "-o", "mixed.csv", "--overwrite"]) == 0
    assert len((tmp_path / "mixed.csv").read_text().splitlines()) == 1 + STEPS


def test_a_truncated_run_is_refused(stored, tmp_path, capsys):
    copy = tmp_path / "cut.taut"
    shutil.copytree(stored, copy)
    commit = copy / "commit.npz"
    commit.write_bytes(commit.read_bytes()[: commit.stat().st_size // 2])
    assert main(["export", str(copy), "--to", "csv", "-o", str(tmp_path / "x.csv")]) == 2
    assert "cut.taut" in capsys.readouterr().err
    assert not (tmp_path / "x.csv").exists()


def test_a_run_of_a_newer_version_is_refused(stored, tmp_path, capsys):
    copy = tmp_path / "new.taut"
    shutil.copytree(stored, copy)
    header = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps(header | {"taut_run": 1000}))
    assert main(["export", str(copy), "--to", "csv", "-o", str(tmp_path / "x.csv")]) == 2
    assert "newer" in capsys.readouterr().err
