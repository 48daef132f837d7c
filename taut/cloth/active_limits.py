"""The papers' own step of cloth: explicit springs, and constraints on over-long ones alone [ICRA 2005 V.B, HWC 2005 4].

    v* = v + dt W f,   x* = x + dt v*          f: springs at x, or of HWC (3/2) f - (1/2) f before  (1)
    J W Jᵀ μ = φ(x'),   λ ← λ + μ/dt²,   x' = x* - dt² W Jᵀ λ                                    (2)
    v' = v* + (x' - x*)/dt                                                                       (3)

A spring that (1) makes longer than its limit becomes a constraint. It becomes a spring again when, at the end of a
substep, its tension λ would resist shrinkage; at once where it was shorter than its limit at the start of the substep,
since it would push its ends apart. J is that of x, as in the paper, so that the momentum of translation and
of rotation is kept. λ is warm-started from the substep before; (2) is iterated (active_iteration.py). Substeps are so
short that (1) is stable, also with the lateral stiffness λ/l of taut springs; one that does not converge is halved.

Departs from the paper: springs go on pulling while they are constraints, so that λ is what the limit adds, and it
goes to zero where the spring alone suffices. Contacts are further rows (active_contacts.py). A spring that is too long
at the start is shortened over several steps. The structures: active_context.py.
"""

from __future__ import annotations

from math import ceil, sqrt

from ..compiled import compiled, inline
from ..forces.spring_law import add_forces
from ..methods.base import EVENTS_FULL, NOT_CONVERGED, OK
from ..methods.base import TOLERANCE as BOUND
from ..model.arrays import DRIVER_WORK, IMPACT_LOSS
from ..model.evaluate import set_time
from .active_contacts import begin_contacts, finish_contacts, set_bounds
from .active_context import SUBSTEPS
from .active_iteration import enforce_limits, set_direction
from .baselines.common import external
from .codes import ADAMS_BASHFORTH, H_BEFORE, UNCONSTRAINED_RULE
from .constraint_errors import difference, recovery_of
from .contact_events import begin_impulses, is_nearly_full, record_external
from .dissipation import accumulate_force_work
from .external_contact import evaluate_rows
from .predict import copy3, extrapolate_forces, kick_nodes
from .records import accumulate_driver_work, add_contact_forces, max_depth, write_listed, write_multipliers

TOLERANCE = 1e-3  # of the length of a limited spring: the default of the option `tolerance`, not a setting


@inline
def longest_substep(limits, contacts, w, v, rule):
    """The longest substep [s] that is stable and in which no node can pass through an obstacle unnoticed."""
    for k in range(limits.across.shape[0]):
        limits.across[k] = 0.0
    for e in range(limits.length.shape[0]):
        if limits.tension[e] > 0.0:
            size = limits.tension[e] / limits.length[e]
            limits.across[limits.i[e]] += size
            limits.across[limits.j[e]] += size
    stiffest = 0.0
    for k in range(limits.across.shape[0]):
        stiffest = max(stiffest, w[k] * limits.across[k])
    settings = limits.system.settings
    phase = settings.longest_phase_adams if rule == ADAMS_BASHFORTH else settings.longest_phase
    max_dt = phase / sqrt(limits.frequency * limits.frequency + 2.0 * stiffest)
    if contacts.rows.phi.shape[0] > 0:
        fastest = 0.0
        for k in range(v.shape[0]):
            fastest = max(fastest, v[k, 0] ** 2 + v[k, 1] ** 2 + v[k, 2] ** 2)
        max_dt = min(max_dt, contacts.travel / max(sqrt(fastest), 1e-300))
    return max_dt


@inline
def set_targets(limits, x, dt, tolerance, recovery):
    """Set the target lengths at the start of a substep; rows with a tension are active, and get their direction u.

    Tolerances are chosen so that the errors of successive substeps add up to no more than the tolerance, and so that
    the error left corresponds to a small force. For contacts `fine` is relative to a length, as begin_contacts expects.
    """
    turn = limits.frequency * dt
    fine = limits.system.settings.fine_error * min(1.0, turn * turn)
    for e in range(limits.tol.shape[0]):
        limits.active[e] = limits.tension[e] > 0.0
        limits.fine[e] = fine
    for e in range(limits.length.shape[0]):
        allowed = tolerance * limits.length[e]
        limits.stays[e] = False
        limits.target[e] = limits.max_length[e]
        limits.tol[e] = allowed
        if limits.active[e]:
            set_direction(limits, e, x)
        a, b, c = difference(x, limits.i[e], limits.j[e])
        square = a * a + b * b + c * c
        if square >= limits.max_length[e] * limits.max_length[e]:
            l = sqrt(square)
            limits.stays[e] = limits.exact == 0
            limits.target[e] = max(limits.max_length[e], l - recovery * (l - limits.max_length[e]))
            limits.tol[e] = max(limits.max_length[e] + allowed - limits.target[e], 0.5 * recovery * allowed)
        limits.fine[e] = min(limits.tol[e], fine * limits.length[e])


@inline
def accumulate_limit_losses(limits, w, v, dt, ledger):
    """Like dissipation.accumulate_limit_losses, for these springs; then release those that would resist shrinkage."""
    for e in range(limits.length.shape[0]):
        if not limits.active[e]:
            continue
        i, j, rate, driven = limits.i[e], limits.j[e], 0.0, 0.0
        for c in range(3):
            u = limits.u[e, c]
            rate += 0.5 * u * (limits.v_free[i, c] + v[i, c] - limits.v_free[j, c] - v[j, c])
            driven += u * (v[i, c] if w[i] == 0.0 else 0.0) - u * (v[j, c] if w[j] == 0.0 else 0.0)
        ledger[IMPACT_LOSS] += dt * limits.tension[e] * rate
        ledger[DRIVER_WORK] += dt * limits.tension[e] * driven
        limits.active[e] = limits.tension[e] > 0.0
        limits.tension[e] = max(limits.tension[e], 0.0)


@inline
def gives_energy(ctx, x, v, dt):
    """Whether limits and contacts would add energy. They are inelastic, so they may add no more than recovery and
    `fine` ask for. Where bodies are driven no such bound is known."""
    limits, w = ctx.limits, ctx.w
    if ctx.contacts.ineq.to_parameter.shape[0] > 0:
        return False
    free, new, allowed = 0.0, 0.0, 0.0
    for k in range(w.shape[0]):
        for c in range(3):
            if w[k] > 0.0:
                u = (x[k, c] - limits.x_start[k, c]) / dt
                free += 0.5 * limits.v_free[k, c] ** 2 / w[k]
                new += 0.5 * u * u / w[k]
            elif v[k, c] != 0.0:
                return False
    for e in range(limits.i.shape[0]):
        back = limits.fine[e]
        if e < limits.length.shape[0]:
            a, b, c = difference(limits.x_start, limits.i[e], limits.j[e])
            back += sqrt(a * a + b * b + c * c) - limits.target[e]
        allowed += max(limits.tension[e] * back, 0.0)
    return new > (1.0 + limits.system.settings.max_gain) * free + allowed


@compiled
def substep(system, state, t, dt, ctx):
    """Take (1) to (3) from t to t + dt; on failure the state is restored. Returns OK or NOT_CONVERGED."""
    limits, w, x, v, contacts = ctx.limits, ctx.w, state.x, state.v, ctx.contacts
    first = limits.length.shape[0]
    rule, tolerance = int(ctx.options[UNCONSTRAINED_RULE]), ctx.options[BOUND]
    copy3(x, limits.x_start)
    copy3(v, limits.v_start)
    for e in range(limits.i.shape[0]):
        limits.tension_start[e] = limits.tension[e]
    limits.counts[SUBSTEPS] += 1
    set_targets(limits, x, dt, tolerance, recovery_of(contacts.settings.tolerances, dt))
    copy3(system.work.f, limits.force)
    add_forces(ctx.springs, x, v, limits.force)
    if rule == ADAMS_BASHFORTH:
        if dt > 2.0 * limits.history[H_BEFORE]:  # too far ahead of forces of a much shorter substep
            limits.history[H_BEFORE] = 0.0
        extrapolate_forces(limits.force, dt, limits.history)
    kick_nodes(v, w, dt, limits.force)
    begin_contacts(system, state, contacts, t, dt, limits.u[first:], limits.tol[first:], limits.fine[first:])
    set_time(system, t + dt, x, state.quat, v)
    set_bounds(system, state, contacts, t + dt, limits.x_start)
    for k in range(w.shape[0]):
        for c in range(3):
            x[k, c] += dt * v[k, c] if w[k] > 0.0 else 0.0
    copy3(v, limits.v_free)
    if enforce_limits(system, state, ctx, t + dt, dt) != OK or gives_energy(ctx, x, v, dt):
        copy3(limits.x_start, x)
        copy3(limits.v_start, v)
        for e in range(limits.i.shape[0]):
            limits.tension[e] = limits.tension_start[e]
        limits.history[H_BEFORE] = 0.0  # the forces before are gone: the next substep is symplectic Euler's
        return NOT_CONVERGED
    for k in range(w.shape[0]):
        for c in range(3):
            if w[k] > 0.0:
                v[k, c] = (x[k, c] - limits.x_start[k, c]) / dt  # (3), as x* = x + dt v*
    accumulate_limit_losses(limits, w, v, dt, state.ledger)
    finish_contacts(system, state, contacts, limits.u[first:], limits.v_free, t + dt, dt)
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
        max_dt = min(longest_substep(ctx.limits, ctx.contacts, ctx.w, state.v, rule), halved)
        dt = (h - done) / ceil((h - done) / max_dt * (1.0 - 1e-12))
        if substep(system, state, t + done, dt, ctx) == OK:
            done += dt
            halved = 2.0 * halved
        else:
            halved = 0.5 * dt
            if halved < ctx.limits.system.settings.shortest_share * h:
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
    totals[0], totals[1], totals[2] = pushing, max_depth(rows), count
