"""Hong, Welch and Choi 2005, Fig 2: a 5-link arm falls from the horizontal, held by the improved scheme.

The moments and the length are not given: rods of 10 m, h = 0.01, the first 5 s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...scene import gallery
from ...view.show import Show, show_of
from .base import HWC2005, Claim, Figure
from .snapshots import check_fall, draw_fall, fall
from .words import case

LENGTH, STEP = 10.0, 0.01
MOMENTS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
IMPROVED = case("implicit_improved")


def run(quick: bool) -> dict[str, Any]:
    return fall(gallery("five_link", length=LENGTH), IMPROVED, STEP, MOMENTS)


def check(data: dict[str, Any]) -> list[Claim]:
    return check_fall(data, "4, Fig 2", "the 5-link arm", LENGTH)


def motion(data: dict[str, Any]) -> Show:
    return show_of({str(IMPROVED): data["run"]}, "5-link arm", plays=True)


def draw(data: dict[str, Any], path: Path) -> None:
    draw_fall(data, path, IMPROVED, MOMENTS, 5 * LENGTH, f"5-link arm, rods of {LENGTH:g} m, h = {STEP:g} s")


FIGURE = Figure("hwc2005-fig2", "The 5-link arm falls", HWC2005, run, check, draw, motion=motion)
