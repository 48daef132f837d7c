"""The work of drivers, -λ·s with s = J v_d + Φ_t and against applied forces, and of forces without potential."""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from .arrays import DRIVER_WORK, FORCE_WORK


@on_demand(types.none)
def accumulate_work(system, state, J, v, lam, h):
    """Add to state.ledger the work of drivers and of forces without potential in a time h.

    v holds the velocities of driven bodies; J, Φ_t and work.f belong to one instant.
    """
    find_drift(system, J, v)
    state.ledger[DRIVER_WORK] += h * (impulse_power(system, lam) + power_against_forces(system, v))
    state.ledger[FORCE_WORK] += h * system.work.power[0]


@compiled
def power_at(system, J, v, lam, out):
    """The same as power [W], for methods with stages: of drivers, and of forces without potential."""
    find_drift(system, J, v)
    out[0] = impulse_power(system, lam) + power_against_forces(system, v)
    out[1] = system.work.power[0]


@on_demand(types.none)
def find_drift(system, J, v):
    """s = J v_d + Φ_t into work.drift: dΦ/dt while free bodies stand still, v_d being v of driven ones."""
    rows, drift, free = system.rows, system.work.drift, system.bodies.free
    for r in range(drift.shape[0]):
        drift[r] = system.work.phi_t[r]
        for k in range(rows.ptr[r], rows.ptr[r + 1]):
            s = rows.slot[k]
            for c in range(3):
                drift[r] += (1.0 - free[s, c]) * J[k, c] * v[s, c]
    for k in range(rows.spin_block.shape[0]):
        block = rows.spin_block[k]
        s = rows.slot[block]
        for c in range(3):
            drift[rows.spin_row[k]] += (1.0 - free[s, c]) * J[block, c] * v[s, c]


@inline
def impulse_power(system, lam):
    """-λ·s after `find_drift`; of impulses the work."""
    power = 0.0
    for r in range(lam.shape[0]):
        power -= lam[r] * system.work.drift[r]
    return power


@inline
def power_against_forces(system, v):
    """The power of driven bodies against the forces on them [W]."""
    free, f = system.bodies.free, system.work.f
    power = 0.0
    for i in range(system.bodies.slots):
        for c in range(3):
            power -= (1.0 - free[i, c]) * f[i, c] * v[i, c]
    return power
