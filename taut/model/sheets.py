"""Cloth and solids as the machine holds them: the slots of their nodes, what joins these, and whom they touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..forces.spring_law import Springs
from ..scene.groups import balls_on_sheets, pairs_of_sheets
from ..scene.scene import Scene
from ..scene.specs import Deformable

INDEX = np.uint32


@dataclass(frozen=True)
class Sheet:
    """A cloth or a solid. All indices are slots.

    triangles      (m, 3); of a solid its surface
    edges          (e, 2) structural edges, hard or not, with lengths (e,) [m]: those whose elongation is told
    springs        "structural", "shear", "bending" -> Springs; the same forces stand in Model.forces
    limit          largest elongation of limit_edges, None: no limit; limit_rule "exact" or "paper"
    system         "nodes" or "active": what implicit_first solves for
    limit_edges    (k, 2), with lengths (k,) [m]
    hard_edges     (h, 2), with lengths (h,) [m]; the same equalities stand in Model.constraints
    release        "lambda", "velocity", "voronoi" or "paper"; approach "position" or "velocity": of its contacts
    """

    name: str
    kind: str  # "cloth" or "solid"
    slots: np.ndarray  # (n,)
    triangles: np.ndarray
    edges: np.ndarray
    lengths: np.ndarray
    springs: dict[str, Springs]
    limit: float | None
    limit_rule: str
    system: str
    limit_edges: np.ndarray
    limit_lengths: np.ndarray
    hard_edges: np.ndarray
    hard_lengths: np.ndarray
    thickness: float
    self_contact: bool
    cells: tuple[int, int] | None  # (nx, ny) of a grid
    release: str = "lambda"
    approach: str = "position"

    @property
    def is_limited(self) -> bool:
        return self.limit is not None and len(self.limit_edges) > 0


@dataclass(frozen=True)
class Touching:
    """Who touches the triangles of sheets. Nodes against obstacles are not here: they are inequalities."""

    ball_slot: np.ndarray  # (b,) one entry for each ball and sheet: the ball's centre,
    ball_radius: np.ndarray  # [m],
    ball_sheet: np.ndarray  # index of the sheet,
    ball_friction: np.ndarray  # Coulomb's coefficient
    sheet_pairs: np.ndarray  # (k, 2) indices of sheets that may touch, the smaller first; twice the same: itself
    pair_friction: np.ndarray  # (k,)

    def __len__(self) -> int:
        return len(self.ball_slot) + len(self.sheet_pairs)


def lay_out_sheet(record: Deformable, slots: np.ndarray, held: np.ndarray) -> Sheet:
    """A deformable with slots in place of its own node numbers; held (n,): which nodes can not move."""
    springs = {
        family: s._replace(i=slots[s.i].astype(INDEX), j=slots[s.j].astype(INDEX))
        for family, s in record.springs.items()
    }
    kept = ~held[record.hard_edges].all(axis=1)  # an edge between two that can not move is no constraint
    return Sheet(
        record.name, record.kind, slots, slots[record.triangles], slots[record.edges], record.lengths, springs,
        record.limit, record.limit_rule, record.system, slots[record.limit_edges], record.limit_lengths,
        slots[record.hard_edges[kept]], record.hard_lengths[kept], record.thickness, record.self_contact, record.cells,
        record.release, record.approach,
    )  # fmt: skip


def touching(scene: Scene, slot_of: Mapping[str, int]) -> Touching:
    """Balls and sheets that scene.contacts and self_contact let touch."""
    index = {name: i for i, name in enumerate(scene.deformables)}
    balls: list[tuple[int, float, int, float]] = []
    pairs = {(i, i): 0.0 for i, record in enumerate(scene.deformables.values()) if record.self_contact}
    for group in scene.groups.values():
        for ball, sheet in balls_on_sheets(group):
            balls.append((slot_of[ball], scene.bodies[ball].radius, index[sheet], group.friction))
        for a, b in pairs_of_sheets(group):
            i, j = sorted((index[a], index[b]))
            pairs[i, j] = group.friction
    slot, radius, sheet_of, friction = zip(*balls) if balls else ((), (), (), ())
    return Touching(
        np.array(slot, np.int64), np.array(radius, float), np.array(sheet_of, np.int64), np.array(friction, float),
        np.array(list(pairs), np.int64).reshape(-1, 2), np.array(list(pairs.values()), float),
    )  # fmt: skip
