"""Conjugate residuals on the contacts that push: the slow modes of a pile, which Gauss-Seidel hardly damps.

The face is what sweeps found: rows with λ_n > 0, and their tangents as well where they stick. On it (2) and (3) of
projected_gauss_seidel.py are equations, w = 0 and T v' = 0; tangents that slip keep their λ_t, and the next sweep
turns it. With r the negative left-hand sides and D the diagonal of A, from p = 0 on:

    z = D⁻¹ r,     p <- z + β p,     A p <- A z + β A p,     β = zᵀ A z / zᵀ A z of the iteration before     (1)
    α = zᵀ A z / (A p)ᵀ D⁻¹ (A p),     λ <- λ + α p,     r <- r - α A p                                      (2)

Each iteration lowers both f and |r|, and |r| is what the tolerance is about. Conjugate gradients let it rise on the
way: on a resting pile of 1,000 hard balls they did not get by with 3,000 iterations where these took 800 to 1,900.

A step that would leave the face, because some λ would pull or some tangent would slip, is projected to the cone,
and taken if f falls,

    d = P(λ + α p) - λ,        f(λ + d) - f(λ) = -dᵀ r + ½ dᵀ A d <= 0,      else α <- α / 2                 (3)

It ends the phase: sweeps find the new face. The phase also ends when the equations are solved better than the
inequalities that the face leaves out.
"""

from __future__ import annotations

import math

from ..compiled import compiled, inline
from .rows import add_impulse, project_to_cone, row_rate, row_slack

STICKS = 1.0 - 1e-9  # of the cone: a λ_t nearer to its limit was projected to it (rounding, not a setting)


@compiled
def solve_on_face(cand, work, working, weight, v, tolerance, max_iterations):
    """Improve cand.lam and v on the face of the first `working` rows of work.working_set. Returns the iterations."""
    count, outside = choose_face(cand, work, working, v)
    lam, res, z, az, p, ap = cand.lam, work.res, work.z, work.az, work.p, work.ap
    work.dv[:] = 0.0
    before = 0.0
    for iteration in range(max_iterations):
        size = multiply(cand, work, count, weight)
        if not size > 0.0:
            return iteration
        beta = size / before if iteration > 0 else 0.0  # (1)
        before = size
        curvature = 0.0
        for m in range(count):
            r = work.face[m]
            for c in range(3 if work.sticks[r] else 1):
                p[r, c] = z[r, c] + beta * p[r, c]
                ap[r, c] = az[r, c] + beta * ap[r, c]
                curvature += ap[r, c] ** 2 * work.inverse[r, min(c, 1)]
        for s in range(v.shape[0]):
            for c in range(3):
                work.dv[s, c] = work.dz[s, c] + beta * work.dv[s, c]
        alpha = size / curvature  # (2)
        if leaves(cand, work, count, alpha):
            projected_step(cand, work, count, weight, alpha, v)
            return iteration + 1
        for s in range(v.shape[0]):
            for c in range(3):
                v[s, c] += alpha * work.dv[s, c]
        largest = 0.0
        for m in range(count):
            r = work.face[m]
            for c in range(3 if work.sticks[r] else 1):
                lam[r, c] += alpha * p[r, c]
                res[r, c] -= alpha * ap[r, c]
                z[r, c] = res[r, c] * work.inverse[r, min(c, 1)]
                largest = max(largest, abs(res[r, c]))
        if largest <= max(work.settings.face_tolerance * tolerance, outside):
            return iteration + 1
    return max_iterations


@compiled
def choose_face(cand, work, working, v):
    """List the face, and set r and z. Returns the length of the list and the worst violation outside of it [m/s]."""
    lam, res, z = cand.lam, work.res, work.z
    count = 0
    outside = 0.0
    for m in range(working):
        r = work.working_set[m]
        w = row_slack(cand, r, v)
        if not lam[r, 0] > 0.0:
            outside = max(outside, -w)
            continue
        work.face[count] = r
        count += 1
        res[r, 0] = -w
        slip = math.sqrt(lam[r, 1] ** 2 + lam[r, 2] ** 2)
        work.sticks[r] = cand.mu[r] > 0.0 and work.a[r, 1] > 0.0 and slip < STICKS * cand.mu[r] * lam[r, 0]
        if work.sticks[r]:
            res[r, 1] = -row_rate(cand, cand.T1, r, v)
            res[r, 2] = -row_rate(cand, cand.T2, r, v)
        for c in range(3 if work.sticks[r] else 1):
            z[r, c] = res[r, c] * work.inverse[r, min(c, 1)]
            work.p[r, c] = 0.0
            work.ap[r, c] = 0.0
    return count, outside


@inline
def face_velocity(cand, work, count, weight, amount, dv):
    """dv = W (Jᵀ, Tᵀ) amount over the face."""
    dv[:] = 0.0
    for m in range(count):
        r = work.face[m]
        add_impulse(cand, cand.J, r, weight, amount[r, 0], dv)
        if work.sticks[r]:
            add_impulse(cand, cand.T1, r, weight, amount[r, 1], dv)
            add_impulse(cand, cand.T2, r, weight, amount[r, 2], dv)


@compiled
def multiply(cand, work, count, weight):
    """A z on the face, by way of the velocities dz of z. Returns zᵀ A z."""
    z, az = work.z, work.az
    face_velocity(cand, work, count, weight, z, work.dz)
    total = 0.0
    for m in range(count):
        r = work.face[m]
        az[r, 0] = row_rate(cand, cand.J, r, work.dz) + cand.compliance[r] * z[r, 0]
        total += z[r, 0] * az[r, 0]
        if work.sticks[r]:
            az[r, 1] = row_rate(cand, cand.T1, r, work.dz)
            az[r, 2] = row_rate(cand, cand.T2, r, work.dz)
            total += z[r, 1] * az[r, 1] + z[r, 2] * az[r, 2]
    return total


@compiled
def leaves(cand, work, count, alpha):
    """Whether a step of length alpha makes some row pull, or slip."""
    lam, p = cand.lam, work.p
    for m in range(count):
        r = work.face[m]
        normal = lam[r, 0] + alpha * p[r, 0]
        if normal < 0.0:
            return True
        if work.sticks[r]:
            first, second = lam[r, 1] + alpha * p[r, 1], lam[r, 2] + alpha * p[r, 2]
            if first * first + second * second > (cand.mu[r] * normal) ** 2:
                return True
    return False


@compiled
def projected_step(cand, work, count, weight, alpha, v):
    """Take the step alpha p, projected to the cone, with alpha halved until f falls (3)."""
    lam, p, res, d = cand.lam, work.p, work.res, work.ap
    for _ in range(work.settings.max_step_halvings):
        slope = 0.0
        curvature = 0.0
        for m in range(count):  # (3)
            r = work.face[m]
            normal = max(0.0, lam[r, 0] + alpha * p[r, 0])
            d[r, 0] = normal - lam[r, 0]
            slope -= d[r, 0] * res[r, 0]
            curvature += cand.compliance[r] * d[r, 0] ** 2
            if work.sticks[r]:
                first, second = lam[r, 1] + alpha * p[r, 1], lam[r, 2] + alpha * p[r, 2]
                first, second = project_to_cone(first, second, cand.mu[r] * normal)
                d[r, 1], d[r, 2] = first - lam[r, 1], second - lam[r, 2]
                slope -= d[r, 1] * res[r, 1] + d[r, 2] * res[r, 2]
        face_velocity(cand, work, count, weight, d, work.dv)
        for s in range(v.shape[0]):
            for c in range(3):
                if weight[s, c] > 0.0:
                    curvature += work.dv[s, c] ** 2 / weight[s, c]
        if slope + 0.5 * curvature <= 0.0:
            for m in range(count):
                r = work.face[m]
                for c in range(3 if work.sticks[r] else 1):
                    lam[r, c] += d[r, c]
                lam[r, 0] = max(0.0, lam[r, 0])
            for s in range(v.shape[0]):
                for c in range(3):
                    v[s, c] += work.dv[s, c]
            return
        alpha *= 0.5
