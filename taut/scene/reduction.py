"""Positions as formulas of a few coordinates, checked: what Scene.reduced takes and the method `reduced` uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import TautError, chosen, shown
from ..expressions.formula import check as check_formula
from . import checks
from .specs import Body, BodyRef, ReducedMap


def read_reduced(
    bodies: Mapping[str, Body], coordinates: Mapping[str, Any], positions: Mapping[str, Any]
) -> ReducedMap:
    """The map from coordinates (name -> value, or (value, rate)) to positions (body -> three formulas)."""
    known: list[tuple[str, float, float]] = []
    for name, start in coordinates.items():
        what = f"reduced coordinate {shown(name)}"
        if not isinstance(name, str) or not name.isidentifier() or name == "t":
            raise TautError(f"{what} can not be used in a formula; choose one word, not t.")
        pair = checks.numbers(start, what) if hasattr(start, "__len__") else (start, 0.0)
        if len(pair) != 2:
            raise TautError(f"{what} is {shown(start)}; give its value, or (value, rate).")
        known.append((str(name), checks.number(pair[0], what), checks.number(pair[1], f"{what}: rate")))
    symbols = [entry[0] for entry in known] + ["t"]
    formulas: dict[str, tuple[str, str, str]] = {}
    for body, texts in positions.items():
        body = body.name if isinstance(body, BodyRef) else body
        chosen("body in reduced positions", body, bodies)
        what = f"reduced position of '{body}'"
        three = checks.texts(texts, what)
        if len(three) != 3:
            raise TautError(f"{what} is {shown(texts)}; give three formulas (x, y, z).")
        for text in three:
            try:
                check_formula(text, symbols)
            except TautError as mistake:
                raise TautError(f"{what}: {mistake}") from None
        formulas[body] = (three[0], three[1], three[2])
    if not known or not formulas:
        raise TautError("reduced needs at least one coordinate and the position of one body.")
    return ReducedMap(tuple(known), formulas)
