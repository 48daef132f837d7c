"""Conjugate residuals on the contacts that push: the slow part of a pile, which sweeps do not see.

The face is what sweeps found: rows with λ_n > 0, and their tangents as well where they stick. On it (2) and (3) of
projected.py are equations, w = 0 and T v' = 0; tangents that slide keep their λ_t, and the next sweep turns it.
With r the negative left-hand sides and D the diagonal of A, from p = 0 on:

    z = D⁻¹ r,     p <- z + β p,     A p <- A z + β A p,     β = zᵀ A z / zᵀ A z of the iteration before     (1)
    α = zᵀ A z / (A p)ᵀ D⁻¹ (A p),     λ <- λ + α p,     r <- r - α A p                                      (2)

Each iteration lowers both f and |r|, and |r| is what the tolerance is about. Conjugate gradients let it rise on the
way: on a resting pile of 1,000 hard balls they did not get by with 3,000 iterations where these took 800 to 1,900.

A step that would leave the face, because some λ would pull or some tangent would slip, is cut to what is
allowed, and taken if f falls,

    d = cut(λ + α p) - λ,      f(λ + d) - f(λ) = -dᵀ r + ½ dᵀ A d <= 0,      else α <- α / 2                 (3)

It ends the phase: sweeps find the new face. The phase also ends when the equations are solved better than the
inequalities that the face leaves out.
"""

from __future__ import annotations

import math

from taut.compiled import compiled, inline
from taut.contact.rows import opening, push, rate

ENOUGH = 0.3  # of the tolerance, for equations on the face
HALVINGS = 10
STICKS = 1.0 - 1e-9  # of the cone: a λ_t nearer to its limit was cut to it


@compiled
def descend(cand, watched, weight, v, tolerance, most):
    """Improve cand.lam and v on the face of the first `watched` rows of cand.watched. Returns the iterations."""
    count, outside = choose_face(cand, watched, v)
    lam, res, z, az, p, ap = cand.lam, cand.res, cand.z, cand.az, cand.p, cand.ap
    cand.dv[:] = 0.0
    before = 0.0
    for iteration in range(most):
        size = multiply(cand, count, weight)
        if not size > 0.0:
            return iteration
        beta = size / before if iteration > 0 else 0.0  # (1)
        before = size
        curvature = 0.0
        for m in range(count):
            r = cand.face[m]
            for c in range(3 if cand.stick[r] else 1):
                p[r, c] = z[r, c] + beta * p[r, c]
                ap[r, c] = az[r, c] + beta * ap[r, c]
                curvature += ap[r, c] ** 2 * cand.inverse[r, min(c, 1)]
        for s in range(v.shape[0]):
            for c in range(3):
                cand.dv[s, c] = cand.dz[s, c] + beta * cand.dv[s, c]
        alpha = size / curvature  # (2)
        if leaves(cand, count, alpha):
            cut_step(cand, count, weight, alpha, v)
            return iteration + 1
        for s in range(v.shape[0]):
            for c in range(3):
                v[s, c] += alpha * cand.dv[s, c]
        largest = 0.0
        for m in range(count):
            r = cand.face[m]
            for c in range(3 if cand.stick[r] else 1):
                lam[r, c] += alpha * p[r, c]
                res[r, c] -= alpha * ap[r, c]
                z[r, c] = res[r, c] * cand.inverse[r, min(c, 1)]
                largest = max(largest, abs(res[r, c]))
        if largest <= max(ENOUGH * tolerance, outside):
            return iteration + 1
    return most


@compiled
def choose_face(cand, watched, v):
    """List the face, and set r and z. Returns the length of the list and the worst violation outside of it [m/s]."""
    lam, res, z = cand.lam, cand.res, cand.z
    count = 0
    outside = 0.0
    for m in range(watched):
        r = cand.watched[m]
        w = opening(cand, r, v)
        if not lam[r, 0] > 0.0:
            outside = max(outside, -w)
            continue
        cand.face[count] = r
        count += 1
        res[r, 0] = -w
        slip = math.sqrt(lam[r, 1] ** 2 + lam[r, 2] ** 2)
        cand.stick[r] = cand.mu[r] > 0.0 and cand.a[r, 1] > 0.0 and slip < STICKS * cand.mu[r] * lam[r, 0]
        if cand.stick[r]:
            res[r, 1] = -rate(cand, cand.T1, r, v)
            res[r, 2] = -rate(cand, cand.T2, r, v)
        for c in range(3 if cand.stick[r] else 1):
            z[r, c] = res[r, c] * cand.inverse[r, min(c, 1)]
            cand.p[r, c] = 0.0
            cand.ap[r, c] = 0.0
    return count, outside


@inline
def push_face(cand, count, weight, amount, dv):
    """dv = W (Jᵀ, Tᵀ) amount over the face."""
    dv[:] = 0.0
    for m in range(count):
        r = cand.face[m]
        push(cand, cand.J, r, weight, amount[r, 0], dv)
        if cand.stick[r]:
            push(cand, cand.T1, r, weight, amount[r, 1], dv)
            push(cand, cand.T2, r, weight, amount[r, 2], dv)


@compiled
def multiply(cand, count, weight):
    """A z on the face, by way of the velocities dz of z. Returns zᵀ A z."""
    z, az = cand.z, cand.az
    push_face(cand, count, weight, z, cand.dz)
    total = 0.0
    for m in range(count):
        r = cand.face[m]
        az[r, 0] = rate(cand, cand.J, r, cand.dz) + cand.soft[r] * z[r, 0]
        total += z[r, 0] * az[r, 0]
        if cand.stick[r]:
            az[r, 1] = rate(cand, cand.T1, r, cand.dz)
            az[r, 2] = rate(cand, cand.T2, r, cand.dz)
            total += z[r, 1] * az[r, 1] + z[r, 2] * az[r, 2]
    return total


@compiled
def leaves(cand, count, alpha):
    """Whether a step of length alpha makes some row pull, or slip."""
    lam, p = cand.lam, cand.p
    for m in range(count):
        r = cand.face[m]
        normal = lam[r, 0] + alpha * p[r, 0]
        if normal < 0.0:
            return True
        if cand.stick[r]:
            first, second = lam[r, 1] + alpha * p[r, 1], lam[r, 2] + alpha * p[r, 2]
            if first * first + second * second > (cand.mu[r] * normal) ** 2:
                return True
    return False


@compiled
def cut_step(cand, count, weight, alpha, v):
    """Take the step alpha p as far as it is allowed."""
    lam, p, res, d = cand.lam, cand.p, cand.res, cand.ap
    for _ in range(HALVINGS):
        slope = 0.0
        curvature = 0.0
        for m in range(count):  # (3)
            r = cand.face[m]
            normal = max(0.0, lam[r, 0] + alpha * p[r, 0])
            d[r, 0] = normal - lam[r, 0]
            slope -= d[r, 0] * res[r, 0]
            curvature += cand.soft[r] * d[r, 0] ** 2
            if cand.stick[r]:
                first, second = lam[r, 1] + alpha * p[r, 1], lam[r, 2] + alpha * p[r, 2]
                length = math.sqrt(first * first + second * second)
                limit = cand.mu[r] * normal
                share = limit / length if length > limit else 1.0
                d[r, 1], d[r, 2] = share * first - lam[r, 1], share * second - lam[r, 2]
                slope -= d[r, 1] * res[r, 1] + d[r, 2] * res[r, 2]
        push_face(cand, count, weight, d, cand.dv)
        for s in range(v.shape[0]):
            for c in range(3):
                if weight[s, c] > 0.0:
                    curvature += cand.dv[s, c] ** 2 / weight[s, c]
        if slope + 0.5 * curvature <= 0.0:
            for m in range(count):
                r = cand.face[m]
                for c in range(3 if cand.stick[r] else 1):
                    lam[r, c] += d[r, c]
                lam[r, 0] = max(0.0, lam[r, 0])
            for s in range(v.shape[0]):
                for c in range(3):
                    v[s, c] += cand.dv[s, c]
            return
        alpha *= 0.5
