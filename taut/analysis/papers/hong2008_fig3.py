"""Hong 2008, Fig 3: as Fig 2, with h = 0.05."""

from __future__ import annotations

from typing import Any

from . import hong2008_fig2
from .base import HONG2008, Claim, Figure, judge, number
from .common import accumulated
from .hong2008_fig2 import FIRST, SECOND, draw, simulate_both

COARSE, FINE = 0.05, 0.01


def run(quick: bool) -> dict[str, Any]:
    return simulate_both(COARSE) | {"fine": simulate_both(FINE)["runs"]}


def check(data: dict[str, Any]) -> list[Claim]:
    # The finer run has five times as many steps to sum over; the mean is compared.
    growth = {
        one.method: (COARSE / FINE)
        * accumulated(data["runs"][one.method][1])
        / accumulated(data["fine"][one.method][1])
        for one in (FIRST, SECOND)
    }
    return [
        *hong2008_fig2.check(data),
        judge(
            "grows-with-step",
            "The constraint error grows with the step.",
            "4.1",
            "mean Σ|Φ| at h = 0.05 / h = 0.01 > 1",
            ", ".join(f"{name}: {number(value)}" for name, value in growth.items()),
            min(growth.values()) > 1,
            note="by 5² in the first order and about 5³ in the second",
        ),
    ]


FIGURE = Figure("hong2008-fig3", "Constraint error, first and second order, h = 0.05", HONG2008, run, check, draw)
