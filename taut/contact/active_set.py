"""Who is handled at an instant, the accelerations that follow, and the way back from drift.

    touching:   Φ ≤ ε,  neither coming on nor parting for good                                  (1)
    d = -γ - (2/τ) Φ̇ - Φ/τ²,    w = J v̇ - d                                                     (2)  [Jonquet (5)]
    the rule chooses which touching rows are handled; these hold w = 0 through a step           (3)
    afterwards they are drawn back to Φ = 0 and Φ̇ = 0 from where integration left them          (4)

The set of a rule of Platt lasts until the rule changes it after a step, and its rows are not drawn back. It starts
with all active rows, or (platt_improved) with those among them that tend to be violated.
"""

from __future__ import annotations

from ..compiled import compiled, entry, inline
from ..methods.base import CONTRADICTORY, OK, TOO_MANY
from ..model.evaluate import clear, drive, forces, move, times
from .collect import add_rows, equalities, inequalities, rates
from .context import NOTHING, NUMBER, TABLE, VECTOR, WHOLE, far, open_box
from .event_log import note_changes
from .solve_contacts import respond, settle
from .work import INFEASIBLE

PLATT, IMPROVED, JONQUET, EXACT = range(4)
RATE_TOLERANCE = 1e-9  # [m/s]
ACCELERATION_TOLERANCE = 1e-9  # [m/s²] that no force is needed for
ROUNDING = 0.125  # of the rounding error of Φ that methods count with
DRIFT = 0.1  # of the tolerances: no way back for less


@far(NOTHING, NUMBER, TABLE, TABLE, TABLE)
@compiled
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
@compiled
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


@inline
def mark_touching(par, work):
    """(1): marks par.touched, and how far each row may sink before that is an event."""
    ineq = par.ineq
    rounding = ROUNDING * par.numbers[2]
    fastest = 0.0
    for i in range(work.a.shape[0]):
        for c in range(3):
            fastest = max(fastest, abs(work.a[i, c]))
    # A row that parts so slowly comes back at once if it is drawn back at all. Were that a bounce, rows that are
    # loaded together but struck in turn would part and meet without end, driven by what rounding lets them sink.
    parting = max(par.resting, (8.0 * rounding * fastest) ** 0.5)
    for r in range(par.touched.shape[0]):
        phi, rate = ineq.phi[r], par.rate[r]
        near = phi <= par.gap_tolerance and -RATE_TOLERANCE <= rate <= parting
        par.touched[r] = 1 if near else 0
        par.started[r] = phi
        par.allowed[r] = max(-phi, 0.0) + (par.gap_tolerance if near else rounding)


@far(WHOLE, NUMBER, WHOLE)
@compiled
def choose_handled(box, t, instant):
    """(3): fill par.handled; λ and w of the touching rows into par.before and par.after."""
    system, state, par = open_box(box)
    free_acceleration((box, t, state.x, state.quat, state.v))
    mark_touching(par, system.work)
    persistent = par.rule == PLATT or par.rule == IMPROVED
    count = gather_touching(state, par, persistent)
    if count > par.S.shape[0]:
        return TOO_MANY
    add_rows((box, 0, count))
    logged = par.log.count[0]
    status = respond((box, count, par.rule, system.work.a, instant))
    for k in range(logged, min(par.log.count[0], par.log.ints.shape[0])):
        par.log.ints[k, 2] = par.source[par.log.ints[k, 2]]  # from places among candidates to rows of the model
    for i in range(count):
        r = par.source[i]
        held = par.member[i] == 1
        if par.rule == EXACT:
            pushed = par.normal[i] * par.S[i, i]
            held = pushed > ACCELERATION_TOLERANCE
            if held:
                par.started[r], par.allowed[r] = pushed, ACCELERATION_TOLERANCE
        par.handled[r] = 1 if held else 0
        par.before[r] = par.normal[i] if held or par.rule != EXACT else 0.0
        par.after[r] = par.slack[i]
    return CONTRADICTORY if status & INFEASIBLE else OK


@inline
def gather_touching(state, par, persistent):
    """The rows that the rule looks at become candidates; returns how many."""
    count = 0
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
    return count


@far(NOTHING, NUMBER)
@compiled
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


@entry
def take_first_set(box):
    first_set((box, 0.0))


@far(NOTHING, NUMBER)
@compiled
def draw_back(box, t):
    """(4): the shortest way back for positions, then for velocities; equalities keep their Φ and Φ̇."""
    system, state, par = open_box(box)
    ineq, cand = par.ineq, par.cand
    inequalities((box, t, state.x, state.quat, state.v, False))
    rates((box, state.v, par.rate))
    count = 0
    off = False
    for r in range(par.handled.shape[0]):
        if par.handled[r] == 1:
            par.wanted[count] = r
            par.member[count] = 1
            cand.b[count] = ineq.phi[r]
            count += 1
            rate = abs(par.rate[r] + ineq.phi_t[r])
            off = off or abs(ineq.phi[r]) > DRIFT * par.gap_tolerance or rate > DRIFT * RATE_TOLERANCE
    if not off:
        return
    equalities((box, t, state.x, state.quat, state.v, False, True))
    add_rows((box, 0, count))
    logged = par.log.count[0]
    clear(par.v0)
    for r in range(par.target.shape[0]):
        par.target[r] = 0.0
    respond((box, count, PLATT, par.v0, -1))
    move(system, state.x, state.quat, par.v0, 1.0, state.x, state.quat)
    for i in range(count):
        cand.b[i] = ineq.phi_t[par.source[i]]
    times(system, system.work.J, state.v, par.target)
    respond((box, count, PLATT, state.v, -1))
    par.log.count[0] = logged
