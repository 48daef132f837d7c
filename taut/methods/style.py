"""How each method looks in every picture: plots, report and viewer.

Colours are from the palettes of Okabe and Ito and of Paul Tol, made to be told apart with colour-blind eyes.
Families share a tone (implicit: blue, RATTLE: green), and dashes and markers tell all methods apart where
colour alone does not.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

SOLID, DASHED, DOTTED, DASHDOT = (), (5.0, 2.0), (1.2, 1.6), (6.0, 1.8, 1.2, 1.8)
_OTHERS = ("#6699CC", "#888888", "#DDCC77", "#CC6677", "#BBBBBB")


class Style(NamedTuple):
    color: str
    dash: tuple[float, ...]  # lengths on and off, in line widths; () is a full line
    marker: str  # as matplotlib names them


def style_of_stranger(name: str) -> Style:
    """The style of what declares none, such as a method of another version: the same each time."""
    number = crc32(name.encode())
    return Style(_OTHERS[number % len(_OTHERS)], (DASHED, DOTTED, DASHDOT)[number % 3], "o")
