"""The work of what moves on its own: walls that are functions of time, and driven bodies that are touched.

    s = Φ_t + J v_d                                 rate of Φ while free bodies stand still              (1)
    dT = P·(Φ̇⁻ + Φ̇⁺)/2 - P·s                       what impulses P change kinetic energy by             (2)

The first part of (2) is what contacts do by themselves, which is never a gain; the second is the drivers' work.
"""

from __future__ import annotations

from ...jit import part, word
from ...model.evaluate import times
from .box import NOTHING, NUMBER, TRUTH, VECTOR, WHOLE, far, open_box
from .gather import dot_row, rates


@word
def keep_driven(system, state):
    """v_d of (1) into work.v1: velocities of what is driven, zero for what is free."""
    free, given = system.bodies.free, system.work.v1
    for i in range(free.shape[0]):
        for c in range(3):
            given[i, c] = state.v[i, c] * (1.0 - free[i, c])


@far(NUMBER, VECTOR)
@part
def power(box, lam):
    """Of forces λ of the rows that are handled, with J and Φ_t as last evaluated [W]."""
    system, state, par = open_box(box)
    keep_driven(system, state)
    rates((box, system.work.v1, par.rate))
    total = 0.0
    for r in range(lam.shape[0]):
        if par.handled[r] == 1:
            total -= lam[r] * (par.rate[r] + par.ineq.phi_t[r])  # (1), (2)
    return total


@far(NOTHING, WHOLE, NUMBER, TRUTH)
@part
def tally(box, n, share, rubbing):
    """Add `share` of the work of the first n candidates' impulses, with friction or without."""
    system, state, par = open_box(box)
    cand = par.cand
    keep_driven(system, state)
    given = system.work.v1
    total = 0.0
    for i in range(n):
        drift = par.ineq.phi_t[par.source[i]] if par.source[i] >= 0 else 0.0
        total -= cand.lam[i, 0] * (dot_row(cand, cand.J, i, given) + drift)  # (1), (2)
        if rubbing:
            total -= cand.lam[i, 1] * dot_row(cand, cand.T1, i, given)
            total -= cand.lam[i, 2] * dot_row(cand, cand.T2, i, given)
    state.driver_work[0] += share * total


@far(NUMBER, VECTOR)
@part
def equality_work(box, lam):
    """Of impulses (or the power of forces) λ of the equalities, with J and Φ_t as last evaluated."""
    system, state, par = open_box(box)
    work = system.work
    keep_driven(system, state)
    times(system, work.J, work.v1, work.b)
    total = 0.0
    for r in range(lam.shape[0]):
        total -= lam[r] * (work.b[r] + work.phi_t[r])
    return total
