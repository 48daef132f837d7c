"""URDF: links, inertias, all types of joints and mimic joints.

A joint's frame is its origin in the parent's; its axis is given in that frame. rpy turns about fixed x, y, z in this
order: R = R_z(yaw) R_y(pitch) R_x(roll). effort and velocity of <limit> bound motors, of which a URDF has none.

Loops, which it can not express, stand in NAME.loops.yaml (loops.py).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import TautError, listed, shown, unknown
from ..scene import Scene
from .loops import Loops
from .pose import Pose, turn
from .tree import Built, Joint, Link, Tree
from .urdf_visuals import read_visual
from .xml import Element, read

TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slider", "fixed": "fixed", "floating": "free",
         "planar": "planar_joint"}  # fmt: skip
JOINT_PARTS = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}


def load_urdf(path: Path, base: str | None = None, limits: bool = True) -> Scene:
    """The scene of a URDF file. base: "fixed" or "floating"; limits: whether joints keep their limits."""
    root = read(path)
    if root.tag != "robot":
        raise TautError(f"{root.where}: the file begins with <{root.tag}>, not <robot>; is it URDF?")
    loops = Loops(path)
    where = str(path) if base is not None else loops.where("base")
    base = base or loops.data.get("base", "fixed")
    if base not in ("fixed", "floating"):
        raise TautError(f"{where}: base is {shown(base)}; give fixed or floating.")
    tree = _tree(root, path, loops)
    children = {joint.child for joint in tree.joints}
    roots = [link for link in tree.links.values() if link.name not in children]
    for link in roots:
        kind = "fixed" if base == "fixed" else "free"
        tree.joints.append(Joint(f"{link.name}_base", link.where, kind, None, link.name))
    built = Built(tree, limits)  # which refuses links that do not exist
    if len(roots) > 1:
        raise TautError(f"{roots[1].where}: links {listed([link.name for link in roots])} have no parent, but a robot "
                        "has one root; tie the others to it by joints (type fixed where they do not move).")
    loops.close(built)
    built.warn_dropped()
    built.scene.suggest(dt=0.002, duration=5.0, **({} if built.scene.is_unilateral else {"method": "rattle"}))
    return built.scene


def _tree(root: Element, path: Path, loops: Loops) -> Tree:
    name = root.attributes.get("name", path.stem).strip() or path.stem
    tree = Tree(name, str(path), {}, [])
    for element in root.all("link"):
        link = _link(element, root, tree)
        if link.name in tree.links:
            raise TautError(f"{element.where}: a second link is called '{link.name}'; choose another name.")
        tree.links[link.name] = link
    if not tree.links:
        xacro = any(child.tag.startswith("xacro:") for child in root.children)
        hint = "; its macros are to be expanded first (xacro FILE > robot.urdf)" if xacro else "; give at least one"
        raise TautError(f"{root.where}: the robot has no <link>{hint}.")
    for element in root.all("joint"):
        joint = _joint(element, loops)
        if any(joint.name == other.name for other in tree.joints):
            raise TautError(f"{element.where}: a second joint is called '{joint.name}'; choose another name.")
        tree.joints.append(joint)
    loops.check_names([joint.name for joint in tree.joints])
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


def _joint(element: Element, loops: Loops) -> Joint:
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
    joint.position, joint.speed = loops.number("positions", name), loops.number("velocities", name)
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
        joint.position = ratio * loops.number("positions", joint.follows[0]) + offset
        joint.speed = ratio * loops.number("velocities", joint.follows[0])
    joint.moved = joint.position
    return joint
