"""Links and joints as robot formats have them. What a file says that a scene can not hold is collected in `dropped`.

    T_child = T_parent · origin · motion(q)          the pose of a link's frame                          (1)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import TautError
from .pose import Array, Pose, turn

Seen = tuple[dict[str, Any], Pose]  # what scene.rigid takes as a visual, without its place; and the place


@dataclass
class Link:
    """A link: mass [kg], inertia [kg m²] about its centre of mass in the link's axes, centre [m] in its frame."""

    name: str
    where: str
    mass: float = 0.0
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    centre: Array = field(default_factory=lambda: np.zeros(3))
    shape: Seen | None = None  # what stands for its form, and where in its frame
    visuals: list[Seen] = field(default_factory=list)  # what is seen of it, and where


@dataclass
class Joint:
    """A joint from a parent link (None: the world) to a child.

    kind      of taut's joints, "fixed" or "free"
    origin    the joint's frame in the parent's
    anchor    where the joint sits, in its frame
    anchor_on_parent  where it is held by the parent, in its frame; None: at the anchor
    axis      unit vector in the joint's frame
    axes      of a joint with several coordinates: its axes by their argument, in the file's world at the start
    position  value of the coordinate at the start; by `moved` of it the child has left its place in the file
    speed     rate of the coordinate at the start
    along     of a joint with several coordinates: what there is of each, and which `coordinate` it is
    """

    name: str
    where: str
    kind: str
    parent: str | None
    child: str
    origin: Pose = field(default_factory=Pose)
    axis: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    axes: dict[str, Array] = field(default_factory=dict)
    anchor: Array = field(default_factory=lambda: np.zeros(3))
    anchor_on_parent: Array | None = None
    position: float = 0.0
    moved: float = 0.0
    speed: float = 0.0
    limits: tuple[float | None, float | None] = (None, None)
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0  # inertia of its rotor, as the coordinate feels it [kg m² or kg]
    effort: float = 0.0  # what its motors give at most [N m or N]; 0: unknown
    stiffness: float = 0.0
    rest: float = 0.0
    follows: tuple[str, float, float] | None = None  # another joint, ratio and offset
    along: list[Joint] = field(default_factory=list)
    coordinate: str = ""

    def start_within_limits(self) -> bool:
        """Move the position to the nearest limit, if it is beyond; returns whether it was."""
        lower, upper = self.limits
        before = self.position
        self.position = before if lower is None else max(before, lower)
        self.position = self.position if upper is None else min(self.position, upper)
        return self.position != before

    def motion(self) -> Pose:
        """(1): where the child's frame is in the joint's, at the start."""
        if self.kind == "hinge":
            R = turn(self.axis, self.moved)
            return Pose(R, self.anchor - R @ self.anchor)
        if self.kind == "slider":
            return Pose(p=self.axis * self.moved)
        return Pose()


@dataclass
class Tree:
    """A robot as its file has it."""

    name: str
    where: str
    links: dict[str, Link]
    joints: list[Joint]
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    dropped: list[str] = field(default_factory=list)
    visuals: list[Seen] = field(default_factory=list)  # in the world
    # Each link's frame at the start, its velocity [m/s] and angular velocity [rad/s], with z up
    start: dict[str, tuple[Pose, Array, Array]] = field(default_factory=dict)
    forces: list[tuple[str, Array, Array]] = field(default_factory=list)  # on a link: place in its frame, force [N]
    empty: dict[str, str] = field(default_factory=dict)  # links without mass that stand in a chain, and why they do

    def check(self) -> None:
        """Every link hangs on the world by one chain of joints."""
        parent: dict[str, Joint] = {}
        twice: set[str] = set()
        for joint in self.joints:
            twice |= {joint.child} if joint.child in parent else set()
            parent[joint.child] = joint
        for joint in self.joints:
            for end in (joint.parent, joint.child):
                if end is not None and end not in self.links:
                    raise TautError(f"{joint.where}: joint '{joint.name}' names link '{end}', which does not exist: "
                                    f"there are {', '.join(list(self.links)[:8])}.")
            if joint.child in twice:
                raise TautError(f"{joint.where}: link '{joint.child}' is the child of more than one joint; a loop is "
                                "closed by a joint in a file beside this one (NAME.loops.yaml).")
        hung: set[str] = set()  # links from which the way to the world is known
        for name in self.links:
            seen: dict[str, None] = {}
            at: str | None = name
            while at is not None and at in parent and at not in hung:
                if at in seen:
                    raise TautError(f"{parent[at].where}: links {', '.join(seen)} form a cycle of joints; close "
                                    "the loop by a joint in a file beside this one (NAME.loops.yaml).")
                seen[at] = None
                at = parent[at].parent
            hung.update(seen)

    def settle(self) -> None:
        """Poses and velocities of all links at the start, from those of the joints: (1), and its time derivative."""
        parent = {joint.child: joint for joint in self.joints}
        for name in self.links:
            chain = []
            at: str | None = name
            while at is not None and at not in self.start and at in parent:
                chain.append(parent[at])
                at = parent[at].parent
            if not chain:
                self.start.setdefault(name, (Pose(), np.zeros(3), np.zeros(3)))
            for joint in reversed(chain):
                self.start[joint.child] = self._moved_by(joint)

    def _moved_by(self, joint: Joint) -> tuple[Pose, Array, Array]:
        before, v, omega = Pose(), np.zeros(3), np.zeros(3)
        if joint.parent is not None:
            before, v, omega = self.start.setdefault(joint.parent, (before, v, omega))
        frame = before @ joint.origin
        here = frame @ joint.motion()
        axis = frame.R @ joint.axis * joint.speed
        v = v + np.cross(omega, here.p - before.p)
        if joint.kind == "hinge":
            return here, v + np.cross(axis, here.p - frame.point(joint.anchor)), omega + axis
        return here, v + axis if joint.kind == "slider" else v, omega


class Groups:
    """Links that are fixed to each other, by the first of them; "" is the world."""

    def __init__(self, tree: Tree) -> None:
        self.parent = {joint.child: joint for joint in tree.joints}
        self._root: dict[str, str] = {}
        self._links: dict[str, list[Link]] = {}
        self._hanging: dict[str, int] = {}
        for name, link in tree.links.items():
            self._links.setdefault(self.root(name), []).append(link)
        for joint in tree.joints:
            if joint.kind != "fixed" and joint.parent is not None:
                root = self.root(joint.parent)
                self._hanging[root] = self._hanging.get(root, 0) + 1

    def root(self, link: str) -> str:
        at, passed = link, []
        while at not in self._root:
            passed.append(at)
            joint = self.parent.get(at)
            if joint is None or (joint.kind == "fixed" and joint.parent is None):
                self._root[at] = ""
            elif joint.kind != "fixed":
                self._root[at] = at
            else:
                at = str(joint.parent)
        for name in passed:
            self._root[name] = self._root[at]
        return self._root[at]

    def members(self, root: str) -> list[Link]:
        return self._links.get(root, [])

    def is_massless(self, root: str) -> bool:
        return bool(root) and not any(link.mass or link.inertia.any() for link in self.members(root))

    def hanging(self, root: str) -> int:
        """How many joints that move hang on a group."""
        return self._hanging.get(root, 0)
