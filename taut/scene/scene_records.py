"""The records of a scene: its bodies, constraints and forces by name, and how new ones get a name and a place.

The kinds of record are declared in specs.py. Scene (scene.py) checks what users write and adds records here; the model
is built from them in this order.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from types import MappingProxyType
from typing import Any, Self

from ..errors import TautError
from . import checks, groups
from .specs import Body, BodyRef, Constraint, Deformable, Force, Group, Obstacle, Point, Ref

_numbers = count(1)  # of scenes


class SceneRecords:
    """Records by name, in the order in which they were added; those that belong to deformables stand last."""

    def __init__(self) -> None:
        self._bodies: dict[str, Body] = {}
        self._constraints: dict[str, Constraint] = {}
        self._forces: dict[str, Force] = {}
        self._obstacles: dict[str, Obstacle] = {}
        self._groups: dict[str, Group] = {}
        self._deformables: dict[str, Deformable] = {}
        self._mixed = False  # whether something was added after a deformable
        self._whole: dict[str, Point] = {}  # each body as a point, made once
        self._counts: dict[str, int] = {}
        self._where: str | None = None
        self._number = next(_numbers)  # by which it knows its own bodies

    @property
    def bodies(self) -> Mapping[str, Body]:
        """Bodies by name, in the order in which they were added; nodes of deformables stand last."""
        return MappingProxyType(self._in_order()._bodies)

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """Constraints by name, in the order in which they were added; those of deformables stand last."""
        return MappingProxyType(self._in_order()._constraints)

    @property
    def forces(self) -> Mapping[str, Force]:
        """Forces by name, in the order in which they were added; those of deformables stand last."""
        return MappingProxyType(self._in_order()._forces)

    @property
    def obstacles(self) -> Mapping[str, Obstacle]:
        """Things in the world that groups run into, by name."""
        return MappingProxyType(self._obstacles)

    @property
    def groups(self) -> Mapping[str, Group]:
        """Who touches whom, by name."""
        return MappingProxyType(self._groups)

    @property
    def deformables(self) -> Mapping[str, Deformable]:
        """Cloths and solids by name, in the order in which they were added."""
        return MappingProxyType(self._deformables)

    @property
    def is_unilateral(self) -> bool:
        """Whether the scene has inequalities."""
        limited = any(deformable.is_limited or deformable.self_contact for deformable in self._deformables.values())
        touching = any(groups.can_touch(self, group) for group in self._groups.values())
        return limited or touching or any(spec.sense != "==" for spec in self._constraints.values())

    def set_place(self, where: str | None) -> None:
        """Remember in what is added from now on that it was written at file:line:column."""
        self._where = where

    def _new_name(self, name: str | None, kind: str, *taken: Mapping[str, Any]) -> str:
        """The name that was given, unless one of these has it; without one, the kind and a number."""
        number = self._counts.get(kind, 0)
        if name is None:
            while any(f"{kind}_{number}" in names for names in taken):
                number += 1
            return f"{kind}_{number}"
        checks.one_line(name, f"{kind}: name")
        if "|" in name:
            raise TautError(f"{kind} '{name}': the sign | stands between the two names of a contact; choose another.")
        for names in taken:
            if name in names:
                raise TautError(f"{kind} '{name}': the name is taken; choose another.")
        return name

    def _add(self, record: Any) -> Any:
        """Take in a checked record; only now does the count of its kind grow."""
        kind = "contacts" if isinstance(record, Group) else record.kind
        if getattr(record, "owner", None) is None:
            self._counts[kind] = self._counts.get(kind, 0) + 1
        self._mixed |= bool(self._deformables)
        if isinstance(record, Body):
            self._bodies[record.name] = record
            self._whole[record.name] = Point(record.name)
            return BodyRef(record.name, record.kind, self._number)
        if isinstance(record, Constraint):
            self._constraints[record.name] = record
        elif isinstance(record, Force):
            self._forces[record.name] = record
        elif isinstance(record, Obstacle):
            self._obstacles[record.name] = record
        else:
            self._groups[record.name] = record
        return Ref(record.name)

    def _in_order(self) -> Self:
        """Put the user's own records before those of deformables, so that a file need not tell how they mix."""
        if self._mixed:
            rank: dict[str | None, int] = {name: i for i, name in enumerate((None, *self._deformables))}
            sections: tuple[dict[str, Any], ...] = (self._bodies, self._constraints, self._forces)
            for named in sections:
                ordered = sorted(named.items(), key=lambda item: rank[item[1].owner])
                named.clear()
                named.update(ordered)
            self._mixed = False
        return self

    def _records(self) -> tuple[list[Any], ...]:
        """All records in order, which is that of the unknowns and of the results."""
        self._in_order()
        sections = (self._bodies, self._constraints, self._forces, self._obstacles, self._groups, self._deformables)
        return tuple(list(named.values()) for named in sections)
