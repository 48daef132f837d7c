"""How kinds that speak of joints find them: their coordinates, as the joint itself derives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..constraints import KINDS
from ..constraints.base import Coordinate
from ..errors import TautError, unknown
from .places import places, surroundings
from .specs import Point

if TYPE_CHECKING:
    from ..constraints.base import Layout
    from .scene import Scene
    from .specs import Constraint

ALONG = Point(None, (1.0, 0.0, 0.0), direction=True)  # a coordinate's one number is its x

def about(scene: Scene, kind: Any, name: str, points: tuple, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with what a kind's pack may ask besides."""
    if kind.asks:
        arguments = arguments | surroundings(points, scene._bodies) | {"points": points, "name": name}
    if kind.joints:
        known = {which: coordinates_of(scene, arguments[which]) for which in kind.joints}
        arguments = arguments | {"joints": known, "name": name, "memory": Point(None, counter=f"{name}.memory")}
    return arguments


def coordinates_of(scene: Scene, name: str) -> tuple[Coordinate, ...]:
    """The coordinates of the joint of that name, or the number that a coordinate of the scene is."""
    spec, body = scene._constraints.get(name), scene._bodies.get(name)
    if spec is None and body is not None and body.kind == "coordinate":
        origin = Point(None)
        return (Coordinate("value", "displacement", (Point(name), origin, ALONG, origin)),)
    if spec is None:
        other = "; it is a body" if name in scene._bodies else ""
        raise TautError(f"{unknown('joint', name, joints(scene))} A joint comes before what acts on it{other}.")
    found = layout_of(scene, spec).coordinates
    if not found:
        known = ", ".join(joints(scene)[:8])
        raise TautError(f"{spec.kind} '{name}' has no coordinates" + (f"; choose one of {known}." if known else "."))
    return found


def layout_of(scene: Scene, spec: Constraint) -> Layout:
    kind = KINDS[spec.kind]
    return kind.pack(places(spec.points, scene._bodies), about(scene, kind, spec.name, spec.points, spec.arguments))


def joints(scene: Scene) -> list[str]:
    """Names of the constraints that have coordinates."""
    specs = [spec for spec in scene._constraints.values() if KINDS[spec.kind].frames]
    return [spec.name for spec in specs if layout_of(scene, spec).coordinates]
