"""ICRA 2005, Fig 4: ten links as the teeth of a saw, both ends fixed, h = 0.001.

The paper does not give the length of the links, nor the integrator. Rods of 1 m at 45°, explicit Euler.
Only h √(g/L) matters, so the length is varied: a scan finds the lengths at which post-stabilization
breaks near step 1300, as in the paper.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...result import Run
from ...scene import Scene, gallery
from .base import ICRA2005, Claim, Figure, judge, judge_varied, number
from .common import broken_at, case, drift, go, total_energy
from .plots import canvas, legend, line_style, save, tame

LENGTH, STEP, DURATION = 1.0, 0.001, 5.0
PAPER_STEP = 1300  # where the paper's post-stabilization breaks
LENGTHS = (0.02, 0.03, 0.035, 0.04, 0.045, 0.05, 0.07, 0.1, 0.2, 0.5, 1.0, 10.0)
DECREASING = (0.02, 0.03, 0.04, 0.1, 1.0)
DAMPING_STEPS = (0.0005, 0.001, 0.002, 0.004)
LONG = 30.0  # s, to see whether the error falls with time
FIRST = case("implicit_first")
BAUMGARTE = case("baumgarte", integrator="euler", alpha=5.0, beta=5.0)
POST = case("post_stabilization", integrator="euler")
ON_SYMPLECTIC = case("post_stabilization", integrator="symplectic")


def run(quick: bool) -> dict[str, Any]:
    scene = gallery("ten_link_sawtooth", length=LENGTH)
    lengths = LENGTHS[3:6] if quick else LENGTHS
    small = {length: gallery("ten_link_sawtooth", length=length) for length in lengths}
    scan = {length: go(one, POST, STEP, DURATION) for length, one in small.items()}
    first = {length: go(one, FIRST, STEP, DURATION) for length, one in small.items()}
    breaks = {length: broken_at(one, length) for length, one in scan.items()}
    at = min(lengths, key=lambda length: abs((breaks[length] or np.inf) - PAPER_STEP))
    symplectic = {length: go(one, ON_SYMPLECTIC, STEP, DURATION) for length, one in small.items()}
    return {
        "runs": {one.method: (one, go(scene, one, STEP, DURATION)) for one in (BAUMGARTE, POST, FIRST)},
        "small": {one.method: (one, go(small[at], one, STEP, DURATION)) for one in (BAUMGARTE, POST, FIRST)},
        "small_length": at,
        "breaks": breaks,
        "breaks_symplectic": {length: broken_at(one, length) for length, one in symplectic.items()},
        "before_symplectic": min(before(first[length], symplectic[length], None) for length in small),
        "before": {length: before(first[length], scan[length], breaks[length]) for length in small},
        "first_bounds": {length: float(drift(one).max()) for length, one in first.items()},
        "long": {
            length: quarters(go(gallery("ten_link_sawtooth", length=length), FIRST, STEP, LONG))
            for length in ((0.02, at, LENGTH) if quick else DECREASING)
        },
        "energy_lost": {
            length: [energy_lost(gallery("ten_link_sawtooth", length=length), h) for h in DAMPING_STEPS]
            for length in (LENGTH, 10 * LENGTH)
        },
    }


def energy_lost(scene: Scene, h: float) -> float:
    energy = total_energy(go(scene, FIRST, h, LONG))
    return float(energy[0] - energy[-1])


def before(first: Run, post: Run, broken: int | None) -> float:
    """Σ|Φ| of the first-order method over that of post-stabilization, summed until shortly before it breaks."""
    until = int(0.9 * broken) if broken is not None else len(post.records)
    return float(drift(first)[:until].sum() / drift(post)[:until].sum())


def quarters(result: Run) -> list[float]:
    """The mean of Σ|Φ| in each quarter of a run."""
    return [float(part.mean()) for part in np.array_split(drift(result)[1:], 4)]


def check(data: dict[str, Any]) -> list[Claim]:
    at = data["small_length"]
    small_post = data["breaks"][at]
    energy = total_energy(data["small"]["post_stabilization"][1])
    gained = float(energy[int(0.9 * (small_post or 0))] - energy[0]) / (9 * 9.81 * at)
    worst = max(data["first_bounds"], key=lambda length: data["first_bounds"][length] / length)
    bound = data["first_bounds"][worst] / worst
    falls = {key: parts[3] / parts[0] for key, parts in data["long"].items()}
    held = sum(step is None for step in data["breaks_symplectic"].values())
    lost = data["energy_lost"]
    return [
        judge_varied(
            "post-breaks",
            "Post-stabilization holds for about 1300 steps, then breaks down.",
            "IV, Fig 4",
            f"step of the break (Σ|Φ| > L) of {round(DURATION / STEP)} between 1000 and 1700",
            "length",
            {f"{length:g} m": (str(step) if step is not None else "never", step is not None and 1000 < step < 1700)
             for length, step in data["breaks"].items()},
            note="on explicit Euler, which adds energy: with "
            f"{at:g} m {number(gained)} times m g L of all masses at nine tenths of the way to the break. On "
            f"symplectic Euler {held} of the {len(data['breaks'])} hold for all steps",
        ),
        judge(
            "implicit-bounded",
            "The first-order method stays bounded where post-stabilization breaks down.",
            "IV, Fig 4",
            "largest Σ|Φ| < L for every length tried",
            f"at most {number(bound)} L (rods of {worst:g} m)",
            bound < 1.0,
        ),
        judge_varied(
            "implicit-comparable",
            "Before the breakdown the first-order method's error is like that of post-stabilization, or better.",
            "IV, Fig 4",
            "accumulated up to nine tenths of the way to the breakdown: first / post-stabilization < 10",
            "length and integrator",
            {f"{length:g} m": (f"{number(ratio)} times", ratio < 10) for length, ratio in data["before"].items()}
            | {"any of these lengths, symplectic Euler, 5 s": (f"{number(data['before_symplectic'])} times and more",
                                                              data["before_symplectic"] < 10)},
            note="the first-order method leaves Φ of order h² g whatever the length, a projection the square of what "
            "it finds, over L: the factor grows with the length, and rods so short that it were near one break at "
            "once. Only at the breakdown itself, which is what the paper's figure shows, the order is turned round. "
            "The paper's projection ends below an error threshold that it does not give: one of the order of h² g "
            "would make both alike by choice",
        ),
        judge_varied(
            "implicit-error-decreases",
            "The first-order method's error falls with time, through its own damping.",
            "IV, Fig 4",
            "mean Σ|Φ| over 30 s: last quarter < 0.8 × first quarter, h = 0.001",
            "length",
            {f"{length:g} m": (f"{number(value)} times", value < 0.8) for length, value in falls.items()},
            note="the error follows the speed of the links, which the damping lowers only where h √(g/L) is large",
        ),
        judge_varied(
            "damping-by-step",
            "The first-order method damps the motion, the more the larger the step.",
            "IV",
            "energy lost in 30 s is positive and grows with h",
            "length",
            {f"{length:g} m": (", ".join(f"{number(e, 'J')} at h = {h:g}" for h, e in zip(DAMPING_STEPS, values)),
                               min(values) > 0 and min(np.diff(values)) > 0)
             for length, values in lost.items()},
            note="where h √(g/L) is small the method can as well gain a little energy; on the 2-link arm it "
            "loses at every step tried (icra2005-stability)",
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    figure, axes = canvas(1, 2, height=4.0, sharey=True)
    for axis, key, length in zip(axes, ("runs", "small"), (LENGTH, data["small_length"])):
        for one, result in data[key].values():
            steps = np.arange(len(result.records))
            axis.semilogy(steps, tame(drift(result) / length, 1e-12, 1e3), **(line_style(one) | {"linewidth": 1.0}))
        axis.axvline(PAPER_STEP, color="#777777", linestyle=(0, (2, 3)), label="where the paper's breaks")
        axis.set(xlabel="step", title=f"rods of {length:g} m, h = {STEP:g} s", ylim=(1e-10, 1e2))
    axes[0].set_ylabel("Σ|Φ| / L")
    legend(figure, axes, columns=2)
    save(figure, path)


FIGURE = Figure("icra2005-fig4", "Ten links between two fixed ends", ICRA2005, run, check, draw)
