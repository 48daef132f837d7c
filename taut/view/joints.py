"""Joints as pages and pictures show them: axes fixed to bodies, and coordinates over time.

An axis follows from a coordinate (joints/coordinates.py): an angle turns about x × y of the body on which it is read, a
displacement goes along its direction. So a joint of any kind is drawn by what its coordinates are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..constraints import KINDS
from ..result.joints import coordinate_at
from ..result.records import Records
from ..result.run import Run
from ..scene.joints import layout_of
from ..scene.scene import Scene
from ..scene.specs import Constraint, Point

MOST = 60  # coordinates of one scene that travel with each frame
ALIKE = 1e-9


class JointDrawing(NamedTuple):
    """Where a joint is drawn."""

    place: Point
    axes: list[tuple[str, Point]]  # "turn" or "slide", and a direction that turns with a body


def joint_drawing(scene: Scene, spec: Constraint) -> JointDrawing | None:
    """The place of a constraint on a rigid body, with its axes; None where there is nothing to draw, as of a gear."""
    kind = KINDS[spec.kind]
    if kind.joints:
        return None
    layout = layout_of(scene, spec) if kind.frames else None
    joined = [point for point in spec.points if point.body is not None and scene.bodies[point.body].kind == "rigid"]
    if not joined:
        return None
    axes: list[tuple[str, Point]] = []
    for coordinate in layout.coordinates if layout is not None else ():
        if coordinate.type == "elevation":  # about an axis that is fixed to neither body
            continue
        _, x, y = coordinate.points[:3]
        turns = coordinate.turns
        along = np.cross(x.offset, y.offset) if turns else np.array(y.offset, float)
        direction = Point(y.body, tuple(along.tolist()), True)
        known = [found.offset for _, found in axes if found.body == y.body]
        if not any(np.linalg.norm(np.cross(along, other)) < ALIKE for other in known):  # a screw has two on one axis
            axes.append(("turn" if turns else "slide", direction))
    return JointDrawing(joined[0], axes)


class Coordinates:
    """The joint coordinates of a run, and the scalar coordinates of its scene, by name."""

    def __init__(self, run: Run) -> None:
        self.labels = run.labels
        self.values = list(run.labels.scalars(run.records.part(np.arange(min(1, len(run.records))))))[:MOST]
        self.joints = []
        has_joints = any(info.kind in KINDS and KINDS[info.kind].frames for info in run.labels.constraints)
        if has_joints and run.scene is not None:
            self.model = run.model
            self.joints = [
                (f"{joint.name}.{coordinate.name}", coordinate.unit, (coordinate, points))
                for joint in self.model.joints for coordinate, points in joint.coordinates
            ][: MOST - len(self.values)]  # fmt: skip

    def names(self) -> list[tuple[str, str]]:
        """Name and unit of each; a scalar coordinate has its own unit, which nobody tells."""
        return [*((name, unit) for name, unit, _ in self.joints), *((name, "") for name in self.values)]

    def table(self, records: Records) -> np.ndarray:
        """All of them at some records, shape (T, coordinates)."""
        found = [coordinate_at(self.model, records, *which)[0] for _, _, which in self.joints]
        scalars = self.labels.scalars(records)
        found += [scalars[name][0] for name in self.values]
        return np.stack(found, axis=1) if found else np.zeros((len(records), 0))

    def line(self, name: str, records: Records) -> np.ndarray:
        """One of them at all records."""
        for known, _, which in self.joints:
            if known == name:
                return coordinate_at(self.model, records, *which)[0]
        return self.labels.scalars(records)[name][0]
