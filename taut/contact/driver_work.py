"""The work of what moves on its own: walls that are functions of time, and driven bodies that are touched.

    s = Φ_t + J v_d                                 rate of Φ while free bodies stand still              (1)
    dT = P·(Φ̇⁻ + Φ̇⁺)/2 - P·s                       what impulses P change kinetic energy by             (2)

The first part of (2) is what contacts do by themselves, which is never a gain; the second is the drivers' work.
"""

from __future__ import annotations

from ..compiled import compiled, inline
from ..model.evaluate import find_drift, impulse_power, power_at
from .context import NOTHING, NUMBER, TABLE, TRUTH, VECTOR, WHOLE, far, open_box


@inline
def dot_given(cand, J, n, v, free):
    """J v_d of (1) of one candidate, with J one of its cand.J, cand.T1, cand.T2."""
    total = 0.0
    for k in range(cand.ptr[n], cand.ptr[n + 1]):
        s = cand.slot[k]
        for c in range(3):
            total += (1.0 - free[s, c]) * J[k, c] * v[s, c]
    return total


@far(NOTHING, TABLE, VECTOR, VECTOR)
@compiled
def power_now(box, v, lam, out):
    """power_at with λ of equalities and of the rows that are handled, as accelerate_handled left them [W]."""
    system, state, par = open_box(box)
    cand, free = par.cand, system.bodies.free
    power_at(system, system.work.J, v, lam, out)
    n = 0
    for r in range(par.handled.shape[0]):
        if par.handled[r] == 1:
            out[0] -= cand.lam[n, 0] * (dot_given(cand, cand.J, n, v, free) + par.ineq.phi_t[r])  # (1), (2)
            n += 1


@far(NOTHING, WHOLE, NUMBER, TRUTH)
@compiled
def tally(box, n, share, rubbing):
    """Add `share` of the work of the first n candidates' impulses, with friction or without."""
    system, state, par = open_box(box)
    cand, free, v = par.cand, system.bodies.free, state.v
    total = 0.0
    for i in range(n):
        drift = par.ineq.phi_t[par.source[i]] if par.source[i] >= 0 else 0.0
        total -= cand.lam[i, 0] * (dot_given(cand, cand.J, i, v, free) + drift)  # (1), (2)
        if rubbing:
            total -= cand.lam[i, 1] * dot_given(cand, cand.T1, i, v, free)
            total -= cand.lam[i, 2] * dot_given(cand, cand.T2, i, v, free)
    state.ledger[0] += share * total


@far(NUMBER, VECTOR)
@compiled
def equality_work(box, lam):
    """Of impulses (or the power of forces) λ of the equalities, with J and Φ_t as last evaluated."""
    system, state, par = open_box(box)
    find_drift(system, system.work.J, state.v)
    return impulse_power(system, lam)
