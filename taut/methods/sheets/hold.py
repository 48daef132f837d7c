"""Steps of sheets whose edges and contacts are held by multipliers, to tolerances, at any stiffness.

    x* = x after the unconstrained part: forces alone, in small steps or one                     (1)
    M (x' - x*)/h² + Σ T u - Σ λ ω n = 0,    v' = v* + (x' - x*)/h                               (2)
    hard edges   |l - L| ≤ tolerance L;      limits   l ≤ (1 + limit) L,  T ≥ 0,  one of them an equality
    contacts     gap ≥ 0,  λ ≥ 0,  one of them an equality

(2) is solved by newton.py from the multipliers of the step before. Limits and contacts start with a soft κ, which
lets their set settle, and become stiffer as their multipliers settle. A step that does not converge, or in which
something went through a solid, is taken again in more pieces.

Between sheets, rows are found where all stood last without crossing, and what Newton's method proposes is cut
back node by node to a motion that passes through nothing (cloth/safe.py); then rows are found again.
"""

from __future__ import annotations

from math import ceil, sqrt

from ...cloth.proximity import MORE_ROOM, find_rows
from ...cloth.safe import HELD_CUT, find_fractions
from ...cloth.springs import add_forces
from ...jit import part, word
from ...model.evaluate import apply, inequalities_at, set_time
from ..base import NOT_CONVERGED, OK, PAIRS_FULL
from .box import NOTHING, NUMBER, TABLE, TRUTH, VECTOR, WHOLE, far, open_box
from .newton import (
    assemble_edges,
    assemble_facets,
    assemble_solids,
    assemble_springs,
    factor,
    imbalance,
    largest_move,
    move,
    solve,
    solve_with_facets,
    start_rhs,
    take_edges,
    take_rows,
)
from .rows import (
    NOTHING_OFF,
    aim_edges,
    enter_edges,
    enter_rows,
    measure_balls,
    measure_edges,
    measure_facets,
    settle_shifts,
    worst_of,
)
from .tables import ADAMS_BASHFORTH, LONGEST_SUBSTEP, SUBSTEPS

MOST_PIECES = 64
MOST_ITERATIONS = 30
MOST_PROJECTIONS = 60
ROUNDS = 3  # of finding rows between sheets
# κ in units of m/h²: of hard edges; of limits and contacts with solids, from and to; between sheets, to begin with
HARD, SOFT, STIFFEST, LOOSE, RAMP = 1e9, 1e3, 1e7, 20.0, 4.0
OFF_LIMIT = 3e-4  # of the length of an edge
OFF_CONTACT = 5e-4  # of the mean edge
OFF_FACET = 0.5  # of the distance asked for: thickness is what keeps sheets apart, and may be pressed
IMBALANCE = 0.02  # of the mean edge: what (2) may be off
# What is off at the start of a step is taken back little by little: the share in one step, and how long it lasts [s]
RECOVERY, RECOVERY_TIME = 0.05, 0.1
USUAL_STEP = 1.0 / 240.0  # [s]: in shorter ones forces are balanced as much better as they move things less
REACH = 0.5  # of a ball's radius: its way over nodes in one piece
LONGEST_MOVE = 0.5  # of the mean edge, in one iteration
SOOTHING = 0.1  # of a step: for how long springs remember their speed in small steps
THROUGH = 0.2  # of the mean edge: so deep halfway, and outside again, is gone through


@word
def copy3(source, out):
    for i in range(out.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = source[i, 0], source[i, 1], source[i, 2]


@word
def damp_springs(springs, damping, time):
    """Waves too fast for the step h would beat with it; damping for a part of h takes them away: c + time k."""
    for q in range(damping.shape[0]):
        springs.damping[q] = damping[q] + time * springs.k[q]


@word
def forces_without_springs(system, t, x, quat, v, par):
    """Into work.f."""
    members = system.forces.members
    for k in range(par.batch.shape[0]):
        members[par.batch[k]] = 0
    apply(system, t, x, quat, v)
    for k in range(par.batch.shape[0]):
        members[par.batch[k]] = par.members[k]


@word
def kick(v, w, dt, f):
    for i in range(w.shape[0]):
        for c in range(3):
            v[i, c] += dt * w[i] * f[i, c]


@word
def drift(x, v, w, dt):
    for i in range(w.shape[0]):
        if w[i] > 0.0:
            for c in range(3):
                x[i, c] += dt * v[i, c]


@word
def extrapolate(f, memory):
    """Adams-Bashforth 2: 3/2 f - 1/2 f of the step before, which f becomes."""
    k = 1
    for i in range(f.shape[0]):
        for c in range(3):
            now = f[i, c]
            if memory[0] == 1.0:
                f[i, c] = 1.5 * now - 0.5 * memory[k]
            memory[k] = now
            k += 1
    memory[0] = 1.0


@far(NOTHING, NUMBER, NUMBER)
@part
def wander(box, t, h):
    """(1): net.aim, and v* in par.wander[1]. Small steps are for springs; the other forces act at once, so that what
    constraints keep at rest has no velocity."""
    system, state, par = open_box(box)
    x, v, w, f = par.wander[0], par.wander[1], par.w, system.work.f
    copy3(state.x, x)
    copy3(state.v, v)
    steps = 1
    if par.rule == SUBSTEPS:
        steps = max(1, ceil(h * par.frequency / LONGEST_SUBSTEP))
    dt = h / steps
    forces_without_springs(system, t, x, state.quat, v, par)
    if steps == 1:
        add_forces(par.free, x, v, f)
        if par.rule == ADAMS_BASHFORTH:
            extrapolate(f, par.memory)
        kick(v, w, h, f)
        drift(x, v, w, h)
    else:
        damp_springs(par.free, par.damping, min(SOOTHING * h, 2.0 / par.frequency))
        kick(v, w, h, f)
        for k in range(steps):
            if k > 0:
                set_time(system, t + k * dt, x, state.quat, v)
            for i in range(w.shape[0]):
                f[i, 0], f[i, 1], f[i, 2] = 0.0, 0.0, 0.0
            add_forces(par.free, x, v, f)
            kick(v, w, dt, f)
            drift(x, v, w, dt)
    copy3(x, par.net.aim)


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
    stiff = max(SOFT, par.stiff[0] / (RAMP * RAMP)) * unit
    tolerance = par.numbers[0]
    limit_tolerance = max(OFF_LIMIT, tolerance)
    contact_tolerance = OFF_CONTACT * par.edge
    balance = IMBALANCE * par.edge * min(1.0, (h / USUAL_STEP) ** 2)
    settle_shifts(edges, solids, walls)
    changes = 0
    for it in range(MOST_ITERATIONS):
        hard, soft = measure_edges(edges, x)
        measure_solids((box, t, x))
        measure_facets(facets, between, x, par.apart)
        touch = worst_of(solids, walls)
        near = worst_share(facets, between, par.apart)
        entered = 0
        entered += enter_edges(edges, limit_tolerance)
        entered += enter_rows(solids, walls, NOTHING_OFF * par.edge, contact_tolerance)
        entered += enter_near(facets, between, par.apart)
        off = imbalance((box, x, h))
        par.trace[it, 0], par.trace[it, 1], par.trace[it, 2], par.trace[it, 3], par.trace[it, 4], par.trace[it, 5], par.trace[it, 6], par.trace[it, 7], par.trace[it, 8], par.trace[it, 9] = hard, soft, touch / par.edge, near, off / par.edge, entered, changes, stiff / unit, between, net.counts[1]
        balanced = it > 0 and off <= balance
        within = hard <= tolerance and soft <= limit_tolerance and touch <= contact_tolerance and near <= OFF_FACET
        if balanced and within and entered == 0:
            par.stiff[0] = stiff / unit
            return OK
        if balanced and changes + entered <= 2 + (edges.i.shape[0] + walls) // 50:
            settle_shifts(edges, solids, walls)
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
        hard, soft = measure_edges(edges, x)
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


@far(WHOLE, NUMBER, NUMBER)
@part
def find_facets(box, reach, share):
    """Rows between sheets where all stand safely. Returns OK, PAIRS_FULL or NOT_CONVERGED."""
    system, state, par = open_box(box)
    net, near, of = par.net, par.near, par.surface
    rows = net.facets
    count = find_rows(near, of, par.safe, par.w, reach)
    net.facet_count[0] = 0
    if count < 0:
        return PAIRS_FULL if count == MORE_ROOM else NOT_CONVERGED
    for r in range(count):
        for k in range(4):
            s = near.nodes[r, k]
            rows.slot[r, k] = s
            rows.unknown[r, k] = net.unknown[s]
            rows.weight[r, k] = near.weights[r, k]
        for c in range(3):
            rows.n[r, c] = near.normal[r, c]
        a, b = of.sheet[near.nodes[r, 0]], of.sheet[near.nodes[r, 3]]
        thick = par.thickness[a, b]
        now = near.distance[r]
        par.apart[r] = thick if now >= thick else now + share * (thick - now)
        rows.friction[r] = par.friction[a, b]
        rows.lam[r] = 0.0
        rows.shift[r] = 0.0
        rows.on[r] = False
    net.facet_count[0] = count
    return OK


@far(WHOLE, NUMBER, NUMBER)
@part
def newton_between(box, t, h):
    """newton with rows between sheets, and only motions that pass through nothing."""
    system, state, par = open_box(box)
    net, x = par.net, state.x
    copy3(net.before, par.safe)
    thickest = 0.0
    for i in range(par.thickness.shape[0]):
        thickest = max(thickest, par.thickness[i, i])
    status = OK
    for _ in range(ROUNDS):
        farthest = 0.0
        for k in range(net.slot.shape[0]):
            s = net.slot[k]
            for c in range(3):
                farthest = max(farthest, abs(x[s, c] - par.safe[s, c]))
        status = find_facets((box, 1.5 * thickest + min(2.0 * farthest, par.edge), min(RECOVERY, h / RECOVERY_TIME)))
        if status != OK:
            return status
        status = newton((box, t, h))
        if status != OK:
            return status
        found = find_fractions(par.motion, par.surface, par.safe, x, par.w, par.fraction)
        if found == MORE_ROOM:
            return PAIRS_FULL
        if found < 0 or found == HELD_CUT:
            return NOT_CONVERGED
        cut = False
        for i in range(par.w.shape[0]):
            if par.w[i] > 0.0 and par.fraction[i] < 1.0:
                cut = True
                for c in range(3):
                    x[i, c] = par.safe[i, c] + par.fraction[i] * (x[i, c] - par.safe[i, c])
        copy3(x, par.safe)
        if not cut:
            return OK
    return OK


@far(NOTHING, NUMBER, NUMBER)
@part
def aim_solids(box, t, share):
    """What is inside a solid at the start of a step may stay so for the most part; normals there are kept."""
    system, state, par = open_box(box)
    rows = par.net.solids
    for r in range(rows.phi.shape[0]):
        rows.allowed[r] = 0.0
    measure_solids((box, t, par.net.before))
    for r in range(rows.phi.shape[0]):
        rows.allowed[r] = (1.0 - share) * max(rows.phi[r], 0.0)
        for c in range(3):
            rows.n0[r, c] = rows.n[r, c]


@far(TRUTH, NUMBER)
@part
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


@far(WHOLE, NUMBER, NUMBER)
@part
def piece(box, t, h):
    """One implicit step."""
    system, state, par = open_box(box)
    net, x = par.net, state.x
    copy3(x, net.before)
    wander((box, t, h))
    share = min(RECOVERY, h / RECOVERY_TIME)
    aim_edges(net.edges, net.before, share)
    aim_solids((box, t, share))
    set_time(system, t + h, x, state.quat, state.v)
    for k in range(net.slot.shape[0]):
        s = net.slot[k]
        for c in range(3):
            x[s, c] = net.aim[s, c] if par.projects == 1 else x[s, c] + h * state.v[s, c]
    if par.projects == 1:
        status = project((box, h))
    elif par.has_facets == 1:
        status = newton_between((box, t + h, h))
    else:
        status = newton((box, t + h, h))
    if status != OK:
        return status
    if net.solids.phi.shape[0] > 0 and went_through((box, t + h)):
        return NOT_CONVERGED
    release(net)
    for k in range(net.slot.shape[0]):
        s = net.slot[k]
        for c in range(3):
            state.v[s, c] = par.wander[1, s, c] + (x[s, c] - net.aim[s, c]) / h  # (2)
    return OK


@word
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


@word
def take_up(net):
    """Who is on at the start of a step."""
    edges, rows = net.edges, net.solids
    for e in range(edges.i.shape[0]):
        edges.on[e] = not edges.one_sided[e] or edges.tension[e] > 0.0
    for r in range(rows.phi.shape[0]):
        rows.on[r] = rows.lam[r] > 0.0


@word
def pieces_for(state, par, h):
    """In how many pieces nothing moves over more than a part of the smallest ball."""
    net = par.net
    count = net.nodes.order.shape[0]
    node = 0.0
    ball = 0.0
    for k in range(net.slot.shape[0]):
        s = net.slot[k]
        speed = state.v[s, 0] ** 2 + state.v[s, 1] ** 2 + state.v[s, 2] ** 2
        if k < count:
            node = max(node, speed)
        else:
            ball = max(ball, speed)
    pieces = 1
    while pieces < MOST_PIECES and (sqrt(node) + sqrt(ball)) * h > REACH * par.ball * pieces:
        pieces *= 2
    return pieces


@word
def keep(state, par):
    copy3(state.x, par.kept[0])
    copy3(state.v, par.kept[1])
    edges, rows = par.net.edges, par.net.solids
    count = edges.i.shape[0]
    for e in range(count):
        par.kept_rows[e] = edges.tension[e]
        par.kept_rows[count + e] = edges.last[e]
    for r in range(rows.phi.shape[0]):
        par.kept_rows[2 * count + r] = rows.lam[r]
    for i in range(par.w.shape[0]):
        for c in range(3):
            par.kept[2, i, c] = par.memory[1 + 3 * i + c]


@word
def restore(state, par):
    copy3(par.kept[0], state.x)
    copy3(par.kept[1], state.v)
    edges, rows = par.net.edges, par.net.solids
    count = edges.i.shape[0]
    for e in range(count):
        edges.tension[e] = par.kept_rows[e]
        edges.last[e] = par.kept_rows[count + e]
    for r in range(rows.phi.shape[0]):
        rows.lam[r] = par.kept_rows[2 * count + r]
    for i in range(par.w.shape[0]):
        for c in range(3):
            par.memory[1 + 3 * i + c] = par.kept[2, i, c]


@far(WHOLE, NUMBER, NUMBER)
@part
def whole_step(box, t, h):
    system, state, par = open_box(box)
    keep(state, par)
    net, work = par.net, system.work
    before = par.memory[0]
    stiff = par.stiff[0]
    pieces = pieces_for(state, par, h)
    status = NOT_CONVERGED
    while pieces <= MOST_PIECES:
        take_up(net)
        for k in range(pieces):
            dt = h / pieces
            if k > 0:
                set_time(system, t + k * dt, state.x, state.quat, state.v)
            status = piece((box, t + k * dt, dt))
            if status != OK:
                break
        if status == OK:
            break
        restore(state, par)
        par.memory[0] = before
        par.stiff[0] = stiff
        set_time(system, t, state.x, state.quat, state.v)
        if status == PAIRS_FULL:
            return status
        pieces *= 2
    par.pieces[0] = pieces
    set_time(system, t + h, state.x, state.quat, state.v)
    for r in range(state.lam.shape[0]):
        state.lam[r] = -net.edges.tension[r]
    work.counts[0] += net.counts[0]
    work.counts[1] += net.counts[2]
    net.counts[0], net.counts[2] = 0, 0
    return status


@part
def step(system, state, t, h, par):
    return whole_step((par.box, t, h))


@far(NOTHING, VECTOR)
@part
def hand_over(box, lam):
    """λ of hard edges, then of listed inequalities."""
    system, state, par = open_box(box)
    hard = state.lam.shape[0]
    for r in range(hard):
        lam[r] = state.lam[r]
    for k in range(lam.shape[0] - hard):
        r = par.ineq.listed[k]
        lam[hard + k] = par.ineq.sign[r] * par.net.solids.lam[r]


@part
def observe(system, state, t, par, lam):
    hand_over((par.box, lam))


@word
def add_contacts(net, rows, count, force):
    pushing = 0
    for r in range(count):
        if rows.lam[r] > 0.0 and rows.on[r]:
            pushing += 1
            for k in range(4):
                s = rows.slot[r, k]
                if s >= 0 and net.unknown[s] >= 0:
                    for c in range(3):
                        force[s, c] += rows.lam[r] * rows.weight[r, k] * rows.n[r, c]
    return pushing


@far(NOTHING, NUMBER, VECTOR, VECTOR, TABLE, VECTOR)
@part
def measure_now(box, t, phi, rate, force, totals):
    """Inequalities of a record: Φ and dΦ/dt of listed ones, forces, how many push, the deepest, limits that are on."""
    system, state, par = open_box(box)
    net, ineq = par.net, par.ineq
    edges, solids = net.edges, net.solids
    for i in range(force.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
    pushing = add_contacts(net, net.facets, net.facet_count[0], force)
    if solids.phi.shape[0] > 0:
        measure_solids((box, t, state.x))
        pushing += add_contacts(net, solids, solids.phi.shape[0], force)
    hard = phi.shape[0] - ineq.listed.shape[0]
    for k in range(ineq.listed.shape[0]):
        r = ineq.listed[k]
        phi[hard + k] = ineq.phi[r]
        total = ineq.phi_t[r]
        for b in range(ineq.rows.ptr[r], ineq.rows.ptr[r + 1]):
            s = ineq.rows.slot[b]
            for c in range(3):
                total += ineq.J[b, c] * state.v[s, c]
        rate[hard + k] = total
    deepest = 0.0
    for r in range(solids.phi.shape[0]):
        deepest = max(deepest, solids.phi[r])
    limited = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e] and edges.on[e]:
            limited += 1
    if totals.shape[0] > 0:
        totals[0], totals[1] = pushing, deepest
    if totals.shape[0] > 2:
        totals[2] = limited


@part
def measure(system, state, t, par, phi, rate, slide, force, totals):
    measure_now((par.box, t, phi, rate, force, totals))
