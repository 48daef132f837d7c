"""Pictures of a comparison as PNG and SVG: one panel per step, one legend for all."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...limits import file_name
from ...methods import Style, style_of
from ..metrics import OFF_TRACK
from .comparison import Comparison
from .curves import Lines, chosen_body, chosen_row, lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST = 1e-16  # below lies rounding; a logarithm needs a floor
AXES = "xyz"
LARGEST = "largest error of a body"
PANEL = 4.6  # inches across


def draw_all(comparison: Comparison, folder: Path, body: str | None, constraint: str | None) -> list[Path]:
    """Write all pictures that the comparison has data for; returns the files."""
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}):  # a $ in a name is a $
        return _draw_all(comparison, folder, body, constraint)


def _draw_all(comparison: Comparison, folder: Path, body: str | None, constraint: str | None) -> list[Path]:
    body, row = chosen_body(comparison.labels, body), chosen_row(comparison.labels, constraint)
    folder.mkdir(parents=True, exist_ok=True)
    curves = _Curves(comparison, body, row)
    figures: dict[str, Figure] = {}
    unit = " + ".join(sorted(set(comparison.labels.units()))) or "1"
    if row:
        figures["drift"] = _over_time(curves, "drift", f"Σ|Φ|  [{unit}]", "Constraint error")
    if len(comparison.labels.edges):
        figures["elongation"] = _over_time(curves, "elongation", "elongation of the longest edge", "Elongation")
    figures["energy"] = _over_time(curves, "energy", "|E − E(0) − work of drivers|  [J]", "Energy drift")
    if comparison.reference:
        figures["error"] = _over_time(curves, "error", f"{LARGEST}  [{comparison.length_unit}]", "Error of motion")
    if body:
        figures[f"trajectory_{body}"] = (_trajectory if comparison.has_places else _value)(curves, body)
    if row:
        figures[f"multiplier_{row}"] = _multiplier(curves, row)
    if any(row["status"] == "finished" for row in comparison.table):
        figures["work_precision"] = _precision(curves)
    files = []
    for name, figure in figures.items():
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, written twice
        for ending in ("png", "svg"):
            files.append(folder / f"{file_name(name)}.{ending}")
            figure.savefig(files[-1], dpi=110)
    return files


class _Curves:
    """Lines of all runs, computed once for all pictures."""

    def __init__(self, comparison: Comparison, body: str | None, row: str | None) -> None:
        self.comparison = comparison
        bodies, rows = [body] if body else [], [row] if row else []
        judges = comparison.reference.runs if comparison.reference else {}
        self.exact = {dt: lines(comparison, fine, None, bodies, rows) for dt, (fine, _) in judges.items()}
        self.of = {
            (name, dt): lines(comparison, run, judges[dt][0] if dt in judges else None, bodies, rows)
            for (name, dt), run in comparison.runs.items()
        }

    def trusted(self) -> list[Lines]:
        """What linear axes are scaled to: the reference; else the runs that came to their end; else all."""
        ended = [curve for curve in self.of.values() if not curve.broken]
        return list(self.exact.values()) or ended or list(self.of.values())

    def at(self, dt: float) -> list[tuple[str, Lines]]:
        return [(name, curve) for (name, step), curve in self.of.items() if step == dt]


def _figure(curves: _Curves, title: str, heights: tuple[float, ...] = (3.8,), share: bool = True) -> tuple[Figure, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = len(curves.comparison.steps)
    figure = Figure(figsize=(max(7.0, PANEL * columns), sum(heights) + 1.3), layout="constrained")
    FigureCanvasAgg(figure)
    shared: Any = "row" if share else False
    axes = figure.subplots(
        len(heights), columns, squeeze=False, sharex=shared, sharey=shared, height_ratios=heights
    )  # fmt: skip
    figure.suptitle(f"{title}: {curves.comparison.scene_name}", fontsize=11)
    for axis, dt in zip(axes[0], curves.comparison.steps):
        axis.set_title(f"dt {dt:g} s", fontsize=10)
    for axis in axes.flat:
        axis.grid(color="#e6e6e6", linewidth=0.6)
        axis.tick_params(labelsize=8)
    return figure, axes


def _legend(figure: Figure, axes: Any) -> None:
    """Below the panels, where it can not cover data."""
    handles: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center",
                  ncols=ceil(len(handles) / ceil(len(handles) / 6)), fontsize=8, frameon=False)  # fmt: skip


def _style(style: Style) -> Any:
    return (0, style.dash) if style.dash else "-"


def _line(
    axis: Axes, name: str, x: np.ndarray, y: np.ndarray, broken: bool, width: float = 1.3, above: float = 2.0
) -> None:
    style = style_of(name)
    axis.plot(x, y, color=style.color, linestyle=_style(style), linewidth=width, label=name, zorder=above)
    if broken and len(x):
        axis.plot(x[-1], y[-1], "x", color=style.color, markersize=7, markeredgewidth=1.6)


def _band(axis: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """The reference, beneath all others: a method that follows it runs inside."""
    axis.plot(x, y, color=style_of("reference").color, alpha=0.22, linewidth=4.5, label="reference", zorder=1,
              solid_capstyle="round")  # fmt: skip


def _over_time(curves: _Curves, quantity: str, label: str, title: str) -> Figure:
    from matplotlib.patheffects import withStroke

    figure, axes = _figure(curves, title)
    for axis, dt in zip(axes[0], curves.comparison.steps):
        axis.set_yscale("log")
        for name, curve in curves.at(dt):
            values = getattr(curve, quantity)
            if values is not None:
                _line(axis, name, curve.time, np.where(values > SMALLEST, values, np.nan), curve.broken)
        if quantity == "error" and dt in curves.exact:
            own_error = curves.comparison.reference.error(dt)  # type: ignore[union-attr]
            time = curves.comparison.reference.runs[dt][0].records.time  # type: ignore[union-attr]
            thin = slice(None, None, max(1, len(time) // 2000))
            axis.plot(time[thin], np.where(own_error > SMALLEST, own_error, np.nan)[thin], "k--", linewidth=0.9,
                      label="the reference's own error")  # fmt: skip
            limit = OFF_TRACK * curves.comparison.size
            axis.axhline(limit, color="#888888", linewidth=0.8)
            axis.annotate(
                "tracking horizon", (0.04, limit), xycoords=("axes fraction", "data"), va="bottom", fontsize=7,
                color="#444444", path_effects=[withStroke(linewidth=2, foreground="white")],
            )  # fmt: skip
        if not any(np.isfinite(line.get_ydata()).any() for line in axis.get_lines()):
            axis.text(0.5, 0.5, "all below rounding", transform=axis.transAxes, ha="center", color="#666666")
        axis.set_xlabel("time  [s]", fontsize=9)
        axis.set_xlim(0, curves.comparison.duration)
    axes[0, 0].set_ylabel(label, fontsize=9)
    _legend(figure, axes)
    return figure


def _linear_range(curves: _Curves, values: Callable[[Lines], np.ndarray]) -> tuple[float, float]:
    low = min(float(values(curve).min()) for curve in curves.trusted())
    high = max(float(values(curve).max()) for curve in curves.trusted())
    margin = 0.15 * (high - low) or 0.5 * abs(high) or 0.5
    return low - margin, high + margin


def plane_of(paths: list[np.ndarray]) -> tuple[int, int]:
    """The two axes along which a body moves most; x and y unless z matters more."""
    extent = np.max([np.ptp(places, axis=0) for places in paths], axis=0)
    if extent[2] <= 0.01 * extent.max():
        return 0, 1
    least = int(np.argmin(extent))
    first, second = [axis for axis in range(3) if axis != least]
    return first, second


def _value(curves: _Curves, name: str) -> Figure:
    """A coordinate over time, in a scene that has nothing else."""
    figure, axes = _figure(curves, f"Coordinate {name}")
    for axis, dt in zip(axes[0], curves.comparison.steps):
        for method, curve in curves.at(dt):
            _line(axis, method, curve.time, curve.places[name][:, 0], curve.broken)
        if dt in curves.exact:
            _band(axis, curves.exact[dt].time, curves.exact[dt].places[name][:, 0])
        axis.set_xlabel("time  [s]", fontsize=9)
        limits = _linear_range(curves, lambda curve: curve.places[name][:, 0])
        axis.set(xlim=(0, curves.comparison.duration), ylim=limits)
    axes[0, 0].set_ylabel(name, fontsize=9)
    _legend(figure, axes)
    return figure


def _trajectory(curves: _Curves, body: str) -> Figure:
    across, up = plane_of([curve.places[body] for curve in curves.trusted()])
    limits_across = _linear_range(curves, lambda curve: curve.places[body][:, across])
    limits_up = _linear_range(curves, lambda curve: curve.places[body][:, up])
    wide, tall = limits_across[1] - limits_across[0], limits_up[1] - limits_up[0]
    columns = len(curves.comparison.steps)
    room = max(7.0, PANEL * columns) / columns - 0.6
    height_of_path = min(max(room * tall / wide, 1.5), 5.5) + 0.5
    figure, axes = _figure(curves, f"Trajectory of {body}", (height_of_path, 3.2), share=False)
    for column, dt in enumerate(curves.comparison.steps):
        path, height = axes[:, column]
        for name, curve in curves.at(dt):
            _line(path, name, curve.places[body][:, across], curve.places[body][:, up], curve.broken, 0.9)
            _line(height, name, curve.time, curve.places[body][:, up], curve.broken)
        if dt in curves.exact:
            exact = curves.exact[dt]
            _band(path, exact.places[body][:, across], exact.places[body][:, up])
            _band(height, exact.time, exact.places[body][:, up])
        path.set(xlim=limits_across, ylim=limits_up)
        path.set_aspect("equal", adjustable="box")
        height.set(ylim=limits_up, xlim=(0, curves.comparison.duration))
        path.set_xlabel(f"{AXES[across]}  [{curves.comparison.length_unit}]", fontsize=9)
        height.set_xlabel("time  [s]", fontsize=9)
    for axis in axes[:, 0]:
        axis.set_ylabel(f"{AXES[up]}  [{curves.comparison.length_unit}]", fontsize=9)
    _legend(figure, axes)
    return figure


def _multiplier(curves: _Curves, row: str) -> Figure:
    figure, axes = _figure(curves, f"Multiplier λ of {row}")
    units = dict(zip(curves.comparison.labels.row_names(), curves.comparison.labels.units()))
    for axis, dt in zip(axes[0], curves.comparison.steps):
        for name, curve in curves.at(dt):
            # λ of some methods flips from step to step; they are drawn first, so as not to hide the others.
            swing = float(np.abs(np.diff(curve.multipliers[row])).sum())
            _line(axis, name, curve.time, curve.multipliers[row], curve.broken, above=2.0 + 0.9 / (1.0 + swing))
        if dt in curves.exact:
            _band(axis, curves.exact[dt].time, curves.exact[dt].multipliers[row])
        axis.set_xlabel("time  [s]", fontsize=9)
        axis.set(xlim=(0, curves.comparison.duration), ylim=_linear_range(curves, lambda curve: curve.multipliers[row]))
    axes[0, 0].set_ylabel(f"λ  [{force_unit(units[row])}]", fontsize=9)
    _legend(figure, axes)
    return figure


def force_unit(unit: str) -> str:
    return {"m": "N", "rad": "N m", "1": "J", "": "J"}.get(unit, f"J/({unit})")


def _precision(curves: _Curves) -> Figure:
    from matplotlib.figure import Figure

    comparison = curves.comparison
    key, label = "trajectory_error_max", f"{LARGEST}  [{comparison.length_unit}]"
    if not comparison.reference:
        key, label = "drift_max", "largest |Φ|"
    if len(comparison.labels.edges):
        key, label = "elongation_max", "largest elongation of an edge"
    figure = Figure(figsize=(7.0, 5.2), layout="constrained")
    axis = figure.subplots()
    for name in comparison.methods:
        rows = [row for row in comparison.table if row["method"] == name and row["status"] == "finished"]
        if rows:
            style = style_of(name)
            axis.plot(
                [1e3 * row["wall_time"] for row in rows], [max(row[key], SMALLEST) for row in rows], label=name,
                color=style.color, marker=style.marker, markersize=6, linewidth=1.1, linestyle=_style(style),
            )  # fmt: skip
    axis.set(xscale="log", yscale="log")
    axis.set_xlabel("computing time of the whole run  [ms]", fontsize=9)
    axis.set_ylabel(label, fontsize=9)
    axis.tick_params(labelsize=8)
    axis.grid(color="#e6e6e6", linewidth=0.6)
    steps = ", ".join(f"{dt:g}" for dt in comparison.steps)
    figure.suptitle(f"Work and precision: {comparison.scene_name}, dt {steps} s", fontsize=11)
    _legend(figure, np.array([axis]))
    return figure
