"""What the steps of step.py work on: unknown nodes and balls, edges, and rows of contact, as flat arrays.

Unknowns are numbered: first the nodes of sheets that can move, then balls. Nodes stand in one sparse system
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
from .attachments import Joins, joins_of, pins_of
from .contact_rows import Rows, members_of, no_rows, solid_rows
from .implicit_springs import place_springs, with_neighbours
from .rigid_coupling import Spins, spins_of


@structure
class Edges(NamedTuple):
    """Hard edges first, in the order of the model's rows; then those with a limit."""

    i: np.ndarray  # (e,) slots
    j: np.ndarray
    couple: np.ndarray  # (e,) their couple in the system of nodes, -1 where one end is held
    length: np.ndarray  # (e,) at rest [m]
    most: np.ndarray  # (e,) the length that they have (hard) or may have at most [m]
    target: np.ndarray  # (e,) the same in this step: what is longer already is brought back little by little
    room: np.ndarray  # (e,) by how much φ may be off in this step [m]
    one_sided: np.ndarray  # (e,) bool
    tension: np.ndarray  # (e,) T [N]
    shift: np.ndarray  # (e,) T₀ of the augmented Lagrangian [N]
    kappa: np.ndarray  # (e,) κ [N/m]
    on: np.ndarray  # (e,) bool: enters the system
    u: np.ndarray  # (e, 3) from j to i
    l: np.ndarray  # (e,) [m]
    phi: np.ndarray  # (e,) l - target
    slack: np.ndarray  # (e,) s of interior_point.py [m],
    rise: np.ndarray  # (e,) δT,
    widen: np.ndarray  # (e,) and δs


@structure
class Net(NamedTuple):
    nodes: Nodes
    unknown: np.ndarray  # (slots,) number of the slot, -1: held
    slot: np.ndarray  # (unknowns,)
    mass: np.ndarray  # (unknowns, 3) [kg]; of a rotation principal moments of inertia [kg m²]
    metres: np.ndarray  # (unknowns,) 1; of a rotation the radius of gyration [m]: what is off by how much, on the whole
    edges: Edges
    hard_row: np.ndarray  # (hard edges,) their rows in the model
    joins: Joins
    spins: Spins
    springs: Springs  # those that are part of the system
    spring_couple: np.ndarray  # (s, 2) as couple of edges; two where a spring reaches over a node (implicit_springs.py)
    solids: Rows  # nodes and balls against obstacles (the model's inequalities), then nodes against balls
    radius: np.ndarray  # (pairs,) at which distance these last touch [m]
    facets: Rows  # sheets against sheets; as many as facet_count
    facet_count: np.ndarray  # (1,)
    block: np.ndarray  # (3 balls, 3 balls) of the system, balls and rigid bodies
    strip: np.ndarray  # (3 balls, nodes, 3) between balls and nodes
    answer: np.ndarray  # (3 balls, nodes, 3) what the strip's rows do to the nodes
    rhs: np.ndarray  # (unknowns, 3)
    dx: np.ndarray
    aim: np.ndarray  # (slots, 3) x*, where all would go without constraints
    before: np.ndarray  # (slots, 3) x at the start of the step
    line: np.ndarray  # (2, unknowns, 3) room for conjugate gradients
    counts: np.ndarray  # (3,) factors, solves, corrections


def net_of(model: Model, memory: np.ndarray, reaching: bool, lean: bool) -> tuple[Net, Springs]:
    """The tables of a model, and the springs that are stepped before the system.

    `memory` holds what goes from step to step: see memory_of; `reaching`: see place_springs; `lean`: nodes are coupled
    along edges alone, for half the work of the factor.
    """
    free = model.bodies.w[: model.bodies.slots, 0] > 0.0
    nodes = np.concatenate([sheet.slots for sheet in model.sheets])
    nodes = nodes[free[nodes]]
    balls = np.setdiff1d(np.flatnonzero(free), nodes)
    slot = np.concatenate([nodes, balls]).astype(np.int64)
    unknown = np.full(len(model.x), -1)
    unknown[slot] = np.arange(len(slot))
    edges, hard_row, couples = _edges(model, unknown, memory)
    # Where nothing holds nodes but their springs, these can be followed alone. What is pinned to them would hang on
    # springs that have given way already.
    pinned = len(pins_of(model)) > 0
    if pinned or (len(couples) and not lean):
        couples = with_neighbours(model, unknown, couples)
    solids, radius = solid_rows(model, unknown, memory[len(edges.i) :])
    joins, sewn = joins_of(model, unknown, len(nodes), memory[len(edges.i) + len(solids.phi) :])
    joins.couple[joins.couple >= 0] += len(couples)
    pairs = np.stack([edges.i, edges.j], axis=1)
    springs, spring_couple, explicit = place_springs(model, unknown, couples, pairs, reaching)
    rest = model.x[nodes]
    across = (solids.unknown[:, :2] >= 0).all(axis=1) & (solids.unknown[:, :2] < len(nodes)).all(axis=1)
    solids.couple[across] = len(couples) + len(sewn) + np.arange(across.sum())
    system = plan_nodes(len(nodes), np.concatenate([couples, sewn, solids.unknown[across, :2]]), rest)
    # in the order of the system's entries, so that neighbours in the list are neighbours in memory
    order = np.argsort(np.append(system.couple, 0)[spring_couple[:, 0]], kind="stable")
    springs = Springs(*(np.ascontiguousarray(column[order]) for column in springs))
    spring_couple = np.ascontiguousarray(spring_couple[order])
    b, n, every = 3 * len(balls), len(nodes), len(slot)
    net = Net(
        system, unknown, slot, _masses(model, slot), _metres(model, slot), edges, hard_row, joins,
        spins_of(model, unknown, every), springs, spring_couple, solids, radius, no_rows(0),
        np.zeros(1, np.int64), np.zeros((b, b)), np.zeros((b, n, 3)), np.zeros((b, n, 3)), np.zeros((every, 3)),
        np.zeros((every, 3)), np.zeros_like(model.x), np.zeros_like(model.x), np.zeros((2, every, 3)),
        np.zeros(3, np.int64),
    )  # fmt: skip
    return net, explicit


def memory_of(model: Model) -> int:
    """How many numbers go from step to step: T of edges, λ of rows, F of pins, lags, pieces, forces of the last one."""
    return len(_pairs(model)[0]) + len(members_of(model)[0]) + 3 * len(pins_of(model)) + 6 * len(model.x) + 3


def _masses(model: Model, slot: np.ndarray) -> np.ndarray:
    """A scalar coordinate uses the first of three numbers; the others have its mass and no forces."""
    mass = model.bodies.mass[slot]
    return np.where(mass > 0.0, mass, mass[:, :1])


def _metres(model: Model, slot: np.ndarray) -> np.ndarray:
    metres, mass = np.ones(len(slot)), model.bodies.mass
    turns = np.isin(slot, model.bodies.spin_slot)
    metres[turns] = np.sqrt(mass[slot[turns]].max(axis=1) / mass[slot[turns] - 1, 0])
    return metres


def _pairs(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slots (e, 2) of all edges, lengths at rest and the longest allowed."""
    rows = model.rows
    first = rows.ptr[model.rows_of_role(HARD_EDGE)].astype(np.int64)
    hard = np.stack([rows.slot[first], rows.slot[first + 1]], axis=1).astype(np.int64)
    named = {}
    for sheet in model.sheets:
        for (i, j), length in zip(sheet.hard_edges.tolist(), sheet.hard_lengths):
            named[i, j] = named[j, i] = length
    lengths = np.array([named[i, j] for i, j in hard.tolist()])
    limited = [sheet for sheet in model.sheets if sheet.is_limited]
    free = model.bodies.w[:, 0] > 0.0
    kept = [free[sheet.limit_edges].any(axis=1) for sheet in limited]
    soft = [sheet.limit_edges[some].astype(np.int64) for sheet, some in zip(limited, kept)]
    rest = [sheet.limit_lengths[some] for sheet, some in zip(limited, kept)]
    most = [(1.0 + float(sheet.limit or 0.0)) * length for sheet, length in zip(limited, rest)]
    return (
        np.concatenate([hard, *soft]),
        np.concatenate([lengths, *rest]),
        np.concatenate([lengths, *most]),
    )


def _edges(model: Model, unknown: np.ndarray, memory: np.ndarray) -> tuple[Edges, np.ndarray, np.ndarray]:
    """Edges, the rows of hard ones in the model, and the couples (k, 2) of nodes that edges join."""
    pairs, length, most = _pairs(model)
    hard_row = model.rows_of_role(HARD_EDGE)
    e = len(pairs)
    one_sided = np.arange(e) >= len(hard_row)
    ends = unknown[pairs]
    both = (ends >= 0).all(axis=1)
    couple = np.full(e, -1)
    couple[both] = np.arange(both.sum())
    i, j = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    return Edges(
        i, j, couple, length, most, most.copy(), np.zeros(e), one_sided, memory[:e], np.zeros(e), np.zeros(e),
        ~one_sided, np.zeros((e, 3)), *(np.zeros(e) for _ in range(5)),
    ), hard_row, ends[both]  # fmt: skip
