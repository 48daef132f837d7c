"""Laws of `taut explain`: each rule's way is the one that a run takes, and mistakes get one message."""

import numpy as np
import pytest

import taut
from taut.analysis.explain import STATES, explain
from taut.analysis.explain.drawing import draw
from taut.cli import main
from taut.errors import TautError


@pytest.fixture(scope="module")
def corners():
    return {force: explain(taut.gallery("acute_corner", fx=force[0], fy=force[1])) for force in ((2, -1), (-1, -2))}


def acceleration(iteration):
    return iteration.acceleration["particle"][:2]


def test_platt_lets_both_walls_go_and_falls_through_the_floor(corners):
    first, second, third = corners[2, -1]["platt"].iterations[:3]
    assert first.before.all() and np.allclose(first.lam, (-2, -1), atol=1e-12), first.lam
    assert [first.state(i) for i in (0, 1)] == ["left", "left"] and first.fired == ("λ ≤ 0", "λ ≤ 0"), first
    assert not second.before.any() and np.allclose(acceleration(second), (1, -0.5), atol=1e-12), second
    assert second.deepest[0] == "g2" and second.deepest[1] == pytest.approx(-0.5 * 0.5 * 0.01**2), second.deepest
    assert third.before.tolist() == [False, True], third.before


def test_improved_platt_notices_the_second_wall_too_late(corners):
    right, wrong = (corners[force]["platt_improved"].answer for force in ((2, -1), (-1, -2)))
    assert np.allclose(right.lam, (0, 1)) and not right.pulling and not right.violated, right.lam
    assert np.allclose(wrong.lam, (0, 2)) and wrong.violated == ["g1"], (wrong.lam, wrong.w)
    assert wrong.state(0) == "entered" and wrong.deepest[0] == "g1", wrong


@pytest.mark.parametrize("rule", ["jonquet", "exact"])
@pytest.mark.parametrize("force, lam, moves", [((2, -1), (0, 1), (1, 0)), ((-1, -2), (1, 3), (0, 0))])
def test_rounds_end_at_the_published_answer(rule, force, lam, moves, corners):
    trace = corners[force][rule]
    assert np.allclose(trace.answer.lam, lam, atol=1e-12), trace.answer.lam
    assert np.allclose(acceleration(trace.answer), moves, atol=1e-12), acceleration(trace.answer)
    assert not trace.iterations[0].before.any(), "a rule that finds its set anew starts with none"
    for one, following in zip(trace.iterations, trace.iterations[1:]):
        assert (one.after == following.before).all(), "the set that follows is the next one that is held"


def test_w_is_what_the_accelerations_say(corners):
    J = np.array([[1.0, -1.0], [0.0, 1.0]])
    for force, found in corners.items():
        for trace in found.traces:
            iteration = trace.answer
            assert np.allclose(iteration.w, J @ acceleration(iteration), atol=1e-12), (force, trace.rule, iteration.w)
            for i in (0, 1):
                assert iteration.state(i) in STATES


def test_explained_set_is_that_of_a_run_at_the_same_instant():
    scene = taut.gallery("acute_corner", fx=-1, fy=-2)
    for rule in ("jonquet", "exact"):
        log = taut.simulate(scene, duration=0.01, active_set=rule, log=True, progress=False).log
        first = log[log.time == 0.0]
        last = first[first.iteration == first.iteration.max()].set_index("constraint").multiplier
        answer = explain(scene)[rule].answer
        assert answer.lam.tolist() == [last[name] for name in answer.names], (rule, answer.lam, last)


def test_cradle_is_explained_at_its_impact():
    found = explain(taut.gallery("newton_cradle"), at=0.36)
    assert [one.name for one in found.impacts] == [f"ball_{i}|ball_{i + 1}" for i in range(4)], found.impacts
    impulses = [one.impulse for one in found.impacts]
    assert np.ptp(impulses) < 1e-9, "the impulse is handed on unchanged"
    assert found.impacts[-1].after == pytest.approx(-found.impacts[0].before, rel=1e-9)
    assert set(found.problem.names) == {f"ball_{i}|ball_{i + 1}" for i in range(3)}, found.problem.names
    assert abs(found.time - 0.36) < 0.002 and "event" in found.notes[0], found.notes


def test_billiard_shows_only_what_touches():
    found = explain(taut.gallery("billiard"))
    assert len(found.problem.names) == 20, found.problem.names
    assert not found["exact"].answer.pulling and not found["exact"].answer.violated


def test_hanging_rows_are_held_by_equalities_too():
    """The weight of a ball on a rod that rests on a floor is shared as statics says."""
    scene = taut.Scene(name="rod")
    ball = scene.particle((1, 0, 0), mass=2.0, name="ball")
    scene.distance((0, 0, 0), ball, name="rod")
    scene.half_space(ball, point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    answer = explain(scene, dt=0.01, method="baumgarte")["exact"].answer
    assert answer.lam[0] == pytest.approx(2.0 * 9.81, rel=1e-12), answer.lam
    assert np.allclose(answer.acceleration["ball"], 0.0, atol=1e-12), answer.acceleration


def test_picture_and_text_name_every_rule(tmp_path, capsys):
    path = tmp_path / "corner.png"
    assert main(["explain", "acute_corner", "--out", str(path)]) == 0
    text = capsys.readouterr().out
    for word in ("platt", "platt_improved", "jonquet", "exact", "λ ≤ 0: leaves", "w < 0: enters", "g1", "dv/dt"):
        assert word in text, f"'{word}' is not in:\n{text}"
    assert path.read_bytes()[:4] == b"\x89PNG"
    assert main(["explain", "acute_corner", "--out", str(path)]) == 2, "an older picture was replaced"
    assert "--overwrite" in capsys.readouterr().err


def test_same_instant_gives_the_same_numbers(corners):
    again = explain(taut.gallery("acute_corner", fx=2, fy=-1))
    for one, other in zip(corners[2, -1].traces, again.traces):
        for a, b in zip(one.iterations, other.iterations):
            assert a.lam.tobytes() == b.lam.tobytes() and a.w.tobytes() == b.w.tobytes(), one.rule


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["two_link"], "no inequality"),
        (["bouncing_ball", "--at", "0.2"], "0.4515"),
        (["bouncing_ball", "--at", "-1"], "not negative"),
        (["block_on_incline"], "friction"),
        (["acute_corner", "--dt", "0"], "dt"),
        (["acute_corner", "--out", "/nowhere/at/all.png"], "/nowhere"),
        (["acute_corner", "--set", "mass=3"], "m"),
    ],
)
def test_what_can_not_be_explained_is_one_message(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = main(["explain", *arguments])
    out, error = capsys.readouterr()
    assert code == 2 and out == "" and "Traceback" not in error, (code, out, error)
    assert words in error, error


def test_picture_of_an_unknown_format_is_refused(corners, tmp_path):
    with pytest.raises(TautError, match=r"\.png"):
        draw(corners[2, -1], tmp_path / "corner.nothing")


def touching_balls():
    scene = taut.Scene(gravity=(0, 0, 0), name="overlap")
    balls = [scene.particle((0.15 * i, 0, 0), radius=0.1, name=f"ball_{i}") for i in range(2)]
    scene.contacts(balls, name="balls")
    scene.suggest(dt=0.01, duration=0.05, method="baumgarte")
    return scene


def test_broken_start_is_refused_and_repaired_on_demand(tmp_path, capsys):
    path = tmp_path / "overlap.yaml"
    touching_balls().save(path)
    assert main(["run", str(path)]) == 2
    out, error = capsys.readouterr()
    assert out == "" and "ball_0|ball_1" in error and "0.05" in error and "--repair" in error, error
    assert main(["run", str(path), "--repair"]) == 0
    out, error = capsys.readouterr()
    assert "largest violation" in out and "moved" in error, (out, error)


def test_summary_counts_events_and_names_the_largest_overlap(capsys):
    assert main(["run", "bouncing_ball", "--duration", "2"]) == 0
    out = capsys.readouterr().out
    run = taut.simulate(taut.gallery("bouncing_ball"), duration=2.0, progress=False)
    impacts = int((run.events.kind == "impact").sum())
    assert impacts > 1 and f"{impacts} impacts" in out and "largest violation" in out, out


def test_a_run_with_platt_starts_with_all_active_rows_and_tells_who_comes_and_goes():
    run = taut.simulate(taut.gallery("acute_corner"), duration=0.1, active_set="platt", log=True, progress=False)
    first = run.log[(run.log.time == 0.0) & (run.log.iteration == 0)]
    assert first.member.all() and first.multiplier.tolist() == pytest.approx([-2, -1]), first
    told = [(row.time, row.kind, row.constraint) for row in run.events.itertuples()]
    assert told[:4] == [
        (0.0, "activation", "g1"), (0.0, "activation", "g2"), (0.01, "release", "g1"), (0.01, "release", "g2"),
    ], told  # fmt: skip
    assert run.records.x[:, 0, 1].min() < 0.0


def test_what_rounding_leaves_of_zero_is_no_decision():
    """Balls at rest that touch: nothing pushes, so no rule may act on numbers of 1e-12."""
    found = explain(taut.gallery("billiard"), 0.5)
    assert not found.problem.c.any(), found.problem.c
    for rule in ("jonquet", "exact"):
        assert len(found[rule].iterations) == 1 and not any(found[rule].answer.fired), found[rule]
    fired = [word for trace in found.traces for iteration in trace.iterations for word in iteration.fired]
    named = [word for word in fired if word.startswith("w")]
    assert all("rounding" in word for word in named), named


def test_the_picture_is_there_before_the_text_is(tmp_path, monkeypatch):
    """A reader of the text may go early."""
    path = tmp_path / "corner.png"
    there = []
    monkeypatch.setattr("taut.analysis.explain.text.print_explanation", lambda found: there.append(path.exists()))
    main(["explain", "acute_corner", "--out", str(path)])
    assert there == [True]
