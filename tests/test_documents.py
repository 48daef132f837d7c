"""What the documents say is true: code in them runs, tables come from the registries, links lead somewhere."""

import re
from pathlib import Path

import pytest

import taut
from taut.cli.listing import SUBJECTS, as_markdown, methods_for_readme

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), re.S)


def test_the_readme_example_runs_and_holds_its_lengths():
    code, contacts = blocks(ROOT / "README.md", "python")
    scope: dict = {}
    exec(compile(code, "README.md", "exec"), scope)
    worst = float(abs(scope["run"].data.constraint_error).max())
    assert worst < 1e-5, f"largest |Φ| of the README's run is {worst:.3g} m"
    exec(compile(contacts, "README.md", "exec"), scope)
    assert scope["fall"].event_counts()["impact"] >= 3, scope["fall"].events
    overlap = float(scope["fall"].data.overlap.max())
    assert overlap < 1e-9, f"largest overlap of the README's balls is {overlap:.3g} m"


def test_the_readme_is_short_and_its_table_of_methods_is_the_registry_s():
    """Short but for the table, which grows with the methods."""
    text = (ROOT / "README.md").read_text()
    (table,) = re.findall(r"<!-- methods -->\n(.*?)\n<!-- /methods -->", text, re.S)
    assert len(text.splitlines()) - len(table.splitlines()) < 90
    rows, told = methods_for_readme().splitlines(), table.splitlines()
    extra, missing = [row for row in told if row not in rows], [row for row in rows if row not in told]
    assert told == rows, f"print it anew with taut.cli.listing.methods_for_readme(): {extra} for {missing}"


def test_the_scene_file_of_the_manual_loads_and_runs(tmp_path):
    first, *_ = blocks(ROOT / "docs" / "scenes.md", "yaml")
    path = tmp_path / "crane.yaml"
    path.write_text(first)
    run = taut.simulate(taut.load(path), duration=0.5)
    assert run.status == "finished", run.message


def test_the_manual_of_exports_lists_the_formats_and_its_code_runs(tmp_path, monkeypatch):
    path = ROOT / "docs" / "export.md"
    (table,) = re.findall(r"<!-- formats -->\n(.*?)\n<!-- /formats -->", path.read_text(), re.S)
    assert table == as_markdown(*SUBJECTS["formats"]()), "print it anew with taut list formats --markdown"
    (code,) = blocks(path, "python")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "export.md", "exec"), {})
    assert {p.name for p in tmp_path.iterdir()} == {"arm.gif", "arm.glb", "arm.png", "drift.png"}


def test_the_manual_of_mechanisms_runs_and_its_driver_turns_as_told():
    code, rattleback = blocks(ROOT / "docs" / "mechanisms.md", "python")
    scope: dict = {}
    exec(compile(code, "mechanisms.md", "exec"), scope)
    assert abs(float(scope["run"]["pin"].angle[-1]) - 20.0) < 1e-9, scope["run"]["pin"].angle[-1]
    exec(compile(rattleback, "mechanisms.md", "exec"), scope)
    spin = scope["turned"]["stone"].angular_velocity.values[:, 1]
    assert abs(spin[-1] + 4.855) < 0.001, f"the rattleback's spin goes from {spin[0]:.4g} to {spin[-1]:.4g} rad/s"
    drift = float(abs(scope["turned"].data.energy_drift).max())
    assert drift < 1e-9, f"its energy drifts by {drift:.3g} J"


def test_the_manual_of_runs_comes_back_to_the_same_bits():
    (code,) = blocks(ROOT / "docs" / "runs.md", "python")
    scope: dict = {}
    exec(compile(code, "runs.md", "exec"), scope)
    assert (scope["first"] == scope["again"]).all() and scope["sim"].time == pytest.approx(0.7), scope["first"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"
