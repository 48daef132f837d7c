"""URDF: links, inertias, all types of joints, and mimic joints.

A joint's frame is its origin in the parent's; its axis is given in that frame. rpy turns about fixed x, y, z in this
order: R = R_z(yaw) R_y(pitch) R_x(roll). effort of <limit> bounds motors, of which a URDF itself has none.

Loops, which URDF can not express, the start and motors stand in a file beside it (loops.py).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import TautError, listed, shown, unknown, warn
from ..scene import Scene
from .build import Built
from .loops import BASES, Loops
from .massless import merge_massless
from .pose import Pose, matrix, turn
from .suggestion import suggest
from .tree import Joint, Link, Tree
from .urdf_features import ONE_COORDINATE, UNKNOWN, UrdfFeatures
from .urdf_visuals import read_visual
from .xml import Element, read

TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slider", "fixed": "fixed", "floating": "free",
         "planar": "planar_joint"}  # fmt: skip


def load_urdf(path: Path, base: str | None = None, limits: bool = True) -> Scene:
    """The scene of a URDF file. base: "fixed" or "floating"; limits: whether joints keep their limits."""
    built = read_urdf(path, base, limits)
    built.warn_dropped()
    return built.scene


def read_urdf(path: Path, base: str | None = None, limits: bool = True) -> Built:
    """The scene with what is told of it: how its links stand in it, and what of the file it does not hold."""
    root = read(path)
    if root.tag != "robot":
        raise TautError(f"{root.where}: the file begins with <{root.tag}>, not <robot>; is it URDF?")
    loops = Loops(path)
    base = base or loops.data.get("base") or "fixed"
    if base not in BASES:
        raise TautError(f"{path}: base is {shown(base)}; give fixed or floating.")
    tree = _tree(root, path, loops, limits)
    children = {joint.child for joint in tree.joints}
    roots = [link for link in tree.links.values() if link.name not in children]
    for link in roots:
        kind = "fixed" if base == "fixed" else "free"
        tree.joints.append(Joint(f"{link.name}_base", link.where, kind, None, link.name))
    try:
        tree.check()
        if len(roots) > 1:
            raise TautError(f"{roots[1].where}: links {listed([link.name for link in roots])} have no parent, but a "
                            "robot has one root; tie the others to it by joints (type fixed where they do not move).")
        tree.settle()
        merge_massless(tree, loops.links())
        built = Built(tree, limits)
    except TautError as mistake:
        strange = "; ".join(text for text in tree.dropped if UNKNOWN in text)  # may be why
        raise TautError(f"{mistake} It also has {strange}." if strange else str(mistake)) from None
    loops.add_to(built)
    suggest(built, 0.002)
    return built


def _tree(root: Element, path: Path, loops: Loops, limits: bool) -> Tree:
    name = root.attributes.get("name", path.stem).strip() or path.stem
    features = UrdfFeatures(root, loops.motor_joints())
    tree = Tree(name, str(path), {}, [])
    for element in root.all("link"):
        link = _link(element, root, features)
        if link.name in tree.links:
            raise TautError(f"{element.where}: a second link is called '{link.name}'; choose another name.")
        tree.links[link.name] = link
    if not tree.links:
        raise TautError(f"{root.where}: the robot has no <link>; give at least one.")
    for element in root.all("joint"):
        joint = _joint(element)
        if any(joint.name == other.name for other in tree.joints):
            raise TautError(f"{element.where}: a second joint is called '{joint.name}'; choose another name.")
        tree.joints.append(joint)
    loops.check_joints(tree.joints)
    joints = {joint.name: joint for joint in tree.joints}
    followers = [joint for joint in tree.joints if joint.follows is not None]
    for joint in tree.joints:
        joint.position, joint.speed = loops.start(joint.name)
    for joint in followers:
        _follow(joint, joints)
    if limits:
        known = {joint.name for joint in followers} | {*loops.of("positions")}
        moved = [joint.name for joint in tree.joints if joint.name not in known and joint.start_within_limits()]
        if moved:
            warn(f"{path}: 0 is beyond the limits of {listed(moved)}, which start at the limit; say where they start "
                 f"in {loops.path.name} (positions)")
    for joint in followers:
        _follow(joint, joints)
    for joint in tree.joints:
        joint.moved = joint.position
    tree.dropped += features.texts()
    return tree


def _link(element: Element, root: Element, features: UrdfFeatures) -> Link:
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
    for visual in element.all("visual"):
        link.visuals += read_visual(visual, _origin(visual), root, features)
    for look, place in link.visuals:
        if link.shape is None and "vertices" not in look:
            link.shape = {kind: sizes for kind, sizes in look.items() if kind != "color"}, place
    return link


def _origin(element: Element) -> Pose:
    origin = element.one("origin")
    if origin is None:
        return Pose()
    place = np.array(origin.numbers("xyz", 3, (0.0, 0.0, 0.0)))
    if "quat_xyzw" in origin.attributes:
        if "rpy" in origin.attributes:
            raise TautError(f"{origin.where}: <origin> has both rpy and quat_xyzw; keep one of them.")
        i, j, k, w = origin.numbers("quat_xyzw", 4)
        if not abs(i) + abs(j) + abs(k) + abs(w) > 1e-9:
            raise TautError(f"{origin.where}: quat_xyzw of <origin> has no length; no turn is 0 0 0 1.")
        return Pose(matrix(np.array((w, i, j, k))), place)
    roll, pitch, yaw = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    x, y, z = np.eye(3)
    return Pose(turn(z, yaw) @ turn(y, pitch) @ turn(x, roll), place)


def _joint(element: Element) -> Joint:
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
    limit = element.one("limit")
    if limit is not None and kind in ("revolute", "prismatic"):
        joint.limits = lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
        if lower > upper:
            raise TautError(f"{limit.where}: the limits of joint '{name}' are crossed over: lower is {lower:g} and "
                            f"upper is {upper:g}; exchange them.")
        if not {"lower", "upper"} & {*limit.attributes}:
            warn(f"{limit.where}: <limit> of joint '{name}' has neither lower nor upper, which count as 0, so that the "
                 "joint can not move; give them, or make it continuous")
    elif kind in ("revolute", "prismatic"):
        raise TautError(f"{element.where}: joint '{name}' is {kind} and has no <limit>; give one (or make it "
                        "continuous).")
    if limit is not None:
        joint.effort = limit.number("effort", 0.0)
        if joint.effort < 0.0:
            raise TautError(f"{limit.where}: the effort of joint '{name}' is {joint.effort:g}; it must not be "
                            "negative.")
    dynamics = element.one("dynamics")
    if dynamics is not None and kind in ONE_COORDINATE:
        joint.damping, joint.friction = dynamics.number("damping", 0.0), dynamics.number("friction", 0.0)
    mimic = element.one("mimic")
    if mimic is not None and kind in ONE_COORDINATE:
        joint.follows = mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    return joint


def _follow(joint: Joint, joints: dict[str, Joint]) -> None:
    """Position, speed and limits of a mimic joint, from and to the joint at the head of its chain."""
    ratio, offset, leader, chain = 1.0, 0.0, joint, [joint.name]
    while leader.follows is not None:
        other, r, c = leader.follows
        if other not in joints:
            raise TautError(f"{leader.where}: joint '{leader.name}' mimics: {unknown('joint', other, joints)}")
        if other in chain:
            raise TautError(f"{leader.where}: the joints {', '.join(chain)} mimic each other in a circle; let one of "
                            "them lead.")
        chain.append(other)
        ratio, offset, leader = ratio * r, ratio * c + offset, joints[other]
    joint.position, joint.speed = ratio * leader.position + offset, ratio * leader.speed
    lower, upper = joint.limits
    if lower is None or upper is None or not ratio:
        return
    bounds = sorted(((lower - offset) / ratio, (upper - offset) / ratio))
    lower = bounds[0] if leader.limits[0] is None else max(bounds[0], leader.limits[0])
    upper = bounds[1] if leader.limits[1] is None else min(bounds[1], leader.limits[1])
    if lower > upper:
        raise TautError(f"{joint.where}: joint '{joint.name}' mimics '{leader.name}', and there is no position within "
                        "the limits of both; correct them.")
    leader.limits = lower, upper
