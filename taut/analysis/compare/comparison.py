"""Comparison: what compare() returns. Table, Dataset, CSV, pictures and a report."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...drafts import writing
from ...methods import METHODS
from ...model import Model
from ...result.files import versions
from ...result.labels import Labels
from ...result.run import Run
from ..metrics import against, alone, energy_drift, of_deformables, resolved, scene_size, system_sizes, trajectory_error
from ..timing import Cost
from .fields import FIELDS, Field, unit_of
from .saving import write_folder

if TYPE_CHECKING:
    import xarray

FRAME = 1 / 60  # of a film [s]
MOMENTS = 101  # of system_size_over_time


@dataclass(frozen=True)
class Reference:
    """What judges: at each step a run, and a less exact one that tells its error."""

    method: str
    how: str
    runs: Mapping[float, tuple[Run, Run]]

    def error(self, dt: float) -> np.ndarray:
        """The reference's own error of motion at each record [m]."""
        fine, coarse = self.runs[dt]
        return trajectory_error(fine.labels, coarse.records, fine.records)


class Comparison:
    """One scene under several methods and steps.

    table      one dict per method and step: the names of fields.py, status, message, not_resolved
    data       the same as an xarray.Dataset with dimensions method and dt
    runs       Run by (method, dt)
    reference  what errors are measured against, or None
    refused    methods that can not treat the scene, with the reason
    notes      what a reader should know
    """

    def __init__(
        self,
        model: Model,
        runs: Mapping[tuple[str, float], Run],
        costs: Mapping[tuple[str, float], Cost],
        reference: Reference | None,
        refused: Mapping[str, str],
        notes: list[str],
        duration: float,
    ) -> None:
        self.model, self.labels = model, Labels.of(model)
        self.scene_name = model.name
        self.runs, self.costs = dict(runs), dict(costs)
        self.reference, self.refused, self.duration = reference, dict(refused), duration
        self.methods = list(dict.fromkeys(name for name, _ in runs))
        self.steps = list(dict.fromkeys(dt for _, dt in runs))
        moved = next(iter(reference.runs.values()))[0] if reference else next(iter(runs.values()))
        self.size = scene_size(self.labels, moved.records.x[0], moved.records.x)
        self.has_places = any(body.kind != "coordinate" for body in self.labels.bodies)
        self.length_unit = "m" if self.has_places else "coordinate's unit"
        self.fields = [
            field for field in FIELDS
            if (reference or not field.judged) and (model.row_count or not field.of_constraints)
            and (model.deformables or not field.of_deformables)
        ]  # fmt: skip
        self.notes = [*notes, *self._about_reference()]

    @cached_property
    def table(self) -> list[dict[str, Any]]:
        return [self._row(name, dt) for name in self.methods for dt in self.steps if (name, dt) in self.runs]

    def _row(self, name: str, dt: float) -> dict[str, Any]:
        run, cost = self.runs[name, dt], self.costs[name, dt]
        step = run.info.get("diverged_step", run.steps + 1)
        status = run.status if run.status == "finished" else f"{run.status} at step {step}"
        values = alone(run) | {
            "us_per_step": cost.us_per_step,
            "solves_per_step": cost.solves_per_step,
            "wall_time": 1e-6 * cost.us_per_step * run.steps,
            "steps_done": run.steps,
        }
        if self.model.deformables:
            values |= of_deformables(run) | {
                "ms_per_frame": 1e-3 * cost.us_per_step * FRAME / dt,
                "system_size": float(self.system_sizes(name, dt)[1:].mean()) if run.steps else np.nan,
            }
            if METHODS[name].is_for_deformables_only:  # they take limits and hard edges for springs, and hold none
                values["held_rows"] = np.nan
        doubtful: list[str] = []
        if self.reference and dt in self.reference.runs:
            fine, _ = self.reference.runs[dt]
            judged = against(run, fine, self.size)
            reference_curves, own_error = self.reference_errors[dt], self.reference.error(dt)
            doubtful = [
                key for key, value in judged.items()
                if any(field.name == key for field in self.fields)
                and not resolved(key, value, reference_curves, own_error, fine.records.time, self.size)
            ]  # fmt: skip
            values |= judged
        columns = {field.name: values.get(field.name, np.nan) for field in self.fields}
        return {"method": name, "dt": dt, **columns, "status": status, "message": run.message, "not_resolved": doubtful}

    def system_sizes(self, name: str, dt: float) -> np.ndarray:
        """Unknowns of the linear system of a run at each of its records."""
        return system_sizes(METHODS[name], self.model, self.runs[name, dt])

    def _sizes_over_time(self, time: np.ndarray) -> np.ndarray:
        """Shape (methods, dt, time): of the last record before each time; not a number where a run has none."""
        found = np.full((len(self.methods), len(self.steps), len(time)), np.nan)
        for (name, dt), run in self.runs.items():
            own = run.records.time
            at = np.searchsorted(own, time * (1 + 1e-12), "right") - 1
            there = time <= own[-1] * (1 + 1e-12)
            found[self.methods.index(name), self.steps.index(dt), there] = self.system_sizes(name, dt)[at[there]]
        return found

    @cached_property
    def reference_errors(self) -> dict[float, dict[str, float]]:
        """The reference's own errors at each step, by the names of fields.py."""
        if self.reference is None:
            return {}
        return {dt: against(coarse, fine, self.size) for dt, (fine, coarse) in self.reference.runs.items()}

    def _about_reference(self) -> list[str]:
        notes = []
        if self.reference:
            fine, _ = next(iter(self.reference.runs.values()))
            energies = np.abs(fine.records.energy[:, :2]).max()
            lost = np.abs(energy_drift(fine.records)).max()
            if lost > 1e-4 * energies:
                notes.append(f"forces of the scene themselves change its energy, by up to {lost:.3g} J in the "
                             "reference; read energy drift against that")
            broken = np.abs(self.labels.violation(fine.records.phi[0])).max(initial=0.0)
            if broken > 1e-9 * max(1.0, self.size):
                notes.append(f"the scene starts with |Φ| up to {broken:.3g}; the reference goes to Φ = 0 at once, and "
                             "errors of motion include how a method gets there")
        doubtful = {(row["method"], row["dt"]) for row in self.table if row["not_resolved"]}
        if doubtful:
            notes.append(f"not resolved: the reference's own error is more than a hundredth of the number judged "
                         f"({len(doubtful)} of {len(self.table)} runs have such numbers)")
        return notes

    def unit(self, field: Field) -> str:
        return unit_of(field, self.labels.units(), self.length_unit)

    def setup(self) -> dict[str, Any]:
        """What was compared, in words that a reader needs to judge it or to do it again."""
        found: dict[str, Any] = {
            "scene": self.scene_name, "duration": self.duration, "dt": self.steps, "methods": self.methods,
            "size": self.size, "reference": None, "refused": self.refused, "notes": self.notes,
            "options": {name: run.info["options"] for (name, _), run in self.runs.items() if run.info["options"]},
            "versions": versions(),
        }  # fmt: skip
        if self.reference:
            found["reference"] = {
                "method": self.reference.method, "how": self.reference.how,
                "own_error": {f"{dt:g}": own for dt, own in self.reference_errors.items()},
            }  # fmt: skip
        return found

    @cached_property
    def data(self) -> xarray.Dataset:
        import xarray

        rows = {(row["method"], row["dt"]): row for row in self.table}
        missing = {"status": "", "message": "", "not_resolved": []}

        def grid(key: str) -> np.ndarray:
            cells = [[rows.get((name, dt), missing).get(key, np.nan) for dt in self.steps] for name in self.methods]
            return np.array(cells, dtype=str if key in ("status", "message") else float)

        dims = ("method", "dt")
        variables: dict[str, Any] = {
            field.name: (dims, grid(field.name), {"units": self.unit(field), "long_name": field.doc})
            for field in self.fields
        }
        for field in self.fields:
            if field.judged:
                doubt = [[field.name in rows.get((name, dt), missing)["not_resolved"] for dt in self.steps]
                         for name in self.methods]  # fmt: skip
                variables[f"{field.name}_resolved"] = (dims, ~np.array(doubt), {})
        variables |= {key: (dims, grid(key)) for key in ("status", "message")}
        coordinates: dict[str, Any] = {"method": self.methods}
        coordinates["dt"] = ("dt", self.steps, {"units": "s", "long_name": "step"})
        if self.model.deformables:
            time = np.linspace(0.0, self.duration, MOMENTS)
            coordinates["time"] = ("time", time, {"units": "s"})
            words = {"units": "1", "long_name": "unknowns of the linear system at that time"}
            variables["system_size_over_time"] = ((*dims, "time"), self._sizes_over_time(time), words)
        about = {"scene": self.scene_name, "duration": self.duration, "size": self.size,
                 "reference": self.reference.method if self.reference else "none"}  # fmt: skip
        return xarray.Dataset(variables, coordinates, about)

    def print(self) -> None:
        """The table on the terminal, with what a reader should know."""
        from .printing import print_comparison

        print_comparison(self)

    def csv(self, path: str | Path) -> Path:
        """Write the table; columns are named as in `data`, in its units."""
        path = Path(path)
        rows = [{**row, "not_resolved": " ".join(row["not_resolved"])} for row in self.table]
        with writing(path), open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return path

    def plots(self, folder: str | Path, body: str | None = None, constraint: str | None = None) -> list[Path]:
        """Write pictures as PNG and SVG: drift, energy, error, trajectory of a body, λ of a constraint, cost."""
        from .plots import draw_all

        return draw_all(self, Path(folder), body, constraint)

    def report(self, path: str | Path) -> Path:
        """Write one HTML page with the table and interactive plots, which needs no network."""
        from .report import page

        path = Path(path)
        with writing(path):
            path.write_text(page(self), encoding="utf-8")
        return path

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Write report.html, table.csv and plots into a new folder."""

        def fill(draft: Path) -> None:
            self.report(draft / "report.html")
            self.csv(draft / "table.csv")
            (draft / "plots").mkdir()
            self.plots(draft / "plots")

        write_folder(Path(folder), overwrite, {"taut_comparison": 1, **self.setup()}, fill)
        return Path(folder)

    def _repr_html_(self) -> str:
        from ...picture.notebook import comparison_html

        return comparison_html(self)

    def __repr__(self) -> str:
        steps = ", ".join(f"{dt:g}" for dt in self.steps)
        judge = f"reference '{self.reference.method}'" if self.reference else "no reference"
        return f"<Comparison of '{self.scene_name}': {', '.join(self.methods)}; dt {steps} s; {judge}>"
