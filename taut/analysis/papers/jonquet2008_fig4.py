"""Jonquet 2008, Fig 4: y and ÿ of the particle in the acute corner, m = 2, f = (2, -1), Platt and Algorithm 3.

The paper gives neither integrator, step, τ nor duration. All four integrators are tried with τ = h, 2 h, 5 h and 20 h
(symplectic Euler and Adams-Bashforth are unstable with τ = h and left out there), h = 0.001 s, for 1 s. The one that is
drawn, explicit Euler with τ = h, was picked from these because Platt's acceleration oscillates there as in the
paper; in most of the others it does not, and a claim of its own says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...result import Run
from .base import JONQUET2008, Claim, Figure, judge, judge_varied, number
from .common import INTEGRATOR_WORDS
from .jonquet2008_corner import acceleration_y, push
from .plots import canvas, legend, save

PUSH, STEP, DURATION, SHOWN = (2.0, -1.0), 0.001, 1.0, 0.06
CHOSEN = ("euler", 1.0)
OTHERS = [
    (base, ratio) for base in INTEGRATOR_WORDS for ratio in (1.0, 2.0, 5.0, 20.0)
    if (base, ratio) != CHOSEN and not (base in ("symplectic", "ab2") and ratio == 1.0)
]  # fmt: skip
RULES = {"platt": "Platt", "jonquet": "Algorithm 3"}
COLORS = {"platt": "#d55e00", "jonquet": "#0072b2"}
OTHER_STEPS = (0.01, 0.0001)
SMALL, HELD, MANY = 1e-5, 1e-8, 20
ROUNDING = 1e-12


def run_with(mass: float, quick: bool) -> dict[str, Any]:
    """Both rules with the chosen integrator and with others."""

    def one(rule: str, m: float, base: str, ratio: float) -> Run:
        return push(PUSH, m, rule, DURATION, dt=STEP, tau=ratio * STEP, integrator=base)

    settings = (CHOSEN, *(OTHERS[::4] if quick else OTHERS))
    masses = sorted({2.0, mass})
    runs = {(rule, m, *given): one(rule, m, *given) for rule in RULES for m in masses for given in settings}
    coarse = push(PUSH, mass, "platt", DURATION, dt=10 * STEP, tau=10 * STEP, integrator=CHOSEN[0])
    return {
        "mass": mass,
        "runs": {rule: runs[(rule, mass, *CHOSEN)] for rule in RULES},
        "lowest": {key: float(result.records.x[:, 0, 1].min()) for key, result in runs.items()},
        "turns": {given: turns(acceleration_y(runs[("platt", mass, *given)], PUSH, mass)) for given in settings},
        "other_steps": {
            h: {given: lowest_of(mass, h, *given) / lowest_of(2.0, h, *given) for given in settings}
            for h in (OTHER_STEPS[:1] if quick else OTHER_STEPS)
        } if mass != 2.0 else {},
        "coarse": -float(coarse.records.x[:, 0, 1].min()),
    }


def lowest_of(mass: float, h: float, base: str, ratio: float) -> float:
    """The lowest y under Platt's rule with another step, over as many steps."""
    result = push(PUSH, mass, "platt", DURATION * h / STEP, dt=h, tau=ratio * h, integrator=base)
    return float(result.records.x[:, 0, 1].min())


def run(quick: bool) -> dict[str, Any]:
    return run_with(2.0, quick)


def turns(values: np.ndarray) -> int:
    """How often the acceleration changes its sign; what is rounding does not count."""
    signs = np.sign(np.where(np.abs(values) < 1e-6 * np.abs(values).max(), 0.0, values))
    signs = signs[signs != 0.0]
    return int((np.diff(signs) != 0.0).sum())


def words(base: str, ratio: float) -> str:
    return f"{INTEGRATOR_WORDS[base]}, τ = {ratio:g} h"


def common_claims(data: dict[str, Any], figure: str) -> list[Claim]:
    """What the paper says of both masses."""
    mass, runs, lowest = data["mass"], data["runs"], data["lowest"]
    y, first = runs["platt"].records.x[:, 0, 1], acceleration_y(runs["platt"], PUSH, mass)[:2]
    held = float(np.abs(runs["jonquet"].records.x[:, 0, 1]).max())
    deepest = {key: -value for key, value in lowest.items() if key[0] == "jonquet" and key[1] == mass}
    worst = max(deepest.values())
    return [
        judge(
            "holds-then-releases",
            "Platt's rule holds the particle for the first step and releases it at the next.",
            "5",
            "ÿ = 0 at the first step, ÿ = -1/m at the second, to 1e-12",
            f"ÿ = {number(first[0] if abs(first[0]) > 1e-12 else 0.0)} and {number(first[1], 'm/s²')}",
            abs(first[0]) < 1e-12 and abs(first[1] + 1 / mass) < 1e-12,
        ),
        judge(
            "platt-below",
            "So the particle is in an illegal state afterwards.",
            f"5, {figure}",
            "lowest y < 0 with Platt's rule",
            f"{number(float(y.min()), 'm')}, below zero after {int((y < -ROUNDING).sum())} of {len(y) - 1} steps",
            float(y.min()) < 0.0,
        ),
        judge(
            "algorithm-3-holds",
            "Algorithm 3 keeps it on the x-axis, within 1e-8.",
            f"5, {figure}",
            "|y| < 1e-8 over the whole run with Algorithm 3",
            number(held, "m"),
            held < HELD,
        ),
        judge(
            "algorithm-3-any-integrator",
            "The same for other integrators and other τ.",
            f"5, {figure}",
            f"lowest y > -1e-8 for all {len(deepest)} of them",
            f"at worst {number(-worst if worst > 0.0 else 0.0, 'm')}",
            worst < HELD,
        ),
    ]


def check(data: dict[str, Any]) -> list[Claim]:
    result, lowest = data["runs"]["platt"], data["lowest"]
    deep = -float(result.records.x[:, 0, 1].min())
    count = data["turns"]
    platt = {key[2:]: -value for key, value in lowest.items() if key[0] == "platt"}
    most, least = max(platt, key=platt.__getitem__), min(platt, key=platt.__getitem__)
    return [
        *common_claims(data, "Fig 4"),
        judge(
            "small-error",
            "With m = 2 the error of Platt's rule is less than 1e-5.",
            "5, Fig 4",
            "largest -y < 1e-5",
            number(deep, "m"),
            deep < SMALL,
            note=f"it hangs on the step and on τ: from {number(platt[least], 'm')} ({words(*least)}) to "
            f"{number(platt[most], 'm')} ({words(*most)}), and {number(data['coarse'], 'm')} with a step ten times "
            "as long",
        ),
        judge_varied(
            "oscillates",
            "The acceleration oscillates.",
            "5, Fig 4",
            f"changes of sign of ÿ in 1 s > {MANY}",
            "integrator and τ",
            {words(*given): (str(number_of), number_of > MANY) for given, number_of in count.items()},
            note="the picture has a setting in which it does: with τ as short as the step explicit Euler overshoots, "
            "and the constraint is let go and taken back again and again",
        ),
    ]


def draw_runs(data: dict[str, Any], path: Path) -> None:
    """y at the left, ÿ at the right; Platt above, Algorithm 3 below."""
    mass = data["mass"]
    figure, axes = canvas(2, 2, height=5.0, sharex=True)
    for row, (rule, name) in zip(axes, RULES.items()):
        time = data["runs"][rule].records.time
        y = data["runs"][rule].records.x[:, 0, 1]
        style = {"color": COLORS[rule], "marker": ".", "markersize": 4, "linewidth": 1.0}
        row[0].plot(time, y, **style)
        row[1].plot(time, acceleration_y(data["runs"][rule], PUSH, mass), **style)
        row[0].set(ylabel="y [m]", title=f"{name}: position")
        row[1].set(ylabel="ÿ [m/s²]", title=f"{name}: acceleration")
        row[0].axhspan(-1.0, 0.0, color="#fbe3d6", zorder=0)
        shown = y[time <= SHOWN]
        low, high = min(float(shown.min()), -HELD), max(float(shown.max()), HELD)
        row[0].set_ylim(low - 0.15 * (high - low), high + 0.15 * (high - low))
    axes[0, 0].plot([], [], color="#fbe3d6", linewidth=8, label="y < 0: illegal")
    limit = 1.2 * max(abs(bound) for bound in axes[0, 1].get_ylim())
    for axis in axes[:, 1]:
        axis.set_ylim(-limit, limit)
    for axis in axes[1]:
        axis.set(xlabel="time [s]", xlim=(0.0, SHOWN))
    figure.suptitle(f"m = {mass:g}, f = (2, -1); {INTEGRATOR_WORDS[CHOSEN[0]]}, h = τ = {STEP:g} s; first "
                    f"{SHOWN:g} s of {DURATION:g} s", fontsize=10.5)  # fmt: skip
    legend(figure, axes.ravel())
    save(figure, path)


def draw(data: dict[str, Any], path: Path) -> None:
    draw_runs(data, path)


FIGURE = Figure("jonquet2008-fig4", "Height and acceleration in the corner, m = 2", JONQUET2008, run, check, draw)
