"""A pendulum and records made up for it, for the tests of results and of their store."""

from __future__ import annotations

import numpy as np

import taut
from taut.result import Records

INFO = {"method": "by hand", "dt": 0.5, "record_every": 1, "options": {}, "steps_done": 4}


def pendulum() -> taut.Scene:
    scene = taut.Scene(name="pendulum")
    scene.particle((0.6, -0.8, 0.0), mass=2.0, velocity=(0.8, 0.6, 0.0), name="bob")
    scene.distance((0, 0, 0), "bob", name="rod")
    return scene


def made_up(model, count: int, first: int = 0) -> dict[str, np.ndarray]:
    """Records in which every number tells its own place."""
    found = {}
    for name, shape in Records.shapes(model).items():
        k = np.arange(first, first + count, dtype=float).reshape(-1, *(1 for _ in shape))
        found[name] = np.sin(k) + np.arange(int(np.prod(shape))).reshape(shape)
    return found


def at_start(model, count: int = 1) -> dict[str, np.ndarray]:
    """Records that stay at the initial state, with zeros for the rest."""
    found = {name: np.zeros((count, *shape)) for name, shape in Records.shapes(model).items()}
    slots = int(model.bodies.slots)
    found["x"][:], found["quat"][:], found["v"][:] = model.x[:slots], model.quat, model.v[:slots]
    return found


def assert_same_bits(found: dict, expected: dict) -> None:
    for name, values in expected.items():
        assert found[name].tobytes() == values.tobytes(), f"'{name}' differs after reading back"
