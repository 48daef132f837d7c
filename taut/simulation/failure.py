"""Why a run failed, in words: the constraints that contradict each other, a formula, a controller, the residuals.

What failed first is named alone: constraints that no position near the last record meets (initial/dependence.py), or a
formula that is no number. Only where neither is found do residuals stand, and those that are mere rounding do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import TautError
from ..initial import Clash, Start, contradiction
from ..model import Model
from ..model.arrays import State, System
from ..result.labels import Labels
from ..result.records import Records
from ..result.run import Run
from .status import Divergence

MISSED = 1e-6  # of a constraint's scale: a smaller error is no sign of a contradiction
ROUNDING = 1e-10  # likewise: smaller residuals are not worth a word, nor what is missed where a step has failed
LOOKS = 32  # records at which the first contradiction is sought
SHOWN = 3


def state_at(state: State, records: Records, k: int) -> State:
    """A copy of a state, moved to record k. Places on bodies follow when something is evaluated there."""
    found = State(*(array.copy() for array in state))
    slots = records.x.shape[1]
    for array in (found.x, found.v):
        array[slots:][~np.isfinite(array[slots:])] = 0.0
    found.x[:slots], found.v[:slots], found.quat[:] = records.x[k], records.v[k], records.quat[k]
    return found


def clash_at(
    model: Model, system: System, state: State, start: Start, records: Records, k: int, later: float = 0.0,
    missed: float = MISSED,
) -> Clash | None:
    """The constraints that no position near record k meets at its time, or that much later, and misses by more than
    `missed` in units of their scales."""
    if not model.row_count or not model.is_driven or start.conflicting:
        return None
    at = state_at(state, records, k)
    if not all(np.isfinite(values).all() for values in (at.x, at.quat)):
        return None
    counts = system.work.counts.copy()
    found = contradiction(model, system, at, float(records.time[k]) + later, start.scale, missed)
    system.work.counts[:] = counts
    return found


def contradicted(
    model: Model, system: System, state: State, start: Start, chunks: Sequence[Records]
) -> Divergence | None:
    """The first record at which driven constraints contradict each other, if one does."""
    if not model.row_count or not model.is_driven or start.conflicting or model.deformables:
        return None
    rows = model.row_count
    worst, most, first = -1, MISSED, 0
    with np.errstate(all="ignore"):
        for chunk in chunks:
            off = np.nan_to_num((np.abs(chunk.phi[:, :rows]) / start.scale).max(axis=1), nan=0.0, posinf=0.0)
            if off.max(initial=0.0) > most:
                most, worst = float(off.max()), first + int(np.argmax(off))
            first += len(chunk)
    if worst < 0:
        return None
    records = Records.concatenate(chunks)

    def found_at(k: int) -> Clash | None:
        return clash_at(model, system, state, start, records, k)

    clash = found_at(worst)
    if clash is None:
        return None
    before = 0
    for k in np.unique(np.linspace(0, worst, LOOKS).astype(int))[1:].tolist():
        if (found := found_at(k)) is not None:
            worst, clash = k, found
            break
        before = k
    while worst - before > 1:
        middle = (worst + before) // 2
        found = found_at(middle)
        worst, before, clash = (middle, before, found) if found is not None else (worst, middle, clash)
    return Divergence(worst, clash.words(model.row_names))


def residuals(model: Model, start: Start, last: Records) -> str:
    """The largest errors of constraints at the last record; nothing where they are mere rounding."""
    if not last.phi.shape[1]:
        return ""
    broken = Labels.of(model).violation(last.phi[-1])
    scale = np.concatenate([start.scale, np.full(len(broken) - len(start.scale), max(start.size, 1e-300))])
    order = [r for r in np.argsort(-np.nan_to_num(np.abs(broken), nan=np.inf))[:SHOWN]
             if not abs(broken[r]) <= ROUNDING * scale[r]]  # fmt: skip
    names = [*model.row_names, *(n for i in model.inequality_info for n in i.row_names())]
    worst = ", ".join(f"'{names[r]}' {broken[r]:.3g}" for r in order)
    return f" Largest residuals at the last record (t = {last.time[-1]:.6g} s): {worst}." if worst else ""


def mistake_after(mistake: TautError, run: Run, path: Path | None) -> TautError:
    """The mistake of a user's function in the middle of a run, which also tells where the part before it is."""
    text = f"{str(mistake).rstrip('.')}. The part up to t = {run.records.time[-1]:.6g} s"
    if path is None:
        text += " is kept in this error, as its attribute run; out=PATH would store it."
    else:
        text += f" lies in '{path}' (taut.open, taut view)"
        text += "." if run.status == "diverged" else (
            "; where the function itself stays as it is, taut.resume goes on from there.")
    told = TautError(text)
    told.run = run
    return told
