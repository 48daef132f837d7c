"""ICRA 2005, Fig 3: height of the arm's end against the reference.

As Fig 1 (h = 0.05), with rods of 10 m and, since the paper gives no length, of others; and at h = 0.01, where the
motion of 10 m can be followed for 10 s and more. The integrator below post-stabilization is not given: both Euler rules
and Runge-Kutta 4 are tried.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...scene import gallery
from .base import ICRA2005, Claim, Figure, judge_varied, number, unresolved
from .common import case, drift, go, height, horizon, horizon_words, truth
from .plots import canvas, legend, line_style, save

LENGTH, STEPS, DURATION, LOOK_AT = 10.0, (0.05, 0.01), 73.0, 10.0
OTHER_LENGTHS = (20.0, 30.0, 50.0, 100.0)
LIMIT = 0.1 * LENGTH
FIRST = case("implicit_first")
POSTS = [case("post_stabilization", integrator=name) for name in ("symplectic", "euler", "rk4")]


def run(quick: bool) -> dict[tuple[float, float], Any]:
    """By length and step."""
    lengths = (30.0,) if quick else OTHER_LENGTHS
    found = {}
    for length, h in (*((LENGTH, h) for h in STEPS), *((length, STEPS[0]) for length in lengths)):
        scene = gallery("two_link", length=length)
        cases = (FIRST, *POSTS) if length == LENGTH else (FIRST, POSTS[0])
        found[length, h] = {
            "reference": truth(scene, h, DURATION),
            "runs": {str(one): (one, go(scene, one, h, DURATION)) for one in cases},
        }
    return found


def follows(data: dict[tuple[float, float], Any], length: float, h: float, name: str) -> float:
    """Time [s] until the tip is off by 0.1 L."""
    at = data[length, h]
    return horizon(at["runs"][name][1], at["reference"].run, "tip", 0.1 * length)


def height_error(data: dict[str, Any], name: str) -> float:
    """Largest error of the tip's height up to LOOK_AT seconds."""
    one, reference = data["runs"][name][1], data["reference"].run
    until = one.records.time <= LOOK_AT + 1e-9
    return float(np.abs(height(one, "tip")[until] - height(reference, "tip")[: until.sum()]).max())


def check(data: dict[tuple[float, float], Any]) -> list[Claim]:
    fine = data[LENGTH, STEPS[1]]
    first, post, on_euler, on_rk4 = map(str, (FIRST, *POSTS))
    lengths = [length for length, h in data if h == STEPS[0]]
    times = {
        name: {f"{length:g} m": follows(data, length, STEPS[0], name) for length in lengths} for name in (first, post)
    }
    finer = {name: horizon_words(follows(data, LENGTH, STEPS[1], name), DURATION) for name in (first, post)}
    own = fine["reference"].own_until(LOOK_AT)
    error = {name: height_error(fine, name) for name in (first, post, on_euler, on_rk4)}
    tight = {name: float(drift(fine["runs"][name][1]).max()) for name in (post, on_euler, on_rk4)}
    return [
        judge_varied(
            "post-deviates-early",
            "Post-stabilization leaves the reference early.",
            "IV, Fig 3",
            "horizon(post-stabilization) < 10 s",
            "length",
            {at: (horizon_words(value, DURATION), value < 10) for at, value in times[post].items()},
            note=f"until the tip is off by 0.1 L, on symplectic Euler; with {LENGTH:g} m at h = 0.01 {finer[post]}",
        ),
        judge_varied(
            "implicit-follows",
            "The first-order method shows almost the reference's motion over the whole time.",
            "IV, Fig 3",
            "horizon(first) > 73 s",
            "length",
            {at: (horizon_words(value, DURATION), value > DURATION) for at, value in times[first].items()},
            note="the arm is chaotic, the more so the shorter its rods; with "
            f"{LENGTH:g} m at h = 0.01 {finer[first]}",
        ),
        judge_varied(
            "small-drift-wrong-motion",
            "A tight constraint error does not make the motion right: post-stabilization "
            "drifts less and moves worse than the first-order method.",
            "IV, Fig 3",
            f"h = 0.01: Σ|Φ| < 1e-3 m, yet its height error up to {LOOK_AT:g} s > 3 × first order's, "
            f"{number(error[first], 'm')}",
            "integrator",
            {words: (f"Σ|Φ| {number(tight[name], 'm')}, height {number(error[name], 'm')}",
                     tight[name] < 1e-3 and error[name] > 3 * error[first])
             for words, name in zip(("symplectic Euler", "explicit Euler", "Runge-Kutta 4"), (post, on_euler, on_rk4))},
            "the paper names Runge-Kutta for its reference alone. The projection by itself does not spoil the motion; "
            "it leaves the velocity as the step below made it, so a better step makes a better motion",
            doubt=unresolved(min(error.values()), own),
        ),
    ]


def draw(data: dict[tuple[float, float], Any], path: Path) -> None:
    figure, axes = canvas(3, 1, height=8.0)
    first = str(FIRST)
    whole = (length for length, h in data if h == STEPS[0] and follows(data, length, h, first) > DURATION)
    shown = [*((LENGTH, h) for h in STEPS), (next(whole, LENGTH), STEPS[0])]  # last what the paper shows
    for axis, (length, h) in zip(axes, shown):
        at = data[length, h]
        reference = at["reference"].run
        axis.plot(reference.records.time, height(reference, "tip"), color="black", linewidth=2.5, label="reference")
        for one, result in list(at["runs"].values())[:2]:
            axis.plot(result.records.time, height(result, "tip"), **(line_style(one) | {"linewidth": 1.1}))
        axis.set(xlim=(0, 30.0 if h == STEPS[1] else DURATION), ylabel="y of the tip [m]",
                 title=f"rods of {length:g} m, h = {h:g} s")
    axes[-1].set_xlabel("time [s]")
    legend(figure, axes)
    save(figure, path)


FIGURE = Figure("icra2005-fig3", "Height of the arm's end against the reference", ICRA2005, run, check, draw)
