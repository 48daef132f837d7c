"""The parts of a scene: the one description that pictures and exports share.

Places of bodies come from a Motion, whose order of bodies the parts use. Sizes of what has none of its own (points,
rods, planes) are taken from the space that the motion takes up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..model.frames import rotate
from ..scene.scene import Scene
from ..scene.specs import Body, Point
from . import meshes
from .bounds import Bounds, bounds_of, is_still, things, value_at
from .motion import Motion
from .parts import CROWD, UNIT, UPRIGHT, Frame, Part, Pose, turn_from_x

DOT, THIN = 0.012, 0.45  # radius of a point, of the size; of a rod, of a point's
MANY = 3000  # springs in bulk beyond which they are not drawn


def describe(scene: Scene, motion: Motion) -> list[Part]:
    """Everything of the scene that can be seen, far things first."""
    bounds = bounds_of(scene, motion)
    dot = DOT * bounds.size
    at = {name: i for i, name in enumerate(motion.names)}
    return [
        *_obstacles(scene, bounds),
        *_sheets(scene, at),
        *_rods(scene, at, THIN * dot),
        *_bodies(scene, at, dot),
    ]


# Bodies


def _bodies(scene: Scene, at: dict[str, int], dot: float) -> list[Part]:
    parts = []
    balls = [b for b in scene.bodies.values() if b.radius > 0.0 and b.owner is None and b.motion == "free"]
    crowd = {b.name: CROWD[i % len(CROWD)] for i, b in enumerate(balls)} if len(balls) > 3 else {}
    coarse = 16 if sum(body.owner is None for body in scene.bodies.values()) < 500 else 8
    places = _places_on_bodies(scene)
    for body in scene.bodies.values():
        if body.kind == "coordinate" or (body.owner is not None and body.motion == "free"):
            continue
        own = 0.6 * dot if body.owner is not None else dot
        role = body.kind if body.motion == "free" else body.motion
        if body.kind == "rigid" and body.shape is not None:
            vertices, triangles = meshes.of_shape(*body.shape)
            parts.append(_carried(body.name, role, vertices, triangles, at[body.name], color=crowd.get(body.name)))
            continue
        radius = body.radius if body.radius > 0.0 and body.owner is None else own
        vertices, triangles = meshes.sphere(coarse)
        parts.append(_carried(body.name, role, radius * vertices, triangles, at[body.name], color=crowd.get(body.name)))
        # Without a shape, a rigid body is seen by where others hold it.
        for k, offset in enumerate(places.get(body.name, ()) if body.kind == "rigid" else ()):
            ends = Point(body.name), Point(body.name, offset)
            parts.append(_between(f"{body.name}.arm[{k}]", role, ends, at, _cylinder(THIN * dot)))
    return parts


def _places_on_bodies(scene: Scene) -> dict[str, list[tuple[float, float, float]]]:
    found: dict[str, list[tuple[float, float, float]]] = {}
    for record in (*scene.constraints.values(), *scene.forces.values()):
        for point in record.points:
            if point.body is not None and any(point.offset) and point.offset not in found.get(point.body, ()):
                found.setdefault(point.body, []).append(point.offset)
    return found


def _carried(name: str, role: str, vertices: np.ndarray, triangles: np.ndarray, i: int, **more: Any) -> Part:
    def frame(pose: Pose) -> Frame:
        return Frame(pose.x[i], pose.q[i], UNIT)

    return Part(name, role, triangles, vertices, frame, still=role == "fixed", **more)


# Rods, ropes and springs


def _rods(scene: Scene, at: dict[str, int], thin: float) -> list[Part]:
    rod, rope, coil = _cylinder(thin), _cylinder(0.6 * thin), _coil(2.6 * thin, 0.5 * thin)
    looks = {"distance": ("rod", rod), "max_distance": ("rope", rope)}
    parts = []
    for record in scene.constraints.values():
        if record.kind in looks and record.owner is None:
            role, mesh = looks[record.kind]
            parts.append(_between(record.name, role, record.points, at, mesh))
        elif record.kind == "on_line" and record.owner is None and not parts_of_rigid(scene, record.points):
            parts.append(_line(record.name, record.arguments, _place_of(record.points[0], scene), 60.0 * thin, rope))
        elif record.kind in ("ball", "fixed_point") and record.owner is None:
            parts.append(_joint(record.name, record.points[0], at, 1.7 * thin))
    for force in scene.forces.values():
        if force.kind == "spring":
            parts.append(_between(force.name, "spring", force.points, at, coil))
        elif force.kind == "springs" and force.owner is None:
            pairs = np.array(force.arguments["pairs"], int).reshape(-1, 2)[:MANY]
            for k, (i, j) in enumerate(pairs.tolist()):
                ends = (force.points[i], force.points[j])
                parts.append(_between(f"{force.name}[{k}]", "spring", ends, at, rope))
    return parts


def parts_of_rigid(scene: Scene, points: tuple[Point, ...]) -> bool:
    return any(p.body is not None and scene.bodies[p.body].kind == "coordinate" for p in points)


def _place(point: Point, at: dict[str, int]) -> Callable[[Pose], np.ndarray]:
    offset = np.array(point.offset, float)
    if point.body is None:
        return lambda pose: offset
    i = at[point.body]
    if not offset.any():
        return lambda pose: pose.x[i]
    return lambda pose: pose.x[i] + rotate(pose.q[i], offset)


def _between(
    name: str, role: str, points: tuple[Point, ...], at: dict[str, int], mesh: meshes.Mesh
) -> Part:
    """A mesh of length 1 along x, stretched between two points."""
    first, second = _place(points[0], at), _place(points[1], at)

    def frame(pose: Pose) -> Frame:
        a, b = first(pose), second(pose)
        along = b - a
        length = float(np.linalg.norm(along))
        return Frame(0.5 * (a + b), turn_from_x(along), np.array([max(length, 1e-9), 1.0, 1.0]))

    return Part(name, role, mesh[1], mesh[0], frame)


def _joint(name: str, point: Point, at: dict[str, int], radius: float) -> Part:
    place = _place(point, at)
    vertices, triangles = meshes.sphere(12)

    def frame(pose: Pose) -> Frame:
        return Frame(place(pose), UPRIGHT, UNIT)

    return Part(name, "fixed", triangles, radius * vertices, frame)


def _line(name: str, arguments: dict[str, Any], start: np.ndarray, length: float, mesh: meshes.Mesh) -> Part:
    """The line on which a point is held, as long as the scene is large."""
    direction = np.array(arguments["direction"], float)
    turn = turn_from_x(direction)

    def frame(pose: Pose) -> Frame:
        point = arguments["point"]
        center = start if point is None else value_at(tuple(point), pose.time)
        return Frame(center, turn, np.array([length, 1.0, 1.0]))

    return Part(name, "guide", mesh[1], mesh[0], frame, still=is_still({"point": arguments["point"]}))


def _place_of(point: Point, scene: Scene) -> np.ndarray:
    from ..scene.places import place

    return np.array(place(point, scene.bodies), float)


def _cylinder(radius: float) -> meshes.Mesh:
    return meshes.cylinder(radius, 1.0, 16)


def _coil(radius: float, wire: float, turns: int = 9) -> meshes.Mesh:
    """A spring of length 1: a wire wound around x, straight at both ends."""
    steps, around = 24 * turns, 8
    s = np.linspace(0.0, 1.0, steps)
    wide = radius * np.clip(np.minimum(s, 1.0 - s) / 0.08, 0.0, 1.0)
    angle = 2.0 * np.pi * turns * s
    middle = np.stack([s - 0.5, wide * np.cos(angle), wide * np.sin(angle)], 1)
    out = np.stack([np.zeros(steps), np.cos(angle), np.sin(angle)], 1)
    turn = 2.0 * np.pi * np.arange(around) / around
    # Across the wire: outwards and along x, which is nearly right for a coil whose turns are close.
    ring = np.cos(turn)[:, None] * out[:, None] + np.sin(turn)[:, None] * np.array([0.1, 0.0, 0.0]) * radius / wire
    straight = (wide == 0.0)[:, None, None]
    flat = np.stack([np.zeros(around), np.cos(turn), np.sin(turn)], 1)[None]
    vertices = (middle[:, None] + wire * np.where(straight, flat, ring)).reshape(-1, 3)
    i, k = np.arange(around), np.arange(steps - 1)[:, None] * around
    j = (i + 1) % around
    quads = np.stack([k + i, k + j, k + around + j, k + around + i], -1).reshape(-1, 4)
    return vertices, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int64)


# Sheets and solids


def _sheets(scene: Scene, at: dict[str, int]) -> list[Part]:
    parts = []
    for record in scene.deformables.values():
        nodes = np.array([at[record.node(i)] for i in range(record.count)])
        used = np.unique(record.triangles)
        compact = np.full(record.count, -1)
        compact[used] = np.arange(len(used))
        edges = compact[record.edges]
        edges = edges[(edges >= 0).all(axis=1)] if record.kind == "cloth" else meshes.edges_of(compact[record.triangles])
        chosen = nodes[used]

        def points(pose: Pose, chosen: np.ndarray = chosen) -> np.ndarray:
            return pose.x[chosen]

        parts.append(Part(record.name, record.kind, compact[record.triangles], points=points, edges=edges))
    return parts


# Obstacles


def _obstacles(scene: Scene, bounds: Bounds) -> list[Part]:
    parts = []
    for name, (kind, arguments) in things(scene).items():
        make = _SURFACES.get(kind.removeprefix("inside_").removeprefix("outside_"))
        if make is None:
            continue
        triangles = make(arguments, 0.0, bounds)[1]
        inside = kind.startswith("inside_")

        def points(pose: Pose, make: Any = make, arguments: dict[str, Any] = arguments) -> np.ndarray:
            return make(arguments, pose.time, bounds)[0]

        parts.append(Part(name, "obstacle", triangles[:, ::-1] if inside else triangles, points=points,
                          one_sided=inside or kind == "half_space", still=is_still(arguments)))  # fmt: skip
    return parts


def _half_space(arguments: dict[str, Any], time: float, bounds: Bounds) -> meshes.Mesh:
    """A rectangle of the plane, as large as what moves before it."""
    normal, point = value_at(arguments["normal"], time), value_at(arguments["point"], time)
    normal = normal / np.linalg.norm(normal)
    center = bounds.center - normal * (normal @ (bounds.center - point))
    vertices, triangles = meshes.plane(np.zeros(3), normal, 1.0)
    u, v = meshes.across(normal)
    if bounds.is_planar and abs(normal[2]) < 0.5:  # seen from its edge: a board
        thick, deep = 0.03 * bounds.size, max(0.06 * bounds.size, float(bounds.extent[2]))
        along = np.cross(normal, [0.0, 0.0, 1.0])
        vertices, triangles = meshes.box(float(np.abs(along) @ bounds.extent) + 2.0 * thick, thick, deep)
        place = center - 0.5 * thick * normal
        return place + vertices @ np.stack([along, normal, np.cross(along, normal)]), triangles
    half = [0.5 * float(np.abs(w) @ bounds.extent) + 0.02 * bounds.size for w in (u, v)]
    return center + np.outer(vertices @ u, half[0] * u) + np.outer(vertices @ v, half[1] * v), triangles


def _sphere(arguments: dict[str, Any], time: float, bounds: Bounds) -> meshes.Mesh:
    vertices, triangles = meshes.sphere(32)
    return value_at(arguments["center"], time) + value_at(arguments["radius"], time) * vertices, triangles


def _box(arguments: dict[str, Any], time: float, bounds: Bounds) -> meshes.Mesh:
    vertices, triangles = meshes.box(*(2.0 * h for h in arguments["half"]))
    turn = np.array(arguments["orientation"], float)
    return value_at(arguments["center"], time) + rotate(turn, vertices), triangles


def _capsule(arguments: dict[str, Any], time: float, bounds: Bounds) -> meshes.Mesh:
    start, end = value_at(arguments["start"], time), value_at(arguments["end"], time)
    vertices, triangles = meshes.capsule(value_at(arguments["radius"], time), float(np.linalg.norm(end - start)))
    return 0.5 * (start + end) + rotate(turn_from_x(end - start), vertices), triangles


def _endless(arguments: dict[str, Any], time: float, bounds: Bounds) -> meshes.Mesh:
    """A cylinder without ends, cut off where the picture ends."""
    point, direction = value_at(arguments["point"], time), value_at(arguments["direction"], time)
    direction = direction / np.linalg.norm(direction)
    center = point + direction * (direction @ (bounds.center - point))
    vertices, triangles = meshes.cylinder(value_at(arguments["radius"], time), 1.2 * bounds.size, 48)
    return center + rotate(turn_from_x(direction), vertices), triangles


_SURFACES: dict[str, Callable[[dict[str, Any], float, Bounds], meshes.Mesh]] = {
    "half_space": _half_space, "sphere": _sphere, "box": _box, "capsule": _capsule, "cylinder": _endless,
}  # fmt: skip
