"""Steps of sheets whose edges and contacts are held by multipliers, to tolerances, at any stiffness.

    x* = x after the unconstrained part: forces alone, in small steps or one                     (1)
    M (x' - x*)/h² + Σ T u - Σ λ ω n = 0,    v' = (x' - x)/h                                     (2)
    v = v' + [v* - (x* - x)/h]   at the start of the next step                                   (3)
    hard edges   |l - L| ≤ tolerance L;      limits   l ≤ (1 + limit) L,  T ≥ 0,  one of them an equality
    contacts     gap ≥ 0,  λ ≥ 0,  one of them an equality

The bracket in (3) is what small steps do beside their mean; without them it is zero. It stays out of v', so that
what is held at rest is seen at rest.
(2) is solved by newton.py from the multipliers of the step before; with sheets that touch each other, by
self_contact.py. A piece that does not converge, or in which something went through a solid, is taken again in halves.
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..methods.base import NOT_CONVERGED, OK, PAIRS_FULL
from ..model.arrays import CORRECTIONS, LINEAR_SOLVES
from .constraint_errors import DEEPEST, RECOVERY, RECOVERY_TIME, aim_edges
from .context import NOTHING, NUMBER, TRUTH, WHOLE, far, open_box
from .evaluate import be_at
from .external_contact import measure_solids
from .length_projection import project
from .linear_solve import keep_centres
from .newton import settle
from .predict import copy1, copy3, copy4, wander
from .problem import ADAMS_BASHFORTH
from .records import count_drivers
from .rigid_coupling import arrive_turning, begin_turning
from .self_contact import newton_between

MOST_PIECES = 256  # of a step: at ten times the paper's, the paper's rule in an impact needs more than 64
LONGEST_WAY = 2.0  # of the mean edge, in one piece
REACH = 0.5  # of a ball's radius: its way over nodes in one piece
REST = 16.0  # pieces after one that has failed: then they may be longer again
WHOLE_STEP, THIS_PIECE = range(2)  # what is kept: where these began
THROUGH = 0.2  # of the mean edge: so deep on the way, and outside again, is gone through


@far(NOTHING, NUMBER, NUMBER)
@compiled
def aim_solids(box, t, share):
    """What is inside a solid at the start of a step may stay so for the most part; normals there are kept."""
    system, state, par = open_box(box)
    rows = par.net.solids
    for r in range(rows.phi.shape[0]):
        rows.allowed[r] = 0.0
    measure_solids((box, t, par.net.before))
    most = DEEPEST * par.edge
    for r in range(rows.phi.shape[0]):
        rows.allowed[r] = (1.0 - share) * max(rows.phi[r], 0.0)
        rows.room[r] = max(most - rows.allowed[r], 0.5 * share * most)
        for c in range(3):
            rows.n0[r, c] = rows.n[r, c]


@far(TRUTH, NUMBER)
@compiled
def went_through(box, t):
    """Whether something was inside a solid on its way and left it on another side, or is held there."""
    system, state, par = open_box(box)
    net = par.net
    rows, middle = net.solids, par.wander[0]
    for k in range(1, 5):
        for i in range(middle.shape[0]):
            for c in range(3):
                middle[i, c] = net.before[i, c] + 0.25 * k * (state.x[i, c] - net.before[i, c])
        measure_solids((box, t, middle))
        for r in range(rows.phi.shape[0]):
            if rows.phi[r] > THROUGH * par.edge or rows.on[r]:
                turned = rows.n[r, 0] * rows.n0[r, 0] + rows.n[r, 1] * rows.n0[r, 1] + rows.n[r, 2] * rows.n0[r, 2]
                if turned < 0.5 or (k < 4 and not rows.on[r]):
                    return True
    return False


@inline
def release(net):
    """Only what pulls or pushes stays on: between steps T and λ tell who does.

    By the paper's rule limits are released here alone: a spring again where the multiplier resists shrinkage.
    """
    edges, rows = net.edges, net.solids
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e]:
            edges.on[e] = edges.on[e] and edges.tension[e] > 0.0
            edges.tension[e] = edges.tension[e] if edges.on[e] else 0.0
    for r in range(rows.phi.shape[0]):
        rows.on[r] = rows.on[r] and rows.lam[r] > 0.0
        rows.lam[r] = rows.lam[r] if rows.on[r] else 0.0


@inline
def take_up(net):
    """Who is on at the start of a step."""
    edges, rows = net.edges, net.solids
    for e in range(edges.i.shape[0]):
        edges.on[e] = not edges.one_sided[e] or edges.tension[e] > 0.0
    for r in range(rows.phi.shape[0]):
        rows.on[r] = rows.lam[r] > 0.0


@far(WHOLE, NUMBER, NUMBER)
@compiled
def piece(box, t, h):
    """One implicit step."""
    system, state, par = open_box(box)
    net, x = par.net, state.x
    copy3(x, net.before)
    wander((box, t, h))
    share = min(RECOVERY, h / RECOVERY_TIME)
    aim_edges(net.edges, net.before, share, par.numbers[0])
    aim_solids((box, t, share))
    be_at((box, t + h, x))
    for k in range(net.slot.shape[0]):
        s = net.slot[k]
        for c in range(3):
            x[s, c] += h * state.v[s, c]
    begin_turning(net.spins, x)
    if par.projects == 1 and net.joins.row.shape[0] == 0:
        status = project((box, h))
    elif par.has_facets == 1:
        status = newton_between((box, t + h, h))
    else:
        status = settle((box, t + h, h))
    if status != OK:
        return status
    if net.solids.phi.shape[0] > 0 and went_through((box, t + h)):
        return NOT_CONVERGED
    if net.solids.phi.shape[0] == 0 and par.has_facets == 0:
        keep_centres((box, x))
    release(net)
    for k in range(net.slot.shape[0]):
        s = net.slot[k]
        for c in range(3):
            state.v[s, c] = (x[s, c] - net.before[s, c]) / h  # (2)
            par.lag[s, c] = par.wander[1, s, c] - (net.aim[s, c] - net.before[s, c]) / h  # (3)
    arrive_turning((box, h))
    return OK


@inline
def longest_piece(state, par, h):
    """Of MOST_PIECES: how many in one, such that nothing moves over more than a part of the smallest ball, nor, where
    sheets may touch, over many edges: the search for what they meet would find everything."""
    net = par.net
    count = net.nodes.order.shape[0]
    node = 0.0
    ball = 0.0
    for k in range(net.slot.shape[0]):
        s = net.slot[k]
        speed = net.metres[k] ** 2 * (state.v[s, 0] ** 2 + state.v[s, 1] ** 2 + state.v[s, 2] ** 2)
        if k < count:
            node = max(node, speed)
        else:
            ball = max(ball, speed)
    size = MOST_PIECES
    while size > 1 and (sqrt(node) + sqrt(ball)) * h * size > REACH * par.ball * MOST_PIECES:
        size //= 2
    while par.has_facets == 1 and size > 1 and sqrt(node) * h * size > LONGEST_WAY * par.edge * MOST_PIECES:
        size //= 2
    return size


@inline
def remembered(par):
    """How much of `memory` is in use: forces of the piece before are for Adams-Bashforth alone."""
    return par.memory.shape[0] if par.rule == ADAMS_BASHFORTH else 3


@far(NOTHING, WHOLE)
@compiled
def keep(box, k):
    system, state, par = open_box(box)
    kept = par.kept[k]
    copy3(state.x, kept[0])
    copy3(state.v, kept[1])
    copy3(par.lag, kept[2])
    copy4(state.quat, par.kept_quat[k])
    copy1(par.holding, par.kept_holding[k])
    for i in range(remembered(par)):
        par.kept_memory[k, i] = par.memory[i]


@far(NOTHING, WHOLE)
@compiled
def restore(box, k):
    system, state, par = open_box(box)
    kept = par.kept[k]
    copy3(kept[0], state.x)
    copy3(kept[1], state.v)
    copy3(kept[2], par.lag)
    copy4(par.kept_quat[k], state.quat)
    copy1(par.kept_holding[k], par.holding)
    for i in range(remembered(par)):
        par.memory[i] = par.kept_memory[k, i]


@far(WHOLE, NUMBER, NUMBER)
@compiled
def in_pieces(box, t, h):
    """A step in pieces as long as converge; the next step begins with the last length."""
    system, state, par = open_box(box)
    net, memory = par.net, par.memory
    longest = longest_piece(state, par, h)
    size = min(int(memory[0]), longest) if memory[0] > 0.0 else longest
    done = 0
    par.pieces[0] = 0
    while done < MOST_PIECES:
        dt, now = h * size / MOST_PIECES, t + h * done / MOST_PIECES
        if done > 0:
            keep((box, THIS_PIECE))
        take_up(net)
        status = piece((box, now, dt))
        if status == OK:
            done += size
            par.pieces[0] += 1
            memory[1] = max(memory[1] - 1.0, 0.0)
            if memory[1] == 0.0 and done % (2 * size) == 0 and 2 * size <= longest:
                size *= 2
            continue
        if status == PAIRS_FULL or size == 1:
            return status
        restore((box, THIS_PIECE if done > 0 else WHOLE_STEP))
        be_at((box, now, state.x))
        size //= 2
        memory[1] = REST
    memory[0] = size
    return OK


@far(WHOLE, NUMBER, NUMBER)
@compiled
def whole_step(box, t, h):
    system, state, par = open_box(box)
    net, work = par.net, system.work
    keep((box, WHOLE_STEP))
    par.whole[0] = h
    status = in_pieces((box, t, h))
    if status != OK:
        restore((box, WHOLE_STEP))
        if status == PAIRS_FULL:
            be_at((box, t, state.x))
            return status
    be_at((box, t + h, state.x))
    for e in range(net.hard_row.shape[0]):
        state.lam[net.hard_row[e]] = -net.edges.tension[e]
    for p in range(net.joins.row.shape[0]):
        for c in range(3):
            state.lam[net.joins.row[p] + c] = -net.joins.force[p, c]
    work.counts[LINEAR_SOLVES] += net.counts[0]
    work.counts[CORRECTIONS] += net.counts[2]
    net.counts[0], net.counts[2] = 0, 0
    return status


@compiled
def step(system, state, t, h, par):
    status = whole_step((par.box, t, h))
    if status == OK:
        count_drivers(system, state, t + h, h)
    return status
