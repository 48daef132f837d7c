"""What happened at one moment: activations, releases and impacts of inequalities, switches that were turned, and which
system steps of cloth go on with from then on (cloth/choice.py).

A run keeps them as plain numbers, one row each: time [s], kind, row of the model's inequalities (-1: a pair of balls;
of a switch or a system its number), the pair packed into one number, impulse [N s]. Behind these rows are counted nodes
of cloth against balls, and then features of cloth against cloth, whose other feature is the pair
(cloth/contact_events.py).
`table` gives them names: "cloth[3]|floor", "cloth[3]|ball", "cloth[3]|cloth(7, 8, 12)", "cloth(3, 4)|cloth(8, 12)".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..cloth.codes import SYSTEMS
from ..cloth.contact_events import members_of
from ..cloth.contact_rows import external_members
from ..contact.problem import EVENTS as OF_CONTACTS
from ..contact.problem import SYSTEM_CHOSEN
from ..model.arrays import Switches
from ..model.model import Model

if TYPE_CHECKING:
    import pandas

EVENTS = (*OF_CONTACTS, "switched on", "switched off", "system")
NO_EVENTS = np.zeros((0, 5))
TIME, KIND, ROW, PAIR, IMPULSE = range(5)


def joined(ints: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Rows as above, from what the compiled step wrote (contact/problem.py)."""
    return np.column_stack([numbers[:, 0], ints, numbers[:, 1]]).astype(float)


def switched(switches: Switches) -> np.ndarray:
    """Rows as above, of the switches that were turned since the last call."""
    log = switches.log[: switches.logged[0]]
    switches.logged[0] = 0
    blank = np.full(len(log), -1.0)
    return np.column_stack([log[:, 0], len(OF_CONTACTS) + log[:, 1], log[:, 2], blank, np.zeros(len(log))])


def are_events(events: np.ndarray) -> bool:
    """Whether rows of numbers can be events; those of a damaged file without checksums may not."""
    kind, row = events[:, KIND], events[:, ROW]
    known = np.isin(kind, np.arange(len(EVENTS))) & (row >= -1) & (row < 2**53) & (row == np.round(row))
    return bool((known & (np.abs(events[:, PAIR]) < 2**53)).all() and not np.isnan(events[:, TIME]).any())


def table(model: Model, events: np.ndarray) -> pandas.DataFrame:
    """Columns time [s], kind, constraint, impulse [N s]; in the order in which they happened."""
    import pandas

    names = model.inequality_names
    slots = {info.slot: info.name for info in model.body_info}
    balls = [slots[int(slot)] for slot in model.inequalities.ball_slot]

    members = external_members(model)[0] if model.deformables else np.zeros((0, 2), np.int64)

    def feature(number: int) -> str:
        """Of cloth: a node by its name, or the cloth's name with the vertices of an edge or a triangle."""
        slots_of = members_of(number, len(model.x))
        if len(slots_of) == 1:
            return slots[slots_of[0]]
        deformable = slots[slots_of[0]].rpartition("[")[0]
        return f"{deformable}({', '.join(slots[slot].rpartition('[')[2][:-1] for slot in slots_of)})"

    def spoken(kind: float, row: float, pair: float) -> str:
        if kind == SYSTEM_CHOSEN:
            return SYSTEMS[int(row)]
        if kind >= len(OF_CONTACTS):
            return model.switch_names[int(row)]
        if 0 <= row < len(names):
            return names[int(row)]
        if 0 <= row < len(members):
            return "|".join(slots[int(slot)] for slot in members[int(row)])
        if row >= 0:
            return f"{feature(int(row) - len(members))}|{feature(int(pair))}"
        first, second = divmod(int(pair), len(balls))
        return f"{balls[first]}|{balls[second]}"

    return pandas.DataFrame({
        "time": events[:, TIME],
        "kind": [EVENTS[int(kind)] for kind in events[:, KIND]],
        "constraint": [spoken(*numbers) for numbers in events[:, KIND : PAIR + 1]],
        "impulse": events[:, IMPULSE],
    })
