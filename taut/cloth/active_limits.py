"""The papers' own step of cloth: explicit springs, and constraints on over-long ones alone [ICRA 2005 V.B, HWC 2005 4].

    v* = v + dt W f,   x* = x + dt v*          f: springs at x, or of HWC (3/2) f - (1/2) f before  (1)
    J W Jᵀ μ = φ(x'),   λ ← λ + μ/dt²,   x' = x* - dt² W Jᵀ λ                                    (2)
    v' = v* + (x' - x*)/dt                                                                       (3)

A spring that (1) makes longer than its limit becomes a constraint, and is one until its tension λ would resist
shrinkage at the end of a substep: then it is a spring again. J is that of x, as in the paper, so that the momentum of
translation and of rotation is kept. λ begins as in the substep before; (2) is repeated, with springs that it made too
long meanwhile among the rows, until all lengths are within the tolerance. Substeps are so short
that (1) is stable, also with the stiffness λ/l of taut springs across; what does not converge is taken again in halves.

Departs from the paper: springs go on pulling while they are constraints, so that λ is what the limit adds, and it
goes to zero where the spring alone suffices. Contacts are further rows (active_contacts.py). Where many dependent
springs come to their limits at once, as in a flat free sheet that is flung apart, they contradict each other: then the
best round counts, if all lengths are within the tolerance.
What is too long at the start is brought back little by little.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure
from ..forces.spring_law import Springs, add_forces, joined
from ..methods.base import EVENTS_FULL, NOT_CONVERGED, OK
from ..methods.base import TOLERANCE as BOUND
from ..model import arrays
from ..model.arrays import DRIVER_WORK, IMPACT_LOSS
from ..model.evaluate import set_time
from .active_contacts import (
    ActiveContacts,
    active_contacts,
    begin_contacts,
    evaluate_contacts,
    finish_contacts,
    set_bounds,
)
from .active_system import ActiveSystem, active_system, gather, solve_active
from .baselines.common import SPRINGS, external
from .bounded_tensions import solve_bounded
from .codes import ADAMS_BASHFORTH, FORCE_BEFORE, H_BEFORE, UNCONSTRAINED_RULE
from .constraint_errors import RECOVERY, ROUNDING, difference
from .contact_events import begin_impulses, is_nearly_full, record_external
from .contact_rows import external_members
from .dissipation import accumulate_force_work
from .external_contact import evaluate_rows
from .predict import copy3, extrapolate, kick
from .problem import frequency
from .records import accumulate_driver_work, add_contact_forces, deepest, write_listed, write_multipliers
from .unknowns import edge_pairs

LONGEST = (1.4, 1.4, 0.7)  # substeps in units of 1/ω, by the rule of (1): codes.UNCONSTRAINED
TOLERANCE = 1e-3  # of the length of a limited spring
MAX_ROUNDS = 40  # of (2) in a substep,
STALLED = 0.8  # of the error of the best round: a round that brings no less has met springs that contradict each other
ROUNDS_WITH_ALL = 4  # and from this one on springs leave it at once where λ resists shrinkage
FINE = 5e-5  # of a length, times (ω dt)²: a share of the spring's force at full length
SUBSTEPS, ROUNDS, GATHERED, MULTIPLIED = range(4)  # ActiveLimits.counts: entries of the system that were gathered, ...
SHORTEST = 1.0 / 16384.0  # substep, of a step


@structure
class ActiveLimits(NamedTuple):
    """Springs with a limit, then contacts: e + r rows; and the state of a substep."""

    i: np.ndarray  # (e + r,) slots
    j: np.ndarray
    w: np.ndarray  # (e + r, 2) inverse masses of both; of an obstacle, which has no slot, zero
    length: np.ndarray  # (e,) at rest [m]
    longest: np.ndarray  # (e,) [m]
    target: np.ndarray  # (e,) the same in this substep,
    tol: np.ndarray  # (e + r,) how far it may be passed [m],
    fine: np.ndarray  # (e + r,) and missed, where (2) converges [m]
    tension: np.ndarray  # (e + r,) λ [N]
    active: np.ndarray  # (e + r,) bool
    u: np.ndarray  # (e + r, 3) unit vectors from j to i at the start of the substep; of a contact -n
    phi: np.ndarray  # (e + r,) l - target [m]; of a contact its depth
    history: np.ndarray  # (FORCE_BEFORE + 3 slots,) as in context.StepMemory
    x_start: np.ndarray  # (slots, 3)
    v_start: np.ndarray
    tension_start: np.ndarray  # (e + r,)
    x_best: np.ndarray  # (slots, 3) of the best round of (2) so far,
    tension_best: np.ndarray  # (e + r,)
    v_free: np.ndarray  # (slots, 3) v*
    force: np.ndarray  # (slots, 3) all of (1), springs included [N]
    across: np.ndarray  # (slots,) Σ λ/l of the springs at a node [N/m]
    frequency: float  # of springs [1/s], over 1 for one substep
    exact: int  # 1: springs never resist shrinkage, 0: they are released between substeps alone
    counts: np.ndarray  # (4,) what was done so far: SUBSTEPS, ROUNDS, GATHERED, MULTIPLIED
    system: ActiveSystem


@structure
class ActiveContext(NamedTuple):
    options: np.ndarray  # of methods/base.py
    springs: Springs
    limits: ActiveLimits
    contacts: ActiveContacts
    w: np.ndarray  # (slots,) inverse masses
    batch: np.ndarray  # batches of springs in system.forces,
    members: np.ndarray  # and how many each has


def memory_of(model) -> int:
    """Length of state.memory: λ, then what Adams-Bashforth remembers, and impulses of contacts."""
    return len(edge_pairs(model)[0]) + 2 * len(external_members(model)[0]) + FORCE_BEFORE + 3 * len(model.x)


def start(model, system, state, options):
    rows = len(edge_pairs(model)[0]) + len(external_members(model)[0])
    return state, context_of(model, system, state, options, state.memory[rows : rows + FORCE_BEFORE + 3 * len(model.x)])


def context_of(model, system, state, options, history) -> ActiveContext:
    """`history`: a view of state.memory for what Adams-Bashforth remembers; λ are its first numbers."""
    pairs, length, longest = edge_pairs(model)
    touching = external_members(model)[0]
    both = np.concatenate([pairs, touching])
    e, rows, slots = len(pairs), len(both), len(model.x)
    w = np.ascontiguousarray(model.bodies.inverse_mass[:, 0])
    springs = joined(*(family for deformable in model.deformables for family in deformable.springs.values()))
    i = np.ascontiguousarray(both[:, 0])
    j = np.where(both[:, 1] >= 0, both[:, 1], i)
    own = np.stack([w[i], np.where(both[:, 1] >= 0, w[j], 0.0)], axis=1)
    deformable_nodes = np.concatenate([deformable.slots for deformable in model.deformables])
    balls = np.setdiff1d(np.flatnonzero(w > 0.0), deformable_nodes)
    limits = ActiveLimits(
        i=i, j=j, w=own, length=length, longest=longest, target=longest.copy(), tol=np.zeros(rows),
        fine=np.zeros(rows), tension=state.memory[:rows], active=np.zeros(rows, bool), u=np.zeros((rows, 3)),
        phi=np.zeros(rows), history=history, x_start=np.zeros((slots, 3)), v_start=np.zeros((slots, 3)),
        tension_start=np.zeros(rows), x_best=np.zeros((slots, 3)), tension_best=np.zeros(rows),
        v_free=np.zeros((slots, 3)), force=np.zeros((slots, 3)), across=np.zeros(slots),
        frequency=frequency(w, springs), exact=int(all(sheet.limit_rule == "exact" for sheet in model.deformables)),
        counts=np.zeros(4), system=active_system(both, w, balls),
    )  # fmt: skip
    contacts = active_contacts(model, state, limits.tension[e:], limits.active[e:], limits.phi[e:])
    batch = np.flatnonzero(system.forces.code == SPRINGS)
    return ActiveContext(options, springs, limits, contacts, w, batch, system.forces.members[batch])


@inline
def longest_substep(of, contacts, w, v, rule):
    """The longest stable substep [s], in which nothing passes through an obstacle unseen either."""
    for k in range(of.across.shape[0]):
        of.across[k] = 0.0
    for e in range(of.length.shape[0]):
        if of.tension[e] > 0.0:
            size = of.tension[e] / of.length[e]
            of.across[of.i[e]] += size
            of.across[of.j[e]] += size
    most = 0.0
    for k in range(of.across.shape[0]):
        most = max(most, w[k] * of.across[k])
    longest = LONGEST[rule] / sqrt(of.frequency * of.frequency + 2.0 * most)
    if contacts.rows.phi.shape[0] > 0:
        fastest = 0.0
        for k in range(v.shape[0]):
            fastest = max(fastest, v[k, 0] ** 2 + v[k, 1] ** 2 + v[k, 2] ** 2)
        longest = min(longest, contacts.travel / max(sqrt(fastest), 1e-300))
    return longest


@inline
def set_directions(of, x, dt, tolerance):
    """u and targets at the start of a substep; active is what has a tension.

    Tolerances are such that substeps one after the other never use more than the tolerance in all, and that what
    they leave is a small force. Of contacts `fine` is a share of a length, for begin_contacts.
    """
    turn = of.frequency * dt
    fine = FINE * min(1.0, turn * turn)
    for e in range(of.tol.shape[0]):
        of.active[e] = of.tension[e] > 0.0
        of.fine[e] = fine
    for e in range(of.length.shape[0]):
        a, b, c = difference(x, of.i[e], of.j[e])
        l = sqrt(a * a + b * b + c * c)
        scale = 1.0 / max(l, 1e-300)
        of.u[e, 0], of.u[e, 1], of.u[e, 2] = a * scale, b * scale, c * scale
        of.target[e] = max(of.longest[e], l - RECOVERY * (l - of.longest[e]))
        allowed = tolerance * of.length[e]
        of.tol[e] = max(of.longest[e] + allowed - of.target[e], 0.5 * RECOVERY * allowed)
        of.fine[e] = min(of.tol[e], fine * of.length[e])


@inline
def pull(of, e, size, x):
    """x -= W Jᵀ size of one row; size [kg m]."""
    i, j = of.i[e], of.j[e]
    for c in range(3):
        x[i, c] -= of.w[e, 0] * of.u[e, c] * size
        x[j, c] += of.w[e, 1] * of.u[e, c] * size


@inline
def find_violated(of, x, edge):
    """φ of springs, that of contacts being there; what is too long, or inside, becomes active. Returns the largest
    errors over `fine` and `tol`, and how many entered."""
    worst = 0.0
    passed = 0.0
    entered = 0
    springs = of.length.shape[0]
    for e in range(of.phi.shape[0]):
        if e < springs:
            a, b, c = difference(x, of.i[e], of.j[e])
            of.phi[e] = sqrt(a * a + b * b + c * c) - of.target[e]
        elif of.w[e, 0] + of.w[e, 1] == 0.0:
            continue
        error = abs(of.phi[e]) if of.active[e] and of.tension[e] > 0.0 else of.phi[e]
        worst = max(worst, error / of.fine[e])
        passed = max(passed, of.phi[e] / of.tol[e])
        if not of.active[e] and of.phi[e] > ROUNDING * (of.length[e] if e < springs else edge):
            of.active[e] = True
            entered += 1
    return worst, passed, entered


@inline
def release(of, first, x, dt):
    """Rows from `first` on that resist shrinkage, or pull on what they touch, let go. Returns how many."""
    left = 0
    for e in range(first, of.i.shape[0]):
        if of.active[e] and of.tension[e] < 0.0:
            pull(of, e, -dt * dt * of.tension[e], x)
            of.tension[e] = 0.0
            of.active[e] = False
            left += 1
    return left


@inline
def loosen(of, x, dt):
    """Springs that resist shrinkage, before bounds hold them: they stay among the rows. Returns how many."""
    left = 0
    for e in range(of.length.shape[0]):
        if of.active[e] and of.tension[e] < 0.0:
            pull(of, e, -dt * dt * of.tension[e], x)
            of.tension[e] = 0.0
            left += 1
    return left


@inline
def pulls(of):
    """Whether some contact does; or, by the exact rule, a spring resists shrinkage."""
    for e in range(0 if of.exact == 1 else of.length.shape[0], of.i.shape[0]):
        if of.tension[e] < 0.0:
            return True
    return False


@inline
def keep_round(of, x):
    copy3(x, of.x_best)
    for e in range(of.i.shape[0]):
        of.tension_best[e] = of.tension[e]


@inline
def return_to_best(of, x):
    copy3(of.x_best, x)
    for e in range(of.i.shape[0]):
        of.tension[e] = of.tension_best[e]
        of.active[e] = of.tension[e] != 0.0


@compiled
def hold_limits(system, state, ctx, t, dt):
    """(2), from x*. Returns OK or NOT_CONVERGED."""
    of, x = ctx.limits, state.x
    springs = of.length.shape[0]
    for e in range(of.i.shape[0]):
        if of.active[e]:
            pull(of, e, dt * dt * of.tension[e], x)
    m = 0
    changed = 1
    best = 0.0  # error of the best round that is within the tolerance; 0: there is none
    for k in range(MAX_ROUNDS):
        if k == ROUNDS_WITH_ALL:
            changed += loosen(of, x, dt)
        evaluate_contacts(system, state, ctx.contacts, t, of.x_start)
        of.counts[ROUNDS] += 1
        worst, passed, entered = find_violated(of, x, ctx.contacts.edge)
        if worst <= 1.0:
            changed = release(of, 0 if of.exact == 1 else springs, x, dt)  # contacts never pull
            if changed == 0:
                return OK
            continue
        if best > 0.0 and entered == 0 and worst > STALLED * best:
            return_to_best(of, x)
            return OK
        if passed <= 1.0 and not pulls(of) and (best == 0.0 or worst < best):
            best = worst
            keep_round(of, x)
        if changed + entered > 0:
            m = gather(of.system, of.active, of.u)
            of.counts[GATHERED] += of.system.ptr[m]
        if k >= ROUNDS_WITH_ALL:
            took = solve_bounded(of.system, m, of.phi, of.u, of.tension, dt)
        else:
            took = solve_active(of.system, m, of.phi, of.u)
        of.counts[MULTIPLIED] += took * of.system.ptr[m]
        system.work.counts[arrays.LINEAR_SOLVES] += 1
        for q in range(m):
            e = of.system.row[q]
            of.tension[e] += of.system.mu[q] / (dt * dt)
            if k >= ROUNDS_WITH_ALL:
                of.tension[e] = max(of.tension[e], 0.0)  # rounding at a bound
            pull(of, e, of.system.mu[q], x)
        changed = release(of, springs, x, dt) if 0 < k < ROUNDS_WITH_ALL else 0
    if best == 0.0:
        return NOT_CONVERGED
    return_to_best(of, x)
    return OK


@inline
def accumulate_limit_losses(of, w, v, dt, ledger):
    """What limits took, as dissipation.accumulate_limit_losses; then release what would resist shrinkage."""
    for e in range(of.length.shape[0]):
        if not of.active[e]:
            continue
        i, j, rate, driven = of.i[e], of.j[e], 0.0, 0.0
        for c in range(3):
            u = of.u[e, c]
            rate += 0.5 * u * (of.v_free[i, c] + v[i, c] - of.v_free[j, c] - v[j, c])
            driven += u * (v[i, c] if w[i] == 0.0 else 0.0) - u * (v[j, c] if w[j] == 0.0 else 0.0)
        ledger[IMPACT_LOSS] += dt * of.tension[e] * rate
        ledger[DRIVER_WORK] += dt * of.tension[e] * driven
        of.active[e] = of.tension[e] > 0.0
        of.tension[e] = max(of.tension[e], 0.0)


@compiled
def substep(system, state, t, dt, ctx):
    """(1) to (3) from t to t + dt; a failure leaves the state as it was. Returns OK or NOT_CONVERGED."""
    of, w, x, v, contacts = ctx.limits, ctx.w, state.x, state.v, ctx.contacts
    first = of.length.shape[0]
    rule, tolerance = int(ctx.options[UNCONSTRAINED_RULE]), ctx.options[BOUND]
    copy3(x, of.x_start)
    copy3(v, of.v_start)
    for e in range(of.i.shape[0]):
        of.tension_start[e] = of.tension[e]
    of.counts[SUBSTEPS] += 1
    set_directions(of, x, dt, tolerance)
    copy3(system.work.f, of.force)
    add_forces(ctx.springs, x, v, of.force)
    if rule == ADAMS_BASHFORTH:
        if dt > 2.0 * of.history[H_BEFORE]:  # too far ahead of forces of a much shorter substep
            of.history[H_BEFORE] = 0.0
        extrapolate(of.force, dt, of.history)
    kick(v, w, dt, of.force)
    begin_contacts(system, state, contacts, t, dt, of.u[first:], of.tol[first:], of.fine[first:])
    set_time(system, t + dt, x, state.quat, v)
    set_bounds(system, state, contacts, t + dt, of.x_start)
    for k in range(w.shape[0]):
        for c in range(3):
            x[k, c] += dt * v[k, c] if w[k] > 0.0 else 0.0
    copy3(v, of.v_free)
    if hold_limits(system, state, ctx, t + dt, dt) != OK:
        copy3(of.x_start, x)
        copy3(of.v_start, v)
        for e in range(of.i.shape[0]):
            of.tension[e] = of.tension_start[e]
        of.history[H_BEFORE] = 0.0  # the forces before are gone: the next substep is symplectic Euler's
        return NOT_CONVERGED
    for k in range(w.shape[0]):
        for c in range(3):
            if w[k] > 0.0:
                v[k, c] = (x[k, c] - of.x_start[k, c]) / dt  # (3), as x* = x + dt v*
    accumulate_limit_losses(of, w, v, dt, state.ledger)
    finish_contacts(system, state, contacts, of.u[first:], of.v_free, t + dt, dt)
    return OK


@compiled
def step(system, state, t, h, ctx):
    if is_nearly_full(ctx.contacts.events):
        return EVENTS_FULL
    begin_impulses(state, ctx.contacts.impulses)
    external(system, state, t, ctx.batch, ctx.members)
    rule = int(ctx.options[UNCONSTRAINED_RULE])
    done = 0.0
    halved = h
    while done < h * (1.0 - 1e-12):
        longest = min(longest_substep(ctx.limits, ctx.contacts, ctx.w, state.v, rule), halved)
        dt = (h - done) / ceil((h - done) / longest * (1.0 - 1e-12))
        if substep(system, state, t + done, dt, ctx) == OK:
            done += dt
            halved = 2.0 * halved
        else:
            halved = 0.5 * dt
            if halved < SHORTEST * h:
                return NOT_CONVERGED
    set_time(system, t + h, state.x, state.quat, state.v)
    accumulate_driver_work(system, state, t + h, h)
    accumulate_force_work(system, state, t + h, h)
    record_external(ctx.contacts.rows, ctx.contacts.events, ctx.contacts.impulses, t + h)
    return OK


@compiled
def observe(system, state, t, ctx, lam):
    """λ for a record: there are no equalities."""
    write_multipliers(state, ctx.contacts.ineq, ctx.contacts.rows, lam)


@compiled
def measure(system, state, t, ctx, phi, rate, slide, force, totals, energy):
    """Of a record: Φ and dΦ/dt of listed inequalities, contact forces, how many push, the deepest, active limits."""
    contacts = ctx.contacts
    rows = contacts.rows
    for i in range(force.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
    for r in range(rows.phi.shape[0]):
        rows.depth_allowed[r] = 0.0
    pushing = 0
    if rows.phi.shape[0] > 0:
        evaluate_rows(system, contacts.ineq, rows, contacts.radius, t, state.x, state.quat, state.v)
        pushing = add_contact_forces(system.places, rows, rows.phi.shape[0], force)
        write_listed(state, contacts.ineq, phi, rate)
    count = 0
    for e in range(ctx.limits.length.shape[0]):
        count += 1 if ctx.limits.tension[e] > 0.0 else 0
    totals[0], totals[1], totals[2] = pushing, deepest(rows), count
