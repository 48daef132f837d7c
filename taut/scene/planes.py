"""Bodies kept in planes by conditions on places of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import TautError
from . import checks
from .places import orientation_at_start, turned
from .specs import Point, Ref, Vector
from .verbs import read_points, spoken

if TYPE_CHECKING:
    from .scene import Scene

_ZERO = (0.0, 0.0, 0.0)


def keep_in_planes(scene: Scene, bodies: tuple[Any, ...], normal: Any) -> list[Ref]:
    """Keep bodies in the planes across `normal` in which they start: Scene.planar."""
    across = checks.direction(normal, "planar: normal")
    # Two directions in the plane: any vector that is not along the normal gives them.
    smallest = min(range(3), key=lambda i: abs(across[i]))
    first = _cross(across, tuple(float(i == smallest) for i in range(3)))
    second = _cross(across, first)
    added = []
    for point in read_points(scene, "planar", bodies):
        body = scene._bodies.get(point.body or "")
        if body is None or body.kind == "coordinate":
            raise TautError(f"planar: {spoken(point)} is not a particle or a rigid body; leave it out.")
        places = [Point(body.name)]
        if body.kind == "rigid":
            w, x, y, z = orientation_at_start(body)
            places = [Point(body.name, turned((w, -x, -y, -z), v)) for v in (_ZERO, first, second)]
        for i, where in enumerate(places):
            name = f"{body.name}_planar" + (f"_{i}" if len(places) > 1 else "")
            added.append(scene.on_plane(where, normal=across, name=name))
    return added


def _cross(a: Vector, b: Any) -> Vector:
    x, y, z = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    return checks.direction((x, y, z), "direction in the plane")
