"""Rows of contact as flat arrays.

A row of contact has up to four members k with weights ω_k and one normal n:

    φ = -gap,   ∂gap/∂x_k = ω_k n,   force on member k = λ ω_k n,   λ ≥ 0                        (1)

    node and obstacle   ω = (1)               node and ball   ω = (1, -1)
    node and triangle   ω = (1, -b₀, -b₁, -b₂)       edge and edge   ω = (1-s, s, -(1-t), -t)

One member may be a place on a rigid body: then ω n acts on its centre, and ω Bᵀ n turns it (rigid_coupling.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import structure
from ..model.model import Model
from .rigid_coupling import NONE

MEMBERS = 4


@structure
class Rows(NamedTuple):
    unknown: np.ndarray  # (r, 4) number of the member, -1: none, or it is held
    slot: np.ndarray  # (r, 4) its slot, or its place on a rigid body, -1: none
    weight: np.ndarray  # (r, 4) ω
    n: np.ndarray  # (r, 3)
    phi: np.ndarray  # (r,) [m]
    lam: np.ndarray  # (r,) λ [N]
    shift: np.ndarray  # (r,) λ₀
    kappa: np.ndarray  # (r,) κ [N/m]
    friction: np.ndarray  # (r,) Coulomb's coefficient
    grip: np.ndarray  # (r,) the λ that friction takes
    allowed: np.ndarray  # (r,) depth that this step may leave, of what was there before it [m]
    room: np.ndarray  # (r,) by how much φ may be off in this step [m]
    n0: np.ndarray  # (r, 3) the normal at the start of the step
    rub: np.ndarray  # (r, 3) friction on the first member [N]
    along: np.ndarray  # (r,) τ of contact_assembly.py [N/m],
    slip: np.ndarray  # (r, 3) and d
    on: np.ndarray  # (r,) bool
    slack: np.ndarray  # (r,) s of interior_point.py [m],
    rise: np.ndarray  # (r,) δλ,
    widen: np.ndarray  # (r,) and δs
    couple: np.ndarray  # (r,) in the system of nodes, -1: not between two nodes
    spin: np.ndarray  # (r,) unknown of the rotation of a member's rigid body, -1: none,
    place: np.ndarray  # (r,) the place on it,
    which: np.ndarray  # (r,) the member,
    lever: np.ndarray  # (r, 3, 3) and ω B of rigid_coupling.py


def no_rows(room: int, solids: int = 0) -> Rows:
    """Room for rows, of which those of solids may be on rigid bodies."""
    empty = [np.zeros(room) for _ in range(12)]
    return Rows(
        np.full((room, MEMBERS), -1), np.full((room, MEMBERS), -1), np.zeros((room, MEMBERS)), np.zeros((room, 3)),
        phi=empty[0], lam=empty[1], shift=empty[2], kappa=empty[3], friction=empty[4], grip=empty[5], allowed=empty[6],
        room=empty[7], n0=np.zeros((room, 3)), rub=np.zeros((room, 3)), along=empty[11], slip=np.zeros((room, 3)),
        on=np.zeros(room, bool), slack=empty[8], rise=empty[9], widen=empty[10],
        couple=np.full(solids, NONE), spin=np.full(room, NONE), place=np.full(solids, NONE),
        which=np.zeros(solids, np.int64), lever=np.zeros((solids, 3, 3)),
    )  # fmt: skip


def members_of(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slots (r, 2) of the rows of solids, -1: none; their friction; and the radii of the balls in the last of them.

    Of a place on a rigid body the slot of its centre.
    """
    ineq, touching = model.inequalities, model.touching
    ptr = ineq.rows.ptr.astype(np.int64)
    slots = np.full((len(ptr) - 1, 2), -1)
    slots[:, 0] = ineq.rows.slot[ptr[:-1]]
    two = np.diff(ptr) > 1
    slots[two, 1] = ineq.rows.slot[ptr[:-1][two] + 1]
    parts, friction, radius = [slots], [ineq.friction], []
    for ball, size, sheet, rough in zip(
        touching.ball_slot, touching.ball_radius, touching.ball_sheet, touching.ball_friction
    ):
        nodes = model.sheets[sheet].slots
        parts.append(np.stack([nodes, np.full(len(nodes), ball)], axis=1))
        friction.append(np.full(len(nodes), rough))
        radius.append(np.full(len(nodes), size + 0.5 * model.sheets[sheet].thickness))
    return np.concatenate(parts), np.concatenate(friction), np.concatenate([np.zeros(0), *radius])


def solid_rows(model: Model, unknown: np.ndarray, memory: np.ndarray) -> tuple[Rows, np.ndarray]:
    slots, friction, radius = members_of(model)
    count = len(slots)
    turned = model.inequalities.rows
    rows = no_rows(count, count)
    rows.slot[:, :2] = slots
    rows.unknown[:, :2] = np.where(slots >= 0, unknown[slots], NONE)
    rows.weight[:, 0] = 1.0
    rows.weight[:, 1] = np.where(slots[:, 1] >= 0, -1.0, 0.0)
    on = turned.spin_row
    rows.spin[on] = unknown[turned.slot[turned.spin_block]]
    rows.place[on] = turned.spin_place
    rows.which[on] = turned.spin_from.astype(np.int64) - turned.ptr[on]
    rows.slot[on, rows.which[on]] = model.places.point[turned.spin_place]
    return rows._replace(friction=friction, lam=memory[:count]), radius
