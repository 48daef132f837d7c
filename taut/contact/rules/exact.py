"""The exact rule: all conditions of complementarity at once.

    λ ≥ 0,   w = Sλ + c ≥ 0,   λ·w = 0                                          (1)

Of redundant rows each takes its share (the smallest λ of all). How it is found: contact/qp.py.
"""

from __future__ import annotations

from ..qp import solve_qp
from .base import Rule

RULE = Rule(
    name="exact",
    doc="No row pulls, none is violated, and none pushes where there is a gap.",
    source="Karush, Kuhn and Tucker; Lawson and Hanson 1974",
    choose=solve_qp,  # (1)
)
