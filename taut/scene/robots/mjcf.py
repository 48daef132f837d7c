"""MJCF, MuJoCo's format, through MuJoCo's own reader (the extra taut[robot]), which resolves defaults and meshes.

Bodies, joints (hinge, slide, ball, free, and several on one body where one of taut's joints says the same), equality
(connect, weld, joint), stiffness, damping, friction loss, limits, and actuators on joints as motors. All else is
listed. Every joint starts at the model's reference position (qpos0).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import TautError
from ..scene import Scene
from .tree import Array, Built, Joint, Link, Pose, Tree, quaternion
from .xml import read

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
CONNECT, WELD, JOINT = range(3)  # mjtEq
ON_JOINT = 0  # mjtTrn
FIXED_GAIN, NO_BIAS, AFFINE_BIAS = 0, 0, 1


def load_mjcf(path: Path, limits: bool = True, controls: str = "") -> Scene:
    """The scene of an MJCF file.

    limits    whether joints keep their limits
    controls  of actuators, as "shoulder = 0.5; elbow = sin(t)"; all others are 0
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
        raise TautError(_with_line(path, str(mistake))) from None
    reader = _Reader(path, root.attributes.get("model", path.stem), model)
    built = Built(reader.tree, limits)
    reader.add_equalities(built)
    reader.add_actuators(built, controls)
    built.warn_dropped()
    step = float(model.opt.timestep)
    built.scene.suggest(dt=step, duration=5.0, **({} if built.scene.is_unilateral else {"method": "rattle"}))
    return built.scene


def _with_line(path: Path, text: str) -> str:
    """What MuJoCo's reader refuses, with the line in front, where it tells one at the end."""
    text = " ".join(text.removeprefix("XML ").removeprefix("Error:").split())
    found = re.search(r",? line (\d+)(, column \d+)?$", text)
    where, what = (f"{path}:{found[1]}", text[: found.start()]) if found else (str(path), text)
    return f"{where}: MuJoCo refuses it: {what}"


class _Reader:
    """What a compiled model says, as a tree."""

    def __init__(self, path: Path, name: str, model: Any) -> None:
        self.path, self.model = path, model
        gravity = model.opt.gravity
        self.tree = Tree(name, str(path), {}, [], (float(gravity[0]), float(gravity[1]), float(gravity[2])))
        for body in range(1, model.nbody):
            self.tree.links[self.body(body)] = self._link(body)
            self.tree.joints.append(self._joint(body))
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
        found = Joint(name, str(self.path), "fixed", self.body(parent) if parent else None, self.body(body), origin)
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
        found.position = float(m.qpos0[q])
        if m.jnt_limited[j]:
            found.limits = float(m.jnt_range[j, 0]), float(m.jnt_range[j, 1])
        found.stiffness, found.rest = float(m.jnt_stiffness[j]), float(m.qpos_spring[q])
        found.damping, found.friction = float(m.dof_damping[dof]), float(m.dof_frictionloss[dof])

    def _check_plain(self, joints: list[int]) -> None:
        """Of joints without single coordinates, what taut does not take over."""
        m = self.model
        for j in joints:
            dof = int(m.jnt_dofadr[j])
            width = {FREE: 6, BALL: 3}.get(int(m.jnt_type[j]), 1)
            if m.jnt_limited[j] or m.jnt_stiffness[j] or m.dof_damping[dof : dof + width].any():
                self.tree.dropped.append(f"limits, stiffness and damping of joint '{self.joint(j)}'")

    def _several(self, found: Joint, joints: list[int], types: list[int]) -> None:
        """Several joints on one body, where one of taut's says the same."""
        m = self.model
        axes = [m.jnt_axis[j] for j in joints]
        hinges = [axis for axis, type_ in zip(axes, types) if type_ == HINGE]
        slides = [axis for axis, type_ in zip(axes, types) if type_ == SLIDE]
        together = all(np.allclose(m.jnt_pos[j], m.jnt_pos[joints[0]]) for j in joints)
        if len(hinges) == len(slides) == 1 and _parallel(hinges[0], slides[0]):
            found.kind, found.axis = "cylindrical", hinges[0].copy()
        elif types == [HINGE, HINGE] and together and abs(float(axes[0] @ axes[1])) < 1e-9:
            found.kind, found.axis, found.second = "universal", axes[0].copy(), axes[1].copy()
        elif len(hinges) == 1 and len(slides) == 2 and all(abs(float(hinges[0] @ s)) < 1e-9 for s in slides):
            found.kind, found.axis = "planar_joint", hinges[0].copy()
        elif types == [HINGE] * 3 and together and abs(np.linalg.det(np.array(axes))) > 1e-6:
            found.kind = "ball"
        else:
            shown = ", ".join(f"'{self.joint(j)}'" for j in joints)
            body = self.body(int(m.jnt_bodyid[joints[0]]))
            raise TautError(f"{self.path}: body '{body}' has the joints {shown}, which no joint of taut says at once; "
                            "put a body between them.")
        self._check_plain(joints)
        self.tree.dropped.append("names of joints beyond the first of a body: "
                                 + ", ".join(self.joint(j) for j in joints[1:]))

    def _list_dropped(self) -> None:
        m, dropped = self.model, self.tree.dropped
        for count, what in (
            (m.ntendon, "tendons"), (m.nflex, "flexible bodies"), (m.nmocap, "mocap bodies (they are fixed)"),
            (m.nplugin, "plugins"), (m.nsensor, "sensors"), (m.nkey, "keyframes"), (m.nexclude, "excluded pairs"),
        ):  # fmt: skip
            if count:
                dropped.append(f"{count} {what}")
        if (m.geom_contype | m.geom_conaffinity).any():
            dropped.append("contacts between geoms")
        for j in range(m.njnt):
            if m.dof_armature[m.jnt_dofadr[j]]:
                dropped.append(f"armature of joint '{self.joint(j)}'")
        if m.body_gravcomp.any():
            dropped.append("gravity compensation")
        if m.opt.density or m.opt.viscosity or m.opt.wind.any():
            dropped.append("drag of a medium (density, viscosity, wind)")

    def add_equalities(self, built: Built) -> None:
        m = self.model
        for e in range(m.neq):
            name = m.eq(e).name or f"equality_{e}"
            first, second, data = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
            on_bodies = int(m.eq_objtype[e]) == 1  # mjOBJ_BODY
            if not m.eq_active0[e]:
                self.tree.dropped.append(f"equality '{name}', which is not active")
            elif m.eq_type[e] == CONNECT and on_bodies:
                built.scene.ball(self._place(built, first, data[:3]), self._place(built, second, data[3:6]), name=name)
            elif m.eq_type[e] == WELD and on_bodies:
                a, b = self._place(built, first, data[3:6]), self._place(built, second, data[:3])
                built.scene.weld(a, b, **self._turned(built, first, second, data[6:10]), name=name)
            elif m.eq_type[e] == JOINT and second >= 0 and not data[2:5].any():
                q1, q2 = (float(m.qpos0[m.jnt_qposadr[j]]) for j in (first, second))
                built.scene.couple(self.joint(first), self.joint(second), ratio=float(data[1]),
                                   offset=q1 - float(data[1]) * q2 + float(data[0]), name=name)
            elif m.eq_type[e] == JOINT and second < 0 and not data[1:5].any():
                built.scene.drive(self.joint(first), value=float(m.qpos0[m.jnt_qposadr[first]] + data[0]), name=name)
            else:
                self.tree.dropped.append(f"equality '{name}'")

    def _turned(self, built: Built, first: int, second: int, relative: Array) -> dict[str, Any]:
        """How the first body of a weld stands in the second's frame, R2 = R1 R(relative), if not as at the start."""
        (frame_1, inside_1), (frame_2, inside_2) = (
            built.axes(self.body(body) if body else None) for body in (first, second)
        )
        wanted = inside_2 @ matrix(relative / np.linalg.norm(relative)).T @ inside_1.T
        if np.abs(frame_2.T @ frame_1 - wanted).max() < 1e-9:
            return {}
        return {"orientation": quaternion(wanted)}

    def _place(self, built: Built, body: int, offset: Array) -> Any:
        return built.place(self.body(body) if body else None, np.array(offset, float))

    def add_actuators(self, built: Built, controls: str) -> None:
        m = self.model
        given = _controls(controls, self.path)
        names = [m.actuator(i).name or f"actuator_{i}" for i in range(m.nu)]
        for wrong in set(given) - set(names):
            raise TautError(f"{self.path}: controls name the actuator '{wrong}', which does not exist; there are "
                            f"{', '.join(names) or 'none'}.")
        for i, name in enumerate(names):
            joint = self.joint(int(m.actuator_trnid[i, 0]))
            plain = m.actuator_gaintype[i] == FIXED_GAIN and m.actuator_biastype[i] in (NO_BIAS, AFFINE_BIAS)
            if m.actuator_trntype[i] != ON_JOINT or not plain or m.actuator_dyntype[i] or joint not in built.joints:
                self.tree.dropped.append(f"actuator '{name}'")
                continue
            gear, gain, bias = float(m.actuator_gear[i, 0]), float(m.actuator_gainprm[i, 0]), m.actuator_biasprm[i]
            size = "torque" if m.jnt_type[m.actuator_trnid[i, 0]] == HINGE else "force"
            # gear (gain u + b0 + b1 gear q + b2 gear q̇)
            arguments: dict[str, Any] = {size: f"{gear * gain!r}*({given.get(name, '0')}) + {gear * float(bias[0])!r}"}
            if bias[1] or bias[2]:
                built.scene.spring_on(joint, stiffness=-float(bias[1]) * gear**2, damping=-float(bias[2]) * gear**2,
                                      name=f"{name}_servo")
            if m.actuator_forcelimited[i]:
                self.tree.dropped.append(f"force range of actuator '{name}'")
            built.scene.motor(joint, **arguments, name=name)


def _controls(text: str, path: Path) -> dict[str, str]:
    found = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, equals, formula = part.partition("=")
        if not equals or not formula.strip():
            raise TautError(f"{path}: controls are '{text}'; write them as 'shoulder = 0.5; elbow = sin(t)'.")
        found[name.strip()] = formula.strip()
    return found


def _parallel(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) < 1e-9)


def matrix(quat: Array) -> Array:
    from scipy.spatial.transform import Rotation

    w, x, y, z = quat
    return np.asarray(Rotation.from_quat([x, y, z, w]).as_matrix())

