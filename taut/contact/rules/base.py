"""How to write a rule: who among the unilateral rows is handled.

1.  One file with one `RULE = Rule(...)`, and one line in the tuple of `rules/__init__.py`. Its place there is
    its code.
2.  `choose(S, c, m, member, lam, w, work, log, instant) -> status` writes λ and w = Sλ + c of the
    leading m rows, and who was handled into `member` (0 or 1). On entry `member` is what the last step
    left. The status is a sum of the bits of contact/work.py. It is called by address: all arrays are of
    doubles, contiguous, but `member`, which is of int64.
    Equations are numbered in the docstring and cited in the code.
3.  `enters` says which rows enter the set at the end of a step for the next one: none (the rule finds its
    set anew each time), those with Φ < 0, or those with w < 0. Members with λ ≤ 0 then leave.
4.  Every row that is looked at goes into the log: `record`, `record_all`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from taut.compiled import compiled
from taut.contact.face import find_slack, put_back, scale_problem, solve_set
from taut.contact.work import NOT_CONVERGED, NOT_UNIQUE, OK, give_up, record_all

NONE, VIOLATED, TENDING = range(3)
HELD = 1e-9  # of the terms of w: a row that is held but misses zero by more contradicts the others


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
    """Of a set held as equalities: whether λ is one of many, and whether its rows contradict each other."""
    status = NOT_UNIQUE if dependent > 0 else OK
    for i in range(m):
        if flags[i] != 0 and abs(work.s[i]) > HELD * work.reach[i]:
            status |= NOT_CONVERGED
    return status


@compiled
def hold(S, c, m, member, lam, w, work, log, instant):
    """Hold the rows in `member` as equalities, whatever the sign of their λ; leave out all others."""
    if not scale_problem(S, c, m, work):
        return give_up(m, lam, w)
    dependent = solve_set(m, member, work)
    find_slack(m, work)
    put_back(S, c, m, work.y, lam, w, work)
    record_all(log, instant, np.int64(0), m, member, member, lam, w)
    return status_of(m, member, dependent, work)
