"""The Newton matrix of a step that is implicit in the forces, with its multipliers.

    [m M - h T  -Jᵀ] [  dv ]   [h r]
    [J           E ] [h dλ] = [ -s],     T = ∂f/∂v + c ∂f/∂q                              (1)

dv are changes of the new velocities, which move the new configuration by c dv; m, h and c are the method's. As h → 0
the matrix goes to that of M and J, without a small pivot. E is zero, and small where J has lost rank: then each
solution leaves a share of s, which the next one takes, and adds nothing to λ along the combinations that J does not
feel. T is found by differences along dv: one evaluation of the forces finds the columns of all bodies that have no
common neighbour. Which bodies feel each other is told by the forces (forces/base.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure
from ..forces import KINDS
from ..linalg import DEPENDENT
from ..linalg.lu import SparseLU, factor_lu, plan_lu, saddle_order, solve_lu
from ..model.arrays import Array
from ..model.evaluate import copy, evaluate_forces
from ..model.model import Model
from ..model.rotation import turn
from ..model.scales import scene_size

MOVE = 1e-7  # of a difference, of the size of the scene, or [rad]
RATE = 1e-4  # and at most so much of the velocity [m/s or rad/s]
LIGHT = 1e-6  # of the largest inertia
DEPENDENT_SHARE = 1e-9  # E, of the diagonal of J W Jᵀ


@structure
class Tangent(NamedTuple):
    """(1): where its entries come from."""

    lu: SparseLU
    slot: Array  # (n,) of each unknown velocity,
    axis: Array  # (n,) and which of its three numbers it is
    diagonal: Array  # (n,) place of its own entry in lu.val
    block: Array  # (k,) entries of J: block,
    block_axis: Array  # (k,) number in the block,
    block_row: Array  # (k,) row,
    block_at: Array  # (k,) place of J
    block_over: Array  # (k,) and of -Jᵀ in lu.val
    row_at: Array  # (rows,) place of E in lu.val
    group: Array  # (groups + 1,) columns of T that are found together,
    column: Array  # (columns,) the unknown of each,
    quat: Array  # (columns,) the orientation that it turns, or -1
    first: Array  # (columns + 1,) the entries of each column of T:
    entry: Array  # (.,) unknown of its row,
    entry_at: Array  # (.,) place in lu.val
    size: float  # of the scene [m]
    slope: Array  # (.,) the entries of T
    right: Array  # (n + rows,)
    share: Array  # (1,) E
    light: int  # 1: a coordinate has next to no inertia, as the parameter of a curve may


def plan_tangent(model: Model) -> Tangent:
    bodies, rows = model.bodies, model.rows
    free = bodies.inverse_mass[: bodies.slots] > 0.0
    slot, axis = (found.astype(np.int64) for found in np.nonzero(free))
    number = np.full((bodies.slots, 3), -1, np.int64)
    number[slot, axis] = np.arange(len(slot))
    node_of, nodes = _nodes(model, number)
    near, felt = _neighbours(model, node_of, len(nodes))
    row_of = np.concatenate([np.repeat(np.arange(model.row_count), np.diff(rows.ptr)), rows.spin_row]).astype(np.int64)
    block, block_axis = (found.astype(np.int64) for found in np.nonzero(free[rows.slot]))
    block_row, block_column = row_of[block], number[rows.slot[block].astype(np.int64), block_axis]
    members = _members(model.row_count, row_of, node_of[rows.slot.astype(np.int64)])
    group, columns, entries = _columns(model, number, nodes, near, felt, slot, axis)
    spins = {int(spin): k for k, spin in enumerate(bodies.spin_slot)}
    n, own = len(slot), np.arange(len(slot) + model.row_count)
    first = np.concatenate([[0], np.cumsum([len(e) for e in entries])]).astype(np.int64)
    entry = np.concatenate([*entries, np.zeros(0, np.int64)]).astype(np.int64)
    column = np.array(columns, np.int64)
    linked = [np.array([k, *sorted(others)]) for k, others in enumerate(near) if others - {k}]
    perm = saddle_order(nodes, [*members, *linked])
    lu, at = plan_lu(
        np.concatenate([own, n + block_row, block_column, entry]),
        np.concatenate([own, block_column, n + block_row, np.repeat(column, np.diff(first))]),
        perm[perm < len(own)],
    )
    k = len(block)
    parts = np.split(at, np.cumsum([n, model.row_count, k, k]))
    return Tangent(
        lu, slot, axis, parts[0], block, block_axis, block_row, parts[2], parts[3], parts[1], group, column,
        np.array([spins.get(int(slot[u]), -1) for u in columns], np.int64), first, entry, parts[4],
        scene_size(model, model.x[: bodies.slots]), np.zeros(len(entry)), np.zeros(len(own)),
        np.array([DEPENDENT_SHARE]), int(_has_light(model)),
    )  # fmt: skip


def _has_light(model: Model) -> bool:
    inverse = model.bodies.inverse_mass[: model.bodies.slots]
    heaviest = float(inverse[inverse > 0.0].min(initial=np.inf))
    return any(info.kind == "coordinate" and LIGHT * float(inverse[info.slot].max()) > heaviest
               for info in model.body_info)  # fmt: skip


def _nodes(model: Model, number: Array) -> tuple[Array, list[Array]]:
    """The node of each slot, or -1, and the unknowns of each: a node is what moves as one body."""
    node_of = np.full(model.bodies.slots, -1, np.int64)
    nodes: list[Array] = []
    for info in model.body_info:
        slots = [info.slot, info.slot + 1] if info.kind == "rigid" else [info.slot]
        unknowns = number[slots][number[slots] >= 0]
        if len(unknowns):
            node_of[slots] = len(nodes)
            nodes.append(unknowns)
    return node_of, nodes


def _members(count: int, row_of: Array, node: Array) -> list[Array]:
    """The nodes of each row of J."""
    members: list[set[int]] = [set() for _ in range(count)]
    for r, k in zip(row_of.tolist(), node.tolist()):
        if k >= 0:
            members[r].add(k)
    return [np.array(sorted(found), np.int64) for found in members]


def _neighbours(model: Model, node_of: Array, count: int) -> tuple[list[set[int]], Array]:
    """For each node those that it feels by some force, itself included; and whether it feels any force at all."""
    near: list[set[int]] = [{k} for k in range(count)]
    felt = np.zeros(count, bool)
    slot_of = np.concatenate([np.arange(model.bodies.slots), model.places.slot.astype(np.int64)])
    for info in model.force_info:
        points = node_of[slot_of[list(info.points)]]
        for together in KINDS[info.kind].coupled(len(points), model.forces.ints[info.at[2] :]):
            found = {k for k in points[together].tolist() if k >= 0}
            felt[list(found)] = True
            for k in found:
                near[k] |= found
    return near, felt


def _columns(
    model: Model, number: Array, nodes: list[Array], near: list[set[int]], felt: Array, slot: Array, axis: Array
) -> tuple[Array, list[int], list[Array]]:
    """Groups of columns of T, the columns, and the unknowns that each of them changes the force on.

    A body that no force acts on still has a gyroscopic torque.
    """
    spins = set(model.bodies.spin_slot.tolist())
    wanted = [own if felt[k] else np.array([u for u in own if int(slot[u]) in spins], np.int64)
              for k, own in enumerate(nodes)]  # fmt: skip
    colour = np.full(len(nodes), -1, np.int64)
    for k in range(len(nodes)):
        taken = {int(colour[far]) for beside in near[k] for far in near[beside]}
        colour[k] = next(c for c in range(len(taken) + 1) if c not in taken)
    group, columns, entries = [0], [], []
    for c in range(int(colour.max(initial=-1)) + 1):
        same = np.flatnonzero(colour == c)
        for i in range(max(len(wanted[k]) for k in same)):
            for k in same.tolist():
                if i < len(wanted[k]):
                    columns.append(int(wanted[k][i]))
                    entries.append(np.concatenate([nodes[other] for other in sorted(near[k])]))
            group.append(len(columns))
    return np.array(group, np.int64), columns, entries


@compiled
def factor_tangent(system, tangent, t, x, quat, v, inertia, h, reach):
    """Form and factor (1) at (q, v, t), where J stands in work and J W Jᵀ has been factored: m is `inertia`, c `reach`.

    It works in x2, quat2, v2 and stage_a[0].
    """
    lu, slope = tangent.lu, tangent.slope
    fill_inertia_and_rows(system, tangent, lu, inertia)
    differentiate(system, tangent, t, x, quat, v, 1.0, reach, slope)
    for e in range(slope.shape[0]):
        lu.val[tangent.entry_at[e]] -= h * slope[e]
    return factor_lu(lu)


@compiled
def fill_inertia_and_rows(system, tangent, lu, inertia):
    """(1) without T into lu.val, which has the pattern of tangent.lu."""
    work, mass, w, val = system.work, system.bodies.mass, system.bodies.inverse_mass, lu.val
    for q in range(val.shape[0]):
        val[q] = 0.0
    for u in range(tangent.slot.shape[0]):
        val[tangent.diagonal[u]] = inertia * mass[tangent.slot[u], tangent.axis[u]]
    dependent = system.linear.state[DEPENDENT] > 0 or tangent.share[0] != DEPENDENT_SHARE
    for k in range(tangent.block.shape[0]):
        block, c = tangent.block[k], tangent.block_axis[k]
        val[tangent.block_at[k]] += work.J[block, c]
        val[tangent.block_over[k]] -= work.J[block, c]
        if dependent:
            own = w[system.rows.slot[block], c] / inertia
            val[tangent.row_at[tangent.block_row[k]]] += tangent.share[0] * own * work.J[block, c] * work.J[block, c]
    for r in range(tangent.row_at.shape[0]):
        left_out = system.selective == 1 and system.rows.enforced[r] == 0
        if left_out or (dependent and val[tangent.row_at[r]] == 0.0):
            val[tangent.row_at[r]] = 1.0
    held = system.switches.equalities
    for k in range(held.row.shape[0]):
        if held.off[k] == 1:
            val[tangent.row_at[held.row[k]]] = 1.0  # switched_rows.py (4)


@compiled
def differentiate(system, tangent, t, x, quat, v, along, reach, slope):
    """The entries of along ∂f/∂v + reach ∂f/∂q, by differences."""
    work = system.work
    before = work.stage_a[0]
    copy(x, work.x2)
    copy(quat, work.quat2)
    copy(v, work.v2)
    evaluate_forces(system, t, work.x2, work.quat2, work.v2)
    copy(work.f, before)
    for g in range(tangent.group.shape[0] - 1):
        for k in range(tangent.group[g], tangent.group[g + 1]):
            u = tangent.column[k]
            s, c = tangent.slot[u], tangent.axis[u]
            step = length_of_difference(tangent, k, along, reach)
            work.v2[s, c] += along * step
            if tangent.quat[k] < 0:
                work.x2[s, c] += reach * step
            else:
                turn(quat, tangent.quat[k], reach, step * (c == 0), step * (c == 1), step * (c == 2), work.quat2)
        evaluate_forces(system, t, work.x2, work.quat2, work.v2)
        for k in range(tangent.group[g], tangent.group[g + 1]):
            u = tangent.column[k]
            s, c, body = tangent.slot[u], tangent.axis[u], tangent.quat[k]
            step = length_of_difference(tangent, k, along, reach)
            for e in range(tangent.first[k], tangent.first[k + 1]):
                row = tangent.entry[e]
                i, d = tangent.slot[row], tangent.axis[row]
                slope[e] = (work.f[i, d] - before[i, d]) / step
            work.v2[s, c], work.x2[s, c] = v[s, c], x[s, c]
            if body >= 0:
                for q in range(4):
                    work.quat2[body, q] = quat[body, q]


@inline
def length_of_difference(tangent, k, along, reach):
    """How far column k is moved: as far as places and velocities allow."""
    move = MOVE if tangent.quat[k] >= 0 else MOVE * tangent.size
    step = RATE / along if along > 0.0 else 1e300
    return min(move / reach, step) if reach > 0.0 else step


@compiled
def solve_tangent(system, tangent, force, slip, h, dv, dlam):
    """(1): dv and dλ of the forces r (points, 3) that are left over, and of the slips s (rows,)."""
    n, right = tangent.slot.shape[0], tangent.right
    for u in range(n):
        right[u] = h * force[tangent.slot[u], tangent.axis[u]]
    for r in range(slip.shape[0]):
        right[n + r] = -slip[r]
    solve_lu(tangent.lu, right, right)
    for i in range(dv.shape[0]):
        for c in range(3):
            dv[i, c] = 0.0
    for u in range(n):
        dv[tangent.slot[u], tangent.axis[u]] = right[u]
    for r in range(slip.shape[0]):
        dlam[r] = right[n + r] / h
