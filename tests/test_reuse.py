"""A second run of a scene reuses its model, and nothing of the first run is left in it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numba
import numpy as np
import pytest

import taut
from taut.analysis.bench.calls import MOST_CALLS, calls_before_first_step
from taut.expressions.signal import Signal
from taut.methods import METHODS
from taut.simulation.reuse import model_of

SMALL = {"two_link": {}, "four_bar": {}, "billiard": {}, "driven_anchor": {}, "chain": {"n": 5}}


def arrays(value, path="model"):
    if isinstance(value, np.ndarray):
        yield path, value
    elif is_dataclass(value):
        for field in fields(value):
            yield from arrays(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, tuple):
        for k, entry in enumerate(value):
            yield from arrays(entry, f"{path}.{k}")


@pytest.mark.parametrize("name", SMALL)
def test_a_run_leaves_the_model_as_it_was_and_a_second_run_is_the_same(name):
    scene = taut.gallery(name, **SMALL[name])
    model = model_of(scene)
    before = {path: array.copy() for path, array in arrays(model)}
    dt = scene.suggested["dt"]
    runs = [taut.simulate(scene, dt=dt, duration=20 * dt, progress=False) for _ in range(2)]
    assert runs[0].model.rows is runs[1].model.rows is model.rows, "the model was built twice"
    changed = [path for path, array in arrays(model) if not np.array_equal(array, before[path], equal_nan=True)]
    assert not changed, changed
    for path, array in arrays(runs[0].records):
        assert np.array_equal(array, dict(arrays(runs[1].records))[path], equal_nan=True), path


def hanging():
    scene = taut.Scene()
    top, mass = scene.particle((0, 0, 0), fixed=True, name="top"), scene.particle((1, 0, 0), name="mass")
    scene.distance(top, mass, name="rod")
    return scene


CHANGES = {
    "gravity": lambda scene: setattr(scene, "gravity", (0, 0, 0)),
    "a body more": lambda scene: scene.particle((5, 0, 0)),
    "a constraint more": lambda scene: scene.distance("top", "mass", name="twin"),
    "an argument": lambda scene: scene.constraints["rod"].arguments.update(length=Signal.of(2.0)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_scene_gets_a_model_of_its_own(change):
    scene = hanging()
    before = model_of(scene)
    assert model_of(scene) is before
    CHANGES[change](scene)
    assert model_of(scene) is not before


def test_a_scene_with_a_python_function_is_built_anew():
    scene = taut.Scene()
    scene.particle(path=lambda t: (0.1 * t, 0.0, 0.0), name="hand")
    assert model_of(scene) is not model_of(scene)


def test_equal_scenes_do_not_share_a_model():
    assert model_of(hanging()) is not model_of(hanging())


def test_steps_of_cloth_do_not_share_what_they_write():
    scene = taut.gallery("cloth_drape", n=4)
    first, second = model_of(scene), model_of(scene)
    assert first.rows is second.rows, "the model was built twice"
    assert first.inequalities.phi is not second.inequalities.phi


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("known", [False, True], ids=["new scene", "same scene"])
def test_few_python_calls_are_made_before_the_first_step(known):
    count = calls_before_first_step(METHODS["implicit_second"], known)
    assert count <= MOST_CALLS, count
