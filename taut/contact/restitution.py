"""Restitution in fixed steps: the velocity after the impacts of a step.

    u = v + h W (f + J_eᵀ λ_e) and friction, without normal impulses                                (1)
    v'' from u by the impact law of contact/impact.py, rows that touch at the end taking part        (2)
    where more touch than that law can treat:  J v'' ≥ -e J v                                        (3)
    v' + s (v'' - v'),    s ≤ 1 so large that  T ≤ T(v) + h f·v' + work of drivers                   (4)

v' is the velocity of the step without restitution, along which bodies moved. Forces go on pulling at a body that has
stopped halfway, so u is too fast. (4) allows for no more than their work on the way that bodies took. Also, e counts
from the speed at the start of the step where that is smaller, or bouncing would not die away.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from ..model.arrays import DRIVER_WORK
from ..model.evaluate import copy
from .active_set import UNLOGGED
from .dissipation import impact_speed
from .driver_work import add_driver_work, drift_of, equality_work
from .event_log import impulses_of_step, place_of, record_impacts
from .rows import NO, add_impulses, row_rate
from .solve_contacts import apply_impacts, project_equalities, solve_contacts

NEVER = 1e30  # [m/s] added to the slack of rows that take no part: larger than any (not a setting)


@inline
def touches(ctx, i, v, h):
    """Whether candidate i touches at the end of the step."""
    cand = ctx.candidates
    return cand.lam[i, 0] > 0.0 or row_rate(cand, cand.J, i, v) + cand.b[i] <= ctx.problem.gap_tolerance / h


@on_demand(types.none)
def remove_normal_impulses(system, ctx, n):
    """(1) into ctx.vel.v_without_normals; the normal impulses into ctx.dense.lam."""
    cand, u = ctx.candidates, ctx.vel.v_without_normals
    copy(ctx.vel.v_pred, u)
    for i in range(n):
        ctx.dense.lam[i] = cand.lam[i, 0]
        cand.lam[i, 0] = 0.0
    add_impulses(cand, n, system.bodies.inverse_mass, u)
    for i in range(n):
        cand.lam[i, 0] = ctx.dense.lam[i]
    project_equalities(system, u, ctx.eq.target, ctx.eq.lam_unused)


@inline
def speed_ratio(ctx, i, v, threshold):
    """Approach of candidate i at the start of the step divided by that in v, at most 1; 1 if it has no impact."""
    cand = ctx.candidates
    if cand.lam[i, 0] > 0.0 and cand.restitution[i] > 0.0:
        before = row_rate(cand, cand.J, i, ctx.saved.v) + drift_of(ctx, i)
        now = row_rate(cand, cand.J, i, v) + drift_of(ctx, i)
        if now < before < -threshold:
            return before / now
    return 1.0


@inline
def find_impacts(state, ctx, h, n, threshold):
    """Rates of all candidates at the start of the step into ctx.dense.rate.

    Returns whether any has an impact with restitution, and how many candidates touch at the end of the step.
    """
    cand, rate = ctx.candidates, ctx.dense.rate
    has_impact = False
    count = 0
    for i in range(n):
        if touches(ctx, i, state.v, h):
            count += 1
        rate[i] = row_rate(cand, cand.J, i, ctx.saved.v) + drift_of(ctx, i)
        if cand.lam[i, 0] > 0.0 and cand.restitution[i] > 0.0 and rate[i] < -threshold:
            has_impact = True
    return has_impact, count


@on_demand(types.boolean)
def apply_restitution(system, state, ctx, t, h, n):
    """The velocity after the impacts of a step that ends at t, with the candidates as at its start.

    ctx.saved.v is the velocity at the start, ctx.vel.v_pred v + h W f. Returns whether there were impacts: then
    ctx.dense.c holds the impulses of all rows and pairs.
    """
    cand, dense, ledger = ctx.candidates, ctx.dense, state.ledger
    threshold = impact_speed(ctx, h)
    has_impact, count = find_impacts(state, ctx, h, n, threshold)
    if not has_impact:
        return False
    remove_normal_impulses(system, ctx, n)
    factor = 1.0
    for i in range(n):
        factor = min(factor, speed_ratio(ctx, i, ctx.vel.v_without_normals, threshold))
    copy(state.v, ctx.vel.dv)
    inelastic_work = ledger[DRIVER_WORK]
    if ctx.problem.accumulates_work == 1:
        add_driver_work(system, state, ctx, n, -1.0, NO)  # other normal impulses take the place of these
    other_work = ledger[DRIVER_WORK]
    many = count > dense.S.shape[0]
    if many:
        newton_restitution(system, state, ctx, n, factor, threshold)
    else:
        keep_touching(ctx, n, h, state.v)
        n = count
        for i in range(n):
            cand.restitution[i] *= factor
            cand.b[i] = drift_of(ctx, i)
            dense.rate[i] = row_rate(cand, cand.J, i, ctx.saved.v) + cand.b[i]
        copy(ctx.vel.v_without_normals, state.v)
        apply_impacts(system, ctx, n, state.v, threshold)  # (2)
    if ctx.problem.accumulates_work == 1:
        add_driver_work(system, state, ctx, n, 1.0, NO)
    alpha = limit_energy(system, state, ctx, h, inelastic_work - other_work, ledger[DRIVER_WORK] - other_work)
    ledger[DRIVER_WORK] = inelastic_work + alpha * (ledger[DRIVER_WORK] - inelastic_work)
    impulses_of_step(state, ctx, h)
    for i in range(n):
        # What rests, or passes on what others do, has no event.
        total = cand.lam[i, 0] if many else dense.lam[i]
        rests = dense.rate[i] >= -threshold if many else total * dense.S[i, i] <= threshold
        place = place_of(state, cand.source[i])
        dense.c[place] += alpha * (total - dense.c[place])
        dense.lam[i] = 0.0 if rests else dense.c[place]
    record_impacts(ctx, t, n, threshold)
    return True


@inline
def keep_touching(ctx, n, h, v):
    """Leave only the candidates that touch at the end of the step, in order."""
    cand = ctx.candidates
    count = 0
    at = 0
    for i in range(n):
        first, last = cand.ptr[i], cand.ptr[i + 1]
        if touches(ctx, i, v, h):
            for k in range(first, last):
                cand.slot[at] = cand.slot[k]
                for c in range(3):
                    cand.J[at, c] = cand.J[k, c]
                at += 1
            cand.source[count] = cand.source[i]
            cand.restitution[count] = cand.restitution[i]
            count += 1
            cand.ptr[count] = at


@on_demand(types.none)
def newton_restitution(system, state, ctx, n, factor, threshold):
    """(3), Newton's law row by row; ctx.dense.rate holds the rates at the start of the step."""
    cand, rate = ctx.candidates, ctx.dense.rate
    for i in range(n):
        cand.b[i] = drift_of(ctx, i) + (cand.restitution[i] * factor * rate[i] if rate[i] < -threshold else 0.0)
        if cand.lam[i, 0] <= 0.0:
            cand.b[i] += NEVER
        cand.mu[i] = cand.lam[i, 1] = cand.lam[i, 2] = 0.0  # friction has acted: u contains it
    copy(ctx.vel.v_without_normals, state.v)
    solve_contacts(system, ctx, n, ctx.problem.rule, state.v, UNLOGGED)


@compiled
def limit_energy(system, state, ctx, h, inelastic_work, work):
    """(4) with v'' in state.v and v' in ctx.vel.dv; returns s.

    Drivers did inelastic_work for v', and do `work` for v''.
    """
    mass, f, v_inelastic, v_start = system.bodies.mass, system.work.f, ctx.vel.dv, ctx.saved.v
    a = b = inelastic = bound = 0.0
    for i in range(mass.shape[0]):
        for q in range(3):
            if mass[i, q] > 0.0:
                v = v_inelastic[i, q]
                step = state.v[i, q] - v
                a += mass[i, q] * step * step
                b += mass[i, q] * step * v
                inelastic += mass[i, q] * v * v
                bound += mass[i, q] * v_start[i, q] ** 2 + 2.0 * h * f[i, q] * v
    if ctx.problem.accumulates_work == 1:
        b -= work - inelastic_work
        bound += 2.0 * (inelastic_work + h * equality_work(system, state, state.lam))
    c = min(inelastic - bound, 0.0)  # v' itself is as it is
    alpha = 1.0
    if a + 2.0 * b + c > 0.0:
        alpha = max(0.0, min(1.0, (max(b * b - a * c, 0.0) ** 0.5 - b) / a))
        for i in range(mass.shape[0]):
            for q in range(3):
                state.v[i, q] = v_inelastic[i, q] + alpha * (state.v[i, q] - v_inelastic[i, q])
    return alpha
