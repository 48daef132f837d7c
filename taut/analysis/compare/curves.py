"""Lines over time for pictures: thinned, so that a page stays small, without losing peaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import unknown
from ...result.dataset import elongations
from ...result.labels import Labels
from ...result.run import Run
from ..metrics import energy_drift, trajectory_error
from .comparison import Comparison

MOST_POINTS = 2000
GONE = 10.0  # times the scene's size: further off, a run is not drawn


@dataclass(frozen=True)
class Lines:
    """One run; of |Φ|, |dΦ/dt|, energy drift and error each point is the largest since the one before."""

    time: np.ndarray
    drift: np.ndarray  # Σ|Φ|
    accumulated: np.ndarray  # Σ|Φ| of all steps so far
    rate: np.ndarray  # Σ|dΦ/dt|
    energy: np.ndarray  # |E - E(0) - work of drivers|
    error: np.ndarray | None
    elongation: np.ndarray | None  # of the longest edge, where there is cloth
    system: np.ndarray | None  # unknowns of the linear system, where there is cloth; not of the reference
    places: dict[str, np.ndarray]  # by body, shape (points, 3)
    multipliers: dict[str, np.ndarray]  # by row
    broken: bool  # ended before its time, or gone


def lines(
    comparison: Comparison, run: Run, judge: Run | None, bodies: list[str], rows: list[str], most: int = MOST_POINTS
) -> Lines:
    """The lines of a run, of the bodies and rows named; `judge` is the reference at the same step."""
    records, labels = run.records, comparison.labels
    off = trajectory_error(labels, records, judge.records) if judge is not None else None
    end = _until_gone(run, off, comparison.size)
    keep = np.unique(np.linspace(0, end - 1, min(end, most)).round().astype(np.int64))

    def peaks(values: np.ndarray) -> np.ndarray:
        starts = np.concatenate([[0], keep[:-1] + 1])
        return np.maximum.reduceat(np.abs(values[:end]), starts)

    which = next((key for key, one in comparison.runs.items() if one is run), None)
    sizes = comparison.system_sizes(*which) if which and len(labels.edges) else None
    drift = np.abs(labels.violation(records.phi)).sum(axis=1)
    counted = np.concatenate([[0.0], drift[1:]])  # as in measure.py, the start is no step
    slots = {body.name: body.slot for body in labels.bodies}
    at = dict(zip(labels.row_names(), labels.rows()))
    return Lines(
        time=records.time[keep],
        drift=peaks(drift),
        accumulated=run.info["record_every"] * np.cumsum(counted)[keep],
        rate=peaks(np.abs(labels.equality_rates(records.rate)).sum(axis=1)),
        energy=peaks(energy_drift(records)),
        error=peaks(off) if off is not None else None,
        elongation=peaks(elongations(records.x, labels.edges, labels.lengths)[0]) if len(labels.edges) else None,
        system=peaks(sizes) if sizes is not None else None,
        places={name: records.x[keep, slots[name]] for name in bodies},
        multipliers={name: records.lam[keep, at[name]] for name in rows},
        broken=run.status != "finished" or end < len(records),
    )


def _until_gone(run: Run, off: np.ndarray | None, size: float) -> int:
    """How many records to draw: not those where a run, diverged or not, has left all that is worth seeing."""
    x = run.records.x
    if off is None:
        if run.status == "finished":
            return len(x)
        off = np.abs(x - x[0]).max(axis=(1, 2), initial=0.0)
    gone = np.flatnonzero(off > GONE * size)
    return max(1, int(gone[0])) if len(gone) else len(off)


def moving_bodies(labels: Labels) -> list[str]:
    """Names of bodies worth a trajectory; the last are the most interesting, being the ends of chains."""
    free = [body for body in labels.bodies if body.motion == "free"]
    places = [body.name for body in free if body.kind != "coordinate"]
    return places or [body.name for body in free]


def chosen_body(labels: Labels, name: str | None) -> str | None:
    known = moving_bodies(labels)
    if name is None:
        return known[-1] if known else None
    if name not in known:
        raise unknown("moving body", name, known)
    return name


def chosen_row(labels: Labels, name: str | None) -> str | None:
    known = labels.row_names()
    if name is None:
        return known[0] if known else None
    if name not in known:
        raise unknown("constraint row", name, known)
    return name


def spread(names: list[str], most: int) -> list[str]:
    """At most so many of the names, evenly from the first to the last."""
    if len(names) <= most:
        return names
    return [names[i] for i in np.linspace(0, len(names) - 1, most).round().astype(int)]
