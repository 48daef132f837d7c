"""Laws of the benchmarks: they compare like with like, and no Python runs between records. Nothing is timed."""

from __future__ import annotations

import json

import numba
import numpy as np
import pytest

from taut.analysis.bench import PARTS, Target, machines, mechanisms, peers, precision, pypbd, rivals
from taut.analysis.bench.calls import STEPS, calls_in_loop, calls_in_run, python_calls
from taut.analysis.bench.chains import DT, expected
from taut.analysis.bench.cloth import HANGS, STRETCHES, least_substeps
from taut.analysis.bench.frames import FRAME, Frames, Span, alone, watch
from taut.analysis.bench.yardstick import Yardstick
from taut.analysis.timing import Loop, enough_steps, in_turns
from taut.cli import main
from taut.methods import METHODS
from taut.model import build
from taut.scene import gallery

FEW = "implicit_first,reference"
compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="speaks of compiled code")


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Output and numbers of a quick run of all parts."""
    import contextlib
    import io

    path = tmp_path_factory.mktemp("bench") / "numbers.json"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(["bench", "--quick", "--methods", FEW, "--json", str(path)])
    assert code == 0, f"exit code {code}"
    return out.getvalue(), json.loads(path.read_text())


@pytest.mark.parametrize("links, steps", [(1, 300), (2, 300), (10, 300), (100, 50)])
def test_the_yardstick_takes_the_steps_of_implicit_first(links, steps):
    scene = gallery("chain", n=links)
    loop, rod = Loop.of(scene, build(scene), METHODS["implicit_first"], DT), Yardstick(links, DT)
    assert loop.seconds(steps) > 0 and rod.seconds(steps) > 0
    apart = np.abs(loop.state.x - rod.x).max()
    fallen = np.abs(rod.x[:, 1]).max()
    assert apart <= 1e-12 * links < fallen, f"{apart:.1e} m apart after falling {fallen:.3g} m"


def test_every_repeat_begins_at_the_start():
    scene = gallery("chain", n=3)
    loop = Loop.of(scene, build(scene), METHODS["implicit_first"], DT)
    loop.seconds(50)
    once = loop.state.x.copy()
    loop.seconds(7)
    loop.seconds(50)
    assert np.array_equal(loop.state.x, once), f"repeats differ by {np.abs(loop.state.x - once).max():.1e} m"


@compiled
@pytest.mark.parametrize("name", ["implicit_first", "reference"])
def test_python_calls_do_not_grow_with_the_number_of_steps(name):
    inside = [calls_in_loop(METHODS[name], steps) for steps in STEPS]
    assert inside[0] == inside[1], f"{inside} calls in the loop for {STEPS} steps"
    whole = [calls_in_run(METHODS[name], steps) for steps in STEPS]
    # A longer run looks at the clock some times more, until it knows how many steps fill 0.2 seconds, and then five
    # times a second: on a busy machine that was 585 calls for 90,000 steps more.
    assert whole[1] - whole[0] < 2000, f"{whole} calls in simulate() for {STEPS} steps"


def test_python_calls_are_counted():
    def twice(k: int) -> None:
        if k:
            twice(k - 1)

    counts = [python_calls(lambda k=k: twice(k)) for k in (10, 110)]
    assert counts[1] - counts[0] == 100, counts


def test_repeats_are_taken_in_turns_and_the_least_is_kept():
    order = []

    def run(name, *seconds):
        left = list(seconds)

        def take(steps):
            order.append(name)
            return left.pop(0)

        return take

    found = in_turns({"a": (run("a", 8.0, 4.0, 6.0), 2), "b": (run("b", 3.0, 5.0, float("nan")), 1)}, budget=0.0)
    assert order == list("ababab") and found["a"] == 2.0 and np.isnan(found["b"]), (order, found)


def test_a_repeat_is_long_enough_for_the_clock():
    assert enough_steps(lambda steps: 1e-4 * steps) == 128
    assert enough_steps(lambda steps: 1e-9 * steps, most=1_000) == 1_000


def test_a_size_is_expected_to_cost_what_the_growth_says():
    assert expected({10: 1.0, 100: 100.0}, 1_000) == pytest.approx(1e4)
    assert expected({2: 1.0}, 10) == 0.0


def test_a_target_is_met_at_its_limit_and_not_beyond():
    assert Target("", 3.0, 3.0).met and not Target("", 3.01, 3.0).met and not Target("", None, 3.0).met


def test_quick_runs_and_prints_every_part(quick):
    out, numbers = quick
    for part in PARTS.values():
        assert part.doc in out and part.name in numbers, f"no part {part.name} in\n{out}"
    for words in ("µs per step", "times the yardstick", "memory [MB]", "N = 100", "double pendulum", "car axis",
                  "2e-08 m", "Python calls", "processor time", "largest overlap", "peak memory", "XPBD: substeps",
                  "per unknown", "flyball governor", "targets", "at most"):  # fmt: skip
        assert words in out, f"'{words}' is not in\n{out}"
    for name in (*FEW.split(","), "yardstick"):
        assert set(numbers["chains"]["seconds_per_step"][name]) == {"2", "10", "100"}, name


def test_cloth_is_measured_where_edges_are_held(quick):
    cells = quick[1]["cloth"]["cases"][HANGS[-1].label]
    for n, cell in cells.items():
        assert cell["ended"] == "" and cell["largest"] <= 1e-4 and cell["seconds"] > 0, f"n = {n}: {cell}"
    for n, engines in quick[1]["cloth"]["least_substeps"].items():
        for stretch in STRETCHES:
            cell = engines["XPBD"][str(stretch)]
            assert cell["reached"] and cell["largest"] <= stretch, f"n = {n}, {stretch}: {cell}"


def test_frames_are_the_steps_of_simulate():
    import taut

    scene = gallery("cloth_hang", n=5)
    frames = Frames(scene, "implicit_first", 2, 1e-4)
    assert all(frames.frame() > 0 for _ in range(3))
    run = taut.simulate(scene, "implicit_first", dt=FRAME / 2, duration=3 * FRAME, tolerance=1e-4, progress=False)
    apart = np.abs(frames.session.state.x - run.records.x[-1]).max()
    assert apart == 0.0, f"{apart:.1e} m apart"
    assert frames.elongation()[0] == run.data.elongation[-1]


class Stretching:
    """A sheet that is stretched by one percent more in each frame, and fails in the eighth."""

    def __init__(self):
        self.frames = 0

    def frame(self):
        self.frames += 1
        return 2.0 if self.frames < 8 else float("nan")

    def elongation(self):
        return 0.01 * self.frames, 0.001 * self.frames


def test_what_is_watched_is_the_span_and_it_ends_where_it_must():
    whole = watch(Stretching(), Span(2, 6))
    assert (whole.seconds, whole.ended) == (2.0, "") and whole.largest == pytest.approx(0.06), whole
    assert "frame 5" in (ended := watch(Stretching(), Span(2, 6), allowed=0.045).ended), ended
    assert "frame 8" in (ended := watch(Stretching(), Span(2, 9)).ended), ended
    early = watch(Stretching(), Span(5, 9), patience=5.0)
    assert early.seconds == 2.0 and np.isnan(early.largest) and "frame 3" in early.ended, early


@pytest.mark.parametrize("needed", [1, 64, 65, 300, 4000])
def test_the_search_finds_the_least_substeps_to_a_fifth(needed):
    found, holds = least_substeps(lambda s: s >= needed, 64, lambda s: s > 10_000)
    # Below the first tried it bisects a wider range.
    assert holds and needed <= found <= max(1.2 * needed, 64), (needed, found)
    assert least_substeps(lambda s: False, 64, lambda s: s >= 256) == (256, False)


def test_what_runs_alone_has_one_thread():
    import os

    assert alone(os.getenv, "OMP_NUM_THREADS") == "1"


def test_pypbd_sweeps_as_our_xpbd_does():
    pytest.importorskip(pypbd.PACKAGE)
    scene = gallery("cloth_hang", n=6)
    ours, theirs = Frames(scene, "xpbd", 1, substeps=50), pypbd.PositionBased(scene, 50)
    for _ in range(10):
        ours.frame()
        theirs.frame()
    # The order of sweeps differs, and springs have no damping there.
    apart = np.abs(ours.session.state.x - theirs.places()).max()
    assert apart < 0.02, f"{apart:.1e} m apart after 10 frames"


def test_errors_fall_along_the_series(quick):
    for name in FEW.split(","):
        for problem in ("double pendulum, tip at t = 2 s", "car axis, wheels at t = 3 s"):
            errors = [point["error"] for point in quick[1]["precision"][problem][name]]
            assert all(b < 0.2 * a for a, b in zip(errors, errors[1:])), f"{name}, {problem}: {errors}"


@pytest.mark.parametrize(
    "arguments, words",
    [(["chain"], "chains"), (["--methods", "implicit"], "implicit_first"), (["--json", "/nowhere/a.json"], "/nowhere")],
)
def test_a_mistake_is_one_message_before_anything_is_measured(arguments, words, capsys):
    assert main(["bench", "--quick", *arguments]) == 2
    out, error = capsys.readouterr()
    assert words in error and out == "", out + error


def test_a_file_of_numbers_is_not_written_over(tmp_path, capsys):
    path = tmp_path / "numbers.json"
    path.write_text("mine")
    assert main(["bench", "calls", "--methods", "implicit_first", "--json", str(path)]) == 2
    assert "--overwrite" in capsys.readouterr().err and path.read_text() == "mine"


def test_missing_peers_are_named_with_the_command_that_installs_them(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    assert peers.present() == ([], ["not installed: exudyn, mujoco, pymunk; pip install exudyn mujoco pymunk"])


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.name)
def test_a_peer_swings_the_same_double_pendulum(peer):
    pytest.importorskip(peer.package)
    scene = gallery("chain", n=2)
    loop = Loop.of(scene, build(scene), METHODS["reference"], 1.0, tolerance=1e-10)
    loop.seconds(1)
    engine = peer.prepare(2, 0.001)
    engine.seconds(1_000)
    apart = np.linalg.norm(engine.tip() - loop.state.x[2, :2])
    assert apart < 0.02, f"{peer.name}: {apart:.1e} m from the reference at t = 1 s"


def test_growth_is_the_exponent_at_large_sizes():
    assert mechanisms.growth({10: 5.0, 100: 1.0, 1_000: 10.0, 10_000: 100.0}) == pytest.approx(1.0)
    assert mechanisms.growth({10: 5.0, 100: 1.0}) is None


@pytest.mark.parametrize("scene, each", [("rigid_chain", 11), ("chain", 4)])
def test_unknowns_are_velocities_and_multipliers(scene, each):
    assert mechanisms.unknowns(build(gallery(scene, n=7))) == 7 * each


@pytest.mark.parametrize("ours, theirs, met", [(1.0, 2.0, True), (2.0, 1.0, False), (None, 1.0, False)])
def test_a_method_is_ahead_where_it_comes_within_the_error_sooner(ours, theirs, met):
    problem = next(iter(mechanisms.PROBLEMS.values()))._replace(levels=(1e-3,))
    own = [] if ours is None else [precision.Point("", 1e-4, ours)]
    peer = [precision.Point("", 1e-4, theirs), precision.Point("", float("nan"), 0.1)]
    assert [target.met for target in mechanisms.ahead(problem, {"ours": own}, {"theirs": peer})] == [met]


def test_a_peer_is_missed_by_name(monkeypatch):
    monkeypatch.setattr(machines, "find_spec", lambda name: None)
    assert machines.missing() == ["not installed: mujoco; pip install mujoco"]


@pytest.mark.parametrize("name", machines.TREES)
def test_mujoco_moves_the_same_mechanism(name):
    pytest.importorskip(machines.PACKAGE)
    problem = mechanisms.PROBLEMS[name]
    problem = problem._replace(duration=problem.duration / 4)
    scene = gallery(name)
    model = build(scene)
    truth = precision.true_positions(problem, scene, model)
    start = model.x[[info.slot for body in problem.bodies for info in model.body_info if info.name == body]]
    errors = []
    for steps in (1_000, 2_000):
        engine = machines.engine(name, model, problem.bodies, "RK4", problem.duration / steps)
        engine.seconds(steps)
        errors.append(np.linalg.norm(engine.tip() - truth, axis=1).max())
    moved = np.linalg.norm(truth - start, axis=1).max()
    assert errors[1] < 1e-6 * moved and errors[1] < max(0.5 * errors[0], 1e-12), (errors, moved)


@pytest.mark.parametrize("name", machines.TREES)
@pytest.mark.parametrize("rival", rivals.RIVALS, ids=lambda rival: rival.package)
def test_rivals_move_the_same_mechanism(rival, name):
    pytest.importorskip(rival.module)
    problem = mechanisms.PROBLEMS[name]
    problem = problem._replace(duration=problem.duration / 10)
    scene = gallery(name)
    model = build(scene)
    tree = machines.TREES[name]({info.name: model.x[info.slot].copy() for info in model.body_info})
    if not rival.takes(tree):
        return
    truth = precision.true_positions(problem, scene, model)
    errors = []
    for steps in (300, 600):
        engine = rival.prepare(tree, model, problem.bodies, problem.duration / steps)
        engine.seconds(steps)
        errors.append(np.linalg.norm(engine.tip() - truth, axis=1).max())
    assert errors[1] < 1e-4 and errors[1] < max(0.6 * errors[0], 1e-12), errors


def test_the_table_says_who_is_ahead():
    problem = mechanisms.PROBLEMS["bricard"]._replace(levels=(1e-2, 1e-4, 1e-9))
    ours = {"rattle": [precision.Point("1", 1e-5, 2e-3)]}
    theirs = {"MuJoCo, Euler": [precision.Point("1", 1e-3, 1e-3)]}
    told = [row[-1] for row in mechanisms.winners(problem, ours, theirs).rows]
    assert told == ["MuJoCo, 2 times", "taut, alone", "nobody comes so near"], told


def test_a_peer_that_diverges_has_no_error():
    pytest.importorskip(machines.PACKAGE)
    model = build(gallery("flyball_governor"))
    engine = machines.engine("flyball_governor", model, ("sleeve",), "RK4", 0.004)  # ten times what is stable
    engine.seconds(50)
    assert np.isnan(engine.tip()).all(), engine.tip()
