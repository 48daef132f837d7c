"""A scalar function of time with its first two derivatives.

Users write a number, a formula in t, keyframes or a Python function; from here on all of them are a
Signal. Keyframes are a cubic spline at rest at both ends (smooth) or straight lines, and constant
outside their range.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.errors import TautError, shown
from taut.expressions import formula
from taut.expressions.inspection import check_function_of_time


@dataclass(frozen=True)
class Keyframes:
    """Values [any unit] at increasing times [s]."""

    times: tuple[float, ...]
    values: tuple[float, ...]
    smooth: bool = True

    def polynomials(self) -> np.ndarray:
        """Coefficients per interval, highest power of (t - its start) first, shape (n - 1, 4)."""
        times, values = np.array(self.times), np.array(self.values)
        if self.smooth:
            from scipy.interpolate import CubicSpline

            with np.errstate(all="ignore"):
                coefficients = np.ascontiguousarray(CubicSpline(times, values, bc_type="clamped").c.T)
        else:
            coefficients = np.zeros((len(times) - 1, 4))
            with np.errstate(all="ignore"):
                coefficients[:, 2] = np.diff(values) / np.diff(times)
            coefficients[:, 3] = values[:-1]
        if not np.isfinite(coefficients).all():
            raise TautError(f"keyframes at {shown(self.times)} s with the values {shown(self.values)} are too steep "
                            "for a float; give times further apart, or smaller values")
        return coefficients


@dataclass(frozen=True)
class Signal:
    """One of: a float, the text of a formula in t, Keyframes, a Python function f(t)."""

    source: float | str | Keyframes | Callable[[float], float]

    @classmethod
    def of(cls, value: Any, what: str = "") -> Signal:
        """The Signal that `value` describes; `what` names it in error messages."""
        where = f"{what}: " if what else ""
        match value:
            case Signal():
                return value
            case bool():
                pass
            case numbers.Real():
                return cls(_finite(float(value), where))
            case str():
                try:
                    known = formula.check(value, ("t",))
                except TautError as mistake:
                    raise TautError(f"{where}{mistake}") from None
                return cls(value) if known is None else cls(known)
            case Keyframes():
                return cls(_keyframes(value.times, value.values, value.smooth, where))
            case Mapping():
                return cls(_from_mapping(value, where))
            case _ if callable(value):
                check_function_of_time(value, where)
                return cls(value)
        raise TautError(
            f"{where}{shown(value)} is not a function of time; give a number, a formula in t such as "
            "'0.1*sin(10*t)', keyframes {times: [...], values: [...]} or a Python function f(t)"
        )

    @property
    def is_constant(self) -> bool:
        return isinstance(self.source, float)

    @property
    def value(self) -> float:
        """The number, for constants only."""
        if not isinstance(self.source, float):
            raise TautError(f"{shown(self.source)} changes with time and has no single value; use .at(t)")
        return self.source

    def at(self, t: float) -> tuple[float, float, float]:
        """Value, first and second derivative at t, from the compiled code that a run uses."""
        if isinstance(self.source, float):
            return self.source, 0.0, 0.0
        from taut.expressions import call, codegen

        out = np.empty(3)
        call.call_signal(codegen.signal_address(self), float(t), out, 0)
        return float(out[0]), float(out[1]), float(out[2])

    def plain(self) -> float | str | dict[str, Any]:
        """What a scene file holds; `Signal.of` turns it back into an equal Signal."""
        match self.source:
            case float() | str():
                return self.source
            case Keyframes(times, values, smooth):
                return {"times": list(times), "values": list(values), "smooth": smooth}
        raise TautError(
            f"the Python function {shown(getattr(self.source, '__name__', self.source))} can not be written to a "
            "scene file; use a formula or keyframes"
        )


def _finite(number: float, where: str) -> float:
    if not math.isfinite(number):
        raise TautError(f"{where}{number} is not a finite number; give one")
    return number


def _from_mapping(value: Mapping, where: str) -> Keyframes:
    extra = set(value) - {"times", "values", "smooth"}
    if extra or not {"times", "values"} <= set(value):
        raise TautError(
            f"{where}keyframes have the keys 'times', 'values' and optionally 'smooth', not {shown(list(value))}"
        )
    smooth = value.get("smooth", True)
    if not isinstance(smooth, bool):
        raise TautError(f"{where}smooth is {shown(smooth)}; write true (spline) or false (straight lines)")
    return _keyframes(value["times"], value["values"], smooth, where)


def _keyframes(times: Any, values: Any, smooth: bool, where: str) -> Keyframes:
    try:
        moments = tuple(float(number) for number in times)
        heights = tuple(float(number) for number in values)
    except OverflowError:
        raise TautError(f"{where}keyframes have the times {shown(times)} and the values {shown(values)}, of which one "
                        "is too large for a float") from None
    except (TypeError, ValueError):
        raise TautError(f"{where}keyframes need two lists of numbers: times and values") from None
    if len(moments) != len(heights) or len(moments) < 2:
        raise TautError(
            f"{where}{len(moments)} times and {len(heights)} values; give as many of each, at least 2"
        )
    for number in (*moments, *heights):
        _finite(number, where + "keyframes: ")
    for earlier, later in zip(moments, moments[1:]):
        if not earlier < later:
            raise TautError(f"{where}keyframe times must increase, but {later:g} follows {earlier:g}")
    return Keyframes(moments, heights, smooth)
