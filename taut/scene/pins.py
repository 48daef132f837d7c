"""What holds a node of a cloth or a solid: nothing but itself, a body, or a path."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import TautError, shown
from ..expressions import Signal
from . import checks
from .bodies import Motion, read_motion
from .places import orientation_at_start, place, turned
from .specs import BodyRef, Point, Vector
from .verbs import read_points, spoken

if TYPE_CHECKING:
    from .scene import Scene

_NEAR = 1e-9  # [m] within which two points are the same
Held = Point | tuple[Signal, Signal, Signal] | None  # on a body; there, or along a path; where it is


class Pin(NamedTuple):
    vertex: int
    to: Held


def read_pins(scene: Scene, what: str, given: Any, x: np.ndarray) -> list[Pin]:
    """Pins from vertex numbers and {"vertex": number, "to": what holds it}; x are the vertices' places."""
    single = isinstance(given, str | dict) or (isinstance(given, np.ndarray) and given.ndim == 0)
    if single or not isinstance(given, Iterable):
        raise TautError(f"{what}: pins is {shown(given)}; give a list of vertex numbers.")
    pins: dict[int, Pin] = {}
    for entry in given:
        to = None
        if isinstance(entry, dict):
            extra = next((key for key in entry if key not in ("vertex", "to")), None)
            if extra is not None or "vertex" not in entry:
                raise TautError(f"{what}: a pin is {shown(entry)}; give a vertex number, or {{vertex: 3, to: NAME}}.")
            entry, to = entry["vertex"], entry.get("to")
        pin = read_pin(scene, what, entry, to, x)
        if pin.vertex in pins:
            raise TautError(f"{what}: vertex {pin.vertex} is pinned twice; pin it once.")
        pins[pin.vertex] = pin
    return list(pins.values())


def read_pin(scene: Scene, what: str, vertex: Any, to: Any, x: np.ndarray) -> Pin:
    vertex = read_vertex(what, "pins", vertex, len(x))
    if to is None:
        return Pin(vertex, None)
    if isinstance(to, dict) and "body" in to:
        to = Point(to["body"], to.get("offset", (0.0, 0.0, 0.0)))
    if isinstance(to, str | BodyRef | Point):
        return Pin(vertex, _on_body(scene, f"{what}: pin of vertex {vertex}", to, tuple(x[vertex].tolist())))
    return Pin(vertex, checks.signals(to, f"{what}: pin of vertex {vertex}"))


def read_vertex(what: str, role: str, vertex: Any, count: int) -> int:
    if isinstance(vertex, bool) or not isinstance(vertex, int | np.integer) or not 0 <= vertex < count:
        raise TautError(f"{what}: {role} names vertex {shown(vertex)}; its {count} vertices are numbered from 0 "
                        f"to {count - 1}.")
    return int(vertex)


def _on_body(scene: Scene, what: str, to: Any, at: Vector) -> Point:
    """The place on a body that a vertex is held to; a rigid body named as a whole is held where the vertex is."""
    (point,) = read_points(scene, what, [to])
    if point.body is None:
        raise TautError(f"{what} is a place in the world given as a Point; give three numbers.")
    body = scene._bodies[point.body]
    if body.kind == "coordinate":
        raise TautError(f"{what} is to '{body.name}', a scalar coordinate; pin it to a particle or a rigid body.")
    if body.kind == "rigid" and not any(point.offset):
        w, i, j, k = orientation_at_start(body)
        x, y, z = (a - b for a, b in zip(at, body.position))
        arm = turned((w, -i, -j, -k), (x, y, z))
        return Point(body.name, arm) if np.linalg.norm(arm) > _NEAR else point
    apart = float(np.linalg.norm(np.subtract(at, place(point, scene._bodies))))
    if apart > _NEAR:
        raise TautError(f"{what} is to {spoken(point)}, which is {apart:g} m away from it; move one of them.")
    return point


def motion_at(what: str, to: tuple[Signal, Signal, Signal] | None, at: Vector) -> Motion:
    """How a node moves that is held where it is, at a place, or along a path."""
    fixed = to is None or all(signal.is_constant for signal in to)
    position = at if to is None else tuple(signal.at(0.0)[0] for signal in to) if fixed else None
    return read_motion(what, position, (0.0, 0.0, 0.0), fixed, None if fixed else to)


def plain_pin(pin: Pin) -> Any:
    """A pin as a file holds it."""
    if pin.to is None:
        return pin.vertex
    if isinstance(pin.to, Point):
        on = pin.to
        to: Any = {"body": on.body, "offset": list(on.offset)} if any(on.offset) else on.body
    else:
        to = [signal.plain() for signal in pin.to]
    return {"vertex": pin.vertex, "to": to}
