"""What constraints do: a force [N] and a place [m] for each point that one of the user's constraints pushes.

Parts of a joint that push the same point are added up; what they do to directions only turns a body and is no arrow.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..model.arrays import System
from ..model.model import ConstraintInfo, Model
from ..result.reactions import Before, at_points
from ..result.records import Records
from ..result.run import Run

MOST = 200  # constraints whose forces are shown


class Forces:
    """names: of the constraints, one for each arrow; none, and `unshown` of them, where they are too many."""

    def __init__(self, run: Run) -> None:
        scene = run.scene
        own = {c.name for c in scene.constraints.values() if c.owner is None} if scene is not None else set()
        own &= {info.name for info in run.labels.constraints}
        self.run = run
        self.unshown = len(own) if len(own) > MOST else 0
        self.names: list[str] = []
        if own and not self.unshown:
            model = run.model  # hard edges of deformables are too many to draw: only what the user wrote
            self.infos = [i for i in (*model.constraint_info, *model.inequality_info) if i.name in own]
            self.names = [info.name for info in self.infos for _ in pushed(model, info)]

    @cached_property
    def system(self) -> System:
        return self.run.model.system()

    def table(self, records: Records, before: Before) -> np.ndarray:
        """Force and place of each arrow, shape (T, arrows, 6); before: reactions.py."""
        model = self.run.model
        found = []
        for info in self.infos:
            centre, force, arm, _ = at_points(model, self.system, records, info, before)
            points = points_of(info)
            for point in pushed(model, info):
                at = [i for i, p in enumerate(points) if p == point]
                slot = centre[at[0]]
                base = records.x[:, slot] if slot < records.x.shape[1] else model.x[slot]
                found.append(np.hstack([force[:, at].sum(axis=1), base + arm[:, at[0]]]))
        return np.stack(found, axis=1)


def points_of(info: ConstraintInfo) -> list[int]:
    """The points in the order in which at_points tells of them."""
    return [p for part in info.parts for p in part.points] if info.sense == "==" else list(info.points)


def pushed(model: Model, info: ConstraintInfo) -> list[int]:
    """The points of a constraint that are places, each once."""
    nowhere = {int(p) for p in model.directions}
    return [p for p in dict.fromkeys(points_of(info)) if p not in nowhere]
