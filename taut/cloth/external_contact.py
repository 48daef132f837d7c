"""External contacts: φ and normals of nodes and balls against obstacles and balls, at given positions."""

from __future__ import annotations

from ..compiled import compiled, inline
from ..model.evaluate import inequalities_at
from .constraint_errors import evaluate_balls
from .rigid_coupling import set_lever


@inline
def evaluate_rows(system, ineq, rows, radius, t, x, quat, v):
    """φ and n of the rows of inequalities and balls at x; the time is set."""
    count = ineq.phi.shape[0]
    if count > 0:
        second = False
        inequalities_at(system, ineq, t, x, quat, v, second)
        for r in range(count):
            k = ineq.rows.ptr[r]
            sign = ineq.sign[r]
            rows.phi[r] = -sign * ineq.phi[r] - rows.depth_allowed[r]
            for c in range(3):
                rows.n[r, c] = sign * ineq.J[k, c]
    evaluate_balls(rows, count, radius, x)


@compiled
def evaluate_external(system, state, ctx, t, x):
    """φ and n of all rows of obstacles and balls at x; the time is set."""
    rows, places = ctx.external, system.places
    evaluate_rows(system, ctx.ineq, rows, ctx.problem.contact_radius, t, x, state.quat, state.v)
    for r in range(ctx.ineq.phi.shape[0]):
        if rows.rotation[r] >= 0:
            at, weight = rows.place[r], rows.weight[r, rows.body_member[r]]
            set_lever(rows.lever, r, ctx.rotations.middle, places.body[at], places.arm, at, weight)
