"""A resumed run is the uninterrupted one, bit for bit: every method on every scene of the gallery that it can treat."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from pathlib import Path

import pytest
from words_methods import SOFT

import taut
from taut.methods import METHODS
from taut.result import digests
from taut.result.digests import of_scene
from taut.scene import SCENES
from taut.scene.deformables import with_system
from taut.simulation.session import Session

# Small, and such that something happens soon: contacts before and after the cut.
SMALL = {
    "chain": {"n": 4}, "newton_cradle": {"n": 3, "angle": 0.05}, "bouncing_ball": {"height": 0.02},
    "catch_and_throw": {"catch": 0.03, "throw": 0.09}, "ball_pile": {"n": 20, "friction": 0.2},
    "slack_rope": {"n": 4, "span": 0.78}, "jelly_block": {"n": 3, "height": 0.01}, "flag_wind": {"n": 6},
    **{f"cloth_{name}": {"n": 6} for name in ("hang", "ball", "posts", "drape", "fold")},
}  # fmt: skip
STEPS, CUT = 24, 11


def run(scene: taut.Scene, method: str, **more) -> taut.Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", taut.TautWarning)
        dt = scene.suggested["dt"]
        return taut.simulate(scene, method, dt, STEPS * dt, progress=False, **SOFT.get(method, {}), **more)


def run_in_part(scene: taut.Scene, method: str, out: Path, monkeypatch) -> taut.Run:
    """A stored run that is interrupted after CUT steps."""
    keep = Session._keep

    def stop_early(session, buffers, rows):
        keep(session, buffers, rows)
        if session.done >= CUT:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("taut.simulation.session.CHUNK_SECONDS", 1e-9)
        patch.setattr(Session, "_keep", stop_early)
        return run(scene, method, out=out, durable=False)


def differing(found: taut.Run, expected: taut.Run) -> list[str]:
    names = [name for name, values in expected.records.as_dict().items()
             if found.records.as_dict()[name].tobytes() != values.tobytes()]  # fmt: skip
    return names + ["events"] * (found._events.tobytes() != expected._events.tobytes())


@pytest.mark.parametrize("name", SCENES)
def test_resumed_equals_uninterrupted_for_every_method(name, tmp_path, monkeypatch):
    scene = taut.gallery(name, **SMALL.get(name, {}))
    treated, wrong = [], {}
    for method in METHODS:
        try:
            expected = run(scene, method)
        except taut.TautError:
            continue  # it refuses the scene
        cut = run_in_part(scene, method, tmp_path / method, monkeypatch)
        if cut.status == "diverged":
            continue  # there is nothing to go on with
        assert cut.status == "interrupted" and CUT <= cut.steps < STEPS, f"{method}: {cut.status} after {cut.steps}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", taut.TautWarning)
            resumed = taut.resume(tmp_path / method, progress=False, durable=False)
        treated.append(method)
        if found := differing(resumed, expected):
            wrong[method] = found
    assert treated and not wrong, f"of {treated} these differ after resuming: {wrong}"


STORED = json.loads((Path(__file__).parent / "stored_scenes.json").read_text())  # digests, by the version before


def with_nine_digits(text: str) -> str:
    """The numbers of a text to nine digits, since processors and libraries differ in the last ones."""
    return re.sub(r"-?\d+\.\d*(e[+-]?\d+)?", lambda found: f"{round(float(found[0]), 12) + 0.0:.9g}", text)


@pytest.mark.parametrize("name", STORED)
def test_a_scene_is_still_that_of_runs_stored_before(name, monkeypatch):
    """A field or an argument that was added since is marked as such ("later") and left out where it is not given.

    Where a scene of the gallery is changed on purpose, its line goes, since its runs can not be resumed any more.
    """
    short = digests._short
    monkeypatch.setattr(digests, "_short", lambda text: short(with_nine_digits(text)))
    found = json.dumps(of_scene(taut.gallery(name)), sort_keys=True)
    assert hashlib.blake2b(found.encode(), digest_size=8).hexdigest() == STORED[name]


def test_cloth_of_the_papers_rule_goes_on_with_nodes_where_it_began_so(tmp_path, monkeypatch):
    """Before system="auto" limit_rule="paper" was solved for the nodes; the scenes of such runs say nothing of it."""
    scene = with_system(taut.gallery("cloth_ball", n=6, limit_rule="paper"), "nodes")
    expected = run(scene, "implicit_first")
    cut = run_in_part(scene, "implicit_first", tmp_path / "run", monkeypatch)
    resumed = taut.resume(tmp_path / "run", progress=False, durable=False)
    assert cut.steps < STEPS and not differing(resumed, expected), differing(resumed, expected)
