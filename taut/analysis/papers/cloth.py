"""What experiments with cloth share: elongations, limits that hold, and mesh views.

The papers give neither sizes nor masses: a sheet of 2 m and 0.8 kg, h = 1/240 s. Springs of 200 N/m let it stretch
easily up to the limit; of the gallery's 50 N/m alone a ball of 2 kg is not stopped, but goes through the stretched
mesh. Springs alone are followed with h/4 or less: with h they gain energy while a ball touches them, so that the step,
not the springs, would decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, sqrt
from typing import Any

import numpy as np

from ...model import build
from ...picture import Layer, Renderer, describe, motion_of
from ...picture.bounds import Bounds
from ...picture.camera import looking_at
from ...picture.parts import rgb
from ...picture.render import Ground
from ...result import Run
from ...result.dataset import elongations
from ...scene.scene import Scene
from ...view.overlay import Overlay, overlay_of
from .common import go
from .plots import canvas

LIMIT, ALLOWED = 0.1, 0.005  # the papers' limit, and what it may be passed by
STIFFNESS = 200.0  # [N/m]
STEP, FINER = 1 / 240, 4
FRAME = 4  # steps
SLACK, AT_LIMIT, BEYOND = "#9aa0a8", "#0072b2", "#d55e00"
# Of surfaces, light enough for the colours of edges to be told on them.
COLORS_OF = {"cloth": "#f2efe6", "particle": "#e69f00", "obstacle": "#8b93a1"}
PIXELS, LINE = (520, 500), 1.8  # of a view, and the width of an edge in it
Box = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
PAPERS: dict[str, Any] = {"limit_rule": "paper", "system": "active"}  # their own step
NEAR = 0.005  # of an edge at its limit
CASES = {"alone": "springs alone", "limit": "with the limit"}
COLORS = {"alone": BEYOND, "limit": AT_LIMIT}


def with_limit(scene: Scene, duration: float, **options: Any) -> Run:
    return go(scene, "implicit_first", STEP, duration, **options)


def springs_alone(scene: Scene, duration: float, stiffness: float = STIFFNESS) -> Run:
    """Stiffer springs are given shorter steps, in proportion to the time of their swing."""
    finer = ceil(FINER * sqrt(max(1.0, stiffness / STIFFNESS)))
    return go(scene, "implicit_first", STEP / finer, duration, record_every=finer)


def both(scene: Callable[[float | None], Scene], duration: float) -> dict[str, Run]:
    """Springs alone, and with the limit."""
    return {"alone": springs_alone(scene(None), duration), "limit": with_limit(scene(LIMIT), duration)}


def largest(run: Run) -> np.ndarray:
    """Elongation of the longest edge at each record."""
    return elongations(run.records.x, run.labels.edges, run.labels.lengths)[0]


def active(run: Run) -> np.ndarray:
    """How many limits hold at each record."""
    return run.records.contacts[:, 2]


def limit_count(scene: Scene) -> int:
    return sum(len(sheet.limit_edges) for sheet in build(scene).deformables)


def ending(run: Run) -> str:
    """Says so where a run did not come to its end."""
    return "" if run.status == "finished" else f"{run.status} at t = {run.records.time[-1]:.3g} s"


def percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def motion(data: dict[str, Any], azimuth: float, elevation: float) -> Overlay:
    """Springs alone beside limits, as the picture shows them."""
    runs = {"springs alone": data["runs"]["alone"], "with the limit": data["runs"]["limit"]}
    return overlay_of(runs, "a sheet, springs alone and with the limit", side_by_side=True, plays=True,
                   seen_from=(azimuth, elevation))  # fmt: skip


class Views:
    """Pictures of a sheet and of what hits it, all seen from one place: a box (ranges of x, y and z [m]) fills them."""

    def __init__(self, box: Box, azimuth: float, elevation: float) -> None:
        low, high = np.array(box, float).T
        self.bounds = Bounds(low, high)
        camera = looking_at(self.bounds, PIXELS, azimuth, elevation, margin=1.0)
        below = np.array([0.0, self.bounds.low[1], 0.0])
        self.renderer = Renderer(self.bounds, camera, Ground(below, np.array([0.0, 1.0, 0.0])), line=LINE)

    def show(self, axis: Any, run: Run, moment: float, label: str = "") -> None:
        """The record nearest to a moment, with edges in the colour of their elongation."""
        axis.set_axis_off()
        row = int(np.argmin(np.abs(run.records.time - moment)))
        if abs(run.records.time[row] - moment) > 2 * STEP:
            axis.set_title(f"{label}\n{ending(run)}", fontsize=9, pad=3)
            return
        x, edges = run.records.x[row], run.labels.edges
        longer = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) / run.labels.lengths - 1.0
        colors = np.where(longer > LIMIT + NEAR, BEYOND, np.where(longer > LIMIT - NEAR, AT_LIMIT, SLACK))
        motion = motion_of(run)
        parts = [replace(part, color=COLORS_OF.get(part.role)) for part in describe(motion)[0]]
        (sheet,) = (part for part in parts if part.role == "cloth")
        layer = Layer(parts, motion[row], edge_colors={sheet.name: np.array([rgb(color) for color in colors])})
        axis.imshow(self.renderer.frame([layer]), interpolation="lanczos")
        stretched = f"t = {run.records.time[row]:.2f} s, +{percent(float(longer.max()))}"
        axis.set_title(f"{label}\n{stretched}", fontsize=9, pad=3)


def views_above_plots(
    runs: dict[str, Run], views: Views, moments: Sequence[float], count: int, lowest: float = 0.75
) -> tuple[Any, list[Any]]:
    """A figure with a row of views for each of CASES, and `count` small plots below, `lowest` times as high."""
    figure, axes = canvas(3, 4, height=7.6, gridspec_kw={"height_ratios": [1, 1, lowest]})
    for axis in axes[2]:
        axis.remove()
    for line, name in zip(axes, CASES):
        for axis, moment in zip(line, moments):
            views.show(axis, runs[name], moment, CASES[name])
    return figure, small_plots(figure, axes[2, 0].get_gridspec(), count)


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
