"""COL865, stiff forces and penalty forces: a spring becomes a rod as its stiffness grows.

A pendulum of 1 m and 1 kg from the horizontal, 5 s. The spring's own motion is followed by the adaptive
reference method, so that what remains is the model's error; then the penalty method with a fixed step
shows the price: Runge-Kutta 4 follows an undamped spring only for h √(k/m) < 2 √2. An implicit step holds for any k,
and pays with its linear system M + h² k JᵀJ: on a chain, where it must be solved by iteration, the iterations grow with
k, and beyond some k no digit of the motion is left, while implicit_first, its limit for k → ∞, needs one direct solve.
"""

from __future__ import annotations

from math import pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from ...scene import gallery
from .base import COL865, Claim, Figure, judge, number, unresolved
from .common import case, go, trajectory_error, truth
from .plots import canvas, legend, line_style, save

LENGTH, MASS, GRAVITY, DURATION, RECORD = 1.0, 1.0, 9.81, 5.0, 0.01
STIFFNESS = tuple(float(k) for k in 10.0 ** np.arange(2, 8))
IMPLICIT_STIFFNESS = tuple(float(k) for k in 10.0 ** np.arange(4, 20))
IMPLICIT_STEP, IMPLICIT_DURATION, LINKS = 0.01, 1.0, 20  # of the chain
LIMIT = 2 * sqrt(2)  # of h √(k/m), for Runge-Kutta 4 on an undamped oscillator


def run(quick: bool) -> dict[str, Any]:
    stiffness = STIFFNESS[:4] if quick else STIFFNESS
    rod = gallery("pendulum", length=LENGTH, angle=pi / 2, mass=MASS)
    reference = truth(rod, RECORD, DURATION)
    stretch, away = [], []
    for k in stiffness:
        spring = go(
            gallery("spring_to_rod", stiffness=k, length=LENGTH),
            "reference",
            RECORD,
            DURATION,
            tolerance=1e-11,
        )
        stretch.append(float(np.abs(np.linalg.norm(spring.records.x[:, 1], axis=1) - LENGTH).max()))
        away.append(float(trajectory_error(spring, reference.run, "bob").max()))

    def explodes(k: float, h: float) -> bool:
        result = go(rod, case("penalty", integrator="rk4", alpha=k, beta=0.0), h, 2000 * h)
        # Just above the limit it only trembles by a good part of the length, which is no pendulum either.
        return not float(np.abs(result.records.phi).max()) < 10 * 3 * MASS * GRAVITY / k

    largest = []
    for k in stiffness:
        low, high = 0.5 * LIMIT / sqrt(k / MASS), 2.0 * LIMIT / sqrt(k / MASS)
        for _ in range(12):
            middle = sqrt(low * high)
            low, high = (low, middle) if explodes(k, middle) else (middle, high)
        largest.append(low)
    implicit = _implicit(IMPLICIT_STIFFNESS[::3] if quick else IMPLICIT_STIFFNESS)
    stretched = gallery("inconsistent_start", stretch=0.01, rate=0.0)  # sets the springs swinging
    damped = {
        beta: go(
            stretched,
            case("penalty", integrator="rk4", alpha=1e4, beta=beta),
            0.001,
            DURATION,
            start="as_given",
        )
        for beta in (0.0, 20.0)
    }
    return {
        "stiffness": stiffness,
        "stretch": stretch,
        "away": away,
        "largest": largest,
        "damped": damped,
        "implicit": implicit,
        "own": reference.own_until(DURATION),
    }


def _implicit(stiffness: tuple[float, ...]) -> dict[str, np.ndarray]:
    """The implicit penalty step against its limit: distance of the motion [m], iterations per step, status."""
    chain = gallery("chain", n=LINKS)
    limit = go(chain, "implicit_first", IMPLICIT_STEP, IMPLICIT_DURATION)
    away, iterations = [], []
    for k in stiffness:
        given = case("penalty", integrator="implicit", alpha=k, beta=0.0)
        run = go(chain, given, IMPLICIT_STEP, IMPLICIT_DURATION)
        rows = min(len(run.records), len(limit.records))
        away.append(float(np.abs(run.records.x[:rows] - limit.records.x[:rows]).max()))
        iterations.append(run.info["corrections"] / run.steps)
    return {"stiffness": np.array(stiffness), "away": np.array(away), "iterations": np.array(iterations)}


def check(data: dict[str, Any]) -> list[Claim]:
    k = np.array(data["stiffness"])
    stiff = k >= 1e3
    slopes = {
        name: float(np.polyfit(np.log(k[stiff]), np.log(np.array(data[name])[stiff]), 1)[0])
        for name in ("stretch", "away")
    }
    scaled = np.array(data["largest"]) * np.sqrt(k / MASS)
    implicit = data["implicit"]
    k_implicit, away, iterations = implicit["stiffness"], implicit["away"], implicit["iterations"]
    best = int(np.argmin(away))
    falling = (k_implicit >= 1e6) & (k_implicit <= 1e10)
    slope = float(np.polyfit(np.log(k_implicit[falling]), np.log(away[falling]), 1)[0])
    trembling = {beta: float(np.abs(one.records.rate[-500:]).max()) for beta, one in data["damped"].items()}
    return [
        judge(
            "spring-becomes-rod",
            "As k → ∞ the spring becomes a rod that does not stretch.",
            "Stiff forces and constraints",
            "stretch falls as k^p with p = -1 ± 0.1",
            f"p = {slopes['stretch']:.3f}; "
            + ", ".join(f"{number(s, 'm')} (k = {number(v)})" for v, s in zip(data["stiffness"], data["stretch"])),
            abs(slopes["stretch"] + 1) < 0.1,
        ),
        judge(
            "motion-becomes-rod",
            "Its motion becomes that of the rod.",
            "Stiff forces and constraints",
            "trajectory error falls as k^p with p = -1 ± 0.15",
            f"p = {slopes['away']:.3f}; {number(data['away'][-1], 'm')} at k = {number(k[-1], 'N/m')}",
            abs(slopes["away"] + 1) < 0.15,
            doubt=unresolved(min(data["away"]), data["own"]),
        ),
        judge(
            "too-small",
            "If the penalty is too small, the constraint is violated a lot.",
            "Penalty forces",
            "stretch > 10 % of the length at k = 100 N/m",
            f"{number(100 * data['stretch'][0] / LENGTH)} %",
            data["stretch"][0] > 0.1 * LENGTH,
        ),
        judge(
            "too-large",
            "If it is large, the simulation explodes.",
            "Penalty forces",
            "largest h that holds × √(k/m) = 2 √2 ± 10 %, for each k (Runge-Kutta 4)",
            f"{number(scaled.min())} to {number(scaled.max())}; from h = {number(data['largest'][0], 's')} "
            "at k = 100 to "
            f"{number(data['largest'][-1], 's')} at k = {number(k[-1])}",
            bool(np.all(np.abs(scaled / LIMIT - 1) < 0.1)),
        ),
        judge(
            "implicit-holds",
            "An implicit step bears any stiffness.",
            "Penalty forces",
            f"chain of {LINKS} rods, h = {IMPLICIT_STEP:g} s, k from 1e6 to 1e10, where explicit steps must be shorter "
            f"than {number(LIMIT / sqrt(1e10), 's')}: the distance from implicit_first falls as k^p with p = -1 ± 0.1",
            f"p = {slope:.3f}; {number(away[best], 'm')} at k = {number(k_implicit[best])}",
            abs(slope + 1) < 0.1,
        ),
        judge(
            "ill-conditioned",
            "But its linear system is ill-conditioned.",
            "Penalty forces",
            "the same chain: iterations of conjugate gradients at the best k > 2 × those at k = 1e4, "
            "and at k = 1e19 the motion is off by more than 1,000 times the least distance",
            f"{number(iterations[0])} to {number(iterations[best])} iterations per step; {number(away[-1], 'm')} at "
            f"k = {number(k_implicit[-1])}, least {number(away[best], 'm')}",
            bool(iterations[best] > 2 * iterations[0] and away[-1] > 1000 * away[best]),
            note="solved for λ instead of v', the same step goes to implicit_first as k → ∞ and loses nothing",
        ),
        judge(
            "damping",
            "A damping term on dΦ/dt quiets the spring.",
            "Penalty forces",
            "|dΦ/dt| in the last 0.5 s of 5 s, k = 1e4, rods stretched by 1 cm at the start: β = 20 < half of β = 0",
            f"{number(trembling[20.0], 'm/s')} against {number(trembling[0.0], 'm/s')}",
            trembling[20.0] < 0.5 * trembling[0.0],
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    figure, axes = canvas(1, 3, height=4.2)
    k = np.array(data["stiffness"])
    style = line_style("penalty")
    axes[0].loglog(k, data["stretch"], marker="o", **(style | {"label": "largest stretch"}))
    axes[0].loglog(k, data["away"], marker="s", **(style | {"label": "trajectory error", "linestyle": "--"}))
    axes[0].loglog(k, 3 * MASS * GRAVITY / k, color="#444444", linewidth=1, linestyle=":", label="3 m g / k")
    axes[0].set(
        xlabel="stiffness k [N/m]",
        ylabel="difference from the rod [m]",
        title="a spring for a rod",
    )
    axes[1].loglog(k, data["largest"], marker="o", **(style | {"label": "largest step of Runge-Kutta 4 that holds"}))
    axes[1].loglog(k, LIMIT / np.sqrt(k / MASS), color="black", linewidth=1, linestyle="--", label="2 √2 / √(k/m)")
    axes[1].set(xlabel="stiffness k [N/m]", ylabel="step h [s]", title="explicit: the step")
    implicit = data["implicit"]
    first, second = line_style("implicit_first"), style
    axes[2].loglog(implicit["stiffness"], implicit["away"], marker="o",
                   **(second | {"label": "implicit penalty: distance from implicit_first"}))
    axes[2].set(xlabel="stiffness k [N/m]", ylabel="distance [m]", title="implicit: the system")
    counts = axes[2].twinx()
    counts.semilogx(implicit["stiffness"], implicit["iterations"], marker="s",
                    **(first | {"label": "iterations of conjugate gradients per step", "linestyle": ":"}))
    counts.set_ylabel("iterations per step")
    legend(figure, [*axes, counts])
    save(figure, path)


FIGURE = Figure("col865-penalty", "A stiff spring becomes a rod", COL865, run, check, draw)
