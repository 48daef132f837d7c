"""What gallery scenes share: checks of their parameters and hanging chains of bodies."""

from __future__ import annotations

from math import cos, sin
from typing import Any

from ... import limits
from ...errors import TautError, shown
from .. import checks


def size(name: str, value: Any) -> float:
    """A parameter that must be positive."""
    return checks.positive(value, f"parameter {name}")


def real(name: str, value: Any) -> float:
    """A parameter that may be any number."""
    return checks.number(value, f"parameter {name}")


def count(name: str, value: Any, least: int = 1, limit: str | None = "nodes") -> int:
    """A parameter that counts things, of which there are at most as many as limits.py says."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise TautError(f"parameter {name} is {shown(value)}; give a whole number from {least}.")
    if limit is not None:
        limits.check(limit, value, f"a scene with {name} = {shown(value)}")
    return value


def hanging(angle: float, length: float = 1.0) -> tuple[float, float, float]:
    """A vector at an angle from the downward vertical towards +x, with exact zeros at right angles."""
    across, down = sin(angle), cos(angle)
    across, down = (0.0 if abs(part) < 1e-15 else part for part in (across, down))
    return length * across, 0.0 - length * down, 0.0
