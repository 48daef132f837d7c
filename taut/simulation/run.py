"""simulate() and resume(): from a scene and a method, or from what is stored, to a run.

plan.py makes the plan, session.py carries it out. The time loop itself is compiled (loop.py): Python hands it some
steps at a time, to keep records, to move the progress bar and to notice Ctrl-C.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from .. import limits
from ..arguments import checked
from ..cloth.algorithms import CHOICE
from ..errors import TautError, collecting_notes, note, shown, unknown
from ..methods import METHODS
from ..model import Model, build
from ..result.header import fault_of_plan
from ..result.older import state_with_slots
from ..result.records import Records
from ..result.run import Run
from ..result.store import Store
from ..scene.deformables import with_system
from ..scene.scene import Scene
from .dry_friction import smooth_where_it_was
from .plan import plan_of, positive
from .reuse import model_of
from .session import Session


@checked
def simulate(
    scene: Scene,
    method: str | None = None,
    dt: float | None = None,
    duration: float | None = None,
    record_every: int = 1,
    solver: str = "auto",
    tolerance: float | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    start: str | None = None,
    project_initial: bool = True,
    repair: bool = False,
    progress: bool = True,
    durable: bool = True,
    **options: Any,
) -> Run:
    """Simulate a scene and return a labelled run.

    method           name of the enforcement method (`taut list methods`); default: implicit_second
    dt, duration     step and simulated time [s]; default: what the scene suggests. A duration that is no multiple of dt
                     is exceeded by less than a step, and run.notes says so
    record_every     keep every n-th step
    solver           of the linear systems: auto, or a name from `taut list solvers`
    tolerance        largest |Φ| allowed at the end of a step; default: the method's own
    out              a folder to store records in while running; it survives a crash, and can be resumed
    start            what to do with a start that breaks constraints. "project", the default, corrects small errors and
                     velocities and refuses larger ones; "repair" moves bodies as little as needed, however far;
                     "as_given" keeps positions and velocities (broken inequalities are refused all the same)
    repair           True is start="repair"
    project_initial  False is start="as_given"
    durable          wait for the disk at each commit to `out`, so that it outlives a loss of power, too
    options          the method's own options, such as alpha= and beta=

    Where a constraint is off by more than its own scale, or energy has grown by orders of magnitude, the run has the
    status "diverged" (taut/simulation/status.py); run.notes lists all notes and warnings.
    """
    plan = plan_of(
        scene, method, dt, start, repair, project_initial, options, solver=solver, tolerance=tolerance,
        record_every=record_every,
    )  # fmt: skip
    dt = plan["dt"]
    duration = positive("duration", duration if duration is not None else scene.suggested.get("duration"))
    limits.check("steps", duration / dt, f"a run of {duration:g} s in steps of {dt:g} s")
    if record_every < 1:
        raise TautError(f"record_every is {shown(record_every)}; give a whole number of at least 1.")
    plan["steps"] = max(1, ceil(duration / dt - 1e-9))
    with collecting_notes():
        reached = plan["steps"] * dt
        if abs(reached - duration) > 1e-6 * dt:
            note(f"duration = {duration:g} s is no multiple of dt = {dt:g} s: the run takes {plan['steps']:,} whole "
                 f"steps and ends at t = {reached:.9g} s")
        session = Session(scene, model_of(scene), plan)
        if out is not None:
            session.store = Store.create(
                out, scene, session.model, records=1 + plan["steps"] // record_every, info=plan, overwrite=overwrite,
                durable=durable,
            )  # fmt: skip
        return session.run(progress)


@checked
def resume(
    path: str | Path, scene: Scene | None = None, progress: bool = True, recover: bool = False, durable: bool = True
) -> Run:
    """Go on with a stored run that was interrupted, bit for bit as if it had not been.

    scene    the run's own, where it could not be stored; another one is refused
    recover  of a damaged run, go back to before the damage and compute the rest again
    """
    with collecting_notes():
        store = Store.open(path, to_write=True, recover=recover, durable=durable)
        try:
            store.rewind()
            session = _stored_session(store, scene)
        except BaseException:
            store.release()
            raise
        return session.run(progress)


def _stored_session(store: Store, scene: Scene | None) -> Session:
    """A session in the state that a stored run stopped in."""
    plan = {"repair": False, "settings": {}, **store.plan()}
    fault = fault_of_plan(plan)
    if fault:
        raise TautError(f"'{store.path}' can not be resumed: {fault} in its run.json; run it again.")
    arrays, done = store.state()
    if scene is None:
        scene, model = (scene := store.scene()), build(scene)
    else:
        model = build(scene)
    store.check_scene(scene, model)
    if plan["method"] not in METHODS:
        raise unknown("method", str(plan["method"]), METHODS)
    session = Session(scene, model, plan)
    memory = arrays.get("memory")
    if memory is not None and memory.shape != session.state.memory.shape and session.method is CHOICE:
        scene = with_system(scene, "nodes")  # what was meant before there was a choice
        session = Session(scene, build(scene), plan)
    session.store, session.done = store, done
    store.fit(model)
    if not arrays:
        return session  # stopped before the first record
    arrays = state_with_slots(arrays, session.state, model)
    older = "driver_work" in arrays
    if older:  # stored by version 0.1.0, which knew of no other work
        arrays["ledger"] = np.array([arrays.pop("driver_work")[0], *[0.0] * (len(session.state.ledger) - 1)])
    for field, values in arrays.items():
        current = getattr(session.state, field, None)
        if current is not None and field in ("pairs", "pair_lam") and current.shape[1:] == values.shape[1:]:
            if current.shape != values.shape:
                session.grow(len(values))
            current = getattr(session.state, field)[: len(values)]
        if older and current is not None and field == "memory" and current.shape > values.shape:
            current = current[: len(values)]  # methods remember more than then; what was added stands last
        if current is None or current.shape != values.shape or current.dtype != values.dtype:
            raise TautError(f"'{store.path}' can not be resumed: the state '{field}' in its commit.npz does not fit "
                            f"the scene (shape {values.shape}, type {values.dtype}); run it again.")
        current[:] = values
    session.system = smooth_where_it_was(session.system, session.state)
    session.chunks = [_with_coordinates(Records(**store.read()), model)]
    session.events = [store.events()]
    return session


def _with_coordinates(records: Records, model: Model) -> Records:
    """Records with columns for all reduced coordinates; an earlier version kept none: nan."""
    n = len(model.reduced_names)
    if records.coordinates.shape[2] == n:
        return records
    return replace(records, coordinates=np.full((len(records), 2, n), np.nan))
