"""ICRA 2005, Fig 5: heavy balls hit a cloth that two posts hold.

A sheet of 2 m and 0.8 kg, held at its corners between the posts, and three balls of 3 kg, one after the other, at
10 m/s. What the paper leaves open is in cloth.py.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...model import build
from ...result import Run
from ...scene import gallery
from ...scene.scene import Scene
from . import cloth
from .base import ICRA2005, Claim, Figure, judge, number
from .cloth import LIMIT, percent
from .common import total_energy
from .plots import legend, save

N, QUICK_N = 24, 16  # with 10 edges are longer than a ball's radius, and balls press between nodes
DURATION, QUICK_DURATION = 0.8, 0.5
BALLS, RADIUS, SIDE = 3, 0.2, 2.0  # number; [m]; of the sheet [m]
MOMENTS = (0.1, 0.2, 0.3, 0.45)
MUCH = 3.0  # times the limit
DEEP = 1e-3  # of an edge
AZIMUTH, ELEVATION, BOX = 140.0, 22.0, ((-1.2, 1.2), (-0.5, 2.5), (-1.3, 1.3))


def scene(n: int, limit: float | None) -> Scene:
    return gallery("cloth_posts", n=n, balls=BALLS, limit=limit, stiffness=cloth.STIFFNESS)


def run(quick: bool) -> dict[str, Any]:
    n = QUICK_N if quick else N
    duration = QUICK_DURATION if quick else DURATION
    runs = cloth.both(partial(scene, n), duration)
    return {"n": n, "runs": runs, "limits": cloth.limit_count(scene(n, LIMIT)),
            "sheet": build(scene(n, LIMIT)).deformables[0]}  # fmt: skip


def nearest(data: dict[str, Any], result: Run) -> np.ndarray:
    """How near the sheet is to the centre of each ball at each record [radii]: its nodes and middles of triangles."""
    x = result.records.x
    slots = {info.name: info.slot for info in result.labels.bodies}
    sheet = data["sheet"]
    found = np.empty((len(x), BALLS))
    for k, now in enumerate(x):
        points = np.concatenate([now[sheet.slots], now[sheet.triangles].mean(axis=1)])
        for ball in range(BALLS):
            found[k, ball] = np.linalg.norm(points - now[slots[f"ball_{ball}"]], axis=1).min()
    return found / RADIUS


def check(data: dict[str, Any]) -> list[Claim]:
    runs = data["runs"]
    result = runs["limit"]
    deep = float(result.records.contacts[:, 1].max()) * (data["n"] - 1) / SIDE
    near = float(nearest(data, result).min())
    free, held = (float(np.nanmax(cloth.largest(runs[name]))) for name in cloth.CASES)
    touching = result.records.contacts[:, 0]
    peak = int(np.argmax(touching))
    free_time = float((touching[peak:] < 0.25 * touching.max()).mean())
    energy = total_energy(result)
    gained = float((energy - np.minimum.accumulate(energy)).max())
    brought = float(result.records.energy[0, 0])
    return [
        judge(
            "no-penetration",
            "Non-penetration constraints hold under violent hits: nothing protrudes on the other side.",
            "V.A, Fig 5",
            f"deepest node in a ball or post, ball in a post or ball < {DEEP:g} of an edge at any record",
            number(deep),
            deep < DEEP and not cloth.ending(result),
            why=f"{number(deep)} {cloth.ending(result)}".rstrip(),
        ),
        judge(
            "no-tunnelling",
            "Balls do not go through the cloth.",
            "V.A, Fig 5",
            "distance from a ball's centre to the sheet at any record > 0.8 of its radius",
            number(near),
            near > 0.8,
            note="a ball moves by a fifth of its radius at most between records",
        ),
        judge(
            "several",
            "Several contacts act at once.",
            "V.A",
            "largest number of contacts that push > 10",
            f"{touching.max():.0f}",
            touching.max() > 10,
        ),
        judge(
            "released",
            "Constraints are released in time, so that nodes do not stay in contact while they separate.",
            "V.A",
            "contacts that push: fewer than a quarter of their peak for > half of the time after it",
            f"{percent(free_time)} of the time after the peak of {touching.max():.0f}",
            free_time > 0.5,
        ),
        judge(
            "limit-holds",
            "The same with limits: hits do not over-stretch the cloth.",
            "V.B",
            f"largest elongation at any record < {percent(LIMIT + cloth.ALLOWED)}, and "
            f"> {MUCH:g} × {percent(LIMIT)} without",
            f"{percent(held)}, {percent(free)} without",
            held < LIMIT + cloth.ALLOWED and free > MUCH * LIMIT and not cloth.ending(result),
            why=cloth.ending(result),
        ),
        judge(
            "stable",
            "Contact is stable.",
            "V.A",
            "energy above the least that it has had before < 1 % of what the balls bring, at any record",
            f"{number(gained, 'J')}; the balls come with {number(brought, 'J')}",
            gained < 0.01 * brought,
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    runs = data["runs"]
    views = cloth.Views(BOX, AZIMUTH, ELEVATION)
    figure, (left, middle, right) = cloth.views_above_plots(runs, views, MOMENTS, 3)
    for name, one in runs.items():
        values = 100 * np.maximum(np.nan_to_num(cloth.largest(one)), 1e-4)
        left.semilogy(one.records.time, values, color=cloth.COLORS[name], label=cloth.CASES[name])
    left.axhline(100 * LIMIT, color="#555555", linewidth=0.8, linestyle=(0, (2, 3)))
    left.set(xlabel="time [s]", ylabel="largest elongation [%]", ylim=(1, None))
    middle.plot(runs["limit"].records.time, cloth.active(runs["limit"]), color=cloth.COLORS["limit"])
    middle.set(xlabel="time [s]", ylim=(0, None))
    middle.set_title(f"active limits, of {data['limits']:,}", fontsize=9)
    for name, one in runs.items():
        right.plot(one.records.time, one.records.contacts[:, 0], color=cloth.COLORS[name])
    right.set(xlabel="time [s]", ylim=(0, None))
    right.set_title("contacts that push", fontsize=9)
    cloth.edge_legend(left)
    legend(figure, left, columns=3)
    save(figure, path)


FIGURE = Figure(
    "icra2005-fig5", "Heavy balls hit a cloth that two posts hold", ICRA2005, run, check, draw,
    motion=partial(cloth.motion, azimuth=AZIMUTH, elevation=ELEVATION),
)  # fmt: skip
