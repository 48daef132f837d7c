"""All that is held, looked at together: edges, pins, and rows of contact.

Callers reach these through the box, so that Newton's method, the interior point method and descent need not be compiled
with all of it, each for itself.
"""

from __future__ import annotations

from ..compiled import compiled
from ..model.evaluate import set_time
from .attachments import measure_joins, worst_join
from .constraint_errors import (
    NOTHING_OFF,
    enter_edges,
    enter_rows,
    measure_edges,
    measure_facets,
    worst_edge,
    worst_hard,
    worst_row,
)
from .context import NOTHING, NUMBER, TABLE, WHOLE, far, open_box
from .external_contact import measure_solids
from .friction import take_grip
from .tolerances import OFF_FACET, held_to


@far(NOTHING, NUMBER, TABLE)
@compiled
def be_at(box, t, x):
    """The time is t: what is driven stands in x where it is then."""
    system, state, par = open_box(box)
    set_time(system, t, x, state.quat, state.v)


@far(NOTHING, NUMBER, TABLE)
@compiled
def measure_all(box, t, x):
    """φ and directions of everything at x; the time is set."""
    par = open_box(box).par
    net = par.net
    measure_edges(net.edges, x)
    measure_joins((box, x))
    measure_solids((box, t, x))
    measure_facets(net.facets, net.facet_count[0], x, par.apart)


@far(NUMBER, NUMBER, NUMBER)
@compiled
def worst_off(box, longest, deepest):
    """Of edges, pins and rows of solids, as multiples of their rooms."""
    par = open_box(box).par
    net = par.net
    off = max(worst_edge(net.edges, longest), worst_row(net.solids, net.solids.phi.shape[0], deepest))
    return max(off, worst_join(net.joins, held_to(par)))


@far(NUMBER)
@compiled
def hard_off(box):
    """The same, of hard edges and pins."""
    par = open_box(box).par
    return max(worst_hard(par.net.edges), worst_join(par.net.joins, held_to(par)))


@far(WHOLE, NUMBER, NUMBER)
@compiled
def enter(box, longest, deepest):
    """What is off and is not held yet enters. Returns how many were off by more than they may."""
    par = open_box(box).par
    net = par.net
    entered = enter_edges(net.edges, longest)
    entered += enter_rows(net.solids, net.solids.phi.shape[0], NOTHING_OFF * par.edge, deepest)
    rows = net.facets
    for r in range(net.facet_count[0]):
        if not rows.on[r] and rows.phi[r] > 0.0:
            rows.on[r] = True
            if rows.phi[r] > OFF_FACET * par.apart[r]:
                entered += 1
    return entered


@far(NOTHING)
@compiled
def take_grips(box):
    """Friction is that of λ as it is now."""
    net = open_box(box).par.net
    take_grip(net.solids, net.solids.phi.shape[0])
    take_grip(net.facets, net.facet_count[0])
