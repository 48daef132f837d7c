"""Nodes pinned to what moves freely: a ball, a rigid body, or a node of another sheet.

    φ = x_node - x_body - R r                                                                    (1)
    force on the node -F,   on the body F at R r,   F = F₀ + κ (φ + δx_node - δx_body - B δθ)    (2)

A pin is three equalities, held like hard edges. B and θ are those of rigid_coupling.py; balls and nodes do not turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure
from ..linalg.nodes import add_couple, add_diagonal
from ..model.model import ConstraintInfo, Model
from ..model.rotation import to_body, to_world
from ..scene.specs import PIN
from .context import NOTHING, NUMBER, TABLE, WHOLE, far, open_box
from .rigid_coupling import NONE, add_turned, add_turning_pull, entry, least_of, pose, set_lever, turned_by


@structure
class Joins(NamedTuple):
    row: np.ndarray  # (p,) the first of its three rows in the model
    node: np.ndarray  # (p, 2) unknown and slot of the node,
    to: np.ndarray  # (p, 2) and of what it is pinned to: its centre, or a node, -1 where that is held since
    spin: np.ndarray  # (p,) unknown of that body's rotation, -1: none,
    body: np.ndarray  # (p,) its orientation,
    arm: np.ndarray  # (p, 3) and r, in its axes [m]
    couple: np.ndarray  # (p,) in the system of nodes, -1: not between two nodes
    phi: np.ndarray  # (p, 3) [m]
    lever: np.ndarray  # (p, 3, 3) B [m]
    force: np.ndarray  # (p, 3) F [N]
    shift: np.ndarray  # (p, 3) F₀
    kappa: np.ndarray  # (p,) κ [N/m]


def pins_of(model: Model) -> list[ConstraintInfo]:
    """Pins to what moves freely."""
    return [info for info in model.constraint_info if info.role == PIN]


def joins_of(model: Model, unknown: np.ndarray, nodes: int, memory: np.ndarray) -> tuple[Joins, np.ndarray]:
    """All pins, and the couples (k, 2) of those between two nodes; their `couple` counts from the first of these."""
    pins, places = pins_of(model), model.places
    ends = np.array([info.points for info in pins], np.int64).reshape(-1, 2)
    count = len(pins)
    at = ends[:, 1] - (places.point[0] if len(places.point) else len(model.x))
    on_place = at >= 0
    held, arm = ends[:, 1].copy(), np.zeros((count, 3))
    held[on_place], arm[on_place] = places.slot[at[on_place]], places.arm[at[on_place]]
    spin, body = np.full(count, NONE), np.zeros(count, np.int64)
    spin[on_place], body[on_place] = unknown[held[on_place] + 1], places.body[at[on_place]]
    members = unknown[ends[:, 0]], unknown[held]
    sewn = (members[1] >= 0) & (members[1] < nodes)
    couple = np.full(count, NONE)
    couple[sewn] = np.arange(sewn.sum())
    return Joins(
        np.array([info.rows[0] for info in pins], np.int64), np.stack([members[0], ends[:, 0]], axis=1),
        np.stack([members[1], held], axis=1), spin, body, arm, couple, np.zeros((count, 3)), np.zeros((count, 3, 3)),
        memory[: 3 * count].reshape(count, 3), np.zeros((count, 3)), np.zeros(count),
    ), np.stack(members, axis=1)[sewn]  # fmt: skip


@far(NOTHING, TABLE)
@compiled
def measure_joins(box, x):
    """Orientations and (1) at x."""
    system, state, par = open_box(box)
    joins, quat = par.net.joins, state.quat
    pose(par.net.spins, x, quat)
    for p in range(joins.row.shape[0]):
        i, j = joins.node[p, 1], joins.to[p, 1]
        for c in range(3):
            joins.phi[p, c] = x[i, c] - x[j, c]
        if joins.spin[p] >= 0:
            at = to_world(quat, joins.body[p], joins.arm[p, 0], joins.arm[p, 1], joins.arm[p, 2])
            set_lever(joins.lever, p, par.net.spins.middle, joins.body[p], joins.arm, p, 1.0)
            for c in range(3):
                joins.phi[p, c] -= at[c]


@inline
def join_off(joins, p):
    return max(abs(joins.phi[p, 0]), abs(joins.phi[p, 1]), abs(joins.phi[p, 2]))


@inline
def worst_join(joins, room):
    """|φ|, as a multiple of `room` [m]."""
    worst = 0.0
    for p in range(joins.row.shape[0]):
        worst = max(worst, join_off(joins, p))
    return worst / room


@inline
def add_pull(net, p, f0, f1, f2):
    """(2) and (3): F into the right-hand side."""
    joins = net.joins
    i, j, spin = joins.node[p, 0], joins.to[p, 0], joins.spin[p]
    f = (f0, f1, f2)
    for c in range(3):
        net.rhs[i, c] -= f[c]
        if j >= 0:
            net.rhs[j, c] += f[c]
        if spin >= 0:
            net.rhs[spin, c] += turned_by(joins.lever, p, f0, f1, f2, c)


@inline
def add_pulls(net):
    for p in range(net.joins.row.shape[0]):
        add_pull(net, p, net.joins.force[p, 0], net.joins.force[p, 1], net.joins.force[p, 2])


@inline
def along(joins, p, dx, c):
    """δx_node - δx_body - B δθ, of which the component c"""
    j, spin = joins.to[p, 0], joins.spin[p]
    total = dx[joins.node[p, 0], c] - (dx[j, c] if j >= 0 else 0.0)
    if spin >= 0:
        for d in range(3):
            total -= joins.lever[p, c, d] * dx[spin, d]
    return total


@inline
def take_joins(net, share):
    """(2)"""
    joins = net.joins
    for p in range(joins.row.shape[0]):
        for c in range(3):
            force = joins.shift[p, c] + joins.kappa[p] * (joins.phi[p, c] + along(joins, p, net.dx, c))
            joins.force[p, c] += share * (force - joins.force[p, c])


@inline
def joins_energy(joins):
    """ψ of augmented_lagrangian.py (2), with F = F₀ + κ φ."""
    total = 0.0
    for p in range(joins.row.shape[0]):
        for c in range(3):
            force = joins.shift[p, c] + joins.kappa[p] * joins.phi[p, c]
            joins.force[p, c] = force
            total += 0.5 * (force**2 - joins.shift[p, c] ** 2) / joins.kappa[p]
    return total


@far(WHOLE, NUMBER)
@compiled
def assemble_joins(box, buckling):
    """Pins into the nodes, the block and the strip, with G itself where `buckling`. Returns those between nodes and
    others."""
    system, state, par = open_box(box)
    net = par.net
    joins, spins, block, strip = net.joins, net.spins, net.block, net.strip
    count = net.nodes.order.shape[0]
    for k in range(spins.slot.shape[0]):
        for c in range(6):
            spins.pulls[k, c] = 0.0
    others = 0
    for p in range(joins.row.shape[0]):
        kappa = joins.kappa[p]
        i, j, spin = joins.node[p, 0], joins.to[p, 0], joins.spin[p]
        f0 = joins.shift[p, 0] + kappa * joins.phi[p, 0]
        f1 = joins.shift[p, 1] + kappa * joins.phi[p, 1]
        f2 = joins.shift[p, 2] + kappa * joins.phi[p, 2]
        add_pull(net, p, f0, f1, f2)
        if joins.couple[p] >= 0:
            add_couple(net.nodes, joins.couple[p], kappa, 0.0, 0.0, kappa, 0.0, kappa)
            continue
        add_diagonal(net.nodes, i, kappa, 0.0, 0.0, kappa, 0.0, kappa)
        if j < 0:
            continue
        others += 1
        at = 3 * (j - count)
        for c in range(3):
            block[at + c, at + c] += kappa
            strip[at + c, i, c] -= kappa
        if spin < 0:
            continue
        to = 3 * (spin - count)
        for c in range(3):
            for d in range(3):
                lever = kappa * joins.lever[p, c, d]
                strip[to + d, i, c] -= lever
                block[at + c, to + d] += lever
                block[to + d, at + c] += lever
        add_turned(block, to, joins.lever, p, kappa, 0.0, 0.0, kappa, 0.0, kappa)
        g = to_body(spins.middle, joins.body[p], joins.force[p, 0], joins.force[p, 1], joins.force[p, 2])
        add_turning_pull(spins.pulls, spins.of[spin], g, joins.arm[p])
    for k in range(spins.slot.shape[0]):
        to = 3 * (spins.unknown[k] - count)
        pulls = spins.pulls[k]
        more = 0.0 if buckling > 0.0 else max(0.0, -least_of(pulls))
        for c in range(3):
            block[to + c, to + c] += more
            for d in range(3):
                block[to + c, to + d] += pulls[entry(c, d)]
    return others


