"""Jonquet 2008, Fig 2: Platt's rule in the acute corner, f = (2, -1), step by step.

Both constraints are active and held; both multipliers are negative, so both are let go, and the free step that
follows goes below y = 0. Mass 2 kg; the step of the pictures is 0.01 s (the paper gives none).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .base import JONQUET2008, Claim, Figure, judge, number
from .jonquet2008_corner import MASS, STEP, draw_corner, look_at, moving, off, pair, push

PUSH = (2.0, -1.0)
MASSES = (1.0, 2.0, 3.0, 10.0)
ROUNDING = 1e-12


def run(quick: bool) -> dict[str, Any]:
    return {
        "found": look_at(PUSH),
        "lowest": {m: float(push(PUSH, m, "platt", 0.5).records.x[:, 0, 1].min()) for m in MASSES},
    }


def check(data: dict[str, Any]) -> list[Claim]:
    found, lowest = data["found"], data["lowest"]
    first, second = found["platt"].iterations[:2]
    improved, right, best = (found[rule].answer for rule in ("platt_improved", "jonquet", "exact"))
    wanted = (2.0 / MASS, 0.0)
    scaled = np.array([m * y for m, y in lowest.items()])
    return [
        judge(
            "first-step",
            "Platt's rule holds both active constraints; the multipliers are (-2, -1) and the particle stays.",
            "3, (11)",
            "|λ - (-2, -1)| < 1e-12 and |ẍ| < 1e-12 at the first step",
            f"λ = {pair(first.lam)}, ẍ = {pair(moving(first))}",
            bool(first.before.all()) and off(first.lam, (-2, -1)) < ROUNDING and off(moving(first), 0) < ROUNDING,
        ),
        judge(
            "set-free",
            "Both multipliers are negative, so the next step is free, with ẍ = (2/m, -1/m).",
            "3",
            "no constraint handled and |ẍ - (2/m, -1/m)| < 1e-12 at the second step",
            f"{int(second.before.sum())} handled, ẍ = {pair(moving(second))}, m = {MASS:g}",
            not second.before.any() and off(moving(second), (2 / MASS, -1 / MASS)) < ROUNDING,
        ),
        judge(
            "illegal",
            "So the particle goes below the line y = 0.",
            "3, Fig 2 (c)",
            "y < 0 after the second step",
            f"y = {number(second.deepest[1] if second.deepest else 0.0, 'm')} after a step of {STEP:g} s",
            second.deepest is not None and second.deepest[0] == "g2",
        ),
        judge(
            "mass-and-force",
            "How far it goes depends on the mass against the force.",
            "3",
            f"m |y| the same to 1 % for m between {MASSES[0]:g} and {MASSES[-1]:g}",
            ", ".join(f"{number(y, 'm')} (m = {m:g})" for m, y in lowest.items()),
            float(np.ptp(scaled)) < 0.01 * float(np.abs(scaled).max()),
            note="the greater the mass, the smaller the violation: y is proportional to f/m",
        ),
        judge(
            "tendency",
            "With the tendency to violate only g2 is handled at first (Alg 2): ẍ = (2/m, 0), λ₂ = 1.",
            "4.1, (12), (13)",
            "|ẍ - (2/m, 0)| < 1e-12 and |λ - (0, 1)| < 1e-12",
            f"λ = {pair(improved.lam)}, ẍ = {pair(moving(improved))}",
            off(improved.lam, (0, 1)) < ROUNDING and off(moving(improved), wanted) < ROUNDING,
        ),
        judge(
            "right",
            "The paper's own algorithm (Alg 3) gives the same; so does the exact answer.",
            "4.2",
            "|ẍ - (2/m, 0)| < 1e-12 and |λ - (0, 1)| < 1e-12 for both",
            f"λ = {pair(right.lam)} and {pair(best.lam)}",
            all(off(o.lam, (0, 1)) < ROUNDING and off(moving(o), wanted) < ROUNDING for o in (right, best)),
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    found = data["found"]
    draw_corner(path, PUSH, {
        "Platt, step 1: both held": found["platt"].iterations[0],
        "Platt, step 2: both let go": found["platt"].iterations[1],
        "Algorithm 3: only g₂ is held": found["jonquet"].answer,
    })  # fmt: skip


FIGURE = Figure("jonquet2008-fig2", "Platt's rule leaves the corner, step by step", JONQUET2008, run, check, draw)
