"""COL865, constrained equations of motion: drift without stabilization, and Baumgarte.

The slides enforce g̈ = 0 and name the drift. A pendulum of 1 m and 1 kg from the horizontal, h = 0.01,
100 s; the integrator is not given, so three are run. The slides' α, β are β², 2α here; α = β = 5.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...scene import gallery
from .base import COL865, Claim, Figure, judge, judge_varied, number
from .common import INTEGRATOR_WORDS, Case, by_integrator, case, drift, go, total_energy
from .plots import canvas, envelope, legend, line_style, save, tame

STEP, DURATION, EARLY = 0.01, 100.0, 10.0
BASES = ("symplectic", "ab2", "rk4")
PLAIN = {base: case("lagrange", integrator=base) for base in BASES}
STABLE = {base: case("baumgarte", integrator=base, alpha=5.0, beta=5.0) for base in BASES}


def run(quick: bool) -> dict[str, Any]:
    scene = gallery("pendulum")
    return {str(one): (one, go(scene, one, STEP, DURATION)) for one in (*PLAIN.values(), *STABLE.values())}


def check(data: dict[str, Any]) -> list[Claim]:
    def largest(one: Case, start: float, end: float) -> float:
        result = data[str(one)][1]
        time = result.records.time
        return float(
            drift(result)[(time >= start) & (time <= end)].max(initial=np.inf if time[-1] < end - STEP else 0.0)
        )

    late = DURATION - EARLY
    growth = {base: largest(one, late, DURATION) / largest(one, 0, EARLY) for base, one in PLAIN.items()}
    kept = {base: largest(one, late, DURATION) / largest(one, 0, EARLY) for base, one in STABLE.items()}
    ratio = {base: largest(PLAIN[base], late, DURATION) / largest(STABLE[base], late, DURATION) for base in BASES}

    gained = {base: float(np.diff(total_energy(data[str(one)][1])[[0, -1]])[0]) for base, one in STABLE.items()}

    return [
        judge(
            "drift-grows",
            "With g̈ = 0 alone, numerical error leads to drift that grows.",
            "Constrained equations of motion",
            "|Φ|: last 10 s / first 10 s > 3, on each integrator",
            by_integrator(growth),
            min(growth.values()) > 3,
            note="by "
            + ", ".join(
                f"{number(largest(one, late, DURATION), 'm')} ({INTEGRATOR_WORDS[b]})" for b, one in PLAIN.items()
            )
            + " at last",
        ),
        judge(
            "baumgarte-pushes-back",
            "Baumgarte's terms push the system back to the constraint.",
            "Constrained equations of motion",
            "|Φ| of the last 10 s: without / with > 3, on each integrator",
            by_integrator(ratio),
            min(ratio.values()) > 3,
        ),
        judge_varied(
            "baumgarte-bounded",
            "So the drift stays bounded.",
            "Constrained equations of motion",
            "|Φ|: last 10 s / first 10 s < 2 with Baumgarte",
            "integrator",
            {INTEGRATOR_WORDS[base]: (f"{number(value)} times", value < 2) for base, value in kept.items()},
            note="the step itself adds energy, and the drift follows the speed: "
            + ", ".join(f"{number(gain, 'J')} ({INTEGRATOR_WORDS[b]})" for b, gain in gained.items())
            + " in 100 s, where m g L is 9.81 J",
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    figure, axis = canvas(height=4.4)
    for one, result in data.values():
        time, error = envelope(result.records.time, drift(result))
        axis.semilogy(time, tame(error, 1e-12), **line_style(one))
    axis.set(xlabel="time [s]", ylabel="|Φ| [m]", title=f"pendulum, h = {STEP:g} s", xlim=(0, DURATION))
    legend(figure, axis, columns=2)
    save(figure, path)


FIGURE = Figure("col865-drift", "Drift without stabilization, and with Baumgarte's", COL865, run, check, draw)
