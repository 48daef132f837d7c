"""What a scene looks like (view/drawing.py), as meshes.

Sizes of what has none of its own (points, rods, planes) are taken from the space that the motion takes up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..model.frames import multiply, rotate
from ..shapes import OBSTACLES, Shape, cylinder, sphere
from ..view.drawing import BESIDE, Drawing, moves, numbers
from . import meshes
from .bounds import Bounds, bounds_of
from .motion import Motion
from .parts import CROWD, UNIT, UPRIGHT, Frame, Part, Pose, turn_from_x

DOT, THIN = 0.012, 0.45  # radius of a point, of the size; of a rod, of a point's
Drawn = dict[str, Any]
Arrays = dict[str, tuple[str, np.ndarray]]
AT_ORIGIN = Frame(np.zeros(3), UPRIGHT, UNIT)


def describe(motion: Motion) -> tuple[list[Part], Bounds]:
    """Everything that can be seen, and the space that it takes up."""
    duration = float(motion.time[-1])
    drawing = Drawing(motion.labels, motion.scene, motion.x, duration)
    drawn, arrays = drawing.data(), drawing.arrays()
    bounds = bounds_of(drawn, motion)
    dot = DOT * bounds.size
    moving = {name: dict(values) for name, values in drawing.moving}
    return [
        *_obstacles(drawn, moving, bounds),
        *_deformables(drawn, arrays),
        *_guides(drawn, 0.5 * THIN * dot),
        *_links(drawn, THIN * dot),
        *_joints(drawn, 1.6 * THIN * dot),
        *_bodies(drawn, dot),
        *_visuals(drawn, arrays),
    ], bounds


# Bodies


def _bodies(drawn: Drawn, dot: float) -> list[Part]:
    parts = []
    drawn_bodies = [body for body in drawn["bodies"]
           if body["kind"] != "coordinate" and not body["node"] and not body.get("visual")]
    balls = [body["name"] for body in drawn_bodies if body["radius"] > 0.0 and body["motion"] == "free"]
    crowd = {name: CROWD[i % len(CROWD)] for i, name in enumerate(balls)} if len(balls) > 3 else {}
    rings = 16 if len(drawn_bodies) < 500 else 8
    pinned = [body for body in drawn["bodies"] if body["node"] and body["motion"] != "free"]
    for body in [*drawn_bodies, *pinned]:
        name, role = body["name"], body["kind"] if body["motion"] == "free" else body["motion"]
        turn = UPRIGHT if body.get("turn") is None else np.array(body["turn"])
        # A body that is held and has no shape of its own may have any inertia: it is shown as a point.
        if body["kind"] == "rigid" and not (body["principal"] and (role != "rigid" or body["radius"] > 0.0)):
            vertices, triangles = meshes.of_shape(*body["shape"])
            turn = UPRIGHT if body["principal"] else turn
        else:
            vertices, triangles = sphere.triangles(1.0, rings)
            radius = body["radius"] if body["radius"] > 0.0 and not body["node"] else dot
            vertices = (0.6 * radius if body["node"] else radius) * vertices
        frame = _on_body(body["slot"], body["quat"], turn)
        parts.append(Part(name, role, triangles, vertices, frame, color=crowd.get(name), still=role == "fixed"))
    return parts


def _on_body(slot: int, quat: int, turn: np.ndarray) -> Callable[[Pose], Frame]:
    """The frame of a body; `turn` leads from its own axes to the principal ones."""
    if quat < 0:
        return lambda pose: Frame(pose.x[slot], UPRIGHT, UNIT)
    return lambda pose: Frame(pose.x[slot], multiply(pose.quat[quat], turn), UNIT)


def _visuals(drawn: Drawn, arrays: Arrays) -> list[Part]:
    motions = {body["name"]: body["motion"] for body in drawn["bodies"]}
    parts = []
    for i, visual in enumerate(drawn["visuals"]):
        vertices, triangles = (arrays[f"visual {i} {name}"][1] for name in ("vertices", "triangles"))
        name = visual["body"] or drawn["name"]
        role = {"free": "rigid"}.get(motion := motions.get(name, "fixed"), motion)
        if sum(other["body"] == visual["body"] for other in drawn["visuals"]) > 1:
            name = f"{name} {visual['color'] or 'plain'}"
        frame = _on_body(visual["slot"], visual["quat"], UPRIGHT) if visual["body"] else lambda pose: AT_ORIGIN
        parts.append(Part(name, role, triangles, vertices, frame, color=visual["color"], still=role == "fixed"))
    return parts


# Links, joints, guides


def _links(drawn: Drawn, thin: float) -> list[Part]:
    rope = cylinder.triangles(0.6 * thin, 1.0, 16)
    shapes = {"rod": cylinder.triangles(thin, 1.0, 16), "rope": rope, "spring": coil(2.6 * thin, 0.5 * thin)}
    return [
        _between(link["name"], link["style"], _place(link["a"]), _place(link["b"]), shapes[link["style"]])
        for link in drawn["links"] if link["style"] in shapes
    ]  # fmt: skip


def _place(place: list[float]) -> Callable[[Pose], np.ndarray]:
    slot, quat, offset = int(place[0]), int(place[1]), np.array(place[2:], float)
    if slot < 0:
        return lambda pose: offset
    if quat < 0:
        return lambda pose: pose.x[slot]
    return lambda pose: pose.x[slot] + rotate(pose.quat[quat], offset)


def _between(name: str, role: str, first: Any, second: Any, mesh: meshes.Mesh) -> Part:
    """A mesh of length 1 along x, stretched between two points."""

    def frame(pose: Pose) -> Frame:
        a, b = first(pose), second(pose)
        length = max(float(np.linalg.norm(b - a)), 1e-9)
        return Frame(0.5 * (a + b), turn_from_x(b - a), np.array([length, 1.0, 1.0]))

    return Part(name, role, mesh[1], mesh[0], frame)


def _joints(drawn: Drawn, radius: float) -> list[Part]:
    vertices, triangles = sphere.triangles(1.0, 12)
    parts = []
    for joint in drawn["joints"]:
        if joint["rows"]:
            place = _place(joint["at"])

            def frame(pose: Pose, place: Any = place) -> Frame:
                return Frame(place(pose), UPRIGHT, UNIT)

            parts.append(Part(joint["name"], "fixed", triangles, radius * vertices, frame))
        for k, (how, along) in enumerate(joint["axes"]):
            wide, long = (0.6, 9.0) if how == "turn" else (0.3, 25.0)
            pin = cylinder.triangles(wide * radius, long * radius, 16)
            name = joint["name"] if len(joint["axes"]) == 1 else f"{joint['name']}[{k}]"
            parts.append(Part(f"axis of {name}", "fixed", pin[1], pin[0], _along(_place(joint["at"]), along)))
    return parts


def _along(place: Callable[[Pose], np.ndarray], along: list[float]) -> Callable[[Pose], Frame]:
    """A frame at a place whose x axis is a direction that turns with a body, or stands in the world."""
    quat, direction = int(along[1]), np.array(along[2:], float)
    return lambda pose: Frame(
        place(pose), turn_from_x(direction if quat < 0 else rotate(pose.quat[quat], direction)), UNIT
    )


def _guides(drawn: Drawn, radius: float) -> list[Part]:
    """Lines and curves that points are held on, and paths, as thin tubes; of a sphere a circle of each axis."""
    parts = []
    for guide in drawn["guides"]:
        lines = [np.array(guide["points"], float)] if guide["form"] != "sphere" else _circles(guide)
        for k, line in enumerate(lines):
            if len(line) > 1 and np.ptp(line, axis=0).any():
                vertices, triangles = meshes.tube(line, radius)
                name = guide["name"] if len(lines) == 1 else f"{guide['name']}[{k}]"
                parts.append(_still(name, "guide", vertices, triangles))
    return parts


def _circles(guide: Drawn) -> list[np.ndarray]:
    turn = np.linspace(0.0, 2.0 * np.pi, 97)
    flat = guide["radius"] * np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], 1)
    return [np.array(guide["center"]) + np.roll(flat, axis, axis=1) for axis in range(3)]


def _still(name: str, role: str, vertices: np.ndarray, triangles: np.ndarray, **more: Any) -> Part:
    return Part(name, role, triangles, points=lambda pose: vertices, still=True, **more)


def coil(radius: float, wire: float, turns: int = 9) -> meshes.Mesh:
    """A spring of length 1: a wire wound around x, straight at both ends."""
    s = np.linspace(0.0, 1.0, 24 * turns)
    wide = radius * np.clip(np.minimum(s, 1.0 - s) / 0.08 - 0.5, 0.0, 1.0)
    angle = 2.0 * np.pi * turns * s
    # The wire is wound on a length in proportion to its thickness, and then brought to length 1.
    length = 12.0 * radius
    middle = np.stack([length * (s - 0.5), wide * np.cos(angle), wide * np.sin(angle)], 1)
    vertices, triangles = meshes.tube(middle, wire)
    return vertices / np.array([length, 1.0, 1.0]), triangles


# Deformables and solids


def _deformables(drawn: Drawn, arrays: Arrays) -> list[Part]:
    parts = []
    for i, deformable in enumerate(drawn["deformables"]):
        slots, given, edges = (arrays[f"deformable {i} {name}"][1] for name in ("slots", "triangles", "edges"))
        used, triangles = np.unique(given, return_inverse=True)
        triangles = triangles.reshape(-1, 3)
        # Of a sheet warp and weft, or the mesh's own edges; inner ones of a solid are not seen.
        edges = np.searchsorted(used, edges) if deformable["kind"] == "cloth" else meshes.edges_of(triangles)
        chosen = slots[used]

        def points(pose: Pose, chosen: np.ndarray = chosen) -> np.ndarray:
            return pose.x[chosen]

        parts.append(Part(deformable["name"], deformable["kind"], triangles, points=points, edges=edges))
    return parts


# Obstacles


def _obstacles(drawn: Drawn, moving: dict[str, dict[str, Any]], bounds: Bounds) -> list[Part]:
    parts = []
    for entry in drawn["obstacles"]:
        name, kind = entry["name"], entry["kind"]
        if kind not in OBSTACLES:
            continue
        shape, side = OBSTACLES[kind]
        arguments = moving.get(name, {key: value for key, value in entry.items() if key not in BESIDE})
        triangles = shape.surface(_at(arguments, 0.0), bounds)[1]

        def points(pose: Pose, shape: Shape = shape, arguments: dict[str, Any] = arguments) -> np.ndarray:
            return shape.surface(_at(arguments, pose.time), bounds)[0]

        inside = side.sign < 0.0
        parts.append(Part(name, "obstacle", triangles[:, ::-1] if inside else triangles, points=points,
                          one_sided=inside or not shape.is_solid,
                          still=not any(moves(value) for value in arguments.values())))  # fmt: skip
    return parts


def _at(arguments: dict[str, Any], time: float) -> dict[str, np.ndarray]:
    return {key: np.array(numbers(value, time), float) for key, value in arguments.items()}
