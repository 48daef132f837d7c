"""How to write an active-set rule: which of the unilateral rows are active.

1.  One file with one `RULE = Rule(...)`, and one line in the tuple of `rules/__init__.py`. Its place there is
    its code.
2.  `choose(S, c, m, active, lam, w, work, log, instant) -> status` writes λ and w = Sλ + c of the
    leading m rows, and the active set into `active` (0 or 1). On entry `active` is what the last step
    left. The status is a sum of the bits of contact/work.py. It is called by address: all arrays are of
    doubles, contiguous, but `active`, which is of int64.
    Equations are numbered in the docstring and cited in the code.
3.  `enters` says which rows enter the set at the end of a step for the next one: none (the rule finds its
    set anew each time), those with Φ < 0, or those with w < 0. Members with λ ≤ 0 then leave.
4.  Every row that is evaluated goes into the log: `record`, `record_all`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...compiled import compiled
from ..face import find_slack, scale_problem, solve_equalities, unscale
from ..work import NOT_CONVERGED, NOT_UNIQUE, OK, record_all, reject_nan

NONE, VIOLATED, TENDING = range(3)


@dataclass(frozen=True)
class Rule:
    name: str
    doc: str  # one sentence
    source: str  # where it comes from
    choose: Callable
    enters: int = NONE  # NONE, VIOLATED (Φ < 0) or TENDING (w < 0)
    code: int = -1  # its place in RULES, by which compiled code knows it

    @property
    def is_persistent(self) -> bool:
        """Whether its set lasts until it is changed after a step."""
        return self.enters != NONE


@compiled
def status_of(m, flags, dependent, work):
    """Of a set enforced as equalities: whether λ is one of many, and whether its rows contradict each other."""
    status = NOT_UNIQUE if dependent > 0 else OK
    for i in range(m):
        if flags[i] != 0 and abs(work.s[i]) > work.settings.equality_accepted * work.magnitude[i]:
            status |= NOT_CONVERGED
    return status


@compiled
def solve_as_equalities(S, c, m, active, lam, w, work, log, instant):
    """Enforce the rows in `active` as equalities, whatever the sign of their λ; leave out all others."""
    if not scale_problem(S, c, m, work):
        return reject_nan(m, lam, w)
    dependent = solve_equalities(m, active, work)
    find_slack(m, work)
    unscale(S, c, m, work.y, lam, w, work)
    record_all(log, instant, np.int64(0), m, active, active, lam, w)
    return status_of(m, active, dependent, work)
