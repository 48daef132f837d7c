"""Friction of contacts: Coulomb's, with sticking as a slow creep.

    friction              f = -μ λ s / max(|s|, ε h)                                             (1)
    resistance of a row   κ nnᵀ + τ (I - nnᵀ - ddᵀ)                                              (2)
    trial                 t = c s - (1 - c/τ₀) f,     τ₀ = μ λ / ε h,   c ≤ τ₀                   (3)
    sticks, |t| ≤ μ λ     τ = τ₀,                                       d = 0,     f = -τ s      (4)
    slips                 τ = μ λ c / (|t| - (1 - c/τ₀) μ λ),           d = t/|t|,               (5)
                          f = -μ λ d - τ (s - d d·s)

s is the sliding of a contact in this step, and λ, of Coulomb's force, one of before (`grip`). (3) to (5) is Newton's
method on s and f together: f of the iteration before, and not s alone, tells who sticks. By s alone, what has been
stopped would turn back, and to and fro. c is about the mass of a node by h²; with c = 0 all is as if it stuck, with
τ = μ λ/max(|s|, ε h), which never goes too far and comes near in ever smaller steps (augmented_lagrangian.py).
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from .context import NOTHING, NUMBER, WHOLE, far, open_box

CREEP = 1e-3  # ε [m/s]: what sticks slides slower than this
FREE_TURNS = 6  # iterations; then every other row may turn from sticking to slipping or back, lest they do so in turns


@compiled
def take_grip(rows, count):
    """Friction is that of λ as it is now."""
    for r in range(count):
        rows.grip[r] = rows.lam[r] if rows.on[r] else 0.0


@compiled
def drop_grip(rows, count):
    for r in range(count):
        rows.grip[r] = 0.0


@compiled
def change_of_grip(rows, count):
    """By how much λ differs from that of friction, at most, of the largest."""
    change = 0.0
    largest = 0.0
    for r in range(count):
        now = rows.lam[r] if rows.on[r] else 0.0
        if rows.friction[r] > 0.0:
            change = max(change, abs(now - rows.grip[r]))
            largest = max(largest, now)
    return change / max(largest, 1e-300)


@compiled
def is_rough(rows, count):
    for r in range(count):
        if rows.friction[r] > 0.0:
            return True
    return False


@inline
def sliding(rows, r, x, before):
    """s: what the members of a row moved along each other in this step."""
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
def drag(rows, r, s0, s1, s2, h):
    """|f|/|s| of (1)"""
    return rows.friction[r] * rows.grip[r] / max(sqrt(s0 * s0 + s1 * s1 + s2 * s2), CREEP * h)


@inline
def rub_rows(rows, count, x, before, h, c, it):
    for r in range(count):
        hold = rows.friction[r] * rows.grip[r]
        s0, s1, s2 = sliding(rows, r, x, before)
        d0, d1, d2 = rows.slip[r, 0], rows.slip[r, 1], rows.slip[r, 2]
        slipped = d0 * d0 + d1 * d1 + d2 * d2 > 0.0
        stiff = hold / (CREEP * h)
        firm = min(c, stiff)
        kept = 1.0 - firm / max(stiff, 1e-300)
        t0, t1, t2 = (
            firm * s0 - kept * rows.rub[r, 0],
            firm * s1 - kept * rows.rub[r, 1],
            firm * s2 - kept * rows.rub[r, 2],
        )
        trial = sqrt(t0 * t0 + t1 * t1 + t2 * t2)  # (3)
        slips = firm > 0.0 and trial > hold
        if it > FREE_TURNS and rows.along[r] > 0.0 and slips != slipped and (r + it) % 2 == 0:
            slips = slipped
            along = rows.along[r] if slips else stiff
        elif slips:
            along = hold * firm / (trial - kept * hold)  # (5)
            d0, d1, d2 = t0 / trial, t1 / trial, t2 / trial
        else:
            along = stiff if firm > 0.0 else drag(rows, r, s0, s1, s2, h)  # (4)
        if not slips:
            d0, d1, d2 = 0.0, 0.0, 0.0
        pull = hold - along * (s0 * d0 + s1 * d1 + s2 * d2)
        rows.along[r] = along
        rows.slip[r, 0], rows.slip[r, 1], rows.slip[r, 2] = d0, d1, d2
        rows.rub[r, 0] = -pull * d0 - along * s0
        rows.rub[r, 1] = -pull * d1 - along * s1
        rows.rub[r, 2] = -pull * d2 - along * s2


@far(NOTHING, NUMBER, NUMBER, WHOLE)
@compiled
def rub(box, h, c, it):
    """τ, d and f of each row, by (3) to (5)."""
    system, state, par = open_box(box)
    net = par.net
    rub_rows(net.solids, net.solids.phi.shape[0], state.x, net.before, h, c, it)
    rub_rows(net.facets, net.facet_count[0], state.x, net.before, h, c, it)


@inline
def resists(rows, r, m0, m1, m2):
    """(2) without ω², times m."""
    n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
    d0, d1, d2 = rows.slip[r, 0], rows.slip[r, 1], rows.slip[r, 2]
    along = rows.along[r]
    normal = (rows.kappa[r] - along) * (m0 * n0 + m1 * n1 + m2 * n2)
    back = along * (m0 * d0 + m1 * d1 + m2 * d2)
    return (
        normal * n0 - back * d0 + along * m0,
        normal * n1 - back * d1 + along * m1,
        normal * n2 - back * d2 + along * m2,
    )


@inline
def of_members(rows, r, table):
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
    spin = rows.spin[r]
    if spin >= 0:
        for c in range(3):
            m0 += rows.lever[r, 0, c] * table[spin, c]
            m1 += rows.lever[r, 1, c] * table[spin, c]
            m2 += rows.lever[r, 2, c] * table[spin, c]
    return m0, m1, m2


@inline
def take_rub(net, rows, count, share):
    """Friction as it is foretold to change."""
    for r in range(count):
        if rows.along[r] == 0.0:
            continue
        m0, m1, m2 = of_members(rows, r, net.dx)
        f0, f1, f2 = resists(rows, r, m0, m1, m2)
        push = f0 * rows.n[r, 0] + f1 * rows.n[r, 1] + f2 * rows.n[r, 2]
        rows.rub[r, 0] -= share * (f0 - push * rows.n[r, 0])
        rows.rub[r, 1] -= share * (f1 - push * rows.n[r, 1])
        rows.rub[r, 2] -= share * (f2 - push * rows.n[r, 2])
