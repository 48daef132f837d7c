"""Laws of run.plot: lines are the run's own numbers, axes say their units, names are checked."""

from __future__ import annotations

import numpy as np
import pytest
from words_runs import RUDE, made_run, mixed_scene

import taut
from taut.result import Records
from taut.result.plot import Plots


@pytest.fixture(scope="module")
def run():
    return made_run(mixed_scene())


def slot(run, name):
    return next(info.slot for info in run.labels.bodies if info.name == name)


CALLS = {
    "drift": (), "energy": (), "trajectory": ("box",), "forces": (RUDE,), "phase": ("bob",), "events": (),
}  # fmt: skip


def test_every_plot_is_called_below():
    assert set(CALLS) == {name for name in vars(Plots) if not name.startswith("_")}


@pytest.mark.parametrize("name", CALLS)
def test_every_axis_has_a_label_with_its_unit(name, run, tmp_path):
    figure = getattr(run.plot, name)(*CALLS[name])
    figure.savefig(tmp_path / "x.png")
    for axes in figure.axes:
        words = axes.get_xlabel() + axes.get_ylabel() + " ".join(axes.get_legend_handles_labels()[1])
        assert "[" in axes.get_xlabel() and ("[" in words.replace(axes.get_xlabel(), "") or name == "events"), words


def test_energy_is_the_runs(run):
    lines = {line.get_label(): line.get_ydata() for line in run.plot.energy().axes[0].get_lines()}
    kinetic, potential, drivers, forces, impact, friction = run.records.energy.T
    assert np.array_equal(lines["kinetic"], kinetic)
    gone_in = drivers + forces - impact - friction
    left = kinetic + potential - (gone_in - gone_in[0])
    assert np.allclose(lines["without work and losses"], left, rtol=0.0, atol=1e-13)


def test_a_dollar_in_a_name_stays_one():
    scene = taut.Scene(name="$cheap$")
    scene.coordinate(0.0, name="$a_b$")
    figure = made_run(scene).plot.phase("$a_b$")
    texts = [figure._suptitle, figure.axes[0].xaxis.label]
    assert [text._preprocess_math(text.get_text())[1] for text in texts] == [False, False]
    assert texts[1]._preprocess_math(texts[1].get_text())[0] == "$a_b$"


def test_drift_is_the_sum_of_what_is_violated(run):
    (line,) = run.plot.drift().axes[0].get_lines()
    wanted = np.abs(run.labels.violation(run.records.phi)).sum(axis=1)
    assert np.allclose(line.get_ydata(), wanted, rtol=1e-15)
    (own,) = run.plot.drift("rod").axes[0].get_lines()
    assert np.array_equal(own.get_ydata(), np.abs(run.data.constraint_error.sel(constraint="rod").values))


def test_trajectory_and_phase_are_the_runs(run):
    path, over = run.plot.trajectory("bob").axes
    x, v = run.records.x[:, slot(run, "bob")], run.records.v[:, slot(run, "bob")]
    assert [np.array_equal(line.get_ydata(), x[:, i]) for i, line in enumerate(over.get_lines())] == [True] * 3
    line = run.plot.phase("bob", "y").axes[0].get_lines()[0]
    assert np.array_equal(line.get_xdata(), x[:, 1]) and np.array_equal(line.get_ydata(), v[:, 1])


def test_forces_of_a_constraint_are_those_of_the_run(simulate):
    run = simulate(taut.gallery("two_link"), "implicit_first", 0.02, 0.2)
    lines = {line.get_label(): line.get_ydata() for line in run.plot.forces("upper").axes[0].get_lines()}
    force = run["upper"].force
    wanted = {f"on {body}": np.linalg.norm(force.sel(body=body).values, axis=1) for body in force.body.values}
    assert lines.keys() == wanted.keys() and all(np.array_equal(lines[key], wanted[key]) for key in wanted)
    assert np.isfinite(run.plot.events().axes[0].get_xlim()).all()


def test_a_run_with_no_numbers_at_its_end_and_one_of_one_record_are_plotted(run, tmp_path):
    arrays = {key: values.copy() for key, values in run.records.as_dict().items()}
    for name in ("x", "v", "phi", "energy"):
        arrays[name][6:] = np.nan
    blown = taut.Run(run.scene, run.model, Records(**arrays), "diverged", "blew up", run.info)
    for one in (blown, made_run(run.scene, steps=1)):
        for name, arguments in CALLS.items():
            getattr(one.plot, name)(*arguments).savefig(tmp_path / "x.png")


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda plot: plot.trajectory("bobb"), "Did you mean 'bob'"),
        (lambda plot: plot.phase("bob", "w"), "unknown axis 'w'"),
        (lambda plot: plot.drift("rdo"), "Did you mean 'rod'"),
        (lambda plot: plot.forces("nothing"), "unknown constraint or body"),
    ],
)
def test_wrong_names_are_answered(call, words, run):
    with pytest.raises(taut.TautError, match=words):
        call(run.plot)


def test_a_film_needs_the_name_of_a_film(run, tmp_path):
    with pytest.raises(taut.TautError, match=r"\.mp4 or \.gif"):
        run.animate(tmp_path / "x.avi")
