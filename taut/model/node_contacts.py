"""Nodes of deformables against obstacles: rows in bulk behind the inequalities that users named.

All nodes of a deformable have one radius, so an obstacle is laid out once and its parameters are repeated. The rows are
not listed in results, which contain their totals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..constraints import KINDS
from ..expressions import Signal
from ..scene.specs import Obstacle
from .arrays import Batches, Inequalities, Rows
from .dispatch import CONSTRAINT_CODES, constraint_address


class NodeContacts(NamedTuple):
    """An obstacle and the nodes that it keeps out, or in."""

    obstacle: Obstacle
    names: Sequence[str]  # of the nodes
    slots: np.ndarray
    radius: float
    start: np.ndarray  # (3,) where one of them is
    friction: float


def with_node_contacts(
    ineq: Inequalities, contacts: Sequence[NodeContacts], number: Callable[[Signal], int]
) -> tuple[Inequalities, tuple[str, ...]]:
    """The inequalities with rows for all contacts, and the names of those rows; `number` collects functions of time."""
    names: list[str] = []
    for contact in contacts:
        ineq, rows = _with_contact(ineq, contact, number)
        ends = [""] if rows == 1 else [f"[{r}]" for r in range(rows)]
        names += [f"{node}|{contact.obstacle.name}{end}" for node in contact.names for end in ends]
    return ineq, tuple(names)


def _with_contact(
    ineq: Inequalities, contact: NodeContacts, number: Callable[[Signal], int]
) -> tuple[Inequalities, int]:
    kind, members = KINDS[contact.obstacle.kind], len(contact.slots)
    about = {"labels": [("p0", False)], "radii": [contact.radius]}
    layout = kind.pack(contact.start[np.newaxis], contact.obstacle.arguments | about)
    rows = layout.rows or kind.rows
    old, before = ineq.batches, ineq.rows
    row, blocks = len(before.ptr) - 1, int(before.ptr[-1])
    one, moving = [], [ineq.to_parameter]
    for c, value in enumerate(layout.parameters):
        one.append(value.at(0.0)[0] if isinstance(value, Signal) else float(value))
        if isinstance(value, Signal) and not value.is_constant:
            places = len(old.p) + c + len(layout.parameters) * np.arange(members)
            moving.append(np.stack([np.full(members, number(value)), places], axis=1))
    p = np.concatenate([old.p, np.tile(np.array(one, float), members)])
    ints = np.array([entry() if callable(entry) else entry for entry in layout.ints], np.int64)
    batches = Batches(
        np.append(old.code, CONSTRAINT_CODES[kind.name]), np.append(old.address, constraint_address(kind.name)),
        np.append(old.chart, 0), np.append(old.has_chart, 0), np.append(old.members, members),
        np.concatenate([old.at, [[len(old.idx), len(old.p), len(old.ints), row, blocks]]]),
        np.concatenate([old.idx, contact.slots.astype(old.idx.dtype)]), p, np.zeros_like(p), np.zeros_like(p),
        np.concatenate([old.ints, np.tile(ints, members)]),
    )  # fmt: skip
    count = members * rows  # a row has one block, since an obstacle meets one point
    ptr = np.concatenate([before.ptr, blocks + np.arange(1, count + 1)]).astype(before.ptr.dtype)

    def longer(values: np.ndarray, value: float | np.ndarray) -> np.ndarray:
        return np.concatenate([values, np.broadcast_to(value, count)]).astype(values.dtype)

    def between(values: np.ndarray, added: np.ndarray) -> np.ndarray:
        """Blocks of rotations stand behind those of all points."""
        return np.concatenate([values[:blocks], added, values[blocks:]]).astype(values.dtype)

    slot = between(before.slot, np.repeat(contact.slots, rows))
    spin_block = (before.spin_block.astype(np.int64) + count).astype(before.spin_block.dtype)
    return ineq._replace(
        batches=batches,
        rows=Rows(ptr, slot, spin_block, before.spin_from, before.spin_row, before.spin_place, before.at_velocity,
                  before.enforced),
        to_parameter=np.concatenate(moving),
        sign=longer(ineq.sign, 1.0), restitution=longer(ineq.restitution, 0.0),
        friction=longer(ineq.friction, contact.friction), arm=between(ineq.arm, np.zeros(count)),
        phi=longer(ineq.phi, 0.0), phi_t=longer(ineq.phi_t, 0.0), gamma=longer(ineq.gamma, 0.0),
        J=np.zeros((len(slot), 3)),
    ), rows  # fmt: skip
