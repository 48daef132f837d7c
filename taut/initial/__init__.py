"""Before the first step: what the start breaks is named, repaired where asked, or refused.

    constraints.py   equalities, their velocities, and inequalities between bodies
    equalities.py    how far a start may be off, in words
    projection.py    the nearest place where equalities hold
    sheets.py        cloth and solids: edges, nodes inside solids, crossings; in words
    repair.py        nodes moved out of solids and edges brought back, by the least motion
    untangle.py      crossings taken apart
"""

from typing import Any

from ..contact.algorithms import contact_of
from ..model import Model
from ..model.arrays import State, System
from .constraints import Start, check_inequalities, prepare_start
from .equalities import AS_GIVEN, REPAIR, start_mode
from .sheets import check_sheets


def check_start(model: Model, system: System, state: State, par: Any, mode: str) -> None:
    """Refuse or repair what the start breaks beside equalities: inequalities, lengths, contacts of cloth and solids."""
    if model.sheets:
        check_sheets(model, system, state, par, mode)
    elif model.is_unilateral:
        check_inequalities(model, system, state, contact_of(par), mode)


__all__ = ["AS_GIVEN", "REPAIR", "Start", "check_start", "prepare_start", "start_mode"]
