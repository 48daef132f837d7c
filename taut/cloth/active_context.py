"""Data structures of the papers' own step of cloth (active_limits.py): limited springs, contacts, and the state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import structure
from ..forces.spring_law import Springs, joined
from .active_contacts import ActiveContacts, active_contacts
from .active_system import ActiveSystem, active_system
from .baselines.common import SPRINGS
from .codes import FORCE_BEFORE
from .contact_rows import external_members
from .problem import frequency
from .unknowns import edge_pairs

SUBSTEPS, ITERATIONS, GATHERED, MULTIPLIED = range(4)  # ActiveLimits.counts; entries of the system gathered, ...


@structure
class ActiveLimits(NamedTuple):
    """Springs with a limit, then contacts: e + r rows; and the state of a substep."""

    i: np.ndarray  # (e + r,) slots
    j: np.ndarray
    w: np.ndarray  # (e + r, 2) inverse masses of both; of an obstacle, which has no slot, zero
    length: np.ndarray  # (e,) at rest [m]
    max_length: np.ndarray  # (e,) [m]
    target: np.ndarray  # (e,) the same in this substep,
    tol: np.ndarray  # (e + r,) how far it may be exceeded [m],
    fine: np.ndarray  # (e + r,) and missed, where (2) converges [m]
    tension: np.ndarray  # (e + r,) λ [N]
    active: np.ndarray  # (e + r,) bool
    stays: np.ndarray  # (e + r,) bool: it stays so in this substep, whatever the sign of λ
    u: np.ndarray  # (e + r, 3) unit vectors from j to i at the start of the substep; of a contact -n
    phi: np.ndarray  # (e + r,) l - target [m]; of a contact its depth
    history: np.ndarray  # (FORCE_BEFORE + 3 slots,) as in context.StepMemory
    x_start: np.ndarray  # (slots, 3)
    v_start: np.ndarray
    tension_start: np.ndarray  # (e + r,)
    x_best: np.ndarray  # (slots, 3) of the best iteration of active_limits.py (2) so far,
    tension_best: np.ndarray  # (e + r,)
    v_free: np.ndarray  # (slots, 3) v*
    force: np.ndarray  # (slots, 3) all of (1), springs included [N]
    across: np.ndarray  # (slots,) Σ λ/l of the springs at a node [N/m]
    frequency: float  # of springs [1/s], over 1 for one substep
    exact: int  # 1: springs never resist shrinkage, 0: they are released between substeps alone
    counts: np.ndarray  # (4,) how much was done so far: SUBSTEPS, ITERATIONS, GATHERED, MULTIPLIED
    system: ActiveSystem


@structure
class ActiveContext(NamedTuple):
    options: np.ndarray  # of methods/base.py
    springs: Springs
    limits: ActiveLimits
    contacts: ActiveContacts
    w: np.ndarray  # (slots,) inverse masses
    batch: np.ndarray  # batches of springs in system.forces,
    members: np.ndarray  # and how many each has


def memory_of(model) -> int:
    """Length of state.memory: λ, then what Adams-Bashforth remembers, and impulses of contacts."""
    return len(edge_pairs(model)[0]) + 2 * len(external_members(model)[0]) + FORCE_BEFORE + 3 * len(model.x)


def prepare(model, system, state, options):
    rows = len(edge_pairs(model)[0]) + len(external_members(model)[0])
    return state, context_of(model, system, state, options, state.memory[rows : rows + FORCE_BEFORE + 3 * len(model.x)])


def context_of(model, system, state, options, history) -> ActiveContext:
    """`history`: a view of state.memory for what Adams-Bashforth remembers; λ are its first numbers."""
    pairs, length, max_length = edge_pairs(model)
    touching = external_members(model)[0]
    both = np.concatenate([pairs, touching])
    e, rows, slots = len(pairs), len(both), len(model.x)
    w = np.ascontiguousarray(model.bodies.inverse_mass[:, 0])
    springs = joined(*(family for deformable in model.deformables for family in deformable.springs.values()))
    i = np.ascontiguousarray(both[:, 0])
    j = np.where(both[:, 1] >= 0, both[:, 1], i)
    inverse_masses = np.stack([w[i], np.where(both[:, 1] >= 0, w[j], 0.0)], axis=1)
    deformable_nodes = np.concatenate([deformable.slots for deformable in model.deformables])
    balls = np.setdiff1d(np.flatnonzero(w > 0.0), deformable_nodes)
    limits = ActiveLimits(
        i=i, j=j, w=inverse_masses, length=length, max_length=max_length, target=max_length.copy(), tol=np.zeros(rows),
        fine=np.zeros(rows), tension=state.memory[:rows], active=np.zeros(rows, bool),
        stays=np.zeros(rows, bool), u=np.zeros((rows, 3)),
        phi=np.zeros(rows), history=history, x_start=np.zeros((slots, 3)), v_start=np.zeros((slots, 3)),
        tension_start=np.zeros(rows), x_best=np.zeros((slots, 3)), tension_best=np.zeros(rows),
        v_free=np.zeros((slots, 3)), force=np.zeros((slots, 3)), across=np.zeros(slots),
        frequency=frequency(w, springs), exact=int(all(one.limit_rule == "exact" for one in model.deformables)),
        counts=np.zeros(4), system=active_system(both, w, balls),
    )  # fmt: skip
    contacts = active_contacts(model, state, limits.tension[e:], limits.active[e:], limits.phi[e:])
    batch = np.flatnonzero(system.forces.code == SPRINGS)
    return ActiveContext(options, springs, limits, contacts, w, batch, system.forces.members[batch])
