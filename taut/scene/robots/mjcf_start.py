"""Where the bodies of an MJCF model start: at its reference position, or at a keyframe with its velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import TautError, listed, unknown, warn
from .pose import Array, Pose

if TYPE_CHECKING:
    from .mjcf import _Reader

JOINT = 2  # mjtEq
ONE_COORDINATE = (2, 3)  # slide and hinge, of mjtJoint


def start_of(reader: _Reader, key: str | int, limits: bool) -> Any:
    """MuJoCo's data at the start, with positions and velocities of all bodies; joints with limits within these."""
    import mujoco

    model = reader.model
    data = mujoco.MjData(model)
    if key != "":
        mujoco.mj_resetDataKeyframe(model, data, _number(reader, key))
    elif model.nkey:
        reader.features.drop_keyframes()
    if limits and not reader.is_off("limit"):
        _start_within_limits(reader, data)
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    return data


def _start_within_limits(reader: _Reader, data: Any) -> None:
    model, moved = reader.model, []
    for j in np.flatnonzero(model.jnt_limited.astype(bool) & np.isin(model.jnt_type, ONE_COORDINATE)):
        address = model.jnt_qposadr[j]
        before = float(data.qpos[address])
        data.qpos[address] = np.clip(before, *model.jnt_range[j])
        if data.qpos[address] != before:
            moved.append(reader.joint(int(j)))
    if moved:
        _carry_along(reader, data)
        warn(f"{reader.path}: the start is beyond the limits of {listed(moved)}, which start at the limit")


def _carry_along(reader: _Reader, data: Any) -> None:
    """Joints that equalities tie to others, to where these are now."""
    m = reader.model
    for e in range(0 if reader.is_off("equality") else m.neq):
        if m.eq_type[e] == JOINT and m.eq_active0[e] and m.eq_obj2id[e] >= 0:
            first, second = (m.jnt_qposadr[m.eq_obj1id[e]], m.jnt_qposadr[m.eq_obj2id[e]])
            moved = float(data.qpos[second] - m.qpos0[second])
            data.qpos[first] = m.qpos0[first] + np.polyval(m.eq_data[e][4::-1], moved)


def pose_and_twist(model: Any, data: Any, body: int) -> tuple[Pose, Array, Array]:
    """A body's frame, its velocity and its angular velocity, in the world with z up."""
    import mujoco

    twist = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, twist, 0)
    return Pose(data.xmat[body].reshape(3, 3).copy(), data.xpos[body].copy()), twist[3:], twist[:3]


def _number(reader: _Reader, key: str | int) -> int:
    model = reader.model
    names = [model.key(k).name for k in range(model.nkey)]
    if isinstance(key, int) and not isinstance(key, bool) and 0 <= key < model.nkey:
        return key
    if key in names:
        return names.index(str(key))
    if not names:
        raise TautError(f"{reader.path}: it has no keyframe '{key}', nor any other; leave out key.")
    if any(names):
        raise TautError(f"{reader.path}: {unknown('keyframe', str(key), filter(None, names))}")
    raise TautError(f"{reader.path}: there is no keyframe {key!r}; give key from 0 to {model.nkey - 1}.")
