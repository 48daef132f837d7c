"""What a scene looks like: plain data that the page draws, the same for all runs of the scene.

A place on a body is [slot, quat, x, y, z]: where its numbers stand in the frames' arrays `x` and `quat`, and its offset
[m] in principal axes; slot -1 is a place in the world. Whatever a kind of constraint means, it is drawn by what it
is made of: two points make a link, one point on a surface, a line or a curve makes a guide, an obstacle its shape. A
rigid body without a shape is a box with its moments of inertia; bars lead to places off its look where it is held.
A body with visuals is those alone: one mesh for each colour, whose triangles stand in `arrays`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..constraints import KINDS
from ..expressions import Signal
from ..forces import KINDS as FORCES
from ..model.frames import conjugate, rotate
from ..result.labels import Labels
from ..scene.scene import Scene
from ..scene.specs import Constraint, Point
from ..scene.visuals import fused
from ..shapes import OBSTACLES, SHAPES, SOLIDS
from ..shapes.box import SHAPE as BOX
from .joints import joint_drawing

BESIDE = ("name", "kind", "drawn")  # what an obstacle is told with besides its arguments
WITH_BARS = 0.4  # of its size: the box of a body that is held, with bars to where it is
OFF = 0.1  # of a place's distance from the centre: how far from a shape it needs a bar
Place = list[float]


def as_solid(name: str, sizes: Sequence[float]) -> dict[str, Any]:
    """How the page draws a rigid body's shape: as one of its own solids, or by triangles."""
    shape = SHAPES[name]
    return {"as": shape.primitive} if shape.primitive else {"as": "mesh", **_mesh(shape.triangles, *sizes)}


def as_obstacle(kind: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """How the page draws an obstacle, and whether things stay inside of it; a limit has no surface."""
    if kind not in OBSTACLES:
        return {"as": ""}
    shape, side = OBSTACLES[kind]
    mesh = {} if shape.primitive else _mesh(lambda: shape.surface(
        {key: np.array(value, float) for key, value in arguments.items()}, None))  # fmt: skip
    return {"as": shape.primitive or "mesh", "inside": side.sign < 0.0, **mesh}


def _mesh(triangles: Any, *sizes: float) -> dict[str, Any]:
    vertices, faces = triangles(*sizes)
    return {"vertices": vertices.ravel().tolist(), "triangles": faces.ravel().tolist()}


class Drawing:
    """The look of a scene; of a run stored without its scene only what its labels tell."""

    def __init__(self, labels: Labels, scene: Scene | None, x: np.ndarray, duration: float) -> None:
        """x: where slots were, at some times, shape (T, slots, 3) [m]; duration [s] of the paths to draw."""
        self.labels, self.scene = labels, scene
        self.info = {body.name: body for body in labels.bodies}
        self.x, self.duration = x, duration
        self.visuals = list(self._visuals())
        self.held = self._held()
        self.moving: list[tuple[str, tuple]] = []  # obstacles that move: name, their numbers as functions of time

    def data(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        rows = sorted(zip(self.labels.rows(), self.labels.row_names(), self.labels.units(), self.labels.senses()))
        return {
            "name": self.labels.scene,
            "gravity": list(self.scene.gravity) if self.scene else [0.0, -9.81, 0.0],
            "rows": [{"name": name, "unit": unit, "sense": sense} for _, name, unit, sense in rows],
            "bodies": self._bodies(), "links": list(self._links()), "joints": list(self._joints()),
            "obstacles": self.obstacles(), "guides": list(self._guides()), "deformables": list(self._deformables()),
            "visuals": [told for told, *_ in self.visuals],
        }  # fmt: skip

    def place(self, point: Point) -> Place:
        if point.body is None:
            return [-1, -1, *point.offset]
        body = self.info[point.body]
        offset = np.array(point.offset, float)
        if body.to_principal is not None:
            offset = rotate(conjugate(body.to_principal), offset)
        return [body.slot, body.quat, *offset.tolist()]

    def _bodies(self) -> list[dict[str, Any]]:
        found = []
        for body in self.labels.bodies:
            spec = self.scene.bodies.get(body.name) if self.scene else None
            entry: dict[str, Any] = {
                "name": body.name, "kind": body.kind, "motion": body.motion, "slot": body.slot, "quat": body.quat,
                "mass": body.mass, "radius": spec.radius if spec else 0.0, "node": bool(spec and spec.owner),
            }  # fmt: skip
            if body.kind == "rigid":
                entry |= self._looks(body.name, body.quat, body.mass) | {"visual": bool(spec and spec.visual)}
                entry["turn"] = None if body.to_principal is None else conjugate(body.to_principal).tolist()
            found.append(entry)
        return found

    def _looks(self, name: str, quat: int, mass: float) -> dict[str, Any]:
        """The shape of a rigid body: as given, else the box with its moments of inertia, in principal axes."""
        spec = self.scene.bodies.get(name) if self.scene else None
        shape = getattr(spec, "shape", None)
        if shape is not None:
            return {"shape": [shape[0], *shape[1]], "principal": False, "drawn": as_solid(shape[0], shape[1])}
        moments = self.labels.inertia[quat]
        if not moments.any() and spec is not None and spec.inertia is not None:
            moments = np.diag(np.array(spec.inertia))
        sides = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / max(mass, 1e-300), 0.0))
        given = (sides * (WITH_BARS if name in self.held else 1.0)).tolist()
        return {"shape": [BOX.name, *given], "principal": True, "drawn": as_solid(BOX.name, given)}

    def _visuals(self) -> Iterable[tuple[dict[str, Any], np.ndarray, np.ndarray]]:
        """Whose, in which colour and in which box; vertices in principal axes, or in the world, and triangles."""
        if self.scene is None:
            return
        bodies = ((name, spec.visual) for name, spec in self.scene.bodies.items() if spec.visual)
        for name, visuals in ((None, self.scene.visual), *bodies):
            body = None if name is None else self.info[name]
            for color, vertices, triangles in fused(visuals):
                if body is not None and body.to_principal is not None:
                    vertices = rotate(conjugate(body.to_principal), vertices)
                yield {
                    "body": name, "slot": body.slot if body else -1, "quat": body.quat if body else -1, "color": color,
                    "box": [vertices.min(axis=0).tolist(), vertices.max(axis=0).tolist()],
                }, vertices, triangles  # fmt: skip

    def reach(self) -> dict[str, float]:
        """How far bodies reach about their places [m]: what they touch with, and what is seen of them."""
        found = {body.name: body.radius for body in self.scene.bodies.values()} if self.scene else {}
        for told, vertices, _ in self.visuals:
            if told["body"] is not None:
                found[told["body"]] = max(found[told["body"]], float(np.linalg.norm(vertices, axis=1).max()))
        return found

    def _held(self) -> dict[str, list[Point]]:
        """Of rigid bodies that something acts on, the places of that which their look does not reach."""
        found: dict[str, list[Point]] = {}
        for spec in (*self._own(), *(self.scene.forces.values() if self.scene else ())):
            for point in spec.points:
                body = None if point.body is None or self.scene is None else self.scene.bodies.get(point.body)
                if body is not None and body.kind == "rigid" and not (body.radius > 0.0 or body.visual):
                    places = found.setdefault(body.name, [])
                    if is_off(getattr(body, "shape", None), np.array(point.offset, float)) and point not in places:
                        places.append(point)
        return found

    def _own(self) -> Iterable[Constraint]:
        """Constraints that the user wrote; hard edges of deformables are drawn with it."""
        if self.scene is None:
            return ()
        return (c for c in self.scene.constraints.values() if c.owner is None)

    def _links(self) -> Iterable[dict[str, Any]]:
        for name, places in self.held.items():
            centre = self.place(Point(name, (0.0, 0.0, 0.0)))
            for point in places:
                yield {"name": name, "style": "rod", "rows": [], "a": centre, "b": self.place(point)}
        rows = {info.name: list(info.rows) for info in self.labels.constraints}
        for spec in self._own():
            if len(spec.points) == 2 and KINDS[spec.kind].link:
                a, b = map(self.place, spec.points)
                style = KINDS[spec.kind].link
                yield {"name": spec.name, "style": style, "rows": rows.get(spec.name, []), "a": a, "b": b}
        for force in self.scene.forces.values() if self.scene else ():
            style = FORCES[force.kind].link
            if force.owner is None and len(force.points) == 2 and style:
                a, b = map(self.place, force.points)
                yield {"name": force.name, "style": style, "rows": [], "a": a, "b": b}
        if self.scene is None:
            slots = {body.slot for body in self.labels.bodies}
            for info in self.labels.constraints:
                style = KINDS[info.kind].link if info.kind in KINDS else ""
                if style and set(info.points) <= slots and not len(self.labels.edges):
                    a, b = ([point, -1, 0.0, 0.0, 0.0] for point in info.points)
                    yield {"name": info.name, "style": style, "rows": list(info.rows), "a": a, "b": b}

    def _joints(self) -> Iterable[dict[str, Any]]:
        """Places on rigid bodies where something holds them, with their axes: ["turn" or "slide", direction]."""
        rows = {info.name: list(info.rows) for info in self.labels.constraints}
        for spec in self._own():
            look = joint_drawing(self.scene, spec) if self.scene is not None and not KINDS[spec.kind].link else None
            if look is not None:
                yield {
                    "name": spec.name, "at": self.place(look.place), "rows": rows.get(spec.name, []),
                    "kind": spec.kind, "axes": [[how, self.place(along)] for how, along in look.axes],
                }  # fmt: skip

    def obstacles(self) -> list[dict[str, Any]]:
        if self.scene is None:
            return []
        entries: dict[str, dict[str, Any]] = {}
        named = [(o.name, o.kind, o.arguments) for o in self.scene.obstacles.values()]
        named += [(c.name, c.kind, c.arguments) for c in self._own() if c.kind in OBSTACLES]
        self.moving = []
        for name, kind, arguments in named:
            known = {a.name for a in KINDS[kind].arguments} - {"ball"}
            values = {key: value for key, value in arguments.items() if key in known and value is not None}
            look = {key: numbers(value, 0.0) for key, value in values.items()}
            if any(moves(value) for value in values.values()):
                self.moving.append((name, tuple(values.items())))
            entry = {"name": name, "kind": kind, **look, "drawn": as_obstacle(kind, look)}
            entries.setdefault(f"{kind}{look}", entry)  # the same obstacle once
        return list(entries.values())

    def moved(self, times: np.ndarray) -> dict[str, np.ndarray]:
        """Of obstacles that move, their numbers one after the other at each time, shape (T, n)."""
        if self.scene is not None and not self.moving:
            self.obstacles()
        return {
            name: np.array([[n for _, value in values for n in flat(numbers(value, t))] for t in times])
            for name, values in self.moving
        }  # fmt: skip

    def _guides(self) -> Iterable[dict[str, Any]]:
        """Lines, curves and spheres that points stay on, and paths that drive bodies."""
        for spec in self._own():
            guide = KINDS[spec.kind].guide
            if guide is not None:
                where = [self.x[:, self.info[p.body].slot] if p.body else self.x[:, 0] for p in spec.points]
                x = np.stack(where, axis=1)
                yield {"name": spec.name, **guide(spec.arguments, x if np.isfinite(x).all() else x[:1])}
        times = np.linspace(0.0, self.duration, 200)
        for body in self.scene.bodies.values() if self.scene else ():
            if body.path is not None and body.kind != "coordinate" and not all(s.is_constant for s in body.path):
                points = [[signal.at(t)[0] for signal in body.path] for t in times]
                yield {"name": f"path of {body.name}", "form": "path", "points": points}

    def _deformables(self) -> Iterable[dict[str, Any]]:
        for deformable in self.scene.deformables.values() if self.scene else ():
            yield {"name": deformable.name, "kind": deformable.kind, "thickness": deformable.thickness}

    def arrays(self) -> dict[str, tuple[str, np.ndarray]]:
        """Nodes, triangles and edges of the deformables, whose indices count from its own first node; visuals."""
        found: dict[str, tuple[str, np.ndarray]] = {}
        for i, deformable in enumerate(self.scene.deformables.values() if self.scene else ()):
            slots = np.array([self.info[deformable.node(n)].slot for n in range(deformable.count)])
            found |= {
                f"deformable {i} slots": ("u4", slots), f"deformable {i} triangles": ("u4", deformable.triangles),
                f"deformable {i} edges": ("u4", deformable.edges),
                f"deformable {i} lengths": ("f4", deformable.lengths),
                f"deformable {i} pins": ("u4", np.array(sorted(deformable.pins), np.int64)),
            }  # fmt: skip
        for i, (_, vertices, triangles) in enumerate(self.visuals):
            found |= {f"visual {i} vertices": ("f4", vertices), f"visual {i} triangles": ("u4", triangles)}
        return found


def nearby(box: Any, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Of the box of what stands in the world the part near to what moves [m]: a hall does not make a robot a dot."""
    room = max(float(np.linalg.norm(high - low)), 0.5)
    return np.clip(np.array(box, float), low - room, high + room)


def numbers(value: Any, t: float) -> Any:
    """Signals at a time; numbers and tuples of both as they are."""
    if isinstance(value, Signal):
        return float(value.at(t)[0])
    return [numbers(item, t) for item in value] if isinstance(value, tuple | list) else value


def flat(value: Any) -> list[float]:
    return [n for item in value for n in flat(item)] if isinstance(value, list) else [float(value)]


def is_off(shape: Any, offset: np.ndarray) -> bool:
    """Whether a place on a body lies off its shape; without a shape, off its centre."""
    far = float(np.linalg.norm(offset))
    if shape is None or shape[0] not in SOLIDS or not far > 0.0:
        return shape is None and far > 0.0
    return float(SOLIDS[shape[0]].distance(offset[None], *shape[1])[0][0]) > OFF * far


def moves(value: Any) -> bool:
    if isinstance(value, Signal):
        return not value.is_constant
    return isinstance(value, tuple | list) and any(moves(item) for item in value)
