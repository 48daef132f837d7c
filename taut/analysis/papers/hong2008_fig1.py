"""Hong 2008, Fig 1: the 2-link arm falls from the horizontal, held by the second-order method; rods of 10 m, h = 0.01.

The moments are not given: the first 5 s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...scene import gallery
from ...view.show import Show, show_of
from .base import HONG2008, Claim, Figure
from .snapshots import check_fall, draw_fall, fall
from .words import case

LENGTH, STEP = 10.0, 0.01
MOMENTS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
SECOND = case("implicit_second")


def run(quick: bool) -> dict[str, Any]:
    return fall(gallery("two_link", length=LENGTH), SECOND, STEP, MOMENTS)


def check(data: dict[str, Any]) -> list[Claim]:
    return check_fall(data, "5, Fig 1", "the 2-link arm", LENGTH)


def motion(data: dict[str, Any]) -> Show:
    return show_of({str(SECOND): data["run"]}, "2-link arm", plays=True)


def draw(data: dict[str, Any], path: Path) -> None:
    draw_fall(data, path, SECOND, MOMENTS, 2 * LENGTH, f"2-link arm, rods of {LENGTH:g} m, h = {STEP:g} s")


FIGURE = Figure("hong2008-fig1", "The 2-link arm falls", HONG2008, run, check, draw, motion=motion)
