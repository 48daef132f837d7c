"""Provot's correction: springs integrated explicitly, then nodes of over-long springs moved [Provot 1995].

    x* = the explicit step                                                          (1)
    δ = max(0, l - (1 + limit) L) / (w_i + w_j),   x_i -= w_i δ u,   x_j += w_j δ u   (2)  spring after spring
    v' = (x' - x) / h                                                               (3)

(2) is repeated `iterations` times over all springs, or until none is too long. With equal masses it moves each
end by half, a pinned end not at all, as the paper does. Departs from the paper, which leaves the velocity unchanged:
(3) is common practice since, and without it cloth keeps the speed of a fall that the correction has undone. Nodes
inside an obstacle are projected out (position_contact.py) after each pass over springs.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...compiled import compiled, entry, inline, structure
from ...compiled.vectors import add_pair
from ...methods import provot as declared
from ...methods.base import EVENTS_FULL, OK, option_index
from ...model.evaluate import set_time
from ..contact_events import is_nearly_full
from .common import baseline, baseline_context, end_step, external, springs_of
from .explicit import EULER, Explicit, advance, explicit, measure_velocity
from .position_contact import begin_contacts, finish_contacts, push_out

OPTIONS = declared.METHOD.options
SUBSTEPS, ITERATIONS, LIMIT = (option_index(OPTIONS, name) for name in ("substeps", "iterations", "limit"))
Array = np.ndarray


@structure
class Provot(NamedTuple):
    explicit: Explicit
    x_start: Array  # positions at the beginning of the step


def provot(n: int) -> Provot:
    return Provot(explicit(n), np.zeros((n, 3)))


@inline
def set_out(work, s, x, v, w, external, h):
    """(1)"""
    for i in range(x.shape[0]):
        for c in range(3):
            work.x_start[i, c] = x[i, c]
    advance(work.explicit, s, x, v, w, external, h, EULER)


@inline
def shorten(s, x, w, limit):
    """(2) once over all springs; returns how many were too long."""
    corrected = 0
    for q in range(s.rest.shape[0]):
        i = s.i[q]
        j = s.j[q]
        d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
        l = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        over = l - (1.0 + limit) * s.rest[q]
        weight = w[i] + w[j]
        if over > 1e-12 * s.rest[q] and weight > 0.0:
            corrected += 1
            size = over / (weight * l)  # (2)
            a, b = w[i] * size, w[j] * size
            add_pair(x, i, j, -a, -b, d0, d1, d2)
    return corrected


@entry
def step_provot(work, s, x, v, w, external, h, substeps, limit, iterations):
    """Advance x and v by h, in equal substeps; returns how many corrections were made."""
    part_of_h = h / substeps
    total = 0
    for _ in range(substeps):
        set_out(work, s, x, v, w, external, part_of_h)
        for _ in range(iterations):
            corrected = shorten(s, x, w, limit)
            total += corrected
            if corrected == 0:
                break
        measure_velocity(x, work.x_start, part_of_h, v)  # (3)
    return total


def prepare(model, system, state, options):
    springs = springs_of(model, 0.0, limits=False)
    return state, baseline_context(model, system, state, options, springs, provot(len(model.x)))


@compiled
def step(system, state, t, h, ctx):
    if is_nearly_full(ctx.contacts.events):
        return EVENTS_FULL
    external(system, state, t, ctx.batch, ctx.members)
    substeps, iterations, limit = int(ctx.options[SUBSTEPS]), int(ctx.options[ITERATIONS]), ctx.options[LIMIT]
    x, v, dt = state.x, state.v, h / substeps
    for k in range(substeps):
        now = t + (k + 1) * dt
        begin_contacts(system, state, now - dt, dt, ctx.contacts)
        set_out(ctx.work, ctx.springs, x, v, ctx.w, system.work.f, dt)
        set_time(system, now, x, state.quat, v)
        for _ in range(iterations):
            too_long = shorten(ctx.springs, x, ctx.w, limit)
            inside = push_out(system, state, now, ctx.contacts, ctx.w)
            if too_long + inside == 0:
                break
        measure_velocity(x, ctx.work.x_start, dt, v)
        finish_contacts(system, state, ctx.contacts, dt)
    end_step(system, state, ctx.contacts, t + h, h)
    return OK


METHOD = baseline(declared.METHOD, step, prepare)
