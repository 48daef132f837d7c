"""What the start of a scene with cloth breaks, in words; and its repair.

Edges that are off their length or beyond their limit, nodes inside solids or balls, and deformables that cross. Those
that are nearer than their thickness but do not cross are no fault: the steps move them apart.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..cloth.initial_contacts import evaluate_at_start, external_contacts
from ..errors import TautError, warn
from ..model import Model
from ..model.arrays import State, System
from ..model.deformables import PackedDeformable
from .equalities import REPAIR
from .repair import Contacts, EvaluateContacts, edges_of, projected
from .untangle import Tangle

Array = np.ndarray
OFF = 1e-6  # of an edge's length
ROUNDS = 4
MOST_PLACES = 3


def check_deformables(model: Model, system: System, state: State, context: Any, mode: str) -> None:
    """Refuse a start that is broken, or with the mode "repair" move nodes and balls until it is not."""
    evaluate = _contact_evaluation(system, state, context)
    tangle = _tangle(model)
    faults = _faults(model, state.x, evaluate, tangle)
    if not faults:
        return
    if mode != REPAIR:
        raise TautError(f"the start is broken: {'; '.join(faults)}. Move things apart, or let taut try it with "
                        "start='repair' (--repair).")
    x = _mended(model, state.x, evaluate, tangle)
    left = _faults(model, x, evaluate, tangle)
    if left:
        raise TautError(f"the start is broken and could not be repaired: {'; '.join(left)}. Move things apart.")
    far = float(np.linalg.norm(x - state.x, axis=1).max())
    state.x[:] = x
    warn(f"the start was broken: {'; '.join(faults)}. It was repaired by moving nodes by up to {far:.3g} m")


_NONE = Contacts(np.zeros((0, 4), np.int64), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0))


def _contact_evaluation(system: System, state: State, context: Any) -> EvaluateContacts:
    known = external_contacts(context)
    if known is None:
        return lambda x: _NONE
    _, rows, _ = known

    def evaluate(x: Array) -> Contacts:
        evaluate_at_start(system, state, *known, x)
        return Contacts(rows.slot, rows.weight, rows.n, rows.phi)

    return evaluate


def _tangle(model: Model) -> Tangle | None:
    pairs = model.touching.deformable_pairs
    if len(pairs) == 0:
        return None
    allowed = np.zeros((len(model.deformables), len(model.deformables)), bool)
    allowed[pairs[:, 0], pairs[:, 1]] = allowed[pairs[:, 1], pairs[:, 0]] = True
    return Tangle(np.concatenate([one.triangles for one in model.deformables]), _deformable_of(model), allowed)


def _deformable_of(model: Model) -> Array:
    """(slots,) index of the deformable of each slot, -1: none."""
    of = np.full(len(model.x), -1)
    for k, deformable in enumerate(model.deformables):
        of[deformable.slots] = k
    return of


def _mended(model: Model, x: Array, evaluate: EvaluateContacts, tangle: Tangle | None) -> Array:
    edges, w = edges_of(model), model.bodies.inverse_mass[:, 0]
    shortest = min(float(deformable.lengths.min()) for deformable in model.deformables)
    thickest = max(max(deformable.thickness for deformable in model.deformables), 1e-3 * shortest)
    for _ in range(ROUNDS):
        x = projected(model, x, edges, evaluate, 0.1 * OFF * shortest)
        if tangle is None or len(tangle.crossings(x)) == 0:
            break
        x = tangle.undone(x, w, shortest, thickest)
    return x


# Words


def _faults(model: Model, x: Array, evaluate: EvaluateContacts, tangle: Tangle | None) -> list[str]:
    found = [text for one in model.deformables for text in _stretched(one, x, model.bodies.inverse_mass[:, 0])]
    found += _inside(model, evaluate(x))
    if tangle is not None:
        found += _crossed(model, x, tangle)
    return found


def _stretched(packed: PackedDeformable, x: Array, w: Array) -> list[str]:
    faults = []
    limited = packed.limit_edges if packed.is_limited else packed.limit_edges[:0]
    most = 1.0 + float(packed.limit or 0.0)
    for ends, length, hard in ((packed.hard_edges, packed.hard_lengths, True), (limited, packed.limit_lengths, False)):
        longer = np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1) / length[: len(ends)] - 1.0
        off = np.abs(longer) if hard else longer + 1.0 - most
        off[~(w[ends] > 0.0).any(axis=1)] = 0.0  # nothing can move it
        broken = np.flatnonzero(off > OFF)
        if len(broken):
            worst = int(np.argmax(off))
            i, j = (int(np.flatnonzero(packed.slots == slot)[0]) for slot in ends[worst])
            what = "hard edges are off their length" if hard else f"edges are beyond the limit of {packed.limit:.3g}"
            faults.append(f"{len(broken)} {what} in {packed.kind} '{packed.name}', at worst the one from node {i} to "
                         f"{j}, {'longer' if longer[worst] > 0 else 'shorter'} by {abs(longer[worst]):.3g} of its "
                         "length")
    return faults


def _inside(model: Model, contacts: Contacts) -> list[str]:
    """Nodes inside solids, by deformable and solid; other inequalities by name."""
    bound = 1e-9 * max(1.0, float(np.abs(model.x).max(initial=0.0)))
    if not np.isfinite(contacts.phi).all():
        r = int(np.flatnonzero(~np.isfinite(contacts.phi))[0])
        raise TautError(f"inequality '{_row_name(model, contacts, r)}': Φ is not a number at t = 0; move its points.")
    of = _deformable_of(model)
    groups: dict[tuple[int, str], list[int]] = {}
    for r in np.flatnonzero(contacts.phi > bound).tolist():
        name = re.sub(r"\[\d+\]$", "", _row_name(model, contacts, r).rpartition("|")[2])
        groups.setdefault((int(of[contacts.slot[r, 0]]), name), []).append(r)
    faults = []
    for (k, other), rows in groups.items():
        worst = max(rows, key=lambda r: contacts.phi[r])
        depth = f"{contacts.phi[worst]:.3g} m"
        if k < 0:
            faults.append(f"'{_row_name(model, contacts, worst)}' is broken by {depth}")
            continue
        packed = model.deformables[k]
        node = int(np.flatnonzero(packed.slots == contacts.slot[worst, 0])[0])
        nodes = f"{len(rows)} nodes" if len(rows) > 1 else "1 node"
        faults.append(f"{nodes} of {packed.kind} '{packed.name}' on the wrong side of '{other}', at worst node {node} "
                     f"by {depth}")
    return faults


def _row_name(model: Model, contacts: Contacts, r: int) -> str:
    if r < len(model.inequality_names):
        return model.inequality_names[r]
    names = {info.slot: info.name for info in model.body_info}
    return "|".join(names[int(slot)] for slot in contacts.slot[r, :2])


def _crossed(model: Model, x: Array, tangle: Tangle) -> list[str]:
    pairs = tangle.crossings(x)
    deformables = np.sort(tangle.deformable[tangle.triangles[pairs, 0]], axis=1)
    faults = []
    for a, b in np.unique(deformables, axis=0):
        crossings = pairs[(deformables == (a, b)).all(axis=1)]
        first, second = model.deformables[a], model.deformables[b]
        other = "itself" if a == b else f"{second.kind} '{second.name}'"
        places = []
        for one, two in crossings[:MOST_PLACES]:
            nodes = [_nodes(model, tangle.deformable, tangle.triangles[t]) for t in (one, two)]
            at = np.round(x[tangle.triangles[[one, two]]].mean(axis=(0, 1)), 4).tolist()
            places.append(f"nodes {nodes[0]} and {nodes[1]} near {tuple(at)}")
        more = f" and {len(crossings) - MOST_PLACES} more" if len(crossings) > MOST_PLACES else ""
        times = f"{len(crossings)} pairs of triangles" if len(crossings) > 1 else "1 pair of triangles"
        faults.append(f"{first.kind} '{first.name}' crosses {other} in {times}: {', '.join(places)}{more}")
    return faults


def _nodes(model: Model, deformable_of: Array, slots: Array) -> tuple[int, ...]:
    all_slots = model.deformables[int(deformable_of[slots[0]])].slots
    return tuple(int(np.flatnonzero(all_slots == slot)[0]) for slot in slots)
