"""Before the first step: what the start breaks is named, repaired where asked, or refused.

    constraints.py   equalities, their velocities, and inequalities between bodies
    equalities.py    how far a start may be off, in words
    projection.py    the nearest place where equalities hold
    sheets.py        cloth and solids: edges, nodes inside solids, crossings; in words
    repair.py        nodes moved out of solids and edges brought back, by the least motion
    untangle.py      crossings taken apart
"""

from .constraints import Start, check_inequalities, pairs_fit, prepare_start
from .equalities import AS_GIVEN, REPAIR, start_mode
from .sheets import check_sheets
from .words import listed

__all__ = [
    "AS_GIVEN", "REPAIR", "Start", "check_inequalities", "check_sheets", "listed", "pairs_fit", "prepare_start",
    "start_mode",
]  # fmt: skip
