"""Dormand and Prince's formulas of order 8 with error control, for any method that follows y' = f(y, t).

    y' = y + h Σ b_i k_i,   k_i = f(y + h Σ a_ij k_j, t + c_i h)                (1)
    error = h e5² / √(n (e5² + 0.01 e3²)), e5 and e3 scaled embedded estimates  (2)
    next step = 0.9 h error^{-1/8}, within 0.2 h and 8 h                        (3)
    first step = (0.01 / max(|f|, |f(y + h₀ f) - f|/h₀))^{1/8}, at most 100 h₀   (4)
    h₀ = 0.01 |y| / |f|, norms scaled by the error allowed

Coefficients: scipy.integrate.DOP853, after Hairer, Nørsett and Wanner 1993.
"""

from __future__ import annotations

import runpy
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from ..compiled import inline
from .slope_kernels import add_weighted, scaled_squares


def _coefficients() -> dict[str, Any]:
    """scipy's table. It is a file of numbers; the package around it takes a quarter of a second to import, so that
    all of it is imported only by a scipy that keeps the table elsewhere."""
    scipy = find_spec("scipy")
    table = Path(str(scipy.origin)).parent / "integrate" / "_ivp" / "dop853_coefficients.py" if scipy else Path()
    if table.is_file():
        return runpy.run_path(str(table))
    from scipy.integrate import DOP853

    return vars(DOP853)


STAGES = 12
_table = _coefficients()
A = np.ascontiguousarray(_table["A"][:STAGES, :STAGES])
B = np.ascontiguousarray(_table["B"])
C = np.ascontiguousarray(_table["C"][:STAGES])
E3 = np.ascontiguousarray(_table["E3"][:STAGES])
E5 = np.ascontiguousarray(_table["E5"][:STAGES])


@inline
def combine(y, h, weights, count, rows, slopes, out):
    """out = y + h Σ weights_j slopes_j, of that many rows."""
    add_weighted(y, h, weights, count, rows, slopes, out)  # (1)


@inline
def error_part(y, new, slopes, rows, tolerance):
    """Sums of squares of the two scaled error estimates."""
    return scaled_squares(y, new, E3, E5, STAGES, rows, slopes, tolerance)


@inline
def scaled_error(h, e3, e5, count):
    """Below one: the step is good enough."""
    if e5 == 0.0 and e3 == 0.0:
        return 0.0
    return abs(h) * e5 / sqrt((e5 + 0.01 * e3) * count)  # (2)


@inline
def size_after_success(error, used, size, last):
    """The step to try next; one that was cut to end at a record says little about the step possible."""
    growth = 8.0 if error == 0.0 else min(8.0, 0.9 * error ** (-1.0 / 8.0))  # (3)
    if not last or growth < 1.0 or used * growth > size:
        return used * growth
    return size


@inline
def sum_of_squares(y, f, rows, tolerance):
    """Of f, scaled by the error that y is allowed."""
    total = 0.0
    for i in range(rows):
        for c in range(y.shape[1]):
            total += (f[i, c] / (tolerance * (1.0 + abs(y[i, c])))) ** 2
    return total


@inline
def size_to_probe(size, speed):
    """h₀ of (4) from the norms of y and f; y may be 0, as of a body at rest in the origin."""
    return min(max(0.01 * size / speed, 1e-6), 1.0) if speed > 1e-5 * size else 1e-2


@inline
def size_to_begin(probe, speed, change):
    """(4) from the norms of f and of its change over h₀."""
    fastest = max(speed, change / probe)
    return min(100.0 * probe, (0.01 / fastest) ** (1.0 / 8.0) if fastest > 1e-15 else 1.0)


@inline
def size_after_failure(error, used):
    if error < 1e300:
        return used * max(0.2, 0.9 * error ** (-1.0 / 8.0))  # (3)
    return 0.2 * used
