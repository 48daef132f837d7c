"""Numbers from a run, alone and against a reference r recorded at the same times.

    accumulated   Σ_k Σ_i |Φ_i(t_k)|                over steps k ≥ 1                            (1)
    energy drift  max_k |E(t_k) - E(0) - W(t_k)|    W: what drivers, forces, contacts put in    (2)
    error         e(t) = max_b |x_b - x_b^r|        over bodies b                               (3)
    turned by θ   counts as ρ θ in (3)              ρ² = I/m, I the largest principal moment    (4)
    λ error       |λ_i - λ_i^r| / max |λ^r|         largest of all rows with i's unit           (5)
    horizon       the first t with e(t) > size/10   size: diagonal of the box around the start  (6)

Coordinates count in (3) only where a scene has no other bodies: elsewhere they follow from them.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import norm

from ..cloth.algorithms import ACTIVE_LIMITS, CHOICE, DEFORMABLE_METHODS
from ..methods import Method
from ..model import Model
from ..result.dataset import elongations
from ..result.labels import Labels
from ..result.records import Records
from ..result.run import Run

OFF_TRACK = 0.1  # of the scene's size
RESOLVED = 100.0  # times the reference's own error


def alone(run: Run) -> dict[str, float]:
    """What needs no reference."""
    records, every = run.records, run.info["record_every"]
    phi, rate = np.abs(run.labels.violation(records.phi[1:])), np.abs(run.labels.equality_rates(records.rate[1:]))
    if not len(phi):  # diverged in the first step
        return dict.fromkeys(
            ("drift_accumulated", "drift_max", "rate_accumulated", "rate_max", "energy_drift"), np.nan
        )
    return {
        "drift_accumulated": float(every * phi.sum()),  # (1)
        "drift_max": float(phi.max(initial=0.0)),
        "rate_accumulated": float(every * rate.sum()),
        "rate_max": float(rate.max(initial=0.0)),
        "energy_drift": float(np.abs(energy_drift(records)).max()),
    }


def of_deformables(run: Run) -> dict[str, float]:
    """What is told of cloth and solids."""
    records, labels = run.records, run.labels
    with np.errstate(all="ignore"):
        largest, mean = elongations(records.x[1:], labels.edges, labels.lengths)
    hard = sum(len(info.rows) for info in labels.constraints if info.sense == "==")
    held = records.contacts[1:, 0] + records.contacts[1:, 2]  # contacts that push, and limits
    if not len(largest):
        return dict.fromkeys(("elongation_max", "elongation_mean", "held_rows"), np.nan)
    return {
        "elongation_max": float(largest.max()),
        "elongation_mean": float(mean.max()),
        "held_rows": hard + float(held.mean()),
    }


def system_sizes(method: Method, model: Model, run: Run) -> np.ndarray:
    """Unknowns of the linear systems of a method at each record: multipliers, or places of nodes; 0: it solves none."""
    count, held = len(run.records), run.records.contacts
    if method.solves == "0":
        return np.zeros(count)
    algorithm = run.info.get("algorithm")
    if algorithm == ACTIVE_LIMITS.algorithm:
        return held[:, 0] + held[:, 2]  # contacts that push, and limits
    if method.name in DEFORMABLE_METHODS:
        places = np.full(count, 3.0 * float((model.bodies.inverse_mass[: model.bodies.slots, 0] > 0.0).sum()))
        if algorithm != CHOICE.algorithm:
            return places
        chosen = run.events[run.events.kind == "system"]
        last = np.maximum(np.searchsorted(chosen.time, run.records.time - 1e-12) - 1, 0)  # in the step that ends there
        return np.where(chosen.constraint.to_numpy()[last] == "active", held[:, 0] + held[:, 2], places)
    return np.full(count, float(model.row_count))


def against(run: Run, reference: Run, size: float) -> dict[str, float]:
    """Errors against the reference."""
    error = trajectory_error(run.labels, run.records, reference.records)
    relative = multiplier_error(run.labels, run.records, reference.records)
    ended = run.status == "finished"
    return {
        "multiplier_error_max": float(relative.max(initial=0.0)),
        "multiplier_error_rms": float(np.sqrt((relative**2).mean())) if relative.size else 0.0,
        "trajectory_error_end": float(error[-1]) if ended else np.nan,
        "trajectory_error_max": float(error.max()),
        "horizon": horizon(run.records.time, error, OFF_TRACK * size, ended),
    }


def resolved(
    name: str, value: float, own: dict[str, float], own_error: np.ndarray, time: np.ndarray, size: float
) -> bool:
    """Whether the reference is a hundred times better than the number it judges.

    own        the reference's own errors, by the same names
    own_error  its error over `time`, which must be small as long as a run tracks it
    """
    if np.isnan(value):
        return True
    if name == "horizon":
        seen = own_error[time <= value]
        return bool(RESOLVED * seen.max(initial=0.0) <= OFF_TRACK * size)
    return value >= RESOLVED * own[name]


def body_error(run: Run, reference: Run, body: str) -> np.ndarray:
    """|x - x_ref| of one body, for the records that both have [m]."""
    slot = next(info.slot for info in run.labels.bodies if info.name == body)
    rows = min(len(run.records), len(reference.records))
    with np.errstate(all="ignore"):
        return np.linalg.norm(run.records.x[:rows, slot] - reference.records.x[:rows, slot], axis=1)


def constraint_error(run: Run) -> np.ndarray:
    """Σ_i |Φ_i(t_k)| at each record: what (1) adds up."""
    with np.errstate(all="ignore"):
        return np.abs(run.labels.violation(run.records.phi)).sum(axis=1)


def energy_drift(records: Records) -> np.ndarray:
    return records.energy_drift()  # (2)


def trajectory_error(labels: Labels, records: Records, reference: Records) -> np.ndarray:
    """(3) at each record [m]."""
    count = min(len(records), len(reference))
    worst = np.zeros(count)
    x, exact = records.x[:count], reference.x[:count]
    bodies = [body for body in labels.bodies if body.kind != "coordinate"]
    if not bodies:
        slots = [body.slot for body in labels.bodies]
        return np.abs(x[:, slots, 0] - exact[:, slots, 0]).max(axis=1, initial=0.0)
    for body in bodies:
        worst = np.maximum(worst, norm(x[:, body.slot] - exact[:, body.slot], axis=1))
        if body.kind == "rigid" and body.motion == "free":
            p, q = records.quat[:count, body.quat], reference.quat[:count, body.quat]
            # A chord of quaternions, because the arc cosine of their product is blind to small angles.
            chord = np.minimum(norm(p - q, axis=1), norm(p + q, axis=1))
            angle = 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))
            worst = np.maximum(worst, angle * np.sqrt(labels.inertia[body.quat].max() / body.mass))  # (4)
    return worst


def multiplier_error(labels: Labels, records: Records, reference: Records) -> np.ndarray:
    """(5), shape (records, rows); rows whose unit has no load are left out."""
    count = min(len(records), len(reference))
    rows, units = labels.rows(), np.array(labels.units(), dtype=str)
    found = [np.zeros((count, 0))]
    for unit in sorted(set(units)):
        own = rows[units == unit]
        scale = np.abs(reference.lam[:, own]).max(initial=0.0)
        if scale > 0.0:
            found.append(np.abs(records.lam[:count, own] - reference.lam[:count, own]) / scale)
    return np.concatenate(found, axis=1)


def horizon(time: np.ndarray, error: np.ndarray, limit: float, ended: bool) -> float:
    """(6); infinite for a run that came to its end on track, and at most the end of one that did not."""
    off = np.flatnonzero(~(error <= limit))
    if len(off):
        return float(time[off[0]])
    return np.inf if ended else float(time[len(error) - 1])


def scene_size(labels: Labels, start: np.ndarray, motion: np.ndarray) -> float:
    """Diagonal of the box around all bodies at the start; of all places they reach, where that is a point.

    start   positions of slots, shape (slots, 3)
    motion  the same over time, shape (T, slots, 3)
    """
    places = [body.slot for body in labels.bodies if body.kind != "coordinate"]
    if not places:
        values = motion[:, [body.slot for body in labels.bodies], 0]
        return float(np.ptp(values, axis=0).max(initial=0.0))
    across = float(norm(np.ptp(start[places], axis=0)))
    return across if across > 0.0 else float(norm(np.ptp(motion[:, places].reshape(-1, 3), axis=0)))
