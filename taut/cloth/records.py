"""What records keep of edges and contacts, and the work of drivers."""

from __future__ import annotations

from ..compiled import compiled, inline
from ..model.evaluate import apply, constraints, find_drift, impulse_power, power_against_forces
from .context import NOTHING, NUMBER, TABLE, VECTOR, far, open_box
from .external_contact import measure_rows, measure_solids


@compiled
def count_drivers(system, state, t, h):
    """The work of drivers in a step of h that ends at t, of first order as these steps are. λ of pins and hard edges
    is that of the step; contacts with what moves on its own are not in it."""
    if system.driven == 1:
        constraints(system, t, state.x, state.quat, state.v, False, system.work.J)
        apply(system, t, state.x, state.quat, state.v)
        find_drift(system, system.work.J, state.v)
        state.ledger[0] += h * (impulse_power(system, state.lam) + power_against_forces(system, state.v))


@inline
def hand_over_rows(state, ineq, rows, lam):
    """λ of hard edges, then of listed inequalities."""
    hard = state.lam.shape[0]
    for r in range(hard):
        lam[r] = state.lam[r]
    for k in range(lam.shape[0] - hard):
        r = ineq.listed[k]
        lam[hard + k] = ineq.sign[r] * rows.lam[r]


@far(NOTHING, VECTOR)
@compiled
def hand_over(box, lam):
    system, state, par = open_box(box)
    hand_over_rows(state, par.ineq, par.net.solids, lam)


@compiled
def observe(system, state, t, par, lam):
    hand_over((par.box, lam))


@inline
def add_contacts(places, rows, count, force):
    pushing = 0
    for r in range(count):
        if rows.lam[r] > 0.0 and rows.on[r]:
            pushing += 1
            for k in range(4):
                s = rows.slot[r, k]
                if s >= 0 and rows.unknown[r, k] >= 0:
                    if rows.spin[r] >= 0 and rows.which[r] == k:
                        s = places.slot[rows.place[r]]
                    for c in range(3):
                        force[s, c] += rows.weight[r, k] * (rows.lam[r] * rows.n[r, c] + rows.rub[r, c])
    return pushing


@inline
def measure_listed(state, ineq, phi, rate):
    """Φ and dΦ/dt of listed inequalities, behind those of hard edges."""
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


@inline
def deepest(rows):
    depth = 0.0
    for r in range(rows.phi.shape[0]):
        depth = max(depth, rows.phi[r])
    return depth


@far(NOTHING, NUMBER, VECTOR, VECTOR, TABLE, VECTOR)
@compiled
def measure_now(box, t, phi, rate, force, totals):
    """Inequalities of a record: Φ and dΦ/dt of listed ones, forces, how many push, the deepest, limits that are on."""
    system, state, par = open_box(box)
    net, ineq = par.net, par.ineq
    edges, solids = net.edges, net.solids
    for i in range(force.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
    pushing = add_contacts(system.places, net.facets, net.facet_count[0], force)
    if solids.phi.shape[0] > 0:
        measure_solids((box, t, state.x))
        pushing += add_contacts(system.places, solids, solids.phi.shape[0], force)
    measure_listed(state, ineq, phi, rate)
    limited = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e] and edges.on[e]:
            limited += 1
    if totals.shape[0] > 0:
        totals[0], totals[1] = pushing, deepest(solids)
    if totals.shape[0] > 2:
        totals[2] = limited


@compiled
def measure(system, state, t, par, phi, rate, slide, force, totals):
    measure_now((par.box, t, phi, rate, force, totals))


@compiled
def observe_bumps(system, state, t, par, lam):
    """λ of the last step in `par.solids` (baselines/position_contact.py)."""
    hand_over_rows(state, par.solids.ineq, par.solids.rows, lam)


@compiled
def measure_bumps(system, state, t, par, phi, rate, slide, force, totals):
    """Inequalities of a record: Φ and dΦ/dt of listed ones, forces, how many push and the deepest."""
    ineq, rows = par.solids.ineq, par.solids.rows
    count = rows.phi.shape[0]
    for i in range(force.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
    if count > 0:
        measure_rows(system, ineq, rows, par.solids.radius, t, state.x, state.quat, state.v)
        pushing = add_contacts(system.places, rows, count, force)
        measure_listed(state, ineq, phi, rate)
        totals[0], totals[1] = pushing, deepest(rows)
