"""Active-set rules: which unilateral rows are active. One file each, listed here; `base.py` says how to write one.

All look for λ ≥ 0, w = S λ + c ≥ 0, λ·w = 0. On the active set A they solve S_AA λ_A = -c_A, and λ = 0 elsewhere;
they differ in which rows enter and leave A, and in which of these conditions they look at.

    S, c    S, c      J W Jᵀ of the unilateral rows, and the slack without their forces
    λ, w    lam, w    multipliers, and the slack with them
    A       active    1 for a row in the set, 0 for another

Compiled code calls a rule by its code, through the addresses in a RuleWork.
"""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
from numba import types

from ...compiled import compiled, inline
from ...compiled.function_pointers import address_of, indirect_call, pick
from ...registry import declared
from ..settings import RuleSettings, current
from ..work import RuleWork, record, workspace
from .base import TENDING, VIOLATED, Rule

RULES: dict[str, Rule] = {
    rule.name: replace(rule, code=code)
    for code, rule in enumerate(declared(__name__, "RULE", "platt platt_improved jonquet exact"))
}

# np.int64, since for plain constants numba would compile callees a second time.
PLATT, IMPROVED, JONQUET, EXACT = (np.int64(rule.code) for rule in RULES.values())
_ENTERS = tuple(rule.enters for rule in RULES.values())
_call_choose = indirect_call(types.int64, pick([rule.choose for rule in RULES.values()]))


def rule_work(capacity: int, settings: RuleSettings | None = None) -> RuleWork:
    """Workspace for problems of at most `capacity` rows, and the addresses of the rules (compiled here, once).
    `settings`: by default the current ones."""
    work = workspace(capacity, len(RULES), settings or current().rules)
    vector, table, whole = types.float64[::1], types.float64[:, ::1], types.int64[::1]
    kinds = (numba.typeof(work), numba.typeof(work.no_log), types.int64)
    for rule in RULES.values():
        work.address[rule.code] = address_of(
            rule.choose, types.int64, table, vector, types.int64, whole, vector, vector, *kinds
        )
    return work


@inline
def choose(rule, S, c, m, active, lam, w, work, log, instant):
    """λ and w of the leading m rows by the rule of this code; returns a status (bits of contact/work.py)."""
    arguments = (S, c, np.int64(m), active, lam, w, work, log, np.int64(instant))
    return _call_choose(work.address[rule], rule, arguments)


@compiled
def after(rule, m, active, lam, w, phi, tolerance, log, instant):
    """The set that a rule takes to the next step; phi is Φ of the leading m rows at the new positions.

    `tolerance` is how far Φ or w must be below zero for a row to enter. Rules that find their set anew at each
    step, such as jonquet and exact, need nothing here.
    """
    enters = _ENTERS[rule]
    if enters != VIOLATED and enters != TENDING:
        return
    for i in range(m):
        before = active[i]
        if before != 0:
            active[i] = lam[i] > 0.0
        else:
            active[i] = (phi[i] if enters == VIOLATED else w[i]) < -tolerance
        record(log, instant, np.int64(1), i, before, active[i], lam[i], w[i])


__all__ = ["EXACT", "IMPROVED", "JONQUET", "PLATT", "RULES", "Rule", "after", "choose", "rule_work"]
