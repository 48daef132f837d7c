"""Rooms s and forces T of limits and contacts, whose product falls: the words of interior_point.py.

    φ + s = 0,    T s = μ,    s > 0,  T > 0,    μ → 0                                            (1)
    T = T₀ + κ (φ + u·(δx_i - δx_j)),    κ = T/s,    T₀ = T + (μ - δT δs)/s                      (2)

(2) is (1) linearised: the system of linear_system.py with a κ for each edge and row. δT δs is what a first solution of
the same factor, with μ = 0, foretells of the error (Mehrotra's corrector).
"""

from __future__ import annotations

from ..compiled import compiled, inline
from .attachments import take_joins
from .contact_assembly import push_members
from .context import NOTHING, NUMBER, far, open_box
from .linear_solve import farther, longer
from .linear_system import pull_ends
from .tolerances import OFF_CONTACT, OFF_LIMIT, allowed_imbalance, finer, settle_shifts

IDLE = 0.1  # of what forces may be off by: so weak, a limit does not pull
FIRST_ROOM = 0.01  # s to begin with, of a length
FIRST_PUSH = 100.0  # μ to begin with, in units of m/h² s²
TO_THE_WALL = 0.995  # of the way to s = 0 or T = 0


@inline
def is_movable(rows, r):
    return rows.unknown[r, 0] >= 0 or rows.unknown[r, 1] >= 0


@far(NOTHING, NUMBER)
@compiled
def begin_inside(box, unit):
    """s, T and λ of (1): those of the piece before where they are larger."""
    par = open_box(box).par
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


@inline
def standing(par, unit):
    """Mean T s; how many are not settled to their tolerances."""
    edges, rows = par.net.edges, par.net.solids
    longest, deepest = finer(par, OFF_LIMIT), finer(par, OFF_CONTACT)
    least = IDLE * allowed_imbalance(par)
    total = 0.0
    count = 0
    open_yet = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            total += edges.tension[e] * edges.slack[e]
            count += 1
            room, push = edges.slack[e] / edges.length[e], edges.tension[e] / unit
            wrong = abs(edges.phi[e] + edges.slack[e]) / edges.length[e]
            open_yet += 1 if wrong > longest or (room > longest and push > least) else 0
    for r in range(rows.phi.shape[0]):
        if rows.on[r]:
            total += rows.lam[r] * rows.slack[r]
            count += 1
            room, push = rows.slack[r] / par.edge, rows.lam[r] / unit
            wrong = abs(rows.phi[r] + rows.slack[r]) / par.edge
            open_yet += 1 if wrong > deepest or (room > deepest and push > least) else 0
    return total / max(count, 1), open_yet


@far(NOTHING, NUMBER)
@compiled
def weigh(box, most):
    """κ of (2), and T₀ with μ = 0."""
    net = open_box(box).par.net
    edges, rows = net.edges, net.solids
    settle_shifts((box,))
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            edges.kappa[e] = min(edges.tension[e] / edges.slack[e], most)
    for r in range(rows.phi.shape[0]):
        if rows.on[r]:
            rows.kappa[r] = min(rows.lam[r] / rows.slack[r], most)


@far(NUMBER)
@compiled
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


@far(NUMBER, NUMBER)
@compiled
def foretold(box, share):
    """Mean T s after a share of the ways."""
    par = open_box(box).par
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
@compiled
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


@far(NOTHING, NUMBER)
@compiled
def go_inside(box, share):
    par = open_box(box).par
    edges, rows = par.net.edges, par.net.solids
    take_joins(par.net, share)
    for e in range(edges.i.shape[0]):
        edges.tension[e] += share * edges.rise[e]
        if edges.one_sided[e]:
            edges.slack[e] += share * edges.widen[e]
    for r in range(rows.phi.shape[0]):
        if rows.on[r]:
            rows.lam[r] += share * rows.rise[r]
            rows.slack[r] += share * rows.widen[r]


@far(NOTHING, NUMBER)
@compiled
def tell_who_pulls(box, unit):
    par = open_box(box).par
    edges, rows = par.net.edges, par.net.solids
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            edges.on[e] = edges.tension[e] > unit * edges.slack[e]
            edges.tension[e] = edges.tension[e] if edges.on[e] else 0.0
    for r in range(rows.phi.shape[0]):
        rows.on[r] = rows.on[r] and rows.lam[r] > unit * rows.slack[r]
        rows.lam[r] = rows.lam[r] if rows.on[r] else 0.0
