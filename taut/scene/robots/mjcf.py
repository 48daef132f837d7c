"""MJCF, MuJoCo's format, through MuJoCo's own reader (the extra taut[robot]), which resolves defaults and meshes.

Bodies, joints (hinge, slide, ball, free, and several on one body: mjcf_several.py), equality (connect, weld, joint),
stiffness, damping, friction loss, limits, and actuators on joints as motors. All else is listed with its line
(mjcf_features.py). The start is the model's reference position (qpos0) at rest, or a keyframe.
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
from .mjcf_several import several
from .mjcf_start import pose_and_twist, start_of
from .pose import Pose, matrix
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
    reader = _Reader(path, root, model, key, limits)
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

    def __init__(self, path: Path, root: Element, model: Any, key: str | int, limits: bool) -> None:
        self.path, self.model, self.features = path, model, Features(root)
        self.data = start_of(self, key, limits)
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
            self.take_coordinate(found, joints[0])
        elif types in ([BALL], [FREE]):
            found.kind = "ball" if types == [BALL] else "free"
            self.check_plain(joints)
        else:
            several(self, found, joints)
        return found

    def take_coordinate(self, found: Joint, j: int) -> None:
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

    def check_plain(self, joints: list[int]) -> None:
        """Of joints without single coordinates, what taut does not take over."""
        m = self.model
        for j in joints:
            dof = int(m.jnt_dofadr[j])
            width = {FREE: 6, BALL: 3}.get(int(m.jnt_type[j]), 1)
            dofs = slice(dof, dof + width)
            per_dof = m.dof_damping + m.dof_frictionloss + m.dof_armature
            if m.jnt_limited[j] or m.jnt_stiffness[j] or per_dof[dofs].any():
                self.drop(f"limits, stiffness, damping, friction and armature of joint '{self.joint(j)}'", "joint", j)

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
