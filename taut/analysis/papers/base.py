"""How to write an experiment.

1.  One file, one `FIGURE = Figure(...)`, one line in `papers/__init__.py`. The command line, the list
    and the tests pick it up there.
2.  `run(quick)` simulates and returns its data. Parameters that the paper does not give stand as constants
    at the top of the file, with the reason; where a verdict depends on one, it is varied (`judge_varied`), and the
    picture is that of a value which shows what the paper shows.
    `quick` makes the work smaller, never another experiment: tests and CI use it.
3.  `check(data)` states each claim of the paper in our words as an inequality and judges it by the numbers.
    A verdict is computed, never written down. A diverged run is data.
4.  `draw(data, path)` writes path.png and path.svg (see plots.py). Where it shows scenes, `motion(data)` gives the
    same runs to be played on the page.
5.  An error against a reference solution that is not 100 times larger than the reference's own error is
    not judged: the claim says "not resolved".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...view.overlay import Overlay

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
DIFFERS = "differs"
NOT_RESOLVED = "not resolved"
DEPENDS = "depends"  # on a parameter that the paper leaves open; the remark says which values
VERDICTS = (REPRODUCED, DEPENDS, DIFFERS, NOT_REPRODUCED, NOT_RESOLVED)

ICRA2005 = "Hong et al., Effective constrained dynamic simulation using implicit constraint enforcement, ICRA 2005"
HWC2005 = (
    "Hong, Welch and Choi, Intuitive control of dynamic simulation using improved implicit constraint enforcement, 2005"
)
HONG2008 = "Hong et al., Enhanced second-order implicit constraint enforcement for dynamic simulations, 2008"
JONQUET2008 = "Jonquet, Nocent and Remion, The art to keep in touch: The good use of Lagrange multipliers, JVRB 2008"
COL865 = "COL865 Physics-based animation, slides 7: Constrained dynamics"

RESOLUTION = 100.0  # an error must be this many times the reference's own to be judged


@dataclass(frozen=True)
class Claim:
    """What a paper says, and what came out."""

    name: str  # short and stable
    text: str  # the claim in our own words
    section: str  # where the paper makes it
    inequality: str  # the claim as something that can fail
    value: str  # what was measured
    verdict: str
    remark: str = ""  # why not, by how much, or what the verdict depends on


@dataclass(frozen=True)
class Figure:
    name: str  # such as icra2005-fig2
    title: str
    paper: str
    run: Callable[[bool], Any]
    check: Callable[[Any], list[Claim]]
    draw: Callable[[Any, Path], None]
    timed: bool = False  # measures time: it runs alone
    motion: Callable[[Any], Overlay] | None = None  # of what the picture shows of scenes, for the page


def judge(
    name: str,
    text: str,
    section: str,
    inequality: str,
    value: str,
    holds: bool,
    *,
    why: str = "",
    otherwise: str = NOT_REPRODUCED,
    note: str = "",
    doubt: str = "",
) -> Claim:
    """A claim with its verdict.

    holds      whether the inequality holds in the measured numbers
    why        the reason, or the amount, said where it does not
    otherwise  the verdict where it does not hold: not reproduced, or differs (by the amount in why)
    note       said in any case
    doubt      why the numbers can not be judged, if so
    """
    if doubt:
        return Claim(name, text, section, inequality, value, NOT_RESOLVED, doubt)
    parts = [note] if holds else [why or f"measured {value}", note]
    remark = "; ".join(part for part in parts if part)
    return Claim(name, text, section, inequality, value, REPRODUCED if holds else otherwise, remark)


def unresolved(judged: float, own: float) -> str:
    """Why the smallest error judged can not be told from the reference's own error, if so."""
    if judged >= RESOLUTION * own:
        return ""
    return f"the error judged is {number(judged)}, the reference's own {number(own)}"


def judge_varied(
    name: str, text: str, section: str, inequality: str, open_: str, tried: dict[str, tuple[str, bool]], note: str = "",
    doubt: str = "",
) -> Claim:
    """A claim about something that the paper leaves open.

    open_  what is open, such as "length"
    tried  value of it -> what was measured there, and whether the inequality holds
    note   said in any case
    doubt  why the numbers can not be judged, if so
    """
    value = "; ".join(f"{measured} ({at})" for at, (measured, _) in tried.items())
    yes = [at for at, (_, holds) in tried.items() if holds]
    no = [at for at in tried if at not in yes]
    verdict = DEPENDS if yes and no else (REPRODUCED if yes else NOT_REPRODUCED)
    if doubt:
        return Claim(name, text, section, inequality, value, NOT_RESOLVED, doubt)
    if yes and no:
        dependence = f"depends on {open_}: yes with {', '.join(yes)}; no with {', '.join(no)}"
    else:
        dependence = f"with every {open_} tried" if yes else f"with no {open_} tried"
    notes = "; ".join(part for part in (dependence, note) if part)
    return Claim(name, text, section, inequality, value, verdict, notes)


def number(value: float, unit: str = "") -> str:
    """Three digits, as a person would write them."""
    value = float(value)
    if not isfinite(value):
        text = "not finite"
    elif value == 0.0 or 1e-3 <= abs(value) < 1e5:
        text = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    else:
        mantissa, exponent = f"{value:.2e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return f"{text} {unit}" if unit else text
