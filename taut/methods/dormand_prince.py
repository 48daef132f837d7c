"""Dormand and Prince's formulas of order 8 with error control, for any method that follows y' = f(y, t).

    y' = y + h Σ b_i k_i,   k_i = f(y + h Σ a_ij k_j, t + c_i h)                (1)
    error = h e5² / √(n (e5² + 0.01 e3²)), e5 and e3 scaled embedded estimates  (2)
    next step = 0.9 h error^{-1/8}, within 0.2 h and 8 h                        (3)

Coefficients: scipy.integrate.DOP853, after Hairer, Nørsett and Wanner 1993.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.integrate import DOP853

from ..compiled import inline

STAGES = 12
A = np.ascontiguousarray(DOP853.A[:STAGES, :STAGES])
B = np.ascontiguousarray(DOP853.B)
C = np.ascontiguousarray(DOP853.C[:STAGES])
E3 = np.ascontiguousarray(DOP853.E3[:STAGES])
E5 = np.ascontiguousarray(DOP853.E5[:STAGES])


@inline
def combine(y, h, weights, count, slopes, out):
    """out = y + h Σ weights_j slopes_j."""
    for i in range(y.shape[0]):
        for c in range(y.shape[1]):
            total = 0.0
            for j in range(count):
                total += weights[j] * slopes[j, i, c]
            out[i, c] = y[i, c] + h * total  # (1)


@inline
def error_part(y, new, slopes, rows, tolerance):
    """Sums of squares of the two scaled error estimates."""
    e3 = e5 = 0.0
    for i in range(rows):
        for c in range(y.shape[1]):
            scale = tolerance * (1.0 + max(abs(y[i, c]), abs(new[i, c])))
            s3 = s5 = 0.0
            for j in range(STAGES):
                s3 += E3[j] * slopes[j, i, c]
                s5 += E5[j] * slopes[j, i, c]
            e3 += (s3 / scale) ** 2
            e5 += (s5 / scale) ** 2
    return e3, e5


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
def size_after_failure(error, used):
    if error < 1e300:
        return used * max(0.2, 0.9 * error ** (-1.0 / 8.0))  # (3)
    return 0.2 * used
