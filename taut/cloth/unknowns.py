"""Unknowns and edges of the deformable problem as flat arrays.

Unknowns are numbered: first the nodes of deformables that can move, then balls. Nodes stand in one sparse system
(linalg/nodes.py), where edges couple them. Balls, few and each touching many nodes, stand in a small dense block
beside it. A rigid body counts as two of them, its centre and its rotation (rigid_coupling.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import structure
from ..forces.spring_law import Springs
from ..linalg.nodes import Nodes, plan_nodes
from ..model.model import Model
from ..scene.specs import HARD_EDGE
from .attachments import Attachments, attachments_of, pins_of
from .contact_rows import ContactRows, external_members, external_rows
from .implicit_springs import place_springs, with_neighbours


@structure
class Edges(NamedTuple):
    """Hard edges first, in the order of the model's rows; then those with a limit."""

    i: np.ndarray  # (e,) slots
    j: np.ndarray
    node_pair: np.ndarray  # (e,) their block in the matrix of nodes, -1 where one end is fixed or driven
    length: np.ndarray  # (e,) at rest [m]
    max_length: np.ndarray  # (e,) the length that they have (hard) or may have at most [m]
    target: np.ndarray  # (e,) the same in this step: what is longer already is brought back little by little
    tol: np.ndarray  # (e,) tolerance on φ in this step [m]
    one_sided: np.ndarray  # (e,) bool: a limit, active or not
    tension: np.ndarray  # (e,) T, the multiplier [N]
    lam_est: np.ndarray  # (e,) T₀, its estimate in the augmented Lagrangian [N]
    penalty: np.ndarray  # (e,) κ [N/m]
    active: np.ndarray  # (e,) bool: in the active set
    stays: np.ndarray  # (e,) bool: it stays there in this step, whatever the sign of T
    u: np.ndarray  # (e, 3) unit vector from j to i
    l: np.ndarray  # (e,) [m]
    phi: np.ndarray  # (e,) l - target [m]
    slack: np.ndarray  # (e,) s of interior_point.py [m],
    d_lam: np.ndarray  # (e,) δT,
    d_slack: np.ndarray  # (e,) and δs


class Unknowns(NamedTuple):
    """The unknowns of a step, and the pairs that couple them."""

    unknown: np.ndarray  # (slots,) number of the slot's unknown, -1: fixed or driven
    slot: np.ndarray  # (unknowns,)
    nodes: Nodes
    edges: Edges
    hard_row: np.ndarray  # (hard edges,) their rows in the model
    attachments: Attachments
    springs: Springs  # those that are part of the linear system
    spring_node_pair: np.ndarray  # (s, 2) as those of edges; two where a spring reaches over a node
    explicit: Springs  # those that are stepped before it
    external: ContactRows
    contact_radius: np.ndarray  # (pairs,) at which distance nodes and balls touch [m]


def unknowns_of(model: Model, memory: np.ndarray, reaching: bool, lean: bool) -> Unknowns:
    """The unknowns of a model.

    `memory` holds what goes from step to step: see memory_of; `reaching`: see place_springs; `lean`: nodes are coupled
    along edges alone, for half the work of the factor.
    """
    free = model.bodies.inverse_mass[: model.bodies.slots, 0] > 0.0
    nodes = np.concatenate([deformable.slots for deformable in model.deformables])
    nodes = nodes[free[nodes]]
    balls = np.setdiff1d(np.flatnonzero(free), nodes)
    slot = np.concatenate([nodes, balls]).astype(np.int64)
    unknown = np.full(len(model.x), -1)
    unknown[slot] = np.arange(len(slot))
    edges, hard_row, node_pairs = _edges(model, unknown, memory)
    # Where nothing holds nodes but their springs, these can be followed alone. What is pinned to them would hang on
    # springs that have given way already.
    pinned = len(pins_of(model)) > 0
    if pinned or (len(node_pairs) and not lean):
        node_pairs = with_neighbours(model, unknown, node_pairs)
    external, radius = external_rows(model, unknown, memory[len(edges.i) :])
    attachments, sewn = attachments_of(model, unknown, len(nodes), memory[len(edges.i) + len(external.phi) :])
    attachments.node_pair[attachments.node_pair >= 0] += len(node_pairs)
    pairs = np.stack([edges.i, edges.j], axis=1)
    springs, spring_node_pair, explicit = place_springs(model, unknown, node_pairs, pairs, reaching)
    across = (external.unknown[:, :2] >= 0).all(axis=1) & (external.unknown[:, :2] < len(nodes)).all(axis=1)
    external.node_pair[across] = len(node_pairs) + len(sewn) + np.arange(across.sum())
    all_pairs = np.concatenate([node_pairs, sewn, external.unknown[across, :2]])
    matrix = plan_nodes(len(nodes), all_pairs, model.x[nodes])
    # in the order of the matrix' entries, so that neighbours in the list are neighbours in memory
    order = np.argsort(np.append(matrix.node_pair, 0)[spring_node_pair[:, 0]], kind="stable")
    springs = Springs(*(np.ascontiguousarray(column[order]) for column in springs))
    spring_node_pair = np.ascontiguousarray(spring_node_pair[order])
    return Unknowns(
        unknown, slot, matrix, edges, hard_row, attachments, springs, spring_node_pair, explicit, external, radius
    )


def memory_of(model: Model) -> int:
    """Length of state.memory: T of edges, λ of rows, F of pins, lags, size of substeps, forces of the last one, and
    impulses of rows."""
    rows = len(external_members(model)[0])
    return len(edge_pairs(model)[0]) + 2 * rows + 3 * len(pins_of(model)) + 6 * len(model.x) + 3


def edge_pairs(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slots (e, 2) of all edges, lengths at rest and the longest allowed."""
    rows = model.rows
    first = rows.ptr[model.rows_of_role(HARD_EDGE)].astype(np.int64)
    hard = np.stack([rows.slot[first], rows.slot[first + 1]], axis=1).astype(np.int64)
    named = {}
    for deformable in model.deformables:
        for (i, j), length in zip(deformable.hard_edges.tolist(), deformable.hard_lengths):
            named[i, j] = named[j, i] = length
    lengths = np.array([named[i, j] for i, j in hard.tolist()])
    limited = [deformable for deformable in model.deformables if deformable.is_limited]
    free = model.bodies.inverse_mass[:, 0] > 0.0
    movable = [free[deformable.limit_edges].any(axis=1) for deformable in limited]
    soft = [deformable.limit_edges[some].astype(np.int64) for deformable, some in zip(limited, movable)]
    rest = [deformable.limit_lengths[some] for deformable, some in zip(limited, movable)]
    limits = [(1.0 + float(deformable.limit or 0.0)) * length for deformable, length in zip(limited, rest)]
    return (
        np.concatenate([hard, *soft]),
        np.concatenate([lengths, *rest]),
        np.concatenate([lengths, *limits]),
    )


def _edges(model: Model, unknown: np.ndarray, memory: np.ndarray) -> tuple[Edges, np.ndarray, np.ndarray]:
    """Edges, the rows of hard ones in the model, and the node_pairs (k, 2) of nodes that edges join."""
    pairs, length, max_length = edge_pairs(model)
    hard_row = model.rows_of_role(HARD_EDGE)
    e = len(pairs)
    one_sided = np.arange(e) >= len(hard_row)
    ends = unknown[pairs]
    both = (ends >= 0).all(axis=1)
    node_pair = np.full(e, -1)
    node_pair[both] = np.arange(both.sum())
    i, j = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    return Edges(
        i, j, node_pair, length, max_length, max_length.copy(), np.zeros(e), one_sided, memory[:e], np.zeros(e),
        np.zeros(e), ~one_sided, ~one_sided, np.zeros((e, 3)), *(np.zeros(e) for _ in range(5)),
    ), hard_row, ends[both]  # fmt: skip
