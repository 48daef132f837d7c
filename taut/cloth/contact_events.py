"""Contacts of cloth as events: when each begins and ends, between what, and with which impulse.

    activation   a contact pushes at the end of a step and did not before; impulse of that step
    release      it pushed before and does no more; impulse from its beginning to its end
    impact       it began and ended within one step; its impulse

A contact of cloth lasts for many steps, so the impulse [N s] of a release is the integral of its force: over all
contacts, those that last included, they add up to the integral of the contact forces. External rows are known by their
number. A contact between deformables is known by its two features, each a node, an edge or a triangle (`feature`), and
kept in state.pairs, in ascending order, as long as it lasts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure
from ..contact.event_log import record_event
from ..contact.problem import ACTIVATION, IMPACT, RELEASE
from ..methods.base import OK, PAIRS_FULL
from ..model.arrays import State
from .contact_rows import MEMBERS


@structure
class Impulses(NamedTuple):
    """Of external rows [N s]."""

    before: np.ndarray  # (r,) of the contact that lasts, up to this step; zero: there is none. A view of state.memory
    in_step: np.ndarray  # (r,) in this step


def impulses(state: State, rows: int) -> Impulses:
    """The last numbers of state.memory are those of external rows."""
    return Impulses(state.memory[len(state.memory) - rows :], np.zeros(rows))


@inline
def is_nearly_full(events):
    """Whether events have to be handed over before another step."""
    return events.filled[0] > events.ints.shape[0] // 2


@compiled
def begin_impulses(state, impulses):
    """The start of a step."""
    for r in range(impulses.in_step.shape[0]):
        impulses.in_step[r] = 0.0
    for k in range(state.pair_count[0]):
        state.pair_lam[k, 1] = 0.0
        state.pair_lam[k, 2] = 0.0


@compiled
def add_impulses(rows, impulses, dt):
    """External rows after a substep of dt."""
    for r in range(impulses.in_step.shape[0]):
        if rows.active[r] and rows.lam[r] > 0.0:
            impulses.in_step[r] += dt * rows.lam[r]


@inline
def record(events, row, pair, t, before, in_step, lasts):
    """Record the event of a contact in a step that ends at t, if there is one."""
    if before == 0.0 and in_step > 0.0:
        record_event(events, ACTIVATION if lasts else IMPACT, row, pair, t, in_step)
    elif before > 0.0 and not lasts:
        record_event(events, RELEASE, row, pair, t, before + in_step)


@compiled
def record_external(rows, events, impulses, t):
    """Events of external rows in the step that ends at t."""
    for r in range(impulses.in_step.shape[0]):
        before, in_step = impulses.before[r], impulses.in_step[r]
        lasts = rows.active[r] and rows.lam[r] > 0.0
        record(events, r, -1, t, before, in_step, lasts)
        impulses.before[r] = before + in_step if lasts else 0.0
        impulses.in_step[r] = 0.0


@inline
def feature(rows, r, slots, sign):
    """The members of a row whose weights have a sign as one number: i; n + i n + j; n + n² + (i n + j) n + k."""
    a = -1
    b = -1
    c = -1
    for q in range(MEMBERS):
        if sign * rows.weight[r, q] > 0.0:
            s = rows.slot[r, q]
            if s > a:
                a, b, c = s, a, b
            elif s > b:
                b, c = s, b
            else:
                c = s
    if b < 0:
        return a
    if c < 0:
        return slots + b * slots + a
    return slots + slots * slots + (c * slots + b) * slots + a


def members_of(number: int, slots: int) -> tuple[int, ...]:
    """The slots of a feature, ascending."""
    if number < slots:
        return (number,)
    number -= slots
    if number < slots * slots:
        return divmod(number, slots)
    number -= slots * slots
    return (number // slots**2, number // slots % slots, number % slots)


@inline
def place_of(state, first, second):
    """Where a pair is, or belongs, in state.pairs."""
    low = 0
    high = state.pair_count[0]
    while low < high:
        middle = (low + high) // 2
        a, b = state.pairs[middle, 0], state.pairs[middle, 1]
        if a < first or (a == first and b < second):
            low = middle + 1
        else:
            high = middle
    return low


@inline
def insert_pair(state, k, first, second):
    for q in range(state.pair_count[0], k, -1):
        for c in range(2):
            state.pairs[q, c] = state.pairs[q - 1, c]
        for c in range(3):
            state.pair_lam[q, c] = state.pair_lam[q - 1, c]
    state.pairs[k, 0], state.pairs[k, 1] = first, second
    for c in range(3):
        state.pair_lam[k, c] = 0.0
    state.pair_count[0] += 1


@compiled
def add_pair_impulses(state, rows, count, dt):
    """Rows between deformables after a substep of dt: in pair_lam the impulse before the step, in it, and whether it
    lasts. Returns OK or PAIRS_FULL."""
    for k in range(state.pair_count[0]):
        state.pair_lam[k, 2] = 0.0
    slots = state.x.shape[0]
    for r in range(count):
        if rows.active[r] and rows.lam[r] > 0.0:
            first, second = feature(rows, r, slots, 1.0), feature(rows, r, slots, -1.0)
            k = place_of(state, first, second)
            if not (k < state.pair_count[0] and state.pairs[k, 0] == first and state.pairs[k, 1] == second):
                if state.pair_count[0] == state.pairs.shape[0]:
                    return PAIRS_FULL
                insert_pair(state, k, first, second)
            state.pair_lam[k, 1] += dt * rows.lam[r]
            state.pair_lam[k, 2] = 1.0
    return OK


@compiled
def record_pairs(state, events, external, t):
    """Events of rows between deformables; `external` is the number of other rows, behind which their features are
    counted. Only contacts that last stay in state.pairs."""
    lasting = 0
    for k in range(state.pair_count[0]):
        before, in_step, lasts = state.pair_lam[k, 0], state.pair_lam[k, 1], state.pair_lam[k, 2] == 1.0
        record(events, external + state.pairs[k, 0], state.pairs[k, 1], t, before, in_step, lasts)
        if lasts:
            state.pairs[lasting, 0], state.pairs[lasting, 1] = state.pairs[k, 0], state.pairs[k, 1]
            state.pair_lam[lasting, 0] = before + in_step
            state.pair_lam[lasting, 1], state.pair_lam[lasting, 2] = 0.0, 0.0
            lasting += 1
    state.pair_count[0] = lasting
