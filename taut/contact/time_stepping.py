"""Fixed steps with inequalities: complementarity between λ and the linearised Φ at the new time.

    v' = v + h W (f + J_eᵀ λ_e + Jᵀ λ),    q' = q ⊞ h v'                                        (1)
    Φ_e + J_e (q' - q) + h Φ_e,t = 0                                                           (2)
    Φ + J (q' - q) + h Φ_t ≥ 0,    λ ≥ 0,    one of them zero in each row                       (3)
    friction: |λ_t| ≤ μ λ, against the sliding at the new time                                  (4)
    Φ(q') < 0 (Φ is curved): (1)-(3) again for a correction of v' and q'                        (5)
    restitution: v' from the impact law for rows that came to touch and approached (restitution.py)  (6)
    crowds of balls, where more than some 300 rows may touch: "≥ -c λ" in (3), c = 0.001 J W Jᵀ  (7)

Nothing is rewound: a body that would pass through in a step is stopped where it touches. Distances from convex
things are convex, so (3) keeps Φ(q') ≥ 0 for them; (5) does it for ropes and for the inside of things.

Without friction a pile at rest has hardly more contacts than it needs, and hard ones pass on their forces through
all of it: with (7) the cost of a step is bounded. A contact at rest then overlaps by h c λ, for balls that carry ten
of their kind 0.01 h² g: 2.5 µm at a step of 5 ms. Balls and walls of a crowd are soft, conditions with names are not.
"""

from __future__ import annotations

from ..compiled import compiled, inline
from ..methods.base import CONTRADICTORY, EVENTS_FULL, NOT_CONVERGED, OK
from ..methods.unconstrained import AB2, extrapolate
from ..model.arrays import CORRECTIONS
from ..model.evaluate import add_scaled, apply, clear, copy, kick, largest, move, power_against_forces, set_time
from .broad_phase import add_pairs, deepest, find_pairs
from .collect import add_rows, choose_charts, equalities, inequalities, push_candidates, rates
from .context import NOTHING, NUMBER, TABLE, TRUTH, VECTOR, WHOLE, far, open_box
from .dissipation import count_friction, count_impacts, has_impacts
from .driver_work import equality_work, tally
from .event_log import hand_over, next_instant, note_set, remember_set
from .restitution import bounce
from .solve_contacts import respond
from .work import INFEASIBLE

MOST_CORRECTIONS = 30
MOST_ROUNDS = 10
SOFTNESS = 1e-3


@inline
def fastest(v, slots):
    worst = 0.0
    for i in range(slots):
        worst = max(worst, v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
    return worst**0.5


@inline
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
@compiled
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
@compiled
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


@inline
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
@compiled
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
@compiled
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


@far(WHOLE, NUMBER, NUMBER, NUMBER, TRUTH)
@compiled
def correct(box, t, h, tolerance, struck):
    """(5): q' and v' of a step of h that ends at t.

    Where bodies were struck, v' is that after the impact and not the way (q' - q) / h: only q' is corrected.
    """
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
        counted = par.counted == 1 and not struck
        if counted:
            tally((box, n, -1.0, True))
        if par.friction == 1 and not struck:
            count_friction((box, n, -1.0))
        logged = par.log.count[0]
        respond((box, n, par.rule, par.v0, -1))
        par.log.count[0] = logged
        if counted:
            tally((box, n, 1.0, True))
            state.ledger[0] += equality_work((box, par.lam))
        if par.friction == 1 and not struck:
            count_friction((box, n, 1.0))
        for r in range(par.lam.shape[0]):
            state.lam[r] += par.lam[r] / h
        keep_lambda(par, state, n, h)
        if not struck:
            add_scaled(state.v, 1.0, par.v0, state.v)
        move(system, state.x, state.quat, par.v0, h, state.x, state.quat)
        work.counts[CORRECTIONS] += 1
    return OK if par.numbers[1] == 1.0 or error < 100.0 * tolerance else NOT_CONVERGED


@inline
def turn_lambda(cand, n):
    for i in range(n):
        for c in range(3):
            cand.lam[i, c] = -cand.lam[i, c]


@far(WHOLE, NUMBER, NUMBER)
@compiled
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
    if par.integrator == AB2:
        extrapolate(system, state.memory)
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
    logged = par.log.count[0]
    instant = next_instant(par, t)
    for _ in range(MOST_ROUNDS):
        copy(par.kicked, state.v)
        found = respond((box, n, par.rule, state.v, instant))  # (3), (4)
        more = add_forgotten((box, n, state.v, h))
        if more == n:
            break
        n = more
    for k in range(logged, min(par.log.count[0], par.log.ints.shape[0])):
        par.log.ints[k, 2] = par.source[par.log.ints[k, 2]]  # pairs of balls are below zero
    if found & INFEASIBLE:
        return CONTRADICTORY
    for r in range(par.lam.shape[0]):
        state.lam[r] = par.lam[r] / h
    remember_set(par, state)
    keep_lambda(par, state, n, h)
    if par.counted == 1:
        state.ledger[0] += h * power_against_forces(system, state.v)
        state.ledger[1] += h * work.power[0]
    work_before, rubbed_before = state.ledger[0], state.ledger[3]
    if par.counted == 1:
        tally((box, n, 1.0, True))
        state.ledger[0] += equality_work((box, par.lam))
    if par.friction == 1:
        count_friction((box, n, 1.0))
    impacts = has_impacts((box, n, h))
    move(system, state.x, state.quat, state.v, h, state.x, state.quat)  # (1)
    set_time(system, t + h, state.x, state.quat, state.v)
    note_set((box, t + h))
    struck = par.bouncing == 1 and bounce((box, t + h, h, n))  # (6)
    status = correct((box, t + h, h, par.numbers[0], struck))
    if impacts:
        count_impacts((box, h, state.ledger[0] - work_before, state.ledger[3] - rubbed_before))
    return status


@compiled
def step(system, state, t, h, par):
    return whole_step((par.box, t, h))


@far(NOTHING, VECTOR)
@compiled
def observe_now(box, lam):
    system, state, par = open_box(box)
    for r in range(par.before.shape[0]):
        par.before[r] = state.contact[r, 0]
    hand_over((box, state.lam, lam))


@compiled
def observe(system, state, t, par, lam):
    """λ of the step that led here."""
    observe_now((par.box, lam))
