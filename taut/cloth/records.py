"""Edges and contacts in records, and the work of drivers."""

from __future__ import annotations

from ..compiled import compiled, inline
from ..model.arrays import DRIVER_WORK
from ..model.evaluate import evaluate_constraints, evaluate_forces, find_drift, impulse_power, power_against_forces
from .external_contact import evaluate_external, evaluate_rows


@compiled
def accumulate_driver_work(system, state, t, h):
    """The work of drivers in a step of h that ends at t, of first order as these steps are. λ of pins and hard edges
    is that of the step; contacts with what moves on its own are not in it."""
    if system.driven == 1:
        evaluate_constraints(system, t, state.x, state.quat, state.v, False, system.work.J)
        evaluate_forces(system, t, state.x, state.quat, state.v)
        find_drift(system, system.work.J, state.v)
        state.ledger[DRIVER_WORK] += h * (impulse_power(system, state.lam) + power_against_forces(system, state.v))


@inline
def write_multipliers(state, ineq, rows, lam):
    """λ of hard edges, then of listed inequalities."""
    hard = state.lam.shape[0]
    for r in range(hard):
        lam[r] = state.lam[r]
    for k in range(lam.shape[0] - hard):
        r = ineq.listed[k]
        lam[hard + k] = ineq.sign[r] * rows.lam[r]


@compiled
def observe(system, state, t, ctx, lam):
    """λ for a record."""
    write_multipliers(state, ctx.ineq, ctx.external, lam)


@inline
def add_contact_forces(places, rows, count, force):
    """Forces of active rows on their members. Returns how many push."""
    pushing = 0
    for r in range(count):
        if rows.lam[r] > 0.0 and rows.active[r]:
            pushing += 1
            for k in range(4):
                s = rows.slot[r, k]
                if s >= 0 and rows.unknown[r, k] >= 0:
                    if rows.rotation[r] >= 0 and rows.body_member[r] == k:
                        s = places.slot[rows.place[r]]
                    for c in range(3):
                        force[s, c] += rows.weight[r, k] * (rows.lam[r] * rows.n[r, c] + rows.friction_force[r, c])
    return pushing


@inline
def write_listed(state, ineq, phi, rate):
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
def max_depth(rows):
    """The largest depth [m]."""
    depth = 0.0
    for r in range(rows.phi.shape[0]):
        depth = max(depth, rows.phi[r])
    return depth


@compiled
def measure(system, state, t, ctx, phi, rate, slide, force, totals, energy):
    """Inequalities of a record: Φ and dΦ/dt of listed ones, forces, how many push, the deepest, active limits."""
    ineq = ctx.ineq
    edges, external = ctx.edges, ctx.external
    for i in range(force.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
    pushing = add_contact_forces(system.places, ctx.self_contact.rows, ctx.self_contact.row_count[0], force)
    if external.phi.shape[0] > 0:
        evaluate_external(system, state, ctx, t, state.x)
        pushing += add_contact_forces(system.places, external, external.phi.shape[0], force)
    write_listed(state, ineq, phi, rate)
    limited = 0
    for e in range(edges.i.shape[0]):
        if edges.one_sided[e] and edges.active[e]:
            limited += 1
    if totals.shape[0] > 0:
        totals[0], totals[1] = pushing, max_depth(external)
    if totals.shape[0] > 2:
        totals[2] = limited


@compiled
def observe_baseline(system, state, t, ctx, lam):
    """λ of the last step in `ctx.contacts` (baselines/position_contact.py)."""
    write_multipliers(state, ctx.contacts.ineq, ctx.contacts.rows, lam)


@compiled
def measure_baseline(system, state, t, ctx, phi, rate, slide, force, totals, energy):
    """Inequalities of a record: Φ and dΦ/dt of listed ones, forces, how many push and the deepest."""
    ineq, rows = ctx.contacts.ineq, ctx.contacts.rows
    count = rows.phi.shape[0]
    for i in range(force.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
    if count > 0:
        evaluate_rows(system, ineq, rows, ctx.contacts.radius, t, state.x, state.quat, state.v)
        pushing = add_contact_forces(system.places, rows, count, force)
        write_listed(state, ineq, phi, rate)
        totals[0], totals[1] = pushing, max_depth(rows)
