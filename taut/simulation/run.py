"""simulate(): from a scene and a method to a run.

The time loop itself is compiled (loop.py). Python hands it some steps at a time, to keep records, to move
the progress bar and to notice Ctrl-C.
"""

from __future__ import annotations

import time as clock
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from .. import limits
from ..arguments import checked
from ..cloth.algorithms import DEFORMABLE_METHODS
from ..compiled.storage import before_compiling
from ..contact.algorithms import CONTACT_METHODS
from ..errors import TautError, chosen, note, noting, shown, tell, told, unknown
from ..initial import AS_GIVEN, REPAIR, check_inequalities, check_sheets, listed, pairs_fit, prepare_start, start_mode
from ..linalg import describe
from ..methods import METHODS, STATUSES, Method
from ..methods.base import EVENTS_FULL, PAIRS_FULL
from ..methods.options import parameters
from ..model import Model, build
from ..progress import Progress, compilation
from ..result.events import NO_EVENTS, joined
from ..result.header import fault_of_plan
from ..result.labels import Labels
from ..result.log import log_table
from ..result.records import Records
from ..result.run import Run
from ..result.store import Store
from ..scene.scene import Scene
from .loop import FINE, Buffers, calls_for, loop
from .status import divergence

DEFAULT_METHOD = "implicit_second"
DEFAULT_UNILATERAL = "implicit_first"
CHUNK_BYTES = 8e6  # of records handed over at a time
CHUNK_SECONDS = 0.2  # between looks at the clock, the progress bar and Ctrl-C


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
    dt, duration     step and simulated time [s]; default: what the scene suggests
    record_every     keep every n-th step
    solver           of the linear systems: auto, or a name from `taut list solvers`
    tolerance        largest |Φ| allowed at the end of a step; default: the method's own
    out              a folder to store records in while running; it survives a crash, and can be resumed
    start            what to do with a start that breaks constraints. "project", the default, mends small errors and
                     velocities and refuses larger ones; "repair" moves bodies as little as needed, however far;
                     "as_given" keeps positions and velocities (broken inequalities are refused all the same)
    repair           True is start="repair"
    project_initial  False is start="as_given"
    durable          wait for the disk at each commit to `out`, so that it outlives a loss of power, too
    options          the method's own options, such as alpha= and beta=

    Where a constraint is off by more than its own scale, or energy has grown by orders of magnitude, the run has the
    status "diverged" (taut/simulation/status.py); run.notes lists all that was told.
    """
    suggested = dict(scene.suggested)
    usual = DEFAULT_UNILATERAL if scene.is_unilateral or scene.deformables else DEFAULT_METHOD
    name = method or suggested.get("method") or usual
    suggested.pop("method", None)
    chosen("method", name, METHODS)
    dt = _positive("dt", dt if dt is not None else suggested.pop("dt", None))
    duration = _positive("duration", duration if duration is not None else suggested.pop("duration", None))
    limits.check("steps", duration / dt, f"a run of {duration:g} s in steps of {dt:g} s")
    if record_every < 1:
        raise TautError(f"record_every is {shown(record_every)}; give a whole number of at least 1.")
    if start is None and project_initial and not repair:
        start = suggested.get("start")
    mode = start_mode(start, repair, project_initial)  # stored in the older words, which tell the three apart
    known = {option.name for option in method_for(scene, name).options}
    options = {**{key: value for key, value in suggested.items() if key in known}, **options}
    plan: dict[str, Any] = {
        "method": name, "dt": dt, "steps": max(1, ceil(duration / dt - 1e-9)), "record_every": record_every,
        "solver": solver, "tolerance": tolerance, "project_initial": mode != AS_GIVEN, "repair": mode == REPAIR,
        "options": options,
    }  # fmt: skip
    with noting():
        session = Session(scene, build(scene), plan)
        if out is not None:
            session.store = Store.create(
                out, scene, session.model, records=1 + plan["steps"] // record_every, info=plan, overwrite=overwrite,
                durable=durable,
            )  # fmt: skip
        return session.go(progress)


@checked
def resume(
    path: str | Path, scene: Scene | None = None, progress: bool = True, recover: bool = False, durable: bool = True
) -> Run:
    """Go on with a stored run that was interrupted, bit for bit as if it had not been.

    scene    the run's own, where it could not be stored; another one is refused
    recover  of a damaged run, go back to before the damage and compute the rest again
    """
    with noting():
        store = Store.open(path, to_write=True, recover=recover, durable=durable)
        try:
            store.rewind()
            session = _stored_session(store, scene)
        except BaseException:
            store.release()
            raise
        return session.go(progress)


def _stored_session(store: Store, scene: Scene | None) -> Session:
    """A session in the state that a stored run stopped in."""
    plan = {"repair": False, **store.plan()}
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
    session.store, session.done = store, done
    if not arrays:
        return session  # stopped before the first record
    older = "driver_work" in arrays
    if older:  # stored by version 0.1.0, which knew of no other work
        arrays["ledger"] = np.array([arrays.pop("driver_work")[0], *[0.0] * (len(session.state.ledger) - 1)])
    for field, values in arrays.items():
        own = getattr(session.state, field, None)
        if own is not None and field in ("pairs", "pair_lam") and own.shape[1:] == values.shape[1:]:
            if own.shape != values.shape:
                session.par.pairs.found[0] = len(values) / 1.5 + 1
                session._make_room()
            own = getattr(session.state, field)[: len(values)]
        if older and own is not None and field == "memory" and own.shape > values.shape:
            own = own[: len(values)]  # methods remember more than then; what was added stands last
        if own is None or own.shape != values.shape or own.dtype != values.dtype:
            raise TautError(f"'{store.path}' can not be resumed: the state '{field}' in its commit.npz does not fit "
                            f"the scene (shape {values.shape}, type {values.dtype}); run it again.")
        own[:] = values
    session.chunks = [Records(**store.read())]
    session.events = [store.events()]
    return session


def method_for(scene: Scene, name: str) -> Method:
    """The method of that name, in its form for cloth or for inequalities where the scene has any."""
    method = METHODS[name]
    if scene.deformables:
        # Springs and hard edges alone are forces and equalities like any others.
        form = DEFORMABLE_METHODS.get(name) or (None if scene.is_unilateral else method)
        what = "cloth or solids with limits or contacts"
    else:
        form = CONTACT_METHODS.get(name) if scene.is_unilateral else method
        what = "inequalities"
    if form is None:
        able = _able(scene)
        remedy = f"use {', '.join(able)}" if able else "no method treats all of them together, so leave some out"
        raise TautError(f"method '{name}' can not treat scene '{scene.name}', which has {what}; {remedy}.")
    return form


def _able(scene: Scene) -> list[str]:
    """The methods that treat the inequalities of a scene."""
    if not scene.deformables:
        return list(CONTACT_METHODS)
    model = build(scene)
    return [name for name, method in DEFORMABLE_METHODS.items() if method.refusal(model) is None]


class Session:
    """One run under way: the model, the compiled loop, and what has been kept so far."""

    def __init__(self, scene: Scene, model: Model, plan: dict[str, Any]) -> None:
        self.scene, self.model, self.plan = scene, model, plan
        self.method = method_for(scene, plan["method"])
        reason = self.method.refusal(model)
        if reason:
            raise TautError(f"method '{self.method.name}' can not treat scene '{scene.name}': {reason}.")
        # A mistake in the options is to show before anything is compiled.
        parameters(self.method, model, plan["tolerance"], plan["options"], residual_accepted=False)
        compilation.expect(self.method.form)
        self.system = model.system(plan["solver"], self.method.stages)
        self.state = model.initial_state(self.method.memory(model))
        self.done = 0
        self.chunks: list[Records] = []
        self.events: list[np.ndarray] = [NO_EVENTS]
        self.store: Store | None = None
        mode = start_mode(None, plan.get("repair", False), plan["project_initial"])
        self.start = prepare_start(model, self.system, self.state, mode, plan["steps"] * plan["dt"])
        self.par: Any = parameters(
            self.method, model, plan["tolerance"], plan["options"], residual_accepted=self.start.conflicting
        )
        self._numbers = self.par
        if self.method.start is not None:
            self.state, self.par = self.method.start(model, self.system, self.state, self.par)
        if self.method.form == "contact":
            while len(model.inequalities.ball_slot) and not pairs_fit(self.state, self.par):
                self._make_room()
            check_inequalities(model, self.system, self.state, self.par, mode)
        caveat = self.method.caveat
        if caveat is not None and caveat.applies(model, self._numbers):
            tell(f"method '{self.method.name}' does not keep its order here: {caveat.text}")
        if model.sheets:
            check_sheets(model, self.system, self.state, self.par, mode)

    def go(self, progress: bool) -> Run:
        calls = calls_for(self.method, self.system, self.state, self.par)
        steps, every, h = self.plan["steps"], self.plan["record_every"], self.plan["dt"]
        rows = self._rows_per_chunk()
        keep_start = not self.chunks
        if keep_start and self.method.begin is not None:
            self.method.begin(self.system, self.state, self.par)
        status, message = "finished", ""
        budget = 0  # the first call only keeps the start, so that loading compiled code is not timed
        began = clock.perf_counter()
        try:
            with Progress(steps, progress) as bar:
                while self.done < steps:
                    count = min(steps - self.done, budget, rows * every)
                    buffers = self.buffers(count // every + 2)
                    tick = clock.perf_counter()
                    taken, filled, end = loop(
                        calls, self.system, self.state, self.par, h, self.done, count, every,
                        keep_start, buffers,
                    )
                    keep_start = False
                    compilation.finish()
                    took = clock.perf_counter() - tick
                    if budget == 0:
                        began = clock.perf_counter()
                    budget = int(max(1, min(10 * budget, count * CHUNK_SECONDS / max(took, 1e-7))))
                    self.done += taken
                    self._keep(buffers, filled)
                    bar.update(self.done)
                    if end == PAIRS_FULL and self.method.grow is not None:
                        self.par = self.method.grow(self.par)
                    elif end == PAIRS_FULL:
                        self._make_room()
                    elif end not in (FINE, EVENTS_FULL):
                        status, message = "diverged", self._explain(end)
                        break
        except KeyboardInterrupt:
            status = "interrupted"
            message = f"interrupted after step {self.done} of {steps}, t = {self.done * h:.6g} s"
        return self._run(status, message, clock.perf_counter() - began)

    def _rows_per_chunk(self) -> int:
        per_row = sum(8 * int(np.prod(shape)) for shape in Records.shapes(self.model).values())
        return int(max(1, CHUNK_BYTES // max(per_row, 1)))

    def buffers(self, rows: int) -> Buffers:
        return Buffers(**{name: np.zeros((rows, *tail)) for name, tail in Records.shapes(self.model).items()})

    def _keep(self, buffers: Buffers, rows: int) -> None:
        kept = {name: array[:rows] for name, array in buffers._asdict().items()}
        events = self._take_events()
        if self.store is not None:
            self.store.append(kept, self.state._asdict(), self.done, events)
        if rows:
            self.chunks.append(Records(**kept))

    def _take_events(self) -> np.ndarray:
        """What happened since last time."""
        if not self.method.form == "contact":
            return NO_EVENTS
        events = self.par.events
        count = min(int(events.count[0]), len(events.ints))
        events.count[0] = 0
        self.events.append(joined(events.ints[:count], events.numbers[:count]))
        return self.events[-1]

    def _make_room(self) -> None:
        """More pairs of balls are near than there is room for."""
        room = int(1.5 * self.par.pairs.found[0])
        state = self.state
        pairs, lam = np.zeros((room, 2), np.int64), np.zeros((room, 3))
        pairs[: len(state.pairs)], lam[: len(state.pairs)] = state.pairs, state.pair_lam
        self.state = state._replace(pairs=pairs, pair_lam=lam)
        assert self.method.start is not None
        self.state, self.par = self.method.start(self.model, self.system, self.state, self._numbers)

    def _explain(self, reason: int) -> str:
        """At what step, which constraint, and how large the residuals are."""
        h, step = self.plan["dt"], self.done + 1
        why = STATUSES.get(reason, "the state is no longer finite")
        last = self.chunks[-1]
        text = f"step {step}, t = {step * h:.6g} s: {why}."
        if last.phi.shape[1]:
            broken = Labels.of(self.model).violation(last.phi[-1])
            order = np.argsort(-np.abs(broken))[:3]
            names = [*self.model.row_names, *(n for i in self.model.inequality_info for n in i.row_names())]
            worst = ", ".join(f"'{names[r]}' {broken[r]:.3g}" for r in order)
            text += f" Largest residuals at the last record (t = {last.time[-1]:.6g} s): {worst}."
        return f"{text} {self.method.remedy}"

    def _tell(self) -> None:
        """What is known of linear systems and of contacts whose forces statics alone do not tell."""
        counts = self.system.work.counts
        solves, singular, failed = int(counts[0]), int(counts[2]), int(counts[3])
        if singular:
            note(f"{singular} of {solves} linear systems were singular: redundant rows got the smallest multipliers")
        if counts[4]:
            say = note if self.model.sheets else tell  # rows of hard edges in flat sheets often nearly depend
            say(f"the rank of {counts[4]} of {solves} linear systems was in doubt: constraints come close to "
                "depending on each other, as where a linkage lies flat, and their multipliers are uncertain there")
        if failed:
            tell(f"{failed} of {solves} linear systems were not solved to the tolerance; try solver='sparse'")
        if self.method.form == "contact":
            names = [self.model.inequality_names[r] for r in np.flatnonzero(self.par.rows.indeterminate)]
            if names:
                tell(f"the forces of inequalities {listed(names)} are not unique (they are statically indeterminate, "
                     "at least at times): of the possible ones the smallest are given")

    def _judge(self, status: str, message: str) -> tuple[str, str, int | None]:
        """Status, message and, of a run that diverged, the first step at fault."""
        h, steps = self.plan["dt"], self.plan["steps"]
        found = divergence(self.model, self.start, self.chunks, steps * h)
        if found is None:
            return status, message, self.done + 1 if status == "diverged" else None
        step = found.record * self.plan["record_every"]
        if status == "interrupted":  # it may go on, and is judged when it ends
            return status, f"{message}; it diverged at step {step}: {found.text}", None
        remedy = "tolerance" if self.method.adaptive else "dt"
        ended = f" Then: {message}" if message else f" Try a smaller {remedy} or another method."
        return "diverged", f"step {step}, t = {step * h:.6g} s: {found.text}.{ended}", step

    def _solver(self) -> str:
        if self.method.form != "deformable" or self.method.is_for_deformables_only:
            return describe(self.system.linear)
        return f"sparse Cholesky, {3 * len(self.par.linear.nodes.order):,} rows (three for each node of sheets)"

    def _run(self, status: str, message: str, wall_time: float) -> Run:
        counts = self.system.work.counts
        self._tell()
        status, message, step = self._judge(status, message)
        info = {
            **self.plan,
            "algorithm": self.method.algorithm or self.method.name,
            "steps_done": self.done,
            "wall_time": wall_time,
            "linear_solves": int(counts[0]),
            "corrections": int(counts[1]),
            "singular_systems": int(counts[2]),
            "failed_solves": int(counts[3]),
            "doubtful_systems": int(counts[4]),
            "solver_chosen": self._solver(),
            "notes": told(),
            **({} if step is None else {"diverged_step": step}),
        }
        if self.store is not None:
            self.store.finish(status, message, info)
        return Run(
            self.scene, self.model, Records.concatenate(self.chunks), status, message, info,
            events=np.concatenate(self.events),
            log=log_table(self.model, self.par) if self.method.form == "contact" else None,
        )  # fmt: skip


def _positive(what: str, value: float | None) -> float:
    if value is None:
        raise TautError(f"{what} is not given and the scene suggests none; give {what} in seconds.")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e300:
        raise TautError(f"{what} is {shown(value)}; it must be a positive number of seconds.")
    return float(value)


before_compiling.append(compilation.tick)
