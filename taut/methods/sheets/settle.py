"""Newton steps until all that is held is within its tolerance and forces balance.

Limits and contacts start with a soft κ, which lets their set settle; where multipliers have settled and something is
still off, κ grows. The tolerances of limits and balance grow with the iterations: a heavy ball that pulls a sheet
taut changes hundreds of limits at once, and a step in smaller pieces would not be better.
"""

from __future__ import annotations

from ...jit import part, word
from ...model.evaluate import inequalities_at
from ..base import NOT_CONVERGED, OK
from .box import NOTHING, NUMBER, TABLE, WHOLE, far, open_box
from .newton import factor, largest_move, move, solve, solve_with_facets, take_edges, take_rows
from .rows import (
    NOTHING_OFF,
    enter_edges,
    enter_rows,
    measure_balls,
    measure_edges,
    measure_facets,
    settle_shifts,
    worst_of,
)
from .system import assemble_edges, assemble_facets, assemble_solids, assemble_springs, imbalance, start_rhs

MOST_ITERATIONS = 40
PATIENCE, EASE, MOST_EASE = 15, 1.3, 10.0  # iterations after which limits and balance may be off by more, and how much
MOST_PROJECTIONS = 60
# κ in units of m/h²: of hard edges; of limits and contacts with solids, from and to; between sheets, to begin with
HARD, SOFT, STIFFEST, LOOSE, RAMP = 1e9, 1e3, 1e7, 20.0, 4.0
OFF_LIMIT = 3e-4  # of the length of an edge
MOST_BEYOND = 4.5e-3  # the same over several steps
OFF_CONTACT = 5e-4  # of the mean edge
OFF_FACET = 0.5  # of the distance asked for: thickness is what keeps sheets apart, and may be pressed
IMBALANCE = 0.02  # of the mean edge: what forces may be off, as the displacement they cause
USUAL_STEP = 1.0 / 240.0  # [s]: in shorter ones forces are balanced as much better as they move things less
LONGEST_MOVE = 0.5  # of the mean edge, in one iteration


@far(NOTHING, NUMBER, TABLE)
@part
def measure_solids(box, t, x):
    """φ and n of all rows of obstacles and balls at x; the time is set."""
    system, state, par = open_box(box)
    ineq, rows = par.ineq, par.net.solids
    count = ineq.phi.shape[0]
    if count > 0:
        second = False
        inequalities_at(system, ineq, t, x, state.quat, state.v, second)
        for r in range(count):
            k = ineq.rows.ptr[r]
            sign = ineq.sign[r]
            rows.phi[r] = -sign * ineq.phi[r] - rows.allowed[r]
            for c in range(3):
                rows.n[r, c] = sign * ineq.J[k, c]
    measure_balls(rows, count, par.net.radius, x)


@word
def worst_share(rows, count, apart):
    """How much nearer than asked for, as a share."""
    worst = 0.0
    for r in range(count):
        worst = max(worst, rows.phi[r] / max(apart[r], 1e-300))
    return worst


@word
def enter_near(rows, count, apart):
    entered = 0
    for r in range(count):
        if not rows.on[r] and rows.phi[r] > 0.0:
            rows.on[r] = True
            if rows.phi[r] > OFF_FACET * apart[r]:
                entered += 1
    return entered


@far(WHOLE, NUMBER, NUMBER)
@part
def newton(box, t, h):
    """Solve (2) from state.x. Returns OK or NOT_CONVERGED."""
    system, state, par = open_box(box)
    net, x = par.net, state.x
    edges, solids, facets = net.edges, net.solids, net.facets
    walls, between = solids.phi.shape[0], net.facet_count[0]
    unit = par.unit / (h * h)
    hard_stiff, loose = HARD * unit, LOOSE * unit
    stiff = SOFT * unit
    tolerance = par.numbers[0]
    limit_tolerance = max(OFF_LIMIT, tolerance)
    contact_tolerance = OFF_CONTACT * par.edge
    balance = IMBALANCE * par.edge * min(1.0, (par.whole[0] / USUAL_STEP) ** 2)
    settle_shifts(edges, solids, walls)
    changes = 0
    for it in range(MOST_ITERATIONS):
        hard, held_off, over, beyond = measure_edges(edges, x)
        measure_solids((box, t, x))
        measure_facets(facets, between, x, par.apart)
        pressed_off, deep = worst_of(solids, walls)
        near = worst_share(facets, between, par.apart)
        entered = 0
        entered += enter_edges(edges, limit_tolerance)
        entered += enter_rows(solids, walls, NOTHING_OFF * par.edge, contact_tolerance)
        entered += enter_near(facets, between, par.apart)
        off = imbalance((box, x, h))
        ease = min(MOST_EASE, EASE ** max(0, it - PATIENCE))
        balanced = it > 0 and off <= ease * balance
        within = hard <= tolerance and max(held_off, over) <= ease * limit_tolerance and beyond <= MOST_BEYOND
        some = min(ease, 1.9)
        within = within and max(pressed_off, deep) <= some * contact_tolerance and near <= some * OFF_FACET
        if balanced and within and entered == 0:
            return OK
        if balanced and changes + entered <= 2 + (edges.i.shape[0] + walls) // 50:
            settle_shifts(edges, solids, walls)
            if held_off > limit_tolerance or pressed_off > contact_tolerance:
                stiff = min(RAMP * stiff, STIFFEST * unit)
            loose = min(RAMP * loose, SOFT * unit) if near > OFF_FACET else loose
        start_rhs((box, x, h))
        assemble_edges((box, h, hard_stiff, stiff))
        assemble_springs((box, x, h))
        touching = assemble_solids((box, x, h, stiff))
        on = assemble_facets((box, x, h, loose))
        factor((box, touching))
        solve_with_facets((box, touching, on, x, h, loose))
        farthest = largest_move((box,))
        share = min(1.0, LONGEST_MOVE * par.edge / max(farthest, 1e-300))
        leaving = par.paper == 0
        changes = take_edges((box, share, hard_stiff, stiff, leaving))
        changes += take_rows((box, False, share, stiff)) + take_rows((box, True, share, loose))
        move((box, x, share))
        net.counts[2] += 1
        if not farthest < 1e100:
            return NOT_CONVERGED
    return NOT_CONVERGED


@far(WHOLE, NUMBER)
@part
def project(box, h):
    """Fast projection: from x*, each step the nearest to where the last one ended. Hard edges only."""
    system, state, par = open_box(box)
    net, x = par.net, state.x
    edges = net.edges
    unit = par.unit / (h * h)
    stiff = HARD * unit
    for e in range(edges.i.shape[0]):
        edges.last[e] = edges.tension[e]  # turns edges stiffly, as at the end of the step before
        edges.tension[e] = 0.0
    for _ in range(MOST_PROJECTIONS):
        hard, held_off, over, beyond = measure_edges(edges, x)
        if hard <= par.numbers[0]:
            return OK
        for k in range(net.slot.shape[0]):
            net.rhs[k, 0], net.rhs[k, 1], net.rhs[k, 2] = 0.0, 0.0, 0.0
        for e in range(edges.i.shape[0]):
            edges.shift[e] = 0.0
        assemble_edges((box, h, stiff, stiff))
        none = assemble_solids((box, x, h, stiff))
        factor((box, none))
        solve((box, none, net.rhs, net.dx))
        share = min(1.0, LONGEST_MOVE * par.edge / max(largest_move((box,)), 1e-300))
        for e in range(edges.i.shape[0]):
            edges.shift[e] = edges.tension[e]  # λ = Σ δλ
        leaving = False
        whole = 1.0
        take_edges((box, whole, stiff, stiff, leaving))
        for e in range(edges.i.shape[0]):
            edges.tension[e] = edges.shift[e] + share * (edges.tension[e] - edges.shift[e])
        move((box, x, share))
        net.counts[2] += 1
    return NOT_CONVERGED
