"""Cloth and solids in the model: the slots of their nodes, springs and edges, and what they may touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from ..scene.groups import balls_on_deformables, pairs_of_deformables
from ..scene.scene import Scene
from ..scene.specs import Deformable, DeformableParts

INDEX = np.uint32


@dataclass(frozen=True, kw_only=True)
class PackedDeformable(DeformableParts):
    """A deformable in slots. Model.forces holds the same springs, Model.constraints the same hard edges."""

    slots: np.ndarray  # (n,)


@dataclass(frozen=True)
class Touching:
    """The contacts of triangles of deformables. Nodes against obstacles are not among them: they are inequalities."""

    ball_slot: np.ndarray  # (b,) one entry for each ball and deformable: the ball's centre,
    ball_radius: np.ndarray  # [m],
    ball_deformable: np.ndarray  # index of the deformable,
    ball_friction: np.ndarray  # Coulomb's coefficient
    deformable_pairs: np.ndarray  # (k, 2) indices of those that may touch, the smaller first; twice the same: itself
    pair_friction: np.ndarray  # (k,)

    def __len__(self) -> int:
        return len(self.ball_slot) + len(self.deformable_pairs)


def pack_deformable(record: Deformable, slots: np.ndarray, fixed: np.ndarray) -> PackedDeformable:
    """A deformable with slots in place of its own node numbers; fixed (n,): which nodes can not move."""
    springs = {
        family: s._replace(i=slots[s.i].astype(INDEX), j=slots[s.j].astype(INDEX))
        for family, s in record.springs.items()
    }
    kept = ~fixed[record.hard_edges].all(axis=1)  # an edge between two that can not move is no constraint
    return PackedDeformable(
        **{field.name: getattr(record, field.name) for field in fields(DeformableParts)} | {
            "triangles": slots[record.triangles], "edges": slots[record.edges], "springs": springs,
            "limit_edges": slots[record.limit_edges], "hard_edges": slots[record.hard_edges[kept]],
            "hard_lengths": record.hard_lengths[kept],
        }, slots=slots,
    )  # fmt: skip


def touching(scene: Scene, slot_of: Mapping[str, int]) -> Touching:
    """Balls and deformables that scene.contacts and self_contact let touch."""
    index = {name: i for i, name in enumerate(scene.deformables)}
    balls: list[tuple[int, float, int, float]] = []
    pairs = {(i, i): 0.0 for i, record in enumerate(scene.deformables.values()) if record.self_contact}
    for group in scene.groups.values():
        for ball, deformable in balls_on_deformables(group):
            balls.append((slot_of[ball], scene.bodies[ball].radius, index[deformable], group.friction))
        for a, b in pairs_of_deformables(group):
            i, j = sorted((index[a], index[b]))
            pairs[i, j] = group.friction
    slot, radius, deformable_of, friction = zip(*balls) if balls else ((), (), (), ())
    return Touching(
        np.array(slot, np.int64), np.array(radius, float), np.array(deformable_of, np.int64), np.array(friction, float),
        np.array(list(pairs), np.int64).reshape(-1, 2), np.array(list(pairs.values()), float),
    )  # fmt: skip
