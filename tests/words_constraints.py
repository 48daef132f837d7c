"""Words for tests of constraints: an example of every kind, and a probe that looks at it anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import taut
from taut.arguments import Example
from taut.compiled import entry
from taut.constraints import KINDS, Kind
from taut.model.evaluate import advance_positions, evaluate_constraints, jacobian_times, set_time

STEP = 0.02
FIRST = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([8 / 5, -1 / 5, 8 / 315, -1 / 560])
TIME = 0.3
P = (0.1, 0.2, 1.1)  # where the point p of examples starts


@entry
def look(system, t, x, quat, v, s, moved_x, moved_quat, moved_v):
    """Evaluate the constraints at q ⊞ s v and time t; J v into work.b, J a of driven bodies into work.mu."""
    work = system.work
    advance_positions(system, x, quat, v, s, moved_x, moved_quat)
    for i in range(v.shape[0]):
        for c in range(3):
            moved_v[i, c] = v[i, c]
    set_time(system, t, moved_x, moved_quat, moved_v)
    evaluate_constraints(system, t, moved_x, moved_quat, moved_v, True, work.J)
    jacobian_times(system, work.J, moved_v, work.b)
    jacobian_times(system, work.J, work.driven, work.mu)


class Probe:
    """A scene's constraints at a random configuration and velocity, off the constraints on purpose."""

    def __init__(self, scene: taut.Scene, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.model = model = taut.build(scene)
        self.system = model.system()
        self.x = model.x + 0.05 * random.standard_normal(model.x.shape)
        self.v = random.standard_normal(model.x.shape)
        for body in model.body_info:
            if body.kind == "coordinate":
                self.x[body.slot, 1:] = self.v[body.slot, 1:] = 0.0
        self.v[model.places.base[model.places.base != model.places.slot]] = 0.0  # the base of directions never moves
        self.quat = model.quat + 0.1 * random.standard_normal(model.quat.shape)
        self.quat /= np.linalg.norm(self.quat, axis=1, keepdims=True)

    def at(self, s: float = 0.0, t: float = TIME, v: np.ndarray | None = None):
        """The system's work arrays after looking."""
        v = self.v if v is None else v
        look(self.system, t, self.x, self.quat, v, s, self.x.copy(), self.quat.copy(), v.copy())
        return self.system.work

    def first(self, phi) -> np.ndarray:
        return sum(c * (phi(k * STEP) - phi(-k * STEP)) for k, c in enumerate(FIRST, 1)) / STEP

    def second(self, phi) -> np.ndarray:
        around = sum(c * (phi(k * STEP) + phi(-k * STEP)) for k, c in enumerate(SECOND, 1))
        return (around - 205 / 72 * phi(0.0)) / STEP**2


def cast(scene: taut.Scene) -> dict[str, Any]:
    """The bodies that examples of kinds name (constraints/base.py)."""
    # An inertia with products turns the principal axes away from the body's own.
    inertia = [[0.3, 0.05, 0.02], [0.05, 0.4, 0.01], [0.02, 0.01, 0.5]]
    return {
        "p": scene.particle(P, radius=0.05, name="p"),
        "q": scene.particle((1.2, 0.1, 0.3), mass=2.0, name="q"),
        "r": scene.particle((0.3, 1.4, -0.2), name="r"),
        "s": scene.particle((0.9, 1.1, 0.8), name="s"),
        "box": scene.rigid((2, 1, 0), mass=3.0, shape={"box": (0.3, 0.5, 0.9)}, orientation=("x", 0.4), name="box"),
        "rod": scene.rigid((1, -1, 2), mass=1.0, inertia=inertia, orientation=((1, 1, 0), 1.2), name="rod"),
        "turn": scene.coordinate(0.7, inertia=2.0, name="turn"),
        "shift": scene.coordinate(0.3, name="shift"),
    }


def point_of(scene: taut.Scene, bodies: dict[str, Any], point: Any) -> Any:
    if isinstance(point, str):
        return bodies[point]
    if isinstance(point, Example):
        return add(scene, bodies, point.kind, point)
    return bodies[point[0]].at(point[1]) if isinstance(point[0], str) else point


def add(scene: taut.Scene, bodies: dict[str, Any], kind: str, example: Example) -> Any:
    return getattr(scene, kind)(*(point_of(scene, bodies, point) for point in example.points), **example.arguments)


def cast_with(kind: str, examples: Sequence[Example], **scene_options: Any) -> taut.Scene:
    """The cast with examples of a kind, of constraints or of forces."""
    scene = taut.Scene(name=kind, **scene_options)
    bodies = cast(scene)
    for example in examples:
        add(scene, bodies, kind, example)
    return scene


def scene_of(kind: str, examples: Sequence[Example] | None = None) -> taut.Scene:
    """The cast with the examples of a kind."""
    scene = cast_with(kind, KINDS[kind].examples if examples is None else examples)
    # A kernel does not know the sense of its kind: as equalities, all are evaluated in the same way.
    for name, constraint in scene.constraints.items():
        scene._constraints[name] = replace(constraint, sense="==")
    return scene


def has_positions(kind: Kind) -> bool:
    """Whether some row of its examples is a condition on positions."""
    return kind.level == "position" or bool((taut.build(scene_of(kind.name)).rows.at_velocity == 0).any())


POSITIONS = [kind.name for kind in KINDS.values() if has_positions(kind)]
VELOCITIES = [
    kind.name
    for kind in KINDS.values()
    if kind.level == "velocity" or any(argument.name == "velocity" for argument in kind.arguments)
]
