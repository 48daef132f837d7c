"""What the rule of the active set did at each evaluation, for `run.log` and for `taut explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..model.model import Model

if TYPE_CHECKING:
    import pandas

    from ..contact.problem import ContactContext

ACTIONS = ("kept", "entered", "left", "kept out")


def log_table(model: Model, ctx: ContactContext) -> pandas.DataFrame | None:
    """Columns time [s], iteration, constraint, member (before), action, multiplier, slack (J dv/dt - d)."""
    log = ctx.events.log
    if not len(log.ints):
        return None
    import pandas

    count = min(int(log.filled[0]), len(log.ints))
    instant, iteration, row, member, action = log.ints[:count].T
    names = np.array([*model.inequality_names, "a pair of balls"], dtype=object)
    row = np.maximum(row, -1)
    return pandas.DataFrame({
        "time": ctx.events.instant_time[instant],
        "iteration": iteration,
        "constraint": names[row],
        "member": member == 1,
        "action": np.array(ACTIONS, dtype=object)[action],
        "multiplier": log.numbers[:count, 0],
        "slack": log.numbers[:count, 1],
    })
