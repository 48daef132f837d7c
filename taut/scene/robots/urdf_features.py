"""What a URDF file says that a scene does not hold, with file and line.

READ tells which elements stand where, with the attributes that are taken over; all else in a file is listed. Words
that URDF has not are listed with the one that was probably meant.
"""

from __future__ import annotations

import difflib
from collections.abc import Container

from ...errors import TautError
from .features import Dropped
from .xml import Element

READ: dict[str, tuple[str, str]] = {  # of an element: its attributes, and the elements in it
    "robot": ("name version", "link joint material"),
    "link": ("name", "inertial visual collision"),
    "inertial": ("", "origin mass inertia"),
    "mass": ("value", ""),
    "inertia": ("ixx ixy ixz iyy iyz izz", ""),
    "visual": ("name", "origin geometry material"),
    "geometry": ("", "box sphere cylinder capsule mesh"),
    "box": ("size", ""),
    "sphere": ("radius", ""),
    "cylinder": ("radius length", ""),
    "capsule": ("radius length", ""),
    "mesh": ("filename scale", ""),
    "material": ("name", "color texture"),
    "color": ("rgba", ""),
    "texture": ("filename", ""),  # listed where it would be seen
    "joint": ("name type", "origin parent child axis limit dynamics mimic"),
    "origin": ("xyz rpy quat_xyzw", ""),
    "parent": ("link", ""),
    "child": ("link", ""),
    "axis": ("xyz", ""),
    "limit": ("lower upper effort velocity", ""),
    "dynamics": ("damping friction", ""),
    "mimic": ("joint multiplier offset", ""),
}
# Words of URDF, and of its usual extensions, that are not taken over
KNOWN = ("transmission gazebo sensor calibration safety_controller ros2_control verbose mujoco drake type acceleration "
         "deceleration jerk joint_properties").split()  # fmt: skip
REASONS = {
    "collision": "<collision>, since bodies do not touch each other",
    "effort": "effort of <limit>, which bounds the motors of NAME.loops.yaml, where there are any",
    "velocity": "velocity of <limit>, which is for controllers",
}
UNKNOWN = ", which URDF has not"
ONE_COORDINATE = ("revolute", "continuous", "prismatic")


class UrdfFeatures(Dropped):
    """What of a URDF file is not taken over; what its reader finds is added to it."""

    def __init__(self, root: Element, motors: Container[str]) -> None:
        """motors: the joints that have one, whose effort bounds it."""
        super().__init__(root)
        self.motors = motors
        self._walk(root)

    def _walk(self, element: Element) -> None:
        attributes, tags = (words.split() for words in READ[element.tag])
        self.drop_attributes(element, attributes)
        for child in element.children:
            if child.tag.startswith("xacro:"):
                raise TautError(f"{child.where}: <{child.tag}> is xacro, which is not expanded here; write the URDF "
                                f"first: xacro {child.path.name} > robot.urdf")
            if child.tag not in tags:
                self.drop(f"<{child.tag}>{_meant(child.tag, tags)}", child)
            elif child.tag == "collision":
                self.drop(REASONS["collision"], child)
            else:
                self._walk(child)
        if element.tag == "joint":
            self._look_at_joint(element)
        if element.tag == "geometry":
            for child in [one for one in element.children if one.tag in tags][1:]:
                self.drop("shapes beyond the first of a <geometry>", child)

    def _look_at_joint(self, joint: Element) -> None:
        """What has no meaning for a joint of this type, or not one that a scene could hold."""
        kind, name = joint.attributes.get("type", "").strip(), joint.attributes.get("name", "").strip()
        taken = {"lower", "upper"} if kind in ("revolute", "prismatic") else set()
        taken |= {"damping", "friction", "joint", "multiplier", "offset"} if kind in ONE_COORDINATE else set()
        taken |= {"effort"} if name in self.motors else set()
        for child in joint.children if kind != "fixed" else ():
            for word, value in child.attributes.items() if child.tag in ("limit", "dynamics", "mimic") else ():
                if word in READ[child.tag][0].split() and word not in taken and not _is_zero(value):
                    self.drop(REASONS.get(word, f"{word} of <{child.tag}> of a {kind} joint"), child)

    def attribute(self, element: Element, name: str) -> str:
        return super().attribute(element, name) + _meant(name, READ[element.tag][0].split())

    def says_nothing(self, element: Element, name: str, value: str) -> bool:
        return element.tag == "robot" and name.startswith("xmlns")


def _meant(word: str, read: list[str]) -> str:
    """What was probably meant by a word that URDF has not."""
    if word in KNOWN or ":" in word:
        return ""
    near = difflib.get_close_matches(word, read, n=1, cutoff=0.6)
    return f"{UNKNOWN}: did you mean {near[0]}?" if near else UNKNOWN


def _is_zero(value: str) -> bool:
    try:
        return float(value) == 0.0
    except ValueError:
        return False
