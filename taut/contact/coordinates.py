"""The contact problem in reduced coordinates (methods/reduced.py): every change of a velocity is B dθ̇.

    G = J B,    S = G H⁻¹ Gᵀ                                                                    (1)
    dθ̇ = H⁻¹ Gᵀ P,    dv = B dθ̇                                                                 (2)
    v̇ = B θ̈ + c                                                                                (3)

Where there are conditions on velocities as well, H⁻¹ - X S_A⁻¹ Xᵀ takes the place of H⁻¹
(methods/reduction/enforced.py). J v̇ and J dv are then those of the constrained motion, and nothing else in this package
knows of coordinates. λ of the scene's equalities, which the coordinates satisfy by themselves, is computed from the
contact forces, for records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from ..compiled import compiled, inline, on_demand, structure
from ..methods.reduced import Reduced, allocate, call_place_alone, keep, own_kinetic_energy, recall
from ..methods.reduction.basis import accelerate, fill_basis
from ..methods.reduction.blocks import solve_all_blocks
from ..methods.reduction.enforced import (
    constrain_accelerations,
    enforced_rows,
    enforces_any,
    evaluate_enforced,
    project_out,
)
from ..model.arrays import Array
from ..model.evaluate import copy
from ..model.model import Model
from .dissipation import kinetic_energy
from .rows import add_impulses


@structure
class Coordinates(NamedTuple):
    """Of methods in maximal coordinates `used` is 0, and all else is empty."""

    used: int
    reduced: Reduced
    force: Array  # (points, 3)
    load: Array  # (n,) Bᵀ force,
    change: Array  # (n,) and what it changes θ̇ or θ̈ by


def no_coordinates() -> Coordinates:
    return Coordinates(0, allocate(np.zeros(3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0))


def with_inequalities(model: Model, reduced: Reduced, max_active: int) -> Reduced:
    """The tables of `reduced`, with at most `max_active` active rows of the inequalities behind those of the model."""
    conditions = reduced.enforced.rows
    rows = np.concatenate([conditions, model.row_count + np.arange(len(model.inequality_names))])
    return reduced._replace(enforced=enforced_rows(rows, len(conditions) + max_active, len(reduced.basis.g)))


def coordinates(reduced: Reduced) -> Coordinates:
    n = len(reduced.basis.g)
    return Coordinates(1, reduced, np.zeros((len(reduced.basis.c) // 3, 3)), np.zeros(n), np.zeros(n))


@on_demand(types.none)
def evaluate_coordinates(system, state, ctx, t):
    """B, c, H and what is enforced beside the contacts, at the state."""
    reduced = ctx.coordinates.reduced
    copy(state.x, system.work.x1)
    copy(state.quat, system.work.quat1)
    copy(state.v, system.work.v1)
    recall(reduced, state.memory)
    call_place_alone(reduced.at.place, 0, (system, reduced, t, reduced.y))
    fill_basis(system, reduced)
    reduced.enforced.number[0] = 0
    if enforces_any(system, reduced.enforced):
        evaluate_enforced(system, reduced, t)


@on_demand(types.none)
def accelerate_freely(system, ctx, t):
    """(3) into work.a, from the forces in work.f and without contacts; W f, which was there, is kept in
    ctx.vel.unprojected."""
    coordinates = ctx.coordinates
    reduced, a = coordinates.reduced, system.work.a
    copy(a, ctx.vel.unprojected)
    accelerate(system, reduced, coordinates.change)
    if enforces_any(system, reduced.enforced):
        constrain_accelerations(system, reduced, t, coordinates.change)
    spread(reduced.basis, coordinates.change, a)
    for row in range(reduced.basis.c.shape[0]):
        a[row // 3, row % 3] += reduced.basis.c[row]


@inline
def spread(basis, change, out):
    """out = B change."""
    for row in range(basis.c.shape[0]):
        total = 0.0
        for j in basis.blocks.member[basis.blocks.begin[row] : basis.blocks.end[row]]:
            total += basis.B[row, j] * change[j]
        out[row // 3, row % 3] = total


@compiled
def change_by(coordinates):
    """(2): what the forces (or impulses) coordinates.force change the rates by, into coordinates.change."""
    reduced, force, load = coordinates.reduced, coordinates.force, coordinates.load
    basis = reduced.basis
    for j in range(load.shape[0]):
        load[j] = 0.0
    for row in range(basis.c.shape[0]):
        f = force[row // 3, row % 3]
        if f != 0.0:
            for j in basis.blocks.member[basis.blocks.begin[row] : basis.blocks.end[row]]:
                load[j] += basis.B[row, j] * f
    solve_all_blocks(basis.blocks, basis.H, load, coordinates.change)
    if reduced.enforced.number[0] > 0:
        project_out(basis.blocks, reduced.enforced, coordinates.change)


@on_demand(types.none)
def set_response(ctx, B, n):
    """(2) of a unit impulse of candidate n's row of B, into ctx.vel.response."""
    cand, coordinates = ctx.candidates, ctx.coordinates
    force = coordinates.force
    for i in range(force.shape[0]):
        force[i, 0] = force[i, 1] = force[i, 2] = 0.0
    for k in range(cand.ptr[n], cand.ptr[n + 1]):
        for c in range(3):
            force[cand.slot[k], c] += B[k, c]
    change_by(coordinates)
    spread(coordinates.reduced.basis, coordinates.change, ctx.vel.response)


@on_demand(types.none)
def add_impulses_reduced(ctx, n, v):
    """(2) of the impulses of the first n candidates; v += dv."""
    coordinates, force = ctx.coordinates, ctx.coordinates.force
    for i in range(force.shape[0]):
        force[i, 0] = force[i, 1] = force[i, 2] = 0.0
    add_impulses(ctx.candidates, n, ctx.vel.unit_weight, force)
    change_by(coordinates)
    spread(coordinates.reduced.basis, coordinates.change, ctx.vel.dv)
    for i in range(v.shape[0]):
        for c in range(3):
            v[i, c] += ctx.vel.dv[i, c]


@on_demand(types.none)
def keep_rates(system, state, ctx, t):
    """Add the change of the rates by impulses to the coordinates; bodies get the velocities that belong to them."""
    coordinates = ctx.coordinates
    reduced = coordinates.reduced
    for j in range(coordinates.change.shape[0]):
        reduced.y[1, j] += coordinates.change[j]
    keep(reduced, state.memory)
    recall(reduced, state.memory)
    call_place_alone(reduced.at.place, 0, (system, reduced, t, reduced.y))
    copy(system.work.v1, state.v)


@on_demand(types.float64)
def own_energy(state, ctx, t):
    return own_kinetic_energy(ctx.coordinates.reduced, state.memory, t)


@inline
def total_kinetic_energy(system, state, ctx, t):
    """Of bodies, and what scene.reduced gives beside them [J]."""
    total = kinetic_energy(system, state.v)
    if ctx.coordinates.used == 1:
        total += own_energy(state, ctx, t)
    return total
