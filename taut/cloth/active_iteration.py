"""The multipliers of the papers' own step of cloth (active_limits.py (2)): which rows are active, and their λ.

    J W Jᵀ μ = φ(x'),   λ ← λ + μ/dt²,   x' ← x' - W Jᵀ μ                                       (1)

(1) is repeated, with rows that it violates meanwhile added, until all errors are small. Where many dependent springs
come to their limits at once, as in a flat free sheet that is flung apart, equalities contradict each other and leave
errors: then, or from iteration `bounded_from` on, λ ≥ 0 is a bound of the linear solve (bounded_tensions.py), and the
best of its iterations counts, if all lengths are within the tolerance. λ of the substep before alone never counts: as
a force of an impact that has passed it would go on accelerating light nodes.
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..methods.base import NOT_CONVERGED, OK
from ..model import arrays
from .active_contacts import evaluate_contacts
from .active_context import GATHERED, ITERATIONS, MULTIPLIED
from .active_system import gather, solve_active
from .bounded_tensions import solve_bounded
from .constraint_errors import ROUNDING, difference
from .predict import copy3


@inline
def apply_row(limits, e, size, x):
    """x -= W Jᵀ size of one row; size [kg m]."""
    i, j = limits.i[e], limits.j[e]
    for c in range(3):
        x[i, c] -= limits.w[e, 0] * limits.u[e, c] * size
        x[j, c] += limits.w[e, 1] * limits.u[e, c] * size


@inline
def set_direction(limits, e, x):
    """u of a spring; those that are not active need none."""
    a, b, c = difference(x, limits.i[e], limits.j[e])
    scale = 1.0 / max(sqrt(a * a + b * b + c * c), 1e-300)
    limits.u[e, 0], limits.u[e, 1], limits.u[e, 2] = a * scale, b * scale, c * scale


@inline
def find_violated(limits, x, edge):
    """Compute φ of springs that are active or too long, that of contacts has been computed, and activate rows that
    are violated. Returns the largest errors divided by `fine` and by `tol`, and how many rows were activated."""
    worst = 0.0
    passed = 0.0
    entered = 0
    springs = limits.length.shape[0]
    for e in range(limits.phi.shape[0]):
        if e < springs:
            a, b, c = difference(x, limits.i[e], limits.j[e])
            square = a * a + b * b + c * c
            if not limits.active[e] and square <= limits.target[e] * limits.target[e]:
                continue
            limits.phi[e] = sqrt(square) - limits.target[e]
        elif limits.w[e, 0] + limits.w[e, 1] == 0.0:
            continue
        error = abs(limits.phi[e]) if limits.active[e] and limits.tension[e] > 0.0 else limits.phi[e]
        worst = max(worst, error / limits.fine[e])
        passed = max(passed, error / limits.tol[e])
        if not limits.active[e] and limits.phi[e] > ROUNDING * (limits.length[e] if e < springs else edge):
            limits.active[e] = True
            entered += 1
            if e < springs:
                set_direction(limits, e, limits.x_start)
    return worst, passed, entered


@inline
def release(limits, first, x, dt):
    """Deactivate the rows from `first` on whose λ has the wrong sign: springs that resist shrinkage, contacts that
    pull. Returns how many there were."""
    left = 0
    for e in range(first, limits.i.shape[0]):
        if limits.active[e] and limits.tension[e] < 0.0 and not limits.stays[e]:
            apply_row(limits, e, -dt * dt * limits.tension[e], x)
            limits.tension[e] = 0.0
            limits.active[e] = False
            left += 1
    return left


@inline
def release_into_bounds(limits, x, dt):
    """Set negative tensions to zero before λ ≥ 0 becomes a bound; the rows stay active. Returns how many there were."""
    left = 0
    for e in range(limits.length.shape[0]):
        if limits.active[e] and limits.tension[e] < 0.0:
            apply_row(limits, e, -dt * dt * limits.tension[e], x)
            limits.tension[e] = 0.0
            left += 1
    return left


@inline
def save_best(limits, x):
    copy3(x, limits.x_best)
    for e in range(limits.i.shape[0]):
        limits.tension_best[e] = limits.tension[e]


@inline
def restore_best(limits, x):
    copy3(limits.x_best, x)
    for e in range(limits.i.shape[0]):
        limits.tension[e] = limits.tension_best[e]
        limits.active[e] = limits.tension[e] != 0.0


@compiled
def enforce_limits(system, state, ctx, t, dt):
    """(1), from x*. Returns OK or NOT_CONVERGED."""
    limits, x, settings = ctx.limits, state.x, ctx.limits.system.settings
    springs = limits.length.shape[0]
    for e in range(limits.i.shape[0]):
        if limits.active[e]:
            apply_row(limits, e, dt * dt * limits.tension[e], x)
    m = 0
    changed = 1
    bounded = False
    last = 1e300
    best = 0.0  # error of the best iteration that is within the tolerance; 0: there is none
    for k in range(settings.max_active_iterations):
        evaluate_contacts(system, state, ctx.contacts, t, limits.x_start)
        limits.counts[ITERATIONS] += 1
        worst, passed, entered = find_violated(limits, x, ctx.contacts.edge)
        if worst <= 1.0:
            changed = release(limits, 0, x, dt)
            if changed == 0:
                return OK
            continue
        share = settings.stalled_share if bounded else settings.contradicting_share
        stalled = entered == 0 and worst > share * last
        last = worst
        if bounded and stalled and best > 0.0:
            restore_best(limits, x)
            return OK
        if bounded and passed <= 1.0 and (best == 0.0 or worst < best):
            best = worst
            save_best(limits, x)
        if not bounded and (stalled or k == settings.bounded_from):
            bounded = True
            release_into_bounds(limits, x, dt)
            evaluate_contacts(system, state, ctx.contacts, t, limits.x_start)
            find_violated(limits, x, ctx.contacts.edge)
            changed = 1  # the system is another: ε is smaller
        if changed + entered > 0:
            soft = settings.softness_bounded if bounded else settings.softness
            m = gather(limits.system, limits.active, limits.u, soft)
            limits.counts[GATHERED] += limits.system.ptr[m]
        if bounded:
            took = solve_bounded(limits.system, m, limits.phi, limits.u, limits.tension, dt)
        else:
            took = solve_active(limits.system, m, limits.phi, limits.u)
        limits.counts[MULTIPLIED] += 2 * took * limits.system.ptr[m]  # by the matrix and by its incomplete factor
        system.work.counts[arrays.LINEAR_SOLVES] += 1
        for q in range(m):
            e = limits.system.row[q]
            limits.tension[e] += limits.system.mu[q] / (dt * dt)
            if bounded:
                limits.tension[e] = max(limits.tension[e], 0.0)  # rounding at a bound
            apply_row(limits, e, limits.system.mu[q], x)
        changed = release(limits, springs, x, dt) if k > 0 and not bounded else 0
    if best == 0.0:
        return NOT_CONVERGED
    restore_best(limits, x)
    return OK
