"""ICRA 2005, Fig 1: the 2-link arm at 73 s (step 1460, h = 0.05), three methods laid over each other.

The paper does not give lengths, masses or the integrator below post-stabilization. Rods of 10 m as in
Hong 2008, masses of 1 kg, symplectic Euler; explicit Euler does not reach 73 s. Only h √(g/L) matters, so
another length is another h.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...picture import Layer, Pose, Renderer, describe, motion_of
from ...picture.bounds import Bounds
from ...picture.camera import looking_at
from ...picture.parts import COLORS
from ...picture.render import Ground
from ...result import Run
from ...scene import gallery
from ...view.show import Show, show_of
from .base import DIFFERS, ICRA2005, Claim, Figure, judge, number
from .plots import canvas, legend, look, save
from .words import LOOSE, TIGHT, Case, case, drift, go, horizon, horizon_words, reached_end, trajectory_error, truth

LENGTH, STEP, DURATION = 10.0, 0.05, 73.0
LIMIT = 0.1 * LENGTH  # an arm that is off by more does not look the same
FIRST = case("implicit_first")
POST = case("post_stabilization", integrator="symplectic")
OTHER_BASES = [case("post_stabilization", integrator=name) for name in ("euler", "rk4")]


def run(quick: bool) -> dict[str, Any]:
    scene = gallery("two_link", length=LENGTH)
    cases = [FIRST, POST, *OTHER_BASES, case("implicit_second"), case("rattle")]
    reference = truth(scene, STEP, DURATION)
    return {
        "reference": reference,
        "runs": {str(one): (one, go(scene, one, STEP, DURATION)) for one in cases},
    }


def check(data: dict[str, Any]) -> list[Claim]:
    reference = data["reference"]
    own = reference.own_until(DURATION)
    runs = {name: one for name, (_, one) in data["runs"].items()}
    away = {
        name: float(trajectory_error(one, reference.run, "tip")[-1]) if reached_end(one) else np.inf
        for name, one in runs.items()
    }
    follows = {name: horizon(one, reference.run, "tip", LIMIT) for name, one in runs.items()}
    first, post = str(FIRST), str(POST)
    bars = {name: float(drift(runs[name])[-1]) for name in (first, post)}
    horizons = ", ".join(f"{name} {horizon_words(value, DURATION)}" for name, value in follows.items())
    chaos = (
        f"released from the horizontal the arm is chaotic: solutions to {TIGHT:g} and {LOOSE:g} are "
        f"{number(own, 'm')} apart at 73 s, and no fixed step of 0.05 s follows so long"
    )
    return [
        judge(
            "post-is-far-off",
            "At 73 s the arm of post-stabilization is far from the reference.",
            "IV, Fig 1",
            "|tip - reference| > 0.1 L at 73 s",
            number(away[post], "m"),
            away[post] > LIMIT,
            note="any two motions that have parted look so",
            resolved=(away[post], own),
        ),
        judge(
            "implicit-is-identical",
            "At 73 s the arm of the first-order method lies on the reference.",
            "IV, Fig 1",
            "|tip - reference| < 0.1 L at 73 s",
            number(away[first], "m"),
            away[first] < LIMIT,
            why=f"{chaos}; time until the tip is off by 0.1 L: {horizons}",
            resolved=(away[first], own),
        ),
        judge(
            "implicit-follows-longer",
            "The first-order method follows the reference longer than post-stabilization.",
            "IV, Fig 1",
            "horizon(first) > horizon(post-stabilization)",
            f"{horizon_words(follows[first], DURATION)} against {horizon_words(follows[post], DURATION)}",
            follows[first] > follows[post],
            note="the base integrator decides: post-stabilization on Runge-Kutta 4 follows for "
            f"{horizon_words(follows[str(OTHER_BASES[1])], DURATION)}, on explicit Euler "
            f"{horizon_words(follows[str(OTHER_BASES[0])], DURATION)}",
            resolved=(LIMIT, reference.own_until(max(follows[first], follows[post]))),
        ),
        judge(
            "drift-little-more",
            "The first-order method's total constraint error is a little bigger than that of post-stabilization.",
            "IV, Fig 1",
            "1 < Σ|Φ| first / post-stabilization < 10 at 73 s",
            number(bars[first] / bars[post]),
            1 < bars[first] / bars[post] < 10,
            otherwise=DIFFERS,
            why=f"{number(bars[first], 'm')} against {number(bars[post], 'm')}: bigger by "
            f"{number(bars[first] / bars[post])} times, not by a little",
        ),
        judge(
            "drift-negligible",
            "The difference of the constraint errors is negligible.",
            "IV, Fig 1",
            "Σ|Φ| first - post-stabilization < 1 % of L at 73 s",
            f"{number(100 * (bars[first] - bars[post]) / LENGTH)} %",
            bars[first] - bars[post] < 0.01 * LENGTH,
        ),
    ]


def arms(data: dict[str, Any]) -> list[tuple[Case, Run]]:
    """What the picture lays over each other."""
    others = ((one, arm) for one, arm in data["runs"].values() if one in (FIRST, POST))
    return [(Case("reference"), data["reference"].run), *others]


def motion(data: dict[str, Any]) -> Show:
    return show_of({str(one): arm for one, arm in arms(data)}, "2-link arm", plays=True)


def draw(data: dict[str, Any], path: Path) -> None:
    figure, axes = canvas(height=6.5)
    shown = arms(data)
    bounds = Bounds(np.array([-23.0, -23.0, -1.0]), np.array([23.0, 7.0, 1.0]), is_planar=True)
    camera = looking_at(bounds, (1500, 1000), margin=1.0)
    behind = Ground(np.array([0.0, 0.0, -2.0]), np.array([0.0, 0.0, 1.0]))
    layers = []
    for k, (one, arm) in enumerate(shown):
        motion = motion_of(arm)
        time, x, quat = motion[-1]
        # One before the other, so that arms that lie on each other do not flicker.
        pose = Pose(time, x + [0.0, 0.0, 0.5 * (k - 1)], quat)
        layers.append(Layer(describe(motion)[0], pose, tint=look(one)["color"]))
        axes.plot([], [], color=look(one)["color"], linewidth=4, label=look(one)["label"])
    axes.plot([], [], marker="o", color=COLORS["fixed"], markersize=9, linestyle="none", label="fixed end")
    axes.imshow(Renderer(bounds, camera, behind).frame(layers), extent=camera.extent(), interpolation="lanczos")
    axes.set(
        aspect="equal",
        xlabel="x [m]",
        ylabel="y [m]",
        title=f"2-link arm at {DURATION:g} s, h = {STEP:g} s",
    )
    bars = axes.inset_axes((0.10, 0.08, 0.2, 0.3))
    heights = [max(float(drift(arm)[-1]), 1e-16) for _, arm in shown]
    bars.bar(range(3), heights, bottom=1e-17, color=[look(one)["color"] for one, _ in shown])
    bars.set_yscale("log")
    bars.set(ylim=(1e-17, 10.0), xticks=[], title="Σ|Φ| [m]")
    axes.grid(False)
    legend(figure, axes, columns=2)
    save(figure, path)


FIGURE = Figure("icra2005-fig1", "Snapshot of the 2-link arm at 73 s", ICRA2005, run, check, draw, motion=motion)
