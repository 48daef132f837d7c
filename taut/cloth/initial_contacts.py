"""A look at contacts where a run starts, for Python."""

from __future__ import annotations

from typing import Any

from ..compiled import entry
from ..methods.box import Boxed
from ..model.evaluate import set_time
from .baselines.common import Sheets
from .context import contents
from .external_contact import measure_rows


@entry
def look_at_solids(system, state, ineq, rows, radius, x):
    """φ and n of the rows of obstacles and balls at t = 0, with nodes at x."""
    t = 0.0
    set_time(system, t, state.x, state.quat, state.v)
    measure_rows(system, ineq, rows, radius, t, x, state.quat, state.v)


def solids_in(par: Any) -> tuple | None:
    """Inequalities, rows and radii that a step's `par` holds; None: it knows no contacts."""
    if isinstance(par, Sheets):
        return par.solids.ineq, par.solids.rows, par.solids.radius
    if isinstance(par, Boxed):
        tables = contents(par)
        return tables.ineq, tables.net.solids, tables.net.radius
    return None
