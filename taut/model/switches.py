"""The switches of a scene as arrays (switching.py): keepers and offsets are points without a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from ..expressions import call_force, condition_address
from ..joints.coordinates import ANGLE, ELEVATION, TYPES, UPRIGHT
from ..scene.joints import coordinates_of
from ..scene.specs import Constraint, Force, Point
from ..scene.switches import symbols
from .arrays import Places, Rows, SwitchedRows, Switches, no_start
from .frames import rotate
from .slots import Slots
from .switched_rows import FAR
from .switching import ACTIVE, LATCHED

EASE = 0.1  # [s]
ALWAYS = -1.0  # [s] since when something is on that was not switched on
LOG_CAPACITY = 4096  # events between two looks of the session
Spec = Constraint | Force


def keeper(spec: Spec) -> Point:
    """The point that keeps whether a constraint or force is on; those of a group share one."""
    return Point(None, counter=f"{switch_name(spec)}.switch")


def switch_name(spec: Spec) -> str:
    return spec.name if spec.switch is None or spec.switch.name is None else spec.switch.name


def one_of_each(specs: Iterable[Spec]) -> list[Spec]:
    """Of those that are switched the first for each switch."""
    first: dict[str, Spec] = {}
    for spec in specs:
        if spec.switch is not None:
            first.setdefault(switch_name(spec), spec)
    return list(first.values())


def offset(spec: Spec, i: int) -> Point:
    """The point that keeps where row i of a constraint stood when it was switched on."""
    return Point(None, counter=f"{spec.name}.offset[{i}]")


def switch_points(specs: Iterable[Spec], rows: Mapping[str, int]) -> Iterator[Point]:
    """All points that switches need; rows: how many rows each constraint has."""
    for spec in specs:
        if spec.switch is not None:
            yield keeper(spec)
            if isinstance(spec, Constraint):
                yield from (offset(spec, i) for i in range(rows[spec.name]))


def switched_rows(
    slots: Slots, specs: Iterable[Constraint], rows_of: Mapping[str, Sequence[int]], rows: Rows,
    recorded: Mapping[int, int],
) -> SwitchedRows:  # fmt: skip
    """The rows of equalities or inequalities that are switched; recorded: where each row stands in records."""
    table: list[tuple[int, ...]] = []
    ease, far = [], []
    for spec in specs:
        if spec.switch is None:
            continue
        for i, row in enumerate(rows_of[spec.name]):
            table.append((row, slots.number(keeper(spec)), slots.number(offset(spec, i)), int(rows.at_velocity[row]),
                          recorded.get(row, -1)))  # fmt: skip
            ease.append(spec.switch.ease or EASE)
            far.append({"==": 0.0, ">=": FAR, "<=": -FAR}[spec.sense])
    columns = np.array(table, np.int64).reshape(-1, 5).T.copy()
    return SwitchedRows(columns[0], columns[1], columns[2], np.array(ease, float), columns[3], np.array(far, float),
                        columns[4], np.zeros(len(table), np.int64))  # fmt: skip


def switch_arrays(
    slots: Slots, specs: Sequence[Spec], equalities: SwitchedRows, inequalities: SwitchedRows, of_force: np.ndarray
) -> Switches:
    """All switches of a scene, and the points of the conditions; a switch that is on at the start is so in slots.x."""
    own = one_of_each(specs)
    span, address, first = [], [], []
    idx: list[int] = []
    named: list[str] = []  # joints of conditions
    for spec in own:
        switch: Any = spec.switch
        span.append((-inf if switch.from_ is None else switch.from_, inf if switch.until is None else switch.until))
        begins, addresses = [len(idx)], []
        for condition in (switch.active, switch.when):
            addresses.append(0 if condition is None else _condition(slots, condition, idx, named))
            begins.append(len(idx))
        address.append(addresses)
        first.append(begins)
    widest = 3 * max([b - a for row in first for a, b in zip(row, row[1:])] + [1])
    joint_first, joint_type, joint_points, joint_offset = _joint_tables(slots, named)
    return Switches(
        np.array([slots.number(keeper(spec)) for spec in own], np.int64), np.array(span, float).reshape(-1, 2),
        np.array(address, np.int64).reshape(-1, 2), np.array(first, np.int64).reshape(-1, 3),
        np.array(idx, np.int64), joint_first, joint_type, joint_points, joint_offset,
        np.array([isinstance(spec, Force) for spec in own], np.int64), equalities, inequalities, of_force,
        np.zeros((3, widest)), np.zeros((LOG_CAPACITY if own else 0, 3)), np.zeros(1, np.int64), 0.5, 0, 0,
        no_start(),
    )  # fmt: skip


def _joint_tables(slots: Slots, names: list[str]) -> tuple[np.ndarray, ...]:
    """joint_first, joint_type, joint_points and joint_offset of Switches."""
    found = [coordinates_of(slots.scene, name) for name in names]
    flat = [coordinate for coordinates in found for coordinate in coordinates]
    points = [[slots.number(point) for point in coordinate.points] for coordinate in flat]
    return (
        np.cumsum([0, *map(len, found)]).astype(np.int64), np.array([TYPES[c.type] for c in flat], np.int64),
        np.array(points, np.int64).reshape(-1, 4), np.array([c.offset for c in flat], float),
    )  # fmt: skip


def _condition(slots: Slots, text: str, idx: list[int], named: list[str]) -> int:
    """The address of a condition; the slots of its bodies are added to idx, its joints to named."""
    own, names = symbols(text, slots.scene)
    for name in own:
        if name in slots.info:
            idx.append(slots.info[name].slot)
        else:
            if name not in named:
                named.append(name)
            idx.append(-1 - named.index(name))
    half = len(names) // 2
    return condition_address(text, names[:half], names[half:])


def set_start(switches: Switches, places: Places, x: np.ndarray, quat: np.ndarray, v: np.ndarray) -> None:
    """Into x whether each switch is on at t = 0: nothing is taken over there, and no event has happened."""
    start = x
    if len(switches.joint_type):
        x, v = _with_places(places, x, quat, v)
    for k, point in enumerate(switches.keeper):
        known = 0.0
        for which, part in ((0, ACTIVE), (1, LATCHED)):
            result = np.ones(1)
            if switches.address[k, which]:
                points = range(switches.first[k, which], switches.first[k, which + 1])
                place, rate = np.zeros((2, len(points), 3))
                for q, i in enumerate(points):
                    _read_one(switches, int(switches.idx[i]), x, v, place[q], rate[q])
                call_force(switches.address[k, which], place, rate, 0.0, result)
            known += part * float(result[0] == 1.0)
        on = switches.span[k, 0] <= 0.0 < switches.span[k, 1] and known == ACTIVE + LATCHED
        start[point] = (float(on), ALWAYS, known)


def _read_one(switches: Switches, point: int, x: Any, v: Any, place: Any, rate: Any) -> None:
    """As `read_joint` of switching.py, or of a body."""
    if point >= 0:
        place[:], rate[:] = x[point], v[point]
        return
    j = -1 - point
    first, last = int(switches.joint_first[j]), int(switches.joint_first[j + 1])
    for k in range(first, last):
        (a, b, w), (da, db, dw) = x[switches.joint_points[k, :3]], v[switches.joint_points[k, :3]]
        if switches.joint_type[k] == ANGLE:
            c, s = a @ b, a @ w
            place[k - first] = np.arctan2(s, c)
            rate[k - first] = (c * (da @ w + a @ dw) - s * (da @ b + a @ db)) / (c * c + s * s)
        elif switches.joint_type[k] == ELEVATION:
            place[k - first] = np.arcsin(np.clip(a @ b, -1.0, 1.0))
            rate[k - first] = (da @ b + a @ db) / np.sqrt(max(1.0 - (a @ b) ** 2, UPRIGHT))
        else:
            place[k - first], rate[k - first] = w @ (a - b), dw @ (a - b) + w @ (da - db)
        place[k - first] += switches.joint_offset[k]
    if last == first + 1:
        rate[1] = rate[0]


def _with_places(places: Places, x: np.ndarray, quat: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of all points: those on bodies, and directions, follow from their body's."""
    x, v = x.copy(), v.copy()
    for k, point in enumerate(places.point):
        turned, arm = quat[places.body[k]][None], places.arm[k][None]
        x[point] = x[places.base[k]] + rotate(turned, arm)[0]
        v[point] = v[places.base[k]] + rotate(turned, np.cross(v[places.slot[k] + 1], arm[0])[None])[0]
    return x, v
