"""How figures look: one size of type, a light grid, legends beside the data, each method in its colour."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...methods import style_of
from ...result.plot import STYLE
from .common import Case

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

WIDTH = 8.0  # inches
DPI = 130
CEILING = 1e6  # a diverged run leaves the plot here instead of squeezing the others
# The base integrator shows as dashes: it is the method that owns the colour.
DASHES = {"euler": ":", "symplectic": "-", "ab2": "-.", "rk4": "--", "implicit": (0, (1, 1))}


def canvas(rows: int = 1, columns: int = 1, height: float = 3.6, **options: Any) -> tuple[Canvas, Any]:
    """A figure and its axes."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.subplots(rows, columns, **options)
    return figure, axes


def line_style(case: Case | str) -> dict[str, Any]:
    """Colour, dashes and label of a method's line."""
    case = Case(case) if isinstance(case, str) else case
    own = style_of(case.method)
    base = case.options.get("integrator")
    return {
        "color": own.color,
        "linestyle": DASHES[base] if base else ((0, own.dash) if own.dash else "-"),
        "label": str(case),
    }


def tame(values: np.ndarray, floor: float = 1e-16, ceiling: float = CEILING) -> np.ndarray:
    """Values for a logarithmic axis: what left for infinity is cut off, zero rests on the floor."""
    values = np.array(values, float)
    values[~(np.abs(values) <= ceiling)] = np.nan
    return np.maximum(values, floor)


def envelope(time: np.ndarray, values: np.ndarray, every: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """The largest of each `every` values: what a quick swing reaches, not each swing."""
    rows = len(values) // every * every
    return time[:rows:every], values[:rows].reshape(-1, every).max(axis=1)


def legend(figure: Canvas, axes: Axes | Iterable[Axes], columns: int = 3) -> None:
    """One legend below the axes, where it covers nothing, in so many columns at most as fit; each label once."""
    from matplotlib import rc_context

    found: dict[str, Any] = {}
    for one in axes if isinstance(axes, Iterable) else [axes]:
        for handle, label in zip(*one.get_legend_handles_labels()):
            found.setdefault(label, handle)
    with rc_context(STYLE):
        for count in range(columns, 0, -1):
            whole = figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=count)
            if count == 1 or whole.get_window_extent().width <= figure.bbox.width:
                break
            whole.remove()


def save(figure: Canvas, path: Path) -> None:
    """path.png and path.svg."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        figure.savefig(path.with_name(path.name + ".png"), dpi=DPI, metadata={"Software": "taut"})
        figure.savefig(path.with_name(path.name + ".svg"), metadata={"Date": None, "Creator": "taut"})
