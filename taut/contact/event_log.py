"""What inequalities did: events, and λ, Φ and dΦ/dt for records."""

from __future__ import annotations

from ..compiled import compiled, inline
from ..model.evaluate import clear
from .broad_phase import add_pairs, deepest
from .collect import add_rows, inequalities, push_candidates, rates
from .context import NOTHING, NUMBER, TABLE, VECTOR, WHOLE, far, open_box
from .problem import ACTIVATION, IMPACT, RELEASE


@inline
def note(par, kind, row, pair, t, impulse):
    k = par.event_count[0]
    if k < par.event_ints.shape[0]:
        par.event_ints[k, 0], par.event_ints[k, 1], par.event_ints[k, 2] = kind, row, pair
        par.event_numbers[k, 0], par.event_numbers[k, 1] = t, impulse
    par.event_count[0] = k + 1


@inline
def next_instant(par, t):
    """Number the looks at the set, so that the log can tell when each was."""
    k = par.instant[0]
    par.instant[0] = k + 1
    if k < par.instant_time.shape[0]:
        par.instant_time[k] = t
    return k


@far(NOTHING, NUMBER)
@compiled
def note_changes(box, t):
    """Activations and releases between the set of last time (state.contact) and par.handled."""
    system, state, par = open_box(box)
    for r in range(par.handled.shape[0]):
        was = state.contact[r, 3] == 1.0
        now = par.handled[r] == 1
        if now != was:
            note(par, ACTIVATION if now else RELEASE, r, -1, t, 0.0)
        state.contact[r, 3] = par.handled[r]
        state.contact[r, 0] = par.before[r] if now else 0.0


@far(NOTHING, NUMBER, WHOLE, NUMBER)
@compiled
def note_impacts(box, t, n, resting):
    """Impulses of the candidates in par.normal; par.slack holds the rates before. A soft landing is none."""
    system, state, par = open_box(box)
    worst = 0.0
    for i in range(n):
        worst = min(worst, par.slack[i])
    if worst >= -resting:
        return
    largest = 0.0
    for i in range(n):
        largest = max(largest, par.normal[i])
    for i in range(n):
        if par.normal[i] > 1e-9 * largest:
            source = par.source[i]
            if source >= 0:
                note(par, IMPACT, source, -1, t, par.normal[i])
            else:
                note(par, IMPACT, -1, pair_number(par, state, -1 - source), t, par.normal[i])


@inline
def pair_number(par, state, k):
    """Two balls packed into one number."""
    return state.pairs[k, 0] * par.ineq.ball_slot.shape[0] + state.pairs[k, 1]


@inline
def remember_set(par, state):
    """Which pairs pushed in the last step, before their λ is written over."""
    for k in range(state.pair_count[0]):
        par.pushed[k] = 1 if state.pair_lam[k, 0] > 0.0 else 0


@far(NOTHING, NUMBER)
@compiled
def note_set(box, t):
    """Activations and releases in a fixed step: what pushes now against what pushed before."""
    system, state, par = open_box(box)
    for r in range(state.contact.shape[0]):
        now = state.contact[r, 0] > 0.0
        was = state.contact[r, 3] == 1.0
        if now != was:
            note(par, ACTIVATION if now else RELEASE, r, -1, t, 0.0)
        state.contact[r, 3] = 1.0 if now else 0.0
    for k in range(state.pair_count[0]):
        now = state.pair_lam[k, 0] > 0.0
        if now != (par.pushed[k] == 1):
            note(par, ACTIVATION if now else RELEASE, -1, pair_number(par, state, k), t, 0.0)


@far(NOTHING, VECTOR, VECTOR)
@compiled
def hand_over(box, equalities, lam):
    """λ of equalities, then of the listed rows (par.before), with the sign of Φ as the user wrote it."""
    system, state, par = open_box(box)
    listed = par.ineq.listed
    first = lam.shape[0] - listed.shape[0]
    for r in range(first):
        lam[r] = equalities[r]
    for k in range(listed.shape[0]):
        lam[first + k] = par.ineq.sign[listed[k]] * par.before[listed[k]]


@far(NOTHING, NUMBER, VECTOR, VECTOR, TABLE, TABLE, VECTOR)
@compiled
def measure_now(box, t, phi, rate, slide, force, totals):
    """Φ and dΦ/dt of the listed rows, and what all contacts together do. par.before holds λ of all rows.

    The time is set. force: on each slot [N]; totals: contacts that push, deepest overlap [m].
    """
    system, state, par = open_box(box)
    ineq, cand = par.ineq, par.cand
    listed = ineq.listed
    inequalities((box, t, state.x, state.quat, state.v, False))
    rates((box, state.v, par.rate))
    first = phi.shape[0] - listed.shape[0]
    for k in range(listed.shape[0]):
        r = listed[k]
        phi[first + k] = ineq.sign[r] * ineq.phi[r]
        rate[first + k] = ineq.sign[r] * (par.rate[r] + ineq.phi_t[r])
    for k in range(slide.shape[0]):
        slide[k, 0], slide[k, 1] = state.contact[listed[k], 1], state.contact[listed[k], 2]
    n = 0
    deep = 0.0
    for r in range(par.before.shape[0]):
        deep = max(deep, -ineq.phi[r])
        if par.before[r] != 0.0:
            par.wanted[n] = r
            cand.lam[n, 0] = par.before[r]
            cand.lam[n, 1], cand.lam[n, 2] = state.contact[r, 1], state.contact[r, 2]
            n += 1
    add_rows((box, 0, n))
    if ineq.ball_slot.shape[0] > 0:
        deep = max(deep, deepest((box,)))
        n = add_pairs((box, n, par.zero, 1.0, par.pushing))
    clear(par.v0)
    push_candidates((box, n, par.one, par.v0))
    count = 0
    for i in range(n):
        if cand.lam[i, 0] != 0.0:
            count += 1
    for i in range(force.shape[0]):
        for c in range(3):
            force[i, c] = par.v0[i, c]
    totals[0] = count
    totals[1] = deep


@compiled
def measure(system, state, t, par, phi, rate, slide, force, totals):
    measure_now((par.box, t, phi, rate, slide, force, totals))
