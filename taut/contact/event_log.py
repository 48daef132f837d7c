"""Events of inequalities, and their λ, Φ and dΦ/dt for records.

In fixed steps a contact gives P = h λ in a step, with restitution other than λ of the step:

    P = h λ + s (P'' - h λ),    P'' and s of restitution.py                                         (1)

P belongs to one event of that contact and step, so that impulses of events can be added up: to the impact where there
is one, else to the activation. Where steps are cut at events, an activation is an instant and has none.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from ..model.evaluate import clear
from .broad_phase import add_pair_candidates, deepest_overlap
from .collect import add_candidates, evaluate_inequalities, gap_rates
from .dissipation import approaches_fast
from .problem import ACTIVATION, IMPACT, RELEASE
from .rows import NO, ZERO, add_impulses


@inline
def record_event(events, kind, row, pair, t, impulse):
    k = events.filled[0]
    if k < events.ints.shape[0]:
        events.ints[k, 0], events.ints[k, 1], events.ints[k, 2] = kind, row, pair
        events.numbers[k, 0], events.numbers[k, 1] = t, impulse
    events.filled[0] = k + 1


@inline
def events_of_steps(ctx):
    """How many events, entries of the log and evaluations of the rule there are."""
    events = ctx.events
    return events.filled[0], events.log.filled[0], events.instant[0]


@inline
def forget_steps(ctx, so_far):
    """Remove the entries written since then by a step that is repeated."""
    events = ctx.events
    events.filled[0], events.log.filled[0], events.instant[0] = so_far


@inline
def next_instant(events, t):
    """Number the evaluations of the rule, so that the log can tell the time of each."""
    k = events.instant[0]
    events.instant[0] = k + 1
    if k < events.instant_time.shape[0]:
        events.instant_time[k] = t
    return k


@inline
def log_source_rows(log, first, cand):
    """From places among the candidates to rows of the model, in the log from entry `first` on; pairs are below 0."""
    for k in range(first, min(log.filled[0], log.ints.shape[0])):
        log.ints[k, 2] = cand.source[log.ints[k, 2]]


@compiled
def record_changes(state, ctx, t):
    """Activations and releases between the set of the last step (state.contact) and the active set."""
    rows = ctx.ineq_work
    for r in range(rows.active.shape[0]):
        was = state.contact[r, 3] == 1.0
        now = rows.active[r] == 1
        if now != was:
            record_event(ctx.events, ACTIVATION if now else RELEASE, r, -1, t, 0.0)
        state.contact[r, 3] = rows.active[r]
        state.contact[r, 0] = rows.lam[r] if now else 0.0


@on_demand(types.none)
def record_impacts(ctx, t, n, resting):
    """Impulses of the candidates in ctx.dense.lam; ctx.dense.rate holds the rates before. A soft landing is none.

    Pairs are given by their place: `write_impulses` names them."""
    dense = ctx.dense
    worst = 0.0
    for i in range(n):
        worst = min(worst, dense.rate[i])
    if worst >= -resting:
        return
    largest = 0.0
    for i in range(n):
        largest = max(largest, dense.lam[i])
    for i in range(n):
        if dense.lam[i] > ctx.settings.steps.told_impulse * largest:
            source = ctx.candidates.source[i]
            record_event(ctx.events, IMPACT, max(source, -1), max(-1 - source, -1), t, dense.lam[i])


@inline
def pair_number(ctx, state, k):
    """Two balls packed into one number."""
    return state.pairs[k, 0] * ctx.ineq.ball_slot.shape[0] + state.pairs[k, 1]


@inline
def store_active_pairs(ctx, state):
    """Which pairs pushed in the last step, before their λ is overwritten."""
    for k in range(state.pair_count[0]):
        ctx.pairs.was_active[k] = 1 if state.pair_lam[k, 0] > 0.0 else 0


@compiled
def record_active_set(state, ctx, t):
    """Activations and releases in a fixed step: λ > 0 now against λ > 0 before. Pairs by their place."""
    for r in range(state.contact.shape[0]):
        now = state.contact[r, 0] > 0.0
        was = state.contact[r, 3] == 1.0
        if now != was:
            record_event(ctx.events, ACTIVATION if now else RELEASE, r, -1, t, 0.0)
        state.contact[r, 3] = 1.0 if now else 0.0
    for k in range(state.pair_count[0]):
        now = state.pair_lam[k, 0] > 0.0
        if now != (ctx.pairs.was_active[k] == 1):
            record_event(ctx.events, ACTIVATION if now else RELEASE, -1, k, t, 0.0)


@on_demand(types.none)
def record_inelastic(ctx, t, n, h):
    """Impacts without restitution in a fixed step of h: candidates that push and approached fast at its start."""
    cand = ctx.candidates
    for i in range(n):
        if cand.lam[i, 0] > 0.0 and approaches_fast(ctx, i, h):
            source = cand.source[i]
            record_event(ctx.events, IMPACT, max(source, -1), max(-1 - source, -1), t, cand.lam[i, 0])


@inline
def impulses_of_step(state, ctx, h):
    """h λ of all rows, and behind them of all pairs, into ctx.dense.c."""
    P, rows = ctx.dense.c, state.contact.shape[0]
    for r in range(rows):
        P[r] = h * state.contact[r, 0]
    for k in range(state.pair_count[0]):
        P[rows + k] = h * state.pair_lam[k, 0]


@inline
def place_of(state, source):
    """Where a candidate's impulse stands in ctx.dense.c."""
    return source if source >= 0 else state.contact.shape[0] - 1 - source


@compiled
def write_impulses(state, ctx, first):
    """(1), which ctx.dense.c holds, for the events of a fixed step from number `first` on; names of pairs."""
    events, P = ctx.events, ctx.dense.c
    for k in range(min(events.filled[0], events.ints.shape[0]) - 1, first - 1, -1):  # impacts before activations
        row, pair = events.ints[k, 1], events.ints[k, 2]
        if events.ints[k, 0] != RELEASE:
            place = place_of(state, row if row >= 0 else -1 - pair)
            events.numbers[k, 1] = P[place]
            P[place] = 0.0
        events.ints[k, 2] = -1 if row >= 0 else pair_number(ctx, state, pair)


@inline
def write_multipliers(ctx, equalities, lam):
    """λ of equalities, then of the listed rows (ctx.ineq_work.lam), with the sign of Φ as the user wrote it."""
    listed = ctx.ineq.listed
    first = lam.shape[0] - listed.shape[0]
    for r in range(first):
        lam[r] = equalities[r]
    for k in range(listed.shape[0]):
        lam[first + k] = ctx.ineq.sign[listed[k]] * ctx.ineq_work.lam[listed[k]]


@inline
def measure_rows(state, ctx, phi, rate, slide):
    """Φ, dΦ/dt and friction of the listed rows."""
    ineq = ctx.ineq
    listed = ineq.listed
    first = phi.shape[0] - listed.shape[0]
    for k in range(listed.shape[0]):
        r = listed[k]
        phi[first + k] = ineq.sign[r] * ineq.phi[r]
        rate[first + k] = ineq.sign[r] * (ctx.ineq_work.rate[r] + ineq.phi_t[r])
    for k in range(slide.shape[0]):
        slide[k, 0], slide[k, 1] = state.contact[listed[k], 1], state.contact[listed[k], 2]


@compiled
def measure(system, state, t, ctx, phi, rate, slide, force, totals, energy):
    """Φ and dΦ/dt of the listed rows, and what all contacts together do. ctx.ineq_work.lam holds λ of all rows.

    The time is set. force: on each slot [N]; totals: number of contacts with λ > 0, deepest overlap [m].
    """
    ineq, rows, cand = ctx.ineq, ctx.ineq_work, ctx.candidates
    evaluate_inequalities(system, ctx, t, state.x, state.quat, state.v, NO)
    gap_rates(ctx, state.v, rows.rate)
    measure_rows(state, ctx, phi, rate, slide)
    n = ZERO
    deep = 0.0
    for r in range(rows.lam.shape[0]):
        deep = max(deep, -ineq.phi[r])
        if rows.lam[r] != 0.0:
            rows.selected[n] = r
            cand.lam[n, 0] = rows.lam[r]
            cand.lam[n, 1], cand.lam[n, 2] = state.contact[r, 1], state.contact[r, 2]
            n += 1
    add_candidates(system, ctx, state.quat, ZERO, n)
    if ineq.ball_slot.shape[0] > 0:
        deep = max(deep, deepest_overlap(state, ctx))
        n = add_pair_candidates(state, ctx, n, ctx.vel.zero, 1.0, ctx.problem.pair_reach)
    total = ctx.vel.dv
    clear(total)
    add_impulses(cand, n, ctx.vel.unit_weight, total)
    count = 0
    for i in range(n):
        if cand.lam[i, 0] != 0.0:
            count += 1
    for i in range(force.shape[0]):
        for c in range(3):
            force[i, c] = total[i, c]
    totals[0] = count
    totals[1] = deep
