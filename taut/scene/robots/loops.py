"""NAME.loops.yaml, beside NAME.urdf: loops, which URDF can not express, and where joints start.

    positions: {shoulder: 0.3}                           # [rad] or [m]
    velocities: {shoulder: 1.0}                          # [rad/s] or [m/s]
    base: fixed                                          # or floating
    joints:                                              # kinds and arguments of scene files, offsets in links' frames
      - {kind: hinge, name: loop, points: [{body: rod, offset: [0, 0, 0.2]}, {body: crank, offset: [0.1, 0, 0]}],
         axis: [0, 1, 0]}
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...constraints import KINDS
from ...errors import TautError, shown, unknown
from ..checks import vector
from ..document import parse, place_of, plain_data
from .pose import UP
from .tree import Built

WANTED = {"positions": dict, "velocities": dict, "base": str, "joints": list}
TURNED = ("axis", "axis_2", "normal", "direction", "direction_2")  # given with z up


class Loops:
    """What the file says, and where; without a file nothing."""

    def __init__(self, robot: Path) -> None:
        self.path = robot.with_suffix(".loops.yaml")
        self.tree: Any = None
        self.data: dict[str, Any] = {}
        if not self.path.exists():
            return
        self.tree = parse(self.path, f"keys, which are {', '.join(WANTED)}")
        self.data = plain_data(self.tree, self.path)
        for key, value in self.data.items():
            if key not in WANTED:
                raise TautError(f"{self.where(key)}: {unknown('key', str(key), WANTED)}")
            if value is not None and not isinstance(value, WANTED[key]):
                forms = {dict: "{joint: number}", str: "fixed or floating", list: "a list, each entry after a dash"}
                raise TautError(f"{self.where(key)}: {key} is {shown(value)}; give {forms[WANTED[key]]}.")

    def where(self, *steps: Any) -> str:
        """file:line:column of what the steps lead to."""
        line, column = place_of(self.tree, steps)
        return f"{self.path}:{line}:{column}"

    def check_names(self, joints: list[str]) -> None:
        """Refuse positions and velocities of joints that do not exist."""
        for section in ("positions", "velocities"):
            for name in self.data.get(section) or ():
                if name not in joints:
                    raise TautError(f"{self.where(section, name)}: {unknown('joint', str(name), joints)}")

    def number(self, section: str, joint: str) -> float:
        """The position or velocity of a joint at the start; 0 where none is given."""
        value = (self.data.get(section) or {}).get(joint, 0.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e150:
            raise TautError(f"{self.where(section, joint)}: {section} of joint '{joint}' is {shown(value)}; give a "
                            "number.")
        return float(value)

    def close(self, built: Built) -> None:
        """Add the loop joints: as in scene files, with offsets in the links' frames and axes with z up."""
        for number, entry in enumerate(self.data.get("joints") or ()):
            where = self.where("joints", number)
            if not isinstance(entry, dict) or entry.get("kind") not in KINDS:
                kinds = [kind.name for kind in KINDS.values() if kind.frames]
                raise TautError(f"{where}: {shown(entry)} is no joint; give its kind, one of {', '.join(kinds)}.")
            given = {key: value for key, value in entry.items() if key not in ("kind", "points")}
            try:
                for key in TURNED:
                    if key in given:
                        given[key] = tuple((UP @ np.array(vector(given[key], key))).tolist())
                points = [_point(built, point) for point in entry.get("points") or ()]
                getattr(built.scene, entry["kind"])(*points, **given)
            except (TautError, ValueError, TypeError) as mistake:
                raise TautError(f"{where}: {mistake}") from None


def _point(built: Built, given: Any) -> Any:
    if isinstance(given, dict):
        link, offset = given.get("body"), given.get("offset", (0.0, 0.0, 0.0))
    elif isinstance(given, str):
        link, offset = given, (0.0, 0.0, 0.0)
    else:
        link, offset = None, given
    if link is not None and link not in built.tree.links:
        raise TautError(str(unknown("link", str(link), built.tree.links)))
    return built.place(link, np.array(vector(offset, "offset")))
