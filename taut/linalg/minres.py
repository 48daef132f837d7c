"""MINRES [Paige and Saunders 1975] on a scaled system, for A that may be singular.

    (B + εI) x = c,    B = E^-½ A E^-½,    c = E^-½ b,    λ = E^-½ x,    E of singular.py (2)        (1)

From zero, with ε = 0 and when c lies in the range of B, the iterates stay in that range and end at the
shortest x. When c does not, by more than the tolerance, the iteration does not end there: singular.py then asks for
ε > 0, with which any c can be reached. The previous λ is no starting point, since no iteration would remove its
part in the null space.
"""

from __future__ import annotations

import math

from numba import types

from taut.compiled import entry, on_demand
from taut.linalg.vectors import dot, most_iterations, norm, times_scaled

MOST_ROUNDS = 4
SLACK = 10.0
ROUNDING = 1e-14
UNREACHABLE = 1e-10  # |B r| / (|B| |r|) at which a residual counts as outside the range


@on_demand(types.Tuple((types.boolean, types.int64)))
def minres(matrix, shift, tolerance, work, b, out):
    """Returns (whether λ was reached, iterations). matrix: ptr, idx, val and E; `out` may be `b`."""
    ptr, idx, val, weight = matrix
    c, scale, x, rhs = work[7], work[8], work[9], work[10]
    m = out.shape[0]
    for i in range(m):
        scale[i] = 1.0 / math.sqrt(weight[i])
        rhs[i] = b[i] * scale[i]
        c[i] = rhs[i]
        out[i] = 0.0
    goal = tolerance * norm(c)
    used = 0
    for _ in range(MOST_ROUNDS):
        reached, more = minimise(ptr, idx, val, scale, shift, goal, work, c, x)
        used += more
        for i in range(m):
            out[i] += x[i]
        times_scaled(ptr, idx, val, scale, out, c)
        for i in range(m):
            c[i] = rhs[i] - (c[i] + shift * out[i])
        # What the recurrences tell may be far from the truth. A shifted system may have a large x, and then rounds.
        reached = norm(c) <= SLACK * goal + (ROUNDING * norm(out) if shift > 0.0 else 0.0)
        if reached or shift == 0.0:
            break
    for i in range(m):
        out[i] *= scale[i]  # (1)
    return reached, used


@entry
def minimise(ptr, idx, val, scale, shift, goal, work, c, x):
    """Least |c - (B + shift) x| over Krylov spaces. Returns (whether that came below `goal`, iterations)."""
    m = x.shape[0]
    v, y, r1, r2, w, w1, w2 = work[0], work[1], work[2], work[3], work[4], work[5], work[6]
    for i in range(m):
        x[i] = 0.0
        y[i] = c[i]
        r2[i] = c[i]
        w[i] = 0.0
        w2[i] = 0.0
    beta = norm(c)
    residual = beta
    beta_old, dbar, epsilon, cs, sn, size = 0.0, 0.0, 0.0, -1.0, 0.0, 0.0
    for iteration in range(most_iterations(m)):
        if residual <= goal:
            return True, iteration
        if not math.isfinite(residual):
            return False, iteration
        # one step of Lanczos
        for i in range(m):
            v[i] = y[i] / beta
        times_scaled(ptr, idx, val, scale, v, y)
        for i in range(m):
            y[i] += shift * v[i]
        if iteration > 0:
            size += beta * beta
            for i in range(m):
                y[i] -= beta / beta_old * r1[i]
        alpha = dot(v, y)
        for i in range(m):
            y[i] -= alpha / beta * r2[i]
            r1[i] = r2[i]
            r2[i] = y[i]
        beta_old = beta
        beta = norm(y)
        size += alpha * alpha + beta * beta
        # the rotations before, applied to the new column of the tridiagonal matrix
        epsilon_old = epsilon
        delta = cs * dbar + sn * alpha
        gbar = sn * dbar - cs * alpha
        epsilon = sn * beta
        dbar = -cs * beta
        if math.sqrt(gbar * gbar + dbar * dbar) <= UNREACHABLE * math.sqrt(size):  # |B r| / |r|
            return False, iteration
        # the new rotation
        gamma = math.sqrt(gbar * gbar + beta * beta)
        cs = gbar / gamma
        sn = beta / gamma
        phi = cs * residual
        residual *= sn
        for i in range(m):
            w1[i] = w2[i]
            w2[i] = w[i]
            w[i] = (v[i] - epsilon_old * w1[i] - delta * w2[i]) / gamma
            x[i] += phi * w[i]
    return False, most_iterations(m)
