"""What the tests share: a silent run that must reach its end, and the fit of an order."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import taut


@pytest.fixture(scope="session")
def simulate():
    """simulate(scene, method, dt, duration, **options) -> Run"""

    def run(scene: taut.Scene, method: str, dt: float, duration: float, **options: Any) -> taut.Run:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", taut.TautWarning)
            found = taut.simulate(scene, method=method, dt=dt, duration=duration, progress=False, **options)
        assert found.status == "finished", f"{scene.name} with {method}: {found.message}"
        assert np.isfinite(found.records.lam).all(), f"{scene.name} with {method}: λ is not finite"
        return found

    return run


@pytest.fixture(scope="session")
def slope():
    """slope(steps, errors): the exponent p of errors ~ steps^p, fitted to all of them."""
    return lambda steps, errors: float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
