"""Rows of obstacles and balls at given positions."""

from __future__ import annotations

from ..compiled import compiled, inline
from ..model.evaluate import inequalities_at
from .constraint_errors import measure_balls
from .context import NOTHING, NUMBER, TABLE, far, open_box
from .rigid_coupling import set_lever


@inline
def measure_rows(system, ineq, rows, radius, t, x, quat, v):
    """φ and n of the rows of inequalities and balls at x; the time is set."""
    count = ineq.phi.shape[0]
    if count > 0:
        second = False
        inequalities_at(system, ineq, t, x, quat, v, second)
        for r in range(count):
            k = ineq.rows.ptr[r]
            sign = ineq.sign[r]
            rows.phi[r] = -sign * ineq.phi[r] - rows.allowed[r]
            for c in range(3):
                rows.n[r, c] = sign * ineq.J[k, c]
    measure_balls(rows, count, radius, x)


@far(NOTHING, NUMBER, TABLE)
@compiled
def measure_solids(box, t, x):
    """φ and n of all rows of obstacles and balls at x; the time is set."""
    system, state, par = open_box(box)
    rows, places = par.net.solids, system.places
    measure_rows(system, par.ineq, rows, par.net.radius, t, x, state.quat, state.v)
    for r in range(par.ineq.phi.shape[0]):
        if rows.spin[r] >= 0:
            at, weight = rows.place[r], rows.weight[r, rows.which[r]]
            set_lever(rows.lever, r, par.net.spins.middle, places.body[at], places.arm, at, weight)
