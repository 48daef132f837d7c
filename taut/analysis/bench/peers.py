"""Other engines on the hanging chain: unit masses, unit links, from horizontal and at rest, gravity 9.81.

Each in the form nearest to it. Engines in reduced coordinates (hinges) can not drift; iterative ones do not
hold long chains; constraints of MuJoCo and Exudyn are held as softly as their defaults say. A function here
is given the number of links and the step and returns the engine as three actions.
"""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

GRAVITY = -9.81
SMALL_INERTIA = 1e-12  # of a point mass, for engines that ask for one [kg m²]


class Engine(NamedTuple):
    restart: Callable[[], None]
    advance: Callable[[int], object]  # by that many steps
    tip: Callable[[], np.ndarray]  # what is compared [m]: place of the last mass, (2,), or of bodies, (n, 3)

    def seconds(self, steps: int) -> float:
        """How long that many steps from the start take."""
        self.restart()
        return self.seconds_more(steps)

    def seconds_later(self, steps: int) -> float:
        """The same after a first step, in which some engines set up what they keep."""
        self.restart()
        self.advance(1)
        return self.seconds_more(steps)

    def seconds_more(self, steps: int) -> float:
        began = clock.perf_counter()
        self.advance(steps)
        return clock.perf_counter() - began


class Peer(NamedTuple):
    name: str
    package: str
    largest: int  # links that it takes within reason
    prepare: Callable[[int, float], Engine]


def mujoco_hinges(links: int, dt: float, integrator: str) -> Engine:
    import mujoco

    spec = _mujoco_spec(dt, integrator)
    body = spec.worldbody
    for i in range(links):
        body = body.add_body(
            pos=[min(i, 1), 0, 0], mass=1, ipos=[1, 0, 0], inertia=[SMALL_INERTIA] * 3, explicitinertial=True
        )
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    return _mujoco_engine(spec.compile())


def mujoco_tendons(links: int, dt: float, integrator: str) -> Engine:
    import mujoco

    spec = _mujoco_spec(dt, integrator)
    spec.worldbody.add_site(name="site_0")
    for i in range(1, links + 1):
        body = spec.worldbody.add_body(
            pos=[i, 0, 0], mass=1, ipos=[0, 0, 0], inertia=[SMALL_INERTIA] * 3, explicitinertial=True
        )
        for axis in np.eye(3):
            body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        body.add_site(name=f"site_{i}")
        tendon = spec.add_tendon(name=f"link_{i}")
        tendon.wrap_site(f"site_{i - 1}")
        tendon.wrap_site(f"site_{i}")
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_TENDON, objtype=mujoco.mjtObj.mjOBJ_TENDON, name1=f"link_{i}",
            solref=[2 * dt, 1],  # the stiffest that MuJoCo accepts at this step
        )  # fmt: skip
    return _mujoco_engine(spec.compile())


def _mujoco_spec(dt: float, integrator: str):
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.timestep = dt
    spec.option.gravity = [0, GRAVITY, 0]
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return spec


def _mujoco_engine(model) -> Engine:
    import mujoco

    data = mujoco.MjData(model)
    return Engine(
        lambda: mujoco.mj_resetData(model, data), lambda steps: mujoco_steps(model, data, steps),
        lambda: mujoco_places(model, data)[-1, :2],
    )  # fmt: skip


def mujoco_steps(model: Any, data: Any, steps: int) -> None:
    """Steps without MuJoCo's own log of warnings: what has diverged is told by its places."""
    import mujoco

    mujoco.set_mju_user_warning(lambda text: None)
    try:
        mujoco.mj_step(model, data, nstep=steps)
    finally:
        mujoco.set_mju_user_warning(None)


def mujoco_places(model: Any, data: Any) -> np.ndarray:
    """Centres of mass of all bodies [m], (n, 3); nan where a run diverged, since MuJoCo then begins it anew."""
    import mujoco

    failed = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)
    if any(data.warning[int(kind)].number for kind in failed):
        return np.full(data.xipos.shape, np.nan)
    mujoco.mj_kinematics(model, data)
    return data.xipos.copy()


def pymunk_pins(links: int, dt: float) -> Engine:
    import pymunk

    made: dict[str, pymunk.Space] = {}

    def restart() -> None:
        space = made["space"] = pymunk.Space()
        space.gravity = (0, GRAVITY)
        space.iterations = 10
        last = space.static_body
        for i in range(1, links + 1):
            body = pymunk.Body(1, 1)
            body.position = (i, 0)
            space.add(body, pymunk.PinJoint(last, body))
            last = body

    def advance(steps: int) -> None:
        step = made["space"].step
        for _ in range(steps):
            step(dt)

    return Engine(restart, advance, lambda: np.array(list(made["space"].bodies)[-1].position))


def exudyn_distances(links: int, dt: float) -> Engine:
    import exudyn

    # Exudyn renames its words from time to time and warns; those used here are valid up to 2031.
    def quietly(action: Callable, *values, **words):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return action(*values, **words)

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    last = quietly(system.CreateGround, referencePosition=[0, 0, 0])
    for i in range(1, links + 1):
        mass = quietly(
            system.CreateMassPoint, referencePosition=[i, 0, 0], physicsMass=1, gravity=[0, GRAVITY, 0]
        )
        quietly(system.CreateDistanceConstraint, bodyNumbers=[last, mass], distance=1.0)
        last = mass
    system.Assemble()

    def settings(steps: int):
        chosen: Any = exudyn.SimulationSettings()
        chosen.timeIntegration.numberOfSteps = steps
        chosen.timeIntegration.endTime = steps * dt
        chosen.solutionSettings.writeSolutionToFile = False
        chosen.linearSolverType = exudyn.LinearSolverType.EigenSparse
        return chosen

    def advance(steps: int) -> None:
        system.SolveDynamic(quietly(settings, steps), exudyn.DynamicSolverType.GeneralizedAlpha)

    def tip() -> np.ndarray:
        return np.array(system.GetObjectOutputBody(last, exudyn.OutputVariableType.Position)[:2])

    def restart(owner: Any = container) -> None:
        """Each solve begins at the initial values. The container owns the system: it lives as long as the engine."""

    return Engine(restart, advance, tip)


PEERS = (
    Peer("MuJoCo hinges, Euler", "mujoco", 1_000, lambda n, dt: mujoco_hinges(n, dt, "EULER")),
    Peer("MuJoCo hinges, RK4", "mujoco", 1_000, lambda n, dt: mujoco_hinges(n, dt, "RK4")),
    Peer("MuJoCo tendons, Euler", "mujoco", 1_000, lambda n, dt: mujoco_tendons(n, dt, "EULER")),
    Peer("pymunk pins, 10 iterations", "pymunk", 10_000, pymunk_pins),
    Peer("Exudyn distances, generalized-α", "exudyn", 1_000, exudyn_distances),
)


def present() -> tuple[list[Peer], list[str]]:
    """The peers at hand, and a line on those that are missing."""
    here = [peer for peer in PEERS if find_spec(peer.package) is not None]
    missing = sorted({peer.package for peer in PEERS} - {peer.package for peer in here})
    notes = [f"not installed: {', '.join(missing)}; pip install {' '.join(missing)}"] if missing else []
    return here, notes
