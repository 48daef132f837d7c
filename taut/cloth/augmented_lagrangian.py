"""Where Newton's method on positions and multipliers goes astray: descent of an energy, which can not.

    E(x) = Σ m |x - x*|²/2h² + Σ V(l) + Σ c (l - l₀)²/2h + Σ ψ(T₀, φ) + Σ ψ(λ₀, φ) + Σ μ λ₁ |s|      (1)
    ψ(T₀, φ) = (T² - T₀²)/2κ,    T = max(0, T₀ + κ φ),    hard edges T = T₀ + κ φ                    (2)

With T₀ and κ fixed, E has one slope everywhere, and the matrix of linear_system.py is positive definite: its solution
goes downhill, and is shortened until E has fallen. A sheet that a heavy ball pulls taut changes hundreds of limits at
once; here they can not change to and fro for ever. Where forces balance, T₀ becomes T, and κ grows if that did not
help. l₀ is a spring's length at the start of the step; λ₁, which friction takes, is λ where forces last balanced.
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..methods.base import NOT_CONVERGED, OK
from .attachments import joins_energy
from .constraint_errors import DEEPEST, MOST_BEYOND
from .context import NOTHING, NUMBER, WHOLE, far, open_box
from .evaluate import measure_all, take_grips, worst_off
from .friction import CREEP, rub, sliding
from .linear_solve import largest_move, move
from .linear_system import imbalance
from .newton_direction import aim
from .predict import copy1, copy3
from .tolerances import (
    LONGEST_MOVE,
    OFF_FACET,
    SOFT,
    allowed_imbalance,
    begin_stiffness,
    finer,
    settle_shifts,
    stiffen,
    worst_share,
)

MOST_DESCENTS = 150
HALVINGS = 24
ENOUGH = 1e-4  # of the fall that the slope promises
NOISE = 1e-13  # of E


@inline
def spring_energy(springs, q, x, before, h):
    i, j = springs.i[q], springs.j[q]
    l = sqrt((x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2 + (x[i, 2] - x[j, 2]) ** 2)
    first = sqrt(
        (before[i, 0] - before[j, 0]) ** 2 + (before[i, 1] - before[j, 1]) ** 2 + (before[i, 2] - before[j, 2]) ** 2
    )
    over = max(0.0, l - (1.0 + springs.elongation2[q]) * springs.rest[q])
    total = 0.5 * springs.k[q] * (l - springs.rest[q]) ** 2 + 0.5 * springs.damping[q] * (l - first) ** 2 / h
    if over > 0.0:
        total += 0.5 * (springs.k2[q] - springs.k[q]) * over * over
    return total


@inline
def rows_energy(rows, count, x, before, h):
    """Sets λ and who is on."""
    total = 0.0
    for r in range(count):
        movable = False
        for k in range(4):
            movable = movable or rows.unknown[r, k] >= 0
        push = rows.shift[r] + rows.kappa[r] * rows.phi[r]
        rows.on[r] = movable and push > 0.0
        rows.lam[r] = push if rows.on[r] else 0.0
        total += 0.5 * (rows.lam[r] ** 2 - rows.shift[r] ** 2) / rows.kappa[r]
        if rows.friction[r] * rows.grip[r] > 0.0:
            s0, s1, s2 = sliding(rows, r, x, before)
            s, creep = sqrt(s0 * s0 + s1 * s1 + s2 * s2), CREEP * h
            way = s if s > creep else 0.5 * (s * s / creep + creep)
            total += rows.friction[r] * rows.grip[r] * way
    return total


@far(NUMBER, NUMBER, NUMBER)
@compiled
def energy(box, t, h):
    """(1) at state.x. Measures all, and sets T, λ and who is on."""
    system, state, par = open_box(box)
    net, x = par.net, state.x
    edges, springs = net.edges, net.springs
    total = 0.0
    for k in range(net.slot.shape[0]):
        s = net.slot[k]
        for c in range(3):
            total += 0.5 * net.mass[k, c] * (x[s, c] - net.aim[s, c]) ** 2 / (h * h)
    for q in range(springs.rest.shape[0]):
        total += spring_energy(springs, q, x, net.before, h)
    measure_all((box, t, x))
    total += joins_energy(net.joins)
    for e in range(edges.i.shape[0]):
        pull = edges.shift[e] + edges.kappa[e] * edges.phi[e]
        stays = not edges.one_sided[e] or (par.paper == 1 and edges.on[e])
        edges.on[e] = stays or pull > 0.0
        edges.tension[e] = pull if edges.on[e] else 0.0
        total += 0.5 * (edges.tension[e] ** 2 - edges.shift[e] ** 2) / edges.kappa[e]
    total += rows_energy(net.solids, net.solids.phi.shape[0], x, net.before, h)
    return total + rows_energy(net.facets, net.facet_count[0], x, net.before, h)


@far(NOTHING)
@compiled
def begin_again(box):
    """Positions and multipliers as they were before Newton's method."""
    system, state, par = open_box(box)
    net = par.net
    edges, solids = net.edges, net.solids
    copy3(par.begun_at, state.x)
    copy1(par.begun, par.holding)
    for e in range(edges.i.shape[0]):
        edges.on[e] = not edges.one_sided[e] or edges.tension[e] > 0.0
    for r in range(solids.phi.shape[0]):
        solids.on[r] = solids.lam[r] > 0.0
    for r in range(net.facet_count[0]):
        net.facets.lam[r] = 0.0
        net.facets.on[r] = False


@far(NUMBER, NUMBER, NUMBER, NUMBER)
@compiled
def go_downhill(box, t, h, now):
    """Along net.dx until E has fallen. Returns E there, inf where no way is short enough."""
    system, state, par = open_box(box)
    net = par.net
    slope = 0.0
    for k in range(net.slot.shape[0]):
        slope -= net.rhs[k, 0] * net.dx[k, 0] + net.rhs[k, 1] * net.dx[k, 1] + net.rhs[k, 2] * net.dx[k, 2]
    share = min(1.0, LONGEST_MOVE / max(largest_move((box,)), 1e-300))
    taken = 0.0
    for _ in range(HALVINGS):
        move((box, state.x, share - taken))
        taken = share
        then = energy((box, t, h))
        if then <= now + ENOUGH * share * slope + NOISE * abs(now):
            return then
        share *= 0.5
    return 1e300


@far(WHOLE, NUMBER, NUMBER)
@compiled
def descend(box, t, h):
    """Solve (1) of linear_system.py from the start of the step. Returns OK or NOT_CONVERGED."""
    system, state, par = open_box(box)
    net = par.net
    unit = par.unit / (h * h)
    longest, deepest = finer(par, MOST_BEYOND), finer(par, DEEPEST) * par.edge
    begin_again((box,))
    begin_stiffness((box, unit, SOFT * unit))
    settle_shifts((box,))
    take_grips((box,))
    now = energy((box, t, h))
    stuck = False
    for it in range(MOST_DESCENTS):
        balanced = imbalance((box, state.x, h)) <= allowed_imbalance(par)
        if balanced or stuck:
            off = worst_off((box, longest, deepest))
            near = worst_share(net.facets, net.facet_count[0], par.apart)
            if balanced and it > 0 and off <= 1.0 and near <= OFF_FACET:
                return OK
            settle_shifts((box,))
            take_grips((box,))
            stiffen((box, unit, longest, deepest))
            now = energy((box, t, h))
        rub((box, h, 0.0, 0))
        aim((box, h, 0.0))
        net.counts[2] += 1
        then = go_downhill((box, t, h, now))
        if not then < 1e300 and stuck:
            return NOT_CONVERGED
        stuck = not then < 1e300  # in a kink: with other multipliers it is elsewhere
        now = energy((box, t, h)) if stuck else then
    return NOT_CONVERGED
