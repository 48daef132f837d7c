"""run.plot: what a run did, as matplotlib figures with units.

    run.plot.drift()            |Φ| over time, one line per unit, or of one constraint
    run.plot.energy()           kinetic, potential, total
    run.plot.trajectory(body)   its path in the plane in which it moves most, and its coordinates over time
    run.plot.forces(name)       what a constraint does to each of its bodies, or all contacts to a body
    run.plot.phase(name)        position against velocity
    run.plot.events()           activations, releases and impacts along time

Each returns a Figure: figure.savefig("drift.png"); a notebook shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TautError, unknown, with_hints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .run import Run

# How all figures of taut look: one size of type, a light grid, no frame around legends.
STYLE: dict[Any, Any] = {
    "font.size": 10.0,
    "axes.titlesize": 10.5,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "svg.hashsalt": "taut",  # the same picture gives the same file
}
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#777777")
WIDTH, HEIGHT = 7.5, 3.6  # inches
AXES = "xyz"
SMALLEST = 1e-16  # below lies rounding; a logarithm needs a floor
MANY = 8  # lines that can be told apart
MARKS = {"activation": "^", "release": "v", "impact": "o", "switched on": ">", "switched off": "<"}


@with_hints("run.plot")
class Plots:
    """What `run.plot` is."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def drift(self, constraint: str | None = None) -> Figure:
        """|Φ| over time: the sum over all constraints of a unit, or the rows of one constraint."""
        run, labels = self._run, self._run.labels
        errors = np.abs(labels.violation(run.records.phi))
        lines: dict[str, np.ndarray] = {}
        if constraint is not None:
            info = next((info for info in labels.constraints if info.name == constraint), None)
            if info is None:
                raise unknown("constraint", str(constraint), [info.name for info in labels.constraints])
            lines = {f"{plain(name)}  [{unit}]": errors[:, row]
                     for name, row, unit in zip(info.row_names(), info.rows, info.units)}
        elif not labels.constraints:
            raise TautError(f"the run of scene '{labels.scene}' has no constraints, so nothing drifts; how "
                            "far deformables stretch is in run.data.elongation.")
        else:
            for unit in sorted(set(labels.units())):
                rows = [row for info in labels.constraints
                        for row, row_unit in zip(info.rows, info.units) if row_unit == unit]  # fmt: skip
                lines[f"Σ|Φ|  [{unit}]"] = errors[:, rows].sum(axis=1)
        figure, axes = self._figure("Constraint error" if constraint is None else f"Error of {constraint}")
        for i, (label, values) in enumerate(list(lines.items())[:MANY]):
            shown = np.where(values > SMALLEST, values, np.nan)
            axes.semilogy(run.records.time, shown, color=COLORS[i % len(COLORS)], label=label)
        axes.set_ylabel("|Φ|")
        if not any(np.isfinite(line.get_ydata()).any() for line in axes.get_lines()):
            axes.text(0.5, 0.5, "all below rounding", transform=axes.transAxes, ha="center", color="#666666")
        return self._over_time(figure, axes)

    def energy(self) -> Figure:
        """Energies over time [J]; where work goes in or contacts take some, also what is left without these."""
        records = self._run.records
        kinetic, potential = records.energy.T[:2]
        figure, axes = self._figure("Energy")
        lines = {"kinetic": kinetic, "potential": potential, "kinetic + potential": kinetic + potential}
        if np.nan_to_num(records.energy[:, 2:]).any():
            lines["without work and losses"] = (kinetic + potential)[0] + records.energy_drift()
        for color, (label, values) in zip(COLORS, lines.items()):
            axes.plot(records.time, values, color=color, label=label)
        axes.set_ylabel("energy  [J]")
        return self._over_time(figure, axes)

    def trajectory(self, body: str) -> Figure:
        """Where a body went: its path, and its coordinates over time; of a coordinate its value."""
        time, scalars = self._run.records.time, self._run.labels.scalars(self._run.records)
        if body in scalars:
            figure, axes = self._figure(f"Coordinate {body}")
            axes.plot(time, scalars[body][0], color=COLORS[0])
            axes.set_ylabel(plain(body))
            return self._over_time(figure, axes)
        x = self._run.records.x[:, self._body(body).slot]
        figure, (path, over) = self._figure(f"Trajectory of {body}", columns=2)
        across, up = _plane(x)
        path.plot(x[:, across], x[:, up], color=COLORS[0])
        path.plot(x[0, across], x[0, up], "o", color=COLORS[0], markersize=5, label="start")
        path.set(xlabel=f"{AXES[across]}  [m]", ylabel=f"{AXES[up]}  [m]")
        path.set_aspect("equal", adjustable="datalim")
        for axis in range(3):
            over.plot(time, x[:, axis], color=COLORS[axis], label=AXES[axis])
        over.set_ylabel("position  [m]")
        return self._over_time(figure, over)

    def forces(self, name: str) -> Figure:
        """Sizes of what a constraint does to each of its bodies [N, N m]; of a body: of all its contacts."""
        run = self._run
        time = run.records.time
        if any(info.name == name for info in run.labels.constraints):
            result = run[name]
            sizes = {"force  [N]": result.force, "torque  [N m]": result.torque}
            panels = {
                label: (values.body.values, np.linalg.norm(values.values, axis=2))
                for label, values in sizes.items() if label.startswith("force") or values.values.any()
            }  # fmt: skip
        else:
            info = self._body(name, "constraint or body")
            if not run.records.contact_force.shape[1]:
                raise TautError(f"'{name}' is a body, and the scene has no contacts whose force could be shown; name a "
                                "constraint.")
            size = np.linalg.norm(run.records.contact_force[:, info.slot], axis=1)
            panels = {"force of all contacts  [N]": (np.array([name]), size[:, np.newaxis])}
        figure, axes = self._figure(f"Forces of {name}", columns=len(panels))
        for axis, (label, (bodies, values)) in zip(np.atleast_1d(axes), panels.items()):
            for i, body in enumerate(bodies[:MANY]):
                # The first record has no step before it that could have a force.
                axis.plot(time, values[:, i], color=COLORS[i % len(COLORS)], label=f"on {plain(body)}",
                          linestyle="-" if i == 0 else (0, (4 + i, 2)))  # fmt: skip
            axis.set_ylabel(label)
            self._over_time(figure, axis)
        return figure

    def phase(self, name: str, axis: str | None = None) -> Figure:
        """Position against velocity along an axis (default: along which the body moves most); of a coordinate its
        value against its rate."""
        records = self._run.records
        scalars = self._run.labels.scalars(records)
        if name in scalars:
            x, v = (values[:, np.newaxis] for values in scalars[name])
            pick, labels = 0, (plain(name), f"rate of {plain(name)}  [per s]")
        else:
            slot = self._body(name).slot
            x, v = records.x[:, slot], records.v[:, slot]
            if axis is not None and axis not in AXES:
                raise unknown("axis", str(axis), AXES)
            pick = AXES.index(axis) if axis else int(np.argmax(np.nan_to_num(np.ptp(x, axis=0))))
            labels = (f"{AXES[pick]}  [m]", f"velocity along {AXES[pick]}  [m/s]")
        figure, axes = self._figure(f"Phase portrait of {name}")
        axes.plot(x[:, pick], v[:, pick], color=COLORS[0])
        axes.plot(x[0, pick], v[0, pick], "o", color=COLORS[0], markersize=5, label="start")
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.legend()
        return figure

    def events(self) -> Figure:
        """Activations, releases and impacts along time, a line for each constraint that had some."""
        table = self._run.events
        names = list(dict.fromkeys(table.constraint))
        figure, axes = self._figure("Events", height=max(2.4, 1.4 + 0.2 * min(len(names), 40)))
        place = {name: i for i, name in enumerate(names)}
        for color, kind in zip(COLORS, dict.fromkeys(table.kind)):
            of_kind = table[table.kind == kind]
            axes.plot(of_kind.time, [place[name] for name in of_kind.constraint], MARKS.get(kind, "s"), color=color,
                      markersize=5, label=f"{kind} ({len(of_kind)})")  # fmt: skip
        if not names:
            axes.text(0.5, 0.5, "no events", transform=axes.transAxes, ha="center", color="#666666")
        listed = names if len(names) <= 40 else []
        axes.set_yticks(range(len(listed)), [plain(name) for name in listed])
        axes.set_xlim(*_spread(self._run.records.time))
        return self._over_time(figure, axes)

    def _figure(self, title: str, columns: int = 1, height: float = HEIGHT) -> tuple[Figure, Any]:
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        with rc_context(STYLE):
            figure = Figure(figsize=(WIDTH, height), layout="constrained")
            axes = figure.subplots(1, columns)
        run = self._run
        figure.suptitle(plain(f"{title}: {run.labels.scene}, {run.info.get('method', '')}"), fontsize=10.5)
        return figure, axes

    def _over_time(self, figure: Figure, axes: Any) -> Figure:
        axes.set_xlabel("time  [s]")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=9, frameon=False)
        return figure

    def _body(self, name: str, what: str = "body") -> Any:
        for info in self._run.labels.bodies:
            if info.name == name:
                return info
        known = [*(info.name for info in self._run.labels.bodies), *self._run.labels.coordinates]
        if what != "body":
            known += [info.name for info in self._run.labels.constraints]
        raise unknown(what, str(name), known)


def plain(name: str) -> str:
    """A name as matplotlib shows it unchanged: two $ would make a formula of what is between them."""
    return name.replace("$", r"\$")


def _plane(x: np.ndarray) -> tuple[int, int]:
    """The two axes along which a body moves most; x and y unless z matters more."""
    extent = np.nan_to_num(np.ptp(x, axis=0))
    if extent[2] <= 0.01 * extent.max():
        return 0, 1
    first, second = sorted(np.argsort(extent)[1:].tolist())
    return first, second


def _spread(time: np.ndarray) -> tuple[float, float]:
    begin, end = float(time[0]), float(time[-1])
    return begin, end if end > begin else begin + 1.0
