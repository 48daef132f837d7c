"""NAME.loops.yaml, beside NAME.urdf: what URDF can not say. It closes loops, says where joints start, and drives them.

    positions: {shoulder: 0.3}                           # [rad] or [m]
    velocities: {shoulder: 1.0}                          # [rad/s] or [m/s]
    base: fixed                                          # or floating
    joints:                                              # kinds and arguments of scene files, offsets in links' frames
      - {kind: hinge, name: loop, points: [{body: rod, offset: [0, 0, 0.2]}, {body: crank, offset: [0.1, 0, 0]}],
         axis: [0, 1, 0]}                                # axes have z up
    motors:                                              # as in scene files; limit: by default the joint's effort
      - {joint: shoulder, target: 0.5, stiffness: 300, damping: 20}
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ...constraints import KINDS as CONSTRAINTS
from ...errors import TautError, shown, unknown
from ...forces import KINDS as FORCES
from .. import checks
from ..entries import Entries, in_python
from .build import Built
from .pose import UP, Array, matrix, quaternion
from .tree import Joint

BASES = ("fixed", "floating")
JOINTS = {"joint": "coordinate", "first": "coordinate", "second": "coordinate_second", "pinion": "coordinate",
          "rack": "coordinate_rack"}  # fmt: skip
DIRECTIONS = ("axis", "axis_2", "normal", "direction", "direction_2")


class Loops:
    """What the file says; nothing, where there is none."""

    def __init__(self, urdf: Path) -> None:
        from ..format import Loops as Model

        self.path = urdf.with_suffix(".loops.yaml")
        holds = f"keys, which are {', '.join(Model.model_fields)}"
        self.entries = Entries(self.path, holds) if self.path.exists() else None
        self.data: dict[str, Any] = {} if self.entries is None else self.entries.data
        if self.entries is None:
            return
        self.entries.judge(Model, self.data, ())
        self.entries.stop_if_mistaken()
        for i, entry in enumerate(self.of("joints")):
            self.entries.judge_entry("constraints", ("joints", i), entry)
        for i, entry in enumerate(self.of("motors")):
            self.entries.judge_entry("forces", ("motors", i), {"kind": "motor", **entry})
        if self.data.get("base") not in (None, *BASES):
            self.mistake(("base",), f"base is {shown(self.data['base'])}; give fixed or floating.")
        self.entries.stop_if_mistaken()

    def of(self, section: str) -> Any:
        return self.data.get(section) or ()

    def start(self, joint: str) -> tuple[float, float]:
        """Position and velocity of a joint."""
        positions, velocities = dict(self.of("positions")), dict(self.of("velocities"))
        return float(positions.get(joint, 0.0)), float(velocities.get(joint, 0.0))

    def links(self) -> set[str]:
        """Those that joints of the file hold."""
        points = [point for entry in self.of("joints") for point in entry.get("points") or ()]
        return {str(point["body"] if isinstance(point, dict) else point) for point in points if point}

    def motor_joints(self) -> set[str]:
        return {str(entry.get("joint")) for entry in self.of("motors")}

    def mistake(self, path: tuple, problem: str, at_key: bool = False) -> None:
        if self.entries is not None:
            self.entries.add_problem(path, problem, at_key)

    def check_joints(self, found: Iterable[Joint]) -> None:
        """That every joint with a start or a motor exists and has a coordinate."""
        joints = {joint.name: joint for joint in found}
        named: list[tuple[tuple, str, bool]] = []
        named += [(("motors", i, "joint"), entry["joint"], False) for i, entry in enumerate(self.of("motors"))]
        named += [((what, name), name, True) for what in ("positions", "velocities") for name in self.of(what)]
        for path, name, at_key in named:
            joint = joints.get(name)
            if joint is None:
                self.mistake(path, str(unknown("joint", str(name), joints)), at_key)
            elif joint.kind not in ("hinge", "slider"):
                self.mistake(path, f"joint '{name}' is {joint.kind}; positions, velocities and motors belong to "
                                   "revolute, continuous and prismatic joints.", at_key)  # fmt: skip
            elif joint.follows is not None and path[0] != "motors":
                self.mistake(path, f"joint '{name}' mimics '{joint.follows[0]}'; give that one's instead.", at_key)
        if self.entries is not None:
            self.entries.stop_if_mistaken()

    def add_to(self, built: Built) -> None:
        """The joints that close loops, and the motors."""
        if self.entries is None:
            return
        for i, entry in enumerate(self.of("joints")):
            with self.entries.collecting(built.scene, ("joints", i)):
                _close(built, entry)
        efforts = {one.name: one.effort for joint in built.tree.joints for one in joint.along or [joint]}
        for i, entry in enumerate(self.of("motors")):
            given = {key: value for key, value in entry.items() if key != "kind" and value is not None}
            if efforts.get(entry["joint"]):
                given.setdefault("limit", efforts[entry["joint"]])
            with self.entries.collecting(built.scene, ("motors", i)):
                _name_coordinates(built, "motor", given)
                built.scene.motor(**in_python(given))
        self.entries.stop_if_mistaken()


def _close(built: Built, entry: dict[str, Any]) -> None:
    """A loop joint: as in scene files, with offsets, axis_a, axis_b and orientation in the links' frames, z up."""
    given = {key: value for key, value in entry.items() if key not in ("kind", "points") and value is not None}
    points = entry.get("points") or ()
    links = [_link(built, point) for point in points]
    inside = [built.axes(link)[1] for link in links]
    for key in DIRECTIONS:
        if key in given:
            given[key] = _along(UP, given[key], key)
    for key, frame in zip(("axis_a", "axis_b"), inside):
        if key in given:
            given[key] = _along(frame, given[key], key)
    if "orientation" in given and len(inside) == 2:
        relative = matrix(np.array(checks.quaternion(given["orientation"], "orientation")))
        given["orientation"] = quaternion(inside[1] @ relative @ inside[0].T)
    places = [built.place(link, _offset(point)) for link, point in zip(links, points)]
    _name_coordinates(built, entry["kind"], given)
    getattr(built.scene, entry["kind"])(*places, **in_python(given))


def _name_coordinates(built: Built, kind: str, given: dict[str, Any]) -> None:
    """Joints of the file by the joints that they are here, with the coordinate that they are there."""
    known = {argument.name for argument in (CONSTRAINTS | FORCES)[kind].arguments}
    for key, coordinate in JOINTS.items():
        if given.get(key) in built.along:
            ref, which = built.along[given[key]]
            if which and coordinate not in known:
                raise TautError(f"joint '{given[key]}' is {which['coordinate']} of '{ref.name}' here, which {kind} can "
                                "not name; couple and drive can")
            given |= {key: ref.name} | ({coordinate: which["coordinate"]} if which else {})


def _along(frame: Array, direction: Any, what: str) -> tuple[float, ...]:
    return tuple((frame @ np.array(checks.vector(direction, what))).tolist())


def _link(built: Built, point: Any) -> str | None:
    """The link that a point is on; None: the world."""
    link = point["body"] if isinstance(point, dict) else point if isinstance(point, str) else None
    if link is not None and link not in built.tree.links:
        raise unknown("link", str(link), built.tree.links)
    return link


def _offset(point: Any) -> Array:
    """Where a point is in its link's frame, or in the world with z up."""
    place = point.get("offset", (0.0, 0.0, 0.0)) if isinstance(point, dict) else point
    return np.zeros(3) if isinstance(place, str) else np.array(checks.vector(place, "offset"))
