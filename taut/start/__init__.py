"""Before the first step: what the start breaks is named, repaired where asked, or refused.

    constraints.py   equalities, and inequalities between bodies
    sheets.py        cloth and solids: edges, nodes inside solids, crossings; in words
    repair.py        nodes moved out of solids and edges brought back, by the least motion
    untangle.py      crossings taken apart
"""

from .constraints import Start, check_inequalities, listed, pairs_fit, prepare_start
from .sheets import check_sheets

__all__ = ["Start", "check_inequalities", "check_sheets", "listed", "pairs_fit", "prepare_start"]
