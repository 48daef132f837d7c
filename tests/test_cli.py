"""Laws of the command line: exit codes, one message for a mistake, resuming bit for bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import taut
from taut.cli import main
from taut.constraints import KINDS as CONSTRAINTS
from taut.forces import KINDS as FORCES
from taut.linalg import SOLVERS
from taut.methods import METHODS
from taut.progress import Progress
from taut.scene import SCENES

SHORT = ["--dt", "0.01", "--duration", "0.5"]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["run", "two_lnk"], "two_link"),
        (["run"], "scene"),
        (["run", "two_link", "--dt", "0"], "dt"),
        (["run", "two_link", "--dt", "soon"], "soon"),
        (["run", "two_link", "--dt", "nan"], "dt"),
        (["run", "two_link", "--method", "implicit"], "implicit_first"),
        (["run", "two_link", "--solver", "dens"], "dense"),
        (["run", "two_link", "--record-every", "0"], "record_every"),
        (["run", "two_link", "--set", "n=3"], "length"),
        (["run", "two_link", "--set", "length"], "NAME=VALUE"),
        (["run", "two_link", "--option", "alpha=1"], "alpha"),
        (["run", "two_link", "--option", "dt=1"], "--dt"),
        (["run", "two_link", "--stepsize", "1"], "stepsize"),
        (["run", "missing.yaml"], "missing.yaml"),
        (["run", "--resume", "missing.taut"], "missing.taut"),
        (["run", "--resume", "missing.taut", "--dt", "1"], "--dt"),
        (["run", "two_link", "--out", "/nowhere/at/all.taut"], "/nowhere/at/all.taut"),
        (["list", "sceens"], "sceens"),
        (["jump"], "jump"),
    ],
)
def test_a_mistake_is_one_message_and_exit_code_2(arguments, words, capsys):
    code = main(arguments)
    out, error = capsys.readouterr()
    assert code == 2, f"exit code {code}; {error}"
    assert words in error and "Traceback" not in error, error
    assert out == "", f"a mistake has no result, but: {out}"


def test_debugging_shows_where_a_mistake_was_noticed(monkeypatch):
    monkeypatch.setenv("TAUT_DEBUG", "1")
    with pytest.raises(taut.TautError):
        main(["run", "two_lnk"])


def test_run_prints_a_summary_and_stores_the_run(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # some terminals export it, and paths would be folded
    path = tmp_path / "out.taut"
    code = main(["run", "two_link", *SHORT, "--set", "length=2", "--record-every", "5", "--out", str(path)])
    out = capsys.readouterr().out
    assert code == 0
    words = ("two_link", "implicit_second", "50 in", "µs per step", "worst |Φ|", "energy change", str(path))
    for word in words:
        assert word in out, f"'{word}' is not in the summary:\n{out}"
    run = taut.open(path)
    assert len(run.records) == 11 and run.status == "finished", run
    assert abs(run["upper"].error.values[0]) < 1e-15 and run["middle"].position.values[0, 0] == 2.0
    assert main(["run", "two_link", *SHORT, "--out", str(path)]) == 2, "an existing run was overwritten"
    assert main(["run", "two_link", *SHORT, "--out", str(path), "--overwrite"]) == 0


def test_interrupted_run_resumes_bit_for_bit(tmp_path, capsys, monkeypatch):
    whole, parts = str(tmp_path / "whole.taut"), str(tmp_path / "parts.taut")
    assert main(["run", "driven_anchor", *SHORT, "--out", whole]) == 0

    def interrupt(bar: Progress, done: int) -> None:
        if done > 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "update", interrupt)
        assert main(["run", "driven_anchor", *SHORT, "--out", parts]) == 1, "interrupted runs end with 1"
    error = capsys.readouterr().err
    assert "interrupted" in error and parts in error, error
    partial = taut.open(parts)
    assert partial.status == "interrupted" and 5 < len(partial.records) < 51, partial
    assert main(["run", "--resume", parts]) == 0
    first, second = taut.open(whole), taut.open(parts)
    assert second.status == "finished", second
    for name, values in first.records.as_dict().items():
        assert values.tobytes() == getattr(second.records, name).tobytes(), f"'{name}' differs after resuming"


def test_a_run_that_fails_ends_with_1_and_says_when_and_where_the_rest_is(tmp_path, capsys):
    path = str(tmp_path / "out.taut")
    stiff = ["--set", "stiffness=1e9", "--dt", "0.1", "--duration", "100"]
    code = main(["run", "spring_to_rod", *stiff, "--out", path])
    out, error = capsys.readouterr()
    assert code == 1, out + error
    assert "step" in error and "diverged" in error and path in error, error
    assert taut.open(path).status == "diverged"
    assert main(["run", "--resume", path]) == 2, "a diverged run can not go on"


def test_lists_are_printed_from_the_registries(capsys):
    assert main(["list"]) == 0
    words = capsys.readouterr().out.split()
    for name in (*SCENES, *METHODS, *CONSTRAINTS, *FORCES, *SOLVERS):
        assert name in words, f"'{name}' is not listed"
    assert main(["list", "solvers"]) == 0
    assert "pendulum" not in capsys.readouterr().out


def test_schema_is_json_and_not_written_over_a_file(tmp_path, capsys):
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == taut.schema()
    path = tmp_path / "schema.json"
    assert main(["schema", "--out", str(path)]) == 0
    assert json.loads(path.read_text()) == taut.schema()
    assert main(["schema", "--out", str(path)]) == 2


def test_a_run_without_out_imports_neither_xarray_nor_zarr():
    code = (
        "import sys; from taut.cli import main; code = main(['run', 'two_link', '--duration', '0.05']);"
        "heavy = {'xarray', 'zarr', 'pandas', 'rich.progress'} & set(sys.modules);"
        "sys.exit(code or ' '.join(heavy) or 0)"
    )
    without_jit = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=without_jit)
    assert done.returncode == 0, f"imported: {done.stderr}"


def test_a_reader_that_goes_early_gets_no_traceback():
    """As in `taut schema | head -1`."""
    given = [sys.executable, "-m", "taut", "schema"]
    with subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait() == 0


@pytest.mark.parametrize("columns", [60, 120])
def test_a_piped_table_keeps_to_the_columns_it_is_told(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    main(["list", "rules"])
    widest = max(map(len, capsys.readouterr().out.splitlines()))
    assert 0.7 * columns < widest <= columns, widest


def test_the_package_shows_its_public_names_alone():
    assert set(dir(taut)) == {*taut.__all__, "__version__"}, dir(taut)


LATE = ("numba", "numpy", "scipy", "sympy", "matplotlib", "xarray", "zarr", "taut.scene", "taut.simulation")


@pytest.mark.parametrize(
    "command, absent",
    [
        ("run --help", LATE),
        ("list", ("scipy.integrate", "scipy.sparse", "sympy", "matplotlib.pyplot", "xarray", "zarr")),
    ],
)
def test_commands_import_only_what_they_use(command, absent):
    code = (
        f"import sys\nfrom taut.cli import main\ntry:\n    main({command.split()!r})\nexcept SystemExit:\n    pass\n"
        f"print(*(name for name in {absent!r} if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr.strip(), done.stderr
