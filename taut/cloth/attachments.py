"""Attachments: nodes pinned to what moves freely: a ball, a rigid body, or a node of another deformable.

    φ = x_node - x_body - R r                                                                    (1)
    force on the node -F,   on the body F at R r,   F = F₀ + κ (φ + δx_node - δx_body - B δθ)    (2)

A pin is three equalities, held like hard edges. B and θ are those of rigid_coupling.py; balls and nodes do not turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure
from ..linalg.nodes import add_diagonal, add_pair_block
from ..model.model import ConstraintInfo, Model
from ..model.rotation import to_body, to_world
from ..scene.specs import PIN
from .rigid_coupling import (
    NONE,
    add_geometric_stiffness,
    add_rotated_block,
    entry,
    least_eigenvalue,
    set_lever,
    set_orientations,
    torque_component,
)


@structure
class Attachments(NamedTuple):
    row: np.ndarray  # (p,) the first of its three rows in the model
    node: np.ndarray  # (p, 2) unknown and slot of the node,
    to: np.ndarray  # (p, 2) and of what it is pinned to: its centre, or a node, -1 where that is fixed or driven
    rotation: np.ndarray  # (p,) unknown of that body's rotation, -1: none,
    body: np.ndarray  # (p,) its orientation,
    arm: np.ndarray  # (p, 3) and r, in its axes [m]
    node_pair: np.ndarray  # (p,) block in the matrix of nodes, -1: not between two nodes
    phi: np.ndarray  # (p, 3) [m]
    lever: np.ndarray  # (p, 3, 3) B [m]
    force: np.ndarray  # (p, 3) F [N]
    lam_est: np.ndarray  # (p, 3) F₀, its estimate in the augmented Lagrangian [N]
    penalty: np.ndarray  # (p,) κ [N/m]


def pins_of(model: Model) -> list[ConstraintInfo]:
    """Pins to what moves freely."""
    return [info for info in model.constraint_info if info.role == PIN]


def attachments_of(model: Model, unknown: np.ndarray, nodes: int, memory: np.ndarray) -> tuple[Attachments, np.ndarray]:
    """All pins, and the pairs (k, 2) of those between two nodes; their `node_pair` is an index into these."""
    pins, places = pins_of(model), model.places
    ends = np.array([info.points for info in pins], np.int64).reshape(-1, 2)
    count = len(pins)
    at = ends[:, 1] - (places.point[0] if len(places.point) else len(model.x))
    on_place = at >= 0
    body_slot, arm = ends[:, 1].copy(), np.zeros((count, 3))
    body_slot[on_place], arm[on_place] = places.slot[at[on_place]], places.arm[at[on_place]]
    rotation, body = np.full(count, NONE), np.zeros(count, np.int64)
    rotation[on_place], body[on_place] = unknown[body_slot[on_place] + 1], places.body[at[on_place]]
    members = unknown[ends[:, 0]], unknown[body_slot]
    between_nodes = (members[1] >= 0) & (members[1] < nodes)
    node_pair = np.full(count, NONE)
    node_pair[between_nodes] = np.arange(between_nodes.sum())
    return Attachments(
        np.array([info.rows[0] for info in pins], np.int64), np.stack([members[0], ends[:, 0]], axis=1),
        np.stack([members[1], body_slot], axis=1), rotation, body, arm, node_pair, np.zeros((count, 3)),
        np.zeros((count, 3, 3)), memory[: 3 * count].reshape(count, 3), np.zeros((count, 3)), np.zeros(count),
    ), np.stack(members, axis=1)[between_nodes]  # fmt: skip


@compiled
def evaluate_attachments(state, ctx, x):
    """Orientations and (1) at x."""
    pins, quat = ctx.attachments, state.quat
    set_orientations(ctx.rotations, x, quat)
    for p in range(pins.row.shape[0]):
        i, j = pins.node[p, 1], pins.to[p, 1]
        for c in range(3):
            pins.phi[p, c] = x[i, c] - x[j, c]
        if pins.rotation[p] >= 0:
            at = to_world(quat, pins.body[p], pins.arm[p, 0], pins.arm[p, 1], pins.arm[p, 2])
            set_lever(pins.lever, p, ctx.rotations.middle, pins.body[p], pins.arm, p, 1.0)
            for c in range(3):
                pins.phi[p, c] -= at[c]


@inline
def attachment_error(pins, p):
    """max |φ| of the pin p [m]."""
    return max(abs(pins.phi[p, 0]), abs(pins.phi[p, 1]), abs(pins.phi[p, 2]))


@inline
def largest_attachment_error(pins, tol):
    """max |φ| of all pins, divided by the tolerance `tol` [m]."""
    worst = 0.0
    for p in range(pins.row.shape[0]):
        worst = max(worst, attachment_error(pins, p))
    return worst / tol


@inline
def add_attachment_force(ctx, p, f0, f1, f2):
    """(2) and (3): F into the right-hand side."""
    pins = ctx.attachments
    i, j, rotation = pins.node[p, 0], pins.to[p, 0], pins.rotation[p]
    f = (f0, f1, f2)
    for c in range(3):
        ctx.linear.rhs[i, c] -= f[c]
        if j >= 0:
            ctx.linear.rhs[j, c] += f[c]
        if rotation >= 0:
            ctx.linear.rhs[rotation, c] += torque_component(pins.lever, p, f0, f1, f2, c)


@inline
def add_attachment_forces(ctx):
    """F of all pins into the right-hand side."""
    for p in range(ctx.attachments.row.shape[0]):
        force = ctx.attachments.force[p]
        add_attachment_force(ctx, p, force[0], force[1], force[2])


@inline
def along(pins, p, dx, c):
    """Component c of δx_node - δx_body - B δθ."""
    j, rotation = pins.to[p, 0], pins.rotation[p]
    total = dx[pins.node[p, 0], c] - (dx[j, c] if j >= 0 else 0.0)
    if rotation >= 0:
        for d in range(3):
            total -= pins.lever[p, c, d] * dx[rotation, d]
    return total


@inline
def update_attachment_multipliers(ctx, alpha):
    """Update F by (2) with the step length `alpha`."""
    pins = ctx.attachments
    for p in range(pins.row.shape[0]):
        for c in range(3):
            force = pins.lam_est[p, c] + pins.penalty[p] * (pins.phi[p, c] + along(pins, p, ctx.linear.dx, c))
            pins.force[p, c] += alpha * (force - pins.force[p, c])


@inline
def attachments_energy(pins):
    """ψ of augmented_lagrangian.py (2), with F = F₀ + κ φ."""
    total = 0.0
    for p in range(pins.row.shape[0]):
        for c in range(3):
            force = pins.lam_est[p, c] + pins.penalty[p] * pins.phi[p, c]
            pins.force[p, c] = force
            total += 0.5 * (force**2 - pins.lam_est[p, c] ** 2) / pins.penalty[p]
    return total


@compiled
def assemble_attachments(ctx, buckling):
    """Add pins to the matrix, with the indefinite G where `buckling`. Returns how many couple nodes to balls or
    bodies."""
    pins, rotations, block, coupling = ctx.attachments, ctx.rotations, ctx.linear.block, ctx.linear.coupling
    count = ctx.linear.nodes.order.shape[0]
    for k in range(rotations.slot.shape[0]):
        for c in range(6):
            rotations.geometric[k, c] = 0.0
    others = 0
    for p in range(pins.row.shape[0]):
        penalty = pins.penalty[p]
        i, j, rotation = pins.node[p, 0], pins.to[p, 0], pins.rotation[p]
        f0 = pins.lam_est[p, 0] + penalty * pins.phi[p, 0]
        f1 = pins.lam_est[p, 1] + penalty * pins.phi[p, 1]
        f2 = pins.lam_est[p, 2] + penalty * pins.phi[p, 2]
        add_attachment_force(ctx, p, f0, f1, f2)
        if pins.node_pair[p] >= 0:
            add_pair_block(ctx.linear.nodes, pins.node_pair[p], penalty, 0.0, 0.0, penalty, 0.0, penalty)
            continue
        add_diagonal(ctx.linear.nodes, i, penalty, 0.0, 0.0, penalty, 0.0, penalty)
        if j < 0:
            continue
        others += 1
        at = 3 * (j - count)
        for c in range(3):
            block[at + c, at + c] += penalty
            coupling[at + c, i, c] -= penalty
        if rotation < 0:
            continue
        to = 3 * (rotation - count)
        for c in range(3):
            for d in range(3):
                lever = penalty * pins.lever[p, c, d]
                coupling[to + d, i, c] -= lever
                block[at + c, to + d] += lever
                block[to + d, at + c] += lever
        add_rotated_block(block, to, pins.lever, p, penalty, 0.0, 0.0, penalty, 0.0, penalty)
        g = to_body(rotations.middle, pins.body[p], pins.force[p, 0], pins.force[p, 1], pins.force[p, 2])
        add_geometric_stiffness(rotations.geometric, rotations.index_of[rotation], g, pins.arm[p])
    for k in range(rotations.slot.shape[0]):
        to = 3 * (rotations.unknown[k] - count)
        pulls = rotations.geometric[k]
        more = 0.0 if buckling > 0.0 else max(0.0, -least_eigenvalue(pulls))
        for c in range(3):
            block[to + c, to + c] += more
            for d in range(3):
                block[to + c, to + d] += pulls[entry(c, d)]
    return others


