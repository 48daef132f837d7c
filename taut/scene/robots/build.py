"""How the links and joints of a robot become a scene.

    I = Σ (R I_i Rᵀ + m_i (|d|² 1 - d dᵀ))           of links that are fixed to each other, about their
                                                     common centre of mass                              (1)

A body's frame has the directions of its first link's, and sits at the centre of mass.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count
from typing import Any

import numpy as np

from ...errors import TautError, present, warn
from ..scene import Scene
from ..specs import BodyRef, Point, Ref
from .pose import UP, Array, Pose, quaternion
from .tree import Groups, Joint, Link, Seen, Tree

RATES = {"hinge": "rate", "slider": "speed"}  # with _1, _2, …: the rates of joints with several coordinates


class Built:
    """A scene made of a tree, and where each link's frame went."""

    def __init__(self, tree: Tree, with_limits: bool = True) -> None:
        self.tree, self.with_limits = tree, with_limits
        self.groups = Groups(tree)
        self.poses = {name: Pose(UP) @ tree.start[name][0] for name in tree.links}
        self.roots = {name: self.groups.root(name) for name in tree.links}
        gx, gy, gz = UP @ np.array(tree.gravity)
        self.scene = Scene(gravity=(float(gx), float(gy), float(gz)), name=tree.name)
        self.bodies: dict[str, BodyRef] = {}
        self.centres: dict[str, Array] = {}  # of each body, in the frame of its first link [m]
        self.joints: dict[str, Ref] = {}
        self.along: dict[str, tuple[Ref, dict[str, str]]] = {}  # by the file's joints: a joint's coordinate
        self.scene.visual = self._seen([(Pose(UP), tree.visuals), *(
            (self.poses[name], link.visuals) for name, link in tree.links.items() if self.roots[name] == "")])
        for name in tree.links:
            if self.roots[name] == name:
                self._add_body(name)
        for joint in tree.joints:
            self._add_joint(joint)
        for joint in tree.joints:
            for one in joint.along or [joint]:
                self._add_on(one)
        for link, place, force in tree.forces:
            if self.roots[link] != "":
                self.scene.force(self.place(link, place), value=tuple((UP @ force).tolist()))

    def warn_dropped(self) -> None:
        """Say once what the scene does not hold of the file."""
        if self.tree.dropped:
            warn(f"{self.tree.where}: not taken over: {'; '.join(dict.fromkeys(self.tree.dropped))}")

    def unused(self, name: str, kind: str) -> str:
        """A name for a constraint or force: that of the file, where no joint, equality or actuator before has it."""
        names = chain((name, f"{name}_{kind}"), (f"{name}_{kind}_{k}" for k in count(2)))
        return next(one for one in names if one not in self.scene.constraints and one not in self.scene.forces)

    def _add_body(self, root: str) -> None:
        """(1)."""
        members = self.groups.members(root)
        back = self.poses[root].inverse()
        mass = sum(link.mass for link in members)
        first = self.tree.links[root]
        if not mass > 0.0:
            why = f" ({self.tree.empty[root]})" if root in self.tree.empty else ""
            raise TautError(f"{first.where}: link '{root}' moves but has no mass{why}; give it an inertial with a mass "
                            "above zero, or make its joint fixed.")
        frames = {link.name: back @ self.poses[link.name] for link in members}
        centre = np.sum([link.mass * frames[link.name].point(link.centre) for link in members], axis=0) / mass
        inertia = np.zeros((3, 3))
        for link in members:
            frame = frames[link.name]
            d = frame.point(link.centre) - centre
            inertia += frame.R @ link.inertia @ frame.R.T + link.mass * (float(d @ d) * np.eye(3) - np.outer(d, d))
        pose, (v, omega) = self.poses[root], (UP @ part for part in self.tree.start[root][1:])
        shown = next((link for link in members if link.shape is not None), None)
        shape = None if shown is None or shown.shape is None else self._fitting(shown, frames[shown.name], centre)
        try:
            self.bodies[root] = self.scene.rigid(
                tuple(pose.point(centre).tolist()), mass=mass, inertia=(0.5 * (inertia + inertia.T)).tolist(),
                orientation=quaternion(pose.R), velocity=tuple((v + np.cross(omega, pose.R @ centre)).tolist()),
                angular_velocity=tuple(omega.tolist()), name=root, shape=shape,
                visual=self._seen((Pose(p=-centre) @ frames[link.name], link.visuals) for link in members),
            )  # fmt: skip
        except TautError as mistake:
            raise TautError(f"{first.where}: {mistake}") from None
        self.centres[root] = centre

    def _seen(self, given: Iterable[tuple[Pose, list[Seen]]]) -> list[dict[str, Any]]:
        """What is seen in frames, with its places in theirs."""
        found = []
        for frame, visuals in given:
            for look, place in visuals:
                placed = frame @ place
                found.append({**look, "offset": tuple(placed.p.tolist()), "orientation": quaternion(placed.R)})
        return found

    def _fitting(self, link: Link, frame: Pose, centre: Array) -> dict[str, Any] | None:
        """A link's shape, where it sits about the centre of mass along the body's axes; else nothing is shown."""
        shape, inside = present(link.shape, "the shape of a link")
        placed = frame @ inside
        size = max(float(np.abs(value).max()) for value in (np.atleast_1d(list(shape.values())[0]),))
        if np.abs(placed.p - centre).max() > 1e-3 * size or np.abs(placed.R - np.eye(3)).max() > 1e-6:
            return None
        return shape

    def place(self, link: str | None, offset: Array) -> Any:
        """A place in a link's frame, as constraints take it."""
        if link is None or self.roots[link] == "":
            pose = Pose(UP) if link is None else self.poses[link]
            return tuple(pose.point(offset).tolist())
        root = self.roots[link]
        x, y, z = ((self.poses[root].inverse() @ self.poses[link]).point(offset) - self.centres[root]).tolist()
        return Point(root, (x, y, z))

    def axes(self, link: str | None) -> tuple[Array, Array]:
        """The axes of the body that carries a link, in the world, and those of the link in that body's frame."""
        if link is None or self.roots[link] == "":
            return np.eye(3), UP if link is None else self.poses[link].R
        R = self.poses[self.roots[link]].R
        return R, R.T @ self.poses[link].R

    def _add_joint(self, joint: Joint) -> None:
        if joint.kind in ("fixed", "free"):
            return
        before = Pose(UP) if joint.parent is None else self.poses[joint.parent]
        frame = before @ joint.origin
        axis = tuple((frame.R @ joint.axis).tolist())
        a = self.place(joint.child, joint.anchor)
        held = joint.anchor if joint.anchor_on_parent is None else joint.anchor_on_parent
        b = self.place(joint.parent, joint.origin.point(held))
        given: dict[str, Any] = {"name": joint.name}
        if joint.axes:
            given |= {name: tuple((UP @ along).tolist()) for name, along in joint.axes.items()}
        elif joint.kind != "ball":
            given["axis"] = axis
        if joint.kind in ("hinge", "slider"):
            given["angle" if joint.kind == "hinge" else "displacement"] = joint.position
            given |= {"rate": joint.speed} if joint.speed and joint.follows is None else {}
        given |= {one.coordinate: one.position for one in joint.along}
        given |= {RATES[one.kind] + one.coordinate[-2:]: one.speed for one in joint.along if one.speed}
        try:
            ref = self.joints[joint.name] = getattr(self.scene, joint.kind)(a, b, **given)
        except TautError as mistake:
            raise TautError(f"{joint.where}: {mistake}") from None
        if joint.kind in ("hinge", "slider"):
            self.along[joint.name] = ref, {}
        for one in joint.along:
            self.along[one.name] = ref, {"coordinate": one.coordinate}

    def _add_on(self, joint: Joint) -> None:
        """Limits, springs, damping, friction, armature and couplings of a joint's coordinate."""
        if joint.name not in self.along:
            return
        ref, which = self.along[joint.name]
        lower, upper = joint.limits
        try:
            if joint.follows is not None:
                other, ratio, offset = joint.follows
                if other not in self.along:
                    raise TautError(f"it follows the joint '{other}', which does not exist or does not move")
                leader, whose = self.along[other]
                both = which | {f"{key}_second": value for key, value in whose.items()}
                self.scene.couple(ref, leader, ratio=ratio, offset=offset, **both, name=f"{joint.name}_follows")
            if self.with_limits and joint.follows is None and (lower is not None or upper is not None):
                self.scene.joint_limit(ref, lower=lower, upper=upper, **which, name=f"{joint.name}_limit")
            if joint.damping or joint.stiffness:
                self.scene.spring_on(ref, stiffness=joint.stiffness, damping=joint.damping, rest=joint.rest, **which,
                                     name=f"{joint.name}_spring")
            if joint.friction:
                size = "torque" if joint.kind == "hinge" else "force"
                self.scene.joint_friction(ref, **{size: joint.friction}, **which, name=f"{joint.name}_friction")
            if joint.armature:  # ½ a q̇² is the energy of a number which equals q
                rotor = self.scene.coordinate(joint.position, inertia=joint.armature, rate=joint.speed,
                                              name=f"{joint.name}_rotor")  # fmt: skip
                self.scene.couple(ref, rotor, ratio=1.0, **which, name=f"{joint.name}_armature")
        except TautError as mistake:
            raise TautError(f"{joint.where}: joint '{joint.name}': {mistake}") from None
