"""Where points are at t = 0, what formulas call them, and the balls about them.

    x = p + R(o) s          o the orientation, s the offset in the body's frame         (1)
    o = turn(axis, θ(0)) o₀ for a driven body that turns                                 (2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

from .specs import Body, Point, Vector

Quaternion = tuple[float, float, float, float]


def turned(orientation: Quaternion, offset: Vector) -> Vector:
    """The offset in the world's frame: R(o) s."""
    w, x, y, z = orientation
    a, b, c = offset
    # With u = (x, y, z): R s = s + 2 w (u × s) + 2 u × (u × s)
    p, q, r = y * c - z * b, z * a - x * c, x * b - y * a
    return (
        a + 2.0 * (w * p + y * r - z * q),
        b + 2.0 * (w * q + z * p - x * r),
        c + 2.0 * (w * r + x * q - y * p),
    )


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """The rotation b followed by the rotation a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def orientation_at_start(body: Body) -> Quaternion:
    """The body's orientation at t = 0, (2)."""
    if body.rotation is None:
        return body.orientation
    (x, y, z), angle = body.rotation
    half = 0.5 * angle.at(0.0)[0]
    return product((cos(half), x * sin(half), y * sin(half), z * sin(half)), body.orientation)


@dataclass(frozen=True)
class Frame:
    """The body that a point sits on, as a kind sees it when it derives further points at t = 0.

    body         its name; None: the world
    kind         "particle", "rigid", "coordinate" or "world"
    position     of the body's centre [m]
    orientation  of the body
    moves        "not": held, or the world; "in_plane": a planar body; "freely": any other
    """

    body: str | None
    kind: str
    position: Vector = (0.0, 0.0, 0.0)
    orientation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    moves: str = "not"

    def own(self, vector: Sequence[float]) -> Vector:
        """A vector of the world in the body's axes."""
        w, x, y, z = self.orientation
        return turned((w, -x, -y, -z), (float(vector[0]), float(vector[1]), float(vector[2])))

    def world(self, vector: Sequence[float]) -> Vector:
        """A vector of the body in the world's axes."""
        return turned(self.orientation, (float(vector[0]), float(vector[1]), float(vector[2])))

    def direction(self, vector: Sequence[float]) -> Point:
        """A direction, given in the world's axes, that turns with the body from now on."""
        if self.kind not in ("rigid", "world"):
            raise ValueError(f"'{self.body}' is a {self.kind} and has no axes that could turn; make it a rigid body")
        return Point(self.body, self.own(vector), True)

    def place(self, position: Sequence[float]) -> Point:
        """A place, given in the world, that moves with the body from now on."""
        arm = [float(a) - b for a, b in zip(position, self.position)]
        if self.kind not in ("rigid", "world") and any(arm):
            raise ValueError(f"'{self.body}' is a {self.kind} and has no places on it; make it a rigid body")
        return Point(self.body, self.own(arm))

    def counter(self, name: str) -> Point:
        """A point without a place, for the turns of the angle of that name."""
        return Point(None, counter=name)


def frames(points: Sequence[Point], bodies: Mapping[str, Body]) -> list[Frame]:
    """The frame of each point's body."""
    found = []
    for point in points:
        body = None if point.body is None else bodies[point.body]
        if body is None:
            found.append(Frame(None, "world"))
        else:
            planar = "in_plane" if body.planar and body.motion == "free" else "freely"
            moves = "not" if body.motion == "fixed" else planar
            found.append(Frame(body.name, body.kind, body.position, orientation_at_start(body), moves))
    return found


def place(point: Point, bodies: Mapping[str, Body]) -> Vector:
    """Where a point is at t = 0 [m], (1); of a direction, where it points."""
    if point.body is None:
        return point.offset
    body = bodies[point.body]
    if point.direction:
        return turned(orientation_at_start(body), point.offset)
    if body.kind != "rigid" or not any(point.offset):
        return body.position
    x, y, z = turned(orientation_at_start(body), point.offset)
    return body.position[0] + x, body.position[1] + y, body.position[2] + z


def places(points: Sequence[Point], bodies: Mapping[str, Body]) -> np.ndarray:
    """Where points are at t = 0 [m], shape (points, 3)."""
    return np.array([place(point, bodies) for point in points], dtype=float).reshape(len(points), 3)


def labels(points: Sequence[Point], bodies: Mapping[str, Body]) -> list[tuple[str, bool]]:
    """What a formula calls each point, and whether it is a scalar coordinate.

    A point goes by its body's name; the i-th point is called p<i> instead where that name is not one
    word, or is shared with another of these points, and where the point is a place in the world.
    """
    names = [point.body for point in points]
    found = []
    for i, name in enumerate(names):
        own = name is not None and name.isidentifier() and names.count(name) == 1
        found.append((str(name) if own else f"p{i}", name is not None and bodies[name].kind == "coordinate"))
    return found


def radii(points: Sequence[Point], bodies: Mapping[str, Body]) -> list[float]:
    """The radius of the ball about each point [m]; a place on a body, off its centre, has none."""
    return [0.0 if p.body is None or any(p.offset) else bodies[p.body].radius for p in points]


def surroundings(points: Sequence[Point], bodies: Mapping[str, Body]) -> dict[str, Any]:
    """What a kind's pack may ask about its points besides where they are."""
    return {"labels": labels(points, bodies), "radii": radii(points, bodies), "frames": frames(points, bodies)}
