"""Steps at acceleration level that stop at every activation, release and impact.

    touching:   Φ ≤ ε,  Φ̇ ≤ ε                                                                  (1)
    d = -γ - (2/τ) Φ̇ - Φ/τ²,    w = J v̇ - d                                                     (2)  [Jonquet (5)]
    the rule chooses which touching rows are handled; these hold w = 0 through the step         (3)
    event functions: Φ of rows that are not handled, λ of those that are                        (4)
    the step ends where the first of them becomes negative, and the rest of it follows          (5)
    rows that touch and approach there collide                                                  (6)

With a rule of Platt nothing is rewound and nothing collides: its set is changed after the step, as printed. It
starts with all active rows, or (platt_improved) with those among them that tend to be violated.
One compiled step serves all methods at acceleration level: they differ in numbers.
"""

from __future__ import annotations

from ...contact.rules import after as after_step
from ...contact.work import INFEASIBLE
from ...jit import kernel, part, specialise, word
from ...model.evaluate import copy, drive, forces, times
from ..acceleration import runge_kutta as runge_kutta_template
from ..acceleration import step as step_template
from ..base import CONTRADICTORY, EVENTS_FULL, OK, STUCK, TOO_MANY
from .box import NOTHING, NUMBER, TABLE, TRUTH, VECTOR, WHOLE, Boxed, far, open_box
from .gather import add_rows, choose_charts, equalities, inequalities, rates
from .report import hand_over, note_changes, note_impacts
from .respond import impact, respond, settle

PLATT, IMPROVED, JONQUET, EXACT = range(4)
MOST_EVENTS = 2000  # in one step; then nothing bounces any more until it ends
RATE_TOLERANCE = 1e-9  # [m/s]
LOOSE = 1e4


@far(NOTHING, NUMBER, TABLE, TABLE, TABLE)
@part
def free_acceleration(box, t, x, quat, v):
    """Accelerations of the forces into work.a, targets of the equalities into par.target, -d of (2) into par.demand."""
    system, state, par = open_box(box)
    work, ineq = system.work, par.ineq
    equalities((box, t, x, quat, v, True, True))
    inequalities((box, t, x, quat, v, True))
    forces(system, t, x, quat, v)
    drive(system)
    damping, stiffness = 2.0 * par.alpha, par.beta * par.beta
    times(system, work.J, v, work.mu)
    for r in range(par.target.shape[0]):
        feedback = damping * (work.mu[r] + work.phi_t[r]) + stiffness * work.phi[r]
        par.target[r] = -(work.gamma[r] + feedback)
    rates((box, v, par.rate))
    for r in range(par.rate.shape[0]):
        par.rate[r] += ineq.phi_t[r]
        par.demand[r] = ineq.gamma[r] + damping * par.rate[r] + stiffness * ineq.phi[r]  # (2)


@far(NOTHING, NUMBER, TABLE, TABLE, TABLE, VECTOR)
@part
def accelerate_handled(box, t, x, quat, v, lam):
    """work.a with the handled rows held as equalities; their λ into par.normal, in the order of rows."""
    system, state, par = open_box(box)
    free_acceleration((box, t, x, quat, v))
    count = 0
    for r in range(par.handled.shape[0]):
        if par.handled[r] == 1:
            par.wanted[count] = r
            par.cand.b[count] = par.demand[r]
            par.member[count] = 1
            count += 1
    add_rows((box, 0, count))
    logged = par.log.count[0]
    respond((box, count, PLATT, system.work.a, -1))  # all members are equalities
    par.log.count[0] = logged
    for r in range(lam.shape[0]):
        lam[r] = par.lam[r]


@word
def mark_touching(par, held):
    """(1): marks par.touched, and how far each row may sink before that is an event."""
    ineq = par.ineq
    for r in range(par.touched.shape[0]):
        loose = LOOSE if held[r, 3] == 1.0 else 1.0  # integration may lift a row that lies on a curve a little
        near = ineq.phi[r] <= loose * par.gap_tolerance and par.rate[r] <= loose * RATE_TOLERANCE
        par.touched[r] = 1 if near else 0
        par.started[r] = ineq.phi[r]
        par.allowed[r] = max(-ineq.phi[r], 0.0) + (par.gap_tolerance if near else 0.0)


@far(WHOLE, NUMBER, WHOLE)
@part
def choose_handled(box, t, instant):
    """(3): fill par.handled; λ and w of the touching rows into par.before and par.after."""
    system, state, par = open_box(box)
    free_acceleration((box, t, state.x, state.quat, state.v))
    mark_touching(par, state.contact)
    count = 0
    persistent = par.rule == PLATT or par.rule == IMPROVED
    for r in range(par.handled.shape[0]):
        was = state.contact[r, 3] == 1.0
        wanted = par.touched[r] == 1
        if persistent:
            wanted = was or par.ineq.phi[r] <= par.gap_tolerance
        if wanted:
            par.wanted[count] = r
            par.cand.b[count] = par.demand[r]
            par.member[count] = 1 if was else 0
            count += 1
        par.handled[r] = 0
        par.before[r] = 0.0
        par.after[r] = 0.0
    if count > par.S.shape[0]:
        return TOO_MANY
    add_rows((box, 0, count))
    logged = par.log.count[0]
    status = respond((box, count, par.rule, system.work.a, instant))
    for k in range(logged, min(par.log.count[0], par.log.ints.shape[0])):
        par.log.ints[k, 2] = par.source[par.log.ints[k, 2]]  # from places among candidates to rows of the model
    for i in range(count):
        r = par.source[i]
        held = par.normal[i] > 0.0 if par.rule == EXACT else par.member[i] == 1
        par.handled[r] = 1 if held else 0
        par.before[r] = par.normal[i]
        par.after[r] = par.slack[i]
    return CONTRADICTORY if status & INFEASIBLE else OK


@far(TRUTH, NUMBER, VECTOR)
@part
def event_functions(box, t, out):
    """(4) at the end of a trial step; returns whether any is negative."""
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
                out[r] = par.normal[n]
                negative = negative or out[r] < 0.0
                n += 1
    return negative


@far(NOTHING, NUMBER)
@part
def first_set(box, t):
    """The set that a rule of Platt starts with: rows with Φ = 0, for platt_improved only those with w < 0."""
    system, state, par = open_box(box)
    free_acceleration((box, t, state.x, state.quat, state.v))
    settle((box, system.work.a, par.target, par.spare))
    rates((box, system.work.a, par.trial))
    for r in range(par.handled.shape[0]):
        active = par.ineq.phi[r] <= par.gap_tolerance
        tends = par.trial[r] + par.demand[r] < 0.0
        par.handled[r] = 1 if active and (par.rule == PLATT or tends) else 0
        par.before[r] = 0.0
    note_changes((box, t))


@kernel
def take_first_set(box):
    first_set((box, 0.0))


@word
def save(state, par):
    copy(state.x, par.saved_x)
    copy(state.quat, par.saved_quat)
    copy(state.v, par.saved_v)
    for i in range(state.memory.shape[0]):
        par.saved_memory[i] = state.memory[i]


@word
def restore(state, par):
    copy(par.saved_x, state.x)
    copy(par.saved_quat, state.quat)
    copy(par.saved_v, state.v)
    for i in range(state.memory.shape[0]):
        state.memory[i] = par.saved_memory[i]


@word
def first_crossing(par, lo, hi):
    """Where straight lines between the ends of the bracket first reach zero."""
    best = hi
    for r in range(par.before.shape[0]):
        if par.after[r] < 0.0:
            before = max(par.before[r], 0.0)
            best = min(best, lo + (hi - lo) * before / (before - par.after[r]))
    return best


@far(WHOLE, NUMBER, TRUTH)
@part
def collide_here(box, t, bouncing):
    """(6): returns how many rows took part, or -1: too many."""
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
        return -1
    add_rows((box, 0, n))
    if not bouncing:
        for i in range(n):
            par.bounce[i] = 0.0
    equalities((box, t, state.x, state.quat, state.v, False, True))
    impact((box, n, state.v, par.resting))
    note_impacts((box, t, n, par.resting))
    return n


@word
def accelerate(system, t, x, quat, v, par, lam):
    accelerate_handled((par.box, t, x, quat, v, lam))


@word
def integrator_of(par):
    system, state, contacts = open_box(par.box)
    return contacts.integrator


runge_kutta = specialise(runge_kutta_template, "runge_kutta_unilateral", part, accelerate=accelerate)
base_step = specialise(
    step_template, "base_step_unilateral", part, accelerate=accelerate, runge_kutta=runge_kutta,
    integrator_of=integrator_of,
)  # fmt: skip


@far(NOTHING, NUMBER, NUMBER)
@part
def integrate(box, t, h):
    system, state, par = open_box(box)
    base_step(system, state, t, h, Boxed(par.numbers, box, par.source))  # `par` as the integrators know it


@far(NUMBER, NUMBER, NUMBER)
@part
def rewind(box, t, h):
    """(5): from the end of a trial step of h to the state at its first event; returns the time used.

    The bracket is narrowed by the ITP method: as safe as halving, and fast where events are smooth.
    """
    system, state, par = open_box(box)
    for r in range(par.before.shape[0]):  # of handled rows it holds λ
        if par.handled[r] == 0:
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
@part
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


@word
def next_instant(par, t):
    """Number the looks at the set, so that the log can tell when each was."""
    k = par.instant[0]
    par.instant[0] = k + 1
    if k < par.instant_time.shape[0]:
        par.instant_time[k] = t
    return k


@far(WHOLE, NUMBER, NUMBER)
@part
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
                return TOO_MANY
            if struck > 0:
                broken = True
                memory[0] = 0.0  # multistep methods start again
        status = choose_handled((box, t + done, next_instant(par, t + done)))
        if status != OK:
            return status
        note_changes((box, t + done))
        rest = h - done
        save(state, par)
        integrate((box, t + done, rest))
        if par.rewind == 1:
            used = rewind((box, t + done, rest))
            done = h if used == rest else done + used
            broken = broken or used < rest
        else:
            done = h
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


@part
def step(system, state, t, h, par):
    return whole_step((par.box, t, h))


@far(NOTHING, NUMBER, VECTOR)
@part
def observe_now(box, t, lam):
    system, state, par = open_box(box)
    logged = par.log.count[0]
    choose_handled((box, t, -1))
    par.log.count[0] = logged
    hand_over((box, par.lam, lam))


@part
def observe(system, state, t, par, lam):
    """λ of the instant: equalities, then the listed inequalities as the user wrote them; all in par.before."""
    observe_now((par.box, t, lam))
