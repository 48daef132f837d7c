"""Fixed steps with inequalities: complementarity between λ and the linearised Φ at the new time.

    v' = v + h W (f + J_eᵀ λ_e + Jᵀ λ),    q' = q ⊞ h v'                                        (1)
    Φ_e + J_e (q' - q) + h Φ_e,t = 0                                                           (2)
    Φ + J (q' - q) + h Φ_t ≥ 0,    λ ≥ 0,    one of them zero in each row                       (3)
    friction: |λ_t| ≤ μ λ, against the sliding at the new time                                  (4)
    Φ(q') < 0 (Φ is curved): (1)-(3) again for a correction of v' and q'                        (5)
    restitution: v' from the impact law for rows that came to touch and approached              (6)
    crowds of balls, where more than some 300 rows may touch: "≥ -c λ" in (3), c = 0.001 J W Jᵀ  (7)

Nothing is rewound: a body that would pass through in a step is stopped where it touches. Distances from convex
things are convex, so (3) keeps Φ(q') ≥ 0 for them; (5) does it for ropes and for the inside of things.
For (6) the speed before is that at the start of the step where that is smaller: what gravity adds while the
body has already stopped would otherwise be given back, and energy would grow.

Without friction a pile at rest has hardly more contacts than it needs, and hard ones pass on their forces through
all of it: with (7) the cost of a step is bounded. A contact at rest then overlaps by h c λ, for balls that carry ten
of their kind 0.01 h² g: 2.5 µm at a step of 5 ms. Balls and walls of a crowd are soft, conditions with names are not.
"""

from __future__ import annotations

from ...contact.work import INFEASIBLE
from ...jit import part, word
from ...model.evaluate import (
    add_scaled,
    apply,
    clear,
    copy,
    kick,
    largest,
    move,
    set_time,
)
from ..base import CONTRADICTORY, EVENTS_FULL, NOT_CONVERGED, OK
from .box import NOTHING, NUMBER, TABLE, VECTOR, WHOLE, far, open_box
from .gather import add_rows, choose_charts, dot_row, equalities, inequalities, push_candidates, rates
from .pairs import add_pairs, deepest, find_pairs
from .report import hand_over, note_impacts, note_set, remember_set
from .respond import impact, respond, settle

MOST_CORRECTIONS = 30
MOST_ROUNDS = 10
SOFTNESS = 1e-3


@word
def fastest(v, slots):
    worst = 0.0
    for i in range(slots):
        worst = max(worst, v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
    return worst**0.5


@word
def want(par, state, n, count, r, h, drift):
    """Row r is to be candidate n: b of (3), and λ of the last step as the guess."""
    cand, ineq = par.cand, par.ineq
    par.wanted[count] = r
    par.handled[r] = 1
    cand.b[n] = ineq.phi[r] / h + drift * ineq.phi_t[r]
    for c in range(3):
        cand.lam[n, c] = h * state.contact[r, c]
    par.member[n] = 1 if state.contact[r, 0] > 0.0 else 0


@far(WHOLE, TABLE, NUMBER)
@part
def gather_near(box, v, h):
    """Rows that may come to touch within the step become candidates."""
    system, state, par = open_box(box)
    ineq = par.ineq
    reach = 2.0 * h * fastest(v, system.bodies.slots) + par.gap_tolerance
    rates((box, v, par.rate))
    n = 0
    for r in range(par.handled.shape[0]):
        par.handled[r] = 0
        ahead = ineq.phi[r] + h * (par.rate[r] + ineq.phi_t[r])
        if (ahead <= reach and ineq.phi[r] <= 2.0 * reach) or state.contact[r, 0] > 0.0:
            want(par, state, n, n, r, h, 1.0)
            n += 1
    add_rows((box, 0, n))
    if ineq.ball_slot.shape[0] > 0:
        n = add_pairs((box, n, v, h, reach))
    return n


@far(WHOLE, WHOLE, TABLE, NUMBER)
@part
def add_forgotten(box, n, v, h):
    """Rows that were no candidates and that v' breaks all the same; returns the new number."""
    system, state, par = open_box(box)
    ineq = par.ineq
    rates((box, v, par.rate))
    count = 0
    for r in range(par.handled.shape[0]):
        if par.handled[r] == 0 and ineq.phi[r] + h * (par.rate[r] + ineq.phi_t[r]) < -par.gap_tolerance:
            want(par, state, n + count, count, r, h, 1.0)
            count += 1
    if count == 0:
        return n
    return add_rows((box, n, count))


@word
def keep_lambda(par, state, n, h):
    """λ of the candidates into the state; all others are zero."""
    for r in range(state.contact.shape[0]):
        for c in range(3):
            state.contact[r, c] = 0.0
    for k in range(state.pair_count[0]):
        for c in range(3):
            state.pair_lam[k, c] = 0.0
    for i in range(n):
        source = par.source[i]
        for c in range(3):
            if source >= 0:
                state.contact[source, c] = par.cand.lam[i, c] / h
            else:
                state.pair_lam[-1 - source, c] = par.cand.lam[i, c] / h


@far(NUMBER, NUMBER)
@part
def violation(box, t):
    """The largest |Φ| of equalities and depth of inequalities, but for contacts that were soft."""
    system, state, par = open_box(box)
    work = system.work
    equalities((box, t, state.x, state.quat, state.v, False, False))
    inequalities((box, t, state.x, state.quat, state.v, False))
    error = largest(work.phi)
    soft = par.softened[0] == 1
    for r in range(par.handled.shape[0]):
        if not (soft and par.crowd[r] == 1):
            error = max(error, -par.ineq.phi[r])
    if par.ineq.ball_slot.shape[0] > 0 and not soft:
        error = max(error, deepest((box,)))
    return error


@far(WHOLE, NUMBER)
@part
def gather_pushing(box, h):
    """The rows that push, or that are broken, at the new configuration; their λ so far as the guess."""
    system, state, par = open_box(box)
    n = 0
    for r in range(par.handled.shape[0]):
        if state.contact[r, 0] > 0.0 or par.ineq.phi[r] < par.gap_tolerance:
            want(par, state, n, n, r, h, 0.0)
            n += 1
    add_rows((box, 0, n))
    if par.ineq.ball_slot.shape[0] > 0:
        n = add_pairs((box, n, par.zero, h, par.gap_tolerance))
    return n


@far(WHOLE, NUMBER, NUMBER, NUMBER)
@part
def correct(box, t, h, tolerance):
    """(5): q' and v' of a step of h that ends at t."""
    system, state, par = open_box(box)
    work, cand, w = system.work, par.cand, system.bodies.w
    error = 0.0
    for _ in range(MOST_CORRECTIONS):
        error = violation((box, t))
        if not error > tolerance:
            return OK
        if not error < 1e100:
            return NOT_CONVERGED
        n = gather_pushing((box, h))
        # The λ of the step stands in v' already: take it out, and let it be found anew.
        clear(par.v0)
        turn_lambda(cand, n)
        push_candidates((box, n, w, par.v0))
        turn_lambda(cand, n)
        for r in range(par.target.shape[0]):
            par.target[r] = -work.phi[r] / h
        equalities((box, t, state.x, state.quat, state.v, False, True))
        respond((box, n, par.rule, par.v0, -1))
        for r in range(par.lam.shape[0]):
            state.lam[r] += par.lam[r] / h
        keep_lambda(par, state, n, h)
        add_scaled(state.v, 1.0, par.v0, state.v)
        move(system, state.x, state.quat, par.v0, h, state.x, state.quat)
        work.counts[1] += 1
    return OK if par.numbers[1] == 1.0 or error < 100.0 * tolerance else NOT_CONVERGED


@word
def turn_lambda(cand, n):
    for i in range(n):
        for c in range(3):
            cand.lam[i, c] = -cand.lam[i, c]


@word
def drift_of(par, i):
    """Φ_t of candidate i."""
    return par.ineq.phi_t[par.source[i]] if par.source[i] >= 0 else 0.0


@word
def touches(par, i, v, h):
    """Whether candidate i touches at the end of the step."""
    cand = par.cand
    return cand.lam[i, 0] > 0.0 or dot_row(cand, cand.J, i, v) + cand.b[i] <= par.gap_tolerance / h


@far(NOTHING, WHOLE)
@part
def without_normals(box, n):
    """The velocity of the step without normal impulses, for the impact law, into par.u3."""
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


@far(NOTHING, NUMBER, NUMBER, WHOLE)
@part
def bounce(box, t, h, n):
    """(6): the velocity after the impacts of a step that ends at t, with the candidates as at its start.

    par.saved_v holds the velocity at the start, par.u3 that without contact impulses.
    """
    system, state, par = open_box(box)
    cand = par.cand
    threshold = max(par.resting, 2.0 * h * par.gravity)  # one step of gravity is no impact
    struck = False
    factor = 1.0
    count = 0
    for i in range(n):
        if touches(par, i, state.v, h):
            count += 1
        if cand.lam[i, 0] > 0.0 and par.bounce[i] > 0.0:
            before = dot_row(cand, cand.J, i, par.saved_v) + drift_of(par, i)
            if before < -threshold:
                struck = True
    if not struck:
        return
    without_normals((box, n))
    for i in range(n):
        if cand.lam[i, 0] > 0.0 and par.bounce[i] > 0.0:
            before = dot_row(cand, cand.J, i, par.saved_v) + drift_of(par, i)
            now = dot_row(cand, cand.J, i, par.u3) + drift_of(par, i)
            if now < before < -threshold:
                factor = min(factor, before / now)
    if count > par.S.shape[0]:
        newton((box, t, n, factor, threshold))
        return
    squeeze(par, n, h, state.v)
    for i in range(count):
        par.bounce[i] *= factor
        cand.b[i] = drift_of(par, i)
        par.slack[i] = dot_row(cand, cand.J, i, par.saved_v) + cand.b[i]
    copy(par.u3, state.v)
    impact((box, count, state.v, threshold))
    note_impacts((box, t, count, threshold))


@word
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


@far(NOTHING, NUMBER, WHOLE, NUMBER, NUMBER)
@part
def newton(box, t, n, factor, threshold):
    """(6) where many touch: J v' ≥ -e J v, drawn back towards v' of (3) as far as energy would grow."""
    system, state, par = open_box(box)
    cand, mass = par.cand, system.bodies.mass
    for i in range(n):
        drift = drift_of(par, i)
        before = dot_row(cand, cand.J, i, par.saved_v) + drift
        par.slack[i] = before
        cand.b[i] = drift + (par.bounce[i] * factor * before if before < -threshold else 0.0)
        if cand.lam[i, 0] <= 0.0:
            cand.b[i] += 1e30  # passes by
        cand.mu[i] = cand.lam[i, 1] = cand.lam[i, 2] = 0.0  # friction has acted: par.u3 comes with it
    copy(par.u3, par.v0)
    respond((box, n, par.rule, par.v0, -1))
    # T(v + s (v0 - v)) ≤ T before the impact: a quadratic in s.
    a = b = now = kicked = without = 0.0
    for i in range(mass.shape[0]):
        for q in range(3):
            step = par.v0[i, q] - state.v[i, q]
            a += mass[i, q] * step * step
            b += mass[i, q] * step * state.v[i, q]
            now += mass[i, q] * state.v[i, q] ** 2
            kicked += mass[i, q] * par.kicked[i, q] ** 2
            without += mass[i, q] * par.u3[i, q] ** 2
    share = 1.0
    c = now - min(kicked, without)
    if a > 0.0 and a + 2.0 * b + c > 0.0:
        share = max(0.0, min(1.0, (max(b * b - a * c, 0.0) ** 0.5 - b) / a))
    for i in range(mass.shape[0]):
        for q in range(3):
            state.v[i, q] += share * (par.v0[i, q] - state.v[i, q])
    for i in range(n):
        hit = par.slack[i] < -threshold  # what others pass on is no event
        par.normal[i] = par.normal[i] + share * (cand.lam[i, 0] - par.normal[i]) if hit else 0.0
    note_impacts((box, t, n, threshold))


@far(WHOLE, NUMBER, NUMBER)
@part
def whole_step(box, t, h):
    system, state, par = open_box(box)
    work = system.work
    if par.event_count[0] > par.event_ints.shape[0] // 2:
        return EVENTS_FULL
    par.softness[0] = SOFTNESS  # (7)
    choose_charts((box,))
    equalities((box, t, state.x, state.quat, state.v, False, True))
    inequalities((box, t, state.x, state.quat, state.v, False))
    apply(system, t, state.x, state.quat, state.v)
    copy(state.v, par.saved_v)
    kick(system, state.v, h, par.kicked)  # (1) without λ
    if par.ineq.ball_slot.shape[0] > 0:
        status = find_pairs((box, fastest(par.kicked, system.bodies.slots), h))
        if status != OK:
            return status
    for r in range(par.target.shape[0]):
        par.target[r] = -(work.phi[r] / h + work.phi_t[r])  # (2)
    n = gather_near((box, par.kicked, h))
    found = 0
    for _ in range(MOST_ROUNDS):
        copy(par.kicked, state.v)
        found = respond((box, n, par.rule, state.v, par.instant[0]))  # (3), (4)
        more = add_forgotten((box, n, state.v, h))
        if more == n:
            break
        n = more
    par.instant[0] += 1
    if found & INFEASIBLE:
        return CONTRADICTORY
    for r in range(par.lam.shape[0]):
        state.lam[r] = par.lam[r] / h
    remember_set(par, state)
    keep_lambda(par, state, n, h)
    move(system, state.x, state.quat, state.v, h, state.x, state.quat)  # (1)
    set_time(system, t + h, state.x, state.quat, state.v)
    note_set((box, t + h))
    if par.bouncing == 1:
        bounce((box, t + h, h, n))
    return correct((box, t + h, h, par.numbers[0]))


@part
def step(system, state, t, h, par):
    return whole_step((par.box, t, h))


@far(NOTHING, VECTOR)
@part
def observe_now(box, lam):
    system, state, par = open_box(box)
    for r in range(par.before.shape[0]):
        par.before[r] = state.contact[r, 0]
    hand_over((box, state.lam, lam))


@part
def observe(system, state, t, par, lam):
    """λ of the step that led here."""
    observe_now((par.box, lam))
