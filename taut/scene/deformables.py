"""Cloth and solids: what scene.cloth(...) and scene.solid(...) make of a mesh.

    nodes   particles name[0], name[1], …            springs   forces name.structural, name.shear, name.bending
    hard    `distance` equalities name.edge[0], …    wind      the force name.wind
    pins    a node that is fixed or driven, or sits on a body that is; on a free body a `ball` joint, name.pin[i]

These records carry the deformable's name as their owner. A file holds the deformable alone, and reading it
makes them again.
"""

from __future__ import annotations

import inspect
from collections.abc import Container, Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked_methods
from ..errors import TautError, shown, unknown
from ..expressions import Signal
from ..forces.spring_law import Springs
from ..forces.spring_law import springs as make_springs
from .bulk import uncollected
from .materials import AIR, OPTIONS, differing, read_options
from .meshes import Shape, read_shape
from .pins import Pin, motion_at, read_pin, read_pins, read_vertex
from .places import place
from .specs import HARD_EDGE, PIN, Body, BodyRef, Constraint, Deformable, Force, Point

if TYPE_CHECKING:
    from .scene import Scene

Array = np.ndarray
# Of springs that resist shear and bending, as parts of the structural stiffness: cloth shears and folds easily.
SHEAR, BENDING = 0.3, 0.01
_NO_PAIRS = np.zeros((0, 2), np.int64)


@dataclass(frozen=True)
@checked_methods
class DeformableRef:
    """What `scene.cloth(...)` and `scene.solid(...)` return."""

    scene: Scene
    name: str

    @property
    def record(self) -> Deformable:
        return self.scene._deformables[self.name]

    @property
    def nodes(self) -> list[BodyRef]:
        """All nodes, to hand to constraints, forces and contacts."""
        return [BodyRef(self.record.node(i), "particle") for i in range(self.record.count)]

    def node(self, i: int) -> BodyRef:
        """The node of vertex i, counted from 0."""
        i = read_vertex(f"{self.record.kind} '{self.name}'", "node", i, self.record.count)
        return BodyRef(self.record.node(i), "particle")

    def pin(self, vertex: Any, to: Any = None) -> None:
        """Hold a vertex (its number or its node) where it is, or to a body, a place or a path.

        A rigid body is held at the place where the vertex is; body.at(...) names a place on it. A place or a
        path moves the vertex there at the start; the rest lengths stay.
        """
        record, what = self.record, f"{self.record.kind} '{self.name}'"
        if isinstance(vertex, BodyRef):
            numbers = {record.node(i): i for i in range(record.count)}
            vertex = numbers.get(vertex.name, vertex.name)
        x = np.array([self.scene._bodies[record.node(i)].position for i in range(record.count)])
        pin = read_pin(self.scene, what, vertex, to, x)
        if pin.vertex in record.pins:
            raise TautError(f"{what}: vertex {pin.vertex} is pinned twice; pin it once.")
        if isinstance(pin.to, Point):
            _refuse_taken(what, [_pin(record, pin.vertex)], self.scene._constraints, "constraint")
        _hold(self.scene, self.name, [pin])


@dataclass(frozen=True)
@checked_methods
class ClothRef(DeformableRef):
    def corner(self, u: int, v: int) -> BodyRef:
        """The corner of a grid at its beginning (0) or end (1) along u and along v."""
        cells = self.record.cells
        if cells is None:
            raise TautError(f"cloth '{self.name}' is not a grid and has no corners; name a node by its number.")
        if u not in (0, 1) or v not in (0, 1):
            raise TautError(f"cloth '{self.name}': there is no corner ({shown(u)}, {shown(v)}); give 0 or 1 for each.")
        return self.node(v * (cells[1] - 1) * cells[0] + u * (cells[0] - 1))


@dataclass(frozen=True)
class SolidRef(DeformableRef):
    """A solid has no corners of its own; `node` and `pin` are what it offers."""


def add_makers(scene_class: type) -> type:
    """Give the class its methods cloth and solid, from the table of their options."""
    for kind, summary in (("cloth", "a sheet"), ("solid", "a body")):
        setattr(scene_class, kind, _maker(kind, f"Add {summary} of nodes and springs."))
    return scene_class


def _maker(kind: str, summary: str) -> Any:
    def maker(self: Scene, *, pins: Any = (), name: str | None = None, **arguments: Any) -> DeformableRef:
        return add(self, kind, name, arguments, pins)

    parameter = inspect.Parameter
    listed = [parameter("self", parameter.POSITIONAL_OR_KEYWORD)]
    defaults = {option.name: option.default for option in OPTIONS[kind].values()} | {"pins": (), "name": None}
    listed += [parameter(key, parameter.KEYWORD_ONLY, default=value) for key, value in defaults.items()]
    maker.__name__, maker.__qualname__ = kind, f"Scene.{kind}"
    maker.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
    lines = [f"{option.name}: {option.doc}" for option in OPTIONS[kind].values()]
    lines.append('pins: vertex numbers that stay where they are, or {"vertex": i, "to": body, place or path}')
    maker.__doc__ = "\n".join([summary, "", *lines])
    return maker


def add(scene: Scene, kind: str, name: str | None, options: dict[str, Any], pins: Any) -> Any:
    """Check everything, and only then add all that a deformable is made of."""
    name = _new_name(scene, kind, name)
    what = f"{kind} '{name}'"
    extra = next((key for key in options if key not in OPTIONS[kind]), None)
    if extra is not None:
        raise TautError(f"{what}: {unknown('argument', extra, [*OPTIONS[kind], 'pins', 'name'])}")
    values = read_options(kind, what, options)
    shape = read_shape(kind, name, values)
    held = read_pins(scene, what, pins, shape.x)
    record = _record(kind, name, values, shape, scene._where)
    if record.self_contact:
        check_thickness(what, record)
    if record.system == "active":
        check_active(what, record)
    clash = next((record.node(i) for i in range(record.count) if record.node(i) in scene._bodies), None)
    if clash is not None:
        raise TautError(f"{what}: its node would be called '{clash}', but there is a body of that name; rename it.")
    names = [_edge(record, q) for q in range(len(record.hard_edges))]
    names += [_pin(record, pin.vertex) for pin in held if isinstance(pin.to, Point)]
    _refuse_taken(what, names, scene._constraints, "constraint")
    _refuse_taken(what, [f"{name}.{part}" for part in _force_parts(record, values)], scene._forces, "force")
    with uncollected():
        scene._deformables[name] = record
        _add_nodes(scene, record, shape, values["velocity"])
        whole = tuple([scene._whole[record.node(i)] for i in range(record.count)])
        _add_hard_edges(scene, record, whole)
        _add_forces(scene, record, values, whole)
        _hold(scene, name, held)
    return (ClothRef if kind == "cloth" else SolidRef)(scene, name)


def _new_name(scene: Scene, kind: str, name: str | None) -> str:
    """The first cloth is called cloth, the next one cloth_1."""
    if name is None:
        count = len([record for record in scene._deformables.values() if record.kind == kind])
        name = kind if count == 0 else f"{kind}_{count}"
    return scene._new_name(name, kind, scene._deformables, scene._bodies, scene._obstacles)


# Records


def check_thickness(what: str, record: Deformable) -> None:
    """What runs into itself must be thinner than its mesh is fine: neighbours would touch at rest."""
    if record.thickness == 0.0:
        raise TautError(f"{what}: self_contact needs a thickness, but it is 0; give one, such as 0.01 m.")
    if record.thickness >= 0.5 * record.shortest:
        raise TautError(f"{what}: its thickness is {record.thickness:g} m, but where it runs into itself it must be "
                        f"below half of its shortest edge, which is {record.shortest:g} m; make it thinner, or the "
                        "mesh coarser.")


def check_active(what: str, record: Deformable) -> None:
    """The system of active springs is that of the paper: limits, and nothing else."""
    if len(record.hard_edges):
        raise TautError(f"{what}: system is 'active', but it has {len(record.hard_edges)} hard edges, which always "
                        "act; give hard=None and a limit above 0, such as 0.01, or leave system out.")
    if not record.is_limited:
        raise TautError(f"{what}: system is 'active', but it has no limit that could act; give one, such as 0.1, or "
                        "leave system out.")


def _record(kind: str, name: str, values: dict[str, Any], shape: Shape, where: str | None) -> Deformable:
    n, x = len(shape.x), shape.x
    # Edges that may not become longer at all are held at their length: warp and weft, or all edges of a mesh.
    inextensible = kind == "cloth" and values["limit"] == 0.0
    limit = None if inextensible else values["limit"]
    which = values.get("hard") or ("warp_weft" if inextensible else None)
    hard = {None: _NO_PAIRS, "warp_weft": shape.families["structural"], "edges": shape.edges}[which]
    soft = {family: _without(pairs, hard, n) for family, pairs in shape.families.items()}
    limit_edges = np.concatenate([soft[family] for family in ("structural", "shear") if family in soft])
    edges = shape.families["structural"]
    return Deformable(
        kind=kind, name=name, arguments=differing(kind, values), count=n, pins={}, where=where, limit=limit,
        cells=shape.cells, triangles=shape.triangles, edges=edges, lengths=_lengths(edges, x),
        springs={family: s for family, pairs in soft.items() if (s := _springs(family, pairs, x, values)) is not None},
        limit_edges=limit_edges, limit_lengths=_lengths(limit_edges, x),
        hard_edges=hard, hard_lengths=_lengths(hard, x),
        shortest=float(_lengths(shape.edges, x).min()),
        system=values["system"] or ("auto" if values["limit_rule"] == "paper" else "nodes"),
        **{name: values[name] for name in ("limit_rule", "thickness", "self_contact", "release", "approach")},
    )  # fmt: skip


def with_system(scene: Scene, system: str) -> Scene:
    """The same scene, whose deformables are all solved for by that system, whatever was written."""
    other = copy(scene)
    other._deformables = {name: replace(one, system=system) for name, one in scene.deformables.items()}
    return other


def _springs(family: str, pairs: Array, x: Array, values: dict[str, Any]) -> Springs | None:
    """A family's springs; None where it has none, or where they do nothing."""
    k, second = values["stiffness"], values["second_stiffness"]
    part = 1.0
    if family != "structural":
        usual = SHEAR if family == "shear" else BENDING
        part = usual if values[family] is None else values[family] / k if k > 0.0 else 0.0
        k = usual * k if values[family] is None else values[family]
    if len(pairs) == 0 or (k == 0.0 and values["damping"] == 0.0):
        return None
    if second is None or family == "bending":
        return make_springs(pairs, x, k, values["damping"])
    return make_springs(pairs, x, k, values["damping"], part * second, values["second_elongation"])


def _lengths(pairs: Array, x: Array) -> Array:
    return np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)


def _without(pairs: Array, others: Array, n: int) -> Array:
    """Pairs that are not among the others; in all of them the smaller node stands first."""
    return pairs[~np.isin(pairs[:, 0] * n + pairs[:, 1], others[:, 0] * n + others[:, 1])]


def _add_nodes(scene: Scene, record: Deformable, shape: Shape, velocity: Any) -> None:
    radius, where = 0.5 * record.thickness, record.where
    for i, (at, mass) in enumerate(zip(shape.x.tolist(), shape.masses.tolist())):
        scene._add(Body("particle", record.node(i), tuple(at), velocity, mass, radius=radius, where=where,
                        owner=record.name))


def _add_hard_edges(scene: Scene, record: Deformable, whole: tuple[Point, ...]) -> None:
    for q, ((i, j), length) in enumerate(zip(record.hard_edges.tolist(), record.hard_lengths.tolist())):
        scene._add(Constraint("distance", _edge(record, q), (whole[i], whole[j]), {"length": Signal(length)},
                              where=record.where, owner=record.name, role=HARD_EDGE))


def _edge(record: Deformable, q: int) -> str:
    return f"{record.name}.edge[{q}]"


def _pin(record: Deformable, vertex: int) -> str:
    return f"{record.name}.pin[{vertex}]"


def _refuse_taken(what: str, own: Iterable[str], taken: Container[str], kind: str) -> None:
    """A part of a deformable never takes the place of what a user has named like it."""
    clash = next((name for name in own if name in taken), None)
    if clash is not None:
        raise TautError(f"{what}: a part of it would be called '{clash}', but there is a {kind} of that name; "
                        "rename it.")


def _force_parts(record: Deformable, values: dict[str, Any]) -> list[str]:
    return [*record.springs, *(["wind"] if values["wind"] is not None else [])]


def _add_forces(scene: Scene, record: Deformable, values: dict[str, Any], whole: tuple[Point, ...]) -> None:
    for family, s in record.springs.items():
        two_phases = bool(np.isfinite(s.elongation2[0]))
        arguments: dict[str, Any] = {
            "pairs": tuple(np.stack([s.i, s.j], axis=1).ravel().astype(float).tolist()),
            "stiffness": (float(s.k[0]),), "length": tuple(s.rest.tolist()), "damping": (float(s.damping[0]),),
            "second_stiffness": (float(s.k2[0]),) if two_phases else None,
            "second_elongation": (float(s.elongation2[0]),) if two_phases else None,
        }  # fmt: skip
        scene._add(Force("springs", f"{record.name}.{family}", whole, arguments, record.where, record.name))
    if values["wind"] is not None:
        arguments = {
            "triangles": tuple(record.triangles.ravel().astype(float).tolist()), "velocity": values["wind"],
            "coefficient": Signal(values["drag"]), "density": AIR,
        }  # fmt: skip
        scene._add(Force("wind", f"{record.name}.wind", whole, arguments, record.where, record.name))


def _hold(scene: Scene, name: str, pins: list[Pin]) -> None:
    """Fix, drive or join nodes. An edge between two that can not move holds nothing and is taken out."""
    record = scene._deformables[name]
    for vertex, to in pins:
        node = record.node(vertex)
        body = scene._bodies[node]
        if isinstance(to, Point):
            _hold_to_body(scene, record, node, _pin(record, vertex), to)
        else:
            kind, path, position, velocity = motion_at(f"pin of '{node}'", to, body.position)
            scene._bodies[node] = replace(body, motion=kind, path=path, position=position, velocity=velocity)
    pinned = record.pins | {pin.vertex: pin.to for pin in pins}
    stuck = np.zeros(record.count, bool)
    stuck[[vertex for vertex in pinned if scene._bodies[record.node(vertex)].motion != "free"]] = True
    for q in np.flatnonzero(stuck[record.hard_edges].all(axis=1)).tolist():
        edge = scene._constraints.get(_edge(record, q))
        if edge is not None and edge.owner == name and edge.role == HARD_EDGE:
            del scene._constraints[edge.name]
    scene._deformables[name] = replace(record, pins=pinned)


def _hold_to_body(scene: Scene, record: Deformable, node: str, name: str, to: Point) -> None:
    """On a body that nothing can move a node goes with it; on a free one it is joined."""
    own, on = scene._bodies[node], scene._bodies[str(to.body)]
    at = place(to, scene._bodies)
    if on.motion == "fixed":
        scene._bodies[node] = replace(own, motion="fixed", position=at, velocity=(0.0, 0.0, 0.0))
    elif on.motion == "driven":
        # A node of another sheet may be carried itself; then both sit on the same body.
        carrier = on.carried or to
        scene._bodies[node] = replace(own, motion="driven", position=at, velocity=(0.0, 0.0, 0.0), carried=carrier)
    else:
        scene._add(Constraint("ball", name, (scene._whole[node], to), {}, where=record.where, owner=record.name,
                              role=PIN))
