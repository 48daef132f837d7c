"""ICRA 2005, section III: how large a step each method survives.

The paper says that implicit enforcement sets no limit to the step. The 2-link arm (rods of 10 m, whose
slow swing takes about 7 s) for 100 s; a run is broken when a rod is off by half its length, and blown up
beyond 100 lengths. Only h √(g/L) matters, so another length is another h. α and β of Baumgarte's method are open:
drawn with 5, they are varied, also in proportion to 1/h.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...scene import gallery
from .base import ICRA2005, Claim, Figure, judge, judge_varied, number
from .common import Case, case, go, reached_end, total_energy
from .plots import canvas, legend, line_style, save

LENGTH, DURATION = 10.0, 100.0
STEPS = tuple(float(h) for h in np.round(np.geomspace(0.005, 2.0, 27), 4))
DAMPING_STEPS = (0.0025, 0.005, 0.01, 0.02, 0.04)
BROKEN, BLOWN_UP = 0.5 * LENGTH, 100 * LENGTH
GROWTH = 1.5  # of |Φ| from the first half of a run to the second: more is an instability, not an error of the step
CASES = (
    case("implicit_first"),
    case("implicit_improved"),
    case("implicit_second"),
    case("baumgarte", integrator="euler"),
    case("baumgarte", integrator="symplectic"),
    case("baumgarte", integrator="rk4"),
    case("post_stabilization", integrator="euler"),
    case("post_stabilization", integrator="symplectic"),
    case("fast_projection"),
    case("rattle"),
)

FEEDBACK = {"α = β = 1": (1.0, 1.0), "α = β = 20": (20.0, 20.0), "2α = β = 1/h": None}


def with_feedback(base: str, words: str, h: float) -> Case:
    """Baumgarte's method with other α and β."""
    alpha, beta = FEEDBACK[words] or (0.5 / h, 1.0 / h)
    return case("baumgarte", integrator=base, alpha=alpha, beta=beta)


def run(quick: bool) -> dict[str, Any]:
    scene = gallery("two_link", length=LENGTH)
    steps, duration = STEPS[::2] if quick else STEPS, DURATION

    def largest(one: Case, h: float) -> tuple[float, float]:
        """Of |Φ| in the first and in the second half of a run."""
        result = go(scene, one, h, max(duration, 50 * h))
        if not reached_end(result):
            return np.inf, np.inf
        first, second = np.array_split(np.abs(result.records.phi), 2)
        return float(first.max()), float(second.max())

    def lost(h: float) -> float:
        energy = total_energy(go(scene, CASES[0], h, 20.0))
        return float(energy[0] - energy[-1])

    halves = {str(one): [largest(one, h) for h in steps] for one in CASES}
    return {
        "steps": steps,
        "halves": halves,
        "largest": {name: [max(pair) for pair in found] for name, found in halves.items()},
        "feedback": {
            words: {base: [max(largest(with_feedback(base, words, h), h)) for h in steps]
                    for base in ("euler", "symplectic")}
            for words in FEEDBACK
        },
        "lost": {h: lost(h) for h in DAMPING_STEPS},
    }


def longest(steps: tuple[float, ...], errors: list[float], limit: float) -> float:
    """The largest step up to which all steps stay below the limit."""
    kept = 0.0
    for h, error in zip(steps, errors):
        if not error <= limit:
            break
        kept = h
    return kept


def up_to(h: float, steps: tuple[float, ...]) -> str:
    return number(h, "s") if h else f"less than {steps[0]:g} s"


def check(data: dict[str, Any]) -> list[Claim]:
    steps, largest = data["steps"], data["largest"]
    survives = {name: longest(steps, errors, BROKEN) for name, errors in largest.items()}
    finite = {name: longest(steps, errors, BLOWN_UP) for name, errors in largest.items()}
    with np.errstate(invalid="ignore"):
        growth = {name: [second / before if np.isfinite(second) else np.inf for before, second in found]
                  for name, found in data["halves"].items()}
    listed = ", ".join(f"{name} {up_to(h, steps)}" for name, h in survives.items())
    first = "implicit_first"
    explicit = {name: h for name, h in survives.items() if name.startswith("baumgarte on") and "Euler" in name}
    rivals = {"α = β = 5": max(explicit.values())} | {
        words: max(longest(steps, errors, BROKEN) for errors in on.values()) for words, on in data["feedback"].items()
    }
    scaled = np.array(largest[first]) / np.array(steps) ** 2
    inner = scaled[np.array(steps) >= 0.02]
    lost = data["lost"]
    on_rk4 = survives["baumgarte on Runge-Kutta 4"]
    return [
        judge(
            "no-limit",
            "The first-order method sets no limit of stability to the step.",
            "III",
            f"largest |Φ| of the second half of a run < {GROWTH:g} × that of the first, h up to {steps[-1]:g} s",
            f"at most {number(max(growth[first]))} times; largest |Φ| {number(max(largest[first]), 'm')}",
            max(growth[first]) < GROWTH,
            note="it does not blow up, but its error grows as h²: |Φ|/h² lies between "
            f"{number(inner.min())} and "
            f"{number(inner.max(), 'm/s²')}, so a rod is off by half its length beyond h = "
            f"{survives[first]:.3g} s",
        ),
        judge_varied(
            "first-beyond-baumgarte",
            "It survives larger steps than explicit Baumgarte.",
            "III",
            f"largest h with |Φ| < L/2: first ({up_to(survives[first], steps)}) > Baumgarte on either Euler",
            "α and β",
            {words: (up_to(h, steps), survives[first] > h) for words, h in rivals.items()},
            note="2α = β = 1/h on symplectic Euler is the first-order method itself, up to the term J̇v. Baumgarte "
            f"on Runge-Kutta 4: {up_to(on_rk4, steps)}; largest h of all: {listed}",
        ),
        judge_varied(
            "second-stable",
            "The second-order method is stable over relatively large steps.",
            "Hong 2008, 5",
            f"largest h with |Φ| < L/2: second ({up_to(survives['implicit_second'], steps)}) ≥ Baumgarte on "
            "either Euler",
            "α and β",
            {words: (up_to(h, steps), survives["implicit_second"] >= h) for words, h in rivals.items()},
            note=f"it blows up beyond h = {up_to(finite['implicit_second'], steps)}, which the first-order "
            "method does not",
        ),
        judge(
            "improved-always-stable",
            "The implicit method is stable whatever the step; so should be the improved scheme.",
            "HWC 2005, 2",
            f"largest |Φ| of the second half of a run < {GROWTH:g} × that of the first, h up to {steps[-1]:g} s",
            f"at most {number(max(growth['implicit_improved']))} times; blows up beyond "
            f"h = {up_to(finite['implicit_improved'], steps)}",
            max(growth["implicit_improved"]) < GROWTH,
            why="the improved scheme has no damping of Φ: its error changes sign and grows when the step is large",
        ),
        judge(
            "damping-by-step",
            "The first-order method damps the motion, the more the larger the step.",
            "IV",
            "energy lost in 20 s grows with h",
            ", ".join(f"h = {h:g}: {number(e, 'J')}" for h, e in lost.items()),
            min(lost.values()) > 0 and bool(np.all(np.diff(list(lost.values())) > 0)),
            note=f"in proportion to h, and small: m g L is {9.81 * LENGTH:g} J",
        ),
    ]


def draw(data: dict[str, Any], path: Path) -> None:
    figure, axis = canvas(height=5.4)
    marks = {"implicit_first": "o", "implicit_improved": "D", "implicit_second": "p"}
    for one in CASES:
        errors = np.array(data["largest"][str(one)]) / LENGTH
        shown = np.where(errors <= 1e3, np.maximum(errors, 1e-14), 1e3)
        marker = {"marker": marks.get(one.method, "."), "markersize": 5}
        axis.loglog(data["steps"], shown, **marker, clip_on=False, **line_style(one))
    axis.axhline(
        BROKEN / LENGTH,
        color="#444444",
        linewidth=1,
        linestyle=(0, (2, 3)),
        label="broken: off by half a rod",
    )
    axis.set(
        xlabel="step h [s]",
        ylabel="largest |Φ| / L",
        ylim=(1e-14, 1e3),
        title="2-link arm; the upper edge is “blown up”",
    )
    legend(figure, axis, columns=2)
    save(figure, path)


FIGURE = Figure("icra2005-stability", "Largest step that each method survives", ICRA2005, run, check, draw)
