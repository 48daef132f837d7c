"""Placeholders in the templates of switching.py and dry_friction.py, which take steps on trial.

`specialise` (compiled/decorators.py) puts each method's own functions in their place (loop.py).
"""

from __future__ import annotations

from ..compiled import inline


def step(system, state, t, h, context):
    """The method's step."""
    raise NotImplementedError


@inline
def events_so_far(context):
    """How many events a step has recorded; here of a method that records none."""
    return 0, 0, 0


@inline
def forget_events(context, so_far):
    """Remove the events that trial steps have recorded since `so_far`."""
