"""Jonquet 2008, Fig 3: Algorithm 2 in the acute corner, f = (-1, -2), step by step; and what Algorithm 3 promises.

Only g2 tends to be violated at first. Its multiplier then drives the particle through g1, which is noticed one
step too late. Algorithm 3 iterations again before it moves. Whether it always ends at the right set is tried on random
problems: 2 to 8 active rows on 6 unknowns, seed 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...contact.rules import RULES, rule_work
from ...contact.snapshot import solve_by_rule
from ...contact.work import empty_log
from .base import JONQUET2008, Claim, Figure, judge, judge_varied, number
from .jonquet2008_corner import MASS, STEP, draw_corner, look_at, moving, off, pair
from .jonquet2008_fig2 import PUSH as OTHER_PUSH

PUSH = (-1.0, -2.0)
ROUNDING = 1e-12
PROBLEMS, QUICK_PROBLEMS, UNKNOWNS = 2000, 300, 6


def run(quick: bool) -> dict[str, Any]:
    count = QUICK_PROBLEMS if quick else PROBLEMS
    return {"found": look_at(PUSH), "other_corner": look_at(OTHER_PUSH), "tried": try_random(count), "count": count}


def try_random(count: int) -> dict[str, dict[str, float]]:
    """Of random problems, the share in which a rule lets a row pull or be violated."""
    random = np.random.default_rng(1)
    work, log = rule_work(8), empty_log(0)
    failed = {rule: {"pulls": 0.0, "violates": 0.0} for rule in ("jonquet", "exact")}
    for _ in range(count):
        n = int(random.integers(2, 9))
        J, W, a = random.normal(size=(n, UNKNOWNS)), np.exp(random.normal(size=UNKNOWNS)), random.normal(size=UNKNOWNS)
        S, c = J * W @ J.T, J @ a
        for rule, counted in failed.items():
            lam, w = np.zeros(n), np.zeros(n)
            solve_by_rule(RULES[rule].code, S, c, n, np.zeros(n, np.int64), lam, w, work, log)
            size = np.abs(S @ lam).max(initial=0.0) + np.abs(c).max()
            counted["pulls"] += lam.min() < -1e-9 * max(1.0, lam.max())
            counted["violates"] += w.min() < -1e-9 * size
    return {rule: {name: value / count for name, value in counted.items()} for rule, counted in failed.items()}


def check(data: dict[str, Any]) -> list[Claim]:
    found, tried = data["found"], data["tried"]
    free = found["jonquet"].iterations[0]
    first, second = found["platt_improved"].iterations[:2]
    right, best = found["jonquet"].answer, found["exact"].answer
    rounds = len(found["jonquet"].iterations)
    corners = (found["jonquet"], data["other_corner"]["jonquet"])
    pulling = sum(bool(min(corner.answer.lam) < -ROUNDING) for corner in corners)
    return [
        judge(
            "first-set",
            "Of the free motion only g2 tends to be violated: J₁ẍ = 1/m, J₂ẍ = -2/m.",
            "4.1, (14)",
            "|J ẍ - (1/m, -2/m)| < 1e-12, and g2 alone is handled",
            f"J ẍ = {pair(free.w)}, m = {MASS:g}",
            off(free.w, (1 / MASS, -2 / MASS)) < ROUNDING and list(first.before) == [False, True],
        ),
        judge(
            "second-force",
            "Algorithm 2 then finds ẍ = (-1/m, 0) and λ₂ = 2.",
            "4.1, (15)",
            "|ẍ - (-1/m, 0)| < 1e-12 and |λ - (0, 2)| < 1e-12",
            f"λ = {pair(first.lam)}, ẍ = {pair(moving(first))}",
            off(first.lam, (0, 2)) < ROUNDING and off(moving(first), (-1 / MASS, 0)) < ROUNDING,
        ),
        judge(
            "through-g1",
            "The particle slides through g1 into an illegal state.",
            "4.1, Fig 3 (c)",
            "x - y < 0 after the first step",
            f"x - y = {number(first.deepest[1] if first.deepest else 0.0, 'm')} after a step of {STEP:g} s",
            first.deepest is not None and first.deepest[0] == "g1",
            note="g1 enters one step later, "
            + ("when it is violated" if second.before[0] else "which does not happen here"),
        ),
        judge(
            "right",
            "Algorithm 3 keeps the particle in the corner: ẍ = 0 with λ = (1, 3).",
            "4.2",
            "|ẍ| < 1e-12 and |λ - (1, 3)| < 1e-12",
            f"λ = {pair(right.lam)}, ẍ = {pair(moving(right))}, {rounds} linear systems",
            off(right.lam, (1, 3)) < ROUNDING and off(moving(right), 0) < ROUNDING,
        ),
        judge(
            "exact-agrees",
            "This is the exact answer.",
            "4.2",
            "|λ of Algorithm 3 - λ of the complementarity problem| < 1e-12",
            number(off(right.lam, best.lam)),
            off(right.lam, best.lam) < ROUNDING,
        ),
        judge(
            "never-violated",
            "Since rows are added until none tends to be violated, the last computation violates none.",
            "4.2",
            "share of random problems with J ẍ < d: = 0 %",
            f"{100 * tried['jonquet']['violates']:.0f} %",
            tried["jonquet"]["violates"] == 0.0,
        ),
        judge_varied(
            "only-appropriate",
            "Only appropriate constraints are handled, so the configuration found is the accurate one.",
            "4.2",
            "share of problems in which a row that is handled pulls (λ < 0): = 0 %",
            "problem",
            {"the paper's two corners": (f"{50 * pulling} %", pulling == 0),
             f"{data['count']} random ones": (f"{100 * tried['jonquet']['pulls']:.0f} %",
                                              tried["jonquet"]["pulls"] == 0.0)},
            note="rows only enter, never leave: one that was needed at first may hold the bodies back once others "
            f"have entered. The exact rule lets a row pull in {100 * tried['exact']['pulls']:.0f} % and be violated "
            f"in {100 * tried['exact']['violates']:.0f} %",
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    found = data["found"]
    draw_corner(path, PUSH, {
        "free: J₁ẍ > 0, J₂ẍ < 0": found["jonquet"].iterations[0],
        "Algorithm 2: through g₁": found["platt_improved"].iterations[0],
        "Algorithm 3: both held": found["jonquet"].answer,
    })  # fmt: skip


FIGURE = Figure(
    "jonquet2008-fig3", "Algorithm 2 leaves the corner, Algorithm 3 does not", JONQUET2008, run, check, draw
)
