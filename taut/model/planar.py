"""Conditions between bodies that move in planes z = constant alone: rows that can not change are left out.

    ball             x_a - x_b = 0        becomes the two rows e·(x_a - x_b) = 0 with e = x, y          (1)
    offset           w·(x_a - x_b) = c    is constant where w is along z                                (2)
    perpendicular    u·w = c              is constant where u or w is along z                           (3)

Bodies of one mechanism may thus stand in different planes: the rows that hold them together do not contain z.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot

from ..constraints import ALL
from ..constraints.base import Part
from ..scene.places import orientation_at_start, places, turned
from ..scene.specs import Body, Point

ALONG = 1e-9  # the part in the plane of a unit vector that counts as along z
X, Y = Point(None, (1.0, 0.0, 0.0), True), Point(None, (0.0, 1.0, 0.0), True)


def is_planar(points: tuple[Point, ...], bodies: Mapping[str, Body]) -> bool:
    """Whether these points move in planes z = constant, and some of them do move."""
    own = [bodies[point.body] for point in points if point.body is not None]
    return any(body.planar for body in own) and all(body.planar or body.motion == "fixed" for body in own)


def in_plane(parts: tuple[Part, ...], bodies: Mapping[str, Body]) -> tuple[Part, ...]:
    """The parts without those rows; at least one is kept, so that the condition has a name in the result."""
    kept: list[Part] = []
    for part in parts:
        in_plane = ALL[part.kind].in_plane  # (1), (2), (3)
        left = (part,) if in_plane is None else in_plane(part, (X, Y), lambda point: _is_along_z(point, bodies))
        if not left and part.along is not None and all(_is_along_z(direction, bodies) for direction in part.along):
            first, second = places(part.along, bodies)
            if first @ second < 0.0:
                raise ValueError("its axes oppose each other along z, about which planar bodies turn alone; turn one "
                                 "of them round")
        kept += left
    return tuple(kept) or parts[:1]


def _is_along_z(direction: Point, bodies: Mapping[str, Body]) -> bool:
    x, y, _ = direction.offset
    if direction.body is not None:
        x, y, _ = turned(orientation_at_start(bodies[direction.body]), direction.offset)
    return hypot(x, y) < ALONG
