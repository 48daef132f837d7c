"""Snapshots of a falling arm: the same arm at several moments, one picture each, with depth and shade."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...picture import Layer, Renderer, describe, motion_of
from ...picture.bounds import Bounds
from ...picture.camera import looking_at
from ...picture.parts import COLORS
from ...picture.render import Ground
from ...result import Run
from ...scene import Scene
from ...view.overlay import Overlay, overlay_of
from .base import Claim, Figure, judge, number, unresolved
from .common import Case, drift, go, trajectory_error, truth
from .plots import canvas, legend, line_style, save

LENGTH, STEP = 10.0, 0.01  # of a rod [m]; [s]
MOMENTS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
LOOKS_THE_SAME = 0.1  # of a rod: an arm whose end is off by more does not
KEPT = 0.01  # of a rod: links off by less look rigid


@dataclass(frozen=True)
class Arm:
    """An arm that falls from the horizontal, and the method that holds it."""

    name: str
    links: int
    scene: Callable[..., Scene]
    case: Case


def falling(name: str, paper: str, where: str, arm: Arm) -> Figure:
    """The figure of a falling arm; `where` in the paper its claims stand."""
    return Figure(
        name, f"The {arm.name} falls", paper, partial(run_both, arm=arm),
        partial(check, where=where, what=f"the {arm.name}"), partial(draw, arm=arm), motion=partial(motion, arm=arm),
    )  # fmt: skip


def run_both(quick: bool, arm: Arm) -> dict[str, Any]:
    scene = arm.scene(length=LENGTH)
    return {"run": go(scene, arm.case, STEP, MOMENTS[-1]), "reference": truth(scene, STEP, MOMENTS[-1])}


def motion(data: dict[str, Any], arm: Arm) -> Overlay:
    return overlay_of({str(arm.case): data["run"]}, arm.name, plays=True)


def check(data: dict[str, Any], where: str, what: str) -> list[Claim]:
    run, reference = data["run"], data["reference"]
    longest = float(drift(run).max()) / LENGTH
    away = float(trajectory_error(run, reference.run, run.labels.bodies[-1].name).max()) / LENGTH
    until = float(run.records.time[-1])
    return [
        judge(
            "links-hold",
            f"The links of {what} hold together while it falls.",
            where,
            f"largest Σ|Φ| up to {until:g} s < {KEPT:g} L",
            f"{number(longest)} L",
            longest < KEPT,
        ),
        judge(
            "motion",
            "It falls as an arm under gravity does.",
            where,
            f"|end - reference| up to {until:g} s < {LOOKS_THE_SAME:g} L",
            f"{number(away)} L",
            away < LOOKS_THE_SAME,
            doubt=unresolved(LOOKS_THE_SAME * LENGTH, reference.own_until(until)),
        ),
    ]


def draw(data: dict[str, Any], path: Path, arm: Arm) -> None:
    """One picture per moment, all of one view."""
    run: Run = data["run"]
    case, reach = arm.case, arm.links * LENGTH  # [m]
    figure, axes = canvas(2, (len(MOMENTS) + 1) // 2, height=5.2)
    thick = 0.03 * reach
    bounds = Bounds(np.array([-1.1, -1.15, -0.05]) * reach, np.array([1.1, 0.35, 0.05]) * reach, is_planar=True)
    camera = looking_at(bounds, (720, 500), margin=1.0)
    renderer = Renderer(bounds, camera, Ground(np.array([0.0, 0.0, -2 * thick]), np.array([0.0, 0.0, 1.0])))
    motion = motion_of(run)
    parts = describe(motion)[0]
    for axis, moment in zip(axes.flat, MOMENTS):
        row = int(np.argmin(np.abs(run.records.time - moment)))
        frame = renderer.frame([Layer(parts, motion[row], tint=line_style(case)["color"])])
        axis.imshow(frame, extent=camera.extent(), interpolation="lanczos")
        axis.set(aspect="equal", xticks=[], yticks=[], title=f"t = {run.records.time[row]:g} s")
        axis.grid(False)
    for axis in axes.flat[len(MOMENTS) :]:
        axis.remove()
    first = axes.flat[0]
    first.plot([], [], color=line_style(case)["color"], linewidth=4, label=line_style(case)["label"])
    first.plot([], [], marker="o", color=COLORS["fixed"], markersize=9, linestyle="none", label="fixed end")
    figure.suptitle(f"{arm.name}, rods of {LENGTH:g} m, h = {STEP:g} s", fontsize=11)
    legend(figure, first, columns=2)
    save(figure, path)
