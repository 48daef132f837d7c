"""What the figures of the acute corner share: its scene, its runs and its picture.

The corner lies between g1 = x - y ≥ 0 and g2 = y ≥ 0; a particle of mass m starts in its tip at rest and is
pushed by a constant force.

    g1, g2:  J₁ = (1, -1),  J₂ = (0, 1)                                                 (1)
    m ẍ = f + λ₁ J₁ + λ₂ J₂                                                             (2)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...result import Run
from ...scene import gallery
from ..explain import Explanation, Iteration, explain
from .base import number
from .common import case, go
from .plots import canvas, legend, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

J = {"g1": np.array([1.0, -1.0]), "g2": np.array([0.0, 1.0])}  # (1)
MASS, STEP, TAU = 2.0, 0.01, 0.05  # of the pictures that explain one instant; any others give the same sets
FORCE, PUSH, PULL, MOTION, WALL = "#222222", "#0072b2", "#d55e00", "#009e73", "#777777"


def look_at(force: tuple[float, float], mass: float = MASS) -> Explanation:
    """The instant t = 0 under all four rules."""
    scene = gallery("acute_corner", m=mass, fx=force[0], fy=force[1])
    return explain(scene, 0.0, "baumgarte", STEP, tau=TAU)


def push(force: tuple[float, float], mass: float, rule: str, duration: float, **options: Any) -> Run:
    """A run of the corner."""
    scene = gallery("acute_corner", m=mass, fx=force[0], fy=force[1])
    options = {"dt": STEP, "tau": TAU, "integrator": "rk4", **options}
    return go(scene, case("baumgarte", active_set=rule), duration=duration, **options)


def acceleration_y(run: Run, force: tuple[float, float], mass: float) -> np.ndarray:
    """ÿ at each record: (2) with the contact forces of the record."""
    return (force[1] + run.records.contact_force[:, 0, 1]) / mass  # (2)


def moving(iteration: Iteration) -> np.ndarray:
    """ẍ and ÿ."""
    return iteration.acceleration["particle"][:2]


def pair(values: Any) -> str:
    return f"({', '.join(number(value if abs(value) > 1e-12 else 0.0) for value in values)})"


def off(values: Any, wanted: Any) -> float:
    return float(np.abs(np.asarray(values) - np.asarray(wanted)).max())


def panel(axes: Axes, force: tuple[float, float], iteration: Iteration, title: str, mass: float = MASS) -> None:
    """The corner with the force, the forces of the constraints that are handled, and m ẍ."""
    from matplotlib.patches import Polygon

    reach = 3.6
    axes.add_patch(Polygon([(0, 0), (reach, 0), (reach, reach)], closed=True, color="#eef4ea", zorder=0))
    axes.plot([0, reach], [0, 0], color=WALL, linewidth=2)
    axes.plot([0, reach], [0, reach], color=WALL, linewidth=2)
    axes.text(2.5, 2.72, "g₁ = 0", color="#444444", rotation=45, rotation_mode="anchor", ha="center")
    axes.text(3.1, -0.5, "g₂ = 0", color="#444444", ha="center")
    motion = mass * moving(iteration)
    free = off(motion, force) < 1e-9
    if not free:
        arrow(axes, np.array(force), FORCE, "f")
    for name, symbol in (("g1", "λ₁J₁"), ("g2", "λ₂J₂")):
        i = iteration.names.index(name)
        if iteration.before[i]:
            value = float(iteration.lam[i])
            arrow(axes, value * J[name], PULL if value < 0.0 else PUSH, f"{symbol}, λ = {number(value)}")
    if np.abs(motion).max() > 1e-9:
        arrow(axes, motion, MOTION, "f = m ẍ" if free else "m ẍ")
    else:
        axes.plot(0, 0, "o", color=MOTION, markersize=9, zorder=5)
        axes.annotate("m ẍ = 0", (0, 0), xytext=(-10, -3), textcoords="offset points", color=MOTION, ha="right")
    axes.plot(0, 0, "o", color="#222222", markersize=5, zorder=6)
    axes.set(xlim=(-reach, reach), ylim=(-2.9, 3.9), aspect="equal", title=title, xticks=[], yticks=[])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def arrow(axes: Axes, towards: np.ndarray, color: str, label: str) -> None:
    """From the tip of the corner, with its name beyond its end."""
    to = (float(towards[0]), float(towards[1]))
    style = {"arrowstyle": "-|>", "color": color, "linewidth": 2.0, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", to, (0, 0), arrowprops=style, zorder=4)
    way = towards / np.linalg.norm(towards)
    level = abs(way[1]) < 0.1  # along a wall: the name stands above the arrow
    axes.annotate(label, to, xytext=(0, 6) if level else 5 * way, textcoords="offset points", color=color, zorder=7,
                  ha="center" if level or abs(way[0]) < 0.3 else ("left" if way[0] > 0.0 else "right"),
                  va="bottom" if level or way[1] > 0.3 else ("top" if way[1] < -0.3 else "center"))  # fmt: skip


def draw_corner(path: Path, force: tuple[float, float], shown: dict[str, Iteration]) -> None:
    """A panel for each title, side by side."""
    figure, axes = canvas(1, len(shown), height=3.9)
    for axis, (title, iteration) in zip(axes, shown.items()):
        panel(axis, force, iteration, title)
    key(axes[0])
    legend(figure, axes, columns=2)
    save(figure, path)


def key(axes: Axes) -> None:
    """Entries for the legend below the panels."""
    for color, label in ((FORCE, "applied force"), (PUSH, "constraint force that pushes"),
                         (PULL, "constraint force that pulls"), (MOTION, "mass times acceleration")):  # fmt: skip
        axes.plot([], [], color=color, linewidth=3, label=label)
