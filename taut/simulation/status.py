"""The status of a run: "finished" only if its records can be the motion of the scene.

A run is "diverged" where at some record after the start

    |Φ_r| > s_r + |Φ_r(0)|                                                                          (1)
    E(t) - E(0) > 100 (E_0 + max_s [V(0) - V(s)] + max_s W(s)),    E = T + V - W                    (2)

or a number is not finite; where rows were lost in rounding, also beyond a share of s_r (strayed.py). s_r is the
constraint's own scale (model/scales.py). T, V and W are the kinetic and the potential energy and the work of drivers
and of forces without potential; s is any record up to t. E_0 is the energy scale of the scene: T(0), Σ m g L and
Σ ½ m (L/D)², the energy of crossing the scene (of size L) in the duration D. (2) is not asked of cloth that is driven
or blown at, whose limits and wind are not in W.

A run of a method that rings (methods/base.py) gets a note if at some record, for a row r of positions [m] or angles,

    |Φ̇_r| > 0.1 max |v|,    v of places in m/s, of rotations in rad/s, and 1e-6 of the others over L  (3)

It also gets a note if inelastic impacts and limits, which can only dissipate energy, have added some:

    energy_impact < -0.02 (max_s E(s) - min_s V(s) + Σ m g L)                                       (4)

A run gets a note, too, where the method itself has made or lost much energy: with D the change of T + V that drivers,
forces, impacts and friction do not account for, at any record, in scenes without deformables,

    |D| > 0.05 max(max T, max V - min V, max |W| - min |W|, 1e-3 E_0)                                 (5)

A diverged run still goes on to its end and keeps all steps; the message names the first step at fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..compiled import entry
from ..errors import listed
from ..initial import Start, schur_complement
from ..linalg.dense import on_one_thread
from ..model import Model
from ..model.arrays import IMPACT_LOSS, State, System
from ..model.evaluate import evaluate_constraints, set_time
from ..model.scales import is_place, own_scale
from ..result.labels import Labels
from ..result.records import Records
from .strayed import strayed

Array = np.ndarray
MECHANICAL = np.array([1.0, 1.0, -1.0, -1.0, 0.0, 0.0])  # weights of the energies in records: E
UNACCOUNTED = np.array([1.0, 1.0, -1.0, -1.0, 1.0, 1.0])  # and D
REDUNDANT = 1e-10  # eigenvalues of (6) below it are those of redundant rows
NEAR_SINGULAR = 0.05  # of what it was at the start: an ε below tells that a position is near a singular one
MOST_ROWS = 2000  # up to which a singular position is examined
MAX_GROWTH = 100.0  # of energy, in units of what was there or went in
RINGING = 0.1  # of the largest speed
IDLE = 1e-6  # of the largest speed of the other unit: rounding alone is slower
MOST_DRIFT = 0.05  # of the largest kinetic energy, change of potential energy or of work
BROKEN = 1e-6  # of a constraint's scale: an error of the start that is no rounding
SMALL = 1e-3  # of E_0: energies below it are those of a scene at rest
MOST_GIVEN = 0.02  # of the largest kinetic energy that the run could have
IMPACT = 2 + IMPACT_LOSS  # its place among the energies of a record


class Divergence(NamedTuple):
    record: int
    text: str
    remedy: str = ""  # where it is known


@entry
def evaluate_rows(system, state, t):
    """J at t into work.J."""
    set_time(system, t, state.x, state.quat, state.v)
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, system.work.J)


@on_one_thread
def singular_position(model: Model, system: System, state: State, first: Records, last: Records) -> str:
    """Which constraints come to depend on each other near the last record, and what passes there; "" where none do.

        A u = ε u,   A = J W Jᵀ with 1 on its diagonal, ε its smallest eigenvalue: constraints with large u         (6)

    Rows that are redundant from the start on have an ε of 0 all the way, and are not meant.
    """
    if model.row_count > MOST_ROWS:
        return ""
    began, ended = _dependence(model, system, state, first, 0), _dependence(model, system, state, last, -1)
    if began is None or ended is None:
        return ""
    redundant = int((began[0] < REDUNDANT).sum())
    if redundant == model.row_count or not ended[0][redundant] < NEAR_SINGULAR * min(began[0][redundant], 1.0):
        return ""
    share = np.abs(ended[1][:, redundant])
    near = [info for info in model.constraint_info if share[list(info.rows)].max() > 0.3 * share.max()]
    ordered = sorted(near, key=lambda info: -share[list(info.rows)].max())
    return (f" Near this position {listed([info.name for info in ordered])} come to depend on each other: it is "
            "singular. Methods rattle_fourth, implicit_second, generalized_alpha and reference pass most of them.")


def _dependence(model: Model, system: System, state: State, records: Records, k: int) -> tuple[Array, Array] | None:
    """Eigenvalues and eigenvectors of (6) at a record."""
    state = State(*(array.copy() for array in state))
    slots = records.x.shape[1]
    state.x[:slots], state.v[:slots], state.quat[:] = records.x[k], records.v[k], records.quat[k]
    evaluate_rows(system, state, float(records.time[k]))
    A = schur_complement(model, system, model.rows_off(state.x)).toarray()
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), 1e-300))
    if not np.isfinite(A).all():
        return None
    found = np.linalg.eigh(A * scale * scale[:, None])
    return found.eigenvalues, found.eigenvectors


def divergence(
    model: Model, start: Start, chunks: Sequence[Records], duration: float, singular: bool
) -> Divergence | None:
    """The first record at fault, and why. singular: whether some linear system had dependent rows."""
    lost = strayed(model, start.scale, chunks) if singular else None
    by_inertia = None if lost is None else Divergence(*lost)
    faults = [one for one in (by_inertia, _by_error(model, start, chunks), _by_energy(model, start, chunks, duration))
              if one is not None]  # fmt: skip
    return min(faults, key=lambda one: one.record) if faults else None


def _by_error(model: Model, start: Start, chunks: Sequence[Records]) -> Divergence | None:
    labels = Labels.of(model)
    recorded = [
        own_scale(info, unit, start.size) if unit != "1" else np.inf
        for info in model.inequality_info for unit in info.units
    ]
    scale = np.concatenate([start.scale, recorded])
    bound = scale + np.abs(labels.violation(chunks[0].phi[0]))
    first = 0
    for chunk in chunks:
        if _is_calm(chunk, bound):
            first += len(chunk)
            continue
        size = np.abs(labels.violation(chunk.phi))
        wrong = ~(size <= bound)  # also where it is not a number
        is_bad = wrong.any(axis=1) | ~np.isfinite(chunk.lam).all(axis=1) | ~np.isfinite(chunk.energy).all(axis=1)
        if is_bad.any():
            k = int(np.argmax(is_bad))
            return Divergence(first + k, _describe_error(labels, chunk, k, size[k] / bound, scale))
        first += len(chunk)
    return None


def _is_calm(chunk: Records, bound: Array) -> bool:
    """A quick test, some nanoseconds per record, that nearly every chunk passes: whether all errors are within
    bounds."""
    with np.errstate(all="ignore"):
        if not np.isfinite(chunk.lam.sum() + chunk.energy.sum()):
            return False
        if max(chunk.phi.max(initial=0.0), -chunk.phi.min(initial=0.0)) <= bound.min(initial=np.inf):
            return True
        by_row = np.ascontiguousarray(chunk.phi.T)  # numpy is slow along the first of two axes if the second is short
        return bool(((by_row.max(axis=1) <= bound) & (by_row.min(axis=1) >= -bound)).all())


def _describe_error(labels: Labels, chunk: Records, k: int, off: Array, scale: Array) -> str:
    """off: (rows,) error of each row in units of its bound."""
    off = np.nan_to_num(off, nan=np.inf)
    row = int(np.argmax(off)) if len(off) else 0
    if not len(off) or off[row] <= 1.0:
        return "a multiplier or an energy is not a number"
    place = int(np.flatnonzero(labels.rows() == row)[0])
    name, unit = labels.row_names()[place], labels.units()[place]
    unit = "" if unit == "1" else f" {unit}"
    if not np.isfinite(chunk.phi[k, row]):
        return f"Φ of constraint '{name}' is not a number"
    return (f"constraint '{name}' is off by {abs(chunk.phi[k, row]):.3g}{unit}, more than its own scale of "
            f"{scale[row]:.3g}{unit}")


def _by_energy(model: Model, start: Start, chunks: Sequence[Records], duration: float) -> Divergence | None:
    if model.deformables and (model.is_driven or model.forces_work):
        return None
    scale = _energy_scale(model, start, chunks, duration)
    with np.errstate(all="ignore"):
        highest = max(float((chunk.energy @ MECHANICAL).max()) for chunk in chunks)
        if highest - chunks[0].energy[0] @ MECHANICAL <= MAX_GROWTH * scale:
            return None  # nearly always
        energy = np.concatenate([chunk.energy for chunk in chunks])
        change = energy - energy[0]
        grown, work = change @ MECHANICAL, change[:, 2] + change[:, 3]
        went_in = scale + np.maximum.accumulate(-change[:, 1]) + np.maximum.accumulate(work)
        wrong = grown > MAX_GROWTH * went_in
    if not wrong.any():
        return None
    k = int(np.argmax(wrong))
    return Divergence(k, f"kinetic and potential energy have grown by {grown[k]:.3g} J, where "
                         f"{went_in[k]:.3g} J at most were there or went in{_worst(model, start, chunks, k)}")


def ringing(model: Model, start: Start, chunks: Sequence[Records]) -> str | None:
    """(3): which row's Φ̇ is of the size of the velocities, and how large it is."""
    slots, speeds = int(model.bodies.slots), {}
    places = is_place(model)[:slots]
    turns = np.zeros(slots, bool)
    turns[model.bodies.spin_slot] = True
    for unit, which in (("m", places), ("rad", turns)):
        speeds[unit] = max((float(np.abs(chunk.v[:, which]).max(initial=0.0)) for chunk in chunks), default=0.0)
    speeds = {"m": max(speeds["m"], IDLE * speeds["rad"] * start.size),
              "rad": max(speeds["rad"], IDLE * speeds["m"] / max(start.size, 1e-300))}  # fmt: skip
    rates = np.max([np.abs(chunk.rate).max(axis=0) for chunk in chunks], axis=0)
    worst, text = RINGING, None
    for info in model.constraint_info:
        for row, unit, level, name in zip(info.rows, info.units, info.levels, info.row_names()):
            if unit in speeds and level == "position" and speeds[unit] > 0.0:
                share = float(rates[row]) / speeds[unit]
                if share > worst:
                    worst = share
                    text = (f"velocities break constraint '{name}' at up to {rates[row]:.3g} {unit}/s, where the "
                            f"largest component of all is {speeds[unit]:.3g} {unit}/s: velocities, energies and "
                            "multipliers are not those of the motion")
    return text


def energy_given(model: Model, start: Start, chunks: Sequence[Records]) -> str | None:
    """(4): how much energy impacts and limits have given."""
    lowest = min(float(chunk.energy[:, IMPACT].min()) for chunk in chunks)
    if lowest >= 0.0:
        return None
    energy = np.concatenate([chunk.energy for chunk in chunks])
    weights = np.abs(model.bodies.constant).sum() * start.size
    largest = (energy[:, 0] + energy[:, 1]).max() - energy[:, 1].min() + weights
    if -lowest <= MOST_GIVEN * largest:
        return None
    return (f"impacts and limits, which can only take energy, have given {-lowest:.3g} J: what moves after it moves "
            "too fast")


def energy_off(model: Model, start: Start, chunks: Sequence[Records], duration: float) -> str | None:
    """(5): by how much energy changed through the method alone. Not where the start was left broken: it is what changes
    energy then."""
    broken = np.abs(chunks[0].phi[0, : model.row_count]) > BROKEN * start.scale
    if model.deformables or broken.any():
        return None
    energy = np.concatenate([chunk.energy for chunk in chunks])
    change = energy - energy[0]
    drift = change @ UNACCOUNTED
    scale = max(float(energy[:, 0].max()), float(np.ptp(energy[:, 1])), float(np.ptp(change[:, 2] + change[:, 3])),
                SMALL * _energy_scale(model, start, chunks, duration))  # fmt: skip
    k = int(np.argmax(np.abs(drift)))
    if not abs(drift[k]) > MOST_DRIFT * scale:
        return None
    time = np.concatenate([chunk.time for chunk in chunks])
    return (f"energy changed by {drift[k]:.3g} J of {scale:.3g} J through the method's own error up to t = "
            f"{time[k]:.6g} s")


def _energy_scale(model: Model, start: Start, chunks: Sequence[Records], duration: float) -> float:
    """E_0 of (2)."""
    bodies = model.bodies
    reach = np.where(is_place(model), start.size, 1.0)
    scale = chunks[0].energy[0, 0] + (np.abs(bodies.constant).sum(axis=1) * reach).sum()
    return float(scale + 0.5 * (bodies.mass.max(axis=1) * (reach / duration) ** 2).sum())


def _worst(model: Model, start: Start, chunks: Sequence[Records], k: int) -> str:
    """Names the constraint that is off most at record k, in units of its scale."""
    if not model.row_count:
        return ""
    for chunk in chunks:
        if k < len(chunk):
            break
        k -= len(chunk)
    off = np.abs(chunk.phi[k, : model.row_count]) / start.scale
    row = int(np.argmax(off))
    return f" (of the constraints '{model.row_names[row]}' is off most, by {abs(chunk.phi[k, row]):.3g})"
