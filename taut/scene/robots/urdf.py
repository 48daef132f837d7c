"""URDF: links, inertias, all types of joints, mimic joints, and loops from a file beside it.

A joint's frame is its origin in the parent's; its axis is given in that frame. rpy turns about fixed x, y, z in this
order: R = R_z(yaw) R_y(pitch) R_x(roll). effort and velocity of <limit> bound motors, of which a URDF has none.

NAME.loops.yaml, beside NAME.urdf, closes loops, which URDF can not express, and says where joints start:

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
from ..scene import Scene
from .pose import UP, Array, Pose, turn
from .tree import Built, Joint, Link, Tree
from .urdf_visuals import read_visual
from .xml import Element, read

TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slider", "fixed": "fixed", "floating": "free",
         "planar": "planar_joint"}  # fmt: skip
LOOPS = ("positions", "velocities", "base", "joints")
JOINT_PARTS = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}


def load_urdf(path: Path, base: str | None = None, limits: bool = True) -> Scene:
    """The scene of a URDF file. base: "fixed" or "floating"; limits: whether joints keep their limits."""
    root = read(path)
    if root.tag != "robot":
        raise TautError(f"{root.where}: the file begins with <{root.tag}>, not <robot>; is it URDF?")
    loops = _loops(path)
    base = base or loops.get("base", "fixed")
    if base not in ("fixed", "floating"):
        raise TautError(f"{path}: base is {shown(base)}; give fixed or floating.")
    tree = _tree(root, path, loops.get("positions") or {}, loops.get("velocities") or {})
    children = {joint.child for joint in tree.joints}
    for name in [name for name in tree.links if name not in children]:
        where = tree.links[name].where
        kind = "fixed" if base == "fixed" else "free"
        tree.joints.append(Joint(f"{name}_base", where, kind, None, name))
    built = Built(tree, limits)
    for entry in loops.get("joints") or ():
        _close(built, path, entry)
    built.warn_dropped()
    built.scene.suggest(dt=0.002, duration=5.0, method="rattle")
    return built.scene


def _tree(root: Element, path: Path, positions: dict[str, Any], velocities: dict[str, Any]) -> Tree:
    name = root.attributes.get("name", path.stem).strip() or path.stem
    tree = Tree(name, str(path), {}, [])
    for element in root.all("link"):
        link = _link(element, root, tree)
        if link.name in tree.links:
            raise TautError(f"{element.where}: a second link is called '{link.name}'; choose another name.")
        tree.links[link.name] = link
    if not tree.links:
        raise TautError(f"{root.where}: the robot has no <link>.")
    for element in root.all("joint"):
        joint = _joint(element, tree, positions, velocities)
        if any(joint.name == other.name for other in tree.joints):
            raise TautError(f"{element.where}: a second joint is called '{joint.name}'; choose another name.")
        tree.joints.append(joint)
    known = [joint.name for joint in tree.joints]
    for given in (*positions, *velocities):
        if given not in known:
            raise TautError(f"{path.with_suffix('.loops.yaml')}: {unknown('joint', str(given), known)}")
    _dropped(root, tree)
    return tree


def _dropped(root: Element, tree: Tree) -> None:
    known = {"robot": {"link", "joint", "material"}, "link": {"inertial", "visual", "collision"}, "joint": JOINT_PARTS}
    parts = [(root, root.children), *((one, one.children) for kind in ("link", "joint") for one in root.all(kind))]
    for owner, element in ((owner, element) for owner, children in parts for element in children):
        if element.tag not in known.get(owner.tag, known["robot"]):
            tree.dropped.append(f"<{element.tag}> (line {element.line})")
    if any(link.one("collision") for link in root.all("link")):
        tree.dropped.append("<collision> of links: bodies do not touch each other")


def _link(element: Element, root: Element, tree: Tree) -> Link:
    link = Link(element.text("name"), element.where)
    inertial = element.one("inertial")
    if inertial is not None:
        pose = _origin(inertial)
        mass = inertial.one("mass")
        link.mass = 0.0 if mass is None else mass.number("value")
        if link.mass < 0.0:
            raise TautError(f"{inertial.where}: link '{link.name}' has a mass of {link.mass:g} kg; it must not be "
                            "negative.")
        given = inertial.one("inertia")
        if given is not None:
            xx, yy, zz, xy, xz, yz = (given.number(f"i{k}", 0.0) for k in ("xx", "yy", "zz", "xy", "xz", "yz"))
            link.inertia = pose.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ pose.R.T
        link.centre = pose.p
    found = [read_visual(visual, _origin(visual), root, tree) for visual in element.all("visual")]
    link.visuals = [one for one in found if one is not None]
    for look, place in link.visuals:
        if link.shape is None and "vertices" not in look:
            link.shape = {kind: sizes for kind, sizes in look.items() if kind != "color"}, place
    return link


def _origin(element: Element) -> Pose:
    origin = element.one("origin")
    if origin is None:
        return Pose()
    roll, pitch, yaw = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    x, y, z = np.eye(3)
    return Pose(turn(z, yaw) @ turn(y, pitch) @ turn(x, roll), np.array(origin.numbers("xyz", 3, (0.0, 0.0, 0.0))))


def _joint(element: Element, tree: Tree, positions: dict[str, Any], velocities: dict[str, Any]) -> Joint:
    name, kind = element.text("name"), element.text("type")
    if kind not in TYPES:
        raise TautError(f"{element.where}: joint '{name}': {unknown('type', kind, TYPES)}")
    ends = []
    for which in ("parent", "child"):
        end = element.one(which)
        if end is None:
            raise TautError(f"{element.where}: joint '{name}' has no <{which}>; give it.")
        ends.append(end.text("link"))
    axis = element.one("axis")
    direction = np.array((1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3))
    length = float(np.linalg.norm(direction))
    if kind not in ("fixed", "floating") and not length > 1e-9:
        raise TautError(f"{(axis or element).where}: the axis of joint '{name}' has no length; give one such as 0 0 1.")
    joint = Joint(name, element.where, TYPES[kind], ends[0], ends[1], _origin(element), direction / max(length, 1e-300))
    joint.position = _number(positions.get(name, 0.0), f"{tree.where}: position of joint '{name}'")
    joint.speed = _number(velocities.get(name, 0.0), f"{tree.where}: velocity of joint '{name}'")
    if (joint.position or joint.speed) and joint.kind not in ("hinge", "slider"):
        raise TautError(f"{element.where}: joint '{name}' is {kind}; positions and velocities belong to hinges and "
                        "sliders.")
    limit = element.one("limit")
    if limit is not None and kind in ("revolute", "prismatic"):
        joint.limits = lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
        if lower > upper:
            raise TautError(f"{limit.where}: the limits of joint '{name}' are crossed over: lower is {lower:g} and "
                            f"upper is {upper:g}; exchange them.")
    elif kind in ("revolute", "prismatic"):
        raise TautError(f"{element.where}: joint '{name}' is {kind} and has no <limit>; give one (or make it "
                        "continuous).")
    dynamics = element.one("dynamics")
    if dynamics is not None:
        joint.damping, joint.friction = dynamics.number("damping", 0.0), dynamics.number("friction", 0.0)
    mimic = element.one("mimic")
    if mimic is not None:
        joint.follows = mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
        _, ratio, offset = joint.follows
        joint.position = ratio * _number(positions.get(joint.follows[0], 0.0), "a position") + offset
        joint.speed = ratio * _number(velocities.get(joint.follows[0], 0.0), "a velocity")
    joint.moved = joint.position
    return joint


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e150:
        raise TautError(f"{what} is {shown(value)}; give a number.")
    return float(value)


def _loops(path: Path) -> dict[str, Any]:
    """What NAME.loops.yaml says."""
    beside = path.with_suffix(".loops.yaml")
    if not beside.exists():
        return {}
    from ..document import parse, plain_data

    found = plain_data(parse(beside), beside)
    if not isinstance(found, dict):
        raise TautError(f"{beside}: give {', '.join(LOOPS)}.")
    for key in found:
        if key not in LOOPS:
            raise TautError(f"{beside}: {unknown('entry', str(key), LOOPS)}")
    return found


def _close(built: Built, path: Path, entry: Any) -> None:
    """A loop joint: as in scene files, with offsets in the links' frames and axes with z up."""
    beside = path.with_suffix(".loops.yaml")
    if not isinstance(entry, dict) or entry.get("kind") not in KINDS:
        kinds = [kind.name for kind in KINDS.values() if kind.frames]
        raise TautError(f"{beside}: {shown(entry)} is no joint; give its kind, one of {', '.join(kinds)}.")
    given = {key: value for key, value in entry.items() if key not in ("kind", "points")}
    for key in ("axis", "axis_2", "normal", "direction", "direction_2"):
        if key in given:
            given[key] = tuple((UP @ np.array(given[key], float)).tolist())
    try:
        points = [_point(built, point) for point in entry.get("points") or ()]
        getattr(built.scene, entry["kind"])(*points, **given)
    except (TautError, ValueError, TypeError) as mistake:
        raise TautError(f"{beside}: {mistake}") from None


def _point(built: Built, given: Any) -> Any:
    if isinstance(given, dict):
        link, offset = given.get("body"), given.get("offset", (0.0, 0.0, 0.0))
    elif isinstance(given, str):
        link, offset = given, (0.0, 0.0, 0.0)
    else:
        link, offset = None, given
    if link is not None and link not in built.tree.links:
        raise TautError(unknown("link", str(link), built.tree.links))
    place: Array = np.array(offset, float)
    return built.place(link, place)
