"""Loops, frames and other small machines."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np

from ...errors import TautError, unknown
from ..scene import Scene
from .common import count, hanging, real, size


def angle_hold(length: float = 1.0, angle: float = pi / 2, start: float = pi / 2) -> Scene:
    """Two rods that keep the angle between them: a bent pendulum.

    length  of each rod [m]
    angle   kept between the rods [rad], between 0 and π
    start   of the upper rod from the downward vertical towards +x [rad]
    """
    length, angle, start = size("length", length), real("angle", angle), real("start", start)
    if not 0.0 < angle < pi:
        raise TautError(f"parameter angle is {angle:g} rad; choose one between 0 and π.")
    scene = Scene(name="angle_hold")
    pivot = scene.particle((0, 0, 0), fixed=True, name="pivot")
    elbow_at = hanging(start, length)
    # Turning on by π - angle at the elbow leaves the wanted angle between the rods.
    onward = hanging(start + pi - angle, length)
    elbow = scene.particle(elbow_at, name="elbow")
    tip = scene.particle((elbow_at[0] + onward[0], elbow_at[1] + onward[1], 0), name="tip")
    scene.distance(pivot, elbow, length=length, name="upper")
    scene.distance(elbow, tip, length=length, name="lower")
    scene.angle(pivot, elbow, tip, angle=angle, name="bend")
    bend = pi - angle
    scene.reduced(
        {"theta": start},
        {
            "elbow": (f"{length!r}*sin(theta)", f"-{length!r}*cos(theta)", "0"),
            "tip": (
                f"{length!r}*(sin(theta) + sin(theta + {bend!r}))",
                f"-{length!r}*(cos(theta) + cos(theta + {bend!r}))",
                "0",
            ),
        },
    )
    scene.suggest(dt=0.005, duration=10.0)
    return scene


def parallel_edges(
    first: float = 1.0, second: float = 1.5, angle: float = pi / 3, apart: float = 2.0
) -> Scene:
    """Two pendulums of different length whose rods are kept parallel.

    first, second  lengths of the rods [m]
    angle          from the downward vertical towards +x [rad]
    apart          distance of the pivots [m]
    """
    first, second, apart = size("first", first), size("second", second), size("apart", apart)
    angle = real("angle", angle)
    scene = Scene(name="parallel_edges")
    ends = []
    positions = {}
    for name, length, x in (("first", first, 0.0), ("second", second, apart)):
        pivot = scene.particle((x, 0, 0), fixed=True, name=f"{name}_pivot")
        across, down, _ = hanging(angle, length)
        bob = scene.particle((x + across, down, 0), name=f"{name}_bob")
        scene.distance(pivot, bob, length=length, name=f"{name}_rod")
        positions[bob.name] = (f"{x!r} + {length!r}*sin(theta)", f"-{length!r}*cos(theta)", "0")
        ends += [pivot, bob]
    scene.parallel(*ends, name="parallel")
    scene.reduced({"theta": angle}, positions)
    scene.suggest(dt=0.005, duration=10.0)
    return scene


def car_axis() -> Scene:
    """The car axis of the test set for initial value problems: two wheels on springs over a moving road.

    The left wheel stands on the origin, the right one on a road that moves up and down. The first condition
    keeps the left spring across the line to the road, the second the distance of the wheels; both are
    written as published, so that the multipliers are the published ones (with gravity 1 and the sign of
    M a = f + Jᵀ λ).
    """
    height = "0.1*sin(10*t)"
    reach = f"sqrt(1 - ({height})**2)"
    scene = Scene(gravity=(0, -1, 0), name="car_axis")
    left = scene.particle((0, 0.5, 0), mass=5e-4, velocity=(-0.5, 0, 0), name="left")
    right = scene.particle((1, 0.5, 0), mass=5e-4, velocity=(-0.5, 0, 0), name="right")
    road = scene.particle(path=(reach, height, 0), name="road")
    scene.spring((0, 0, 0), left, stiffness=1, length=0.5, name="left_spring")
    scene.spring(road, right, stiffness=1, length=0.5, name="right_spring")
    scene.custom(left, formula=f"{reach}*left.x + {height}*left.y", name="upright")
    scene.custom(left, right, formula="(left.x - right.x)**2 + (left.y - right.y)**2 - 1", name="axis")
    scene.suggest(dt=0.0005, duration=3.0)
    return scene


def four_bar(n: int = 1, length: float = 1.0, mass: float = 1.0, speed: float = 1.0) -> Scene:
    """n four-bar linkages in a row: n + 1 upright rods on pins, joined at the top by n couplers.

    All rods turn together; when they lie flat the mechanism could change its branch.

    n       number of linkages
    length  of each rod [m]
    mass    of each rod [kg]
    speed   of the couplers at the start [m/s], towards +x
    """
    n, length, speed = count("n", n), size("length", length), real("speed", speed)
    half = length / 2
    scene = Scene(name="four_bar")
    uprights = []
    for i in range(n + 1):
        link = scene.rigid(
            (i * length, half, 0), mass=mass, shape={"rod": length}, orientation=("z", pi / 2),
            velocity=(speed / 2, 0, 0), angular_velocity=(0, 0, -speed / length), name=f"upright_{i}",
        )
        scene.ball(link.at((-half, 0, 0)), (i * length, 0, 0), name=f"pin_{i}")
        uprights.append(link)
    for i in range(1, n + 1):
        coupler = scene.rigid(
            ((i - 0.5) * length, length, 0), mass=mass, shape={"rod": length}, velocity=(speed, 0, 0),
            name=f"coupler_{i}",
        )
        scene.ball(uprights[i - 1].at((half, 0, 0)), coupler.at((-half, 0, 0)), name=f"left_{i}")
        scene.ball(coupler.at((half, 0, 0)), uprights[i].at((half, 0, 0)), name=f"right_{i}")
    scene.suggest(dt=0.005, duration=20.0)
    return scene


# Corners of Bricard's loop in units of its length; the ground joins the last to the first.
BRICARD = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
# How a bar along x, y or z is turned, and its own frame's axes as (axis of the world, sign).
TURNED = ((1.0, 0.0, 0.0, 0.0), ("z", pi / 2), ("y", -pi / 2))
OWN_AXES = (((0, 1), (1, 1), (2, 1)), ((1, 1), (0, -1), (2, 1)), ((2, 1), (1, 1), (0, -1)))


def bricard(length: float = 1.0, mass: float = 1.0, width: float = 0.1, hinges: str = "parallel") -> Scene:
    """Bricard's mechanism: six hinges in a loop of five bars and the ground, which should be rigid but moves.

    The bars lie along the edges of a cube, each hinge stands across its two bars. Of the conditions of the
    hinges one says nothing new at any position that the loop can take, and says something false next to it.

    length  of each bar [m]
    mass    of each bar [kg]
    width   of the square bars, and of the hinges [m]
    hinges  "parallel": a ball joint and axes that stay parallel, five conditions each; "joints": the same as a joint of
            its own; "balls": two ball joints, six
    """
    length, width = size("length", length), size("width", width)
    if hinges not in ("parallel", "joints", "balls"):
        raise unknown("parameter hinges:", str(hinges), ("parallel", "joints", "balls"))
    scene = Scene(name="bricard")
    corners = [tuple(length * c for c in corner) for corner in BRICARD]
    bars = []
    for i in range(5):
        begin, end = corners[i], corners[i + 1]
        along = next(c for c in range(3) if begin[c] != end[c])
        middle = tuple((a + b) / 2 for a, b in zip(begin, end))
        body = scene.rigid(
            middle, mass=mass, shape={"box": (length, width, width)}, orientation=TURNED[along], name=f"bar_{i + 1}"
        )
        bars.append((body, middle, along))

    def place(bar: int, point: Sequence[float]) -> Any:
        """A point of the world as a place on a bar; the ground is bar -1 and bar 5."""
        if not 0 <= bar < 5:
            return tuple(point)
        body, middle, along = bars[bar]
        a, b, c = (sign * (point[axis] - middle[axis]) for axis, sign in OWN_AXES[along])
        return body.at((a, b, c))

    for i, corner in enumerate(corners):
        axis = (1, 2, 0)[i % 3]  # y, z, x: across the two bars that meet here
        ends = [tuple(x + side * width / 2 * (c == axis) for c, x in enumerate(corner)) for side in (-1, 1)]
        if hinges == "balls":
            for side, end in zip(("a", "b"), ends):
                scene.ball(place(i - 1, end), place(i, end), name=f"hinge_{i + 1}{side}")
        elif hinges == "joints":
            bar, other = (i, i - 1) if i < 5 else (i - 1, i)  # the ground comes second
            scene.hinge(place(bar, corner), place(other, corner), axis=np.eye(3)[axis], name=f"hinge_{i + 1}")
        else:
            scene.ball(place(i - 1, corner), place(i, corner), name=f"pin_{i + 1}")
            scene.parallel(*(place(bar, end) for bar in (i - 1, i) for end in ends), name=f"axis_{i + 1}")
    scene.suggest(dt=0.001, duration=10.0)
    return scene
