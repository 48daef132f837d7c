"""Methods that choose their steps themselves: the error falls with their order in the number of steps they take."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from test_mechanisms import closed_loop, rheonomic
from test_velocity import chasing, rolling

from taut.compiled import entry
from taut.methods import METHODS
from taut.methods.slope_kernels import add_weighted, scaled_squares

ADAPTIVE = [name for name, method in METHODS.items() if method.adaptive]
# By order: seconds, for many steps after the first ones, and tolerances.
SPANS = {5: 1.0, 8: 3.0}
TOLERANCES = {5: (1e-5, 1e-6, 1e-7, 1e-8), 8: (1e-7, 1e-8, 1e-9, 1e-10)}


@pytest.fixture(scope="module")
def exact(simulate):
    @cache
    def reference(make, span):
        return simulate(make(), "reference", span, span, tolerance=1e-14).data.position.values[-1]

    return reference


@pytest.mark.parametrize("make", [closed_loop, rheonomic, chasing, rolling])
@pytest.mark.parametrize("name", ADAPTIVE)
def test_the_error_falls_with_the_order_in_the_number_of_steps(name, make, exact, simulate, slope):
    """Steps differ in length along the motion, and the first ones are found by trying: the slope is a rough one."""
    order = METHODS[name].order
    span = SPANS[order]
    runs = [simulate(make(), name, span, span, tolerance=tolerance) for tolerance in TOLERANCES[order]]
    steps = [run.info["corrections"] for run in runs]
    errors = [np.abs(run.data.position.values[-1] - exact(make, span)).max() for run in runs]
    fitted = slope(1 / np.array(steps), errors)
    assert 0.8 * order < fitted < 1.5 * order, f"order {fitted:.2f}, declared {order}: steps {steps}, errors {errors}"
    held = max(max(np.abs(run.records.phi).max(), np.abs(run.records.rate).max()) for run in runs)
    assert held < 1e-12, f"|Φ| and |Φ̇| up to {held:.3g}"


@entry
def sums_of_slopes(y, h, weights, rows, slopes, tolerance, out):
    add_weighted(y, h, weights, weights.shape[0], rows, slopes, out)
    return scaled_squares(y, out, weights, weights, weights.shape[0], rows, slopes, tolerance)


@pytest.mark.parametrize("shape", [(1, 3), (2, 4), (5, 3), (9, 3), (2, 17)])
def test_sums_of_slopes_are_those_of_numpy(shape):
    """Of some rows, however many numbers these have; what stands behind them is left alone."""
    rng = np.random.default_rng(0)
    rows, width = shape
    y, out = rng.normal(size=(rows + 2, width)), np.full((rows + 2, width), 7.0)
    slopes, weights = rng.normal(size=(6, rows + 1, width)), rng.normal(size=6)
    found = sums_of_slopes(y, 0.1, weights, rows, slopes, 1e-3, out)
    change = np.tensordot(weights, slopes[:, :rows], 1)
    new = y[:rows] + 0.1 * change
    squares = np.sum((change / (1e-3 * (1 + np.maximum(abs(y[:rows]), abs(new))))) ** 2)
    assert np.abs(out[:rows] - new).max() < 1e-14 and (out[rows:] == 7.0).all(), f"sums: {out}"
    assert np.abs(np.array(found) / squares - 1).max() < 1e-13, f"{found}, not {squares}"
