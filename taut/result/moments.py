"""Moments between records: where a recorded quantity passes a level, and where it is largest or smallest.

Between two records a quantity is the polynomial through the records about them and, where they are known, its rates
there: of degree three with two records, of degree seven with four, so that moments are found to the accuracy of the
records. Where a run has events (impacts), which break rates, only the two records around a moment count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TautError, shown

if TYPE_CHECKING:
    import pandas

LOOKS = 24  # places between two records at which a sign is looked at


def _numbers(quantity: Any, count: int, what: str) -> np.ndarray:
    values = np.asarray(quantity, float)
    if values.shape != (count,):
        raise TautError(f"{what} has the shape {values.shape}; give one number per record, ({count},), such as "
                        'run["pin"].angle or run["rod"].position.sel(xyz="y").')
    return values


class Curve:
    """A quantity between its records."""

    def __init__(self, time: np.ndarray, values: np.ndarray, rates: np.ndarray | None, beside: int) -> None:
        self.time, self.values, self.rates, self.beside = time, values, rates, beside

    def between(self, k: int) -> Any:
        """The polynomial from record k to k + 1, as a function of the time since record k."""
        from scipy.interpolate import KroghInterpolator

        count = 2 * self.beside if self.rates is not None else 4 * self.beside
        count = min(count, len(self.time))
        first = min(max(k + 1 - count // 2, 0), len(self.time) - count)
        near = slice(first, first + count)
        t, x = self.time[near] - self.time[k], self.values[near]
        if self.rates is not None:
            t, x = np.repeat(t, 2), np.column_stack([x, self.rates[near]]).ravel()
        return KroghInterpolator(t, x)


def _roots(function: Any, length: float) -> list[float]:
    from scipy.optimize import brentq

    t = np.linspace(0.0, length, LOOKS + 1)
    y = np.asarray(function(t), float)
    found = []
    for i in range(LOOKS):
        if y[i] == 0.0:
            found.append(float(t[i]))
        elif y[i] * y[i + 1] < 0.0:
            found.append(float(brentq(lambda s: float(function(s)), t[i], t[i + 1], xtol=1e-15 * max(1.0, length))))
    return found


def _curve(time: np.ndarray, quantity: Any, rate: Any, smooth: bool) -> Curve:
    values = _numbers(quantity, len(time), "the quantity")
    rates = None if rate is None else _numbers(rate, len(time), "its rate")
    if len(time) < 2:
        raise TautError(f"the run has {len(time)} record; moments between records need two.")
    return Curve(time, values, rates, 2 if smooth else 1)


def crossings(time: np.ndarray, quantity: Any, level: float, rate: Any, smooth: bool) -> pandas.DataFrame:
    """Columns time [s] and direction ("rising" or "falling")."""
    import pandas

    if not np.isfinite(level):
        raise TautError(f"level is {shown(level)}; give a finite number.")
    curve = _curve(time, quantity, rate, smooth)
    above = curve.values - level
    # A whole bow between two records is seen where rates are known: it leaves towards the level and comes back.
    found = []
    for k in range(len(time) - 1):
        turns = curve.rates is not None and above[k] * curve.rates[k] < 0.0 < above[k + 1] * curve.rates[k + 1]
        if above[k] * above[k + 1] <= 0.0 or turns:
            shape = curve.between(k)
            for root in _roots(lambda s, shape=shape: shape(s) - level, float(time[k + 1] - time[k])):
                slope = float(shape.derivative(root))
                found.append((float(time[k]) + root, "rising" if slope >= 0.0 else "falling"))
    if above[-1] == 0.0 and above[-2] != 0.0:
        found.append((float(time[-1]), "rising" if above[-2] < 0.0 else "falling"))
    return pandas.DataFrame(found, columns=["time", "direction"])


def extremes(time: np.ndarray, quantity: Any, rate: Any, smooth: bool) -> pandas.DataFrame:
    """Columns time [s], value and kind ("maximum" or "minimum") of local extremes inside the run."""
    import pandas

    curve = _curve(time, quantity, rate, smooth)
    found: list[tuple[float, float, str]] = []
    edge = 1e-6 * float(time[1] - time[0])  # a motion that starts at rest has no extreme there
    for k in range(len(time) - 1):
        shape = curve.between(k)
        for root in _roots(shape.derivative, float(time[k + 1] - time[k])):
            kind = "maximum" if float(shape.derivative(root, 2)) < 0.0 else "minimum"
            at = float(time[k]) + root
            if at - time[0] > edge and time[-1] - at > edge:
                found.append((at, float(shape(root)), kind))
    return pandas.DataFrame(found, columns=["time", "value", "kind"])
