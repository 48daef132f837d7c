"""Code shared by the baselines: a context with all springs of a scene, and the forces other than springs.

A step gets a BaselineContext as its context. Hard edges are springs of infinite stiffness and limits a second phase of
infinite stiffness, where the method knows these; `external` gives the forces without springs. Contacts with obstacles
and balls are those of position_contact.py, the same in all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...compiled import compiled, structure
from ...contact.algorithms import drain
from ...forces import KINDS
from ...forces.spring_law import Springs, joined
from ...methods.base import Method
from ...model.arrays import State
from ...model.evaluate import evaluate_forces, set_time
from ...model.model import Model
from ..contact_events import record_external
from ..dissipation import accumulate_force_work
from ..records import accumulate_driver_work, measure_baseline, observe_baseline
from .position_contact import PositionContacts, contact_memory, position_contacts

SPRINGS = list(KINDS).index("springs")


@structure
class BaselineContext(NamedTuple):
    options: np.ndarray  # of methods/base.py
    springs: Springs
    work: Any  # workspace of the method
    w: np.ndarray  # (points,) inverse masses
    batch: np.ndarray  # batches of springs in system.forces,
    members: np.ndarray  # and how many each has
    contacts: PositionContacts


def baseline(method: Method, step: Callable, prepare: Callable) -> Method:
    """A declaration of methods/cloth_baselines.py with its algorithm."""
    return replace(
        method, form="deformable", step=step, memory=lambda model: method.memory(model) + contact_memory(model),
        hooks=replace(method.hooks, prepare=prepare, observe=observe_baseline, measure=measure_baseline,
                      drain=lambda ctx: drain(ctx.contacts)),
    )  # fmt: skip


def springs_of(model: Model, stiffest: float, limits: bool) -> Springs:
    """All springs; hard edges with the stiffness `stiffest`, and limits as a second phase of it, if asked."""
    families: list[Springs] = []
    for deformable in model.deformables:
        families += deformable.springs.values()
        if len(deformable.hard_edges):
            families.append(_rods(deformable.hard_edges, deformable.hard_lengths, stiffest, np.inf, 0.0))
        if limits and deformable.limit is not None:
            families.append(_rods(deformable.limit_edges, deformable.limit_lengths, 1e-30, deformable.limit, stiffest))
    return joined(*families)


def _rods(edges: np.ndarray, lengths: np.ndarray, k: float, elongation: float, k2: float) -> Springs:
    def filled(value: float) -> np.ndarray:
        return np.full(len(lengths), value)

    i, j = edges.astype(np.uint32).T
    return Springs(i.copy(), j.copy(), lengths.copy(), filled(k), filled(0.0), filled(k2), filled(elongation))


def baseline_context(
    model: Model, system: Any, state: State, options: np.ndarray, springs: Springs, work: Any
) -> BaselineContext:
    batch = np.flatnonzero(system.forces.code == SPRINGS)
    w = np.ascontiguousarray(model.bodies.inverse_mass[:, 0])
    members, contacts = system.forces.members[batch], position_contacts(model, state)
    return BaselineContext(options, springs, work, w, batch, members, contacts)


@compiled
def external(system, state, t, batch, members):
    """work.f without the springs of deformables."""
    for k in range(batch.shape[0]):
        system.forces.members[batch[k]] = 0
    evaluate_forces(system, t, state.x, state.quat, state.v)
    for k in range(batch.shape[0]):
        system.forces.members[batch[k]] = members[k]


@compiled
def end_step(system, state, contacts, t, h):
    """End the step of length h at the new time t: evaluate constraints, add up its work, and record contact events."""
    set_time(system, t, state.x, state.quat, state.v)
    accumulate_driver_work(system, state, t, h)
    accumulate_force_work(system, state, t, h)
    record_external(contacts.rows, contacts.events, contacts.impulses, t)
