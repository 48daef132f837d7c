"""ICRA 2005, section III: conjugate gradients, with a switch to BiCGSTAB for matrices that are not symmetric.

The matrix of the paper's own step, J W Jᵀ of one place, is symmetric. The one that is not is that of the exact Newton
iteration of the same implicit step, J(q') W J(q)ᵀ (newton="full"). It is tried where the two differ most: long steps
of the two-link arm (rods of 10 m), and the four-bar, which swings through the position where it lies flat and J loses
rank. Positions are corrected to 1e-10 m.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...scene import gallery
from .base import ICRA2005, Claim, Figure, judge, number
from .common import case, go, reached_end
from .plots import canvas, legend, line_style, save

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
TOLERANCE, DURATION = 1e-10, 10.0
SCENES = ("two_link", "four_bar")
FORMS = ("symmetric", "full")
LONG, SHORT = 0.3, 0.01
SAME = 1e-6  # [m] over the first steps, where rounding has not grown yet


def run(quick: bool) -> dict[str, Any]:
    steps = (SHORT, 0.1, LONG) if quick else STEPS
    found = {}
    for scene in SCENES:
        for h in steps:
            runs = {form: _go(scene, h, form, "auto") for form in FORMS}
            found[scene, h] = {form: _counted(run) for form, run in runs.items()}
    switched = _go("two_link", 0.1, "full", "pcg")
    direct = _go("two_link", 0.1, "full", "auto")
    rows = 20
    apart = float(np.abs(switched.records.x[:rows] - direct.records.x[:rows]).max())
    forms = _go("two_link", 0.1, "symmetric", "auto")
    same = float(np.abs(forms.records.x[:rows] - direct.records.x[:rows]).max())
    return {"steps": steps, "found": found, "apart": apart, "same": same, "failed": switched.info["failed_solves"]}


def _go(scene: str, h: float, form: str, solver: str) -> Any:
    return go(gallery(scene), case("implicit_first", newton=form), h, DURATION, tolerance=TOLERANCE, solver=solver)


def _counted(run: Any) -> tuple[float, float]:
    """Newton iterations and solves with a factor per step; infinite where the run broke."""
    if not reached_end(run):
        return np.inf, np.inf
    return run.info["corrections"] / run.steps, run.info["linear_solves"] / run.steps


def check(data: dict[str, Any]) -> list[Claim]:
    found = data["found"]

    def told(scene: str, h: float, what: int) -> str:
        before, after = found[scene, h]["symmetric"][what], found[scene, h]["full"][what]
        return f"{scene} {number(before)} → {number(after)}"

    gain = {scene: found[scene, LONG]["symmetric"][0] / found[scene, LONG]["full"][0] for scene in SCENES}
    dearer = {scene: found[scene, SHORT]["full"][1] / found[scene, SHORT]["symmetric"][1] for scene in SCENES}
    cheaper = {scene: found[scene, LONG]["full"][1] / found[scene, LONG]["symmetric"][1] for scene in SCENES}
    return [
        judge(
            "switch",
            "Conjugate gradients switch to BiCGSTAB where the matrix is not symmetric.",
            "III",
            f"newton='full' with solver pcg, h = 0.1 s: no solve fails, and over 20 steps the motion is that of the "
            f"direct solver and of the symmetric form within {SAME:g} m",
            f"{data['failed']} failed; {number(data['apart'], 'm')} and {number(data['same'], 'm')} apart",
            data["failed"] == 0 and data["apart"] < SAME and data["same"] < SAME,
        ),
        judge(
            "fewer-iterations",
            "The matrix that is not symmetric pays for long steps and near singular positions.",
            "III",
            f"Newton iterations per step at h = {LONG:g} s: symmetric form > 2 × full form, for both arms",
            ", ".join(told(scene, LONG, 0) for scene in SCENES),
            min(gain.values()) > 2.0,
        ),
        judge(
            "usually-symmetric",
            "For usual steps the symmetric matrix is enough.",
            "III",
            f"solves with the factor per step: full > symmetric at h = {SHORT:g} s, and full < 1.1 × symmetric at "
            f"h = {LONG:g} s, for both arms",
            f"h = {SHORT:g} s: " + ", ".join(told(scene, SHORT, 1) for scene in SCENES)
            + f"; h = {LONG:g} s: " + ", ".join(told(scene, LONG, 1) for scene in SCENES),
            min(dearer.values()) > 1.0 and max(cheaper.values()) < 1.1,
            note="BiCGSTAB solves twice with the factor per iteration of its own",
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    figure, axes = canvas(1, 2, height=4.0)
    steps, style = data["steps"], line_style("implicit_first")
    for which, (what, name) in enumerate((("Newton iterations", "iterations"), ("solves with a factor", "solves"))):
        for scene, marker in zip(SCENES, "os"):
            for form, line in zip(FORMS, ("-", ":")):
                values = [data["found"][scene, h][form][which] for h in steps]
                label = {"label": f"{scene}, newton={form}", "linestyle": line}
                axes[which].plot(steps, np.where(np.isfinite(values), values, np.nan), marker=marker, **(style | label))
        axes[which].set(xlabel="step h [s]", ylabel=f"{name} per step", title=what, xscale="log", ylim=(0, None))
    legend(figure, axes, columns=2)
    save(figure, path)


FIGURE = Figure("icra2005-newton", "The matrix that is not symmetric", ICRA2005, run, check, draw)
