"""Planar linkages of rigid bodies and hinges."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, hypot, pi, sin, sqrt
from typing import Any

from ...errors import TautError, unknown
from ..scene import Scene
from .common import count, real, size

Z = (0.0, 0.0, 1.0)
XY = tuple[float, float]


def bar(scene: Scene, begin: XY, end: XY, mass: float, name: str, planar: bool = True, **given: Any) -> Any:
    """A uniform rod between two places of the plane z = 0: the body, and its half length."""
    length = hypot(end[0] - begin[0], end[1] - begin[1])
    body = scene.rigid(
        (0.5 * (begin[0] + end[0]), 0.5 * (begin[1] + end[1]), 0.0), mass=mass, shape={"rod": length},
        orientation=("z", atan2(end[1] - begin[1], end[0] - begin[0])), planar=planar, name=name, **given,
    )
    return body, 0.5 * length


def meet(first: XY, reach: float, second: XY, other: float, side: int) -> XY:
    """Where two circles meet: left (1) or right (-1) of the way from the first centre to the second."""
    dx, dy = second[0] - first[0], second[1] - first[1]
    apart = hypot(dx, dy)
    if not 1e-100 < min(apart, reach, other) <= max(apart, reach, other) < 1e100:
        raise TautError(f"bars of {reach:g} m and {other:g} m over {apart:g} m are too long or too short to compute "
                        "with; change the lengths of the linkage.")
    along = (apart**2 + reach**2 - other**2) / (2.0 * apart)
    if not reach**2 > along**2:
        raise TautError(f"bars of {reach:g} m and {other:g} m do not reach each other over {apart:g} m; "
                        "change the lengths of the linkage.")
    across = side * sqrt(reach**2 - along**2)
    return first[0] + (along * dx - across * dy) / apart, first[1] + (along * dy + across * dx) / apart


def double_pendulum_rigid(
    length: float = 1.0, mass: float = 1.0, angle: float = pi / 2, second_angle: float = pi
) -> Scene:
    """Two rods in a plane, one hinged to the other: the double pendulum of rigid bodies.

    length        of each rod [m]
    mass          of each rod [kg]
    angle         of the upper rod from the downward vertical towards +x [rad]
    second_angle  of the lower rod, likewise [rad]
    """
    length, angle, second_angle = size("length", length), real("angle", angle), real("second_angle", second_angle)
    scene = Scene(name="double_pendulum_rigid")
    elbow = length * sin(angle), -length * cos(angle)
    tip = elbow[0] + length * sin(second_angle), elbow[1] - length * cos(second_angle)
    upper, half = bar(scene, (0.0, 0.0), elbow, mass, "upper")
    lower, _ = bar(scene, elbow, tip, mass, "lower")
    scene.hinge(upper.at((-half, 0, 0)), (0, 0, 0), axis=Z, angle=angle, name="shoulder")
    scene.hinge(lower.at((-half, 0, 0)), upper.at((half, 0, 0)), axis=Z, angle=second_angle - angle, name="elbow")
    scene.suggest(dt=0.002, duration=10.0, method="rattle")
    return scene


def slider_crank(crank: float = 0.1, rod: float = 0.3, speed: float = 20.0, gravity: float = 0.0) -> Scene:
    """A crank that is driven at constant speed, a rod and a slider on the x axis; λ of the drive is its torque.

    crank    length of the crank [m], of 1 kg
    rod      length of the rod [m], of 0.5 kg; longer than the crank
    speed    of the crank [rad/s]
    gravity  downwards [m/s²]
    """
    crank, rod = size("crank", crank), size("rod", rod)
    speed, gravity = real("speed", speed), real("gravity", gravity)
    if rod <= crank:
        raise TautError(f"parameter rod is {rod:g} m; choose one longer than the crank of {crank:g} m.")
    scene = Scene(gravity=(0, -gravity, 0), name="slider_crank")
    wheel, r = bar(scene, (0.0, 0.0), (crank, 0.0), 1.0, "crank", velocity=(0, crank * speed / 2, 0),
                   angular_velocity=(0, 0, speed))
    link, half = bar(scene, (crank, 0.0), (crank + rod, 0.0), 0.5, "rod", velocity=(0, crank * speed / 2, 0),
                     angular_velocity=(0, 0, -crank * speed / rod))
    side = 0.3 * crank
    block = scene.rigid((crank + rod, 0, 0), mass=2.0, shape={"box": (2 * side, side, side)}, planar=True,
                        name="slider")
    pin = scene.hinge(wheel.at((-r, 0, 0)), (0, 0, 0), axis=Z, name="crank_pin")
    scene.hinge(link.at((-half, 0, 0)), wheel.at((r, 0, 0)), axis=Z, name="rod_pin")
    scene.hinge(block, link.at((half, 0, 0)), axis=Z, name="slider_pin")
    scene.slider(block, (0, 0, 0), axis=(1, 0, 0), name="guide")
    scene.drive(pin, angle=f"{speed!r}*t", name="drive")
    scene.suggest(dt=1e-3, duration=1.0)
    return scene


def four_bar_rigid(
    crank: float = 0.5, coupler: float = 1.5, rocker: float = 1.2, ground: float = 1.6, torque: float = 1.0,
    planar: bool = True,
) -> Scene:
    """A crank-rocker: four bars in a loop, of which the crank turns all the way round, moved by a motor.

    crank, coupler, rocker, ground  lengths of the bars [m], of 1 kg each metre
    torque                          of the motor on the crank [N m]
    planar                          False: bodies in space and hinges of five rows each, three of which are redundant
    """
    lengths = [size(n, v) for n, v in (("crank", crank), ("coupler", coupler), ("rocker", rocker), ("ground", ground))]
    start, end = (0.0, 0.0), (lengths[3], 0.0)
    knee = (0.0, lengths[0])
    top = meet(knee, lengths[1], end, lengths[2], 1)
    scene = Scene(name="four_bar_rigid")
    ends = ((start, knee), (knee, top), (end, top))
    bodies = [
        bar(scene, *pair, length, name, planar) for pair, length, name in
        zip(ends, lengths, ("crank", "coupler", "rocker"))
    ]  # fmt: skip
    (first, a), (second, b), (third, c) = bodies
    pin = scene.hinge(first.at((-a, 0, 0)), (*start, 0), axis=Z, name="crank_pin")
    scene.hinge(second.at((-b, 0, 0)), first.at((a, 0, 0)), axis=Z, name="knee")
    scene.hinge(third.at((c, 0, 0)), second.at((b, 0, 0)), axis=Z, name="top")
    scene.hinge(third.at((-c, 0, 0)), (*end, 0), axis=Z, name="rocker_pin")
    scene.motor(pin, torque=torque, name="motor")
    scene.suggest(dt=0.002, duration=10.0, method="rattle")
    return scene


# Theo Jansen's lengths, of which only the ratios matter; a and l place the crank from the fixed pivot.
JANSEN = {"a": 38.0, "b": 41.5, "c": 39.3, "d": 40.1, "e": 55.8, "f": 39.4, "g": 36.7, "h": 65.7, "i": 49.0, "j": 50.0,
          "k": 61.9, "l": 7.8, "m": 15.0}  # fmt: skip


def strandbeest_leg(scale: float = 0.01, speed: float = 3.0) -> Scene:
    """A leg of Theo Jansen's Strandbeest: eleven bars that turn a crank into a step; its foot is flat on the ground.

    scale  metres per unit of Jansen's numbers
    speed  of the crank [rad/s]
    """
    scale, speed = size("scale", scale), real("speed", speed)
    n = {name: scale * length for name, length in JANSEN.items()}
    pivot, crank = (-n["a"], -n["l"]), (n["m"], 0.0)
    up = meet(pivot, n["b"], crank, n["j"], 1)
    low = meet(pivot, n["c"], crank, n["k"], -1)
    left = meet(pivot, n["d"], up, n["e"], 1)
    knee = meet(left, n["f"], low, n["g"], -1)
    foot = meet(knee, n["h"], low, n["i"], -1)
    scene = Scene(name="strandbeest_leg")
    plate = Plates(scene)
    plate.add("crank", (0.0, 0.0), crank)
    for name, begin, end in (("j", crank, up), ("k", crank, low), ("c", pivot, low), ("f", left, knee)):
        plate.add(name, begin, end)
    plate.add("shoulder", pivot, up, left)
    plate.add("shank", low, knee, foot)
    pin = plate.pin("crank", None, (0.0, 0.0))
    for first, second, place in (
        ("j", "crank", crank), ("k", "crank", crank), ("shoulder", None, pivot), ("c", None, pivot),
        ("j", "shoulder", up), ("f", "shoulder", left), ("c", "k", low), ("shank", "c", low), ("shank", "f", knee),
    ):  # fmt: skip
        plate.pin(first, second, place)
    scene.drive(pin, angle=f"{speed!r}*(t + exp(-2*t)/2 - 1/2)", name="drive")  # from rest, soon at full speed
    scene.suggest(dt=0.005, duration=round(4 * pi / abs(speed), 2) if speed else 1.0)
    return scene


class Plates:
    """Flat bodies that are uniform rods along the sides of a polygon, of 1 kg per metre."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.bodies: dict[str, tuple[Any, XY]] = {}

    def add(self, name: str, *corners: XY) -> None:
        sides = list(zip(corners, [*corners[1:], corners[0]]))[: 1 if len(corners) == 2 else None]
        if len(sides) == 1:
            length = hypot(corners[1][0] - corners[0][0], corners[1][1] - corners[0][1])
            body, _ = bar(self.scene, corners[0], corners[1], length, name)
            middle = (0.5 * (corners[0][0] + corners[1][0]), 0.5 * (corners[0][1] + corners[1][1]))
            self.bodies[name] = body, middle
            return
        lengths = [hypot(b[0] - a[0], b[1] - a[1]) for a, b in sides]
        mass = sum(lengths)
        centres = [(0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])) for a, b in sides]
        x, y = (sum(m * c[k] for m, c in zip(lengths, centres)) / mass for k in range(2))
        middle = (x, y)
        moment = sum(m * (m * m / 12 + (c[0] - middle[0]) ** 2 + (c[1] - middle[1]) ** 2)
                     for m, c in zip(lengths, centres))
        body = self.scene.rigid((*middle, 0.0), mass=mass, inertia=moment, planar=True, name=name)
        self.bodies[name] = body, (middle[0], middle[1])

    def place(self, name: str | None, place: XY) -> Any:
        """A place of the world as one on a body; None: the world."""
        if name is None:
            return (*place, 0.0)
        body, middle = self.bodies[name]
        w, _, _, z = self.scene.bodies[name].orientation
        turn = 2.0 * atan2(z, w)
        dx, dy = place[0] - middle[0], place[1] - middle[1]
        return body.at((cos(turn) * dx + sin(turn) * dy, cos(turn) * dy - sin(turn) * dx, 0.0))

    def pin(self, first: str, second: str | None, place: XY, **given: Any) -> Any:
        """A hinge at a place of the world."""
        name = f"{first}_{second or 'ground'}"
        return self.scene.hinge(self.place(first, place), self.place(second, place), axis=Z, name=name, **given)


def rigid_chain(n: int = 10, length: float = 1.0, mass: float = 1.0, joint: str = "hinge") -> Scene:
    """A chain of n rigid rods, let go from the horizontal.

    n       number of rods
    length  of each rod [m]
    mass    of each rod [kg]
    joint   "hinge": rods in space with hinges of five rows; "ball": three rows; "planar": bodies in a plane, two rows
    """
    n, length = count("n", n), size("length", length)
    if joint not in ("hinge", "ball", "planar"):
        raise unknown("parameter joint:", str(joint), ("hinge", "ball", "planar"))
    scene = Scene(name="rigid_chain")
    before: Sequence[float] | Any = (0.0, 0.0, 0.0)
    for i in range(n):
        rod, half = bar(scene, (i * length, 0.0), ((i + 1) * length, 0.0), mass, f"rod_{i + 1}", joint == "planar")
        if joint == "ball":
            scene.ball(rod.at((-half, 0, 0)), before, name=f"joint_{i + 1}")
        else:
            scene.hinge(rod.at((-half, 0, 0)), before, axis=Z, name=f"joint_{i + 1}")
        before = rod.at((half, 0, 0))
    scene.suggest(dt=0.002, duration=10.0, method="rattle")
    return scene
