"""A run: what simulate returns and taut.open reads. Data with names and units, forces, saving."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import checked
from ..errors import TautError, present, unknown, with_hints
from ..model import Model, build
from ..model.model import BodyInfo, ConstraintInfo
from ..scene.checks import number
from ..scene.scene import Scene
from .body_result import BodyResult
from .commits import RUNNING
from .constraint_result import ConstraintResult
from .events import EVENTS, KIND, NO_EVENTS, TIME
from .files import versions
from .instant import Instant
from .labels import Labels
from .older import may_lack_slots
from .records import Records
from .store import Store
from .stored_records import StoredRecords

if TYPE_CHECKING:
    import pandas
    import xarray

    from .plot import Plots


class Worst(NamedTuple):
    """The largest |Φ| of a run."""

    value: float
    name: str
    unit: str
    time: float

    def __str__(self) -> str:
        unit = "" if self.unit == "1" else f" {self.unit}"
        return f"{self.value:.3g}{unit} of '{self.name}' at t = {self.time:.6g} s"


@with_hints("a run")
class Run:
    """A simulated motion.

    status   "finished", "diverged" or "interrupted"; message says why
    info     method, dt, options and solver, what the run cost, versions
    notes    all notes and warnings: about the start, singular systems, contacts without unique forces, ...
    records  the plain arrays; `data` gives them names
    """

    def __init__(
        self,
        scene: Scene | None,
        model: Model | None,
        records: Records,
        status: str,
        message: str,
        info: dict[str, Any],
        labels: Labels | None = None,
        events: np.ndarray = NO_EVENTS,
        log: Any = None,
    ) -> None:
        if labels is None:
            labels = Labels.of(present(model, "the model of a run without labels"))
        self.scene = scene
        self.records = records
        self.status = status
        self.message = message
        self.info = {"versions": versions(), **info}
        self.labels = labels
        self._model = model
        self._events = events
        self._log = log

    @property
    def model(self) -> Model:
        """The model of the scene; of a stored run it is built when it is asked for."""
        if self._model is None:
            if self.scene is None:
                raise TautError(
                    f"the run of scene '{self.labels.scene}' was stored without its scene, which holds "
                    "Python functions; open it with taut.open(path, scene=scene)."
                )
            self._model = build(self.scene)
        return self._model

    @cached_property
    def data(self) -> xarray.Dataset:
        """Everything recorded, with names and units: position, velocity, multiplier, constraint_error, ..."""
        from .dataset import dataset

        attributes = {
            "scene": self.labels.scene,
            "method": self.info.get("method", ""),
            "dt": self.info.get("dt", np.nan),
            "status": self.status,
            "message": self.message,
            **{f"version_{name}": version for name, version in self.info["versions"].items()},
        }
        return dataset(self.labels, self.records, attributes)

    @cached_property
    def events(self) -> pandas.DataFrame:
        """Every activation, release, impact and switch that was turned: time [s], kind, constraint, impulse [N s]."""
        from .events import table

        return table(self.model, self._events)

    def event_counts(self) -> dict[str, int]:
        """How many events of each kind there were; kinds that did not happen are left out."""
        counts = np.bincount(self._events[:, KIND].astype(int), minlength=len(EVENTS))
        return {name: int(count) for name, count in zip(EVENTS, counts) if count}

    @property
    def log(self) -> pandas.DataFrame:
        """What the rule of the active set did: time, iteration, constraint, member, action, λ, w."""
        if self._log is None:
            raise TautError("the run kept no log; simulate with log=True (a scene with inequalities).")
        return self._log

    def __getitem__(self, name: str) -> Any:
        """The ConstraintResult, BodyResult or ForceResult of that name; a constraint goes before a body."""
        for constraint in self.labels.constraints:
            if constraint.name == name:
                return self._constraint(constraint)
        for body in self.labels.bodies:
            if body.name == name:
                return BodyResult(self, body)
        if name in self.labels.scalars(self.records):
            return BodyResult(self, BodyInfo(name, "coordinate", "free", -1, -1, None, 0.0))
        forces = () if self.scene is None else tuple(self.scene.forces)
        if name in forces:
            from .applied import ForceResult

            return ForceResult(self, next(info for info in self.model.force_info if info.name == name))
        known = [*(info.name for info in self.labels.constraints), *(info.name for info in self.labels.bodies), *forces,
                 *self.labels.coordinates]
        raise unknown("constraint, body or force", str(name), known)

    def _constraint(self, info: ConstraintInfo) -> ConstraintResult:
        """What a constraint did; a joint tells its coordinates besides."""
        from ..constraints import KINDS

        if info.kind in KINDS and KINDS[info.kind].frames:
            from .joints import JointResult

            return JointResult(self, info)
        return ConstraintResult(self, info)

    @checked
    def at(self, time: float) -> Instant:
        """The record nearest to a time [s] of the run, for `taut.linearise`."""
        asked, known = number(time, "at: time"), np.asarray(self.records.time)
        beyond = (known[-1] - known[0]) / max(len(known) - 1, 1) + 1e-9
        if not known[0] - beyond <= asked <= known[-1] + beyond:
            raise TautError(f"at: time is {asked:g} s, but the run goes from {known[0]:g} to {known[-1]:g} s"
                            f"{'' if self.status == 'finished' else f' ({self.status})'}; give a time between them.")
        return Instant(self, int(np.abs(known - asked).argmin()))

    @cached_property
    def accelerations(self) -> np.ndarray:
        """v̇ of all slots at each record, (T, slots, 3), from the equations of motion (motion.py)."""
        from .motion import accelerations

        return accelerations(self.model, self.records)

    @checked
    def dense(self, times: Any) -> Run:
        """This run, of method `reference`, at other times [s], rising: each to the accuracy of the run itself."""
        return _downstream("taut.simulation.dense").dense(self, times)

    @checked
    def crossings(self, quantity: Any, level: float = 0.0, rate: Any = None) -> pandas.DataFrame:
        """Where a recorded quantity passes a level, between records: columns time [s] and direction.

        quantity  one number per record, such as run["pin"].angle, or a function that finds it in a run:
                  lambda run: run["a"].position.sel(xyz="x") - run["b"].position.sel(xyz="x")
        rate      its time derivative, where it is known: run["pin"].rate

        Of a `reference` run, what is asked for by name or as a function is found in the motion between records.
        """
        from .moments import crossings

        return crossings(self._curve(quantity, rate), level)

    @checked
    def extremes(self, quantity: Any, rate: Any = None) -> pandas.DataFrame:
        """Local extremes of a recorded quantity between records, as for `crossings`: time [s], value and kind."""
        from .moments import extremes

        return extremes(self._curve(quantity, rate))

    def _curve(self, quantity: Any, rate: Any) -> Any:
        from .moments import curve_of

        return curve_of(self, quantity, rate, _downstream("taut.simulation.dense").is_dense(self))

    def worst_error(self) -> Worst | None:
        """The largest |Φ| and where it was; None where there are no constraints."""
        size = np.abs(self.labels.violation(self.records.phi))
        if not size.size:
            return None
        k, row = np.unravel_index(np.argmax(size), size.shape)
        place = int(np.flatnonzero(self.labels.rows() == row)[0])
        name, unit = self.labels.row_names()[place], self.labels.units()[place]
        return Worst(float(size[k, row]), name, unit, float(self.records.time[k]))

    def energy_change(self) -> float:
        """The method's own change of energy from start to end [J]: `energy_parts` are taken out of it."""
        return float(self.records.energy_drift()[-1])

    def energy_parts(self) -> dict[str, float]:
        """What drivers and forces without potential put in, impacts and friction took [J]; without those that are 0."""
        names = "by drivers", "by forces without potential", "to impacts", "to friction"
        parts = zip(names, self.records.energy[-1, 2:] - self.records.energy[0, 2:])
        return {name: float(value) for name, value in parts if value}

    @checked
    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Store the run in a new folder; `taut.open` reads it."""
        if self.scene is None:
            raise TautError("this run was opened without its scene; copy its folder instead of saving it.")
        store = Store.create(path, self.scene, self.model, len(self.records), self.info, overwrite)
        store.append(self.records.as_dict(), {}, self.steps, self._events)
        store.finish(self.status, self.message, {})
        return Path(path)

    def view(self, *others: Run, **options: Any) -> Any:
        """Show the run, and others of its scene over it, in a browser or in the cell of a notebook.

        options  port, browser, wait, title: taut/view/viewer.py
        """
        from importlib import import_module  # a look downstream, taken only when somebody wants to see

        return import_module("taut.view").view(self, *others, **options)

    @property
    def plot(self) -> Plots:
        """Figures with units: run.plot.drift(), .energy(), .trajectory(body), .forces(name) and more (plot.py)."""
        from .plot import Plots

        return Plots(self)

    @checked
    def export(self, path: str | Path, to: str | None = None, **options: Any) -> Path:
        """Write the run for other tools; the ending says the format, or `to` does: taut export --help.

        options  fps, every, size, overwrite, progress
        """
        return _downstream("taut.export").export(self, path, to, **options)

    @checked
    def animate(self, path: str | Path, **options: Any) -> Path:
        """Write a film (.mp4 or .gif), rendered without a display; options as for `export`."""
        return _downstream("taut.export").animate(self, path, **options)

    @checked
    def draw(self, path: str | Path, at: float | None = None, **options: Any) -> Path:
        """Write a picture (.png) of one moment [s], by default the last; options as for Scene.draw."""
        return _downstream("taut.picture").draw(self, path, at=at, **options)

    def _repr_html_(self) -> str:
        return _downstream("taut.picture.notebook").run_html(self)

    @property
    def notes(self) -> list[str]:
        """All notes and warnings of this run, in order."""
        return list(self.info.get("notes", ()))

    @property
    def steps(self) -> int:
        """Steps taken."""
        return int(self.info.get("steps_done", 0))

    def __repr__(self) -> str:
        worst = self.worst_error()
        lines = [
            f"<Run of '{self.labels.scene}': {self.info.get('method')}, dt {self.info.get('dt')} s, "
            f"{self.steps} steps, {self.status}",
            f"  {len(self.records)} records up to t = {self.records.time[-1]:.6g} s",
            f"  energy change {self.energy_change():.3g} J",
        ]
        if worst is not None:
            lines.append(f"  worst |Φ| {worst}")
        if self.message:
            lines.append(f"  {self.message}")
        return "\n".join(lines) + ">"


def _downstream(module: str) -> Any:
    """Pictures and exports are made from results; only these methods of a run look that way."""
    return import_module(module)


@checked
def open_run(
    path: str | Path, scene: Scene | None = None, recover: bool = False, lazy: bool = False
) -> Run:
    """Read a stored run, finished or not. A scene with Python functions is not stored: pass it again.

    recover  of a damaged run, read what is sound: records up to the first damaged one, and the events up to then.
             run.message says what is lost; the files stay as they are
    lazy     leaves the records on disk until they are asked for; they are checked then
    """
    store = Store.open(path, recover=recover)
    if not len(store):
        raise TautError(f"'{path}' holds no records: its run was stopped before the first; run it again.")
    labels = store.labels
    model = None
    if scene is not None:
        model = build(scene)
        store.check_scene(scene, model)
    elif store.has_scene:
        try:
            scene = store.scene()
        except TautError:
            if not recover:
                raise
    if scene is not None and may_lack_slots(scene):
        model = build(scene) if model is None else model
        store.fit(model)
    status, message = store.status, store.message
    if status == RUNNING:
        status = "interrupted"
        message = f"still running, or stopped from outside after step {store.step}; taut run --resume {path}"
    info = {"steps_done": store.step, **store.info()}
    records, events = StoredRecords(store) if lazy else Records(**store.read()), store.events()
    if recover:
        events = events[events[:, TIME] <= records.time[-1]]
    return Run(scene, model, records, status, message, info, labels, events)
