"""Where Newton's method on who is held goes astray: all limits and contacts at once, from inside (an interior point).

    φ + s = 0,    T s = μ,    s > 0,  T > 0,    μ → 0                                            (1)
    T = T₀ + κ (φ + u·(δx_i - δx_j)),    κ = T/s,    T₀ = T + (μ - δT δs)/s                      (2)

Instead of one that pulls or does not, each limit has a room s and a force T whose product falls. (2) is (1)
linearised: the system of system.py with a κ for each edge and row. A heavy ball that pulls a sheet taut changes
thousands of limits in one step; this takes some 20 to 40 iterations, whatever their number. δT δs is what a first
solution of the same factor, with μ = 0, foretells of the error (Mehrotra's corrector). It also tells how far μ may
fall, but never far below what forces are off by.

Where T s and all else is within the tolerances, weak T become zero and the step is settled. With sheets that touch
each other, or where ways get too short, Newton's method ends what was begun here: it is told who pulls.
"""

from __future__ import annotations

from ...jit import part, word
from ..base import NOT_CONVERGED, OK
from .aim import NOT_DEFINITE, aim
from .box import NOTHING, NUMBER, WHOLE, far, open_box
from .contacts import push_members
from .descent import begin_again
from .newton import farther, largest_move, longer, move, solve_with_facets, take_rows
from .rows import measure_edges, measure_facets, take_grip
from .solids import measure_solids
from .system import imbalance, pull_ends
from .tolerances import HARD, LONGEST_MOVE, OFF_CONTACT, OFF_LIMIT, allowed_imbalance, begin_stiffness, finer

MOST_INSIDE = 60
NEARLY = -2
IDLE = 0.1  # of what forces may be off by: so weak, a limit does not pull
FIRST_ROOM = 0.01  # s to begin with, of a length
FIRST_PUSH = 100.0  # μ to begin with, in units of m/h² s²
FIRMEST = 1e12  # κ at most, of m/h². At 1e9 those that pull hardest in an impact kept T s from falling
TO_THE_WALL = 0.995  # of the way to s = 0 or T = 0
STALLED, PATIENCE = 0.01, 3  # shares of a way, and how many of them; then Newton's method may try
PATIENCE_WITH_SPRINGS = 10  # iterations in which pressed ones give way: in shorter pieces they do not
LAG = 1e-3  # μ is at least this times m/h² δ², where forces are off by the displacement δ
SURE = 3e-3  # of a length: s, or T h²/m, at most, where it is sure enough who pulls for Newton's method
NEAR = 1e-4  # of a length: what φ + s may be off by then
CALM = 0.1  # of an edge: what forces may be off by then


@word
def is_movable(rows, r):
    return rows.unknown[r, 0] >= 0 or rows.unknown[r, 1] >= 0


@word
def begin_inside(par, unit):
    """s, T and λ of (1): those of the piece before where they are larger."""
    edges, rows = par.net.edges, par.net.solids
    mu = FIRST_PUSH * unit * (FIRST_ROOM * par.edge) ** 2
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            edges.on[e] = True
            edges.slack[e] = max(-edges.phi[e], FIRST_ROOM * edges.length[e])
            edges.tension[e] = max(mu / edges.slack[e], edges.tension[e])
    for r in range(rows.phi.shape[0]):
        rows.on[r] = is_movable(rows, r)
        rows.slack[r] = max(-rows.phi[r], FIRST_ROOM * par.edge)
        rows.lam[r] = max(mu / rows.slack[r], rows.lam[r]) if rows.on[r] else 0.0


@word
def standing(par, unit):
    """Mean T s; how unsure it is who pulls, and |φ + s|, of a length; how many are not settled to their tolerances."""
    edges, rows = par.net.edges, par.net.solids
    longest, deepest = finer(par, OFF_LIMIT), finer(par, OFF_CONTACT)
    least = IDLE * allowed_imbalance(par)
    total = 0.0
    count = 0
    unsure = 0.0
    off = 0.0
    open_yet = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            total += edges.tension[e] * edges.slack[e]
            count += 1
            room, push = edges.slack[e] / edges.length[e], edges.tension[e] / unit
            wrong = abs(edges.phi[e] + edges.slack[e]) / edges.length[e]
            unsure = max(unsure, min(room, push / edges.length[e]))
            off = max(off, wrong)
            open_yet += 1 if wrong > longest or (room > longest and push > least) else 0
    for r in range(rows.phi.shape[0]):
        if rows.on[r]:
            total += rows.lam[r] * rows.slack[r]
            count += 1
            room, push = rows.slack[r] / par.edge, rows.lam[r] / unit
            wrong = abs(rows.phi[r] + rows.slack[r]) / par.edge
            unsure = max(unsure, min(room, push / par.edge))
            off = max(off, wrong)
            open_yet += 1 if wrong > deepest or (room > deepest and push > least) else 0
    return total / max(count, 1), unsure, off, open_yet


@word
def weigh(par, most):
    """κ of (2), and T₀ with μ = 0."""
    edges, rows = par.net.edges, par.net.solids
    for e in range(edges.i.shape[0]):
        edges.shift[e] = edges.tension[e]
        if edges.one_sided[e]:
            edges.kappa[e] = min(edges.tension[e] / edges.slack[e], most)
    for r in range(rows.phi.shape[0]):
        rows.shift[r] = rows.lam[r]
        if rows.on[r]:
            rows.kappa[r] = min(rows.lam[r] / rows.slack[r], most)


@far(NUMBER)
@part
def find_ways(box):
    """δT and δs of net.dx by (2). Returns the share of them that stays inside."""
    par = open_box(box).par
    net = par.net
    edges, rows = net.edges, net.solids
    share = 1.0
    for e in range(edges.i.shape[0]):
        d = longer(net, edges, e)
        edges.rise[e] = edges.shift[e] + edges.kappa[e] * (edges.phi[e] + d) - edges.tension[e]
        if edges.one_sided[e]:
            edges.widen[e] = -(edges.phi[e] + edges.slack[e] + d)
            if edges.rise[e] < 0.0:
                share = min(share, -TO_THE_WALL * edges.tension[e] / edges.rise[e])
            if edges.widen[e] < 0.0:
                share = min(share, -TO_THE_WALL * edges.slack[e] / edges.widen[e])
    for r in range(rows.phi.shape[0]):
        if not rows.on[r]:
            continue
        d = farther(net, rows, r)
        rows.rise[r] = rows.shift[r] + rows.kappa[r] * (rows.phi[r] - d) - rows.lam[r]
        rows.widen[r] = -(rows.phi[r] + rows.slack[r] - d)
        if rows.rise[r] < 0.0:
            share = min(share, -TO_THE_WALL * rows.lam[r] / rows.rise[r])
        if rows.widen[r] < 0.0:
            share = min(share, -TO_THE_WALL * rows.slack[r] / rows.widen[r])
    return share


@word
def foretold(par, share):
    """Mean T s after a share of the ways."""
    edges, rows = par.net.edges, par.net.solids
    total = 0.0
    count = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            total += (edges.tension[e] + share * edges.rise[e]) * (edges.slack[e] + share * edges.widen[e])
            count += 1
    for r in range(rows.phi.shape[0]):
        if rows.on[r]:
            total += (rows.lam[r] + share * rows.rise[r]) * (rows.slack[r] + share * rows.widen[r])
            count += 1
    return total / max(count, 1)


@far(NOTHING, NUMBER)
@part
def correct(box, mu):
    """T₀ of (2), in the right-hand side too."""
    net = open_box(box).par.net
    edges, rows = net.edges, net.solids
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            more = (mu - edges.rise[e] * edges.widen[e]) / edges.slack[e]
            edges.shift[e] += more
            i, j = net.unknown[edges.i[e]], net.unknown[edges.j[e]]
            pull_ends(net, i, j, more * edges.u[e, 0], more * edges.u[e, 1], more * edges.u[e, 2])
    for r in range(rows.phi.shape[0]):
        if rows.on[r]:
            more = (mu - rows.rise[r] * rows.widen[r]) / rows.slack[r]
            rows.shift[r] += more
            push_members(net, rows, r, more * rows.n[r, 0], more * rows.n[r, 1], more * rows.n[r, 2])


@word
def go_inside(par, share):
    edges, rows = par.net.edges, par.net.solids
    for e in range(edges.i.shape[0]):
        edges.tension[e] += share * edges.rise[e]
        if edges.one_sided[e]:
            edges.slack[e] += share * edges.widen[e]
    for r in range(rows.phi.shape[0]):
        if rows.on[r]:
            rows.lam[r] += share * rows.rise[r]
            rows.slack[r] += share * rows.widen[r]


@word
def tell_who_pulls(par, unit):
    edges, rows = par.net.edges, par.net.solids
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            edges.on[e] = edges.tension[e] > unit * edges.slack[e]
            edges.tension[e] = edges.tension[e] if edges.on[e] else 0.0
    for r in range(rows.phi.shape[0]):
        rows.on[r] = rows.on[r] and rows.lam[r] > unit * rows.slack[r]
        rows.lam[r] = rows.lam[r] if rows.on[r] else 0.0


@far(WHOLE, NUMBER, NUMBER)
@part
def from_inside(box, t, h):
    """Returns OK, NOT_CONVERGED, or NEARLY: with who pulls Newton's method may end it."""
    system, state, par = open_box(box)
    net, x = par.net, state.x
    edges, solids, facets = net.edges, net.solids, net.facets
    unit = par.unit / (h * h)
    begin_again((box,))
    begin_stiffness(par, unit, HARD * unit)
    stalls = 0
    giving_way = 0
    for it in range(MOST_INSIDE):
        measure_edges(edges, x)
        measure_solids((box, t, x))
        measure_facets(facets, net.facet_count[0], x, par.apart)
        if it == 0:
            begin_inside(par, unit)
        for r in range(net.facet_count[0]):
            facets.on[r] = facets.on[r] or facets.phi[r] > 0.0
        take_grip(solids, solids.phi.shape[0])
        take_grip(facets, net.facet_count[0])
        unbalanced = imbalance((box, x, h))
        mean, unsure, off, open_yet = standing(par, unit)
        settled = open_yet == 0 and unbalanced <= allowed_imbalance(par) and par.has_facets == 0
        is_near = unsure < SURE and off < NEAR and unbalanced < CALM * par.edge
        if settled or stalls == PATIENCE or (is_near and par.has_facets == 1):
            tell_who_pulls(par, unit)
            return OK if settled else NEARLY
        if not unbalanced < 1e100 or not mean > 0.0 or giving_way > PATIENCE_WITH_SPRINGS:
            return NOT_CONVERGED
        weigh(par, FIRMEST * unit)
        calm = unbalanced < CALM * par.edge
        touching = aim((box, h, 1.0)) if calm else NOT_DEFINITE
        if touching == NOT_DEFINITE:
            giving_way += 1 if calm else 0
            touching = aim((box, h, 0.0))
        net.counts[2] += 1
        share = find_ways((box,))
        fall = min(foretold(par, share) / mean, 1.0)
        mu = max(fall**3 * mean, min(LAG * unit * unbalanced**2, mean))
        correct((box, mu))
        solve_with_facets((box, touching, count_on(facets, net.facet_count[0]), x, h))
        share = find_ways((box,))
        stalls = stalls + 1 if share < STALLED else 0
        share *= min(1.0, LONGEST_MOVE / max(share * largest_move((box,)), 1e-300))
        go_inside(par, share)
        take_rows((box, True, share))
        move((box, x, share))
    return NOT_CONVERGED


@word
def count_on(rows, count):
    on = 0
    for r in range(count):
        on += 1 if rows.on[r] else 0
    return on
