"""Equalities of an MJCF file: connect and weld of bodies or sites, and joint, as joints and couplings of a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .build import Built
from .pose import Array, matrix, quaternion

if TYPE_CHECKING:
    from .mjcf import _Reader

CONNECT, WELD, JOINT = range(3)  # mjtEq
ON_BODIES, ON_SITES = 1, 6  # mjtObj


def add_equalities(reader: _Reader, built: Built) -> None:
    m = reader.model
    for e in range(0 if reader.is_off("equality") else m.neq):
        element = reader.features.nth("equality", e, m.neq)
        name = built.unused(m.eq(e).name or f"equality_{e}", "equality")
        if not m.eq_active0[e]:
            reader.features.drop(f"equality '{name}', which is not active", element)
        elif (m.eq_type[e] not in (CONNECT, WELD) or not _add_between_bodies(reader, built, e, name)) and (
            m.eq_type[e] != JOINT or not _add_between_joints(reader, built, e, name)
        ):
            tag = "" if element is None else f"<{element.tag}> "
            reader.features.drop(f"equality {tag}'{name}'{_reason(reader, e)}", element)


def _reason(reader: _Reader, e: int) -> str:
    """Why an equality is not taken over."""
    m = reader.model
    if m.eq_type[e] in (CONNECT, WELD):
        return " of bodies that never move against each other"
    if m.eq_type[e] != JOINT:
        return ""
    if m.eq_data[e][2:5].any() or (m.eq_obj2id[e] < 0 and m.eq_data[e][1]):
        return " with powers in its polycoef"
    return " of a joint without a coordinate of its own"


def _add_between_bodies(reader: _Reader, built: Built, e: int, name: str) -> bool:
    """connect and weld, of bodies or of sites."""
    m = reader.model
    first, second, data = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
    connects = m.eq_type[e] == CONNECT
    ends = (data[:3], data[3:6]) if connects else (data[3:6], data[:3])
    if int(m.eq_objtype[e]) == ON_SITES:
        bodies = [int(m.site_bodyid[site]) for site in (first, second)]
        a, b = (_place(reader, built, body, m.site_pos[site]) for body, site in zip(bodies, (first, second)))
        frames = [matrix(m.site_quat[site]) for site in (first, second)]
        relative = frames[0] @ frames[1].T
    elif int(m.eq_objtype[e]) == ON_BODIES:
        bodies = [first, second]
        a, b = (_place(reader, built, body, end) for body, end in zip(bodies, ends))
        relative = np.eye(3) if connects else matrix(data[6:10])
    else:
        return False
    if getattr(a, "body", None) == getattr(b, "body", None):  # links of one body, or both at rest in the world
        return False
    if connects:
        built.scene.ball(a, b, name=name)
    else:
        built.scene.weld(a, b, **_turned(reader, built, bodies[0], bodies[1], relative), name=name)
    return True


def _add_between_joints(reader: _Reader, built: Built, e: int, name: str) -> bool:
    """q1 - q1(0) = c0 + c1 (q2 - q2(0)), or q1 = q1(0) + c0."""
    m = reader.model
    first, second, data = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
    if data[2:5].any() or not all(reader.joint(j) in built.along for j in (first, second) if j >= 0):
        return False
    ref, chosen = built.along[reader.joint(first)]
    which = dict(chosen)
    q1, ratio = float(m.qpos0[m.jnt_qposadr[first]]), float(data[1])
    if second < 0 or not ratio:
        built.scene.drive(ref, value=q1 + float(data[0]), **which, name=name)
        return True
    other, which_2 = built.along[reader.joint(second)]
    q2 = float(m.qpos0[m.jnt_qposadr[second]])
    which |= {f"{key}_second": value for key, value in which_2.items()}
    built.scene.couple(ref, other, ratio=ratio, offset=q1 - ratio * q2 + float(data[0]), **which, name=name)
    return True


def _turned(reader: _Reader, built: Built, first: int, second: int, relative: Array) -> dict[str, Any]:
    """How the first body of a weld stands in the second's frame, R2 = R1 R(relative), if not as at the start."""
    (frame_1, inside_1), (frame_2, inside_2) = (
        built.axes(reader.body(body) if body else None) for body in (first, second)
    )
    wanted = inside_2 @ relative.T @ inside_1.T
    if np.abs(frame_2.T @ frame_1 - wanted).max() < 1e-9:
        return {}
    return {"orientation": quaternion(wanted)}


def _place(reader: _Reader, built: Built, body: int, offset: Array) -> Any:
    return built.place(reader.body(body) if body else None, np.array(offset, float))
