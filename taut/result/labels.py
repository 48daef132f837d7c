"""What the columns of records are called: the part of a model that reading results needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.model import BodyInfo, ConstraintInfo, Model
from .records import Records

NO_EDGES = np.zeros((0, 2), np.int64)


@dataclass(frozen=True)
class Labels:
    scene: str
    bodies: tuple[BodyInfo, ...]
    constraints: tuple[ConstraintInfo, ...]  # in the order of the scene; their rows in that of the model
    inertia: np.ndarray  # (rigid, 3) principal moments [kg m²], zero where a body is not free
    edges: np.ndarray  # (e, 2) slots of structural edges of all cloths and solids,
    lengths: np.ndarray  # (e,) and their lengths at rest [m]
    coordinates: tuple[str, ...] = ()  # of scene.reduced, where they are recorded

    @classmethod
    def of(cls, model: Model) -> Labels:
        edges = [deformable.edges for deformable in model.deformables]
        lengths = [deformable.lengths for deformable in model.deformables]
        return cls(
            model.name, model.body_info, model.constraint_info + model.inequality_info, model.bodies.inertia,
            np.concatenate([NO_EDGES, *edges]), np.concatenate([np.zeros(0), *lengths]), model.reduced_names,
        )  # fmt: skip

    def row_names(self) -> list[str]:
        """Names of scalar rows in the order of the scene."""
        return [name for info in self.constraints for name in info.row_names()]

    def rows(self) -> np.ndarray:
        """Where each of `row_names` stands in the records."""
        return np.array([row for info in self.constraints for row in info.rows], np.int64)

    def units(self) -> list[str]:
        """The unit of each of `row_names`."""
        return [unit for info in self.constraints for unit in info.units]

    def senses(self) -> list[str]:
        """==, >= or <= of each of `row_names`."""
        return [info.sense for info in self.constraints for _ in info.rows]

    def levels(self) -> list[str]:
        """position or velocity of each of `row_names`."""
        return [level for info in self.constraints for level in info.levels]

    def violation(self, phi: np.ndarray) -> np.ndarray:
        """Φ (..., rows in the order of the records) with what an inequality allows set to zero."""
        found = phi.copy()
        for info in self.constraints:
            if info.sense != "==":
                rows = list(info.rows)
                found[..., rows] = (np.minimum if info.sense == ">=" else np.maximum)(found[..., rows], 0.0)
        return found

    def equality_rates(self, rate: np.ndarray) -> np.ndarray:
        """dΦ/dt with inequalities set to zero: they may change."""
        found = rate.copy()
        found[..., [row for info in self.constraints if info.sense != "==" for row in info.rows]] = 0.0
        return found

    def scalars(self, records: Records) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Value and rate, each (T,), of the scene's coordinates, then of those of scene.reduced that moved bodies."""
        own = [body for body in self.bodies if body.kind == "coordinate"]
        found = {body.name: (records.x[:, body.slot, 0], records.v[:, body.slot, 0]) for body in own}
        if self.coordinates and not np.isnan(records.coordinates).all():
            for k, name in enumerate(self.coordinates):
                found.setdefault(name, (records.coordinates[:, 0, k], records.coordinates[:, 1, k]))
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "scene": self.scene,
            "bodies": [
                [b.name, b.kind, b.motion, b.slot, b.quat,
                 None if b.to_principal is None else b.to_principal.tolist(), b.mass]
                for b in self.bodies
            ],
            "constraints": [[c.name, c.kind, c.unit, c.rows, c.points, c.sense,
                             *([c.level] if c.level != "position" else [])] for c in self.constraints],
            "inertia": self.inertia.tolist(), "edges": self.edges.tolist(), "lengths": self.lengths.tolist(),
            **({"coordinates": self.coordinates} if self.coordinates else {}),
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Labels:
        bodies = tuple(
            BodyInfo(name, kind, motion, slot, quat, None if turn is None else np.array(turn, float), mass)
            for name, kind, motion, slot, quat, turn, mass in data["bodies"]
        )
        constraints = tuple(
            ConstraintInfo(name, kind, unit, tuple(rows), tuple(points), sense, level=word)
            for name, kind, unit, rows, points, sense, word in _with_sense(data["constraints"])
        )
        return cls(
            data["scene"], bodies, constraints, np.array(data["inertia"], float).reshape(-1, 3),
            np.array(data.get("edges", ()), np.int64).reshape(-1, 2), np.array(data.get("lengths", ()), float),
            tuple(data.get("coordinates", ())),
        )  # fmt: skip


def _with_sense(constraints: list[list[Any]]) -> list[list[Any]]:
    """Version 0.1.0 stored no sense: all were equalities. The level is stored where it is not "position"."""
    return [[*entry, *("==", "position")[len(entry) - 5 :]] for entry in constraints]
