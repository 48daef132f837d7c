"""The motion of a `reference` run between its records, to the accuracy of the run itself.

From the record before, the run is computed again, with its own error control, up to each of the times asked for. This
needs nothing but what is recorded, serves stored runs as well, and has no error of interpolation.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numba import types

from ..compiled import entry, inline, on_demand, specialise
from ..errors import TautError
from ..expressions.compiled import raise_mistake
from ..methods import STATUSES
from ..methods.options import option_values
from ..methods.reference import METHOD, step
from ..model.evaluate import begin_step, sample_forces
from ..result.records import Records
from ..result.run import Run
from . import switching
from .loop import Buffers, calls_for, record

switched = specialise(switching.switched_step, "switched_retrace", on_demand(types.int64), step=step)


@inline
def go_on(system, state, now, h, options):
    """A step of the run, or a part of one; `begin_step` has been called."""
    if system.switches.keeper.shape[0] > 0:
        system.switches.logged[0] = 0  # the run itself has told its events
        return switched(system, state, now, h, options)
    return step(system, state, now, h, options)


@entry
def retrace(calls, system, state, options, h, first, times, records, row):
    """From step number `first` on, whose state is given, record at each of `times`; returns OK or a status."""
    number, now = first, first * h
    begin_step(system, now, state.x, state.quat, state.v)
    sample_forces(system, now, state.x, state.quat, state.v)
    for k in range(times.shape[0]):
        while (number + 1) * h <= times[k]:  # steps of the run, at whose starts controllers look
            status = go_on(system, state, now, (number + 1) * h - now, options)
            if status != 0:
                return status
            number += 1
            now = number * h
            begin_step(system, now, state.x, state.quat, state.v)
            sample_forces(system, now, state.x, state.quat, state.v)
        if times[k] > now:
            status = go_on(system, state, now, times[k] - now, options)
            if status != 0:
                return status
            now = times[k]
        begin_step(system, now, state.x, state.quat, state.v)  # λ of a record belongs to the charts of its own instant
        record(calls, system, state, now, options, records, row + k)
    return 0


def is_dense(run: Run) -> bool:
    """Whether the run can be told between its records."""
    has_model = run._model is not None or run.scene is not None
    return run.info.get("method") == METHOD.name and "options" in run.info and has_model


def dense(run: Run, times: Any) -> Run:
    """The run at other times, rising, within its own [s]."""
    if not is_dense(run):
        raise TautError(f"the run is one of '{run.info.get('method')}'; only a run of 'reference' is known between its "
                        "records. Simulate with method='reference', or record more often.")
    times = np.atleast_1d(np.asarray(times, float))
    known = np.asarray(run.records.time)
    if times.ndim != 1 or not len(times) or not (np.diff(times) >= 0.0).all():
        raise TautError("the times between records must be a list of numbers that rise.")
    if not (times[0] >= known[0] and times[-1] <= known[-1]):
        raise TautError(f"the run goes from {known[0]:g} to {known[-1]:g} s, but times from {times[0]:g} to "
                        f"{times[-1]:g} s were asked for; simulate longer.")
    model, info, h, every = run.model, run.info, run.info["dt"], run.info["record_every"]
    system = model.system(info["solver"], METHOD.stages)
    options = option_values(METHOD, model, info["tolerance"], info["options"], residual_accepted=False)
    state = model.initial_state(METHOD.memory(model))
    system = switching.with_workspace(system, state, METHOD, bool(model.switches.address.any()))
    calls = calls_for(METHOD, system, state, options)
    buffers = Buffers(**{name: np.zeros((len(times), *tail)) for name, tail in Records.shapes(model).items()})
    before = np.searchsorted(known, times, side="right") - 1
    slots = run.records.x.shape[1]
    for k in np.unique(before).tolist():
        state.x[:slots], state.v[:slots], state.quat[:] = (run.records.x[k], run.records.v[k], run.records.quat[k])
        state.ledger[:], state.memory[:] = run.records.energy[k, 2:], 0.0
        from_record = np.flatnonzero(before == k)
        status = retrace(calls, system, state, options, h, k * every, times[from_record], buffers, int(from_record[0]))
        raise_mistake()
        if status != 0:
            raise TautError(f"after t = {known[k]:g} s: {STATUSES[status]}. {METHOD.hooks.remedy}")
    records = Records(**{field.name: getattr(buffers, field.name) for field in fields(Records)})
    # Reactions look for charts a step before the record, unless each step is recorded (result/reactions.py).
    return Run(run.scene, model, records, run.status, run.message, {**info, "dt": 0.0, "record_every": 2}, run.labels)
