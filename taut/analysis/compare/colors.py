"""How each method looks in every picture: plots, report and viewer.

Colours are from the palettes of Okabe and Ito and of Paul Tol, made to be told apart with colour-blind eyes.
Families share a tone (implicit: blue, RATTLE: green), and dashes and markers tell all methods apart where
colour alone does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32


@dataclass(frozen=True)
class Look:
    color: str
    dash: tuple[float, ...]  # lengths on and off, in line widths; () is a full line
    marker: str  # as matplotlib names them


FULL, DASHED, DOTTED, DASHDOT = (), (5.0, 2.0), (1.2, 1.6), (6.0, 1.8, 1.2, 1.8)

LOOKS: dict[str, Look] = {
    "lagrange": Look("#999933", DOTTED, "v"),
    "baumgarte": Look("#E69F00", FULL, "^"),
    "post_stabilization": Look("#D55E00", DASHED, "s"),
    "penalty": Look("#CC79A7", DASHDOT, "P"),
    "implicit_first": Look("#56B4E9", FULL, "o"),
    "implicit_improved": Look("#0072B2", DASHED, "D"),
    "implicit_second": Look("#332288", FULL, "p"),
    "fast_projection": Look("#882255", DOTTED, "X"),
    "rattle": Look("#009E73", FULL, "h"),
    "rattle_fourth": Look("#117733", DASHED, "*"),
    "reduced": Look("#777777", DASHED, "d"),
    "reference": Look("#000000", DASHED, "."),
    "xpbd": Look("#AA4499", FULL, "<"),
    "provot": Look("#661100", DASHDOT, ">"),
    "implicit_euler": Look("#44AA99", DASHED, "H"),
}
_OTHERS = ("#6699CC", "#888888", "#DDCC77", "#CC6677", "#BBBBBB")

METHOD_COLORS: dict[str, str] = {name: look.color for name, look in LOOKS.items()}


def look(method: str) -> Look:
    """The look of a method; one that is not listed gets the same look each time."""
    if method in LOOKS:
        return LOOKS[method]
    number = crc32(method.encode())
    return Look(_OTHERS[number % len(_OTHERS)], (DASHED, DOTTED, DASHDOT)[number % 3], "o")
