"""Batches of constraints, inequalities and forces: flat arrays by kind, so that all members of a batch have one
shape."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .. import constraints as constraint_kinds
from .. import forces as force_kinds
from ..constraints.base import Layout, Part
from ..errors import TautError
from ..expressions import Signal
from ..scene.joints import about
from ..scene.places import places
from ..scene.specs import Constraint, Force, Point
from .arrays import Batches, Inequalities, Places, Rows
from .dispatch import CONSTRAINT_CODES, FORCE_CODES, chart_address, constraint_address, force_address, sample_address
from .inequalities import Conditions, balls_of
from .model import ConstraintInfo, ConstraintPart, ForceInfo, JointInfo
from .planar import in_plane, is_planar
from .slots import INDEX, Slots
from .switches import keeper, switch_points, switched_rows


class Packed(NamedTuple):
    """A constraint or force, or a part of one, as its kernel gets it."""

    spec: Constraint | Force
    kind: str
    points: tuple[Point, ...]
    parameters: tuple
    ints: tuple
    rows: int
    level: str = "position"
    along: tuple[Point, Point] | None = None


@dataclass(frozen=True)
class PackedSpecs:
    """All that was packed of some specs, and the layout of each."""

    specs: tuple[Constraint | Force, ...]
    members: tuple[Packed, ...]
    layouts: dict[str, Layout]

    def points(self) -> Iterator[Point]:
        """Every point that they name or derive."""
        for member in self.members:
            yield from member.points
        for layout in self.layouts.values():
            for coordinate in layout.coordinates:
                yield from coordinate.points
            if layout.frame is not None:
                yield from (layout.frame.a, layout.frame.b, *layout.frame.axes)
        for member in self.members:
            yield from member.along or ()
        rows: dict[str, int] = defaultdict(int)
        for member in self.members:
            rows[member.spec.name] += member.rows
        yield from switch_points(self.specs, rows)


def pack(slots: Slots, specs: Iterable[Constraint | Force], kinds: Mapping[str, Any]) -> PackedSpecs:
    """The parameters and points that kernels get for each spec."""
    members: list[Packed] = []
    layouts: dict[str, Layout] = {}
    specs = tuple(specs)
    any_planar = any(body.planar for body in slots.scene.bodies.values())
    for spec in specs:
        kind = kinds[spec.kind]
        points = spec.points
        if not points and getattr(kind, "on_all", False):
            points = tuple(Point(name) for name, info in slots.info.items() if info.motion == "free")
        # Most kinds ask nothing more about their points, and scenes hold many of them.
        arguments = about(slots.scene, kind, spec.name, points, spec.arguments)
        try:
            layout = kind.pack(places(points, slots.scene.bodies), arguments)
            parts = layout.parts
            if any_planar and (parts or getattr(kind, "in_plane", None)) and is_planar(points, slots.scene.bodies):
                parts = in_plane(parts or (Part(spec.kind, points),), slots.scene.bodies)
        except ValueError as mistake:
            raise TautError(f"{spec.kind} '{spec.name}': {mistake}.") from None
        if layout.coordinates or layout.frame is not None:
            layouts[spec.name] = layout
        elif layout.length is not None or layout.acts_on is not None:
            layouts[spec.name] = layout
        for part in parts:
            of_part = kinds[part.kind]
            members.append(
                Packed(spec, part.kind, part.points, part.parameters, part.ints, of_part.rows, of_part.level,
                       part.along)
            )
        if not parts:
            rows = layout.rows or getattr(kind, "rows", 0)
            level = layout.level or getattr(kind, "level", "position")
            all_points = (*points, *layout.points)
            members.append(Packed(spec, spec.kind, all_points, layout.parameters, layout.ints, rows, level))
    return PackedSpecs(specs, tuple(members), layouts)


def constraint_batches(slots: Slots, packed: PackedSpecs, places: Places, target: str):
    """The constraints in batches, their rows, and which rows each has, in the order of the scene."""
    flat: dict[str, list] = {"idx": [], "p": [], "ints": []}
    codes, addresses, charts, counts, starts = [], [], [], [], []
    widths: list[np.ndarray] = []
    block_points: list[np.ndarray] = []
    at_velocity: list[int] = []
    parts: dict[str, list[ConstraintPart]] = defaultdict(list)
    row = block = 0
    for (name, size, rows, _), members in _grouped(packed, constraint_kinds.ALL):
        kind = constraint_kinds.ALL[name]
        starts.append((len(flat["idx"]), len(flat["p"]), len(flat["ints"]), row, block))
        codes.append(CONSTRAINT_CODES[name])
        addresses.append(constraint_address(name))
        charts.append((chart_address(name), kind.rechart is not None))
        counts.append(len(members))
        begin = len(flat["idx"])
        _flatten(slots, members, target, flat, slots.number)
        points = np.array(flat["idx"][begin:], np.int64).reshape(len(members), size)
        block_points.append(np.repeat(points, rows, axis=0).ravel())
        widths.append(np.full(len(members) * rows, size))
        for i, member in enumerate(members):
            own = tuple(range(row + i * rows, row + (i + 1) * rows))
            at_velocity += [int(member.level == "velocity")] * rows
            parts[member.spec.name].append(ConstraintPart(kind.unit, own, tuple(points[i].tolist()), member.level))
        row += rows * len(members)
        block += rows * len(members) * size
    batches = _batches(flat, codes, addresses, charts, counts, starts)
    infos = tuple(_info(spec, parts[spec.name], packed.layouts.get(spec.name)) for spec in packed.specs)
    return batches, _rows(widths, block_points, places, at_velocity, by_place=target == "to_constraint"), infos


def _info(spec: Any, parts: list[ConstraintPart], layout: Layout | None) -> ConstraintInfo:
    rows = tuple(row for part in parts for row in part.rows)
    points = parts[0].points
    if len(parts) > 1:
        points = tuple(dict.fromkeys(point for part in parts for point in part.points))
    units = [part.unit for part in parts for _ in part.rows]
    unit = units[0] if len(set(units)) == 1 else " ".join(units)
    levels = [part.level for part in parts for _ in part.rows]
    level = levels[0] if len(set(levels)) == 1 else " ".join(levels)
    length = None if layout is None else layout.length
    return ConstraintInfo(spec.name, spec.kind, unit, rows, points, spec.sense, length, tuple(parts), spec.role,
                          spec.owner, level)


def inequality_arrays(slots: Slots, conditions: Conditions, packed: PackedSpecs, places: Places, rows_before: int):
    """The inequalities as arrays, the names of those that are recorded, and which of them are switched."""
    batches, rows, infos = constraint_batches(slots, packed, places, "to_inequality")
    count = len(rows.ptr) - 1
    spec_of_row: list[Constraint] = [None] * count  # type: ignore[list-item]
    names = [""] * count
    for spec, info in zip(conditions.specs, infos):
        for row, name in zip(info.rows, info.row_names()):
            spec_of_row[row], names[row] = spec, name
    listed: list[int] = []
    recorded = []
    for info in infos[: conditions.listed]:
        first = rows_before + len(listed)
        listed += info.rows
        own = tuple(range(first, first + len(info.rows)))
        recorded.append(replace(info, rows=own, parts=(replace(info.parts[0], rows=own),)))
    places_of = {row: rows_before + k for k, row in enumerate(listed)}
    switched = switched_rows(slots, conditions.specs, {info.name: info.rows for info in infos}, rows, places_of)
    quat_of = np.full(slots.count, -1, np.int64)
    radius = np.zeros(slots.count)
    for name, info in slots.info.items():
        if info.quat >= 0:
            quat_of[info.slot] = info.quat
            radius[info.slot] = slots.scene.bodies[name].radius
    arm = radius[rows.slot]
    arm[rows.spin_from] = 0.0  # a place on a body has its arm already
    balls = balls_of(conditions.broad_phase_groups)
    bodies = [slots.scene.bodies[name] for name in balls.names]
    arrays = Inequalities(
        batches, rows, slots.signals.table("to_inequality", 2),
        np.array([-1.0 if spec.sense == "<=" else 1.0 for spec in spec_of_row]),
        np.array([spec.restitution for spec in spec_of_row], float),
        np.array([spec.friction for spec in spec_of_row], float),
        arm, quat_of, np.array(listed, np.int64),
        np.array([slots.info[name].slot for name in balls.names], np.int64),
        np.array([body.radius for body in bodies], float), balls.group,
        np.array([group.restitution for group in conditions.broad_phase_groups], float),
        np.array([group.friction for group in conditions.broad_phase_groups], float),
        np.zeros(count), np.zeros(count), np.zeros(count), np.zeros((len(rows.slot), 3)),
    )  # fmt: skip
    return arrays, tuple(recorded), tuple(names), switched


def joint_infos(slots: Slots, layouts: dict[str, Layout]) -> tuple[JointInfo, ...]:
    """Where the coordinates and frames of joints are read."""
    infos = []
    for name, layout in layouts.items():
        if layout.coordinates or layout.frame is not None:
            coordinates = tuple((c, tuple(slots.number(point) for point in c.points)) for c in layout.coordinates)
            frame = layout.frame
            points = () if frame is None else (frame.a, frame.b, *frame.axes)
            infos.append(JointInfo(name, coordinates, tuple(slots.number(point) for point in points)))
    return tuple(infos)


def alignment_table(slots: Slots, packed: PackedSpecs) -> np.ndarray:
    """(rows, 3): rows of directions that shall coincide, and these two directions (initial/alignment.py)."""
    if not any(member.along for member in packed.members):
        return np.zeros((0, 3), np.int64)
    found, row = [], 0
    for _, members in _grouped(packed, constraint_kinds.ALL):  # in the order of the rows
        for member in members:
            if member.along is not None:
                found.append((row, *(slots.number(direction) for direction in member.along)))
            row += member.rows
    return np.array(found, np.int64).reshape(-1, 3)


def turn_table(joints: tuple[JointInfo, ...]) -> np.ndarray:
    """(angles, 4): the turning direction, x, y and the counter of every angle of a joint."""
    rows = [points for joint in joints for coordinate, points in joint.coordinates if coordinate.type == "angle"]
    return np.array(rows, np.int64).reshape(-1, 4)


def force_batches(slots: Slots, packed: PackedSpecs) -> tuple[Batches, tuple[ForceInfo, ...], np.ndarray]:
    """The forces in batches, where each stands, in the order of the scene, and what switches each batch."""
    infos: dict[str, ForceInfo] = {}
    flat: dict[str, list] = {"idx": [], "p": [], "ints": []}
    codes, addresses, samples, counts, starts, keepers = [], [], [], [], [], []
    for (name, _, _, switched), members in _grouped(packed, force_kinds.KINDS):
        keepers.append(slots.number(keeper(members[0].spec)) if switched else -1)
        kind = force_kinds.KINDS[name]
        starts.append((len(flat["idx"]), len(flat["p"]), len(flat["ints"]), 0, 0))
        codes.append(FORCE_CODES[name])
        addresses.append(force_address(name))
        samples.append((sample_address(name), kind.sample is not None))
        counts.append(len(members))
        for member in members:
            at = (len(flat["idx"]), len(flat["p"]), len(flat["ints"]))
            _flatten(slots, [member], "to_force", flat, slots.turning_number if kind.turning else slots.number)
            points = tuple(int(point) for point in flat["idx"][at[0]:])
            own = packed.layouts.get(member.spec.name)
            acts_on = None if own is None or own.acts_on is None else own.acts_on.type
            infos[member.spec.name] = ForceInfo(member.spec.name, name, points, len(codes) - 1, at, acts_on)
    order = tuple(infos[spec.name] for spec in packed.specs)
    return _batches(flat, codes, addresses, samples, counts, starts), order, np.array(keepers, np.int64)


def _grouped(packed: PackedSpecs, kinds: Mapping[str, Any]) -> list[tuple[tuple[str, int, int, str], list[Packed]]]:
    """Members by kind and size, so that every batch has one shape; a force that is switched stands alone, by name."""
    groups: dict[tuple[str, int, int, str], list[Packed]] = defaultdict(list)
    for member in packed.members:
        alone = member.spec.name if isinstance(member.spec, Force) and member.spec.switch is not None else ""
        groups[member.kind, len(member.points), member.rows, alone].append(member)
    order = {name: place for place, name in enumerate(kinds)}
    return sorted(groups.items(), key=lambda item: (order[item[0][0]], item[0][1:]))


def _addresses(member: Packed) -> list[int]:
    """Its whole numbers, among them the addresses of the user's functions, which are judged as they are compiled."""
    try:
        return [entry() if callable(entry) else entry for entry in member.ints]
    except TautError as mistake:
        raise TautError(f"{member.spec.kind} '{member.spec.name}': {str(mistake).rstrip('.')}.") from None


def _flatten(slots: Slots, members: list, target: str, flat: dict[str, list], index: Callable[[Point], int]) -> None:
    p = flat["p"]
    for member in members:
        flat["idx"] += [index(point) for point in member.points]
        flat["ints"] += _addresses(member)
        for value in member.parameters:
            source = value.source if type(value) is Signal else float(value)
            if type(source) is float:
                p.append(source)
            else:
                slots.signals.targets[target].append((slots.signals.add(value), len(p)))
                p.append(value.at(0.0)[0])


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


def _rows(
    widths: list[np.ndarray], block_points: list[np.ndarray], places: Places, at_velocity: list[int], by_place: bool
) -> Rows:
    """Blocks of J: one per row and point, then one per row and place on a rigid body for its rotation, in the order of
    rows or of places."""
    width = np.concatenate(widths) if widths else np.zeros(0, np.int64)
    points = np.concatenate(block_points) if block_points else np.zeros(0, np.int64)
    ptr = np.concatenate([[0], np.cumsum(width)]).astype(INDEX)
    row_of = np.repeat(np.arange(len(width)), width)
    slot = points.copy()
    on_body = np.flatnonzero(points >= (places.point[0] if len(places.point) else points.max(initial=0) + 1))
    if by_place:  # so that what belongs to a place is read once for all its blocks
        on_body = on_body[np.argsort(points[on_body], kind="stable")]
    place = points[on_body] - (int(places.point[0]) if len(places.point) else 0)
    slot[on_body] = places.base[place]
    spin_slot = places.slot[place].astype(np.int64) + 1
    return Rows(
        ptr,
        np.concatenate([slot, spin_slot]).astype(INDEX),
        np.arange(len(slot), len(slot) + len(on_body)).astype(INDEX),
        on_body.astype(INDEX),
        row_of[on_body].astype(INDEX),
        place.astype(INDEX),
        np.array(at_velocity, np.int64),
        np.ones(len(at_velocity), np.int64),
    )


def places_under(rows: Rows, places: Places) -> Places:
    """The places, with the count of those that follow from bodies before these rows are evaluated."""
    return places._replace(constrained=int((rows.spin_place + 1).max(initial=0)))
