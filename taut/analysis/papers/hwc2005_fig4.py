"""Hong, Welch and Choi 2005, Fig 4: Baumgarte over α and β against implicit enforcement, 5-link arm.

α, β and the integrator are not given ("explicit"; section 3 names Adams-Bashforth 2 for the rest of the
system). A grid of α and β is run on each of four integrators, rods of 10 m, h = 0.01, 20 s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...scene import gallery
from .base import HWC2005, Claim, Figure, judge, judge_varied, number
from .common import INTEGRATOR_WORDS, accumulated, by_integrator, case, go, reached_end
from .plots import STYLE, canvas, save

LENGTH, STEP, DURATION = 10.0, 0.01, 20.0
FEEDBACK = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
IMPLICIT = ("implicit_first", "implicit_improved")


def run(quick: bool) -> dict[str, Any]:
    scene = gallery("five_link", length=LENGTH)
    feedback = (FEEDBACK[0], FEEDBACK[3], FEEDBACK[5]) if quick else FEEDBACK

    def total(base: str, alpha: float, beta: float) -> float:
        result = go(scene, case("baumgarte", integrator=base, alpha=alpha, beta=beta), STEP, DURATION)
        return accumulated(result) if reached_end(result) else np.inf

    return {
        "feedback": feedback,
        "grids": {
            base: np.array([[total(base, alpha, beta) for beta in feedback] for alpha in feedback])
            for base in INTEGRATOR_WORDS
        },
        "implicit": {name: accumulated(go(scene, name, STEP, DURATION)) for name in IMPLICIT},
    }


def check(data: dict[str, Any]) -> list[Claim]:
    first, grids = data["implicit"]["implicit_first"], data["grids"]
    better = {base: int((grid < first).sum()) for base, grid in grids.items()}
    size = grids["euler"].size
    kept = {base: grid[grid <= 1e4] for base, grid in grids.items()}
    spread = {base: values.max() / values.min() for base, values in kept.items()}
    lost = {base: int((~(grid <= 1e4)).sum()) for base, grid in grids.items()}

    return [
        judge_varied(
            "implicit-below-all",
            "Implicit enforcement has less error than Baumgarte overall.",
            "4, Fig 4",
            "α, β pairs with less error than the first-order method: fewer than half",
            "integrator",
            {INTEGRATOR_WORDS[base]: (f"{count} of {size}", count < size / 2) for base, count in better.items()},
            note=f"first order {number(first, 'm')}, improved "
            f"{number(data['implicit']['implicit_improved'], 'm')}. Pairs "
            f"with large β, near 1/h, do better; pairs that blow up: {by_integrator(lost)}. A step of fourth order "
            "drifts less than a first-order constraint for any α and β here",
        ),
        judge(
            "feedback-dominates",
            "The choice of α and β decides how well Baumgarte does.",
            "4, Fig 4",
            "largest / smallest error over the pairs that survive > 10, on each integrator",
            by_integrator(spread),
            min(spread.values()) > 10,
        ),
    ]


def short(value: float) -> str:
    """Few enough characters for a cell of the map."""
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.2g}" if value >= 0.1 else f"{value:.0e}".replace("e-0", "e-")


def draw(data: dict[str, Any], path: Path) -> None:
    from matplotlib import rc_context
    from matplotlib.colors import LogNorm

    figure, axes = canvas(2, 2, height=7.2)
    first, feedback = data["implicit"]["implicit_first"], data["feedback"]
    ticks = range(len(feedback))
    with rc_context(STYLE | {"axes.grid": False}):
        for axis, (base, grid) in zip(axes.flat, data["grids"].items()):
            image = axis.imshow(np.clip(grid, 1e-3, 1e4), norm=LogNorm(1e-3, 1e4), cmap="cividis", origin="lower")
            for i in ticks:
                for j in ticks:
                    value = grid[i, j]
                    words = "✕" if not value <= 1e4 else short(value)
                    weight = "bold" if value < first else "normal"
                    shade = "black" if 20.0 < value else "white"
                    axis.text(j, i, words, ha="center", va="center", fontsize=7.5, color=shade, weight=weight)
            axis.grid(False)
            axis.set(title=f"baumgarte on {INTEGRATOR_WORDS[base]}", xlabel="β [1/s]", ylabel="α [1/s]")
            axis.set_xticks(ticks, [f"{value:g}" for value in feedback])
            axis.set_yticks(ticks, [f"{value:g}" for value in feedback])
        bar = figure.colorbar(image, ax=axes, shrink=0.8, label="accumulated Σ|Φ| [m]")
        bar.ax.axhline(first, color="white", linewidth=2.5)
        figure.suptitle(
            f"White line, and bold numbers below it: implicit_first, {number(first, 'm')}. ✕: blown up",
            fontsize=10,
        )
    save(figure, path)


FIGURE = Figure("hwc2005-fig4", "Baumgarte over α and β against implicit enforcement", HWC2005, run, check, draw)
