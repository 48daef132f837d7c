"""Constraints, inequalities and forces to batches: flat arrays by kind, so that every batch has one shape."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import constraints as constraint_kinds
from .. import forces as force_kinds
from ..errors import TautError
from ..expressions import Signal
from ..scene.places import places, surroundings
from ..scene.specs import Constraint, Force, Point
from .arrays import Batches, Inequalities, Places, Rows
from .dispatch import CONSTRAINT_CODES, FORCE_CODES, chart_address, constraint_address, force_address
from .inequalities import Conditions, balls_of
from .model import ConstraintInfo
from .slots import INDEX, Slots


def constraint_batches(slots: Slots, specs: Iterable[Constraint], places: Places, target: str):
    """The constraints in batches, their rows, and which rows each has, in the order of the scene."""
    flat: dict[str, list] = {"idx": [], "p": [], "ints": []}
    codes, addresses, charts, counts, starts = [], [], [], [], []
    widths: list[np.ndarray] = []
    block_points: list[np.ndarray] = []
    at_velocity: list[int] = []
    infos: dict[str, ConstraintInfo] = {}
    row = block = 0
    for (name, size, rows), members in _grouped(slots, specs, constraint_kinds.KINDS):
        kind = constraint_kinds.KINDS[name]
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
        for i, (spec, _, layout) in enumerate(members):
            own = tuple(range(row + i * rows, row + (i + 1) * rows))
            moving = rows - kind.position_rows if (layout.level or kind.level) == "velocity" else 0
            at_velocity += [0] * (rows - moving) + [1] * moving
            infos[spec.name] = ConstraintInfo(
                spec.name, name, kind.unit, own, tuple(int(q) for q in points[i]), spec.sense, layout.length, moving
            )
        row += rows * len(members)
        block += rows * len(members) * size
    in_scene_order = tuple(infos[spec.name] for spec in specs)
    batches = _batches(flat, codes, addresses, charts, counts, starts)
    return batches, _rows(widths, block_points, places, at_velocity), in_scene_order


def inequality_arrays(slots: Slots, found: Conditions, places: Places, rows_before: int):
    """The inequalities as arrays, and the names of those that are recorded."""
    batches, rows, infos = constraint_batches(slots, found.specs, places, "to_inequality")
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
    quat_of = np.full(slots.count, -1, np.int64)
    radius = np.zeros(slots.count)
    for name, info in slots.info.items():
        if info.quat >= 0:
            quat_of[info.slot] = info.quat
            radius[info.slot] = slots.scene.bodies[name].radius
    arm = radius[rows.slot]
    arm[rows.spin_from] = 0.0  # a place on a body has its arm already
    balls = balls_of(found.crowds)
    bodies = [slots.scene.bodies[name] for name in balls.names]
    arrays = Inequalities(
        batches, rows, slots.signals.table("to_inequality", 2),
        np.array([-1.0 if spec.sense == "<=" else 1.0 for spec in spec_of_row]),
        np.array([spec.restitution for spec in spec_of_row], float),
        np.array([spec.friction for spec in spec_of_row], float),
        arm, quat_of, np.array(listed, np.int64),
        np.array([slots.info[name].slot for name in balls.names], np.int64),
        np.array([body.radius for body in bodies], float), balls.group,
        np.array([group.restitution for group in found.crowds], float),
        np.array([group.friction for group in found.crowds], float),
        np.zeros(count), np.zeros(count), np.zeros(count), np.zeros((len(rows.slot), 3)),
    )  # fmt: skip
    return arrays, tuple(recorded), tuple(names)


def force_batches(slots: Slots, specs: Iterable[Force]) -> Batches:
    flat: dict[str, list] = {"idx": [], "p": [], "ints": []}
    codes, addresses, counts, starts = [], [], [], []
    for (name, _, _), members in _grouped(slots, specs, force_kinds.KINDS):
        starts.append((len(flat["idx"]), len(flat["p"]), len(flat["ints"]), 0, 0))
        codes.append(FORCE_CODES[name])
        addresses.append(force_address(name))
        counts.append(len(members))
        turning = force_kinds.KINDS[name].turning
        _flatten(slots, members, "to_force", flat, slots.turning_number if turning else slots.number)
    return _batches(flat, codes, addresses, [(0, False)] * len(codes), counts, starts)


def depends_on_velocity(force: Force) -> bool:
    damping = force.arguments.get("damping")
    if force.kind == "springs":
        return any(force.arguments["damping"])
    return force.kind in ("drag", "wind", "custom_force") or (
        damping is not None and not (damping.is_constant and damping.value == 0.0)
    )


def does_work(force: Force) -> bool:
    """Whether a force has no potential."""
    return depends_on_velocity(force) or force.kind == "torque"


def _grouped(slots: Slots, specs: Iterable[Constraint | Force], kinds: dict[str, Any]):
    """Specs by kind and size, so that every batch has one shape, with their layouts."""
    groups: dict[tuple[str, int, int], list] = defaultdict(list)
    bodies = slots.scene.bodies
    for spec in specs:
        kind = kinds[spec.kind]
        points = spec.points
        if spec.kind == "drag" and not points:
            points = tuple(Point(name) for name, info in slots.info.items() if info.motion == "free")
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


def _flatten(slots: Slots, members: list, target: str, flat: dict[str, list], index: Callable[[Point], int]) -> None:
    p = flat["p"]
    for _, points, layout in members:
        flat["idx"] += [index(point) for point in points]
        flat["ints"] += [entry() if callable(entry) else entry for entry in layout.ints]
        for value in layout.parameters:
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
    widths: list[np.ndarray], block_points: list[np.ndarray], places: Places, at_velocity: list[int]
) -> Rows:
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
        np.array(at_velocity, np.int64),
    )
