"""MINRES [Paige and Saunders 1975] on a scaled system, for A that may be singular.

    B = E^-½ A E^-½,    c = E^-½ b,    λ = E^-½ x,    E of singular.py (2)                    (1)

From zero, and when c lies in the range of B, the iterates stay in that range and end at the
shortest x. When c does not, two systems that can be solved replace the one that cannot:

    B y = B c    (y: what B can reach of c),    B x = y                                       (2)

The previous λ is no starting point, since no iteration would remove its part in the null space.
"""

from __future__ import annotations

import math

from taut.jit import kernel
from taut.linalg.singular import weigh
from taut.linalg.vectors import dot, most_iterations, norm, times_scaled

UNREACHABLE = 1e-10  # |B r| / (|B| |r|) at which a residual counts as outside the range


@kernel
def minres(ptr, idx, val, diag, scale, tolerance, work, b, out):
    """Returns (status, iterations); status 0: λ solves the system or is the answer of (2)."""
    m = out.shape[0]
    c, y = work[7], work[8]
    weigh(val, diag, scale)
    for i in range(m):
        scale[i] = 1.0 / math.sqrt(scale[i])
        c[i] = b[i] * scale[i]
    reached, converged, used = minimise(ptr, idx, val, scale, tolerance, work, c, out)
    if not reached:  # (2)
        times_scaled(ptr, idx, val, scale, c, out)
        for i in range(m):
            c[i] = out[i]
        _, first, more = minimise(ptr, idx, val, scale, tolerance, work, c, y)
        _, second, most = minimise(ptr, idx, val, scale, tolerance, work, y, out)
        converged = first and second
        used += more + most
    for i in range(m):
        out[i] *= scale[i]  # (1)
    return 0 if converged else 1, used


@kernel
def minimise(ptr, idx, val, scale, tolerance, work, c, x):
    """Least |c - B x| over Krylov spaces. Returns (c was reached, the iteration converged, iterations)."""
    m = x.shape[0]
    v, y, r1, r2, w, w1, w2 = work[0], work[1], work[2], work[3], work[4], work[5], work[6]
    for i in range(m):
        x[i] = 0.0
        y[i] = c[i]
        r2[i] = c[i]
        w[i] = 0.0
        w2[i] = 0.0
    beta = norm(c)
    goal = tolerance * beta
    residual = beta
    beta_old, dbar, epsilon, cs, sn, size = 0.0, 0.0, 0.0, -1.0, 0.0, 0.0
    for iteration in range(most_iterations(m)):
        if residual <= goal:
            return True, True, iteration
        if not math.isfinite(residual):
            return False, False, iteration
        # one step of Lanczos
        for i in range(m):
            v[i] = y[i] / beta
        times_scaled(ptr, idx, val, scale, v, y)
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
            return False, True, iteration
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
    return False, False, most_iterations(m)
