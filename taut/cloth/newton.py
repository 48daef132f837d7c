"""Newton steps until all that is held is within its tolerance and forces balance.

Limits and contacts start with a soft κ, which lets their set settle; where multipliers have settled and something is
still off, κ grows. Most steps take two or three iterations. Those in which limits go on changing begin anew with
interior_point.py. Where these stay until the end of the step, or there are contacts alone, augmented_lagrangian.py is
next. What is left is taken again in shorter substeps (step.py).
"""

from __future__ import annotations

from ..compiled import compiled
from ..methods.base import NOT_CONVERGED, OK
from .attachments import take_joins
from .augmented_lagrangian import begin_again, descend
from .context import NUMBER, WHOLE, far, open_box
from .evaluate import enter, measure_all, take_grips, worst_off
from .friction import change_of_grip, drop_grip, is_rough, rub
from .interior_point import GIVES_WAY, NEARLY, from_inside
from .linear_solve import largest_move, move, take_edges, take_rows
from .linear_system import imbalance
from .newton_direction import NOT_DEFINITE, aim
from .predict import copy1, copy3
from .tolerances import (
    HARD,
    LONGEST_MOVE,
    OFF_CONTACT,
    OFF_FACET,
    OFF_LIMIT,
    allowed_imbalance,
    begin_stiffness,
    finer,
    settle_shifts,
    stiffen,
    worst_share,
)

MOST_ITERATIONS = 40
MOST_WITH_SETS = 22  # where edges and rows come and go
MOST_AFTER = 20  # after interior_point.py has told which of them stay
WHILE_BUCKLING = 10.0  # so much more may forces be off where pressed springs are giving way: that takes its time
SETTLED_AFTER, STILL_COMING = 5, 300  # by then fewer than one of so many may come and go,
FEWER = 0.7  # and in each iteration from there on fewer, or they will do so for long
TRIALS_APART = 4  # iterations from one matrix that was not definite to the next trial
MOST_ROUNDS, SAME_GRIP = 8, 0.01  # of friction; what λ may change by in the last one, of the largest
SHORT = 0.2  # of a step: friction in rounds may help where springs give way in pieces so short


@far(WHOLE, NUMBER, NUMBER, WHOLE)
@compiled
def newton(box, t, h, most):
    """Solve (2) of step.py from state.x. Returns OK, NOT_CONVERGED or GIVES_WAY."""
    system, state, par = open_box(box)
    net, x = par.net, state.x
    unit = par.unit / (h * h)
    begin_stiffness((box, unit, HARD * unit))
    longest, deepest = finer(par, OFF_LIMIT), finer(par, OFF_CONTACT) * par.edge
    settle_shifts((box,))
    changes = 0
    many = net.edges.i.shape[0] + net.solids.phi.shape[0]
    coming = many / STILL_COMING
    buckles = False
    next_trial = 0
    inside_next = most == MOST_WITH_SETS and par.limited == 1 and par.paper == 0
    for it in range(most):
        measure_all((box, t, x))
        off = worst_off((box, longest, deepest))
        near = worst_share(net.facets, net.facet_count[0], par.apart)
        entered = enter((box, longest, deepest))
        if par.in_rounds[0] == 0:
            take_grips((box,))
        if par.in_rounds[0] == 1 or it == 0:
            rub((box, h, 0.0, it))
        if par.in_rounds[0] == 0:
            rub((box, h, unit, it))
        balanced = imbalance((box, x, h)) <= allowed_imbalance(par) * (WHILE_BUCKLING if buckles else 1.0) and it > 0
        if balanced and off <= 1.0 and near <= OFF_FACET and entered == 0:
            return OK
        if it >= SETTLED_AFTER and inside_next and changes + entered > 2 + coming:
            return NOT_CONVERGED
        coming *= FEWER if it >= SETTLED_AFTER else 1.0
        few = it > 2 and changes + entered <= 2 + many // 500
        if few or (balanced and changes + entered <= 2 + many // 50):
            settle_shifts((box,))
            stiffen((box, unit, longest, deepest))
        tried = few and it >= next_trial
        if tried:
            buckles = aim((box, h, 1.0)) == NOT_DEFINITE
            next_trial = it + (TRIALS_APART if buckles else 1)
        buckles = buckles and few
        if buckles or not tried:
            aim((box, h, 0.0))
        farthest = largest_move((box,))
        share = min(1.0, LONGEST_MOVE / max(farthest, 1e-300))
        leaving = par.paper == 0
        changes = take_edges((box, share, leaving))
        take_joins(net, share)
        changes += take_rows((box, False, share)) + take_rows((box, True, share))
        move((box, x, share))
        net.counts[2] += 1
        if not farthest < 1e100:
            return NOT_CONVERGED
    return GIVES_WAY if buckles else NOT_CONVERGED


@far(WHOLE, NUMBER, NUMBER)
@compiled
def in_rounds(box, t, h):
    """Friction by the λ of the round before, the first round without any; until λ does not change.

    A heavy ball that presses light nodes against the floor has hundreds of times their weight of friction there. With
    λ that change in each iteration this would throw them about; in rounds it holds them where they are.
    """
    par = open_box(box).par
    solids, facets = par.net.solids, par.net.facets
    walls, between = solids.phi.shape[0], par.net.facet_count[0]
    begin_again((box,))
    drop_grip(solids, walls)
    drop_grip(facets, between)
    par.in_rounds[0] = 1
    status = NOT_CONVERGED
    for _ in range(MOST_ROUNDS):
        most = MOST_ITERATIONS
        status = newton((box, t, h, most))
        if status != OK:
            break
        if max(change_of_grip(solids, walls), change_of_grip(facets, between)) <= SAME_GRIP:
            break
        take_grips((box,))
    par.in_rounds[0] = 0
    return status


@far(WHOLE, NUMBER, NUMBER)
@compiled
def settle(box, t, h):
    """The same; where Newton's method goes astray, limits from inside, or descent, or friction in rounds."""
    system, state, par = open_box(box)
    solids = par.net.solids
    walls = solids.phi.shape[0]
    copy3(state.x, par.begun_at)
    copy1(par.holding, par.begun)
    come_and_go = walls + par.net.facet_count[0] > 0 or par.limited == 1
    status = newton((box, t, h, MOST_WITH_SETS if come_and_go else MOST_ITERATIONS))
    inside = par.limited == 1 and par.paper == 0
    if status == NOT_CONVERGED and inside:
        status = from_inside((box, t, h))
        if status == NEARLY:
            status = newton((box, t, h, MOST_AFTER))
    # For hard edges, and after a failure inside, shorter pieces are the quicker way.
    if status != OK and come_and_go and not inside:
        status = descend((box, t, h))
    # So they are for springs that give way, as long as there are any.
    if status == GIVES_WAY and inside and h > SHORT * par.whole[0]:
        return NOT_CONVERGED
    if status != OK and (is_rough(solids, walls) or is_rough(par.net.facets, par.net.facet_count[0])):
        status = in_rounds((box, t, h))
    return NOT_CONVERGED if status == GIVES_WAY else status
