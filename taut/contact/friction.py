"""Coulomb friction of all contacts together: which ones stick and which ones slip.

Contact k has three rows: one along its normal, two along its tangents. w = S λ + c are their velocities at
the end of the step, λ their impulses:

    λ_n ≥ 0,   w_n ≥ 0,   λ_n w_n = 0                                           (1)
    |λ_t| ≤ μ λ_n;   w_t = 0 while |λ_t| < μ λ_n,   else w_t = -α λ_t, α ≥ 0    (2)

The cone is round, and (2) is what dissipates most. Contacts are solved one after the other with all
others kept fixed: (1) alone, then with r = μ λ_n

    λ_t = argmin ½ λ_tᵀ T λ_t + g_tᵀ λ_t   over   |λ_t| ≤ r                     (3)
    (T + α) λ_t = -g_t,   |λ_t| = r          when it slips                      (4)

where T is S on the two tangents and g_t their velocity without λ_t. Sweep after sweep this converges, but
slowly in stacks; the changes of two sweeps make a conjugate direction (NNCG, Silcowitz-Hansen, Nielsen
and Erleben 2010)

    β = |Δ_k|² / |Δ_{k-1}|²,   p ← β p + Δ_k,   λ ← λ + β p_old                 (5)

which is forgotten whenever β > 1. Since r depends on λ_n, (3) for all contacts is not one minimum, and sweeps
may go round in a circle (1 in 1,000 random problems), or creep where contacts very nearly lock each other.
Late ones therefore only go part of the way (`friction_relaxation`), which has always ended the circles:

    λ ← λ_old + ρ Δ_k                                                           (6)
"""

from __future__ import annotations

import math

from ..compiled import compiled

FLAT = 1e-13  # of the larger curvature: no curvature at all (rounding, not a setting)


@compiled
def minimise_on_disc(a, b, d, g1, g2, r, settings, out, at):
    """λ_t of (3) into out[at], out[at + 1], for T = [[a, b], [b, d]]."""
    middle = 0.5 * (a + d)
    half = 0.5 * (a - d)
    radius = math.hypot(half, b)
    high = middle + radius
    low = max(middle - radius, 0.0)
    if r <= 0.0 or high <= 0.0:
        out[at] = 0.0
        out[at + 1] = 0.0
        return
    # in the axes of T: the first has curvature `high`
    turn = 0.5 * math.atan2(b, half)
    cosine, sine = math.cos(turn), math.sin(turn)
    h1 = cosine * g1 + sine * g2
    h2 = cosine * g2 - sine * g1
    if low <= FLAT * high:
        low = 0.0
        h2 = 0.0  # nothing moves along this axis
    y1 = -h1 / high
    y2 = -h2 / low if low > 0.0 else 0.0
    if math.hypot(y1, y2) > r:
        # (4): from below, Newton on 1/|λ_t| never steps past the root
        alpha = max(0.0, abs(h1) / r - high, abs(h2) / r - low)
        for _ in range(settings.max_cone_iterations):
            y1 = -h1 / (high + alpha)
            y2 = -h2 / (low + alpha) if h2 != 0.0 else 0.0
            length = math.hypot(y1, y2)
            slope = y1 * y1 / (high + alpha) + (y2 * y2 / (low + alpha) if h2 != 0.0 else 0.0)
            change = (length / r - 1.0) * length * length / slope
            alpha += change
            if change <= 1e-15 * (alpha + high):
                break
        length = math.hypot(y1, y2)
        y1 *= r / length
        y2 *= r / length
    out[at] = cosine * y1 - sine * y2
    out[at + 1] = sine * y1 + cosine * y2


@compiled
def velocity(S, c, m, lam, row):
    total = c[row]
    for j in range(m):
        total += S[row, j] * lam[j]
    return total


@compiled
def sweep_contacts(S, c, mu, n, settings, lam):
    """Every contact once, the others kept fixed."""
    m = 3 * n
    for k in range(n):
        i = 3 * k
        if S[i, i] > 0.0:
            lam[i] = max(0.0, lam[i] - velocity(S, c, m, lam, i) / S[i, i])  # (1)
        r = mu[k] * lam[i]
        if r <= 0.0:
            lam[i + 1] = 0.0
            lam[i + 2] = 0.0
            continue
        a, b, d = S[i + 1, i + 1], S[i + 1, i + 2], S[i + 2, i + 2]
        g1 = velocity(S, c, m, lam, i + 1) - a * lam[i + 1] - b * lam[i + 2]
        g2 = velocity(S, c, m, lam, i + 2) - b * lam[i + 1] - d * lam[i + 2]
        minimise_on_disc(a, b, d, g1, g2, r, settings, lam, i + 1)  # (2)


@compiled
def stick_or_slip(S, c, mu, n, lam, work, tolerance, max_sweeps):
    """Impulses of n contacts, from the guess `lam`, until no velocity changes by more than `tolerance`.

    Returns the sweeps; `max_sweeps` may mean that they were not enough. `work` is a RuleWork of 3n rows or more.
    """
    m = 3 * n
    old, direction, settings = work.x, work.y, work.settings
    unrelaxed = settings.unrelaxed_share * max_sweeps
    length_before = 0.0
    for turn in range(max_sweeps):
        for i in range(m):
            old[i] = lam[i]
        sweep_contacts(S, c, mu, n, settings, lam)
        change = 0.0
        length = 0.0
        for i in range(m):
            step = lam[i] - old[i]
            change = max(change, abs(step) * S[i, i])
            length += step * step * S[i, i]
        if change <= tolerance:
            return turn + 1
        if turn + 1 == max_sweeps:
            break  # the last iterate is that of a sweep: it lies in the cone
        beta = length / length_before if turn > 0 else 2.0
        for i in range(m):
            step = lam[i] - old[i]
            if turn >= unrelaxed:
                lam[i] = old[i] + settings.friction_relaxation * step  # (6)
            elif beta > 1.0:
                direction[i] = step
            else:
                lam[i] += beta * direction[i]  # (5)
                direction[i] = beta * direction[i] + step
        length_before = length
    return max_sweeps
