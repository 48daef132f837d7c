"""MJCF, MuJoCo's format, through MuJoCo's own reader (the extra taut[robot]), which resolves defaults and meshes.

Bodies, joints (hinge, slide, ball, free, and several on one body where one of taut's joints says the same), equality
(connect, weld, joint), stiffness, damping, friction loss, limits, and actuators on joints as motors. All else is
listed with its line (mjcf_features.py). The start is the model's reference position (qpos0) at rest, or a keyframe.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import TautError
from ..scene import Scene
from .build import Built
from .mjcf_actuators import add_actuators
from .mjcf_equalities import add_equalities
from .mjcf_features import Features
from .mjcf_geoms import add_visuals
from .mjcf_start import pose_and_twist, start_of
from .pose import Array, Pose, matrix
from .suggestion import suggest
from .tree import Joint, Link, Tree
from .xml import Element, read

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint


def load_mjcf(path: Path, limits: bool = True, controls: str = "", key: str | int = "") -> Scene:
    """The scene of an MJCF file.

    limits    whether joints keep their limits
    controls  of actuators, as "shoulder = 0.5; elbow = sin(t)"; all others are 0, or those of the keyframe
    key       name or number of the keyframe that is the start
    """
    root = read(path)
    if root.tag != "mujoco":
        raise TautError(f"{root.where}: the file begins with <{root.tag}>, not <mujoco>; is it MJCF?")
    try:
        import mujoco
    except ImportError:
        raise TautError(f"'{path}' is read by MuJoCo's own reader, which is not installed: pip install "
                        "'taut[robot]'.") from None
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as mistake:
        raise TautError(_with_line(root, str(mistake))) from None
    reader = _Reader(path, root, model, key)
    built = Built(reader.tree, limits)
    add_equalities(reader, built)
    add_actuators(reader, built, controls)
    reader.tree.dropped += reader.features.texts()
    built.warn_dropped()
    suggest(built, float(model.opt.timestep))
    return built.scene


def _with_line(root: Element, text: str) -> str:
    """What MuJoCo's reader refuses, with the line in front, where it tells one at the end or names a missing file."""
    path = root.path
    text = " ".join(text.removeprefix("XML ").removeprefix("Error:").split())
    found = re.search(r",? line (\d+)(, column \d+)?$", text)
    where, what = (f"{path}:{found[1]}", text[: found.start()]) if found else (str(path), text)
    named = re.search(r" Element name '([^']+)', id \d+$", what)
    if named and not found:
        element = root.called(named[1])
        where = where if element is None else element.where
    missing = re.search(r"rror opening file '(.*)'$", what)
    if missing:
        element = root.using_file(Path(missing[1]).name)
        where, what = where if element is None else element.where, f"{what}; correct its path"
    return f"{where}: MuJoCo refuses it: {what}"


class _Reader:
    """What a compiled model says, as a tree."""

    def __init__(self, path: Path, root: Element, model: Any, key: str | int) -> None:
        self.path, self.model, self.features = path, model, Features(root)
        self.data = start_of(self, key)
        x, y, z = np.zeros(3) if self.is_off("gravity") else model.opt.gravity
        name = root.attributes.get("model", path.stem)
        self.tree = Tree(name, str(path), {}, [], (float(x), float(y), float(z)))
        for body in range(1, model.nbody):
            self.tree.links[self.body(body)] = self._link(body)
            self.tree.joints.append(self._joint(body))
            self.tree.start[self.body(body)] = pose_and_twist(model, self.data, body)
            if model.body_gravcomp[body]:
                weight = np.array(self.tree.gravity) * model.body_mass[body] * model.body_gravcomp[body]
                self.tree.forces.append((self.body(body), model.body_ipos[body].copy(), -weight))
        add_visuals(self)
        self._list_dropped()

    def body(self, number: int) -> str:
        return self.model.body(number).name or f"body_{number}"

    def joint(self, number: int) -> str:
        return self.model.joint(number).name or f"joint_{number}"

    def _link(self, body: int) -> Link:
        m = self.model
        axes = matrix(m.body_iquat[body])
        link = Link(self.body(body), str(self.path), float(m.body_mass[body]))
        link.inertia = axes @ np.diag(m.body_inertia[body]) @ axes.T
        link.centre = m.body_ipos[body].copy()
        return link

    def _joint(self, body: int) -> Joint:
        m = self.model
        parent = int(m.body_parentid[body])
        first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        joints = list(range(first, first + count))
        origin = Pose(matrix(m.body_quat[body]), m.body_pos[body].copy())
        name = self.joint(joints[0]) if joints else f"{self.body(body)}_fixed"
        element = self.features.find("joint", name) if joints else None
        where = str(self.path) if element is None else element.where
        found = Joint(name, where, "fixed", self.body(parent) if parent else None, self.body(body), origin)
        types = [int(m.jnt_type[j]) for j in joints]
        if not types:
            return found
        found.axis, found.anchor = m.jnt_axis[joints[0]].copy(), m.jnt_pos[joints[0]].copy()
        if types in ([HINGE], [SLIDE]):
            found.kind = "hinge" if types == [HINGE] else "slider"
            self._coordinate(found, joints[0])
        elif types in ([BALL], [FREE]):
            found.kind = "ball" if types == [BALL] else "free"
            self._check_plain(joints)
        else:
            self._several(found, joints, types)
        return found

    def _coordinate(self, found: Joint, j: int) -> None:
        """Value, limits, spring, damping and friction of a joint with one coordinate."""
        m = self.model
        q, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        found.position, found.speed = float(self.data.qpos[q]), float(self.data.qvel[dof])
        found.armature = float(m.dof_armature[dof])
        if m.jnt_limited[j] and not self.is_off("limit"):
            found.limits = float(m.jnt_range[j, 0]), float(m.jnt_range[j, 1])
        stiffness, damping, friction = (0.0 if self.is_off(what) else float(value) for what, value in (
            ("spring", m.jnt_stiffness[j]), ("damper", m.dof_damping[dof]), ("frictionloss", m.dof_frictionloss[dof])))
        found.stiffness, found.rest, found.damping, found.friction = (
            stiffness, float(m.qpos_spring[q]), damping, friction)

    def _check_plain(self, joints: list[int]) -> None:
        """Of joints without single coordinates, what taut does not take over."""
        m = self.model
        for j in joints:
            dof = int(m.jnt_dofadr[j])
            width = {FREE: 6, BALL: 3}.get(int(m.jnt_type[j]), 1)
            dofs = slice(dof, dof + width)
            per_dof = m.dof_damping + m.dof_frictionloss + m.dof_armature
            if m.jnt_limited[j] or m.jnt_stiffness[j] or per_dof[dofs].any():
                self.drop(f"limits, stiffness, damping, friction and armature of joint '{self.joint(j)}'", "joint", j)

    def _several(self, found: Joint, joints: list[int], types: list[int]) -> None:
        """Several joints on one body, where one of taut's says the same."""
        m = self.model
        axes = [m.jnt_axis[j] for j in joints]
        hinges = [axis for axis, type_ in zip(axes, types) if type_ == HINGE]
        slides = [axis for axis, type_ in zip(axes, types) if type_ == SLIDE]
        along: list[tuple[str, float]] = []  # the coordinates of taut's joint that are those of the file
        together = all(np.allclose(m.jnt_pos[j], m.jnt_pos[joints[0]]) for j in joints)
        if len(hinges) == len(slides) == 1 and _parallel(hinges[0], slides[0]):
            found.kind, found.axis = "cylindrical", hinges[0].copy()
            along = [("angle", 1.0) if type_ == HINGE else ("displacement", float(np.sign(hinges[0] @ slides[0])))
                     for type_ in types]  # fmt: skip
        elif types == [HINGE, HINGE] and together and abs(float(axes[0] @ axes[1])) < 1e-9:
            found.kind, found.axis = "universal", axes[0].copy()
            before = self.data.xmat[m.body_parentid[m.jnt_bodyid[joints[0]]]].reshape(3, 3) @ found.origin.R
            found.second = before.T @ self.data.xaxis[joints[1]]  # which the first has turned
            along = [("angle_1", 1.0), ("angle_2", -1.0)]  # the second turns the first's axis as the child sees it
        elif len(hinges) == 1 and len(slides) == 2 and all(abs(float(hinges[0] @ s)) < 1e-9 for s in slides):
            found.kind, found.axis = "planar_joint", hinges[0].copy()
        elif types == [HINGE] * 3 and together and abs(np.linalg.det(np.array(axes))) > 1e-6:
            found.kind = "ball"
        else:
            shown = ", ".join(f"'{self.joint(j)}'" for j in joints)
            number = int(m.jnt_bodyid[joints[0]])
            body = self.body(number)
            element = self.features.body(number, m.body(number).name, m.nbody)
            where = self.path if element is None else element.where
            raise TautError(f"{where}: body '{body}' has the joints {shown}, which no joint of taut says at once; "
                            "put a body between them.")
        for j, (coordinate, sign) in zip(joints, along):
            kind = "hinge" if int(m.jnt_type[j]) == HINGE else "slider"
            one = Joint(self.joint(j), str(self.path), kind, found.parent, found.child)
            one.coordinate, one.sign = coordinate, sign
            self._coordinate(one, j)
            found.along.append(one)
        self._check_plain([] if along else joints)
        for j in joints[1:]:
            self.drop("names of joints beyond the first of a body", "joint", j)

    def _list_dropped(self) -> None:
        """What follows from values alone; all else is found in the file (mjcf_features.py)."""
        m = self.model
        if (m.geom_contype | m.geom_conaffinity).any() and not self.is_off("contact"):
            self.features.drop("contacts between geoms", self.features.first("geom"))
        for j in range(m.njnt):
            dofs = slice(int(m.jnt_dofadr[j]), int(m.jnt_dofadr[j]) + 1)
            if m.jnt_stiffnesspoly[j].any() or m.dof_dampingpoly[dofs].any():
                self.drop(f"stiffness and damping of joint '{self.joint(j)}' beyond their linear parts", "joint", j)

    def drop(self, what: str, tag: str, number: int) -> None:
        """Something of the joint of that number."""
        self.features.drop(what, self.features.find(tag, self.joint(number)))

    def is_off(self, what: str) -> bool:
        """Whether <flag> disables it."""
        import mujoco

        return bool(self.model.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{what.upper()}")))


def _parallel(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) < 1e-9)
