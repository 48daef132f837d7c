"""The energy that impacts and friction dissipate, for state.ledger.

    T - T' + W                        impulses at one instant: kinetic energy before and after, work of drivers    (1)
    T - T' + W + h f·(v + v')/2 - F   a fixed step with impacts, F being what friction took of it                  (2)
    F = -P_t·(T v + T v')/2           friction P_t along its tangents T                                            (3)

A fixed step has impacts where a contact with λ > 0 approached faster than one step of gravity would make it. The rest
of its contacts' work is not told apart from the error of the method, of which it is a part that falls with h.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from ..model.arrays import FRICTION_LOSS, IMPACT_LOSS
from .driver_work import drift_of
from .rows import row_rate


@compiled
def kinetic_energy(system, v):
    """Of free bodies [J]."""
    mass = system.bodies.mass
    total = 0.0
    for i in range(mass.shape[0]):
        for c in range(3):
            total += 0.5 * mass[i, c] * v[i, c] ** 2
    return total


@inline
def impact_speed(ctx, h):
    """Approach from which on a fixed step has impacts [m/s]."""
    return max(ctx.problem.resting, ctx.settings.steps.impact_steps * h * ctx.problem.gravity)


@inline
def approaches_fast(ctx, i, h):
    """Whether candidate i approached fast at the start of a step of h, with ctx.saved.v."""
    return row_rate(ctx.candidates, ctx.candidates.J, i, ctx.saved.v) + drift_of(ctx, i) < -impact_speed(ctx, h)


@compiled
def has_impacts(ctx, n, h):
    """Whether one of the first n candidates pushes and approached fast at the start."""
    for i in range(n):
        if ctx.candidates.lam[i, 0] > 0.0 and approaches_fast(ctx, i, h):
            return True
    return False


@on_demand(types.none)
def accumulate_impact_loss(system, state, ctx, h, work, friction):
    """(2) after a step from ctx.saved.v to state.v in which drivers did `work` and `friction` was dissipated."""
    free, f, v_start = system.bodies.free, system.work.f, ctx.saved.v
    total = kinetic_energy(system, v_start) - kinetic_energy(system, state.v) + work - friction
    for i in range(free.shape[0]):
        for c in range(3):
            total += 0.5 * h * free[i, c] * f[i, c] * (v_start[i, c] + state.v[i, c])
    state.ledger[IMPACT_LOSS] += total


@on_demand(types.none)
def accumulate_friction_loss(state, ctx, n, fraction):
    """(3): add `fraction` of what the friction of the first n candidates dissipates."""
    cand = ctx.candidates
    total = 0.0
    for i in range(n):
        for a in range(1, 3):
            if cand.lam[i, a] != 0.0:
                T = cand.T1 if a == 1 else cand.T2
                slip = row_rate(cand, T, i, ctx.saved.v) + row_rate(cand, T, i, state.v)
                total -= 0.5 * cand.lam[i, a] * slip
    state.ledger[FRICTION_LOSS] += fraction * total
