"""Rows of switched constraints, and the transition of a row that is switched on.

    Φ(q, t) - e(t) = 0,    e = Φ₀ H₀(s) + T Φ̇₀ H₁(s),    s = (t - t₀)/T in [0, 1]; then e = 0          (1)
    H₀ = 1 - 10 s³ + 15 s⁴ - 6 s⁵,    H₁ = s - 6 s³ + 8 s⁴ - 3 s⁵                                       (2)
    A v + b - e(t) = 0,    e = (A v + b)₀ H₀(s)          of conditions on velocities                    (3)
    Φ = 0, J = 0, and 1 on the diagonal of J W Jᵀ, so λ = 0,    of a row that is off                    (4)
    Φ = FAR, which touches nothing,                             of an inequality that is off            (5)

Φ₀ and Φ̇₀ are those of the moment t₀ at which it was switched on, so that neither positions nor velocities jump, and
after the time T (`ease`) the condition holds as it is. e drives the constraint: -e' and -e'' stand in Φ_t and γ, and
its effect on the energy counts as work of drivers. An inequality has an e only where Φ₀ < 0.

The memory of a switch is kept in points without a place, so it is part of every saved state (switching.py):
x[keeper] = (1: on, t₀, …), x[offset] = (Φ₀, Φ̇₀, 1: they are known).
"""

from __future__ import annotations

from numba import types

from ..compiled import inline, on_demand

FAR = 1e9  # [m] (5)


@inline
def blend(s, start, slope):
    """(2): start H₀ + slope H₁ and its first two derivatives by s."""
    if s >= 1.0:
        return 0.0, 0.0, 0.0
    value = start * (1.0 - s * s * s * (10.0 - s * (15.0 - 6.0 * s)))
    value += slope * s * (1.0 - s * s * (6.0 - s * (8.0 - 3.0 * s)))
    first = -30.0 * start * s * s * (1.0 - s) ** 2 + slope * (1.0 - s * s * (18.0 - s * (32.0 - 15.0 * s)))
    second = -60.0 * start * s * (1.0 - s) * (1.0 - 2.0 * s) - 12.0 * slope * s * (3.0 - s * (8.0 - 5.0 * s))
    return value, first, second


@on_demand(types.none)
def switch_rows(switched, ptr, t, x, phi, phi_t, gamma, J):
    """(1), (3), (4) and (5) for the rows of equalities, or of inequalities, just evaluated at t."""
    for k in range(switched.row.shape[0]):
        r, keeper, offset = switched.row[k], switched.keeper[k], switched.offset[k]
        if x[keeper, 0] == 0.0:
            switched.off[k] = 1
            phi[r], phi_t[r], gamma[r] = switched.phi_off[k], 0.0, 0.0  # (4), (5)
            for block in range(ptr[r], ptr[r + 1]):
                J[block, 0] = J[block, 1] = J[block, 2] = 0.0
            continue
        switched.off[k] = 0
        ease = switched.ease[k]
        s = max((t - x[keeper, 1]) / ease, 0.0)
        if x[offset, 2] == 0.0 or s >= 1.0:
            continue
        if switched.at_velocity[k] == 1:
            value, first, _ = blend(s, x[offset, 0], 0.0)  # (3)
            phi_t[r] -= value
            gamma[r] -= first / ease
        else:
            value, first, second = blend(s, x[offset, 0], ease * x[offset, 1])  # (1)
            phi[r] -= value
            phi_t[r] -= first / ease
            gamma[r] -= second / (ease * ease)


@on_demand(types.none)
def take_over(switched, rows, t, x, v, phi, phi_t, J):
    """Φ₀ and Φ̇₀ of rows that were switched on at t, from Φ, Φ_t and J just evaluated, in which e then stands."""
    for k in range(switched.row.shape[0]):
        r, keeper, offset = switched.row[k], switched.keeper[k], switched.offset[k]
        if x[keeper, 0] == 0.0 or x[keeper, 1] != t or x[offset, 2] != 0.0:
            continue
        rate = phi_t[r]
        for block in range(rows.ptr[r], rows.ptr[r + 1]):
            slot = rows.slot[block]
            rate += J[block, 0] * v[slot, 0] + J[block, 1] * v[slot, 1] + J[block, 2] * v[slot, 2]
        for q in range(rows.spin_block.shape[0]):
            if rows.spin_row[q] == r:
                block = rows.spin_block[q]
                slot = rows.slot[block]
                rate += J[block, 0] * v[slot, 0] + J[block, 1] * v[slot, 1] + J[block, 2] * v[slot, 2]
        kept = switched.phi_off[k] == 0.0 or switched.phi_off[k] * phi[r] < 0.0  # an equality, or a broken inequality
        if switched.at_velocity[k] == 1:
            x[offset, 0], x[offset, 1] = rate, 0.0
        elif kept:
            x[offset, 0], x[offset, 1] = phi[r], rate
        else:
            x[offset, 0], x[offset, 1] = 0.0, 0.0
        x[offset, 2] = 1.0
        if switched.at_velocity[k] == 1:  # (1), (3) at s = 0
            phi_t[r] -= x[offset, 0]
        else:
            phi[r] -= x[offset, 0]
            phi_t[r] -= x[offset, 1]


@inline
def is_on(switches, b, x):
    """Whether batch b of forces acts; one that is switched has a batch of its own."""
    keeper = switches.of_force[b]
    return keeper < 0 or x[keeper, 0] == 1.0


@inline
def close_diagonal(switched, linear):
    """(4): a row that is off has an equation of its own, λ = 0, in the matrix just assembled."""
    for k in range(switched.row.shape[0]):
        if switched.off[k] == 1:
            linear.val[linear.diag[switched.row[k]]] = 1.0
