"""COL865, reduced coordinates: fewer unknowns against one unknown per coordinate and constraint.

The pendulum and the 2-link arm in angles against the same in Cartesian coordinates; a bead on a sloping
line in one coordinate (x = B q); time per step for hanging chains of N links (Runge-Kutta 4 for both, h =
0.001).
"""

from __future__ import annotations

import re
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np

from ...methods import METHODS
from ...model import build
from ...scene import SCENES, Scene, gallery
from .base import COL865, Claim, Figure, judge, judge_varied, number, unresolved
from .common import BUSY, busy, case, drift, go, microseconds
from .plots import canvas, envelope, legend, line_style, save, tame

GRAVITY, LENGTH, DURATION, STEP = 9.81, 10.0, 20.0, 0.01
SLOPE = pi / 6
SIZES = (2, 5, 10, 20, 50, 100)
BY_FORMULAS = 10  # links up to which the gallery's chain gives formulas; longer ones are swept link by link
REDUCED, MAXIMAL, STABILIZED = case("reduced"), case("reference"), case("baumgarte", integrator="rk4")


def bead_on_slope() -> Scene:
    scene = Scene(name="bead_on_slope")
    bead = scene.particle((0, 0, 0), name="bead")
    scene.on_line(bead, point=(0, 0, 0), direction=(cos(SLOPE), -sin(SLOPE), 0), name="slope")
    return scene


def run(quick: bool) -> dict[str, Any]:
    arm, pendulum = gallery("two_link", length=LENGTH), gallery("pendulum")
    runs = {
        name: (one, go(arm, one, STEP, DURATION, **more))
        for name, one, more in (
            ("reduced", REDUCED, {"tolerance": 1e-12}),
            ("maximal", MAXIMAL, {"tolerance": 1e-12}),
            ("reduced RK4", REDUCED, {}),
            ("maximal RK4", STABILIZED, {}),
        )
    }
    swing = go(pendulum, REDUCED, STEP, 5.0, tolerance=1e-12)
    slide = go(bead_on_slope(), REDUCED, STEP, 2.0)
    sizes, repeats = ((2, 10, 50), 3) if quick else (SIZES, 80)
    times = {
        n: microseconds(gallery("chain", n=n), (REDUCED, STABILIZED), 0.001, max(20, 5_000 // n), repeats)
        for n in sizes
    }
    refused = {name: METHODS["reduced"].refusal(build(gallery(name))) for name in SCENES}
    return {
        "runs": runs,
        "pendulum": swing,
        "bead": slide,
        "sizes": sizes,
        "times": times,
        "refused": refused,
    }


def check(data: dict[str, Any]) -> list[Claim]:
    x = {name: one.records.x for name, (_, one) in data["runs"].items()}
    agree = float(np.abs(x["reduced"] - x["maximal"]).max())
    error = {name: float(np.abs(x[name] - x["reduced"]).max()) for name in ("reduced RK4", "maximal RK4")}
    held = max(float(drift(data["runs"][name][1]).max()) for name in ("reduced", "reduced RK4"))
    swing = data["pendulum"].records
    from scipy.integrate import solve_ivp  # half a second that `taut list` need not wait

    angle = solve_ivp(
        lambda t, y: (y[1], -GRAVITY * np.sin(y[0])),
        (0, 5.0),
        (-pi / 2, 0.0),
        "DOP853",
        swing.time,
        rtol=1e-12,
        atol=1e-12,
    ).y[0]
    scalar = float(np.abs(swing.x[:, 1, 0] - np.sin(angle)).max())
    bead = data["bead"].records
    along = 0.5 * GRAVITY * sin(SLOPE) * bead.time**2
    linear = float(np.abs(bead.x[:, 0, 0] - along * cos(SLOPE)).max())
    times = {str(one): [data["times"][n][str(one)][0] for n in data["sizes"]] for one in (REDUCED, STABILIZED)}
    doubt = busy(pair for at in data["times"].values() for pair in at.values())
    tenth = data["sizes"].index(BY_FORMULAS)
    none = {name: reason.split(";")[0] for name, reason in data["refused"].items() if reason}
    ratio = [a / b for a, b in zip(times[str(REDUCED)], times[str(STABILIZED)])]

    def listed(most: int) -> str:
        return ", ".join(f"{number(value)} at {n}" for n, value in zip(data["sizes"], ratio) if n <= most)

    return [
        judge(
            "same-motion",
            "Reduced and maximal coordinates describe the same motion.",
            "Reduced coordinates",
            "2-link arm, 20 s: largest distance < 1e-7 m",
            number(agree, "m"),
            agree < 1e-7,
        ),
        judge(
            "no-drift",
            "Reduced coordinates satisfy the constraints by themselves.",
            "Reduced coordinates",
            "Σ|Φ| < 1e-12 m",
            number(held, "m"),
            held < 1e-12,
        ),
        judge(
            "pendulum-equation",
            "The pendulum obeys θ̈ + (g/L) sin θ = 0.",
            "Reduced coordinates: pendulum",
            "difference from that equation < 1e-9 m",
            number(scalar, "m"),
            scalar < 1e-9,
        ),
        judge(
            "linear-constraints",
            "For linear constraints x = B q with Bᵀ M B q̈ = Bᵀ f.",
            "Reduced coordinates",
            "bead on a slope: difference from g sin φ t²/2 < 1e-12 m",
            number(linear, "m"),
            linear < 1e-12,
        ),
        judge_varied(
            "does-not-scale",
            "Reduced coordinates do not scale well.",
            "Reduced coordinates",
            f"time per step: reduced / maximal grows by more than {100 * BUSY:g} % with the number of links",
            "how equations are made",
            {f"formulas of the angles, N = 2 to {BY_FORMULAS}": (listed(BY_FORMULAS),
                                                                 ratio[tenth] > (1 + BUSY) * ratio[0]),
             f"swept link by link beyond {BY_FORMULAS}, N = 2 to {data['sizes'][-1]}": (
                 listed(data["sizes"][-1]), ratio[-1] > (1 + BUSY) * ratio[0])},
            note=f"by the general recipe matrices are dense in N; beyond {BY_FORMULAS} links taut sweeps the tree of "
            "links, at about the cost of maximal coordinates",
            doubt=doubt,
        ),
        judge(
            "not-general",
            "They are of use in some simple cases, not for arbitrary constraints.",
            "Reduced coordinates",
            "of the scenes of the gallery more than a quarter have none, and fewer than three quarters",
            f"{len(none)} of {len(data['refused'])} have none",
            0.25 < len(none) / len(data["refused"]) < 0.75,
            note="; ".join(f"{reason}: {', '.join(names)}" for reason, names in by_reason(none).items()),
        ),
        judge(
            "accuracy-per-step",
            "A reduced step of the same order is at least as accurate.",
            "Reduced coordinates",
            "Runge-Kutta 4 at h = 0.01: error reduced < maximal (Baumgarte)",
            f"{number(error['reduced RK4'], 'm')} against {number(error['maximal RK4'], 'm')}",
            error["reduced RK4"] < error["maximal RK4"],
            doubt=unresolved(min(error.values()), agree),
        ),
    ]


def by_reason(refused: dict[str, str]) -> dict[str, list[str]]:
    """Reasons with the scenes that they hold for; names inside of them are left out."""
    found: dict[str, list[str]] = {}
    for name, reason in refused.items():
        found.setdefault(re.sub(r"(constraint )?'\w+'", lambda named: "a constraint" if named[1] else "a body", reason),
                         []).append(name)  # fmt: skip
    return found


def draw(data: dict[str, Any], path: Path) -> None:
    figure, axes = canvas(1, 2, height=4.2)
    for name, words in (
        ("reduced RK4", "reduced (Runge-Kutta 4)"),
        ("maximal RK4", "baumgarte on Runge-Kutta 4"),
    ):
        one, result = data["runs"][name]
        time, error = envelope(result.records.time, drift(result))
        axes[0].semilogy(time, tame(error, 1e-17), **(line_style(one) | {"label": words}))
        times = [data["times"][n][str(one)][0] for n in data["sizes"]]
        axes[1].loglog(data["sizes"], times, marker="o", **(line_style(one) | {"label": words}))
    axes[0].set(xlabel="time [s]", ylabel="Σ|Φ| [m]", title=f"2-link arm, h = {STEP:g} s")
    axes[1].set(xlabel="links N", ylabel="time per step [µs]", title="hanging chains")
    axes[1].yaxis.set_minor_formatter("")
    axes[1].set_ylim(0.5, 100)
    legend(figure, axes)
    save(figure, path)


FIGURE = Figure("col865-reduced", "Reduced against maximal coordinates", COL865, run, check, draw, timed=True)
