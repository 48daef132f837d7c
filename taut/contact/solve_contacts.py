"""Solve the contact problem: the velocity that satisfies all constraints (or, in its place, the acceleration).

    v' nearest to v in the norm of M, with  J_e v' = r,    w = J v' + b ≥ 0                     (1)
    v' = v + W (J_eᵀ λ_e + Jᵀ λ),    λ ≥ 0,    λ·w = 0                                          (2)
    S = J (W - W J_eᵀ (J_e W J_eᵀ)⁻¹ J_e W) Jᵀ                                                 (3)

Equalities are solved by taut.linalg. Few inequalities are reduced to the dense Schur complement (3) and given
to the active-set rule; many are solved by projected Gauss-Seidel, with the equalities solved again after each sweep.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from ..model.evaluate import apply_multipliers, clear, jacobian_times, solve_with_factor
from .coordinates import add_impulses_reduced, set_response
from .friction import stick_or_slip
from .impact import solve_impacts
from .projected_gauss_seidel import apply_impulses, prepare, solve_by_sweeps, sweep_rows
from .rows import add_impulses, row_rate
from .rules import EXACT, choose
from .work import NOT_CONVERGED, NOT_UNIQUE, OK


@compiled
def project_equalities(system, v, target, lam):
    """Add to v what makes J_e v = target; λ is added to lam. Returns the largest residual before."""
    work = system.work
    worst = 0.0
    if lam.shape[0] == 0:
        return worst
    jacobian_times(system, work.J, v, work.b)
    for r in range(lam.shape[0]):
        work.b[r] = target[r] - work.b[r]
        worst = max(worst, abs(work.b[r]))
    solve_with_factor(system, work.b, work.mu)
    for r in range(lam.shape[0]):
        lam[r] += work.mu[r]
    apply_multipliers(system, work.J, system.bodies.inverse_mass, work.mu, 1.0, v)
    return worst


@inline
def impulse_response(system, ctx, B, n):
    """P W Bᵀ e_n into ctx.vel.response: the change of velocity by a unit impulse of candidate n's row of B."""
    if ctx.coordinates.used == 1:
        set_response(ctx, B, n)
        return
    cand, u, w = ctx.candidates, ctx.vel.response, system.bodies.inverse_mass
    for k in range(cand.ptr[n], cand.ptr[n + 1]):
        s = cand.slot[k]
        for c in range(3):
            u[s, c] += w[s, c] * B[k, c]
    project_equalities(system, u, ctx.eq.zero, ctx.eq.lam_unused)


@inline
def clear_response(ctx, n):
    cand, u = ctx.candidates, ctx.vel.response
    if ctx.eq.lam.shape[0] > 0 or ctx.coordinates.used == 1:
        for i in range(u.shape[0]):
            for c in range(3):
                u[i, c] = 0.0
        return
    for k in range(cand.ptr[n], cand.ptr[n + 1]):
        s = cand.slot[k]
        for c in range(3):
            u[s, c] = 0.0


@compiled
def schur_of_normals(system, ctx, n):
    """(3) of the normal rows of the first n candidates."""
    cand, S, u = ctx.candidates, ctx.dense.S, ctx.vel.response
    for j in range(n):
        impulse_response(system, ctx, cand.J, j)
        for i in range(j, n):
            S[i, j] = row_rate(cand, cand.J, i, u)
            S[j, i] = S[i, j]
        clear_response(ctx, j)


@compiled
def schur_with_tangents(system, ctx, n):
    """(3) of normals and tangents: rows 3 i, 3 i + 1, 3 i + 2 of candidate i."""
    cand, S, u = ctx.candidates, ctx.dense.S, ctx.vel.response
    for j in range(n):
        for a in range(3):
            B = cand.J if a == 0 else (cand.T1 if a == 1 else cand.T2)
            impulse_response(system, ctx, B, j)
            for i in range(n):
                S[3 * i, 3 * j + a] = row_rate(cand, cand.J, i, u)
                S[3 * i + 1, 3 * j + a] = row_rate(cand, cand.T1, i, u)
                S[3 * i + 2, 3 * j + a] = row_rate(cand, cand.T2, i, u)
            clear_response(ctx, j)


@compiled
def solve_contacts(system, ctx, n, rule, v, instant):
    """(1), (2) for the first n candidates, with targets r in ctx.eq.target and b in ctx.candidates.b.

    v becomes v'; the multipliers are left in ctx.eq.lam and ctx.candidates.lam, which comes in as a warm start;
    ctx.candidates.active comes in as the active set of the last step. Returns the status of the rule. J_e W J_eᵀ must
    be factored.
    """
    eq = ctx.eq
    ctx.pairs.is_compliant[0] = 0
    for r in range(eq.lam.shape[0]):
        eq.lam[r] = 0.0
    if ctx.coordinates.used == 1:
        return solve_reduced(system, ctx, n, rule, v, instant)
    project_equalities(system, v, eq.target, eq.lam)
    if n == 0:
        return OK
    with_friction = ctx.problem.friction == 1 and rule == EXACT
    if (3 * n if with_friction else n) > ctx.dense.S.shape[0]:
        return solve_iteratively(system, ctx, n, v)
    status = OK
    if with_friction:
        solve_friction(system, ctx, n, v)
    else:
        status = apply_rule(system, ctx, n, rule, v, instant)
    add_impulses(ctx.candidates, n, system.bodies.inverse_mass, v)
    project_equalities(system, v, eq.target, eq.lam)
    return status


@on_demand(types.int64)
def solve_reduced(system, ctx, n, rule, v, instant):
    """`solve_contacts` in reduced coordinates, in which v satisfies the equalities already.

    ctx.vel.unprojected holds W f; λ of the equalities follows from it and from the contact forces.
    """
    status = OK
    if n > 0:
        status = apply_rule(system, ctx, n, rule, v, instant)
        add_impulses_reduced(ctx, n, v)
        add_impulses(ctx.candidates, n, system.bodies.inverse_mass, ctx.vel.unprojected)
    project_equalities(system, ctx.vel.unprojected, ctx.eq.target, ctx.eq.lam)
    return status


@on_demand(types.int64)
def apply_rule(system, ctx, n, rule, v, instant):
    """λ of the first n candidates by an active-set rule."""
    cand, dense = ctx.candidates, ctx.dense
    schur_of_normals(system, ctx, n)
    for i in range(n):
        dense.c[i] = row_rate(cand, cand.J, i, v) + cand.b[i]
    log = ctx.events.log
    status = choose(rule, dense.S, dense.c, n, cand.active, dense.lam, dense.w, dense.rules, log, instant)
    for i in range(n):
        set_normal_impulse(ctx, i)
        if instant >= 0 and status & NOT_UNIQUE and dense.lam[i] > 0.0 and cand.source[i] >= 0:
            ctx.ineq_work.indeterminate[cand.source[i]] = 1
    return status


@inline
def set_normal_impulse(ctx, i):
    """λ of candidate i from the dense problem, without friction."""
    ctx.candidates.lam[i, 0] = ctx.dense.lam[i]
    ctx.candidates.lam[i, 1] = 0.0
    ctx.candidates.lam[i, 2] = 0.0


@on_demand(types.none)
def solve_friction(system, ctx, n, v):
    """λ of the first n candidates with Coulomb friction."""
    cand, dense = ctx.candidates, ctx.dense
    schur_with_tangents(system, ctx, n)
    for i in range(n):
        dense.c3[3 * i] = row_rate(cand, cand.J, i, v) + cand.b[i]
        dense.c3[3 * i + 1] = row_rate(cand, cand.T1, i, v)
        dense.c3[3 * i + 2] = row_rate(cand, cand.T2, i, v)
        for a in range(3):
            dense.lam3[3 * i + a] = cand.lam[i, a]
        dense.mu[i] = cand.mu[i]
    tolerance, max_sweeps = ctx.settings.sweeps.friction_tolerance, ctx.settings.sweeps.max_sweeps
    stick_or_slip(dense.S, dense.c3, dense.mu, n, dense.lam3, dense.rules, tolerance, max_sweeps)
    for i in range(n):
        for a in range(3):
            cand.lam[i, a] = dense.lam3[3 * i + a]
        dense.lam[i] = cand.lam[i, 0]
        cand.active[i] = 1 if cand.lam[i, 0] > 0.0 else 0


@inline
def set_compliance(ctx, n, w):
    """c of projected_gauss_seidel.py: a share of J W Jᵀ for contacts of groups. Returns whether there are any."""
    cand, relative = ctx.candidates, ctx.pairs.compliance[0]
    some = False
    for i in range(n):
        cand.compliance[i] = 0.0
        source = cand.source[i]
        if relative > 0.0 and (source < 0 or ctx.problem.in_group[source] == 1):
            some = True
            for k in range(cand.ptr[i], cand.ptr[i + 1]):
                s = cand.slot[k]
                for c in range(3):
                    cand.compliance[i] += relative * w[s, c] * cand.J[k, c] ** 2
    return some


@on_demand(types.int64)
def solve_iteratively(system, ctx, n, v):
    """λ of many candidates by projected Gauss-Seidel; equalities are solved again after each sweep."""
    cand, work, eq, w = ctx.candidates, ctx.sweeps, ctx.eq, system.bodies.inverse_mass
    compliant = set_compliance(ctx, n, w)
    ctx.pairs.is_compliant[0] = 1 if compliant else 0
    settings = ctx.settings.sweeps  # what compliant contacts leave is corrected in the steps that follow
    max_sweeps = settings.max_compliant_sweeps if compliant else settings.max_sweeps
    tolerance = settings.compliant_tolerance if compliant else settings.speed_tolerance
    if eq.lam.shape[0] == 0:
        return OK if solve_by_sweeps(cand, work, n, w, v, tolerance, max_sweeps) <= max_sweeps else NOT_CONVERGED
    prepare(cand, work, n, w)
    apply_impulses(cand, n, w, cand.lam, v)
    for _ in range(max_sweeps):
        change = sweep_rows(cand, work, n, w, v)
        change = max(change, project_equalities(system, v, eq.target, eq.lam))
        if change <= tolerance:
            return OK
    return NOT_CONVERGED


@on_demand(types.int64)
def apply_impacts(system, ctx, n, v, resting):
    """Simultaneous impacts of the first n candidates: v and the equalities' impulses (ctx.eq.lam) after them.

    cand.b holds Φ_t; the impulses are left in ctx.dense.lam. Equalities keep their rate: J_e v does not change.
    Returns the rounds of the impact law, or -1.
    """
    cand, dense, eq = ctx.candidates, ctx.dense, ctx.eq
    if eq.lam.shape[0] > 0:
        jacobian_times(system, system.work.J, v, eq.target)
        for r in range(eq.lam.shape[0]):
            eq.lam[r] = 0.0
    schur_of_normals(system, ctx, n)
    for i in range(n):
        dense.c[i] = row_rate(cand, cand.J, i, v) + cand.b[i]
    rounds = solve_impacts(dense.S, dense.c, cand.restitution, n, dense.lam, dense.rules, resting)
    for i in range(n):
        set_normal_impulse(ctx, i)
    if ctx.coordinates.used == 1:
        clear(ctx.vel.unprojected)
        for r in range(eq.lam.shape[0]):
            eq.target[r] = 0.0
        add_impulses_reduced(ctx, n, v)
        add_impulses(cand, n, system.bodies.inverse_mass, ctx.vel.unprojected)
        project_equalities(system, ctx.vel.unprojected, eq.target, eq.lam)
        return rounds
    add_impulses(cand, n, system.bodies.inverse_mass, v)
    project_equalities(system, v, eq.target, eq.lam)
    return rounds
