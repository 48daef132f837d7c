"""Steps at acceleration level that stop at every activation, release and impact.

    event functions: Φ of rows that are not handled, λ of those that are                        (1)
    the step ends where the first of them becomes negative, and the rest of it follows          (2)
    rows that touch and approach there collide                                                  (3)

Between events the rows of handled.py are held. With a rule of Platt nothing is rewound and nothing collides: its
set is changed after the step, as printed. One compiled step serves all methods at acceleration level: they differ
in numbers.
"""

from __future__ import annotations

from ..compiled import compiled, inline, specialise
from ..methods.acceleration import runge_kutta as runge_kutta_template
from ..methods.acceleration import step as step_template
from ..methods.base import CONTRADICTORY, EVENTS_FULL, OK, STUCK, TOO_MANY
from ..model.evaluate import copy
from .active_set import EXACT, IMPROVED, PLATT, RATE_TOLERANCE, accelerate_handled, choose_handled, draw_back
from .collect import add_rows, choose_charts, equalities, inequalities, rates
from .context import NOTHING, NUMBER, TRUTH, VECTOR, WHOLE, Boxed, far, open_box
from .dissipation import kinetic
from .driver_work import equality_work, power_now, tally
from .event_log import hand_over, next_instant, note_changes, note_impacts
from .rules import after as after_step
from .solve_contacts import impact

MOST_EVENTS = 2000  # in one step; then nothing bounces any more until it ends


@far(TRUTH, NUMBER, VECTOR)
@compiled
def event_functions(box, t, out):
    """(1) at the end of a trial step, λ by the acceleration that it causes; returns whether any is negative."""
    system, state, par = open_box(box)
    inequalities((box, t, state.x, state.quat, state.v, False))
    negative = False
    some = False
    for r in range(out.shape[0]):
        out[r] = 1.0
        if par.handled[r] == 1:
            some = True
        else:
            out[r] = par.ineq.phi[r] + par.allowed[r]
            negative = negative or out[r] < 0.0
    if some and par.rule == EXACT:
        accelerate_handled((box, t, state.x, state.quat, state.v, par.spare))
        n = 0
        for r in range(out.shape[0]):
            if par.handled[r] == 1:
                out[r] = par.normal[n] * par.S[n, n] + par.allowed[r]
                negative = negative or out[r] < 0.0
                n += 1
    return negative


@inline
def save(state, par):
    copy(state.x, par.saved_x)
    copy(state.quat, par.saved_quat)
    copy(state.v, par.saved_v)
    for i in range(state.memory.shape[0]):
        par.saved_memory[i] = state.memory[i]
    for i in range(state.ledger.shape[0]):
        par.saved_ledger[i] = state.ledger[i]


@inline
def restore(state, par):
    copy(par.saved_x, state.x)
    copy(par.saved_quat, state.quat)
    copy(par.saved_v, state.v)
    for i in range(state.memory.shape[0]):
        state.memory[i] = par.saved_memory[i]
    for i in range(state.ledger.shape[0]):
        state.ledger[i] = par.saved_ledger[i]


@inline
def first_crossing(par, lo, hi):
    """Where straight lines between the ends of the bracket first reach zero."""
    best = hi
    for r in range(par.before.shape[0]):
        if par.after[r] < 0.0:
            before = max(par.before[r], 0.0)
            best = min(best, lo + (hi - lo) * before / (before - par.after[r]))
    return best


@far(WHOLE, NUMBER, TRUTH)
@compiled
def collide_here(box, t, bouncing):
    """(3): returns how many rows took part, or a status with the sign turned."""
    system, state, par = open_box(box)
    ineq = par.ineq
    equalities((box, t, state.x, state.quat, state.v, False, False))
    inequalities((box, t, state.x, state.quat, state.v, False))
    rates((box, state.v, par.rate))
    n = 0
    approaching = False
    for r in range(par.handled.shape[0]):
        rate = par.rate[r] + ineq.phi_t[r]
        # What touches within the tolerance of time touches now.
        if ineq.phi[r] <= par.gap_tolerance + 2.0 * par.time_tolerance * abs(rate):
            par.wanted[n] = r
            par.cand.b[n] = ineq.phi_t[r]
            par.slack[n] = rate
            n += 1
            approaching = approaching or rate < -RATE_TOLERANCE
    if not approaching:
        return 0
    if n > par.S.shape[0]:
        return -TOO_MANY
    add_rows((box, 0, n))
    if not bouncing:
        for i in range(n):
            par.bounce[i] = 0.0
    equalities((box, t, state.x, state.quat, state.v, False, True))
    energy = kinetic((box, state.v))
    if impact((box, n, state.v, par.resting)) < 0:
        return -CONTRADICTORY
    if par.counted == 1:
        energy -= state.ledger[0]
        tally((box, n, 1.0, False))
        state.ledger[0] += equality_work((box, par.lam))
        energy += state.ledger[0]
    state.ledger[2] += energy - kinetic((box, state.v))
    note_impacts((box, t, n, par.resting))
    return n


@inline
def accelerate(system, t, x, quat, v, par, lam):
    accelerate_handled((par.box, t, x, quat, v, lam))


@inline
def power(system, v, par, lam, out):
    power_now((par.box, v, lam, out))


@inline
def integrator_of(par):
    system, state, contacts = open_box(par.box)
    return contacts.integrator


runge_kutta = specialise(runge_kutta_template, "runge_kutta_contact", compiled, accelerate=accelerate, power=power)
base_step = specialise(
    step_template, "base_step_contact", compiled, accelerate=accelerate, runge_kutta=runge_kutta,
    integrator_of=integrator_of, power=power,
)  # fmt: skip


@far(NOTHING, NUMBER, NUMBER)
@compiled
def integrate(box, t, h):
    system, state, par = open_box(box)
    base_step(system, state, t, h, Boxed(par.numbers, box, par.source))  # `par` as the integrators know it


@far(NUMBER, NUMBER, NUMBER)
@compiled
def rewind(box, t, h):
    """(2): from the end of a trial step of h to the state at its first event; returns the time used.

    The bracket is narrowed by the ITP method: as safe as halving, and fast where events are smooth.
    """
    system, state, par = open_box(box)
    for r in range(par.before.shape[0]):
        par.before[r] = par.started[r] + par.allowed[r]
    if not event_functions((box, t + h, par.after)):
        return h
    lo, hi = 0.0, h
    spread = 0.2 / h
    budget = par.time_tolerance
    while budget < h:
        budget *= 2.0
    while hi - lo > par.time_tolerance:
        half = 0.5 * (lo + hi)
        guess = first_crossing(par, lo, hi)
        towards = 1.0 if half >= guess else -1.0
        nudge = min(spread * (hi - lo) ** 2, abs(half - guess))
        guess += towards * max(nudge, 0.25 * par.time_tolerance)
        room = max(budget - 0.5 * (hi - lo), 0.0)
        if abs(guess - half) > room:
            guess = half - towards * room
        budget *= 0.5
        if not lo < guess < hi:
            guess = half
        restore(state, par)
        integrate((box, t, guess))
        if event_functions((box, t + guess, par.trial)):
            hi = guess
            for r in range(par.after.shape[0]):
                par.after[r] = par.trial[r]
        else:
            lo = guess
            for r in range(par.after.shape[0]):
                par.before[r] = par.trial[r]
    restore(state, par)
    if lo == 0.0:  # an event at once: let it happen, or time would not go on
        lo = hi
    integrate((box, t, lo))
    return lo


@far(NOTHING, NUMBER)
@compiled
def finish_platt(box, t):
    """Algorithms 1 and 2 change their set after the step; par.before and par.after hold λ and w."""
    system, state, par = open_box(box)
    inequalities((box, t, state.x, state.quat, state.v, False))
    count = par.handled.shape[0]
    for r in range(count):
        if par.handled[r] == 0 and par.started[r] > par.gap_tolerance and par.rule == IMPROVED:
            par.after[r] = 0.0  # only what touched can enter
    after_step(par.rule, count, par.handled, par.before, par.after, par.ineq.phi, 0.0, par.log, par.instant[0] - 1)
    note_changes((box, t))


@far(WHOLE, NUMBER, NUMBER)
@compiled
def whole_step(box, t, h):
    system, state, par = open_box(box)
    memory = state.memory
    if par.event_count[0] > par.event_ints.shape[0] // 2:
        return EVENTS_FULL
    choose_charts((box,))
    platt = par.rule == PLATT or par.rule == IMPROVED
    done = 0.0
    events = 0
    broken = False
    while done < h:
        if not platt:
            struck = collide_here((box, t + done, events < MOST_EVENTS))
            if struck < 0:
                return -struck
            if struck > 0:
                broken = True
                memory[0] = 0.0  # multistep methods start again
        status = choose_handled((box, t + done, next_instant(par, t + done)))
        if status != OK:
            return status
        note_changes((box, t + done))
        rest = used = h - done
        save(state, par)
        integrate((box, t + done, rest))
        if par.rewind == 1:
            used = rewind((box, t + done, rest))
            broken = broken or used < rest
        if not platt:
            draw_back((box, t + done + used))
        done = h if used == rest else done + used
        events += 1
        if events > 2 * MOST_EVENTS:
            return STUCK
    if platt:
        finish_platt((box, t + h))
    elif par.rewind == 0:
        collide_here((box, t + h, True))
    if broken:
        memory[0] = 0.0
    return OK


@compiled
def step(system, state, t, h, par):
    return whole_step((par.box, t, h))


@far(NOTHING, NUMBER, VECTOR)
@compiled
def observe_now(box, t, lam):
    system, state, par = open_box(box)
    logged = par.log.count[0]
    choose_handled((box, t, -1))
    par.log.count[0] = logged
    hand_over((box, par.lam, lam))


@compiled
def observe(system, state, t, par, lam):
    """λ of the instant: equalities, then the listed inequalities as the user wrote them; all in par.before."""
    observe_now((par.box, t, lam))
