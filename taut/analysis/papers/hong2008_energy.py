"""Hong 2008, section 4.2: the sum of kinetic and potential energy of the 2-link arm.

    K = ½ m₁ L² θ̇₁² + ½ m₂ L² (θ̇₁² + θ̇₂² + 2 cos(θ₁ - θ₂) θ̇₁ θ̇₂)       (1)  [Hong 2008 (19)]
    P = -m₁ g L cos θ₁ - m₂ g L (cos θ₁ + cos θ₂)                           (2)  [(21), less a constant]

The paper gives no numbers; an arm of 10 m rods for 20 s, energies against m g L. (20) is misprinted there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...result import Run
from ...scene import gallery
from .base import HONG2008, Claim, Figure, judge, number
from .common import case, go, total_energy, truth
from .plots import canvas, legend, line_style, save, tame

LENGTH, GRAVITY, DURATION, STEPS = 10.0, 9.81, 20.0, (0.01, 0.05)
UNIT = GRAVITY * LENGTH  # m g L [J]
CASES = tuple(
    case(name) for name in ("implicit_first", "implicit_improved", "implicit_second", "rattle", "fast_projection")
)


def run(quick: bool) -> dict[str, Any]:
    scene = gallery("two_link", length=LENGTH)
    return {
        "reference": truth(scene, STEPS[0], DURATION).run,
        "runs": {(one.method, h): (one, go(scene, one, h, DURATION)) for one in CASES for h in STEPS},
    }


def energy_from_angles(run: Run) -> np.ndarray:
    """(1) + (2), from the recorded positions and velocities."""
    x, v = run.records.x, run.records.v
    rods, rates = np.diff(x, axis=1), np.diff(v, axis=1)
    angle = np.arctan2(rods[..., 0], -rods[..., 1])
    turn = (rates[..., 0] * np.cos(angle) + rates[..., 1] * np.sin(angle)) / LENGTH
    a, b = turn[:, 0], turn[:, 1]
    kinetic = 0.5 * LENGTH**2 * (a**2 + a**2 + b**2 + 2 * np.cos(angle[:, 0] - angle[:, 1]) * a * b)  # (1)
    return kinetic - UNIT * (2 * np.cos(angle[:, 0]) + np.cos(angle[:, 1]))  # (2)


def check(data: dict[str, Any]) -> list[Claim]:
    def drift(name: str, h: float) -> float:
        energy = total_energy(data["runs"][name, h][1])
        return float(np.abs(energy - energy[0]).max()) / UNIT

    fine, coarse = ({one.method: drift(one.method, h) for one in CASES} for h in STEPS)
    energy = energy_from_angles(data["reference"])
    formula = float(np.abs(energy - total_energy(data["reference"])).max()) / UNIT
    reference = float(np.ptp(total_energy(data["reference"]))) / UNIT
    listed = ", ".join(f"{name} {number(fine[name])} and {number(coarse[name])}" for name in fine)
    return [
        judge(
            "energy-constant",
            "The second-order method keeps the sum of kinetic and potential energy.",
            "4.2",
            "|E - E(0)| < 1e-3 m g L, h = 0.01",
            number(fine["implicit_second"]),
            fine["implicit_second"] < 1e-3,
            note=f"at h = 0.01 and 0.05: {listed}",
        ),
        judge(
            "energy-coarse",
            "The same at h = 0.05.",
            "4.2",
            "|E - E(0)| < 1e-2 m g L, h = 0.05",
            number(coarse["implicit_second"]),
            coarse["implicit_second"] < 1e-2,
            why="the energy is off by more at this step; it comes back after each swing",
        ),
        judge(
            "energy-better-than-first",
            "It does so better than the first-order method.",
            "4.2",
            "energy error: first / second > 2, at both steps",
            f"{number(fine['implicit_first'] / fine['implicit_second'])} and "
            f"{number(coarse['implicit_first'] / coarse['implicit_second'])}",
            fine["implicit_first"] > 2 * fine["implicit_second"]
            and coarse["implicit_first"] > 2 * coarse["implicit_second"],
        ),
        judge(
            "energy-formulas",
            "The energies in angles, (19) and (21), are those of the arm.",
            "4.2",
            "|(19) + (21) - E| < 1e-9 m g L on the reference",
            number(formula),
            formula < 1e-9,
            note=f"the reference keeps E to {number(reference)} m g L",
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    figure, axes = canvas(1, 2, height=4.2, sharey=True)
    for (_, h), (one, result) in data["runs"].items():
        energy = total_energy(result)
        axis = axes[STEPS.index(h)]
        axis.semilogy(
            result.records.time,
            tame(np.abs(energy - energy[0]) / UNIT, 1e-9),
            **(line_style(one) | {"linewidth": 1.0}),
        )
        axis.set(xlabel="time [s]", title=f"h = {h:g} s", ylim=(1e-8, 10))
    axes[0].set_ylabel("|E − E(0)| / (m g L)")
    legend(figure, axes)
    save(figure, path)


FIGURE = Figure("hong2008-energy", "Energy of the 2-link arm", HONG2008, run, check, draw)
