"""Jonquet 2008, Fig 5: the same as Fig 4 with m = 3, where the paper sees much larger errors.

In exact numbers the motion only scales with 1/m: x, λ's signs and Φ's signs of a mass of 3 are those of a mass of
2 times 2/3. So a mass can matter only where rounding decides whether Φ < 0 or λ ≤ 0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .base import JONQUET2008, Claim, Figure, judge_varied, number
from .jonquet2008_fig4 import common_claims, draw_runs, run_with, words

MASS, OTHER = 3.0, 2.0
MUCH = 3.0


def run(quick: bool) -> dict[str, Any]:
    return run_with(MASS, quick)


def check(data: dict[str, Any]) -> list[Claim]:
    lowest = data["lowest"]
    ratios = {
        key[2:]: value / lowest[("platt", OTHER, *key[2:])]
        for key, value in lowest.items() if key[0] == "platt" and key[1] == MASS
    }  # fmt: skip
    scaled = sum(abs(ratio - OTHER / MASS) < 0.01 for ratio in ratios.values())
    exact = (
        f"y scales with 1/m, so the factor is 2/3 in exact numbers, and in {scaled} of {len(ratios)} runs; in the "
        f"others rounding decides at Φ = 0 or λ = 0 when a constraint is let go"
    )
    return [
        *common_claims(data, "Fig 5"),
        judge_varied(
            "much-larger",
            "With m = 3 the errors of Platt's rule are much larger than with m = 2.",
            "5, Fig 5",
            f"largest -y: m = 3 / m = 2 > {MUCH:g}",
            "integrator, τ and step",
            {words(*given): (number(ratio), ratio > MUCH) for given, ratio in ratios.items()}
            | {f"largest of these with h = {h:g} s": (number(max(found.values())), max(found.values()) > MUCH)
               for h, found in data["other_steps"].items()},
            note=exact,
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    draw_runs(data, path)


FIGURE = Figure("jonquet2008-fig5", "Height and acceleration in the corner, m = 3", JONQUET2008, run, check, draw)
