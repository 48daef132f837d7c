"""A few hundred of the random mechanisms of fuzzing/physics.py: each run is right, or has said that it is not."""

from __future__ import annotations

import pytest
from fuzzing.physics import METHOD_NAMES, judged, random_case

SEEDS = range(200)


@pytest.mark.parametrize("method", METHOD_NAMES)
def test_a_finished_run_agrees_with_the_reference(method):
    seeds = [seed for seed in SEEDS if random_case(seed).method == method]
    faults = [f"seed {seed}: {fault}" for seed in seeds for fault in [judged(seed)[1]] if fault]
    assert seeds and not faults, "\n".join(faults)
