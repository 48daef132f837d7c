"""Restitution in fixed steps: the velocity after the impacts of a step.

    u = v + h W (f + J_eᵀ λ_e) and friction, without normal impulses                                (1)
    v'' from u by the impact law of contact/impact.py, rows that touch at the end taking part        (2)
    where more touch than that law can treat:  J v'' ≥ -e J v                                        (3)
    v' + s (v'' - v'),    s ≤ 1 so large that  T ≤ T(v) + h f·v' + work of drivers                   (4)

v' is the velocity of the step without restitution, along which bodies went. Forces go on pulling at a body that has
stopped halfway, so u is too fast. (4) allows for no more than their work on the way that bodies went. Also, e counts
from the speed at the start of the step where that is smaller, or bouncing would not die away.
"""

from __future__ import annotations

from ..compiled import compiled, inline
from ..model.evaluate import copy
from .collect import dot_row, push_candidates
from .context import NOTHING, NUMBER, TRUTH, WHOLE, far, open_box
from .dissipation import impact_speed
from .driver_work import equality_work, tally
from .event_log import note_impacts
from .solve_contacts import impact, respond, settle


@inline
def drift_of(par, i):
    """Φ_t of candidate i."""
    return par.ineq.phi_t[par.source[i]] if par.source[i] >= 0 else 0.0


@inline
def touches(par, i, v, h):
    """Whether candidate i touches at the end of the step."""
    cand = par.cand
    return cand.lam[i, 0] > 0.0 or dot_row(cand, cand.J, i, v) + cand.b[i] <= par.gap_tolerance / h


@far(NOTHING, WHOLE)
@compiled
def without_normals(box, n):
    """(1) into par.u3; the normal impulses into par.normal."""
    system, state, par = open_box(box)
    cand = par.cand
    copy(par.kicked, par.u3)
    for i in range(n):
        par.normal[i] = cand.lam[i, 0]
        cand.lam[i, 0] = 0.0
    push_candidates((box, n, system.bodies.w, par.u3))
    for i in range(n):
        cand.lam[i, 0] = par.normal[i]
    settle((box, par.u3, par.target, par.spare))


@inline
def slowed(par, i, v, threshold):
    """The share of its speed in v with which candidate i strikes, if it had that speed at the start of the step."""
    if par.cand.lam[i, 0] > 0.0 and par.bounce[i] > 0.0:
        before = dot_row(par.cand, par.cand.J, i, par.saved_v) + drift_of(par, i)
        now = dot_row(par.cand, par.cand.J, i, v) + drift_of(par, i)
        if now < before < -threshold:
            return before / now
    return 1.0


@far(TRUTH, NUMBER, NUMBER, WHOLE)
@compiled
def bounce(box, t, h, n):
    """The velocity after the impacts of a step that ends at t, with the candidates as at its start.

    par.saved_v holds the velocity at the start, par.kicked v + h W f. Returns whether there were impacts.
    """
    system, state, par = open_box(box)
    cand = par.cand
    threshold = impact_speed(par, h)
    struck = False
    count = 0
    for i in range(n):
        if touches(par, i, state.v, h):
            count += 1
        par.slack[i] = dot_row(cand, cand.J, i, par.saved_v) + drift_of(par, i)
        if cand.lam[i, 0] > 0.0 and par.bounce[i] > 0.0 and par.slack[i] < -threshold:
            struck = True
    if not struck:
        return False
    without_normals((box, n))
    factor = 1.0
    for i in range(n):
        factor = min(factor, slowed(par, i, par.u3, threshold))
    copy(state.v, par.v0)
    slow = state.ledger[0]
    if par.counted == 1:
        tally((box, n, -1.0, False))  # other normal impulses take the place of these
    least = state.ledger[0]
    many = count > par.S.shape[0]
    if many:
        newton((box, n, factor, threshold))
    else:
        squeeze(par, n, h, state.v)
        n = count
        for i in range(n):
            par.bounce[i] *= factor
            cand.b[i] = drift_of(par, i)
            par.slack[i] = dot_row(cand, cand.J, i, par.saved_v) + cand.b[i]
        copy(par.u3, state.v)
        impact((box, n, state.v, threshold))  # (2)
    if par.counted == 1:
        tally((box, n, 1.0, False))
    share = keep_energy((box, h, slow - least, state.ledger[0] - least))
    state.ledger[0] = slow + share * (state.ledger[0] - slow)
    for i in range(n):
        if many:
            hit = par.slack[i] < -threshold  # what others pass on is no event
            par.normal[i] = par.normal[i] + share * (cand.lam[i, 0] - par.normal[i]) if hit else 0.0
        elif par.normal[i] * par.S[i, i] <= threshold:
            par.normal[i] = 0.0  # it rests
    note_impacts((box, t, n, threshold))
    return True


@inline
def squeeze(par, n, h, v):
    """Leave only the candidates that touch at the end of the step, in order."""
    cand = par.cand
    count = 0
    at = 0
    for i in range(n):
        first, last = cand.ptr[i], cand.ptr[i + 1]
        if touches(par, i, v, h):
            for k in range(first, last):
                cand.slot[at] = cand.slot[k]
                for c in range(3):
                    cand.J[at, c] = cand.J[k, c]
                at += 1
            par.source[count] = par.source[i]
            par.bounce[count] = par.bounce[i]
            count += 1
            cand.ptr[count] = at


@far(NOTHING, WHOLE, NUMBER, NUMBER)
@compiled
def newton(box, n, factor, threshold):
    """(3); par.slack holds the rates at the start of the step."""
    system, state, par = open_box(box)
    cand = par.cand
    for i in range(n):
        cand.b[i] = drift_of(par, i) + (par.bounce[i] * factor * par.slack[i] if par.slack[i] < -threshold else 0.0)
        if cand.lam[i, 0] <= 0.0:
            cand.b[i] += 1e30  # passes by
        cand.mu[i] = cand.lam[i, 1] = cand.lam[i, 2] = 0.0  # friction has acted: u comes with it
    copy(par.u3, state.v)
    respond((box, n, par.rule, state.v, -1))


@far(NUMBER, NUMBER, NUMBER, NUMBER)
@compiled
def keep_energy(box, h, slow_work, work):
    """(4) with v'' in state.v and v' in par.v0; returns s. Drivers did slow_work for v', and do `work` for v''."""
    system, state, par = open_box(box)
    mass, f = system.bodies.mass, system.work.f
    a = b = slow = most = 0.0
    for i in range(mass.shape[0]):
        for q in range(3):
            if mass[i, q] > 0.0:
                v = par.v0[i, q]
                step = state.v[i, q] - v
                a += mass[i, q] * step * step
                b += mass[i, q] * step * v
                slow += mass[i, q] * v * v
                most += mass[i, q] * par.saved_v[i, q] ** 2 + 2.0 * h * f[i, q] * v
    if par.counted == 1:
        b -= work - slow_work
        most += 2.0 * (slow_work + h * equality_work((box, state.lam)))
    c = min(slow - most, 0.0)  # v' itself is as it is
    share = 1.0
    if a + 2.0 * b + c > 0.0:
        share = max(0.0, min(1.0, (max(b * b - a * c, 0.0) ** 0.5 - b) / a))
        for i in range(mass.shape[0]):
            for q in range(3):
                state.v[i, q] = par.v0[i, q] + share * (state.v[i, q] - par.v0[i, q])
    return share
