"""A resumed run is the uninterrupted one, bit for bit: every method on every scene of the gallery that it can treat."""

from __future__ import annotations

import warnings

import pytest
from words_methods import SOFT

import taut
from taut.methods import METHODS
from taut.scene import SCENES
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


def differing(found: taut.Run, expected: taut.Run) -> list[str]:
    names = [name for name, values in expected.records.as_dict().items()
             if found.records.as_dict()[name].tobytes() != values.tobytes()]  # fmt: skip
    return names + ["events"] * (found._events.tobytes() != expected._events.tobytes())


@pytest.mark.parametrize("name", SCENES)
def test_resumed_equals_uninterrupted_for_every_method(name, tmp_path, monkeypatch):
    scene = taut.gallery(name, **SMALL.get(name, {}))
    keep, treated, wrong = Session._keep, [], {}

    def stop_early(session, buffers, rows):
        keep(session, buffers, rows)
        if session.done >= CUT:
            raise KeyboardInterrupt

    for method in METHODS:
        try:
            expected = run(scene, method)
        except taut.TautError:
            continue  # it refuses the scene
        with monkeypatch.context() as patch:
            patch.setattr("taut.simulation.session.CHUNK_SECONDS", 1e-9)
            patch.setattr(Session, "_keep", stop_early)
            cut = run(scene, method, out=tmp_path / method, durable=False)
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
