"""Rows of contact as flat arrays: unlike contact/rows.py, of at most four members, each with one weight.

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
class ContactRows(NamedTuple):
    unknown: np.ndarray  # (r, 4) number of the member's unknown, -1: none, or it is fixed or driven
    slot: np.ndarray  # (r, 4) its slot, or its place on a rigid body, -1: none
    weight: np.ndarray  # (r, 4) ω
    n: np.ndarray  # (r, 3)
    phi: np.ndarray  # (r,) [m]
    lam: np.ndarray  # (r,) λ [N]
    lam_est: np.ndarray  # (r,) λ₀, its estimate in the augmented Lagrangian [N]
    penalty: np.ndarray  # (r,) κ [N/m]
    friction: np.ndarray  # (r,) Coulomb's coefficient
    lam_frozen: np.ndarray  # (r,) the λ that Coulomb's bound on friction takes [N]
    depth_allowed: np.ndarray  # (r,) depth that this step may leave, of what was there before it [m]
    tol: np.ndarray  # (r,) tolerance on φ in this step [m]
    n0: np.ndarray  # (r, 3) the normal at the start of the step
    friction_force: np.ndarray  # (r, 3) on the first member [N]
    tangent_stiffness: np.ndarray  # (r,) τ of friction.py [N/m],
    slip_direction: np.ndarray  # (r, 3) and d
    active: np.ndarray  # (r,) bool: in the active set
    slack: np.ndarray  # (r,) s of interior_point.py [m],
    d_lam: np.ndarray  # (r,) δλ,
    d_slack: np.ndarray  # (r,) and δs
    node_pair: np.ndarray  # (r,) block in the matrix of nodes, -1: not between two nodes
    rotation: np.ndarray  # (r,) unknown of the rotation of a member's rigid body, -1: none,
    place: np.ndarray  # (r,) the place on it,
    body_member: np.ndarray  # (r,) the member,
    lever: np.ndarray  # (r, 3, 3) and ω B of rigid_coupling.py


def contact_rows(capacity: int, external: int = 0) -> ContactRows:
    """Arrays for so many rows, of which the external ones may be on rigid bodies."""
    empty = [np.zeros(capacity) for _ in range(12)]
    return ContactRows(
        np.full((capacity, MEMBERS), -1), np.full((capacity, MEMBERS), -1), np.zeros((capacity, MEMBERS)),
        np.zeros((capacity, 3)), phi=empty[0], lam=empty[1], lam_est=empty[2], penalty=empty[3], friction=empty[4],
        lam_frozen=empty[5], depth_allowed=empty[6], tol=empty[7], n0=np.zeros((capacity, 3)),
        friction_force=np.zeros((capacity, 3)), tangent_stiffness=empty[11], slip_direction=np.zeros((capacity, 3)),
        active=np.zeros(capacity, bool), slack=empty[8], d_lam=empty[9], d_slack=empty[10],
        node_pair=np.full(external, NONE), rotation=np.full(capacity, NONE), place=np.full(external, NONE),
        body_member=np.zeros(external, np.int64), lever=np.zeros((external, 3, 3)),
    )  # fmt: skip


def external_members(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    for ball, size, deformable, rough in zip(
        touching.ball_slot, touching.ball_radius, touching.ball_deformable, touching.ball_friction
    ):
        nodes = model.deformables[deformable].slots
        parts.append(np.stack([nodes, np.full(len(nodes), ball)], axis=1))
        friction.append(np.full(len(nodes), rough))
        radius.append(np.full(len(nodes), size + 0.5 * model.deformables[deformable].thickness))
    return np.concatenate(parts), np.concatenate(friction), np.concatenate([np.zeros(0), *radius])


def external_rows(model: Model, unknown: np.ndarray, memory: np.ndarray) -> tuple[ContactRows, np.ndarray]:
    slots, friction, radius = external_members(model)
    count = len(slots)
    turned = model.inequalities.rows
    rows = contact_rows(count, count)
    rows.slot[:, :2] = slots
    rows.unknown[:, :2] = np.where(slots >= 0, unknown[slots], NONE)
    rows.weight[:, 0] = 1.0
    rows.weight[:, 1] = np.where(slots[:, 1] >= 0, -1.0, 0.0)
    on = turned.spin_row
    rows.rotation[on] = unknown[turned.slot[turned.spin_block]]
    rows.place[on] = turned.spin_place
    rows.body_member[on] = turned.spin_from.astype(np.int64) - turned.ptr[on]
    rows.slot[on, rows.body_member[on]] = model.places.point[turned.spin_place]
    return rows._replace(friction=friction, lam=memory[:count]), radius
