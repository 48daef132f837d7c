"""What experiments with cloth share: elongations, limits that hold, and mesh views.

The papers give neither sizes nor masses: a sheet of 2 m and 0.8 kg, h = 1/240 s. Springs of 200 N/m let it stretch
easily up to the limit; of the gallery's 50 N/m alone a ball of 2 kg is not stopped, but goes through the stretched
mesh. Springs alone are followed with h/4 or less: with h they gain energy while a ball touches them, so that the step,
not the springs, would decide.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np

from ..model import build
from ..result import Run
from ..result.dataset import elongations
from ..scene.scene import Scene
from .words import go

LIMIT, ALLOWED = 0.1, 0.005  # the papers' limit, and what it may be passed by
STIFFNESS = 200.0  # [N/m]
STEP, FINER = 1 / 240, 4
FRAME = 4  # steps
SLACK, AT_LIMIT, BEYOND = "#8c8c8c", "#0072b2", "#d55e00"
BALL = "#e69f00"
WHOLE = "this counts multipliers; taut itself solves for the places of all nodes, whichever limits act"
NEAR = 0.005  # of an edge at its limit


def with_limit(scene: Scene, duration: float, **options: Any) -> Run:
    return go(scene, "implicit_first", STEP, duration, **options)


def springs_alone(scene: Scene, duration: float, stiffness: float = STIFFNESS) -> Run:
    """Stiffer springs are given shorter steps, in proportion to the time of their swing."""
    finer = ceil(FINER * sqrt(max(1.0, stiffness / STIFFNESS)))
    return go(scene, "implicit_first", STEP / finer, duration, record_every=finer)


def largest(run: Run) -> np.ndarray:
    """Elongation of the longest edge at each record."""
    return elongations(run.records.x, run.labels.edges, run.labels.lengths)[0]


def active(run: Run) -> np.ndarray:
    """How many limits hold at each record."""
    return run.records.contacts[:, 2]


def limit_count(scene: Scene) -> int:
    return sum(len(sheet.limit_edges) for sheet in build(scene).sheets)


def ending(run: Run) -> str:
    """Says so where a run did not come to its end."""
    return "" if run.status == "finished" else f"{run.status} at t = {run.records.time[-1]:.3g} s"


def percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def mesh_view(
    axis: Any, run: Run, moment: float, balls: dict[str, float], view: tuple[float, float], label: str = ""
) -> None:
    """Edges of the sheet, in the colour of their elongation, and balls by name and radius [m]; y is up."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    row = int(np.argmin(np.abs(run.records.time - moment)))
    axis.set_axis_off()
    if abs(run.records.time[row] - moment) > 2 * STEP:
        axis.set_title(f"{label}\n{ending(run)}", fontsize=9, pad=0)
        return
    x = run.records.x[row]
    turned = x[:, [0, 2, 1]]
    edges = run.labels.edges
    longer = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) / run.labels.lengths - 1.0
    colors = np.where(longer > LIMIT + NEAR, BEYOND, np.where(longer > LIMIT - NEAR, AT_LIMIT, SLACK))
    lines = Line3DCollection(turned[edges], colors=colors, linewidths=0.6)
    axis.add_collection3d(lines)
    slots = {info.name: info.slot for info in run.labels.bodies}
    around, up = np.mgrid[0 : 2 * np.pi : 25j, 0 : np.pi : 13j]  # type: ignore[misc]
    for name, radius in balls.items():
        center = turned[slots[name]]
        axis.plot_surface(
            center[0] + radius * np.cos(around) * np.sin(up), center[1] + radius * np.sin(around) * np.sin(up),
            center[2] + radius * np.cos(up), color=BALL, alpha=0.6, linewidth=0,
        )  # fmt: skip
    axis.view_init(*view)
    stretched = f"t = {run.records.time[row]:.2f} s, +{percent(float(longer.max()))}"
    axis.set_title(f"{label}\n{stretched}", fontsize=9, pad=0)


def frame_views(axes: Any, box: tuple[tuple[float, float], ...], zoom: float = 1.5) -> None:
    """The same part of space in all views: ranges of x, z and y [m]."""
    for axis in axes:
        axis.set(xlim=box[0], ylim=box[1], zlim=box[2])
        axis.set_box_aspect([high - low for low, high in box], zoom=zoom)


def small_plots(figure: Any, grid: Any, count: int) -> list[Any]:
    """Plots over time below the views, in the last row of four columns: two, or a wide one and two narrow ones."""
    places = (slice(0, 2), slice(2, 4)) if count == 2 else (slice(0, 2), 2, 3)
    axes = [figure.add_subplot(grid[2, place]) for place in places]
    for axis in axes:
        axis.grid(color="#dddddd")
        axis.set_axisbelow(True)
        axis.set_title(" ", fontsize=9)
        axis.tick_params(labelsize=9)
    return axes


def edge_legend(axis: Any) -> None:
    """Empty lines that explain the colours of edges."""
    for color, label in ((SLACK, "edge below the limit"), (AT_LIMIT, "edge at the limit"), (BEYOND, "edge beyond it")):
        axis.plot([], [], color=color, label=label, linewidth=2)
