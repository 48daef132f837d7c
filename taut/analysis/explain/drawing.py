"""An explanation as a picture: a column per rule, a row per iteration, bars of λ and w coloured by what becomes of
a row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import TautError
from .explain import Explanation
from .rules import Iteration, Trace
from .text import MANY, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = {"active": "#0072b2", "entered": "#009e73", "left": "#d55e00", "tested": "#999999"}
WORDS = {"active": "active", "entered": "enters", "left": "leaves", "tested": "tested"}
MOST_ITERATIONS = 5  # of a rule; of more the first ones and the last
STYLE: dict[Any, Any] = {
    "font.size": 9.0, "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False,
    "axes.titlesize": 9.5, "axes.grid": True, "axes.grid.axis": "x", "grid.color": "#e4e4e4",
    "axes.axisbelow": True, "svg.hashsalt": "taut", "text.parse_math": False,
}  # fmt: skip
DPI = 130


def draw(found: Explanation, path: Path) -> None:
    """Write the picture; the end of the name decides the format."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        figure = picture(found)
        try:
            figure.savefig(path, dpi=DPI)
        except (OSError, ValueError) as problem:
            raise TautError(f"'{path}' can not be written: {problem}; give another path, such as a.png.") from None


def picture(explanation: Explanation) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    iterations = [_shown(trace) for trace in explanation.traces]
    deep = max(map(len, iterations))
    names = _names(iterations)
    label = 0.085 * max(map(len, names), default=1)  # inches
    size = len(iterations) * (3.6 + label), 1.5 + deep * (0.95 + 0.2 * len(names))
    figure = Figure(figsize=size, layout="constrained")
    title = f"{explanation.scene} at t = {explanation.time:.6g} s: what each rule does"
    figure.suptitle(title, fontsize=12, fontweight="bold")
    grid = figure.subplots(deep, 2 * len(iterations), squeeze=False)
    ranges = [_range(iterations, what) for what in ("lam", "w")]
    for column, (trace, shown) in enumerate(zip(explanation.traces, iterations)):
        for k in range(deep):
            pair = grid[k, 2 * column : 2 * column + 2]
            if k < len(shown):
                _bars(pair, shown[k], names, ranges)
            else:
                for axes in pair:
                    axes.axis("off")
        top = grid[0, 2 * column]
        top.set_title(f"{_verdict(trace)}\n\n{top.get_title(loc='left')}", loc="left")
    handles = [Patch(color=COLORS[state], label=word) for state, word in WORDS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _range(iterations: list[list[Iteration]], what: str) -> tuple[float, float]:
    """One scale for all cells, so that bars can be compared; with room for numbers at their ends."""
    values = np.concatenate([getattr(iteration, what) for shown in iterations for iteration in shown])
    low, high = min(float(values.min(initial=0.0)), 0.0), max(float(values.max(initial=0.0)), 0.0)
    room = 0.7 * max(high - low, 1e-9)
    return low - (room if low < -1e-9 * high else 0.1 * room), high + room


def _verdict(trace: Trace) -> str:
    from textwrap import fill

    return fill(f"{trace.rule.upper()}: {trace.answer.verdict()}", 50)


def _shown(trace: Trace) -> list[Iteration]:
    iterations = list(trace.iterations)
    return iterations if len(iterations) <= MOST_ITERATIONS else [*iterations[: MOST_ITERATIONS - 1], iterations[-1]]


def _names(all_iterations: list[list[Iteration]]) -> list[str]:
    """Rows to draw: all of them, or of many those that are ever more than looked at, or violated."""
    iterations = [iteration for shown in all_iterations for iteration in shown]
    names = list(dict.fromkeys(name for iteration in iterations for name in iteration.names))
    if len(names) <= MANY:
        return names
    violated = {name for iteration in iterations for name in iteration.violated}
    busy = {name for one in iterations for i, name in enumerate(one.names) if one.state(i) != "tested"}
    return [name for name in names if name in busy | violated]


def short(value: float, size: float) -> str:
    """At most eight signs, to stand beside a bar."""
    text = number(value, size)
    return text if len(text) <= 6 else (f"{value:.3g}" if 1e-3 <= abs(value) < 1e4 else f"{value:.1e}")


def _bars(pair: Any, iteration: Iteration, names: list[str], ranges: list[tuple[float, float]]) -> None:
    place = {name: i for i, name in enumerate(names)}
    columns = (iteration.lam, iteration.w), iteration.sizes, ranges, ("λ [N]", "w [m/s²]")
    for axes, values, size, span, what in zip(pair, *columns):
        for i, name in enumerate(iteration.names):
            if name not in place:
                continue
            value, color = float(values[i]), COLORS[iteration.state(i)]
            axes.barh(place[name], value, height=0.62, color=color)
            axes.plot(0.0, place[name], "o", color=color, markersize=3.5)
            text = short(value, size)
            left = value < 0.0 and text != "0"
            axes.annotate(text, (value, place[name]), xytext=(-4 if left else 4, 0), textcoords="offset points",
                          ha="right" if left else "left", va="center", fontsize=8)  # fmt: skip
        axes.axvline(0.0, color="#333333", linewidth=0.8)
        axes.set(xlim=span, ylim=(len(names) - 0.4, -0.6), xlabel=what, yticks=[])
        axes.tick_params(labelsize=7.5, length=0)
        axes.locator_params(axis="x", nbins=4)
    pair[0].set_yticks(range(len(names)), names)
    moved = [f"{name} {WORDS[iteration.state(i)]} ({fired})"
             for i, (name, fired) in enumerate(zip(iteration.names, iteration.fired)) if fired]  # fmt: skip
    shown = moved if len(moved) <= 2 else [f"{len(moved)} rows {moved[0].split(maxsplit=1)[1].replace('s ', ' ', 1)}"]
    title = f"{iteration.label}: {int(iteration.before.sum()) or 'none'} active"
    pair[0].set_title("\n".join([title, *(shown or [" "])]), loc="left")
