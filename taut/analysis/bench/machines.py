"""The mechanisms of the gallery in MuJoCo, from the extra `bench`.

MuJoCo works in coordinates of a tree of joints; what closes a loop is a soft equality, here as stiff as it accepts.
Masses, principal moments and places at the start are read from taut's own model, so that both move the same thing; a
tree says how bodies hang on each other:

    body, parent ("" is the world), kind of joint, pivot [m], axis

All frames of bodies stand at their centres of mass and along the world's axes at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import cos, sin
from typing import Any, NamedTuple

import numpy as np

from ...model import Model
from ...model.frames import rotate
from ...scene.gallery import mechanisms, squeezer
from .peers import Engine, mujoco_places, mujoco_steps

PACKAGE = "mujoco"
INTEGRATORS = {"MuJoCo, Euler": "EULER", "MuJoCo, RK4": "RK4", "MuJoCo, implicitfast": "IMPLICITFAST"}
STIFF = [0.9999, 0.9999, 0.001, 0.5, 2.0]  # solimp: as hard as MuJoCo lets an equality be
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
GROUND = ""  # as a parent
Place = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Tree:
    """A mechanism as MuJoCo sees it; places are of the world at the start [m]."""

    joints: Sequence[tuple[str, str, str, Place, Place]]
    loops: Sequence[tuple[str, str, Place]] = ()  # two bodies that keep a point in common
    springs: Sequence[tuple[str, Place, str, Place, float, float, float]] = ()  # ends, stiffness, damping, length
    rates: Mapping[int, float] = field(default_factory=dict)  # of coordinates at the start
    push: Mapping[int, float] = field(default_factory=dict)  # force on coordinates
    gravity: float = -9.81


class Body(NamedTuple):
    """A body at the start, in the world's axes."""

    mass: float
    inertia: np.ndarray  # principal moments [kg m²]
    quat: np.ndarray  # of the principal axes
    place: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray  # angular velocity


def bodies_of(model: Model) -> dict[str, Body]:
    found = {}
    for info in model.body_info:
        quat = model.quat[info.quat]
        spin = rotate(quat, model.v[info.slot + 1])
        found[info.name] = Body(info.mass, model.bodies.inertia[info.quat], quat, model.x[info.slot].copy(),
                                model.v[info.slot].copy(), spin)
    return found


def inertia_at_start(body: Body) -> np.ndarray:
    """About the centre, in the world's axes at the start [kg m²]."""
    axes = np.array([rotate(body.quat, e) for e in np.eye(3)]).T
    return axes @ np.diag(body.inertia) @ axes.T


def heavy_top(at: dict[str, np.ndarray]) -> Tree:
    rates = {0: 150.0, 1: -4.61538}  # as in the gallery: about its own axis, which is along x at the start, and y
    return Tree([("top", "", "BALL", (0, 0, 0), X)], rates=rates)


def bricard(at: dict[str, np.ndarray]) -> Tree:
    corners, bars = np.array(mechanisms.BRICARD, float), [f"bar_{i}" for i in range(1, 6)]
    axes = (Y, Z, X)
    joints = [(bar, ("", *bars)[i], "HINGE", corners[i], axes[i % 3]) for i, bar in enumerate(bars)]
    last = np.array(axes[5 % 3])
    return Tree(joints, loops=[("bar_5", "", corners[5] + side * 0.05 * last) for side in (-1, 1)])


def andrews_squeezer(at: dict[str, np.ndarray]) -> Tree:
    def in_plane(point: Sequence[float]) -> Place:
        return (*point, 0.0)

    def on(body: int, x: float, y: float) -> Place:
        link = squeezer.LINKS[body - 1]
        c, s = cos(link.angle), sin(link.angle)
        return at[f"K{body}"] + (c * x - s * y, s * x + c * y, 0.0)

    s = squeezer
    joints = [
        ("K1", "", "HINGE", (0, 0, 0), Z), ("K2", "K1", "HINGE", in_plane(s.CRANK_END), Z),
        ("K3", "", "HINGE", in_plane(s.B), Z), ("K5", "", "HINGE", in_plane(s.A), Z),
        ("K4", "K5", "HINGE", in_plane(s.G), Z), ("K7", "", "HINGE", in_plane(s.A), Z),
        ("K6", "K7", "HINGE", in_plane(s.H), Z),
    ]  # fmt: skip
    tip = on(2, s.DA - s.D, 0.0)
    spring = ("K3", on(3, s.SD - s.SB, s.SA - s.SC), "", in_plane(s.C), s.STIFFNESS, 0.0, s.LENGTH)
    return Tree(joints, [("K2", f"K{i}", tip) for i in (3, 4, 6)], [spring], push={0: s.TORQUE}, gravity=0.0)


def flyball_governor(at: dict[str, np.ndarray]) -> Tree:
    joints: list[tuple[str, str, str, Place, Place]] = [
        ("axle", "", "HINGE", (0, 0, 0), Y), ("sleeve", "axle", "SLIDE", at["sleeve"], Y),
    ]  # fmt: skip
    springs: list[tuple[str, Place, str, Place, float, float, float]] = []
    for side in ("left", "right"):
        arm = f"{side}_arm"
        joints += [(arm, "axle", "HINGE", (0, 1, 0), Z), (f"{side}_ball", arm, "", (0, 0, 0), Z)]
        springs.append((arm, at[arm], "sleeve", at["sleeve"], 8e5, 4e4, 0.5))
    return Tree(joints, springs=springs, rates={0: 2 * np.pi})


TREES: dict[str, Callable[[dict[str, np.ndarray]], Tree]] = {
    tree.__name__: tree for tree in (heavy_top, bricard, andrews_squeezer, flyball_governor)
}


def engine(name: str, model: Model, bodies: Sequence[str], integrator: str, dt: float) -> Engine:
    """A mechanism of the gallery; what is compared are the places of these bodies."""
    import mujoco

    infos = {info.name: info for info in model.body_info}
    at = {name: model.x[info.slot].copy() for name, info in infos.items()}
    tree = TREES[name](at)
    spec = mujoco.MjSpec()
    spec.option.timestep = dt
    spec.option.gravity = [0, tree.gravity, 0]
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    made: dict[str, Any] = {"": spec.worldbody}
    at[""] = np.zeros(3)
    for body, parent, kind, pivot, axis in tree.joints:
        info = infos[body]
        made[body] = made[parent].add_body(
            name=body, pos=at[body] - at[parent], mass=info.mass, ipos=[0, 0, 0], iquat=model.quat[info.quat],
            inertia=model.bodies.inertia[info.quat], explicitinertial=True,
        )  # fmt: skip
        if kind:
            joint = getattr(mujoco.mjtJoint, f"mjJNT_{kind}")
            made[body].add_joint(type=joint, pos=np.array(pivot) - at[body], axis=axis)
    _close(spec, made, at, tree, dt)
    compiled = spec.compile()
    return _engine(compiled, tree, [compiled.body(name).id for name in bodies])


def _close(spec: Any, made: dict[str, Any], at: dict[str, np.ndarray], tree: Tree, dt: float) -> None:
    """Loops and springs."""
    import mujoco

    for i, (one, two, point) in enumerate(tree.loops):
        ends = [f"loop_{i}{side}" for side in "ab"]
        for end, body in zip(ends, (one, two)):
            made[body].add_site(name=end, pos=np.array(point) - at[body])
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE, name1=ends[0], name2=ends[1],
            solref=[2 * dt, 1], solimp=STIFF,  # the stiffest that MuJoCo accepts at this step
        )  # fmt: skip
    for i, (one, first, two, last, stiffness, damping, length) in enumerate(tree.springs):
        tendon = spec.add_tendon(
            name=f"spring_{i}", stiffness=[stiffness, 0, 0], damping=[damping, 0, 0], springlength=[length, length]
        )
        for side, own, place in (("a", one, first), ("b", two, last)):
            made[own].add_site(name=f"spring_{i}{side}", pos=np.array(place) - at[own])
            tendon.wrap_site(f"spring_{i}{side}")


def _engine(model: Any, tree: Tree, watched: list[int]) -> Engine:
    import mujoco

    data = mujoco.MjData(model)

    def restart() -> None:
        mujoco.mj_resetData(model, data)
        for values, given in ((data.qvel, tree.rates), (data.qfrc_applied, tree.push)):
            for i, value in given.items():
                values[i] = value

    return Engine(
        restart, lambda steps: mujoco_steps(model, data, steps), lambda: mujoco_places(model, data)[watched]
    )


def missing() -> list[str]:
    """What to tell where MuJoCo is not at hand."""
    return [] if find_spec(PACKAGE) else [f"not installed: {PACKAGE}; pip install {PACKAGE}"]
