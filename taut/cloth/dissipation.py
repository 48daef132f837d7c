"""Energy dissipated by limits, contacts and friction in a step, and the work of drivers against them.

A row with the multiplier λ and the force F_k = λ ω_k n + ω_k f on its members changes the kinetic energy of free bodies
from that of the prediction, v̄ = (x* - x)/h, to that of v' = (x' - x)/h by h Σ F_k·(v̄_k + v'_k)/2 over free members.
With m(v) = Σ ω_k v_k over all members and r(v) = n·m(v) + dΦ/dt of an obstacle that moves, this is

    -h λ (r(v̄) + r(v'))/2      is taken by the impact                                           (1)
    -h f·(m(v̄) + m(v'))/2      is taken by friction                                             (2)
    -h (λ n + f)·m(v_d) - h λ ∂Φ/∂t      is the work of drivers, v_d being that of driven members (3)
    h T u·((v̄_i - v̄_j) + (v'_i - v'_j))/2      is taken by a limit with the tension T            (4)

While a contact lasts, r is of the order of h, and what (1) and (4) take vanishes with h; in an impact it does not.
"""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from ..model.arrays import DRIVER_WORK, FORCE_WORK, FRICTION_LOSS, IMPACT_LOSS
from ..model.evaluate import evaluate_forces


@inline
def member_velocity(places, rows, r, v, driven_only):
    """m(v) of a row, of all its members or of those that are driven; also of a place on a rigid body."""
    m0 = 0.0
    m1 = 0.0
    m2 = 0.0
    for k in range(4):
        s = rows.slot[r, k]
        if s < 0 or (driven_only and rows.unknown[r, k] >= 0):
            continue
        if rows.rotation[r] >= 0 and rows.body_member[r] == k:
            s = places.slot[rows.place[r]]
        w = rows.weight[r, k]
        m0 += w * v[s, 0]
        m1 += w * v[s, 1]
        m2 += w * v[s, 2]
    if rows.rotation[r] >= 0 and not driven_only:
        s = places.slot[rows.place[r]] + 1
        for c in range(3):
            m0 += rows.lever[r, 0, c] * v[s, c]
            m1 += rows.lever[r, 1, c] * v[s, c]
            m2 += rows.lever[r, 2, c] * v[s, c]
    return m0, m1, m2


@inline
def obstacle_rate(ineq, r):
    """∂Φ/∂t of the obstacle of an external row, turned so that Φ ≥ 0 is wanted."""
    return ineq.sign[r] * ineq.phi_t[r] if r < ineq.phi.shape[0] else 0.0


@on_demand(types.none)
def accumulate_row_losses(places, ineq, rows, count, v, h, is_external, ledger):
    """Half of (1) and (2) with the velocities v, which are v̄ or v'."""
    for r in range(count):
        if rows.active[r] and rows.lam[r] > 0.0:
            m0, m1, m2 = member_velocity(places, rows, r, v, False)
            rate = m0 * rows.n[r, 0] + m1 * rows.n[r, 1] + m2 * rows.n[r, 2]
            rate += obstacle_rate(ineq, r) if is_external else 0.0
            f = rows.friction_force[r]
            ledger[IMPACT_LOSS] -= 0.5 * h * rows.lam[r] * rate  # (1)
            ledger[FRICTION_LOSS] -= 0.5 * h * (f[0] * m0 + f[1] * m1 + f[2] * m2)  # (2)


@compiled
def add_driver_work(places, ineq, rows, v, h, ledger):
    """(3) of external rows."""
    for r in range(rows.phi.shape[0]):
        if rows.active[r] and rows.lam[r] > 0.0:
            m0, m1, m2 = member_velocity(places, rows, r, v, True)
            f, lam = rows.friction_force[r], rows.lam[r]
            power = (lam * rows.n[r, 0] + f[0]) * m0 + (lam * rows.n[r, 1] + f[1]) * m1
            power += (lam * rows.n[r, 2] + f[2]) * m2 + lam * obstacle_rate(ineq, r)
            ledger[DRIVER_WORK] -= h * power  # (3)


@compiled
def accumulate_limit_losses(edges, unknown, v_mean, v, h, ledger):
    """(4), and the work of drivers at the ends of limited edges."""
    for e in range(edges.i.shape[0]):
        if not edges.one_sided[e] or not edges.active[e]:
            continue
        i, j, T = edges.i[e], edges.j[e], edges.tension[e]
        rate = 0.0
        driven = 0.0
        for c in range(3):
            u = edges.u[e, c]
            rate += 0.5 * u * (v_mean[i, c] + v[i, c] - v_mean[j, c] - v[j, c])
            driven += u * (v[i, c] if unknown[i] < 0 else 0.0) - u * (v[j, c] if unknown[j] < 0 else 0.0)
        ledger[IMPACT_LOSS] += h * T * rate
        ledger[DRIVER_WORK] += h * T * driven


@inline
def set_mean_velocities(state, ctx, h, out):
    """v̄ of what moves freely; v' of all else."""
    for i in range(out.shape[0]):
        for c in range(3):
            out[i, c] = state.v[i, c]
    for k in range(ctx.problem.slot.shape[0]):
        s = ctx.problem.slot[k]
        turns = ctx.rotations.index_of[k] >= 0
        for c in range(3):
            mean = (ctx.work.x_pred[s, c] - ctx.work.x_start[s, c]) / h
            out[s, c] = ctx.work.v_pred[s, c] if turns else mean


@compiled
def accumulate_losses(system, state, ctx, h):
    """Add up the energy dissipated by limits, contacts and friction in a substep of h, and the work of drivers against
    them."""
    external, between = ctx.external, ctx.self_contact
    if external.phi.shape[0] == 0 and ctx.problem.has_limits == 0 and ctx.problem.has_self_contact == 0:
        return
    v_mean, ledger, places, ineq = ctx.work.v_mean, state.ledger, system.places, ctx.ineq
    set_mean_velocities(state, ctx, h, v_mean)
    for v in (v_mean, state.v):
        accumulate_row_losses(places, ineq, external, external.phi.shape[0], v, h, True, ledger)
        accumulate_row_losses(places, ineq, between.rows, between.row_count[0], v, h, False, ledger)
    add_driver_work(places, ineq, external, state.v, h, ledger)
    accumulate_limit_losses(ctx.edges, ctx.problem.unknown, v_mean, state.v, h, ledger)


@compiled
def accumulate_force_work(system, state, t, h):
    """Work of forces without potential in a step of h that ends at t: wind, drag, damping of springs, users' forces."""
    if system.accumulates_work == 1:
        evaluate_forces(system, t, state.x, state.quat, state.v)
        state.ledger[FORCE_WORK] += h * system.work.power[0]
