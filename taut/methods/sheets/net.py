"""What the steps of hold.py work on: unknown nodes and balls, edges, and rows of contact, as flat arrays.

Unknowns are numbered: first the nodes of sheets that can move, then balls. Nodes stand in one sparse system
(linalg/nodes.py), where edges couple them. Balls, few and each touching many nodes, stand in a small dense block
beside it.

A row of contact has up to four members k with weights ω_k and one normal n:

    φ = -gap,   ∂gap/∂x_k = ω_k n,   force on member k = λ ω_k n,   λ ≥ 0                        (1)

    node and obstacle   ω = (1)               node and ball   ω = (1, -1)
    node and triangle   ω = (1, -b₀, -b₁, -b₂)       edge and edge   ω = (1-s, s, -(1-t), -t)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...cloth.springs import Springs
from ...linalg.nodes import Nodes, plan_nodes
from ...model.model import Model
from .couples import place_springs, with_neighbours

MEMBERS = 4


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
    last: np.ndarray  # (e,) T of the step before [N]
    kappa: np.ndarray  # (e,) κ [N/m]
    on: np.ndarray  # (e,) bool: enters the system
    u: np.ndarray  # (e, 3) from j to i
    l: np.ndarray  # (e,) [m]
    phi: np.ndarray  # (e,) l - target
    slack: np.ndarray  # (e,) s of interior.py [m],
    rise: np.ndarray  # (e,) δT,
    widen: np.ndarray  # (e,) and δs


class Rows(NamedTuple):
    unknown: np.ndarray  # (r, 4) number of the member, -1: none, or it is held
    slot: np.ndarray  # (r, 4) its slot, -1: none
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
    along: np.ndarray  # (r,) τ of contacts.py [N/m],
    slip: np.ndarray  # (r, 3) and d
    on: np.ndarray  # (r,) bool
    slack: np.ndarray  # (r,) s of interior.py [m],
    rise: np.ndarray  # (r,) δλ,
    widen: np.ndarray  # (r,) and δs


class Net(NamedTuple):
    nodes: Nodes
    unknown: np.ndarray  # (slots,) number of the slot, -1: held
    slot: np.ndarray  # (unknowns,)
    mass: np.ndarray  # (unknowns,) [kg]
    edges: Edges
    springs: Springs  # those that are part of the system
    spring_couple: np.ndarray  # (s, 2) as couple of edges; two where a spring reaches over a node (couples.py)
    solids: Rows  # nodes and balls against obstacles (the model's inequalities), then nodes against balls
    radius: np.ndarray  # (pairs,) at which distance these last touch [m]
    facets: Rows  # sheets against sheets; as many as facet_count
    facet_count: np.ndarray  # (1,)
    block: np.ndarray  # (3 balls, 3 balls) of the system
    strip: np.ndarray  # (3 balls, nodes, 3) between balls and nodes
    answer: np.ndarray  # (3 balls, nodes, 3) what the strip's rows do to the nodes
    rhs: np.ndarray  # (unknowns, 3)
    dx: np.ndarray
    aim: np.ndarray  # (slots, 3) x*, where all would go without constraints
    before: np.ndarray  # (slots, 3) x at the start of the step
    line: np.ndarray  # (5, unknowns, 3) room for conjugate gradients
    counts: np.ndarray  # (3,) factors, solves, corrections


def no_rows(room: int) -> Rows:
    empty = [np.zeros(room) for _ in range(12)]
    return Rows(
        np.full((room, MEMBERS), -1), np.full((room, MEMBERS), -1), np.zeros((room, MEMBERS)), np.zeros((room, 3)),
        phi=empty[0], lam=empty[1], shift=empty[2], kappa=empty[3], friction=empty[4], grip=empty[5], allowed=empty[6],
        room=empty[7], n0=np.zeros((room, 3)), rub=np.zeros((room, 3)), along=empty[11], slip=np.zeros((room, 3)),
        on=np.zeros(room, bool), slack=empty[8], rise=empty[9], widen=empty[10],
    )  # fmt: skip


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
    edges, couples = _edges(model, unknown, memory)
    couples = couples if lean else with_neighbours(model, unknown, couples)
    pairs = np.stack([edges.i, edges.j], axis=1)
    springs, spring_couple, explicit = place_springs(model, unknown, couples, pairs, reaching)
    rest = model.x[nodes]
    system = plan_nodes(len(nodes), couples, rest)
    # in the order of the system's entries, so that neighbours in the list are neighbours in memory
    order = np.argsort(np.append(system.couple, 0)[spring_couple[:, 0]], kind="stable")
    springs = Springs(*(np.ascontiguousarray(column[order]) for column in springs))
    spring_couple = np.ascontiguousarray(spring_couple[order])
    solids, radius = solid_rows(model, unknown, memory[2 * len(edges.i) :])
    b, n, every = 3 * len(balls), len(nodes), len(slot)
    net = Net(
        system, unknown, slot, model.bodies.mass[slot, 0].copy(), edges, springs, spring_couple, solids, radius,
        no_rows(0),
        np.zeros(1, np.int64), np.zeros((b, b)), np.zeros((b, n, 3)), np.zeros((b, n, 3)), np.zeros((every, 3)),
        np.zeros((every, 3)), np.zeros_like(model.x), np.zeros_like(model.x), np.zeros((5, every, 3)),
        np.zeros(3, np.int64),
    )  # fmt: skip
    return net, explicit


def memory_of(model: Model) -> int:
    """How many numbers go from step to step: T and last T of edges, λ of rows, lags, pieces, forces of the last one."""
    return 2 * len(_pairs(model)[0]) + len(_members(model)[0]) + 6 * len(model.x) + 3


def _pairs(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slots (e, 2) of all edges, lengths at rest and the longest allowed."""
    rows = model.rows
    pairs = [rows.slot[rows.ptr[:-1]].astype(np.int64), rows.slot[rows.ptr[:-1].astype(np.int64) + 1].astype(np.int64)]
    hard = np.stack(pairs, axis=1)
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


def _edges(model: Model, unknown: np.ndarray, memory: np.ndarray) -> tuple[Edges, np.ndarray]:
    pairs, length, most = _pairs(model)
    e = len(pairs)
    one_sided = np.arange(e) >= model.row_count
    ends = unknown[pairs]
    both = (ends >= 0).all(axis=1)
    couple = np.full(e, -1)
    couple[both] = np.arange(both.sum())
    i, j = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    tension, last = memory[:e], memory[e : 2 * e]
    return Edges(
        i, j, couple, length, most, most.copy(), np.zeros(e), one_sided, tension, np.zeros(e), last, np.zeros(e),
        ~one_sided, np.zeros((e, 3)), *(np.zeros(e) for _ in range(5)),
    ), ends[both]  # fmt: skip


def _members(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slots (r, 2) of the rows of solids, -1: none; their friction; and the radii of the balls in the last of them."""
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
    slots, friction, radius = _members(model)
    count = len(slots)
    rows = no_rows(count)
    rows.slot[:, :2] = slots
    rows.unknown[:, :2] = np.where(slots >= 0, unknown[slots], -1)
    rows.weight[:, 0] = 1.0
    rows.weight[:, 1] = np.where(slots[:, 1] >= 0, -1.0, 0.0)
    return rows._replace(friction=friction, lam=memory[:count]), radius
