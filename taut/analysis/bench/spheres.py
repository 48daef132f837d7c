"""The balls of `ball_pile` in MuJoCo: the same sizes and places, no friction, contacts as stiff as it accepts.

Balls have no rotation, as in taut. Contacts of MuJoCo are springs and dampers whose time constant is two steps at
least, so that balls that fall on each other overlap.
"""

from __future__ import annotations

import time as clock
from importlib.util import find_spec
from typing import NamedTuple

from ...scene.scene import Scene


class Solver(NamedTuple):
    name: str
    mujoco: str  # its name there
    largest: int  # balls that it takes within reason


SOLVERS = (Solver("MuJoCo, Newton", "mjSOL_NEWTON", 100), Solver("MuJoCo, CG", "mjSOL_CG", 5_000))


class Spheres:
    """A scene of balls and half-spaces, laid out for MuJoCo."""

    def __init__(self, scene: Scene, dt: float, solver: Solver) -> None:
        import mujoco

        spec = mujoco.MjSpec()
        spec.option.timestep = dt
        spec.option.gravity = list(scene.gravity)
        spec.option.solver = getattr(mujoco.mjtSolver, solver.mujoco)
        touch = {"condim": 1, "solref": [2 * dt, 1]}
        for wall in scene.obstacles.values():
            point, normal = ([number.source for number in wall.arguments[name]] for name in ("point", "normal"))
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_PLANE, pos=point, zaxis=normal, size=[0, 0, 1], **touch
            )
        for ball in scene.bodies.values():
            body = spec.worldbody.add_body(pos=ball.position)
            for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
                body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[ball.radius, 0, 0], mass=ball.mass, **touch)
        self._step = mujoco.mj_step
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)

    def seconds(self, steps: int) -> float:
        """How long that many steps more take."""
        began = clock.perf_counter()
        self._step(self._model, self._data, nstep=steps)
        return clock.perf_counter() - began

    def overlap(self) -> float:
        """The deepest contact now [m]."""
        return float(-self._data.contact.dist.min(initial=0.0))


def solvers_present() -> tuple[tuple[Solver, ...], list[str]]:
    """The solvers at hand, and a line that says what is missing."""
    if find_spec("mujoco") is not None:
        return SOLVERS, []
    return (), ["not installed: mujoco; pip install mujoco"]
