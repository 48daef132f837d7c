"""XPBD: every spring a position constraint with a compliance [Macklin, Müller, Chentanez 2016].

    v* = v + h W f,   x = x₀ + h v*                                                             (1)
    Δλ = -(C + α̃ λ + γ u·(d - d₀)) / ((1 + γ)(w_i + w_j) + α̃),   α̃ = 1/(k h²),  γ = c/(k h)     (2)
    x_i += w_i u Δλ,   x_j -= w_j u Δλ,   λ += Δλ                                               (3)
    λ₂ + Δλ₂ <= 0                                                                               (4)
    v' = (x - x₀) / h                                                                           (5)

C = l - L, d = x_i - x_j, u = d/l. A second phase is a second constraint C₂ = l - L₂ of stiffness k₂ - k which
only pulls (4). k = inf makes a rod, k₂ = inf a limit that can not be passed, k = 0 nothing. (2) and (3) go
spring after spring in the order given (see springs.in_colours), `iterations` times per substep. The strong
form is many substeps of one iteration [Macklin et al. 2019].

Hard edges, limits and contacts (position_contact.py, after each sweep over springs) have no compliance. λ of hard edges
is not reported: it is what one sweep leaves.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...compiled import compiled, entry, structure
from ...compiled.vectors import add_pair
from ...forces.spring_law import in_colours
from ...methods import xpbd as declared
from ...methods.base import EVENTS_FULL, OK, option_index
from ...model.evaluate import set_time
from ..contact_events import is_nearly_full
from .common import baseline, baseline_context, end_step, external, springs_of
from .explicit import measure_velocity
from .position_contact import begin_contacts, finish_contacts, push_out

SUBSTEPS, ITERATIONS = (option_index(declared.METHOD.options, name) for name in ("substeps", "iterations"))
Array = np.ndarray


@structure
class Xpbd(NamedTuple):
    x_start: Array  # x₀
    lam: Array  # λ h² of the first constraint of each spring [kg m]
    lam2: Array  # of the second
    soft: Array  # compliance 1/k [m/N]; inf: no constraint
    soft2: Array  # 1/(k₂ - k); inf: no second phase


def xpbd(s, n: int) -> Xpbd:
    """Workspace for springs.Springs on n nodes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        soft = np.where(s.k > 0.0, 1.0 / s.k, np.inf)
        stiffer = np.where(np.isinf(s.k2), np.inf, s.k2 - s.k)
        two = np.isfinite(s.elongation2) & (stiffer > 0.0) & np.isfinite(s.k)
        soft2 = np.where(two, 1.0 / stiffer, np.inf)
    return Xpbd(np.zeros((n, 3)), np.zeros(s.rest.size), np.zeros(s.rest.size), soft, soft2)


@compiled
def project(work, s, x, w, h):
    """(2) to (4) once over all springs."""
    x_start, lam, lam2, soft, soft2 = work.x_start, work.lam, work.lam2, work.soft, work.soft2
    per_step = 1.0 / (h * h)
    for q in range(lam.shape[0]):
        i = s.i[q]
        j = s.j[q]
        weight = w[i] + w[j]
        if weight == 0.0:
            continue
        d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
        l = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        if l == 0.0:
            continue
        inverse = 1.0 / l
        moved = 0.0
        if soft[q] < np.inf:
            a = soft[q] * per_step
            top = l - s.rest[q] + a * lam[q]
            bottom = weight + a
            if s.damping[q] > 0.0:
                gamma = soft[q] * s.damping[q] / h
                along = d0 * (d0 - x_start[i, 0] + x_start[j, 0])
                along += d1 * (d1 - x_start[i, 1] + x_start[j, 1])
                along += d2 * (d2 - x_start[i, 2] + x_start[j, 2])
                top += gamma * along * inverse
                bottom += gamma * weight
            moved = -top / bottom  # (2)
            lam[q] += moved
        if soft2[q] < np.inf:
            a = soft2[q] * per_step
            longer = l + weight * moved - (1.0 + s.elongation2[q]) * s.rest[q]
            change = -(longer + a * lam2[q]) / (weight + a)  # (2)
            change = min(change, -lam2[q])  # (4)
            lam2[q] += change
            moved += change
        size = moved * inverse
        a, b = w[i] * size, w[j] * size
        add_pair(x, i, j, a, b, d0, d1, d2)  # (3)


@compiled
def predict(work, x, v, w, external, h):
    """(1), with all λ at zero."""
    x_start = work.x_start
    for q in range(work.lam.shape[0]):
        work.lam[q] = 0.0
        work.lam2[q] = 0.0
    for i in range(x.shape[0]):
        for c in range(3):
            x_start[i, c] = x[i, c]
            v[i, c] += h * (w[i] * external[i, c])
            x[i, c] += h * v[i, c]


@entry
def step_xpbd(work, s, x, v, w, external, h, substeps, iterations):
    """Advance x and v by h, in equal substeps. On return lam / (h/substeps)² is each spring's -tension [N]."""
    part_of_h = h / substeps
    for _ in range(substeps):
        predict(work, x, v, w, external, part_of_h)
        for _ in range(iterations):
            project(work, s, x, w, part_of_h)
        measure_velocity(x, work.x_start, part_of_h, v)  # (5)


def prepare(model, system, state, options):
    springs = in_colours(springs_of(model, np.inf, limits=True), len(model.x))
    return state, baseline_context(model, system, state, options, springs, xpbd(springs, len(model.x)))


@compiled
def step(system, state, t, h, ctx):
    if is_nearly_full(ctx.contacts.events):
        return EVENTS_FULL
    external(system, state, t, ctx.batch, ctx.members)
    substeps, iterations = int(ctx.options[SUBSTEPS]), int(ctx.options[ITERATIONS])
    x, v, dt = state.x, state.v, h / substeps
    for k in range(substeps):
        now = t + (k + 1) * dt
        begin_contacts(system, state, now - dt, dt, ctx.contacts)
        predict(ctx.work, x, v, ctx.w, system.work.f, dt)
        set_time(system, now, x, state.quat, v)
        for _ in range(iterations):
            project(ctx.work, ctx.springs, x, ctx.w, dt)
            push_out(system, state, now, ctx.contacts, ctx.w)
        measure_velocity(x, ctx.work.x_start, dt, v)
        finish_contacts(system, state, ctx.contacts, dt)
    end_step(system, state, ctx.contacts, t + h, h)
    return OK


METHOD = baseline(declared.METHOD, step, prepare)
