"""Random mechanisms of rigid bodies on joints, judged as physics.py judges particles: right, or said so.

    python -m tests.fuzzing.mechanisms 1000 [first seed]

A case is a tree of bodies, in space or in a plane, on joints of all kinds, some of whose coordinates have limits that
are soon met, springs, motors, drives, gears or controllers; beside them rods that close loops, ropes, and conditions on
velocities. It starts with random velocities, which are made consistent.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import taut

from .physics import METHOD_NAMES, SUITABLE, Case, direction, judged, run_cases

ANGLE, LENGTH = "angle", "displacement"
SPATIAL: dict[str, tuple[str, ...]] = {  # joints, with the coordinates that they have
    "hinge": (ANGLE,), "slider": (LENGTH,), "cylindrical": (ANGLE, LENGTH), "universal": ("angle_1", "angle_2"),
    "planar_joint": (ANGLE,), "point_on_line": (LENGTH,), "screw": (ANGLE,), "point_on_plane": (), "ball": (),
    "constant_velocity": (), "constant_angle": (), "weld": (),
}  # fmt: skip
PLANAR = {kind: SPATIAL[kind] for kind in ("hinge", "slider", "point_on_line", "weld")}


def random_case(seed: int) -> Case:
    rng = np.random.default_rng([seed, 18])
    is_planar = rng.random() < 0.25
    scene = taut.Scene(name=f"mechanism_{seed}")
    joints: list[tuple[Any, str]] = []
    bodies: list[Any] = []
    places = [np.zeros(3)]
    for i in range(int(rng.integers(1, 5))):
        on, at = (bodies[-1], places[-1]) if bodies and rng.random() < 0.8 else (None, np.zeros(3))
        way = direction(rng) * (1, 1, 0 if is_planar else 1)
        middle = at + 0.5 * way
        inertia = 0.06 if is_planar else rng.uniform(0.04, 0.1) * rng.uniform(0.7, 1.0, 3)
        spin = (0, 0, rng.normal()) if is_planar else rng.normal(size=3)
        body = scene.rigid(middle, mass=float(10 ** rng.uniform(-0.5, 0.5)), inertia=inertia, planar=is_planar,
                           velocity=rng.normal(size=3) * (1, 1, 0 if is_planar else 1), angular_velocity=spin,
                           name=f"bar_{i}")  # fmt: skip
        to = tuple(at) if on is None else on.at(at - places[-2])
        joints += joined(rng, scene, body.at(at - middle), to, i, is_planar)
        bodies.append(body)
        places += [middle, at + way]
    for coordinate in joints:
        driven(rng, scene, *coordinate)
    coupled(rng, scene, joints)
    beside(rng, scene, bodies, is_planar)
    size = float(np.linalg.norm(np.ptp(places, axis=0)))
    return Case(scene, str(rng.choice(METHOD_NAMES)), SUITABLE * 10 ** rng.uniform(-1.0, 0.6), None, False, size)


def joined(rng: np.random.Generator, scene: taut.Scene, here: Any, to: Any, i: int, is_planar: bool) -> list:
    """The body on a joint of a random kind, and the coordinates of this."""
    kinds = PLANAR if is_planar else SPATIAL
    kind = str(rng.choice(list(kinds)))
    axis = (0.0, 0.0, 1.0) if is_planar and kind == "hinge" else tuple(direction(rng) * (1, 1, 0 if is_planar else 1))
    other = np.cross(axis, direction(rng))
    given: dict[str, Any] = {"axis": axis}
    if kind in ("ball", "weld"):
        given = {}
    elif kind == "universal":
        given["axis_2"] = tuple(other)
    elif kind == "screw":
        given["pitch"] = float(rng.uniform(0.1, 1.0))
    elif kind == "point_on_plane":
        given = {"normal": axis}
    elif kind == "constant_angle":
        given = {"direction": axis, "direction_2": tuple(other)}
    joint = getattr(scene, kind)(here, to, name=f"{kind}_{i}", **given)
    return [(joint, name) for name in kinds[kind]]


def driven(rng: np.random.Generator, scene: taut.Scene, joint: Any, name: str) -> None:
    """What acts on a coordinate of a joint, or holds it."""
    which = {} if name in (ANGLE, LENGTH) and "cylindrical" not in joint.name else {"coordinate": name}
    force, kind = "force" if name == LENGTH else "torque", rng.random()
    if kind < 0.3:
        scene.joint_limit(joint, lower=-float(rng.uniform(0.01, 0.1)), upper=float(rng.uniform(0.01, 0.1)), **which)
    elif kind < 0.45:
        scene.spring_on(joint, stiffness=float(10 ** rng.uniform(0, 2)), damping=0.1, **which)
    elif kind < 0.55:
        scene.motor(joint, **{force: "2*sin(7*t)"}, **which)
    elif kind < 0.6:
        scene.motor(joint, target="0.2*t", stiffness=20.0, damping=1.0, **which)
    elif kind < 0.7:
        scene.drive(joint, value="0.3*sin(5*t)", **which)


def coupled(rng: np.random.Generator, scene: taut.Scene, joints: list) -> None:
    free = {spec.arguments["joint"] for spec in scene.constraints.values() if spec.kind in ("drive", "joint_limit")}
    turning = [joint for joint, name in joints if name == ANGLE and "hinge" in joint.name and joint.name not in free]
    if len(turning) >= 2 and rng.random() < 0.5:
        scene.couple(turning[0], turning[1], ratio=float(rng.choice([-2.0, 0.5])))


def beside(rng: np.random.Generator, scene: taut.Scene, bodies: list, is_planar: bool) -> None:
    """A rod that closes a loop, a rope that is soon taut, or a condition on velocities."""
    kind, body = rng.random(), bodies[-1]
    is_driven = any(spec.kind == "drive" for spec in scene.constraints.values())
    place = body.at(0.3 * direction(rng) * (1, 1, 0 if is_planar else 1))
    anchor = tuple(2.0 * direction(rng) * (1, 1, 0 if is_planar else 1))
    if kind < 0.15 and not is_driven:  # a rod could contradict what drives ask for
        scene.distance(place, anchor, name="rod")
    elif kind < 0.35:
        start = float(np.linalg.norm(np.subtract(anchor, placed(scene, place))))
        scene.max_distance(place, anchor, length=start * float(rng.uniform(1.0, 1.05)), name="rope")
    elif kind < 0.45 and len(bodies) > 1:
        v = f"{place.body}.v"
        scene.custom(place, velocity=f"{v}x - 0.5*{v}y" if rng.random() < 0.5 else f"{v}y - 0.2*sin(4*t)", name="slide")


def placed(scene: taut.Scene, place: Any) -> np.ndarray:
    body = scene.bodies[place.body]
    return np.add(body.position, place.offset)  # bodies start unturned


def case(seed: int, folder: Path) -> str | None:
    """A fault of the case, or None. Nothing is written to the folder."""
    return judged(seed, random_case)[1]


if __name__ == "__main__":
    sys.exit(run_cases(random_case, sys.argv[1:]))
