"""Coulomb friction of contacts, with sticking regularised as slow creep.

    friction              f = -μ λ s / max(|s|, ε h)                                             (1)
    resistance of a row   κ nnᵀ + τ (I - nnᵀ - ddᵀ)                                              (2)
    trial                 t = c s - (1 - c/τ₀) f,     τ₀ = μ λ / ε h,   c ≤ τ₀                   (3)
    sticks, |t| ≤ μ λ     τ = τ₀,                                       d = 0,     f = -τ s      (4)
    slips                 τ = μ λ c / (|t| - (1 - c/τ₀) μ λ),           d = t/|t|,               (5)
                          f = -μ λ d - τ (s - d d·s)

s is the sliding of a contact in this step; Coulomb's bound uses the λ of an earlier iteration (`lam_frozen`). (3) to
(5) are Newton's method on s and f together: whether a contact sticks is judged by s and by f of the previous iteration.
Judged by s alone, a contact that has stopped would reverse again and again. c is about the mass of a node divided by
h². With c = 0 every contact is treated as sticking, with τ = μ λ/max(|s|, ε h), which never overshoots but converges
slowly (augmented_lagrangian.py).
"""

from __future__ import annotations

from math import sqrt

from numba import types

from ..compiled import compiled, inline, on_demand


@compiled
def freeze_normal_force(rows, count):
    """Use the current λ in Coulomb's bound."""
    for r in range(count):
        rows.lam_frozen[r] = rows.lam[r] if rows.active[r] else 0.0


@compiled
def clear_normal_force(rows, count):
    for r in range(count):
        rows.lam_frozen[r] = 0.0


@compiled
def normal_force_change(rows, count):
    """The largest difference between λ and the frozen λ, divided by the largest λ."""
    change = 0.0
    largest = 0.0
    for r in range(count):
        now = rows.lam[r] if rows.active[r] else 0.0
        if rows.friction[r] > 0.0:
            change = max(change, abs(now - rows.lam_frozen[r]))
            largest = max(largest, now)
    return change / max(largest, 1e-300)


@compiled
def has_friction(rows, count):
    for r in range(count):
        if rows.friction[r] > 0.0:
            return True
    return False


@inline
def sliding(rows, r, x, before):
    """s: the tangential displacement between the members of a row in this step."""
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    for k in range(4):
        i = rows.slot[r, k]
        if i >= 0:
            w = rows.weight[r, k]
            s0 += w * (x[i, 0] - before[i, 0])
            s1 += w * (x[i, 1] - before[i, 1])
            s2 += w * (x[i, 2] - before[i, 2])
    n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
    d = s0 * n0 + s1 * n1 + s2 * n2
    return s0 - d * n0, s1 - d * n1, s2 - d * n2


@inline
def sliding_stiffness(rows, r, s0, s1, s2, creep):
    """|f|/|s| of (1), with creep = ε h"""
    return rows.friction[r] * rows.lam_frozen[r] / max(sqrt(s0 * s0 + s1 * s1 + s2 * s2), creep)


@inline
def update_row_friction(rows, count, x, before, h, c, it, settings):
    creep = settings.creep_speed * h
    for r in range(count):
        bound = rows.friction[r] * rows.lam_frozen[r]
        s0, s1, s2 = sliding(rows, r, x, before)
        d0, d1, d2 = rows.slip_direction[r, 0], rows.slip_direction[r, 1], rows.slip_direction[r, 2]
        slipped = d0 * d0 + d1 * d1 + d2 * d2 > 0.0
        tau_0 = bound / creep
        c_bounded = min(c, tau_0)
        relaxation = 1.0 - c_bounded / max(tau_0, 1e-300)
        t0, t1, t2 = (
            c_bounded * s0 - relaxation * rows.friction_force[r, 0],
            c_bounded * s1 - relaxation * rows.friction_force[r, 1],
            c_bounded * s2 - relaxation * rows.friction_force[r, 2],
        )
        trial = sqrt(t0 * t0 + t1 * t1 + t2 * t2)  # (3)
        slips = c_bounded > 0.0 and trial > bound
        keeps_sliding_state = it > settings.free_switches and (r + it) % 2 == 0
        if keeps_sliding_state and rows.tangent_stiffness[r] > 0.0 and slips != slipped:
            slips = slipped
            tau = rows.tangent_stiffness[r] if slips else tau_0
        elif slips:
            tau = bound * c_bounded / (trial - relaxation * bound)  # (5)
            d0, d1, d2 = t0 / trial, t1 / trial, t2 / trial
        else:
            tau = tau_0 if c_bounded > 0.0 else sliding_stiffness(rows, r, s0, s1, s2, creep)  # (4)
        if not slips:
            d0, d1, d2 = 0.0, 0.0, 0.0
        along_d = bound - tau * (s0 * d0 + s1 * d1 + s2 * d2)
        rows.tangent_stiffness[r] = tau
        rows.slip_direction[r, 0], rows.slip_direction[r, 1], rows.slip_direction[r, 2] = d0, d1, d2
        rows.friction_force[r, 0] = -along_d * d0 - tau * s0
        rows.friction_force[r, 1] = -along_d * d1 - tau * s1
        rows.friction_force[r, 2] = -along_d * d2 - tau * s2


@on_demand(types.none)
def update_friction(state, ctx, h, c, it):
    """τ, d and f of each row, by (3) to (5)."""
    before, settings, contact = ctx.work.x_start, ctx.settings.contacts, ctx.self_contact
    update_row_friction(ctx.external, ctx.external.phi.shape[0], state.x, before, h, c, it, settings)
    update_row_friction(contact.rows, contact.row_count[0], state.x, before, h, c, it, settings)


@inline
def contact_stiffness_times(rows, r, m0, m1, m2):
    """(2) without ω², times m."""
    n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
    d0, d1, d2 = rows.slip_direction[r, 0], rows.slip_direction[r, 1], rows.slip_direction[r, 2]
    tau = rows.tangent_stiffness[r]
    normal = (rows.penalty[r] - tau) * (m0 * n0 + m1 * n1 + m2 * n2)
    along_d = tau * (m0 * d0 + m1 * d1 + m2 * d2)
    return (
        normal * n0 - along_d * d0 + tau * m0,
        normal * n1 - along_d * d1 + tau * m1,
        normal * n2 - along_d * d2 + tau * m2,
    )


@inline
def weighted_sum(rows, r, table):
    """Σ ω of a table's entries for the members of a row, also of places on rigid bodies."""
    m0 = 0.0
    m1 = 0.0
    m2 = 0.0
    for k in range(4):
        i = rows.unknown[r, k]
        if i >= 0:
            w = rows.weight[r, k]
            m0 += w * table[i, 0]
            m1 += w * table[i, 1]
            m2 += w * table[i, 2]
    spin = rows.rotation[r]
    if spin >= 0:
        for c in range(3):
            m0 += rows.lever[r, 0, c] * table[spin, c]
            m1 += rows.lever[r, 1, c] * table[spin, c]
            m2 += rows.lever[r, 2, c] * table[spin, c]
    return m0, m1, m2


@inline
def apply_friction_change(ctx, rows, count, alpha):
    """Apply the linear change of friction in a Newton step of length `alpha`."""
    for r in range(count):
        if rows.tangent_stiffness[r] == 0.0:
            continue
        m0, m1, m2 = weighted_sum(rows, r, ctx.linear.dx)
        f0, f1, f2 = contact_stiffness_times(rows, r, m0, m1, m2)
        push = f0 * rows.n[r, 0] + f1 * rows.n[r, 1] + f2 * rows.n[r, 2]
        rows.friction_force[r, 0] -= alpha * (f0 - push * rows.n[r, 0])
        rows.friction_force[r, 1] -= alpha * (f1 - push * rows.n[r, 1])
        rows.friction_force[r, 2] -= alpha * (f2 - push * rows.n[r, 2])
