"""A look at contacts where a run starts, for Python."""

from __future__ import annotations

from ...jit import kernel
from ...model.evaluate import set_time
from .solids import measure_solids


@kernel
def look_at_solids(system, state, box, x):
    """φ and n of the rows of obstacles and balls at t = 0, with nodes at x."""
    t = 0.0
    set_time(system, t, state.x, state.quat, state.v)
    measure_solids((box, t, x))
