"""Hong 2008, section 4.3: linear solves and time per step.

Hanging chains of N links (h = 0.001), so that the cost is that of the method and not of the scene; times
are the least of several runs, since other work on the machine only ever adds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...scene import gallery
from .base import HONG2008, Claim, Figure, judge, number
from .common import Case, busy, case, microseconds, solves_per_step
from .plots import canvas, legend, line_style, save

STEP, REPEATS, WORK = 0.001, 80, 20_000  # links times steps in a timed run: about a millisecond
SIZES = (10, 30, 100, 300, 1000)
FIRST, IMPROVED, SECOND = (case(f"implicit_{name}") for name in ("first", "improved", "second"))
BAUMGARTE = case("baumgarte", integrator="symplectic")
POST = case("post_stabilization", integrator="symplectic")
CASES = (BAUMGARTE, POST, FIRST, IMPROVED, SECOND)


def run(quick: bool) -> dict[str, Any]:
    sizes, repeats, work = ((10, 100), 3, 20_000) if quick else (SIZES, REPEATS, WORK)
    small = gallery("chain", n=10)
    return {
        "sizes": sizes,
        "times": {n: microseconds(gallery("chain", n=n), CASES, STEP, max(20, work // n), repeats) for n in sizes},
        "solves": {str(one): solves_per_step(small, one, STEP) for one in CASES},
    }


def check(data: dict[str, Any]) -> list[Claim]:
    solves, sizes = data["solves"], data["sizes"]
    times = {str(one): [data["times"][n][str(one)][0] for n in sizes] for one in CASES}
    doubt = busy(pair for at in data["times"].values() for pair in at.values())

    def ratio(one: Case, other: Case) -> list[float]:
        return [a / b for a, b in zip(times[str(one)], times[str(other)])]

    def listed(values: list[float]) -> str:
        return ", ".join(f"{number(value)} (N = {n})" for n, value in zip(sizes, values))

    first = ", ".join(f"{number(value, 'µs')} (N = {n})" for n, value in zip(sizes, times[str(FIRST)]))
    against = ratio(FIRST, BAUMGARTE)
    growth = {str(one): times[str(one)][-1] / times[str(one)][0] for one in CASES}
    more = sizes[-1] / sizes[0]
    return [
        judge(
            "solves",
            "Linear systems per step: one for Baumgarte and the first-order method, two for the second-order "
            "method and for post-stabilization.",
            "4.3",
            "solves = 1, 1, 2, 2",
            ", ".join(f"{name} {value:g}" for name, value in solves.items()),
            [solves[str(one)] for one in (BAUMGARTE, FIRST, SECOND, POST)] == [1, 1, 2, 2],
        ),
        judge(
            "improved-one-solve",
            "The improved first-order scheme needs no further solve.",
            "HWC 2005, 3",
            "solves of improved = first",
            f"{solves[str(IMPROVED)]:g} and {solves[str(FIRST)]:g}",
            solves[str(IMPROVED)] == solves[str(FIRST)],
        ),
        judge(
            "same-as-baumgarte",
            "The first-order method costs what Baumgarte costs.",
            "4.3",
            "time per step: first / Baumgarte < 1.5 at each N",
            listed(against),
            max(against) < 1.5,
            doubt=doubt,
            note=f"first order takes {first} a step on the machine that made this page",
        ),
        judge(
            "second-twice",
            "The second-order method costs about twice the first-order one.",
            "4.3",
            "1.5 < time per step of second / first < 4 at the largest N",
            listed(ratio(SECOND, FIRST)),
            1.5 < ratio(SECOND, FIRST)[-1] < 4,
            doubt=doubt,
            why="the solves are not all of a step: constraints are evaluated three times",
        ),
        judge(
            "improved-little-more",
            "The improved scheme costs hardly more than the first-order one.",
            "HWC 2005, 5",
            "time per step of improved / first < 1.5 at the largest N",
            listed(ratio(IMPROVED, FIRST)),
            ratio(IMPROVED, FIRST)[-1] < 1.5,
            doubt=doubt,
            why="it evaluates the constraints once more, at the half step",
        ),
        judge(
            "linear-in-n",
            "All have the same asymptotic cost.",
            "4.3",
            f"time at N = {sizes[-1]} / N = {sizes[0]} < 1.3 × {more:g}, each method",
            ", ".join(f"{name}: {number(value)}" for name, value in growth.items()),
            max(growth.values()) < 1.3 * more,
            doubt=doubt,
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    figure, axis = canvas(height=4.6)
    for one in CASES:
        times = [data["times"][n][str(one)][0] for n in data["sizes"]]
        axis.loglog(data["sizes"], times, marker="o", **line_style(one))
    axis.set(xlabel="links N", ylabel="time per step [µs]", title="hanging chain, banded solver")
    legend(figure, axis, columns=2)
    save(figure, path)


FIGURE = Figure("hong2008-cost", "Linear solves and time per step", HONG2008, run, check, draw, timed=True)
