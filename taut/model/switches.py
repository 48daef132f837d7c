"""What is switched in a scene, as arrays (switching.py): keepers and offsets are points without a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from ..expressions import call_force, condition_address
from ..scene.specs import Constraint, Force, Point
from ..scene.switches import symbols
from .arrays import Rows, StartState, SwitchedRows, Switches
from .slots import Slots
from .switched_rows import FAR
from .switching import ACTIVE, LATCHED

EASE = 0.1  # [s]
ALWAYS = -1.0  # [s] since when something is on that was not switched on
LOG_CAPACITY = 4096  # events between two looks of the session
Spec = Constraint | Force


def keeper(spec: Spec) -> Point:
    """The point that keeps whether a constraint or force is on."""
    return Point(None, counter=f"{spec.name}.switch")


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
    slots: Slots, specs: Sequence[Spec], held: SwitchedRows, kept: SwitchedRows, of_force: np.ndarray
) -> Switches:
    """All switches of a scene, and the points of the conditions; a switch that is on at the start is so in slots.x."""
    own = [spec for spec in specs if spec.switch is not None]
    span, address, first = [], [], []
    idx: list[int] = []
    for spec in own:
        switch: Any = spec.switch
        span.append((-inf if switch.from_ is None else switch.from_, inf if switch.until is None else switch.until))
        begins, addresses = [len(idx)], []
        for condition in (switch.active, switch.when):
            addresses.append(0 if condition is None else _condition(slots, condition, idx))
            begins.append(len(idx))
        address.append(addresses)
        first.append(begins)
    widest = 3 * max([b - a for row in first for a, b in zip(row, row[1:])] + [1])
    empty = np.zeros((0, 3))
    return Switches(
        np.array([slots.number(keeper(spec)) for spec in own], np.int64), np.array(span, float).reshape(-1, 2),
        np.array(address, np.int64).reshape(-1, 2), np.array(first, np.int64).reshape(-1, 3),
        np.array(idx, np.int64), np.array([isinstance(spec, Force) for spec in own], np.int64), held, kept, of_force,
        np.zeros((3, widest)), np.zeros((LOG_CAPACITY if own else 0, 3)), np.zeros(1, np.int64), 0.5, 0, 0,
        StartState(empty, np.zeros((0, 4)), empty, np.zeros(0), np.zeros(0)),
    )  # fmt: skip


def _condition(slots: Slots, text: str, idx: list[int]) -> int:
    """The address of a condition; the slots of its bodies are added to idx."""
    bodies, names = symbols(text, slots.scene.bodies)
    idx += [slots.info[name].slot for name in bodies]
    half = len(names) // 2
    return condition_address(text, names[:half], names[half:])


def set_start(switches: Switches, x: np.ndarray, v: np.ndarray) -> None:
    """Into x whether each switch is on at t = 0: nothing is taken over there, and no event has happened."""
    for k, point in enumerate(switches.keeper):
        known = 0.0
        for which, part in ((0, ACTIVE), (1, LATCHED)):
            result = np.ones(1)
            if switches.address[k, which]:
                points = switches.idx[switches.first[k, which] : switches.first[k, which + 1]]
                call_force(switches.address[k, which], np.array(x[points]), np.array(v[points]), 0.0, result)
            known += part * float(result[0] == 1.0)
        on = switches.span[k, 0] <= 0.0 < switches.span[k, 1] and known == ACTIVE + LATCHED
        x[point] = (float(on), ALWAYS, known)
