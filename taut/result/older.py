"""Runs stored before joint_friction could stick: their arrays lack the slots where its force is kept.

Such a run is read as if these slots had been there with zeros, which is how forces/joint_friction.py says that its law
is the smooth one, and goes on so when it is resumed; what is added to it lacks them again.
"""

from __future__ import annotations

import numpy as np

from ..forces import KINDS
from ..model.arrays import State
from ..model.model import Model
from ..scene.scene import Scene

Arrays = dict[str, np.ndarray]
OF_SLOTS = ("x", "v", "contact_force")  # arrays of records that have a column for every slot


def may_lack_slots(scene: Scene | None) -> bool:
    return scene is not None and any(KINDS[force.kind].dry for force in scene.forces.values())


def keepers(model: Model) -> np.ndarray:
    """The slots where dry friction on joints keeps its force, in rising order."""
    found = [info.points[4] for info in model.force_info if KINDS[info.kind].dry and info.coordinate is not None]
    return np.array(sorted(found), np.int64)


def lacking(model: Model, stored: int, now: int) -> np.ndarray:
    """The slots that `stored` slots lack of the `now` that this version has; none where it is not these."""
    own = keepers(model)
    return own if stored == now - len(own) else own[:0]


def with_slots(records: Arrays, slots: np.ndarray) -> Arrays:
    """The arrays of records with zeros in these slots."""
    if not len(slots):
        return records
    places = slots - np.arange(len(slots))
    return {name: np.insert(values, places, 0.0, axis=1) if _has_slots(name, values) else values
            for name, values in records.items()}


def without_slots(records: Arrays, slots: np.ndarray) -> Arrays:
    if not len(slots):
        return records
    return {name: np.delete(values, slots, axis=1) if _has_slots(name, values) else values
            for name, values in records.items()}


def state_with_slots(stored: Arrays, state: State, model: Model) -> Arrays:
    """A stored state's arrays with zeros in the slots that it lacks; a method that remembers slots begins anew."""
    before = len(stored["x"])
    slots = lacking(model, before, len(state.x))
    if not len(slots):
        return stored
    places = slots - np.arange(len(slots))
    found = {name: np.insert(values, places, 0.0, axis=0)
             if values.ndim and len(values) == before and len(getattr(state, name, ())) == len(state.x) else values
             for name, values in stored.items()}
    if found["memory"].shape != state.memory.shape:
        found["memory"] = np.zeros_like(state.memory)
    return found


def _has_slots(name: str, values: np.ndarray) -> bool:
    return name in OF_SLOTS and values.shape[1] > 0
