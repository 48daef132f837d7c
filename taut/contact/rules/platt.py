"""Platt's rule (Algorithm 1 of Jonquet 2008), after Platt 1992.

The rows of the set F⁺ are enforced as equalities. At the end of the step

    a row of F⁺ with λ ≤ 0 leaves,
    a row outside it with Φ < 0 enters.

A run starts with all active rows in F⁺. Two rows of a corner can both have λ < 0 although one of them is
needed; both leave, and the next step goes through the wall.
"""

from __future__ import annotations

from .base import VIOLATED, Rule, solve_as_equalities

RULE = Rule(
    name="platt",
    doc="Hold a set of rows; after the step those with λ ≤ 0 leave it and those with Φ < 0 enter.",
    source="Platt 1992; Jonquet 2008, Algorithm 1",
    choose=solve_as_equalities,
    enters=VIOLATED,
)
