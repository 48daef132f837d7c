"""From a scene to a model: bodies to slots, points to places, constraints and forces to batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import constraints as constraint_kinds
from .. import forces as force_kinds
from ..errors import TautError
from ..expressions import Signal, codegen
from ..scene.bulk import uncollected
from ..scene.places import places, surroundings
from ..scene.scene import Scene
from ..scene.specs import Body, Constraint, Force, Point
from .arrays import Batches, Bodies, Inequalities, Places, Rows, Signals
from .dispatch import CONSTRAINT_CODES, FORCE_CODES, chart_address, constraint_address, force_address
from .frames import multiply, principal_axes, rotate
from .inequalities import Conditions, balls_of, conditions
from .model import BodyInfo, ConstraintInfo, Model
from .sheets import Sheet, lay_out_sheet, touching
from .walls import Wall, with_walls

INDEX = np.uint32


def build(scene: Scene) -> Model:
    """Lay a scene out as flat arrays. Every name is resolved and every formula compiled here."""
    with uncollected():
        return _Builder(scene).model()


class _Signals:
    """Collects functions of time, each once, and what they drive."""

    def __init__(self) -> None:
        self.number: dict[Signal, int] = {}
        self.targets: dict[str, list[tuple[int, ...]]] = defaultdict(list)

    def add(self, signal: Signal) -> int:
        return self.number.setdefault(signal, len(self.number))


class _Builder:
    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.signals = _Signals()
        self.x: list[Sequence[float]] = []
        self.v: list[Any] = []
        self.mass: list[Any] = []
        self.quat: list[np.ndarray] = []
        self.info: dict[str, BodyInfo] = {}
        self.world: dict[tuple[float, float, float], int] = {}
        self.places: dict[tuple[str, tuple[float, float, float]], int] = {}
        self.turned: list[tuple[int, int, int]] = []
        self.turned_axis: list[Sequence[float]] = []
        self.turned_from: list[np.ndarray] = []
        self.inertia: list[np.ndarray] = []

    def model(self) -> Model:
        scene = self.scene
        for body in scene.bodies.values():
            self.add_body(body)
        equalities = [spec for spec in scene.constraints.values() if spec.sense == "=="]
        unilateral = conditions(scene)
        used: list[Constraint | Force] = [*equalities, *unilateral.specs, *scene.forces.values()]
        for spec in used:  # places in the world become slots before any place on a body gets its number
            for point in spec.points:
                self.note_point(point)
        slots = len(self.x)
        place_arrays = self.add_places(slots)
        batches, rows, infos = self.constraint_batches(equalities, place_arrays, "to_constraint")
        inequalities, listed, names = self.inequality_arrays(unilateral, place_arrays, slots, len(rows.ptr) - 1)
        inequalities, wall_names = with_walls(inequalities, self.walls(unilateral), self.signals.add)
        force_batches = self.force_batches(scene.forces.values())
        bodies = self.body_arrays(slots)
        widest = max([len(spec.points) for spec in used] + [1])
        addresses = [codegen.signal_address(signal) for signal in self.signals.number]
        return Model(
            name=scene.name,
            body_info=tuple(self.info.values()),
            constraint_info=infos,
            bodies=bodies,
            places=place_arrays,
            constraints=batches,
            rows=rows,
            inequalities=inequalities,
            inequality_info=listed,
            inequality_names=names + wall_names,
            forces=force_batches,
            signals=self.signal_arrays(addresses),
            x=np.array(self.x, float).reshape(-1, 3),
            quat=np.array(self.quat, float).reshape(-1, 4),
            v=np.array(self.v, float).reshape(-1, 3),
            scratch_width=3 * widest,
            reduced_map=scene.reduced_map,
            gravity=scene.gravity,
            callbacks=tuple(
                spec.arguments.get("function") for spec in used if spec.arguments.get("function") is not None
            ),
            sheets=tuple(self.sheet(name) for name in scene.deformables),
            touching=touching(scene, {name: info.slot for name, info in self.info.items()}),
        )

    def walls(self, found: Conditions) -> list[Wall]:
        """Obstacles and the nodes of sheets that can be pushed by them."""
        walls = []
        for group, obstacle, name in found.walls:
            record = self.scene.deformables[name]
            slots, held = self.nodes(name)
            kept = np.flatnonzero(~held)
            if len(kept):
                names = [record.node(i) for i in kept.tolist()]
                start = np.array(self.x[slots[kept[0]]], float)
                walls.append(Wall(self.scene.obstacles[obstacle], names, slots[kept], 0.5 * record.thickness, start,
                                  group.friction))  # fmt: skip
        return walls

    def sheet(self, name: str) -> Sheet:
        return lay_out_sheet(self.scene.deformables[name], *self.nodes(name))

    def nodes(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Slots of a deformable's nodes, and which of them can not move."""
        record = self.scene.deformables[name]
        slots = np.array([self.info[record.node(i)].slot for i in range(record.count)])
        return slots, np.array([self.mass[slot][0] == 0.0 for slot in slots])

    # bodies and points

    def add_body(self, body: Body) -> None:
        slot = len(self.x)
        free = body.motion == "free"
        mass = body.mass if free else 0.0
        self.x.append(body.position)
        self.v.append(body.velocity if free else (0.0, 0.0, 0.0))
        self.mass.append((mass, 0.0, 0.0) if body.kind == "coordinate" else (mass, mass, mass))
        if body.path is not None:
            for c in range(1 if body.kind == "coordinate" else 3):
                self.signals.targets["driven"].append((self.signals.add(body.path[c]), slot, c))
        index, to_principal = -1, None
        if body.kind == "rigid":
            index, to_principal = self.add_rotation(body, free)
        self.info[body.name] = BodyInfo(body.name, body.kind, body.motion, slot, index, to_principal, body.mass)

    def add_rotation(self, body: Body, free: bool) -> tuple[int, np.ndarray]:
        index, slot = len(self.quat), len(self.x)
        inertia = np.eye(3) if body.inertia is None else np.array(body.inertia, float)
        moments, to_principal = principal_axes(inertia)
        orientation = multiply(np.array(body.orientation, float), to_principal)
        self.quat.append(orientation)
        self.inertia.append(moments if free else np.zeros(3))
        self.x.append((0.0, 0.0, 0.0))
        back = orientation * (1, -1, -1, -1)
        self.v.append(rotate(back, np.array(body.angular_velocity, float)) if free else (0.0, 0.0, 0.0))
        self.mass.append(moments if free else (0.0, 0.0, 0.0))
        if body.rotation is not None:
            axis, angle = body.rotation
            self.turned.append((self.signals.add(angle), index, slot))
            self.turned_axis.append(axis)
            self.turned_from.append(orientation)
        return index, to_principal

    def carried(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes that sit on driven bodies."""
        table, arms = [], []
        for body in self.scene.bodies.values():
            if body.carried is not None:
                on = self.info[str(body.carried.body)]
                arm = np.array(body.carried.offset)
                if on.to_principal is not None:
                    arm = rotate(on.to_principal * (1, -1, -1, -1), arm)
                table.append((self.info[body.name].slot, on.slot, on.quat))
                arms.append(arm)
        return np.array(table, np.int64).reshape(-1, 3), np.array(arms, float).reshape(-1, 3)

    def note_point(self, point: Point) -> None:
        if point.body is None:
            if point.offset not in self.world:
                self.world[point.offset] = len(self.x)
                self.x.append(point.offset)
                self.v.append((0.0, 0.0, 0.0))
                self.mass.append((0.0, 0.0, 0.0))
        elif any(point.offset):
            self.places.setdefault((point.body, point.offset), len(self.places))

    def add_places(self, slots: int) -> Places:
        arms, owners = [], []
        for name, offset in self.places:
            info = self.info[name]
            assert info.to_principal is not None
            owners.append(info)
            arms.append(rotate(info.to_principal * (1, -1, -1, -1), np.array(offset)))
            self.x.append((0.0, 0.0, 0.0))
            self.v.append((0.0, 0.0, 0.0))
            self.mass.append((0.0, 0.0, 0.0))
        return Places(
            np.arange(slots, slots + len(owners)).astype(INDEX),
            np.array([info.slot for info in owners], INDEX),
            np.array([info.quat for info in owners], INDEX),
            np.array(arms, float).reshape(-1, 3),
        )

    def number(self, point: Point) -> int:
        """The point's place in x."""
        if point.body is None:
            return self.world[point.offset]
        if any(point.offset):
            return len(self.x) - len(self.places) + self.places[point.body, point.offset]
        return self.info[point.body].slot

    def body_arrays(self, slots: int) -> Bodies:
        mass = np.array(self.mass, float).reshape(-1, 3)
        free = (mass > 0).astype(float)
        w = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
        constant = np.zeros_like(mass)
        for info in self.info.values():
            if info.kind != "coordinate":
                constant[info.slot] = mass[info.slot] * np.array(self.scene.gravity)
        spins = [info.slot + 1 for info in self.info.values() if info.kind == "rigid"]
        inertia = np.array(self.inertia, float).reshape(-1, 3)
        turning = bool(np.ptp(inertia, axis=1).any()) if len(inertia) else False
        damped = any(self.depends_on_velocity(force) for force in self.scene.forces.values())
        return Bodies(slots, w, mass, free, constant, np.array(spins, INDEX), inertia, int(turning or damped))

    @staticmethod
    def depends_on_velocity(force: Force) -> bool:
        damping = force.arguments.get("damping")
        if force.kind == "springs":
            return any(force.arguments["damping"])
        return force.kind in ("drag", "wind", "custom_force") or (
            damping is not None and not (damping.is_constant and damping.value == 0.0)
        )

    # batches

    def grouped(self, specs: Iterable[Constraint | Force], kinds: dict[str, Any]):
        """Specs by kind and size, so that every batch has one shape, with their layouts."""
        groups: dict[tuple[str, int, int], list] = defaultdict(list)
        bodies = self.scene.bodies
        for spec in specs:
            kind = kinds[spec.kind]
            points = spec.points
            if spec.kind == "drag" and not points:
                points = tuple(Point(name) for name, info in self.info.items() if info.motion == "free")
            # Most equalities ask nothing more about their points, and scenes hold many of them.
            asks = kind.points is None or getattr(kind, "sense", "==") != "=="
            arguments = spec.arguments | surroundings(points, bodies) if asks else spec.arguments
            try:
                layout = kind.lay_out(places(points, bodies), arguments)
            except ValueError as mistake:
                raise TautError(f"{spec.kind} '{spec.name}': {mistake}.") from None
            rows = layout.rows or getattr(kind, "rows", 0)
            groups[spec.kind, len(points), rows].append((spec, points, layout))
        order = {name: place for place, name in enumerate(kinds)}
        return sorted(groups.items(), key=lambda item: (order[item[0][0]], item[0][1:]))

    def flatten(self, members: list, target: str, flat: dict[str, list], index: Callable[[Point], int]) -> None:
        p = flat["p"]
        for _, points, layout in members:
            flat["idx"] += [index(point) for point in points]
            flat["ints"] += [entry() if callable(entry) else entry for entry in layout.ints]
            for value in layout.parameters:
                source = value.source if type(value) is Signal else float(value)
                if type(source) is float:
                    p.append(source)
                else:
                    self.signals.targets[target].append((self.signals.add(value), len(p)))
                    p.append(value.at(0.0)[0])

    def constraint_batches(self, specs: Iterable[Constraint], places: Places, target: str):
        flat: dict[str, list] = {"idx": [], "p": [], "ints": []}
        codes, addresses, charts, counts, starts = [], [], [], [], []
        widths: list[np.ndarray] = []
        block_points: list[np.ndarray] = []
        infos: dict[str, ConstraintInfo] = {}
        row = block = 0
        for (name, size, rows), members in self.grouped(specs, constraint_kinds.KINDS):
            kind = constraint_kinds.KINDS[name]
            starts.append((len(flat["idx"]), len(flat["p"]), len(flat["ints"]), row, block))
            codes.append(CONSTRAINT_CODES[name])
            addresses.append(constraint_address(name))
            charts.append((chart_address(name), kind.rechart is not None))
            counts.append(len(members))
            begin = len(flat["idx"])
            self.flatten(members, target, flat, self.number)
            points = np.array(flat["idx"][begin:], np.int64).reshape(len(members), size)
            block_points.append(np.repeat(points, rows, axis=0).ravel())
            widths.append(np.full(len(members) * rows, size))
            for i, (spec, _, _) in enumerate(members):
                own = tuple(range(row + i * rows, row + (i + 1) * rows))
                infos[spec.name] = ConstraintInfo(
                    spec.name, name, kind.unit, own, tuple(int(q) for q in points[i]), spec.sense
                )
            row += rows * len(members)
            block += rows * len(members) * size
        in_scene_order = tuple(infos[spec.name] for spec in specs)
        batches = _batches(flat, codes, addresses, charts, counts, starts)
        return batches, _rows(widths, block_points, places), in_scene_order

    def inequality_arrays(self, found: Conditions, places: Places, slots: int, rows_before: int):
        """The inequalities as arrays, and the names of those that are recorded."""
        batches, rows, infos = self.constraint_batches(found.specs, places, "to_inequality")
        count = len(rows.ptr) - 1
        spec_of_row: list[Constraint] = [None] * count  # type: ignore[list-item]
        names = [""] * count
        for spec, info in zip(found.specs, infos):
            for row, name in zip(info.rows, info.row_names()):
                spec_of_row[row], names[row] = spec, name
        listed: list[int] = []
        recorded = []
        for info in infos[: found.listed]:
            first = rows_before + len(listed)
            listed += info.rows
            recorded.append(replace(info, rows=tuple(range(first, first + len(info.rows)))))
        quat_of = np.full(slots, -1, np.int64)
        radius = np.zeros(slots)
        for name, info in self.info.items():
            if info.quat >= 0:
                quat_of[info.slot] = info.quat
                radius[info.slot] = self.scene.bodies[name].radius
        arm = radius[rows.slot]
        arm[rows.spin_from] = 0.0  # a place on a body has its arm already
        balls = balls_of(found.crowds)
        bodies = [self.scene.bodies[name] for name in balls.names]
        arrays = Inequalities(
            batches, rows, self.table("to_inequality", 2),
            np.array([-1.0 if spec.sense == "<=" else 1.0 for spec in spec_of_row]),
            np.array([spec.restitution for spec in spec_of_row], float),
            np.array([spec.friction for spec in spec_of_row], float),
            arm, quat_of, np.array(listed, np.int64),
            np.array([self.info[name].slot for name in balls.names], np.int64),
            np.array([body.radius for body in bodies], float), balls.group,
            np.array([group.restitution for group in found.crowds], float),
            np.array([group.friction for group in found.crowds], float),
            np.zeros(count), np.zeros(count), np.zeros(count), np.zeros((len(rows.slot), 3)),
        )  # fmt: skip
        return arrays, tuple(recorded), tuple(names)

    def force_batches(self, specs: Iterable[Force]) -> Batches:
        flat: dict[str, list] = {"idx": [], "p": [], "ints": []}
        codes, addresses, counts, starts = [], [], [], []
        for (name, _, _), members in self.grouped(specs, force_kinds.KINDS):
            starts.append((len(flat["idx"]), len(flat["p"]), len(flat["ints"]), 0, 0))
            codes.append(FORCE_CODES[name])
            addresses.append(force_address(name))
            counts.append(len(members))
            turning = force_kinds.KINDS[name].turning
            self.flatten(members, "to_force", flat, self.turning_number if turning else self.number)
        return _batches(flat, codes, addresses, [(0, False)] * len(codes), counts, starts)

    def turning_number(self, point: Point) -> int:
        info = self.info[point.body] if point.body is not None else None
        if info is None or info.kind != "rigid":
            raise TautError(f"a torque acts on '{point.body}', which is not a rigid body; apply a force instead.")
        return info.slot + 1

    def table(self, target: str, width: int) -> np.ndarray:
        return np.array(self.signals.targets[target], np.int64).reshape(-1, width)

    def signal_arrays(self, addresses: list[int]) -> Signals:
        return Signals(
            np.array(addresses, np.int64),
            np.zeros((len(addresses), 3)),
            self.table("to_constraint", 2),
            self.table("to_force", 2),
            self.table("driven", 3),
            np.array(self.turned, np.int64).reshape(-1, 3),
            np.array(self.turned_axis, float).reshape(-1, 3),
            np.array(self.turned_from, float).reshape(-1, 4),
            *self.carried(),
        )


def _batches(
    flat: dict[str, list], codes: list, addresses: list, charts: list, counts: list, starts: list
) -> Batches:
    p = np.array(flat["p"], float)
    chart = np.array(charts, np.int64).reshape(-1, 2)
    return Batches(
        np.array(codes, np.int64), np.array(addresses, np.int64), chart[:, 0].copy(), chart[:, 1].copy(),
        np.array(counts, np.int64), np.array(starts, np.int64).reshape(-1, 5),
        np.array(flat["idx"], INDEX), p, np.zeros_like(p), np.zeros_like(p), np.array(flat["ints"], np.int64),
    )  # fmt: skip


def _rows(widths: list[np.ndarray], block_points: list[np.ndarray], places: Places) -> Rows:
    """Blocks of J: one per row and point, then one per row and place on a rigid body for its rotation."""
    width = np.concatenate(widths) if widths else np.zeros(0, np.int64)
    points = np.concatenate(block_points) if block_points else np.zeros(0, np.int64)
    ptr = np.concatenate([[0], np.cumsum(width)]).astype(INDEX)
    row_of = np.repeat(np.arange(len(width)), width)
    slot = points.copy()
    on_body = np.flatnonzero(points >= (places.point[0] if len(places.point) else points.max(initial=0) + 1))
    place = points[on_body] - (int(places.point[0]) if len(places.point) else 0)
    slot[on_body] = places.slot[place]
    spin_slot = places.slot[place].astype(np.int64) + 1
    return Rows(
        ptr,
        np.concatenate([slot, spin_slot]).astype(INDEX),
        np.arange(len(slot), len(slot) + len(on_body)).astype(INDEX),
        on_body.astype(INDEX),
        row_of[on_body].astype(INDEX),
        place.astype(INDEX),
    )
