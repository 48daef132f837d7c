"""Reduced coordinates: as many unknowns as the motion has freedoms, so that no constraint can drift.

    x = x(θ, t),   v = B θ̇ + x_t                                                 (1)
    (Bᵀ M B) θ̈ = Bᵀ (f - M c)                                                    (2)  [COL865: Lagrange]
    y = (θ, θ̇),   y' = y + h (k₁ + 2 k₂ + 2 k₃ + k₄)/6                           (3)  Runge-Kutta 4
    y' by Dormand-Prince of order 8 within the tolerance                         (4)  where one is given
    (4) in place of (3), where coordinates come near a singular position         (5)  reduction/singular.py

Three forms have (1) and (2) in files of their own: formulas of the scene, links as a tree, linear constraints
(reduction/). Conditions on velocities beside formulas, and inequalities that are active, are enforced by multipliers of
their own (reduction/enforced.py). Other λ are not needed for the motion, but for the work of drivers, which is one
more y: of each stage, and of each record, it is the one that belongs to (x, v, t).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from ..compiled import compiled, inline, on_demand, structure
from ..compiled.function_pointers import address_of, indirect_call
from ..model.arrays import CORRECTIONS, DRIVER_WORK, FORCE_WORK, Array, State, System
from ..model.driver_work import power_against_forces
from ..model.evaluate import copy, free_accelerations, power_at, set_time
from ..model.evaluate import update_places as place_on_bodies
from ..model.model import Model
from . import dormand_prince as dp
from .acceleration import constrained, observe_lagrange
from .base import BOTH, OK, REDUCED_AT, ROUNDING, SINGULAR_COORDINATES, TOLERANCE, TOO_SMALL, Hooks, Method
from .pace import LOOK, is_stuck
from .reduction import FORMS, form_of, formulas, linear, refuses, singular, sweeps
from .reduction.basis import FORMULAS, LINEAR, TREE, Basis, basis, blocks_for, fill_basis
from .reduction.enforced import (
    MOST_PROJECTIONS,
    Enforced,
    constrain_accelerations,
    enforced_rows,
    enforces_any,
    evaluate_enforced,
    subtract,
    worst_phi,
)
from .reduction.formulas import Formulas
from .reduction.linear import Linear
from .reduction.singular import (
    APART_BY,
    NEAR,
    forget,
    is_apart,
    is_near,
    remember,
    turns_within,
    weighted_error,
)
from .reduction.sweeps import SPATIAL, Tree
from .style import DASHED, Style

FIRST_STEP = 1e-3  # tried by (4) [s]


@structure
class Coefficients(NamedTuple):
    """Of (3) or (4)."""

    A: Array
    B: Array
    C: Array


RK4 = Coefficients(
    np.array([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]),
    np.array([1.0, 2.0, 2.0, 1.0]) / 6.0,
    np.array([0.0, 0.5, 0.5, 1.0]),
)
CONTROLLED = Coefficients(dp.A, dp.B, dp.C)


class Addresses(NamedTuple):
    """Of what a step calls (compiled/function_pointers.py says why)."""

    place: int = 0
    slope: int = 0


@structure
class Reduced(NamedTuple):
    """What the step gets as `options`: the numbers of options.py, the tables of the form, and workspace."""

    options: Array
    form: int
    at: Addresses
    formulas: Formulas
    tree: Tree
    linear: Linear
    basis: Basis
    enforced: Enforced
    fixed: Coefficients  # of (3)
    controlled: Coefficients  # of (4)
    y: Array  # (2, n): θ, θ̇
    y1: Array
    y2: Array
    slopes: Array  # (stages, 2, n)


def allocate(options: Array, n: int = 0) -> Reduced:
    """Tables without a form, for n coordinates."""
    nothing = enforced_rows(np.zeros(0, np.int64), 0, n)
    shapes = ((2, n), (2, n), (2, n), (dp.STAGES, 2, n))
    return Reduced(
        options, FORMULAS, Addresses(), formulas.allocate(), sweeps.allocate(), linear.allocate(), basis(0, n), nothing,
        RK4, CONTROLLED, *(np.zeros(shape) for shape in shapes),
    )  # fmt: skip


def prepare(model: Model, system: System, state: State, options: Array) -> tuple[State, Reduced]:
    """Find the coordinates of the initial state. state.memory: the step that (4) tries next, then the
    coordinates and rates that are kept between steps."""
    form = form_of(model)
    tables, kept = FORMS[form].prepare(model, system, state)
    n = 2 * len(tables.slot) if form == TREE and tables.width == SPATIAL else kept.shape[1]
    blocks = blocks_for(form, tables, len(model.x), n)
    conditions = np.flatnonzero(model.rows.at_velocity)
    reduced = allocate(options, n)._replace(
        form=form, basis=basis(len(model.x), n, blocks),
        enforced=enforced_rows(conditions, len(conditions), n),
        formulas=tables if form == FORMULAS else formulas.allocate(),
        tree=tables if form == TREE else sweeps.allocate(), linear=tables if form == LINEAR else linear.allocate(),
    )  # fmt: skip
    kinds = numba.typeof(system), numba.typeof(reduced)
    number, table = types.float64, types.float64[:, ::1]
    at = Addresses(
        address_of(place_alone, types.none, *kinds, number, table),
        address_of(slope, types.int64, *kinds, number, table, table),
    )
    return state._replace(memory=np.concatenate([[0.0], kept.ravel()])), reduced._replace(at=at)


@inline
def place(system, reduced, t, y):
    """(1) into the spare configuration."""
    work = system.work
    x, quat, v = work.x1, work.quat1, work.v1
    set_time(system, t, x, quat, v)
    if reduced.form == FORMULAS:
        formulas.place(reduced.formulas, t, y, x, quat, v)
        place_on_bodies(system, x, quat, v)
    elif reduced.form == TREE:
        place_on_bodies(system, x, quat, v)
        sweeps.place(reduced.tree, y, x, v)
    else:
        linear.place(reduced.linear, system.signals.values, y, x, v)


@compiled
def place_alone(system, reduced, t, y):
    """`place` is copied into its callers; this has an address."""
    place(system, reduced, t, y)


@compiled
def slope(system, reduced, t, y, out):
    """(2): the slope of y. Returns 1 where the coordinates are singular."""
    work, mass = system.work, system.bodies.mass
    place(system, reduced, t, y)
    free_accelerations(system, t, work.x1, work.quat1, work.v1)
    for j in range(y.shape[1]):
        out[0, j] = y[1, j]
    singular = 0
    if reduced.form == FORMULAS:
        singular = formulas.accelerate(reduced.formulas, mass, work.f, out[1])
    elif reduced.form == TREE:
        sweeps.accelerate(reduced.tree, mass, work.f, work.driven, out[1])
    else:
        linear.accelerate(reduced.linear, work.f, out[1])
    if singular == 0 and enforces_any(system, reduced.enforced):
        singular = fill_basis(system, reduced)
        constrain_accelerations(system, reduced, t, out[1])
    return singular


@on_demand(types.none)
def project_state(system, reduced, t, y):
    """Bring what is enforced back to Φ = 0 and Φ̇ = 0 after a step (reduction/enforced.py)."""
    enforced = reduced.enforced
    for _ in range(MOST_PROJECTIONS):
        call_place_alone(reduced.at.place, 0, (system, reduced, t, y))
        fill_basis(system, reduced)
        evaluate_enforced(system, reduced, t)
        if worst_phi(enforced) <= reduced.options[ROUNDING]:
            break
        subtract(reduced.basis.blocks, enforced, enforced.phi, y[0])
    subtract(reduced.basis.blocks, enforced, enforced.slip, y[1])


@inline
def find_power(system, reduced, t, slope, lam, out):
    """Of drivers and forces at the stage just evaluated; λ of what is enforced is that of the reduced coordinates."""
    work, enforced = system.work, reduced.enforced
    if reduced.form == FORMULAS:  # all that is not applied does what the energy gains beside applied forces
        out[0] = formulas.power_of_time(reduced.formulas, system.bodies.mass, work.f, work.v1, slope[1])
        out[0] += power_against_forces(system, work.v1)
        out[1] = work.power[0]
        return
    constrained(system, t, work.x1, work.quat1, work.v1, 0.0, 0.0, lam)
    if enforces_any(system, enforced):
        for r in range(enforced.number[0]):
            lam[enforced.row[r]] = -enforced.mu[r]
    power_at(system, work.J, work.v1, lam, out)


call_place_alone = indirect_call(types.none, lambda number: place_alone)
call_slope = indirect_call(types.int64, lambda number: slope)


@inline
def recall(reduced, memory):
    kept = memory[REDUCED_AT:].reshape((2, (memory.shape[0] - REDUCED_AT) // 2))
    if reduced.form == TREE and reduced.tree.width == SPATIAL:
        sweeps.choose_charts(reduced.tree, kept, reduced.y)
    else:
        copy(kept, reduced.y)


@inline
def keep(reduced, memory):
    kept = memory[REDUCED_AT:].reshape((2, (memory.shape[0] - REDUCED_AT) // 2))
    if reduced.form == TREE and reduced.tree.width == SPATIAL:
        sweeps.keep_directions(reduced.tree, reduced.y, kept)
    else:
        copy(reduced.y, kept)


@compiled
def take_stages(system, state, reduced, rule, now, used, known):
    """The slopes of a step from the time `now`, of which so many are known. Returns how many stages are singular."""
    y1, slopes, tables, work = reduced.y1, reduced.slopes, reduced.formulas, system.work
    controlled = rule.B.shape[0] == dp.STAGES
    singular = 0
    if known == 0:
        forget(tables.near)
    for k in range(known, rule.B.shape[0]):
        dp.combine(reduced.y, used, rule.A[k], k, y1.shape[0], slopes, y1)
        arguments = (system, reduced, now + rule.C[k] * used, y1, slopes[k])
        singular += call_slope(reduced.at.slope, 0, arguments)
        if system.accumulates_work == 1:
            find_power(system, reduced, now + rule.C[k] * used, slopes[k], state.lam, work.stage_power[k])
        if controlled and k == 0 and singular == 0:
            remember(tables, y1[1], slopes[0, 1], now)
    dp.combine(reduced.y, used, rule.B, rule.B.shape[0], y1.shape[0], slopes, reduced.y2)  # (3), (4)
    return singular


@compiled
def error_of(system, reduced, rule, now, used):
    """Of the step just taken to y2; a good one has an error below 1."""
    near, y, y2, tolerance = reduced.formulas.near, reduced.y, reduced.y2, reduced.options[TOLERANCE]
    if rule.B.shape[0] < dp.STAGES:
        return 0.0
    if tolerance == 0.0 or near.nearest[0] < NEAR:
        error = weighted_error(near, y, reduced.slopes, used, tolerance)
    else:
        e3, e5 = dp.error_part(y, y2, reduced.slopes, 2, tolerance)
        error = dp.scaled_error(used, e3, e5, 2.0 * y.shape[1])
    if error < 1.0 and (turns_within(near) or is_near(near)):
        call_place_alone(reduced.at.place, 0, (system, reduced, now + used, y2))
        if is_apart(reduced.formulas, y2[1], used):
            return APART_BY
    return error


@compiled
def step(system, state, t, h, reduced):
    """(3) is one step of length h, accepted as it is; (4) as many as the tolerance needs."""
    work, memory = system.work, state.memory
    near, y, tolerance = reduced.formulas.near, reduced.y, reduced.options[TOLERANCE]
    rule = reduced.controlled if tolerance > 0.0 else reduced.fixed
    copy(state.x, work.x1)  # with all that is fixed
    copy(state.quat, work.quat1)
    copy(state.v, work.v1)
    status = OK
    end, now = t + h, t
    size = h
    if tolerance > 0.0:
        size = memory[0] if memory[0] > 0.0 else min(h, FIRST_STEP)
    recall(reduced, memory)
    known, tries, mark = 0, 0, t  # known: slopes that a rejected step leaves for the next try
    while now < end:
        last = now + size * 1.0000001 >= end
        used = end - now if last else size
        singular = take_stages(system, state, reduced, rule, now, used, known)
        single = rule.B.shape[0] < dp.STAGES
        if single and reduced.form == FORMULAS and (singular > 0 or turns_within(near)):
            rule = reduced.controlled  # (5)
            near.refined[0] += 1
            continue
        error = error_of(system, reduced, rule, now, used)
        if error < 1.0 and singular == 0:
            for k in range(rule.B.shape[0]):
                state.ledger[DRIVER_WORK] += used * rule.B[k] * work.stage_power[k, 0]
                state.ledger[FORCE_WORK] += used * rule.B[k] * work.stage_power[k, 1]
            copy(reduced.y2, y)
            now = end if last else now + used
            if enforces_any(system, reduced.enforced):
                project_state(system, reduced, now, y)
            keep(reduced, memory)
            if not last:
                recall(reduced, memory)
            known = 0
            work.counts[CORRECTIONS] += 1
            size = dp.size_after_success(error, used, size, last)
        else:
            known = 1
            size = dp.size_after_failure(error, used)
        tries += 1
        if (single and known == 1) or is_stuck(size, now, tries, mark, h):
            status = SINGULAR_COORDINATES if singular > 0 or is_near(near) else TOO_SMALL
            break
        if tries % LOOK == 0:
            mark = now
    if tolerance > 0.0:
        memory[0] = size
    call_place_alone(reduced.at.place, 0, (system, reduced, t + h, y))
    copy(work.x1, state.x)
    copy(work.quat1, state.quat)
    copy(work.v1, state.v)
    return status


@compiled
def measure(system, state, t, reduced, phi, rate, slide, force, totals, energy):
    """Add the kinetic energy that scene.reduced gives beside that of bodies."""
    energy[0] += own_kinetic_energy(reduced, state.memory, t)


@compiled
def own_kinetic_energy(reduced, memory, t):
    """T of scene.reduced [J], 0 where it gives none."""
    if reduced.form != FORMULAS or reduced.formulas.kinetic == 0:
        return 0.0
    formulas.evaluate(reduced.formulas, t, memory[REDUCED_AT:].reshape((2, (memory.shape[0] - REDUCED_AT) // 2)))
    return reduced.formulas.T[0]


def reduced_of(context: Any) -> Reduced:
    """The tables in the context of a run, with inequalities (contact/algorithms.py) or without."""
    return context if isinstance(context, Reduced) else context.contact.coordinates.reduced


def names_of(model: Model) -> list[str]:
    return [name for name, _, _ in model.reduced_map.coordinates] if model.reduced_map is not None else []


def notes(model: Model, context: Any) -> list[str]:
    return singular.passages(reduced_of(context).formulas.near, names_of(model))


def explain(model: Model, context: Any, status: int) -> str:
    found = status == SINGULAR_COORDINATES and model.reduced_map is not None
    return singular.remedy(reduced_of(context).formulas.near, names_of(model)) if found else ""


METHOD = Method(
    name="reduced", source="COL865; Featherstone 1983", style=Style("#777777", DASHED, "d"),
    doc="Lagrange's equations in reduced coordinates: formulas of the scene, links, or linear constraints.",
    level="position and velocity", order=4, levels=BOTH, contacts=("events",),
    stages=dp.STAGES, step=step, refuses=refuses, coordinates="reduced", solves="0",
    suits={"judging": "scenes that have reduced coordinates"},
    hooks=Hooks(prepare=prepare, observe=observe_lagrange, measure=measure, notes=notes, explain=explain),
)  # fmt: skip
