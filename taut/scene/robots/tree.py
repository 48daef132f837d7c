"""Links and joints as robot formats have them. What a file says that a scene can not hold is collected in `dropped`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
    # Where a reader knows it: each link's frame at the start, its velocity [m/s] and angular velocity [rad/s]
    start: dict[str, tuple[Pose, Array, Array]] = field(default_factory=dict)
    forces: list[tuple[str, Array, Array]] = field(default_factory=list)  # on a link: place in its frame, force [N]
