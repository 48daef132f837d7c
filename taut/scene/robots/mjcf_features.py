"""What an MJCF file says that a scene does not hold, with file and line.

Includes and models to attach are walked, too. READ and WITHOUT_EFFECT tell what is taken over or can not change a
motion. What depends on compiled values (an actuator's kind, an equality's coefficients) is added by mjcf.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .features import Dropped
from .xml import Element, read

PLACE = "pos quat axisangle euler xyaxes zaxis"
NAMES = {"name", "class", "childclass", "user", "group"}
SOFT = {"solref", "solimp", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "margin", "torquescale"}
CONTACT = {"contype", "conaffinity", "condim", "priority", "friction", "solmix", "solref", "solimp", "margin", "gap"}
SOLVER = (
    "integrator cone jacobian solver iterations tolerance ls_iterations ls_tolerance noslip_iterations "
    "noslip_tolerance ccd_iterations ccd_tolerance sdf_iterations sdf_initpoints impratio sleep_tolerance magnetic"
)
SHAPE = "type size mass density fromto mesh hfield fitscale shellinertia material rgba castshadow"
ACTUATOR = "joint gear ctrllimited ctrlrange inheritrange forcelimited forcerange"
# Attributes that are taken over, most of them by MuJoCo's own reader, or have no effect on a motion
READ = {
    tag: {*words.split()} for tag, words in {
        "mujoco": "model", "include": "file", "default": "", "worldbody": PLACE, "equality": "active", "actuator": "",
        "body": f"{PLACE} fuse simple sleep gravcomp", "frame": PLACE, "replicate": "count sep offset euler",
        "attach": "model body frame prefix", "option": f"gravity timestep {SOLVER}",
        "joint": "type pos axis ref springref stiffness damping range limited frictionloss springdamper armature "
                 "active joint1 joint2 polycoef",
        "freejoint": "align", "geom": f"{PLACE} {SHAPE}", "connect": "active body1 body2 site1 site2 anchor",
        "weld": "active body1 body2 site1 site2 anchor relpose", "motor": ACTUATOR,
        "position": f"{ACTUATOR} kp kv dampratio", "velocity": f"{ACTUATOR} kv",
        "general": f"{ACTUATOR} gaintype gainprm biastype biasprm dyntype",
    }.items()
}  # fmt: skip
WITHOUT_EFFECT = {"compiler", "size", "statistic", "visual", "custom", "inertial", "site", "camera", "light"}
# What mjcf.py judges by compiled values, one by one
JUDGED = {"equality": {"connect", "weld", "joint"}, "actuator": {"motor", "position", "velocity", "general"}}
# Flags that are obeyed, and those that only say how MuJoCo works or concern contacts, which are listed
FLAGS = {*(
    "gravity spring damper frictionloss limit equality actuation clampctrl contact filterparent warmstart refsafe "
    "sensor midphase nativeccd multiccd eulerdamp autoreset island override energy fwdinv invdiscrete"
).split()}  # fmt: skip


class Features(Dropped):
    """The elements of a file and of those it includes, and what of them is not taken over."""

    def __init__(self, root: Element) -> None:
        super().__init__(root)
        self._lines: dict[str, list[Element]] = {}  # by tag, and of sections by their name
        self._walk(root, "mujoco", in_default=False)

    def all(self, tag: str) -> list[Element]:
        return self._lines.get(tag, [])

    def first(self, tag: str) -> Element | None:
        return next(iter(self.all(tag)), None)

    def find(self, tag: str, name: str) -> Element | None:
        """The element of a tag with a name, as it stands in the file; none of what MuJoCo has copied."""
        return next((one for one in self.all(tag) if one.attributes.get("name") == name), None)

    def body(self, number: int, name: str, count: int) -> Element | None:
        """The element of a body: by its name, or as the n-th of the file where there are as many as MuJoCo has made."""
        bodies = self.all("body")
        return self.find("body", name) or (bodies[number - 1] if len(bodies) == count - 1 else None)

    def nth(self, section: str, number: int, count: int) -> Element | None:
        """The n-th child of all sections of a name, where there are as many as MuJoCo has made."""
        found = self._lines.get(f"/{section}", [])
        return found[number] if len(found) == count else None

    def drop_keyframes(self) -> None:
        for element in self.all("key"):
            self.drop("<key> of <keyframe>, at which --set key=NAME starts", element)

    def _walk(self, element: Element, section: str, in_default: bool) -> None:
        for child in self._children(element):
            tag = child.tag
            in_section = element.tag in ("equality", "actuator") and not in_default
            if in_section:
                self._lines.setdefault(f"/{element.tag}", []).append(child)
            self._lines.setdefault(tag, []).append(child)
            if tag == "asset":
                for model in child.all("model"):  # what is attached of it is not told apart
                    self._walk(self._included(model), "mujoco", in_default=False)
            elif tag == "flag":
                self._look_at_flags(child)
            elif tag in WITHOUT_EFFECT or (in_section and tag not in JUDGED[element.tag]):
                continue  # the second are named one by one
            elif tag in READ:
                self.drop_attributes(child, READ[tag] | NAMES)
                self._walk(child, tag, in_default or tag == "default")
            elif in_default:
                continue  # defaults of what is listed where it is used
            elif element.tag == "mujoco" and tag == "keyframe":
                self._lines.setdefault("key", []).extend(self._children(child))
            elif element.tag == "mujoco":
                for grandchild in self._children(child):
                    self.drop(f"<{grandchild.tag}> of <{tag}>", grandchild)
            else:
                self.drop(f"<{tag}>", child)

    def _children(self, element: Element) -> Iterator[Element]:
        for child in element.children:
            if child.tag == "include":
                yield from self._children(self._included(child))
            else:
                yield child

    def _included(self, element: Element) -> Element:
        """The root of an included file. MuJoCo has read it already, so that it exists and includes nothing twice."""
        name = Path(element.attributes.get("file", ""))
        found = next((folder / name for folder in (self.root.path.parent, element.path.parent)
                      if (folder / name).is_file()), None)
        return Element(element.path, element.line, element.tag, {}) if found is None else read(found)

    def attribute(self, element: Element, name: str) -> str:
        if element.tag == "option" and name in ("density", "viscosity", "wind"):
            return "drag of a medium (density, viscosity, wind)"
        if name in SOFT and element.tag in ("joint", "connect", "weld", "equality"):
            return "softness (solref, solimp, …), since constraints are held"
        return super().attribute(element, name)

    def says_nothing(self, element: Element, name: str, value: str) -> bool:
        return _is_nothing(value) or (element.tag == "geom" and name in CONTACT)

    def _look_at_flags(self, element: Element) -> None:
        for name, value in element.attributes.items():
            if name not in FLAGS:
                self.drop(f"{name}={value} of <flag>", element)


def _is_nothing(value: str) -> bool:
    """Whether an attribute's value says that there is nothing of it."""
    words = value.split()
    try:
        return not any(float(word) for word in words)
    except ValueError:
        return words in (["none"], ["false"], ["disable"], ["auto"])
