"""simulate(): from a scene and a method to a run. The only time loop is here.

The loop is plain Python over the words of `model/evaluate.py`; `specialise` compiles one copy per method,
with that method's `step` and `observe` in it. It returns to Python only to hand over records, to move the
progress bar and to notice Ctrl-C.
"""

from __future__ import annotations

import time as clock
import warnings
from functools import cache
from math import ceil, isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .errors import TautError, TautWarning, unknown
from .jit import cache_folder, part, specialise, word
from .linalg import describe
from .methods import METHODS, STATUSES, Method
from .methods.options import parameters
from .model import Model, build
from .model.arrays import State, System
from .model.evaluate import begin, constraints, forces, place, set_time, times
from .progress import Progress, say
from .result.records import Records
from .result.run import Run
from .result.store import Store
from .scene.scene import Scene
from .start import prepare_start

DEFAULT_METHOD = "implicit_second"
CHUNK_BYTES = 8e6  # of records handed over at a time
CHUNK_SECONDS = 0.2  # between looks at the clock, the progress bar and Ctrl-C
FINISHED, STOPPED, NOT_FINITE = range(3)


def step(system: System, state: State, t, h, par):
    """Bound to the method's step."""
    raise AssertionError


def observe(system: System, state: State, t, par, lam):
    """Bound to the method's observe, or to `as_stepped`."""
    raise AssertionError


@word
def as_stepped(system, state, t, par, lam):
    """λ as the last step left it."""
    for r in range(lam.shape[0]):
        lam[r] = state.lam[r]


def loop(system, state, par, h, first, steps, every, driven, keep_start, records):
    """Take `steps` steps after number `first`, recording every `every`-th (and the start, if asked).

    Returns how many steps were taken, how many records stand in `records`, and a status.
    """
    filled = 0
    if keep_start:
        record(system, state, first * h, par, records, filled)
        filled += 1
    for k in range(first, first + steps):
        t = k * h
        begin(system, t, state.x, state.quat, state.v)
        status = step(system, state, t, h, par)
        if not is_finite(state):
            return k - first, filled, NOT_FINITE, status
        if status != 0:
            return k - first, filled, STOPPED, status
        if driven:
            tally_drivers(system, state, t + h, h)
        if (k + 1) % every == 0:
            record(system, state, (k + 1) * h, par, records, filled)
            filled += 1
    return steps, filled, FINISHED, 0


@word
def is_finite(state):
    total = 0.0
    for i in range(state.v.shape[0]):
        total += state.v[i, 0] ** 2 + state.v[i, 1] ** 2 + state.v[i, 2] ** 2
        total += state.x[i, 0] ** 2 + state.x[i, 1] ** 2 + state.x[i, 2] ** 2
    return total < 1e300


@word
def driver_power(system, state, t):
    """Power of what moves on its own: -λ·∂Φ/∂t of constraints, and driven bodies against forces."""
    work, bodies = system.work, system.bodies
    constraints(system, t, state.x, state.quat, state.v, False, work.J)
    forces(system, t, state.x, state.quat, state.v)
    power = 0.0
    for i in range(bodies.slots):
        for c in range(3):
            given = state.v[i, c] * (1.0 - bodies.free[i, c])
            work.v1[i, c] = given
            power -= work.f[i, c] * given
    times(system, work.J, work.v1, work.b)
    for r in range(work.b.shape[0]):
        power -= state.lam[r] * (work.b[r] + work.phi_t[r])
    return power


@part
def tally_drivers(system, state, t, h):
    power = driver_power(system, state, t)
    state.driver_work[0] += 0.5 * h * (power + state.driver_work[1])
    state.driver_work[1] = power


def record(system, state, t, par, records, row):
    """Keep the state at t, with λ, Φ, Φ̇ and the energies that belong to it."""
    work, bodies = system.work, system.bodies
    records.time[row] = t
    set_time(system, t, state.x, state.quat, state.v)
    place(system, state.x, state.quat, state.v)
    lam = records.lam[row]
    for r in range(lam.shape[0]):
        lam[r] = 0.0
    observe(system, state, t, par, lam)
    constraints(system, t, state.x, state.quat, state.v, False, work.J)
    times(system, work.J, state.v, work.b)
    for r in range(lam.shape[0]):
        records.phi[row, r] = work.phi[r]
        records.rate[row, r] = work.b[r] + work.phi_t[r]
    potential = forces(system, t, state.x, state.quat, state.v)
    kinetic = 0.0
    for i in range(bodies.slots):
        for c in range(3):
            records.x[row, i, c] = state.x[i, c]
            records.v[row, i, c] = state.v[i, c]
            kinetic += 0.5 * bodies.mass[i, c] * state.v[i, c] ** 2
            potential -= bodies.constant[i, c] * state.x[i, c]
    for i in range(state.quat.shape[0]):
        for c in range(4):
            records.quat[row, i, c] = state.quat[i, c]
    records.energy[row, 0] = kinetic
    records.energy[row, 1] = potential
    records.energy[row, 2] = state.driver_work[0]


@cache
def compiled(method: Method):
    """The time loop, compiled with this method's step and observe."""
    keep = specialise(record, f"record_{method.name}", part, observe=method.observe or as_stepped)
    return specialise(loop, f"loop_{method.name}", step=method.step, record=keep)


class Buffers(NamedTuple):
    """Records as compiled code sees them: the fields of result.Records."""

    time: np.ndarray
    x: np.ndarray
    quat: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    phi: np.ndarray
    rate: np.ndarray
    energy: np.ndarray


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
    project_initial: bool = True,
    progress: bool = True,
    **options: Any,
) -> Run:
    """Simulate a scene and return a labelled run.

    method           name of the enforcement method (`taut list methods`); default: implicit_second
    dt, duration     step and simulated time [s]; default: what the scene suggests
    record_every     keep every n-th step
    solver           of the linear systems: auto, or a name from `taut list solvers`
    tolerance        largest |Φ| allowed at the end of a step; default: the method's own
    out              a folder to store records in while running; it survives a crash, and can be resumed
    project_initial  make the initial velocity consistent with the constraints
    options          the method's own options, such as alpha= and beta=
    """
    suggested = dict(scene.suggested)
    name = method or suggested.pop("method", None) or DEFAULT_METHOD
    suggested.pop("method", None)
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    dt = _positive("dt", dt if dt is not None else suggested.pop("dt", None))
    duration = _positive("duration", duration if duration is not None else suggested.pop("duration", None))
    if not isinstance(record_every, int) or record_every < 1:
        raise TautError(f"record_every is {record_every!r}; give a whole number of at least 1.")
    known = {option.name for option in METHODS[name].options}
    options = {**{key: value for key, value in suggested.items() if key in known}, **options}
    plan = {
        "method": name, "dt": dt, "steps": max(1, ceil(duration / dt - 1e-9)), "record_every": record_every,
        "solver": solver, "tolerance": tolerance, "project_initial": project_initial, "options": options,
    }  # fmt: skip
    session = _Session(scene, build(scene), plan)
    if out is not None:
        session.store = Store.create(
            out, scene, session.model, records=1 + plan["steps"] // record_every, info=plan, overwrite=overwrite
        )
    return session.go(progress)


def resume(path: str | Path, scene: Scene | None = None, progress: bool = True) -> Run:
    """Go on with a stored run that was interrupted, bit for bit as if it had not been."""
    store = Store.open(path)
    info = store.info()
    scene = scene or store.scene()
    session = _Session(scene, build(scene), {key: info[key] for key in (
        "method", "dt", "steps", "record_every", "solver", "tolerance", "project_initial", "options")})
    arrays, session.done = store.state()
    for field, values in arrays.items():
        getattr(session.state, field)[...] = values
    session.chunks = [Records(**store.read())]
    session.store = store
    return session.go(progress)


class _Session:
    """One run under way: the model, the compiled loop, and what has been kept so far."""

    def __init__(self, scene: Scene, model: Model, plan: dict[str, Any]) -> None:
        self.scene, self.model, self.plan = scene, model, plan
        self.method = METHODS[plan["method"]]
        reason = self.method.refuses(model)
        if reason:
            raise TautError(f"method '{self.method.name}' can not treat scene '{scene.name}': {reason}.")
        parameters(self.method, model, plan["tolerance"], plan["options"], False)  # a mistake shows before compiling
        _announce_compilation(self.method)
        self.system = model.system(plan["solver"], self.method.stages)
        self.state = model.initial_state(self.method.memory(model))
        self.done = 0
        self.chunks: list[Records] = []
        self.store: Store | None = None
        self.start = prepare_start(model, self.system, self.state, plan["project_initial"])
        self.par = parameters(
            self.method, model, plan["tolerance"], plan["options"], residual_accepted=self.start.conflicting
        )

    def go(self, progress: bool) -> Run:
        time_loop = compiled(self.method)
        steps, every, h = self.plan["steps"], self.plan["record_every"], self.plan["dt"]
        rows = self._rows_per_chunk()
        keep_start = not self.chunks
        driven = self.model.is_driven
        status, message = "finished", ""
        budget = 0  # the first call only keeps the start, so that loading compiled code is not timed
        began = clock.perf_counter()
        try:
            with Progress(steps, progress) as bar:
                while self.done < steps:
                    count = min(steps - self.done, budget, rows * every)
                    buffers = self._buffers(count // every + 2)
                    tick = clock.perf_counter()
                    taken, filled, end, reason = time_loop(
                        self.system, self.state, self.par, h, self.done, count, every, driven, keep_start, buffers
                    )
                    keep_start = False
                    took = clock.perf_counter() - tick
                    if budget == 0:
                        began = clock.perf_counter()
                    budget = int(max(1, min(10 * budget, count * CHUNK_SECONDS / max(took, 1e-7))))
                    self.done += taken
                    self._keep(buffers, filled)
                    bar.update(self.done)
                    if end != FINISHED:
                        status, message = "diverged", self._explain(reason)
                        break
        except KeyboardInterrupt:
            status = "interrupted"
            message = f"interrupted after step {self.done} of {steps}, t = {self.done * h:.6g} s"
        return self._run(status, message, clock.perf_counter() - began)

    def _rows_per_chunk(self) -> int:
        per_row = sum(8 * int(np.prod(shape)) for shape in Records.shapes(self.model).values())
        return int(max(1, CHUNK_BYTES // max(per_row, 1)))

    def _buffers(self, rows: int) -> Buffers:
        return Buffers(**{name: np.empty((rows, *tail)) for name, tail in Records.shapes(self.model).items()})

    def _keep(self, buffers: Buffers, rows: int) -> None:
        kept = {name: array[:rows] for name, array in buffers._asdict().items()}
        if self.store is not None:
            self.store.append(kept, self.state._asdict(), self.done)
        if rows:
            self.chunks.append(Records(**kept))

    def _explain(self, reason: int) -> str:
        """At what step, which constraint, and how large the residuals are."""
        h, step = self.plan["dt"], self.done + 1
        why = STATUSES.get(reason, "the state is no longer finite")
        last = self.chunks[-1]
        text = f"step {step}, t = {step * h:.6g} s: {why}."
        if last.phi.shape[1]:
            order = np.argsort(-np.abs(last.phi[-1]))[:3]
            names = self.model.row_names
            worst = ", ".join(f"'{names[r]}' {last.phi[-1, r]:.3g}" for r in order)
            text += f" Largest residuals at the last record (t = {last.time[-1]:.6g} s): {worst}."
        return text + " Try a smaller dt or another method."

    def _run(self, status: str, message: str, wall_time: float) -> Run:
        counts = self.system.work.counts
        info = {
            **self.plan,
            "steps_done": self.done,
            "wall_time": wall_time,
            "linear_solves": int(counts[0]),
            "corrections": int(counts[1]),
            "singular_systems": int(counts[2]),
            "failed_solves": int(counts[3]),
            "solver_chosen": describe(self.system.linear),
            "notes": list(self.start.notes),
        }
        if counts[3]:
            warnings.warn(
                f"{counts[3]} of {counts[0]} linear systems were not solved to the tolerance; "
                "try solver='sparse'.", TautWarning, stacklevel=3,
            )  # fmt: skip
        if self.store is not None:
            self.store.finish(status, message, info)
        return Run(self.scene, self.model, Records.concatenate(self.chunks), status, message, info)


def _positive(what: str, value: float | None) -> float:
    if value is None:
        raise TautError(f"{what} is not given and the scene suggests none; give {what} in seconds.")
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value <= 0:
        raise TautError(f"{what} is {value!r}; it must be a positive number of seconds.")
    return float(value)


def _announce_compilation(method: Method) -> None:
    """Tell the user once why the first run with a method takes longer."""
    if not any((cache_folder() / "kernels").rglob(f"*loop_{method.name}-*.nbi")):
        say(f"compiling method '{method.name}' (once for this version of taut; later runs start at once)")
