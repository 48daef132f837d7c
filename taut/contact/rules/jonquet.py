"""Jonquet's rule (Algorithm 3 of Jonquet 2008).

    F⁺ = ∅;  repeat:  w = 0 on F⁺, λ = 0 elsewhere                              (1)
                      every row with w < 0 enters F⁺                            (2)
             until none enters

No row is ever violated, since the last round finds none. But no row ever leaves: one that entered early may
be kept in the set by a force that pulls once others have entered. On random problems (2 to 8 rows, 6 unknowns) this
rule keeps a λ < 0 in 43 % of the cases, so it is not the exact answer there.
"""

from __future__ import annotations

import numpy as np

from ...compiled import compiled
from ..face import find_slack, scale_problem, solve_equalities, unscale
from ..work import record_all, reject_nan
from .base import Rule, status_of


@compiled
def choose(S, c, m, active, lam, w, work, log, instant):
    if not scale_problem(S, c, m, work):
        return reject_nan(m, lam, w)
    entering = work.settings.entering_slack
    for i in range(m):
        work.face[i] = 0
    iteration = np.int64(0)
    while True:
        iteration += 1
        dependent = solve_equalities(m, work.face, work)  # (1)
        find_slack(m, work)
        unscale(S, c, m, work.y, lam, w, work)
        entered = 0
        for i in range(m):
            work.was_active[i] = work.face[i]
            if work.face[i] == 0 and work.d[i] > 0.0 and work.s[i] < -entering * work.magnitude[i]:
                work.face[i] = 1  # (2)
                entered += 1
        record_all(log, instant, iteration, m, work.was_active, work.face, lam, w)
        if entered == 0:
            break
    for i in range(m):
        active[i] = work.face[i]
    return status_of(m, active, dependent, work)


RULE = Rule(
    name="jonquet",
    doc="Start from no row and add those that tend to be violated until none does; none is ever taken out.",
    source="Jonquet 2008, Algorithm 3",
    choose=choose,
)
