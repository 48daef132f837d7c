"""The answer of all constraints to a velocity (or, with accelerations in its place, to a free acceleration).

    v' nearest to v in the norm of M, with  J_e v' = r,    w = J v' + b ≥ 0                     (1)
    v' = v + W (J_eᵀ λ_e + Jᵀ λ),    λ ≥ 0,    λ·w = 0                                          (2)
    S = J (W - W J_eᵀ (J_e W J_eᵀ)⁻¹ J_e W) Jᵀ                                                 (3)

Equalities are solved by taut.linalg as ever. Few inequalities are reduced to the dense (3) and given to the
rule; many are swept over, with the equalities solved again after each sweep.
"""

from __future__ import annotations

from ..compiled import compiled, inline
from ..model.evaluate import push, resolve, times
from .collect import dot_row, push_candidates
from .context import NOTHING, NUMBER, TABLE, VECTOR, WHOLE, far, open_box
from .friction import stick_or_slip
from .impact import collide
from .projected_gauss_seidel import apply, prepare, project, sweep
from .rules import choose
from .work import NOT_CONVERGED, NOT_UNIQUE, OK

MOST_SWEEPS = 4000
CROWD_SWEEPS = 300  # and what is left then is put right in the steps that follow
CROWD_TOLERANCE = 2e-7  # [m/s]
EXACT = 3


@far(NUMBER, TABLE, VECTOR, VECTOR)
@compiled
def settle(box, v, target, lam):
    """Add to v what makes J_e v = target; λ is added to lam. Returns by how much a row was off."""
    system, state, par = open_box(box)
    work = system.work
    worst = 0.0
    if lam.shape[0] == 0:
        return worst
    times(system, work.J, v, work.b)
    for r in range(lam.shape[0]):
        work.b[r] = target[r] - work.b[r]
        worst = max(worst, abs(work.b[r]))
    resolve(system, work.b, work.mu)
    for r in range(lam.shape[0]):
        lam[r] += work.mu[r]
    push(system, work.J, system.bodies.w, work.mu, 1.0, v)
    return worst


@inline
def column(box, system, par, J, n):
    """u = P W Jᵀ e_n: the change of velocity that a unit of candidate n's row of J brings about."""
    cand, u, w = par.cand, par.u, system.bodies.w
    for k in range(cand.ptr[n], cand.ptr[n + 1]):
        s = cand.slot[k]
        for c in range(3):
            u[s, c] += w[s, c] * J[k, c]
    settle((box, u, par.nothing, par.spare))


@inline
def clear_column(par, n):
    cand, u = par.cand, par.u
    if par.lam.shape[0] > 0:
        for i in range(u.shape[0]):
            for c in range(3):
                u[i, c] = 0.0
        return
    for k in range(cand.ptr[n], cand.ptr[n + 1]):
        s = cand.slot[k]
        for c in range(3):
            u[s, c] = 0.0


@far(NOTHING, WHOLE)
@compiled
def reduce_normals(box, n):
    """(3) of the normal rows of the first n candidates."""
    system, state, par = open_box(box)
    cand, S = par.cand, par.S
    for j in range(n):
        column(box, system, par, cand.J, j)
        for i in range(j, n):
            S[i, j] = dot_row(cand, cand.J, i, par.u)
            S[j, i] = S[i, j]
        clear_column(par, j)


@far(NOTHING, WHOLE)
@compiled
def reduce_triples(box, n):
    """(3) of normals and tangents: rows 3 i, 3 i + 1, 3 i + 2 of candidate i."""
    system, state, par = open_box(box)
    cand, S = par.cand, par.S
    for j in range(n):
        for a in range(3):
            J = cand.J if a == 0 else (cand.T1 if a == 1 else cand.T2)
            column(box, system, par, J, j)
            for i in range(n):
                S[3 * i, 3 * j + a] = dot_row(cand, cand.J, i, par.u)
                S[3 * i + 1, 3 * j + a] = dot_row(cand, cand.T1, i, par.u)
                S[3 * i + 2, 3 * j + a] = dot_row(cand, cand.T2, i, par.u)
            clear_column(par, j)


@far(WHOLE, WHOLE, WHOLE, TABLE, WHOLE)
@compiled
def respond(box, n, rule, v, instant):
    """(1), (2) for the first n candidates, with targets r in par.target and b in par.cand.b.

    v becomes v'; par.lam and par.cand.lam the multipliers (cand.lam comes in as a guess, par.member as the
    active set of last time). Returns the status of the rule. J_e W J_eᵀ must be factored.
    """
    system, state, par = open_box(box)
    par.softened[0] = 0
    for r in range(par.lam.shape[0]):
        par.lam[r] = 0.0
    settle((box, v, par.target, par.lam))
    if n == 0:
        return OK
    rubbing = par.friction == 1 and rule == EXACT
    if (3 * n if rubbing else n) > par.S.shape[0]:
        return sweep_all((box, n, v))
    status = OK
    if rubbing:
        rub((box, n, v))
    else:
        status = obey((box, n, rule, v, instant))
    push_candidates((box, n, system.bodies.w, v))
    settle((box, v, par.target, par.lam))
    return status


@far(WHOLE, WHOLE, WHOLE, TABLE, WHOLE)
@compiled
def obey(box, n, rule, v, instant):
    """λ of the first n candidates by a rule for the active set."""
    system, state, par = open_box(box)
    cand = par.cand
    reduce_normals((box, n))
    for i in range(n):
        par.free[i] = dot_row(cand, cand.J, i, v) + cand.b[i]
    status = choose(rule, par.S, par.free, n, par.member, par.normal, par.slack, par.work, par.log, instant)
    for i in range(n):
        cand.lam[i, 0] = par.normal[i]
        cand.lam[i, 1] = 0.0
        cand.lam[i, 2] = 0.0
        if instant >= 0 and status & NOT_UNIQUE and par.normal[i] > 0.0 and par.source[i] >= 0:
            par.shared[par.source[i]] = 1
    return status


@far(NOTHING, WHOLE, TABLE)
@compiled
def rub(box, n, v):
    """λ of the first n candidates with friction."""
    system, state, par = open_box(box)
    cand = par.cand
    reduce_triples((box, n))
    for i in range(n):
        par.c3[3 * i] = dot_row(cand, cand.J, i, v) + cand.b[i]
        par.c3[3 * i + 1] = dot_row(cand, cand.T1, i, v)
        par.c3[3 * i + 2] = dot_row(cand, cand.T2, i, v)
        for a in range(3):
            par.lam3[3 * i + a] = cand.lam[i, a]
        par.mu[i] = cand.mu[i]
    most = MOST_SWEEPS
    stick_or_slip(par.S, par.c3, par.mu, n, par.lam3, par.work, 1e-12, most)
    for i in range(n):
        for a in range(3):
            cand.lam[i, a] = par.lam3[3 * i + a]
        par.normal[i] = cand.lam[i, 0]
        par.member[i] = 1 if cand.lam[i, 0] > 0.0 else 0


@inline
def soften(par, n, w):
    """c of projected_gauss_seidel.py: a share of J W Jᵀ for the contacts of crowds. Returns whether there are any."""
    cand, softness = par.cand, par.softness[0]
    crowded = False
    for i in range(n):
        cand.soft[i] = 0.0
        source = par.source[i]
        if softness > 0.0 and (source < 0 or par.crowd[source] == 1):
            crowded = True
            for k in range(cand.ptr[i], cand.ptr[i + 1]):
                s = cand.slot[k]
                for c in range(3):
                    cand.soft[i] += softness * w[s, c] * cand.J[k, c] ** 2
    return crowded


@far(WHOLE, WHOLE, TABLE)
@compiled
def sweep_all(box, n, v):
    """λ of many candidates, by sweeps over them; equalities are solved again after each sweep."""
    system, state, par = open_box(box)
    cand, w = par.cand, system.bodies.w
    crowded = soften(par, n, w)
    par.softened[0] = 1 if crowded else 0
    most = CROWD_SWEEPS if crowded else MOST_SWEEPS
    tolerance = CROWD_TOLERANCE if crowded else par.speed_tolerance
    if par.lam.shape[0] == 0:
        return OK if project(cand, n, w, v, tolerance, most) <= most else NOT_CONVERGED
    prepare(cand, n, w)
    apply(cand, n, w, cand.lam, v)
    for _ in range(most):
        change = sweep(cand, n, w, v)
        change = max(change, settle((box, v, par.target, par.lam)))
        if change <= tolerance:
            return OK
    return NOT_CONVERGED


@far(WHOLE, WHOLE, TABLE, NUMBER)
@compiled
def impact(box, n, v, resting):
    """Simultaneous impacts of the first n candidates: v and the equalities' impulses (par.lam) after it.

    cand.b holds Φ_t; the impulses are left in par.normal. Equalities keep their rate: J_e v does not change.
    """
    system, state, par = open_box(box)
    work, cand = system.work, par.cand
    if par.lam.shape[0] > 0:
        times(system, work.J, v, par.target)
        for r in range(par.lam.shape[0]):
            par.lam[r] = 0.0
    reduce_normals((box, n))
    for i in range(n):
        par.free[i] = dot_row(cand, cand.J, i, v) + cand.b[i]
    rounds = collide(par.S, par.free, par.bounce, n, par.normal, par.work, resting)
    for i in range(n):
        cand.lam[i, 0] = par.normal[i]
        cand.lam[i, 1] = 0.0
        cand.lam[i, 2] = 0.0
    push_candidates((box, n, system.bodies.w, v))
    settle((box, v, par.target, par.lam))
    return rounds
