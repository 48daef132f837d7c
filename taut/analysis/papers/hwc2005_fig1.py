"""Hong-Welch-Choi 2005, Fig 1: a ball flies into a falling sheet, (a) with springs alone, (b) with limits.

The sheet starts flat, hangs by two corners and swings down; a ball of 5 kg at 5 m/s meets its middle from the other
side at 0.65 s. What the paper leaves open is in cloth.py.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...scene import gallery
from ...scene.scene import Scene
from . import cloth
from .base import HWC2005, Claim, Figure, judge, number
from .cloth import LIMIT, percent
from .common import case, go, total_energy
from .plots import legend, save

N, QUICK_N = 24, 10
DURATION = 1.0
MOMENTS = (0.5, 0.64, 0.72, 0.8)
MUCH = 5.0  # times the limit
FACTOR, STIFFEST = 4.0, 1e6  # of stiffnesses tried [N/m]
AZIMUTH, ELEVATION, BOX = 125.0, 12.0, ((-1.1, 1.1), (-2.3, 0.2), (-1.6, 1.2))


def scene(n: int, limit: float | None, stiffness: float = cloth.STIFFNESS, **more: Any) -> Scene:
    return gallery("cloth_ball", n=n, limit=limit, corners=2, stiffness=stiffness, **more)


def run(quick: bool) -> dict[str, Any]:
    n = QUICK_N if quick else N
    runs = cloth.both(partial(scene, n), DURATION)
    stiff = cloth.STIFFNESS
    while True:  # the springs that stay below the limit by themselves
        stiff *= FACTOR
        held = cloth.springs_alone(scene(n, None, stiff), DURATION, stiff)
        if cloth.largest(held).max() <= LIMIT or stiff > STIFFEST:
            break
    explicit = go(scene(n, None, stiff), case("implicit_first", unconstrained="symplectic"), cloth.STEP, DURATION)
    return {"n": n, "runs": runs, "limits": cloth.limit_count(scene(n, LIMIT)), "stiff": stiff, "held": held,
            "explicit": explicit, "papers": cloth.with_limit(scene(n, LIMIT, **cloth.PAPERS), DURATION)}  # fmt: skip


def check(data: dict[str, Any]) -> list[Claim]:
    runs, all_limits = data["runs"], data["limits"]
    free, held = float(cloth.largest(runs["alone"]).max()), float(cloth.largest(runs["limit"]).max())
    papers = data["papers"]  # their own step of cloth
    on = cloth.active(papers)
    stretched = float(np.nanmax(cloth.largest(papers)))
    peak = int(np.argmax(on))
    free_time = float((on[peak:] < 0.25 * on.max()).mean())
    energy = total_energy(runs["limit"])
    gained, brought = float((energy - np.minimum.accumulate(energy)).max()), float(runs["limit"].records.energy[0, 0])
    stiff, explicit = data["stiff"], data["explicit"]
    blown = float(np.nanmax(cloth.largest(explicit)))
    return [
        judge(
            "excessive",
            "With springs alone some are stretched excessively.",
            "4, Fig 1 (a)",
            f"largest elongation > {MUCH:g} × {percent(LIMIT)}",
            percent(free),
            free > MUCH * LIMIT,
        ),
        judge(
            "limit-holds",
            "With implicit constraints on over-long springs the sheet is not over-stretched, though a ball hits it.",
            "4, Fig 1 (b)",
            f"largest elongation at any record < {percent(LIMIT + cloth.ALLOWED)}",
            percent(held),
            held < LIMIT + cloth.ALLOWED and not cloth.ending(runs["limit"]),
            why=cloth.ending(runs["limit"]),
        ),
        judge(
            "stable",
            "The cloth motion with constraints is stable.",
            "4, Fig 1 (b)",
            "energy above the least that it has had before < 1 % of what the ball brings, at any record",
            f"{number(gained, 'J')}; the ball comes with {number(brought, 'J')}",
            gained < 0.01 * brought,
        ),
        judge(
            "only-over-long",
            "Only over-long springs are constraints, so that a linear system for their multipliers is small.",
            "4",
            "active limits, mean over time < half of all springs that have one",
            f"{percent(on.mean() / all_limits)} of {all_limits:,} on average, {percent(on.max() / all_limits)} at most",
            on.mean() < 0.5 * all_limits and not cloth.ending(papers),
            why=cloth.ending(papers),
            note=f"the papers' own step, whose only unknowns these are; longest spring {percent(stretched)}",
        ),
        judge(
            "released",
            "Constraints that would resist shrinking become springs again.",
            "4",
            "active limits: fewer than a quarter of their peak for > half of the time after it",
            f"{percent(free_time)} of the time after the peak of {on.max():.0f}",
            free_time > 0.5,
        ),
        judge(
            "stiff-unstable",
            "Springs stiff enough to do without the limit are unstable with a large step.",
            "4",
            f"explicit springs at h = 1/240 s: an edge longer by > {percent(1.0)}, or the run ends",
            f"k = {number(stiff, 'N/m')}: {percent(blown)} {cloth.ending(explicit)}".rstrip(),
            blown > 1.0 or bool(cloth.ending(explicit)),
            note=f"with steps as short as they need, springs of {number(stiff, 'N/m')} stay below "
            f"{percent(float(cloth.largest(data['held']).max()))}",
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    views = cloth.Views(BOX, AZIMUTH, ELEVATION)
    figure, (left, right) = cloth.views_above_plots(data["runs"], views, MOMENTS, 2)
    for name, one in data["runs"].items():
        left.semilogy(one.records.time, 100 * np.maximum(cloth.largest(one), 1e-4), color=cloth.COLORS[name],
                      label=cloth.CASES[name])  # fmt: skip
    left.axhline(100 * LIMIT, color="#555555", linewidth=0.8, linestyle=(0, (2, 3)))
    left.set(xlabel="time [s]", ylabel="largest elongation [%]", ylim=(1, None))
    right.plot(data["runs"]["limit"].records.time, cloth.active(data["runs"]["limit"]), color=cloth.COLORS["limit"])
    right.set(xlabel="time [s]", ylim=(0, None))
    right.set_title(f"active limits, of {data['limits']:,}", fontsize=9)
    for axis in (left, right):
        for moment in MOMENTS:
            axis.axvline(moment, color="#bbbbbb", linewidth=0.8, linestyle=(0, (2, 3)))
    cloth.edge_legend(left)
    legend(figure, left, columns=3)
    save(figure, path)


FIGURE = Figure(
    "hwc2005-fig1", "A ball flies into a falling sheet, with and without limits", HWC2005, run, check, draw,
    motion=partial(cloth.motion, azimuth=AZIMUTH, elevation=ELEVATION),
)  # fmt: skip
