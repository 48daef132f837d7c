"""Where Newton's method on who is held goes astray: all limits and contacts at once, from inside (an interior point).

Instead of one that pulls or does not, each limit has a room s and a force T whose product μ falls (slack.py). A heavy
ball that pulls a sheet taut changes thousands of limits in one step; this takes some 20 to 40 iterations, whatever
their number. The corrector also tells how far μ may fall, but never far below what forces are off by.

Where T s and all else is within the tolerances, weak T become zero and the step is settled. Where ways get too short,
or sheets are pressed together too far, Newton's method ends what was begun here: it is told who pulls.
"""

from __future__ import annotations

from ..compiled import compiled
from ..methods.base import NOT_CONVERGED, OK
from .augmented_lagrangian import begin_again
from .contact_schur import solve_with_facets
from .context import NUMBER, WHOLE, far, open_box
from .evaluate import hard_off, measure_all, take_grips
from .friction import rub
from .linear_solve import largest_move, move, take_rows
from .linear_system import imbalance
from .newton_direction import NOT_DEFINITE, aim
from .slack import begin_inside, correct, find_ways, foretold, go_inside, standing, tell_who_pulls, weigh
from .tolerances import HARD, LONGEST_MOVE, OFF_FACET, allowed_imbalance, begin_stiffness, worst_share

MOST_INSIDE = 60
GIVES_WAY = -1  # not converged: pressed springs have not found yet where they go
NEARLY = -2
FIRMEST = 1e12  # κ at most, of m/h². At 1e9 those that pull hardest in an impact kept T s from falling
STALLED, PATIENCE = 0.01, 3  # shares of a way, and how many of them; then Newton's method may try
PATIENCE_WITH_SPRINGS = 10  # iterations in which pressed ones give way: in shorter pieces they do not
LAG = 1e-3  # μ is at least this times m/h² δ², where forces are off by the displacement δ
CALM = 0.1  # of an edge: forces are off by less when the true matrix is tried


@far(WHOLE, NUMBER, NUMBER)
@compiled
def from_inside(box, t, h):
    """Returns OK, NOT_CONVERGED, GIVES_WAY, or NEARLY: with who pulls Newton's method may end it."""
    system, state, par = open_box(box)
    net, x = par.net, state.x
    facets = net.facets
    unit = par.unit / (h * h)
    begin_again((box,))
    begin_stiffness((box, unit, HARD * unit))
    stalls = 0
    giving_way = 0
    for it in range(MOST_INSIDE):
        measure_all((box, t, x))
        if it == 0:
            begin_inside((box, unit))
        for r in range(net.facet_count[0]):
            facets.on[r] = facets.on[r] or facets.phi[r] > 0.0
        take_grips((box,))
        if it == 0:
            rub((box, h, 0.0, it))
        rub((box, h, unit, it))
        unbalanced = imbalance((box, x, h))
        mean, open_yet = standing(par, unit)
        open_yet += 1 if hard_off((box,)) > 1.0 else 0
        settled = open_yet == 0 and unbalanced <= allowed_imbalance(par)
        if settled or stalls == PATIENCE:
            tell_who_pulls((box, unit))
            return OK if settled and worst_share(facets, net.facet_count[0], par.apart) <= OFF_FACET else NEARLY
        if giving_way > PATIENCE_WITH_SPRINGS:
            return GIVES_WAY
        if not unbalanced < 1e100 or not mean > 0.0:
            return NOT_CONVERGED
        weigh((box, FIRMEST * unit))
        calm = unbalanced < CALM * par.edge
        touching = aim((box, h, 1.0)) if calm else NOT_DEFINITE
        if touching == NOT_DEFINITE:
            giving_way += 1 if calm else 0
            touching = aim((box, h, 0.0))
        net.counts[2] += 1
        share = find_ways((box,))
        fall = min(foretold((box, share)) / mean, 1.0)
        mu = max(fall**3 * mean, min(LAG * unit * unbalanced**2, mean))
        correct((box, mu))
        solve_with_facets((box, touching))
        share = find_ways((box,))
        stalls = stalls + 1 if share < STALLED else 0
        share *= min(1.0, LONGEST_MOVE / max(share * largest_move((box,)), 1e-300))
        go_inside((box, share))
        take_rows((box, True, share))
        move((box, x, share))
    return NOT_CONVERGED
