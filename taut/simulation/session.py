"""A session is one run in progress: a model, the compiled loop and the records so far.

A session treats all methods alike: it calls the hooks that methods/base.py declares (prepare, begin,
grow, drain, remarks, solver, log).
"""

from __future__ import annotations

import time as clock
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ..compiled import cache_folder
from ..compiled.on_demand import waited
from ..compiled.storage import before_compiling
from ..errors import TautError, listed, note, notes_so_far, present, warn
from ..expressions.compiled import FAILED, raise_mistake
from ..initial import check_start, prepare_start, start_mode
from ..methods import STATUSES
from ..methods.base import EVENTS_FULL, LEFT_BRANCH, NOT_CONVERGED, NOT_FINITE, OK, PAIRS_FULL, STUCK, TOO_SMALL
from ..methods.options import option_values
from ..model import Model
from ..model.arrays import COUNTERS, DOUBTFUL_SYSTEMS, SINGULAR_SYSTEMS
from ..model.tiny_inertia import tiny_inertias
from ..progress import Progress, compilation
from ..result.events import NO_EVENTS, TIME, joined, switched
from ..result.log import log_table
from ..result.records import Records
from ..result.run import Run
from ..result.store import Store
from ..scene.scene import Scene
from ..settings import differing, taken
from .dry_friction import remarks as friction_remarks
from .dry_friction import with_friction
from .failure import ROUNDING, clash_at, contradicted, mistake_after, residuals, state_at
from .formulas import formula_at_fault
from .loop import Buffers, TimeLoop
from .plan import method_for, warn_of_samples
from .poles import near_poles
from .status import divergence, energy_given, energy_off, ringing, singular_position
from .switching import with_workspace

CHUNK_BYTES = 8e6  # of records handed over at a time
CHUNK_SECONDS = 0.2  # between looks at the clock, the progress bar and Ctrl-C
STUCK_EVENTS = 20  # the last ones, whose inequalities are named where events follow each other for ever


class Session:
    """One run in progress: the model, the compiled loop, and the records so far."""

    def __init__(self, scene: Scene, model: Model, plan: dict[str, Any]) -> None:
        self.scene, self.model, self.plan = scene, model, {"settings": differing(), **plan}
        self.method = method_for(scene, plan["method"], plan["options"]).for_model(model)
        reason = self.method.refusal(model)
        if reason:
            raise TautError(f"method '{self.method.name}' can not treat scene '{scene.name}': {reason}.")
        # A mistake in the options is to show before anything is compiled.
        option_values(self.method, model, plan["tolerance"], plan["options"], residual_accepted=False)
        compilation.expect(self.method.hooks.functions, once=cache_folder() is not None)
        self.system = model.system(plan["solver"], self.method.stages)
        self.state = model.initial_state(self.method.memory(model))
        self.done = 0
        self.chunks: list[Records] = []
        self.events: list[np.ndarray] = [NO_EVENTS]
        self.store: Store | None = None
        self._loop: TimeLoop | None = None
        mode = start_mode(None, plan.get("repair", False), plan["project_initial"])
        self.start = prepare_start(model, self.system, self.state, mode, plan["steps"] * plan["dt"])
        self.context: Any = option_values(
            self.method, model, plan["tolerance"], plan["options"], residual_accepted=self.start.conflicting
        )
        self._options = self.context
        if self.method.hooks.prepare is not None:
            with taken(self.plan["settings"]):
                self.state, self.context = self.method.hooks.prepare(model, self.system, self.state, self.context)
        self.system = with_friction(self.system, self.state, self.method, model)
        if model.switch_names:
            self.system = with_workspace(self.system, self.state, self.method, bool(model.switches.address.any()))
        check_start(model, self.system, self.state, self.context, mode)
        caveat = self.method.caveat
        if caveat is not None and caveat.applies(model, self._options):
            warn(f"method '{self.method.name}' does not keep its order here: {caveat.text}")
        warn_of_samples(scene, plan["dt"])

    @property
    def loop(self) -> TimeLoop:
        """The time loop for the current system, state and context."""
        if self._loop is None or not self._loop.serves(self.system, self.state, self.context):
            self._loop = TimeLoop(self.method, self.system, self.state, self.context, self.buffers)
        return self._loop

    @cached_property
    def no_records(self) -> Buffers:
        """Buffers for steps that are not recorded."""
        return self.buffers(1)

    def run(self, progress: bool) -> Run:
        """Take all steps that are left, and return what was recorded."""
        steps, every, h = self.plan["steps"], self.plan["record_every"], self.plan["dt"]
        rows = self._rows_per_chunk()
        keep_start = not self.chunks
        if keep_start and self.method.hooks.begin is not None:
            self.method.hooks.begin(self.system, self.state, self.context)
        status, message, mistake = "finished", "", None
        budget = 0  # the first call only keeps the start, so that loading compiled code is not timed
        began = _clock()
        try:
            with Progress(steps, progress) as bar:
                while self.done < steps:
                    count = min(steps - self.done, budget, rows * every)
                    buffers = self.buffers(count // every + 2)
                    tick = _clock()
                    taken, filled, end = self.loop(h, self.done, count, every, int(keep_start), buffers)
                    keep_start = False
                    compilation.finish()
                    took = _clock() - tick
                    if budget == 0:
                        began = _clock()
                    budget = int(max(1, min(10 * budget, count * CHUNK_SECONDS / max(took, 1e-7))))
                    self.done += taken
                    self._keep(buffers, filled)
                    bar.update(self.done)
                    mistake = self._mistake()
                    if mistake is not None:
                        break
                    if end == PAIRS_FULL:
                        self.grow()
                    elif end not in (OK, EVENTS_FULL):
                        status, message = "diverged", self._explain(end)
                        break
        except KeyboardInterrupt:
            if not self.chunks:  # not even the start was kept
                if self.store is not None:
                    self.store.release()
                raise
            status = "interrupted"
            message = f"interrupted after step {self.done} of {steps}, t = {self.done * h:.6g} s"
        except (TautError, SystemExit):
            if self.store is not None:
                self.store.release()  # what was stored stays as after a crash
            raise
        if mistake is not None:
            raise self._stopped(mistake, _clock() - began) from mistake.__cause__
        return self._make_run(status, message, _clock() - began)

    def _mistake(self) -> TautError | None:
        """What a user's function has made of the last steps, if it is a mistake; without a record there is nothing to
        keep."""
        try:
            raise_mistake()
        except TautError as mistake:
            if not self.chunks:
                raise
            return mistake
        return None

    def _stopped(self, mistake: TautError, wall_time: float) -> TautError:
        """The same mistake, with the part of the run before it."""
        goes_on = not self.model.switch_names  # a step in pieces does not
        run = self._make_run("interrupted" if goes_on else "diverged", str(mistake), wall_time)
        return mistake_after(mistake, run, None if self.store is None else self.store.path)

    def _rows_per_chunk(self) -> int:
        per_row = sum(8 * prod(shape) for shape in Records.shapes(self.model).values())
        return int(max(1, CHUNK_BYTES // max(per_row, 1)))

    def buffers(self, rows: int) -> Buffers:
        return Buffers(**{name: np.zeros((rows, *tail)) for name, tail in Records.shapes(self.model).items()})

    def _keep(self, buffers: Buffers, rows: int) -> None:
        kept = {name: array[:rows] for name, array in buffers._asdict().items()}
        events = self._drain_events()
        if self.store is not None:
            self.store.append(kept, self.state._asdict(), self.done, events)
        if rows:
            self.chunks.append(Records(**kept))

    def _drain_events(self) -> np.ndarray:
        """Hand over the events since the last call."""
        events = [NO_EVENTS] if self.method.hooks.drain is None else [joined(*self.method.hooks.drain(self.context))]
        if self.model.switch_names:
            events.insert(0, switched(self.system.switches))  # what a switch does at its moment comes after it
        together = np.concatenate(events)
        self.events.append(together[np.argsort(together[:, TIME], kind="stable")])
        return self.events[-1]

    def grow(self, least: int = 0) -> None:
        """Enlarge the tables of near pairs to at least `least` pairs."""
        grow = present(self.method.hooks.grow, "the hook that makes tables of pairs larger")
        with taken(self.plan["settings"]):
            self.state, self.context = grow(
                self.model, self.system, self.state, self._options, self.context, least
            )

    def _explain(self, reason: int) -> str:
        """Describe a failure: the step, what failed in it, and the residuals."""
        h, step = self.plan["dt"], self.done + 1
        last = self.chunks[-1]
        failed = self._failed_function()
        if failed:
            return f"step {step}, t = {step * h:.6g} s: {failed}."
        why = STATUSES.get(reason, "the state is no longer finite")
        text = f"step {step}, t = {step * h:.6g} s: {why}."
        formula = self._formula_at_fault(step * h)
        if formula:
            return f"{formula}. {text}"
        parts = self.model, self.system, self.state, self.start, last
        later = step * h - float(last.time[-1])
        asked = reason in (NOT_CONVERGED, TOO_SMALL, LEFT_BRANCH, NOT_FINITE)
        clash = clash_at(*parts, len(last) - 1, later, ROUNDING) if asked else None
        if clash is not None:
            return (f"{text} At t = {step * h:.6g} s {clash.words(self.model.row_names)}. Change a driver or a length "
                    "of theirs, or end the run before.")
        if reason == STUCK:
            text = f"{text.rstrip('.')}{self._last_events()}."
        poles = near_poles(self.model, [last]) if asked else ""
        if poles:
            return f"{text} {poles[0].upper()}{poles[1:]}."
        text += residuals(self.model, self.start, last)
        if reason in (NOT_CONVERGED, LEFT_BRANCH) and self.system.work.counts[DOUBTFUL_SYSTEMS] > 0:
            tiny = max(tiny_inertias(self.model).values(), key=lambda one: one.sigma, default=None)
            if tiny is not None:
                return f"{text} Rows are lost in rounding, since {tiny.words()}. {tiny.remedy()}"
            text += singular_position(self.model, self.system, self.state, self.chunks[0], last)
        return f"{text} {self.method.hooks.explain(self.model, self.context, reason) or self.method.hooks.remedy}"

    def _last_events(self) -> str:
        """Whose inequalities began, ended or were hit last, in words; driver and limit may contradict each other."""
        from ..result.events import table

        last = [name for events in self.events[-1:] for name in table(self.model, events[-STUCK_EVENTS:]).constraint]
        whose = listed(list(dict.fromkeys(last)))
        return f" (of {whose}); what holds or drives them may contradict them" if last else ""

    def _formula_at_fault(self, until: float) -> str:
        last = self.chunks[-1]
        before = state_at(self.state, last, len(last) - 1)
        return formula_at_fault(self.scene, self.model, self.system, before, float(last.time[-1]), until)

    def _failed_function(self) -> str:
        """The message of a user's function that failed, if one did: then that is the cause."""
        return next((text for text in notes_so_far() if FAILED in text), "")

    def _report_solves(self) -> None:
        """Report singular linear systems and statically indeterminate contacts."""
        solves, _, singular, failed, doubtful = map(int, self.system.work.counts)  # as COUNTERS names them
        if singular:
            note(f"redundant constraints are handled: in {singular} of {solves} linear systems some rows depend on "
                 "others; the motion is right, and of the possible multipliers the smallest are given")
        if doubtful:
            report = note if self.model.deformables else warn  # rows of hard edges in flat sheets often nearly depend
            report(f"{doubtful} of {solves} linear systems were nearly singular: constraints come close to "
                   "depending on each other, as where a linkage lies flat or a body's inertia is tiny beside its mass "
                   "and arms, and their multipliers may be inaccurate there")
        if failed:
            warn(f"{failed} of {solves} linear systems were not solved to the tolerance; try solver='sparse'")
        poles = near_poles(self.model, self.chunks)
        for remark in [*self.method.hooks.remarks(self.model, self.context), *friction_remarks(self.system),
                       *([poles] if poles else [])]:  # fmt: skip
            warn(remark)
        for remark in self.method.hooks.notes(self.model, self.context):
            note(remark)

    def _final_status(self, status: str, message: str) -> tuple[str, str, int | None]:
        """Status, message and, of a run that diverged, the first step at fault."""
        h, steps = self.plan["dt"], self.plan["steps"]
        parts = self.model, self.system, self.state, self.start
        clash = contradicted(*parts, self.chunks)
        singular = self.system.work.counts[SINGULAR_SYSTEMS] > 0
        fault = clash or divergence(self.model, self.start, self.chunks, steps * h, bool(singular))
        if fault is None:
            return status, message, self.done + 1 if status == "diverged" else None
        step = fault.record * self.plan["record_every"]
        if status == "interrupted":  # it may go on, and is judged when it ends
            return status, f"{message}; it diverged at step {step}: {fault.text}", None
        if clash is not None:
            remedy = "Change a driver or a length of theirs, or end the run before."
            return "diverged", f"step {step}, t = {step * h:.6g} s: {fault.text}. {remedy}", step
        usual = "Try a smaller tolerance or another method." if self.method.adaptive else self.method.hooks.remedy
        remedy = fault.remedy or usual
        if self._failed_function():
            return "diverged", message or f"{self._failed_function()}.", step
        ended = f" Then: {message}" if message else f" {remedy}"
        return "diverged", f"step {step}, t = {step * h:.6g} s: {fault.text}.{ended}", step

    def _make_run(self, status: str, message: str, wall_time: float) -> Run:
        counts = self.system.work.counts
        self._report_solves()
        status, message, step = self._final_status(status, message)
        finished = status == "finished"
        doubts = [
            ringing(self.model, self.start, self.chunks) if finished and self.method.rings else None,
            energy_given(self.model, self.start, self.chunks) if finished and self.model.deformables else None,
            energy_off(self.model, self.start, self.chunks, self.plan["steps"] * self.plan["dt"]) if finished else None,
        ]
        for wrong in doubts:
            if wrong:
                warn(f"{wrong}. {self.method.hooks.remedy.rstrip('.')}")
        info = {
            **self.plan,
            "algorithm": self.method.algorithm or self.method.name,
            "steps_done": self.done,
            "wall_time": wall_time,
            **{name: int(count) for name, count in zip(COUNTERS, counts)},
            "solver_chosen": self.method.hooks.solver(self.system, self.context),
            **self.method.hooks.info(self.context),
            "notes": notes_so_far(),
            **({} if step is None else {"diverged_step": step}),
        }
        if self.store is not None:
            self.store.finish(status, message, info)
        return Run(
            self.scene, self.model, Records.concatenate(self.chunks), status, message, info,
            events=np.concatenate(self.events),
            log=None if self.method.hooks.log is None else log_table(self.model, self.method.hooks.log(self.context)),
        )  # fmt: skip


def _clock() -> float:
    """The time [s] without what steps have waited for functions that were compiled when first called."""
    return clock.perf_counter() - waited()


before_compiling.append(compilation.tick)
