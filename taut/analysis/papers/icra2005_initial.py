"""ICRA 2005, section III: starts that break the constraints.

The 2-link arm with rods 0.1 m too long, or growing at 0.5 m/s, or both; h = 0.01. The paper gives no
numbers. Baumgarte over α and β on symplectic Euler, and on Runge-Kutta 4.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...result import Run
from ...scene import gallery
from .base import ICRA2005, Claim, Figure, judge, judge_varied, number
from .common import INTEGRATOR_WORDS, case, go, reached_end
from .plots import canvas, legend, line_style, save

STRETCH, RATE, STEP, DURATION = 0.1, 0.5, 0.01, 5.0
STARTS = {"Φ": (STRETCH, 0.0), "dΦ/dt": (0.0, RATE), "both": (STRETCH, RATE)}
SETTLED = 0.01  # m; a tenth of the stretch, and above the drift of all methods here
FEEDBACK = (1.0, 5.0, 20.0, 50.0, 100.0)
BASES = ("symplectic", "euler", "rk4")
FIRST, IMPROVED, SECOND = (case(f"implicit_{name}") for name in ("first", "improved", "second"))


def run(quick: bool) -> dict[str, Any]:
    scenes = {name: gallery("inconsistent_start", stretch=s, rate=r) for name, (s, r) in STARTS.items()}
    feedback = FEEDBACK[1:3] if quick else FEEDBACK
    grid = {
        (base, alpha, beta): go(
            scenes["both"],
            case("baumgarte", integrator=base, alpha=alpha, beta=beta),
            STEP,
            DURATION,
            start="as_given",
        )
        for base in BASES
        for alpha in feedback
        for beta in feedback
    }
    runs = {
        (start, one.method): go(scene, one, STEP, DURATION, start="as_given")
        for start, scene in scenes.items()
        for one in (FIRST, IMPROVED, SECOND)
    }
    return {"grid": grid, "runs": runs}


def settling_steps(run: Run) -> float:
    """Steps until |Φ| is below SETTLED for good; infinite where it never is."""
    beyond = np.flatnonzero(~(np.abs(run.records.phi).max(axis=1) <= SETTLED))
    if not reached_end(run) or (beyond.size and beyond[-1] == len(run.records) - 1):
        return np.inf
    return float(beyond[-1] + 1) if beyond.size else 0.0


def overshoot(run: Run) -> float:
    """How far Φ swings to the other side in the first 150 steps, as a part of the stretch."""
    return float(max(-np.nan_to_num(run.records.phi[:150], nan=-np.inf).min(), 0.0)) / STRETCH


def ringing(run: Run) -> float:
    """|dΦ/dt| one second later, as a part of what a consistent start has then at most."""
    later = np.abs(run.records.rate[100:150])
    return float(later.max()) if len(later) == 50 else np.inf


def check(data: dict[str, Any]) -> list[Claim]:
    runs, grid = data["runs"], data["grid"]
    first = {start: settling_steps(runs[start, "implicit_first"]) for start in STARTS}
    swing = max(overshoot(runs[start, "implicit_first"]) for start in STARTS)
    settle = {key: settling_steps(one) for key, one in grid.items()}
    best = {base: min((key for key in settle if key[0] == base), key=settle.__getitem__) for base in BASES}
    never = sum(steps == np.inf for steps in settle.values())
    swings = {key: overshoot(one) for key, one in grid.items() if key[1] < key[2]}
    calmest = {base: min((key for key in swings if key[0] == base), key=swings.__getitem__) for base in BASES}
    rings = {one.method: ringing(runs["dΦ/dt", one.method]) for one in (FIRST, IMPROVED, SECOND)}
    improved = runs["Φ", "implicit_improved"]
    return [
        judge(
            "implicit-insensitive",
            "The first-order method soon satisfies the constraints from a start that breaks Φ = 0 and dΦ/dt = 0.",
            "III",
            "|Φ| < 0.01 m for good within 3 steps, for each start",
            ", ".join(f"{start}: {steps:g}" for start, steps in first.items()),
            max(first.values()) <= 3,
        ),
        judge(
            "implicit-no-swing",
            "It does so without much oscillation.",
            "III",
            "swing to Φ < 0 is < 10 % of Φ at the start",
            f"{100 * swing:.2f} %",
            swing < 0.1,
        ),
        judge_varied(
            "baumgarte-lags",
            "Baumgarte's feedback lags behind, for any α and β.",
            "III",
            f"steps to settle: Baumgarte > 3 × first order ({first['both']:g}), for all α, β",
            "integrator",
            {INTEGRATOR_WORDS[base]: (f"best {settle[key]:g} steps with α = {key[1]:g}, β = {key[2]:g}",
                                      settle[key] > 3 * max(first["both"], 1)) for base, key in best.items()},
            note="2α = β = 1/h on symplectic Euler is the first-order method itself, up to the term J̇v, and as quick: "
            "what the paper offers is this one choice of α and β, bound to the step; "
            f"{never} of {len(settle)} pairs do not settle within {DURATION:g} s",
        ),
        judge_varied(
            "baumgarte-oscillates",
            "Baumgarte's feedback oscillates when it is not damped enough (α < β).",
            "III",
            "swing to Φ < 0 is > 10 % of Φ at the start, for all α < β",
            "integrator",
            {INTEGRATOR_WORDS[base]: (f"at least {number(100 * swings[key])} % (α = {key[1]:g}, β = {key[2]:g})",
                                      swings[key] > 0.1) for base, key in calmest.items()},
            note="on symplectic Euler the one calm pair is 2α = β = 1/h, which is the first-order method",
        ),
        judge(
            "second-order-rings",
            "The second-order method inherits this quality of the first-order one.",
            "Hong 2008, 1",
            "|dΦ/dt| after 1 s < 2 × first order's, from dΦ/dt = 0.5 m/s",
            f"{number(rings['implicit_second'], 'm/s')} against {number(rings['implicit_first'], 'm/s')}",
            rings["implicit_second"] < 2 * rings["implicit_first"],
            why="Φ is held, but the error in dΦ/dt changes its sign at each step, undamped, and λ with it: "
            "the start must "
            "be made consistent, as taut does by default",
        ),
        judge(
            "improved-rings",
            "So does the improved first-order method.",
            "HWC 2005, 3",
            "|Φ| < 0.01 m for good within 3 steps, from Φ = 0.1 m",
            f"{improved.status}; Φ of the first steps: "
            + ", ".join(f"{value:.3f}" for value in improved.records.phi[:4, 0])
            + f" m; {number(np.abs(improved.records.phi[-1]).max(), 'm')} at {improved.records.time[-1]:g} s",
            settling_steps(improved) <= 3,
            why="the half step meets Φ = 0 and the full step goes as far beyond it: Φ changes its sign at "
            "each step, and "
            "grows",
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    figure, axes = canvas(2, 2, height=6.4, sharex="col")
    for one in (FIRST, SECOND, IMPROVED):
        for start, row, name in (("Φ", 0, "phi"), ("dΦ/dt", 1, "rate")):
            records = data["runs"][start, one.method].records
            axes[row, 1].plot(
                records.time[:21],
                getattr(records, name)[:21, 0],
                marker="o",
                markersize=3,
                **(line_style(one) | {"linewidth": 1}),
            )
    records = data["runs"]["both", "implicit_first"].records
    axes[0, 0].plot(records.time, records.phi[:, 0], **line_style(FIRST))
    axes[1, 0].plot(records.time, records.rate[:, 0], **line_style(FIRST))
    for base, words in (("symplectic", "symplectic Euler"), ("rk4", "Runge-Kutta 4")):
        for beta, width in ((5.0, 2.2), (20.0, 1.1)):
            records = data["grid"][base, 5.0, beta].records
            style = line_style(case("baumgarte", f"baumgarte α = 5, β = {beta:g} on {words}", integrator=base))
            axes[0, 0].plot(records.time, records.phi[:, 0], **(style | {"linewidth": width}))
            axes[1, 0].plot(records.time, records.rate[:, 0], **(style | {"linewidth": width}))
    axes[0, 0].set(xlim=(0, 0.6), ylabel="Φ of the upper rod [m]", title="start with Φ = 0.1 m, dΦ/dt = 0.5 m/s")
    axes[1, 0].set(ylim=(-2, 2), xlabel="time [s]", ylabel="dΦ/dt [m/s]", title="the same")
    axes[0, 1].set(title="start with Φ = 0.1 m")
    axes[1, 1].set(xlabel="time [s]", title="start with dΦ/dt = 0.5 m/s")
    legend(figure, axes.flat, columns=2)
    save(figure, path)


FIGURE = Figure("icra2005-initial", "Starts that break the constraints", ICRA2005, run, check, draw)
