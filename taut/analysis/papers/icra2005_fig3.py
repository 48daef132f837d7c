"""ICRA 2005, Fig 3: height of the arm's end against the reference.

As Fig 1 (h = 0.05), and at h = 0.01, where the motion can be followed for 10 s and more. The integrator
below post-stabilization is not given: both Euler rules and Runge-Kutta 4 are tried.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...scene import gallery
from .base import ICRA2005, Claim, Figure, judge, number
from .plots import canvas, legend, look, save
from .words import case, drift, go, height, horizon, horizon_words, truth

LENGTH, STEPS, DURATION, LOOK_AT = 10.0, (0.05, 0.01), 73.0, 10.0
LIMIT = 0.1 * LENGTH
FIRST = case("implicit_first")
POSTS = [case("post_stabilization", integrator=name) for name in ("symplectic", "euler", "rk4")]


def run(quick: bool) -> dict[float, Any]:
    scene = gallery("two_link", length=LENGTH)
    return {
        h: {
            "reference": truth(scene, h, DURATION),
            "runs": {str(one): (one, go(scene, one, h, DURATION)) for one in (FIRST, *POSTS)},
        }
        for h in STEPS
    }


def height_error(data: dict[str, Any], name: str) -> float:
    """Largest error of the tip's height up to LOOK_AT seconds."""
    one, reference = data["runs"][name][1], data["reference"].run
    until = one.records.time <= LOOK_AT + 1e-9
    return float(np.abs(height(one, "tip")[until] - height(reference, "tip")[: until.sum()]).max())


def check(data: dict[float, Any]) -> list[Claim]:
    coarse, fine = (data[h] for h in STEPS)
    first, post, on_euler, on_rk4 = map(str, (FIRST, *POSTS))

    def follows(at: dict[str, Any], name: str) -> float:
        return horizon(at["runs"][name][1], at["reference"].run, "tip", LIMIT)

    def words(name: str) -> str:
        pairs = zip(STEPS, (coarse, fine))
        return ", ".join(f"{horizon_words(follows(at, name), DURATION)} at h = {h:g}" for h, at in pairs)

    own = fine["reference"].own_until(LOOK_AT)
    error = {name: height_error(fine, name) for name in (first, post, on_euler, on_rk4)}
    ratio = error[post] / error[first]
    tight = max(float(drift(fine["runs"][name][1]).max()) for name in (post, on_euler))
    return [
        judge(
            "post-deviates-early",
            "Post-stabilization leaves the reference early.",
            "IV, Fig 3",
            "horizon(post-stabilization) < 10 s",
            words(post),
            follows(coarse, post) < 10,
            note="time until the tip is off by 0.1 L, on symplectic Euler",
            resolved=(LIMIT, own),
        ),
        judge(
            "implicit-follows",
            "The first-order method shows almost the reference's motion over the whole time.",
            "IV, Fig 3",
            "horizon(first) > 73 s",
            words(first),
            follows(coarse, first) > DURATION,
            why="the arm is chaotic; the first-order method follows for a while, then it is somewhere else",
            resolved=(LIMIT, coarse["reference"].own_until(follows(coarse, first))),
        ),
        judge(
            "small-drift-wrong-motion",
            "A tight constraint error does not make the motion right: post-stabilization "
            "on an Euler step drifts less and moves worse than the first-order method.",
            "IV, Fig 3",
            "h = 0.01: Σ|Φ| < 1e-3 m, yet its height error up to 10 s > 3 × first order's",
            f"Σ|Φ| {number(tight, 'm')}; {number(error[post], 'm')} and {number(error[on_euler], 'm')} "
            "(explicit Euler) "
            f"against {number(error[first], 'm')}",
            tight < 1e-3 and min(ratio, error[on_euler] / error[first]) > 3,
            note=f"{number(ratio)} times on symplectic Euler",
            resolved=(error[first], own),
        ),
        judge(
            "post-on-rk4",
            "The same on Runge-Kutta 4 (the paper names Runge-Kutta only for its reference).",
            "IV, Fig 3",
            "height error of post-stabilization > 3 × first order's",
            f"{number(error[on_rk4], 'm')} against {number(error[first], 'm')}",
            error[on_rk4] > 3 * error[first],
            why="the projection alone does not spoil the motion; it leaves the velocity as the step below "
            "made it, so "
            "a better step makes a better motion",
            resolved=(error[on_rk4], own),
        ),
    ]


def draw(data: dict[float, Any], path: Path) -> None:
    figure, axes = canvas(2, 1, height=6.0)
    for axis, (h, at) in zip(axes, data.items()):
        until = DURATION if h == STEPS[0] else 30.0
        reference = at["reference"].run
        axis.plot(reference.records.time, height(reference, "tip"), color="black", linewidth=2.5, label="reference")
        for one, result in list(at["runs"].values())[:2]:
            axis.plot(result.records.time, height(result, "tip"), **(look(one) | {"linewidth": 1.1}))
        axis.set(xlim=(0, until), xlabel="time [s]", ylabel="y of the tip [m]", title=f"h = {h:g} s")
    legend(figure, axes)
    save(figure, path)


FIGURE = Figure("icra2005-fig3", "Height of the arm's end against the reference", ICRA2005, run, check, draw)
