"""Rows that depend on each other at the start: are they redundant, or do they contradict each other?

With z any vector of zᵀ J = 0, rows agree where

    zᵀ Φ = 0,   zᵀ (Φ̇ - J v) = 0,   zᵀ (Φ̈ - J a) = 0                            (1)

in their values, their rates and their accelerations, which two drivers of one joint may not. What the nearest
position, velocity and acceleration leave of Φ, Φ̇ and Φ̈ is what (1) asks for, row by row:

    (J W Jᵀ) μ = -Φ,              q' = q ⊞ W Jᵀ μ                                (2)
    (J W Jᵀ) ν = -(J v + Φ_t),    v' = v + W Jᵀ ν                                (3)
    (J W Jᵀ) λ = -(J W f + γ),    a = W (f + Jᵀ λ)                               (4)

(4) is asked of sets with a row that changes with time alone: of others it may be the velocity that is no motion's,
where branches meet. Drivers may also agree at the start only: `contradiction` looks at (2) at any later time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.linalg import norm

from ..compiled import entry, inline
from ..constraints import ALL
from ..errors import TautError, listed, warn
from ..linalg import dependent_rows
from ..methods.acceleration import constrained
from ..methods.post_stabilization import correct_velocity
from ..model import Model
from ..model.arrays import SINGULAR_SYSTEMS, State, System
from ..model.evaluate import (
    advance_positions,
    apply_multipliers,
    clear,
    copy,
    drop_slip,
    evaluate_constraints,
    jacobian_times,
    set_time,
    solve,
)
from ..model.tiny_inertia import tiny_inertias
from ..scene.specs import HARD_EDGE
from .equalities import AS_GIVEN, REPAIR, amounts
from .projection import CONVERGED, project

Array = np.ndarray
CONFLICT_ROUNDS = 30
HALVINGS = 20
MISSED = 1e-6  # in units of a scale: what the nearest position, velocity or acceleration may leave
STANDS = 1e-2  # of what is left: by which further rounds may still change it
INSTANTS = (0.0, 0.013, 0.37, 1.0)  # of the duration, at which a row shows that it changes with time alone


class Clash(NamedTuple):
    """Rows that can not hold together."""

    rows: list[int]
    level: str  # "position", "velocity" or "acceleration"
    amount: float  # the most that the best leaves of a row
    unit: str

    def words(self, names: Sequence[str]) -> str:
        asked = "" if self.level == "position" else f"the {PLURAL[self.level]} that "
        ask = "" if self.level == "position" else " ask for"
        unit = f" {self.unit}" if self.unit else ""
        return (f"{asked}constraints {listed([names[r] for r in self.rows])}{ask} contradict each other: at best they "
                f"miss by {self.amount:.3g}{unit}")


PLURAL = {"velocity": "velocities", "acceleration": "accelerations"}


@entry
def evaluate_start(system, state):
    """λ, Φ and Φ̇ at t = 0 into state.lam, work.phi and work.b; returns whether rows depend on others."""
    work = system.work
    work.counts[SINGULAR_SYSTEMS] = 0
    constrained(system, 0.0, state.x, state.quat, state.v, 0.0, 0.0, state.lam)
    jacobian_times(system, work.J, state.v, work.b)
    for r in range(work.b.shape[0]):
        work.b[r] += work.phi_t[r]
    return work.counts[SINGULAR_SYSTEMS]


@entry
def evaluate_accelerations(system, state):
    """Φ̈ at t = 0 into work.b, with the accelerations of (4), which stay in work.a."""
    work = system.work
    constrained(system, 0.0, state.x, state.quat, state.v, 0.0, 0.0, state.lam)
    jacobian_times(system, work.J, work.a, work.b)
    for r in range(work.b.shape[0]):
        work.b[r] += work.gamma[r]


@entry
def project_velocity(system, state):
    correct_velocity(system, state, 0.0, False)  # (3)


@entry
def project_position(system, state, t):
    """(2), each step halved until it leaves less of Φ: what then remains is the least that positions near by leave."""
    work, weight = system.work, system.bodies.inverse_mass
    set_time(system, t, state.x, state.quat, state.v)
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
    if system.nonholonomic == 1:
        drop_slip(system, work.J)
    for _ in range(CONFLICT_ROUNDS):
        before = square(work.phi)
        for r in range(work.b.shape[0]):
            work.b[r] = -work.phi[r]
        solve(system, work.J, weight, work.b, work.mu)
        clear(work.v1)
        apply_multipliers(system, work.J, weight, work.mu, 1.0, work.v1)
        copy(state.x, work.x2)
        copy(state.quat, work.quat2)
        share = 1.0
        for _ in range(HALVINGS):
            advance_positions(system, work.x2, work.quat2, work.v1, share, state.x, state.quat)
            evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
            if system.nonholonomic == 1:
                drop_slip(system, work.J)
            if square(work.phi) < before:
                break
            share *= 0.5
        if not square(work.phi) < before:
            copy(work.x2, state.x)
            copy(work.quat2, state.quat)
            break
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)


@inline
def square(vector):
    total = 0.0
    for r in range(vector.shape[0]):
        total += vector[r] ** 2
    return total


@entry
def evaluate_places(system, state, t):
    """Φ at t into work.phi."""
    set_time(system, t, state.x, state.quat, state.v)
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, system.work.J)


def copied(state: State) -> State:
    return State(*(array.copy() for array in state))


def changing_rows(model: Model, system: System, state: State, until: float) -> Array:
    """(rows,) which rows change while all that is free stands still."""
    if not model.is_driven:
        return np.zeros(model.row_count, bool)
    found = []
    for share in INSTANTS:
        evaluate_places(system, copied(state), share * (until or 1.0))
        found.append(system.work.phi.copy())
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(np.array(found) - found[0]) > 1e-13).any(axis=0))


def clashes(model: Model, system: System, state: State, groups: Sequence[Sequence[int]], until: float) -> list[Clash]:
    """Where rates (3) or accelerations (4) of dependent rows contradict each other; `state` obeys Φ = 0 at t = 0.

    groups  the sets of dependent rows
    """
    state = copied(state)
    project_velocity(system, state)
    evaluate_start(system, state)
    rates = np.abs(system.work.b)
    conflicts = []
    off = rates > MISSED * (1.0 + float(norm(state.v, axis=1).max(initial=0.0)))
    if off.any():
        rows = [int(r) for r in np.argsort(-rates) if off[r]]
        conflicts.append(Clash(rows, "velocity", float(rates[rows[0]]), model.rate_unit(rows[0])))
    changing = changing_rows(model, system, state, until)
    if changing.any() and not conflicts:
        evaluate_accelerations(system, state)
        pulls = np.abs(system.work.b)
        off = pulls > MISSED * (1.0 + float(norm(system.work.a, axis=1).max(initial=0.0)))
        for group in groups:
            rows = sorted((int(r) for r in group if off[r]), key=lambda r: -pulls[r])
            if rows and changing[list(group)].any():
                conflicts.append(Clash(rows, "acceleration", float(pulls[rows[0]]), f"{model.rate_unit(rows[0])}²"))
    return conflicts


def contradiction(
    model: Model, system: System, state: State, t: float, scale: Array, missed: float = MISSED
) -> Clash | None:
    """Which rows no position near the state can meet at t (2); None also where the search has not come to an end.

    scale   (rows,) of each row's error
    missed  what may be left, in units of that
    """
    state = copied(state)
    project_position(system, state, t)
    before = np.abs(system.work.phi)
    project_position(system, state, t)
    left = np.abs(system.work.phi)
    with np.errstate(invalid="ignore"):
        off = left > missed * scale
        stands = bool(np.abs(left - before).max(initial=0.0) <= STANDS * left.max(initial=0.0))
    if not off.any() or not stands or not _is_least(model, system):
        return None
    rows = [int(r) for r in np.argsort(-left / scale) if off[r]]
    units = {row: unit for info in model.constraint_info for row, unit in zip(info.rows, info.units)}
    unit = units.get(rows[0], "1")
    return Clash(rows, "position", float(left[rows[0]]), "" if unit == "1" else unit)


def _is_least(model: Model, system: System) -> bool:
    """Whether W Jᵀ Φ vanishes beside its terms, so that no small move leaves less of Φ."""
    rows, work = model.rows, system.work
    row_of = np.concatenate([np.repeat(np.arange(model.row_count), np.diff(rows.ptr)), rows.spin_row])
    terms = work.J * work.phi[row_of, None] * np.sqrt(model.bodies.inverse_mass[rows.slot])
    together = np.zeros((len(model.x), 3))
    np.add.at(together, rows.slot, terms)
    return bool(norm(together) <= STANDS * norm(terms))


def explain(model: Model, system: System, state: State, scale: Array, size: float, mode: str, until: float) -> bool:
    """Say which rows depend on each other; returns whether they contradict each other. Joints and drivers that do are
    refused."""
    names = model.row_names
    near = copied(state)
    project_position(system, near, 0.0)
    left = np.abs(system.work.phi)
    reach = max(1.0, float(np.abs(model.x).max(initial=0.0)))
    broken = [names[r] for r in np.argsort(-left) if left[r] > MISSED * reach]
    if broken and mode != AS_GIVEN and _are_joints(model, left > MISSED * reach):
        phi = system.work.phi.copy()
        again = copied(state)
        if mode == REPAIR and not (project(model, system, again, scale, size).left > CONVERGED).any():
            return False  # it is only far from where it can be assembled
        raise TautError(f"the mechanism can not be assembled: however its bodies are moved, the start breaks "
                        f"{amounts(model, phi, left / scale)}. Change a length, a place or an axis of "
                        "theirs, leave one of them out, or keep the start with start='as_given' (--start as_given).")
    if broken:
        warn(f"constraints {listed(broken)} contradict each other: at best they miss by {left.max():.3g}; "
             "the least-squares compromise is used. Remove one or change its value")
        return True
    evaluate_start(system, state)
    edges = model.rows_of_role(HARD_EDGE)
    matrix = schur_complement(model, system, model.rows_off(state.x))
    groups = [group for group in dependent_rows(matrix) if not np.isin(group, edges).all()]
    if _refuse_clashes(model, clashes(model, system, near, groups, until), mode):
        return True
    tiny = tiny_inertias(model)
    lost = {info.name for info in model.constraint_info if info.name in tiny
            and any(row in info.rows for group in groups for row in group)}  # fmt: skip
    if lost:
        worst = max((tiny[name] for name in lost), key=lambda one: one.sigma)
        warn(f"rows of {listed(sorted(lost))} may be lost in rounding, since {worst.words()}. {worst.remedy()[:-1]}")
        return False
    changing = changing_rows(model, system, state, until)
    condition = "as long as they agree " if any(changing[list(group)].any() for group in groups) else ""
    texts = [listed([names[r] for r in group]) for group in groups[:3]]
    more = f" (and {len(groups) - 3} more)" if len(groups) > 3 else ""
    if groups:
        warn(f"constraints {'; '.join(texts)}{more} are redundant in the initial position: {condition}the motion "
             "is not affected, and of the possible multipliers the smallest are given")
    return False


def _refuse_clashes(model: Model, found: list[Clash], mode: str) -> bool:
    """Refuse what contradicts itself, unless it is to be kept, or is a condition on velocities; those are told."""
    for clash in found:
        text = clash.words(model.row_names)
        if mode != AS_GIVEN and not model.rows.at_velocity[clash.rows].any():
            raise TautError(f"{text}. Remove one or change its value, or keep the start with start='as_given' "
                            "(--start as_given).")
        warn(f"{text}; the least-squares compromise is used. Remove one or change its value")
    return bool(found)


def _are_joints(model: Model, broken: np.ndarray) -> bool:
    """Whether a joint between frames of bodies is among what is broken; broken: (rows,)."""
    return any(ALL[info.kind].frames and broken[list(info.rows)].any() for info in model.constraint_info)


def schur_complement(model: Model, system: System, off: np.ndarray):
    """J W Jᵀ at the configuration last evaluated, as a scipy sparse matrix; off: (rows,) that are switched off."""
    from scipy.sparse import csr_array, diags_array

    rows = model.rows
    row_of = np.concatenate([np.repeat(np.arange(model.row_count), np.diff(rows.ptr)), rows.spin_row])
    columns = (3 * rows.slot.astype(np.int64)[:, None] + np.arange(3)).ravel()
    J = csr_array((system.work.J.ravel(), (np.repeat(row_of, 3), columns)),
                  shape=(model.row_count, 3 * len(model.x)))
    scaled = J * np.sqrt(model.bodies.inverse_mass).ravel()
    scaled = csr_array(scaled)
    return csr_array(scaled @ scaled.T + diags_array(off.astype(float)))
