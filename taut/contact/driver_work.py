"""The work of drivers in contacts: walls that are functions of time, and driven bodies.

    s = Φ_t + J v_d                                 rate of Φ while free bodies stand still              (1)
    dT = P·(Φ̇⁻ + Φ̇⁺)/2 - P·s                       what impulses P change kinetic energy by             (2)

The first part of (2) is what contacts do by themselves, which is never a gain; the second is the drivers' work.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from ..model.arrays import DRIVER_WORK
from ..model.evaluate import find_drift, impulse_power, power_at


@inline
def driven_rate(cand, B, n, v, free):
    """B v_d of (1) of one candidate, with B one of its cand.J, cand.T1, cand.T2."""
    total = 0.0
    for k in range(cand.ptr[n], cand.ptr[n + 1]):
        s = cand.slot[k]
        for c in range(3):
            total += (1.0 - free[s, c]) * B[k, c] * v[s, c]
    return total


@inline
def drift_of(ctx, i):
    """Φ_t of candidate i."""
    source = ctx.candidates.source[i]
    return ctx.ineq.phi_t[source] if source >= 0 else 0.0


@on_demand(types.none)
def driver_power(system, ctx, v, lam, out):
    """power_at with λ of equalities and of the active rows, as accelerate_active left them [W]."""
    cand, free, active = ctx.candidates, system.bodies.free, ctx.ineq_work.active
    power_at(system, system.work.J, v, lam, out)
    n = 0
    for r in range(active.shape[0]):
        if active[r] == 1:
            out[0] -= cand.lam[n, 0] * (driven_rate(cand, cand.J, n, v, free) + ctx.ineq.phi_t[r])  # (1), (2)
            n += 1


@on_demand(types.none)
def add_driver_work(system, state, ctx, n, fraction, with_friction):
    """Add `fraction` of the drivers' work against the first n candidates' impulses to the ledger."""
    cand, free, v = ctx.candidates, system.bodies.free, state.v
    total = 0.0
    for i in range(n):
        total -= cand.lam[i, 0] * (driven_rate(cand, cand.J, i, v, free) + drift_of(ctx, i))  # (1), (2)
        if with_friction:
            total -= cand.lam[i, 1] * driven_rate(cand, cand.T1, i, v, free)
            total -= cand.lam[i, 2] * driven_rate(cand, cand.T2, i, v, free)
    state.ledger[DRIVER_WORK] += fraction * total


@compiled
def equality_work(system, state, lam):
    """Work of impulses (or power of forces) λ of the equalities, with J and Φ_t as last evaluated."""
    find_drift(system, system.work.J, state.v)
    return impulse_power(system, lam)
