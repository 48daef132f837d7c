"""Platt's rule with the tendency to violate (Algorithm 2 of Jonquet 2008).

The rows of the set F⁺ are enforced as equalities. At the end of the step

    a row of F⁺ with λ ≤ 0 leaves,
    a row outside it with w = J v̇ - d < 0 enters.

A run starts with the active rows whose w is negative when nothing is enforced. A row that is driven into
violation by the force of another is noticed one step too late.
"""

from __future__ import annotations

from .base import TENDING, Rule, solve_as_equalities

RULE = Rule(
    name="platt_improved",
    doc="Hold a set of rows; after the step those with λ ≤ 0 leave it and those that tend to be violated enter.",
    source="Jonquet 2008, Algorithm 2",
    choose=solve_as_equalities,
    enters=TENDING,
)
