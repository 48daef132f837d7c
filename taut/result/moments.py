"""Moments between records: where a quantity passes a level, and where it is largest or smallest.

Between two records a quantity is the polynomial through the records about them and, where they are known, its rates
there: of degree three with two records, of degree seven with four, so that moments are found to the accuracy of the
records. Where a run has events (impacts), which break rates, only the two records around a moment count.

Of a `reference` run the motion between records is known as well (Run.dense). A quantity that is asked for by name
(recipes.py) is looked at in each of its internal steps, and each moment again in the polynomial through places closely
around it, so that moments have the accuracy of the run however far apart its records are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TautError, shown
from ..scene.checks import called, number
from .recipes import Recipe, recipe_of

if TYPE_CHECKING:
    import pandas

    from .run import Run

LOOKS = 24  # places between two records at which a sign is looked at
PER_STEP = 3  # times in each internal step of `reference`, on average,
MOST = 100_000  # at which a quantity is looked at, and at most so many
AROUND = np.linspace(-1.0, 1.0, 9)  # where it is looked at around a moment, of the distance of such times,
CLOSER = (1.0, 0.2)  # and then of this much of it


def _numbers(quantity: Any, count: int, what: str) -> np.ndarray:
    try:
        values = np.asarray(quantity, float)
    except (TypeError, ValueError):
        raise TautError(f"{what} is {shown(quantity)}; give one number per record, such as run[\"pin\"].angle, or a "
                        "function that finds it in a run.") from None
    if values.shape != (count,):
        raise TautError(f"{what} has the shape {values.shape}; give one number per record, ({count},), such as "
                        'run["pin"].angle or run["rod"].position.sel(xyz="y").')
    return values


class Curve:
    """A quantity between its records."""

    def __init__(self, time: np.ndarray, values: np.ndarray, rates: np.ndarray | None, beside: int) -> None:
        self.time, self.values, self.rates, self.beside = time, values, rates, beside
        if len(time) < 2:
            raise TautError(f"the run has {len(time)} record; moments between records need two.")

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

    def suspects(self) -> list[int]:
        """Numbers of the records after which an extreme may come."""
        return list(range(len(self.time) - 1))

    def nearer(self, moments: np.ndarray, derivative: int, level: float) -> np.ndarray:
        """The moments, as far as the curve itself can tell them."""
        return moments


class DenseCurve(Curve):
    """A quantity of a `reference` run at more times than were recorded."""

    def __init__(self, run: Run, recipe: Recipe) -> None:
        self.run, self.recipe = run, recipe
        known = np.asarray(run.records.time)
        steps = PER_STEP * int(run.info.get("corrections", 0)) / max(len(known) - 1, 1)
        parts = int(max(4, min(np.ceil(steps), MOST / len(known))))
        time = np.append((known[:-1, None] + np.diff(known)[:, None] * np.arange(parts) / parts).ravel(), known[-1])
        self.spacing = float(np.diff(time).max(initial=0.0))
        super().__init__(time, self.at(time), None, 2)

    def at(self, time: np.ndarray) -> np.ndarray:
        return _numbers(self.recipe(self.run.dense(time)), len(time), "the quantity")

    def suspects(self) -> list[int]:
        """Where the values turn, which are close to each other, and both ends, where that is not seen."""
        change = np.diff(self.values)
        turn = np.flatnonzero((change[:-1] * change[1:] <= 0.0) & (change[:-1] != change[1:]))
        return sorted({0, len(change) - 1, *turn.tolist(), *(turn + 1).tolist()})

    def nearer(self, moments: np.ndarray, derivative: int, level: float) -> np.ndarray:
        """Where the quantity, less the level, or its derivative is zero, from places around each moment."""
        for closer in CLOSER if len(moments) else ():
            reach = closer * self.spacing
            centre = np.clip(moments, self.time[0] + reach, self.time[-1] - reach)
            time = np.clip(centre[:, None] + reach * AROUND, self.time[0], self.time[-1])
            at, back = np.unique(time, return_inverse=True)
            values = self.at(at)[back.reshape(time.shape)] - level
            near = zip(moments.tolist(), time, values)
            moments = np.array([_root_near(moment, t, y, derivative) for moment, t, y in near])
        return moments


def _root_near(moment: float, time: np.ndarray, values: np.ndarray, derivative: int) -> float:
    """By Newton's method in the polynomial through the values; it keeps to where it knows them."""
    from scipy.interpolate import KroghInterpolator

    shape = KroghInterpolator(time - moment, values)
    low, high, s = time[0] - moment, time[-1] - moment, 0.0
    for _ in range(8):
        y, slope = float(shape.derivative(s, derivative)), float(shape.derivative(s, derivative + 1))
        if slope == 0.0:
            break
        s = min(max(s - y / slope, low), high)
    return moment + s


def curve_of(run: Run, quantity: Any, rate: Any, is_dense: bool) -> Curve:
    """A quantity of a run between its records."""
    recipe = recipe_of(run, quantity)
    if recipe is not None and is_dense and len(run.records.time) > 1:
        return DenseCurve(run, recipe)
    time = np.asarray(run.records.time)
    what = "the quantity"
    values = _numbers(called(quantity, what, run) if callable(quantity) else quantity, len(time), what)
    rates = None if rate is None else _numbers(rate, len(time), "its rate")
    return Curve(time, values, rates, 1 if len(run._events) else 2)


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


def crossings(curve: Curve, level: float) -> pandas.DataFrame:
    """Columns time [s] and direction ("rising" or "falling")."""
    import pandas

    level = number(level, "level")
    time = curve.time
    above = curve.values - level
    # A whole bow between two records is seen where rates are known: it leaves towards the level and comes back.
    rows = []
    for k in range(len(time) - 1):
        turns = curve.rates is not None and above[k] * curve.rates[k] < 0.0 < above[k + 1] * curve.rates[k + 1]
        if above[k] * above[k + 1] <= 0.0 or turns:
            shape = curve.between(k)
            for root in _roots(lambda s, shape=shape: shape(s) - level, float(time[k + 1] - time[k])):
                slope = float(shape.derivative(root))
                rows.append((float(time[k]) + root, "rising" if slope >= 0.0 else "falling"))
    if above[-1] == 0.0 and above[-2] != 0.0:
        rows.append((float(time[-1]), "rising" if above[-2] < 0.0 else "falling"))
    table = pandas.DataFrame(rows, columns=["time", "direction"])
    table["time"] = curve.nearer(table.time.to_numpy(float), 0, level)
    return table


def extremes(curve: Curve) -> pandas.DataFrame:
    """Columns time [s], value and kind ("maximum" or "minimum") of local extremes inside the run."""
    import pandas

    time = curve.time
    rows: list[tuple[float, float, str]] = []
    edge = 1e-6 * float(time[1] - time[0])  # a motion that starts at rest has no extreme there
    for k in curve.suspects():
        shape = curve.between(k)
        for root in _roots(shape.derivative, float(time[k + 1] - time[k])):
            kind = "maximum" if float(shape.derivative(root, 2)) < 0.0 else "minimum"
            at = float(time[k]) + root
            if at - time[0] > edge and time[-1] - at > edge:
                rows.append((at, float(shape(root)), kind))
    table = pandas.DataFrame(rows, columns=["time", "value", "kind"])
    if isinstance(curve, DenseCurve) and len(table):
        table["time"] = curve.nearer(table.time.to_numpy(float), 1, 0.0)
        table["value"] = curve.at(table.time.to_numpy(float))
    return table
