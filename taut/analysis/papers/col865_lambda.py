"""COL865: λ of the pendulum in closed form, and the work of the constraint force.

    λ = -(f_r + m |v|²/L)                                        (1)  [COL865: equations of motion]
    λ = 3 m g y/L       released at rest from the horizontal     (2)  by energy, from (1)
    f_c · v = λ dΦ/dt   the power of the constraint force        (3)

A pendulum of 1 m and 1 kg, 5 s. λ of the implicit methods belongs to a step, not to an instant: it is
compared with the closed form at the middle of its step.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...result import Run
from ...scene import gallery
from .base import COL865, Claim, Figure, judge, number
from .common import case, go
from .plots import canvas, legend, line_style, save, tame

MASS, LENGTH, GRAVITY, DURATION = 1.0, 1.0, 9.81, 5.0
STEPS = (0.02, 0.01, 0.005, 0.0025)
UNIT = MASS * GRAVITY
IMPLICIT = tuple(case(name) for name in ("implicit_first", "implicit_improved", "implicit_second"))
OTHERS = (case("reference"), case("rattle"), case("lagrange", integrator="rk4"))


def run(quick: bool) -> dict[tuple[str, float], Any]:
    scene = gallery("pendulum", mass=MASS, length=LENGTH)
    return {(one.method, h): (one, go(scene, one, h, DURATION)) for one in (*OTHERS, *IMPLICIT) for h in STEPS}


def by_slide(run: Run) -> np.ndarray:
    """λ of (1), from the recorded position and velocity."""
    x, v = run.records.x[:, 1], run.records.v[:, 1]
    distance = np.linalg.norm(x, axis=1)
    return -(-MASS * GRAVITY * x[:, 1] / distance + MASS * (v * v).sum(axis=1) / distance)


def by_energy(run: Run) -> np.ndarray:
    """λ of (2), from the recorded height."""
    return 3 * MASS * GRAVITY * run.records.x[:, 1, 1] / LENGTH


def mid_step_error(run: Run, reference: Run) -> float:
    """Largest difference of a step's λ from (2) at its middle, as a part of m g."""
    exact = by_energy(reference)
    middle = 0.5 * (exact[1:] + exact[:-1])
    skip = 3  # λ of the first step carries the start
    return float(np.abs(run.records.lam[skip:, 0] - middle[skip - 1 :]).max()) / UNIT


def power(run: Run) -> float:
    """The largest power (3) of the constraint force, as a part of that of the weight."""
    records = run.records
    weight = np.abs(MASS * GRAVITY * records.v[:, 1, 1]).max()
    return float(np.abs(records.lam * records.rate)[3:].max() / weight)


def order(errors: list[float]) -> float:
    return float(np.polyfit(np.log(STEPS), np.log(errors), 1)[0])


def check(data: dict[tuple[str, float], Any]) -> list[Claim]:
    fine = STEPS[-1]
    reference = data["reference", fine][1]
    slide = float(np.abs(reference.records.lam[:, 0] - by_slide(reference)).max()) / UNIT
    energy = float(np.abs(reference.records.lam[:, 0] - by_energy(reference)).max()) / UNIT
    errors = {
        one.method: [mid_step_error(data[one.method, h][1], data["reference", h][1]) for h in STEPS] for one in IMPLICIT
    }
    orders = {name: order(values) for name, values in errors.items()}
    powers = {one.method: [power(data[one.method, h][1]) for h in STEPS] for one in (*OTHERS, *IMPLICIT)}
    fall = {one.method: order(powers[one.method]) for one in IMPLICIT}
    return [
        judge(
            "lambda-closed-form",
            "The multiplier of the pendulum is -(f_r + m |v|²/L).",
            "Constrained equations of motion",
            "|λ - (1)| < 1e-9 m g on the reference",
            number(slide),
            slide < 1e-9,
        ),
        judge(
            "lambda-energy",
            "Released from the horizontal it is 3 m g y/L.",
            "Constrained equations of motion",
            "|λ - (2)| < 1e-9 m g on the reference",
            number(energy),
            energy < 1e-9,
        ),
        judge(
            "lambda-implicit",
            "The implicit methods' λ tends to it.",
            "Constrained equations of motion",
            "error at mid-step falls as h^p with p > 0.8",
            ", ".join(
                f"{name}: p = {orders[name]:.2f}, {number(errors[name][-1])} m g at h = {fine:g}" for name in errors
            ),
            min(orders.values()) > 0.8,
            note="that of the improved scheme rings about it",
        ),
        judge(
            "no-work",
            "The constraint force does no work.",
            "Constraint force",
            "|λ dΦ/dt| < 1e-9 of the weight's power on the reference and with rattle",
            f"{number(max(powers['reference']))} and {number(max(powers['rattle']))}",
            max(*powers["reference"], *powers["rattle"]) < 1e-9,
        ),
        judge(
            "no-work-implicit",
            "Nor, in the limit, that of the implicit methods.",
            "Constraint force",
            "|λ dΦ/dt| falls as h^p with p > 0.8",
            ", ".join(f"{name}: p = {fall[name]:.2f}, {number(powers[name][-1])} at h = {fine:g}" for name in fall),
            min(fall.values()) > 0.8,
        ),
    ]


def draw(data: dict[tuple[str, float], Any], path: Path) -> None:
    figure, axes = canvas(1, 2, height=4.2)
    reference = data["reference", STEPS[0]][1]
    axes[0].plot(
        reference.records.time,
        by_energy(reference),
        color="black",
        linewidth=3,
        label="closed form 3 m g y/L",
    )
    for one in IMPLICIT:
        records = data[one.method, STEPS[0]][1].records
        axes[0].plot(records.time[1:], records.lam[1:, 0], **(line_style(one) | {"linewidth": 1.2, "label": ""}))
    axes[0].set(xlabel="time [s]", ylabel="λ [N]", title=f"tension of the rod, h = {STEPS[0]:g} s", xlim=(0, 2.5))
    for one in (*IMPLICIT, *OTHERS):
        values = np.array([power(data[one.method, h][1]) for h in STEPS])
        axes[1].loglog(STEPS, tame(values, 1e-17), marker="o", **line_style(one))
    axes[1].set(
        xlabel="step h [s]",
        ylabel="power of the constraint / of the weight",
        title="work of the constraint force",
    )
    axes[1].set_xticks(STEPS, [f"{h:g}" for h in STEPS])
    axes[1].minorticks_off()
    legend(figure, axes)
    save(figure, path)


FIGURE = Figure("col865-lambda", "Multiplier and work of the pendulum's constraint", COL865, run, check, draw)
