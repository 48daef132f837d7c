"""Tensions that only pull: the linear system of active rows with a bound on every unknown [Dostál and Schöberl 2005].

    min ½ μᵀ B μ - φᵀ μ,   μ ≥ -λ dt²         B = A + ε D, and the part of balls (active_system.py)  (1)
    g = B μ - φ;   free, μ above its bound:  ϕ = g;   at its bound:  β = min(g, 0)                   (2)
    |β|² ≤ ϕᵀϕ̃   a step of conjugate gradients along p; one that passes a bound stops there, and
                 μ ← max(bound, μ - ᾱ ϕ),  ᾱ = 1/|B|                                                 (3)
    else         a step along β lets rows leave their bounds, the shortest way to less of (1)        (4)

Where many springs that depend on each other come to their limits at once, equalities contradict each other: some would
have to push. Releasing these and adding others cycles. (1) has one solution, and (3) and (4) converge to it from any
start; repeated with φ of the lengths that follow, it is a proximal point iteration for lengths within their limits and
tensions that pull. A solution exists, since the start of the substep satisfies its limits. ϕ̃ is ϕ truncated where ᾱ ϕ
would pass a bound; norms are those of rows divided by the root of their diagonal. p is preconditioned by C, the
incomplete factor of A, between the free rows P:  p = P C⁻¹ P g.
"""

from __future__ import annotations

from ..compiled import compiled, inline
from ..linalg.linear import IC0
from ..linalg.vectors import dot, precondition, times
from .active_system import add_balls


@inline
def multiply(system, m, u, p, out):
    """out = B p"""
    times(system.ptr[: m + 1], system.idx, system.val, p, out)
    if system.ball_w.shape[0] > 0:
        add_balls(system, m, u, p, out)


@inline
def diagonal(system, k, u):
    """Of B; 0: nothing can move."""
    d = system.val[system.diag[k]]
    e = system.row[k]
    for c in range(2):
        if system.ball[e, c] >= 0:
            size = u[e, 0] * u[e, 0] + u[e, 1] * u[e, 1] + u[e, 2] * u[e, 2]
            d += (1.0 + system.soft[0]) * system.ball_w[system.ball[e, c]] * size
    return d


@inline
def invert_diagonal(system, m, u, inverse):
    """1/d of all rows. Returns a bound of |B| in the norm of (2), by the sums of its rows."""
    largest = 0.0
    touching = 0
    for k in range(m):
        e = system.row[k]
        touching += 1 if system.ball[e, 0] >= 0 or system.ball[e, 1] >= 0 else 0
    for k in range(m):
        d = diagonal(system, k, u)
        inverse[k] = 1.0 / d if d > 0.0 else 0.0
        total = 0.0
        for q in range(system.ptr[k], system.ptr[k + 1]):
            total += abs(system.val[q])
        total += touching * max(d - system.val[system.diag[k]], 0.0)
        largest = max(largest, total * inverse[k])
    return largest


@inline
def split(g, mu, low, inverse, alpha_bar):
    """|ϕ|², ϕᵀϕ̃ and |β|² of (2)."""
    free = 0.0
    cut = 0.0
    bound = 0.0
    for k in range(mu.shape[0]):
        if mu[k] > low[k]:
            free += g[k] * g[k] * inverse[k]
            cut += g[k] * min((mu[k] - low[k]) / alpha_bar, g[k] * inverse[k])
        else:
            bound += min(g[k], 0.0) ** 2 * inverse[k]
    return free, cut, bound


@inline
def set_gradient(system, m, u, mu, g):
    multiply(system, m, u, mu, g)
    for k in range(m):
        g[k] -= system.rhs[k]


@inline
def set_direction(system, m, g, mu, low, free, p):
    """p = P C⁻¹ P g"""
    for k in range(m):
        free[k] = g[k] if mu[k] > low[k] else 0.0
    precondition(system.ptr[: m + 1], system.idx, system.diag[:m], system.fac, system.inverse[:m], IC0, free, p)
    for k in range(m):
        p[k] = p[k] if mu[k] > low[k] else 0.0


@inline
def along_direction(system, m, u, g, p, Ap):
    """A p into Ap; returns pᵀAp and gᵀp."""
    multiply(system, m, u, p, Ap)
    curvature = 0.0
    slope = 0.0
    for k in range(m):
        curvature += p[k] * Ap[k]
        slope += g[k] * p[k]
    return curvature, slope


@inline
def free_step(system, m, u, g, mu, low, inverse, vectors, alpha_bar):
    """(3)"""
    p, Ap, z, free = vectors
    curvature, slope = along_direction(system, m, u, g, p, Ap)
    unbounded = slope / curvature if curvature > 0.0 else 1e300
    to_bound = 1e300
    for k in range(m):
        if p[k] > 0.0:
            to_bound = min(to_bound, (mu[k] - low[k]) / p[k])
    size = min(unbounded, to_bound)
    for k in range(m):
        mu[k] = max(mu[k] - size * p[k], low[k])
        g[k] -= size * Ap[k]
    if unbounded <= to_bound:
        set_direction(system, m, g, mu, low, free, z)
        conjugate = dot(z, Ap) / curvature
        for k in range(m):
            p[k] = z[k] - conjugate * p[k]
        return
    for k in range(m):
        if mu[k] > low[k]:
            mu[k] = max(mu[k] - alpha_bar * g[k] * inverse[k], low[k])
    set_gradient(system, m, u, mu, g)
    set_direction(system, m, g, mu, low, free, p)


@inline
def leaving_step(system, m, u, g, mu, low, inverse, vectors):
    """(4)"""
    p, Ap, _, free = vectors
    for k in range(m):
        p[k] = min(g[k], 0.0) * inverse[k] if mu[k] <= low[k] else 0.0
    curvature, slope = along_direction(system, m, u, g, p, Ap)
    size = slope / curvature if curvature > 0.0 else 0.0
    for k in range(m):
        mu[k] -= size * p[k]
        g[k] -= size * Ap[k]
    set_direction(system, m, g, mu, low, free, p)


@compiled
def solve_bounded(system, m, phi, u, tension, dt):
    """(1) with φ, u and λ of all rows; μ of the first m of `row`. Returns the iterations that it took."""
    work = system.work[: 7 * m].reshape((7, m))
    g, low, inverse = work[0], work[1], work[2]
    vectors = work[3], work[4], work[5], work[6]
    mu = system.mu[:m]
    for k in range(m):
        e = system.row[k]
        system.rhs[k] = phi[e]
        mu[k] = 0.0
        low[k] = min(-tension[e] * dt * dt, 0.0)
        g[k] = -phi[e]
    alpha_bar = 1.0 / max(invert_diagonal(system, m, u, inverse), 1e-300)
    set_direction(system, m, g, mu, low, vectors[3], vectors[0])
    free, cut, bound = split(g, mu, low, inverse, alpha_bar)
    residual, max_iterations = system.settings.bounded_residual, system.settings.max_bounded_gradients
    goal = residual * residual * (free + bound)
    for iteration in range(max_iterations):
        if free + bound <= goal:
            return iteration
        if bound <= cut:
            free_step(system, m, u, g, mu, low, inverse, vectors, alpha_bar)
        else:
            leaving_step(system, m, u, g, mu, low, inverse, vectors)
        free, cut, bound = split(g, mu, low, inverse, alpha_bar)
    return max_iterations
