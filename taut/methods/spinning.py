"""Rotations of rigid bodies in RATTLE: midpoint steps that keep energy and angular momentum of a free body exactly.

    ω½ = β - h/2 I⁻¹ (ω½ × I ω½),   β = ω + h/2 I⁻¹ (τ + J_ωᵀ λ)                        (1)
    ω' = ω½ + h/2 I⁻¹ (τ' + J_ω'ᵀ μ - ω½ × I ω½)                                        (2)
    R' = R C^½ exp(α p̂) C^½,   C = cay(h ω½): a turn by θ = 2 atan(h|ω½|/2) about ω½    (3)
    p = P∥ + P⊥ / cos(θ/2),   P = I ω½, in parts along and across ω½                    (4)
    α = (h|ω½| - θ) p̂·ω̂                                                                (5)

Without torque (1) and (2) are the implicit midpoint rule, I (ω' - ω) = -h ω½ × I ω½ with ω½ = (ω + ω')/2, which keeps
ωᵀ I ω, and C turns I ω' into I ω, so that R' I ω' = R I ω [Simo and Wong 1991]. p is that momentum as seen half-way, so
a turn about it changes neither: (5) chooses the one with which a steady rotation about a principal axis goes at its
own rate. All of it depends on ω½ alone and reads the same from either end, so that the step stays symmetric. Of a body
with three equal moments, or a planar one, (3) is R exp(h ω½).
"""

from __future__ import annotations

from math import atan, cos, sin, sqrt

from ..compiled import compiled, inline
from ..model.rotation import product, turn
from ..model.slot_vectors import move_points

MOST_ROUNDS = 30


@inline
def gyroscopic(inertia, i, v, spin):
    """-ω × I ω [N m] in principal axes."""
    i0, i1, i2 = inertia[i, 0], inertia[i, 1], inertia[i, 2]
    o0, o1, o2 = v[spin, 0], v[spin, 1], v[spin, 2]
    return -(i2 - i1) * o1 * o2, -(i0 - i2) * o2 * o0, -(i1 - i0) * o0 * o1


@compiled
def exchange_gyroscopic(system, v, other, fraction):
    """Take the gyroscopic accelerations at v out of work.a, and put `fraction` of those at `other` in: (1), (2)."""
    bodies, a = system.bodies, system.work.a
    for i in range(bodies.spin_slot.shape[0]):
        spin = bodies.spin_slot[i]
        out, put = gyroscopic(bodies.inertia, i, v, spin), gyroscopic(bodies.inertia, i, other, spin)
        for c in range(3):
            a[spin, c] += bodies.inverse_mass[spin, c] * (fraction * put[c] - out[c])


@compiled
def halfway(system, v, h, out):
    """out = v with ω½ of (1) in place of β, by Newton's method in each body."""
    bodies = system.bodies
    for i in range(out.shape[0]):
        for c in range(3):
            out[i, c] = v[i, c]
    for i in range(bodies.spin_slot.shape[0]):
        spin = bodies.spin_slot[i]
        i0, i1, i2 = bodies.inertia[i, 0], bodies.inertia[i, 1], bodies.inertia[i, 2]
        k0 = 0.5 * h * bodies.inverse_mass[spin, 0] * (i2 - i1)
        k1 = 0.5 * h * bodies.inverse_mass[spin, 1] * (i0 - i2)
        k2 = 0.5 * h * bodies.inverse_mass[spin, 2] * (i1 - i0)
        if k0 == 0.0 and k1 == 0.0 and k2 == 0.0:
            continue
        b0, b1, b2 = v[spin, 0], v[spin, 1], v[spin, 2]
        o0, o1, o2 = b0, b1, b2
        for _ in range(MOST_ROUNDS):
            r0, r1, r2 = o0 + k0 * o1 * o2 - b0, o1 + k1 * o2 * o0 - b1, o2 + k2 * o0 * o1 - b2
            j01, j02, j10, j12, j20, j21 = k0 * o2, k0 * o1, k1 * o2, k1 * o0, k2 * o1, k2 * o0
            c00, c10, c20 = 1.0 - j12 * j21, j12 * j20 - j10, j10 * j21 - j20
            det = c00 + j01 * c10 + j02 * c20
            if det == 0.0:
                break
            d0 = (c00 * r0 + (j02 * j21 - j01) * r1 + (j01 * j12 - j02) * r2) / det
            d1 = (c10 * r0 + (1.0 - j02 * j20) * r1 + (j02 * j10 - j12) * r2) / det
            d2 = (c20 * r0 + (j01 * j20 - j21) * r1 + (1.0 - j01 * j10) * r2) / det
            o0, o1, o2 = o0 - d0, o1 - d1, o2 - d2
            if abs(d0) + abs(d1) + abs(d2) <= 1e-16 * (abs(o0) + abs(o1) + abs(o2)):
                break
        out[spin, 0], out[spin, 1], out[spin, 2] = o0, o1, o2


@compiled
def move_halfway(system, x, quat, v, h, out_x, out_quat):
    """out = q ⊞ h v, where v holds ω½ and orientations turn by (3)."""
    bodies = system.bodies
    move_points(bodies, x, v, h, out_x)
    for i in range(bodies.spin_slot.shape[0]):
        spin = bodies.spin_slot[i]
        o0, o1, o2 = v[spin, 0], v[spin, 1], v[spin, 2]
        rate = sqrt(o0 * o0 + o1 * o1 + o2 * o2)
        p0, p1, p2 = bodies.inertia[i, 0] * o0, bodies.inertia[i, 1] * o1, bodies.inertia[i, 2] * o2
        if rate == 0.0 or (p0 * o1 == p1 * o0 and p1 * o2 == p2 * o1 and p2 * o0 == p0 * o2):
            turn(quat, i, h, o0, o1, o2, out_quat)  # the momentum is along ω½
            continue
        half = 0.5 * h * rate
        stretch = sqrt(1.0 + half * half)  # 1 / cos(θ/2)
        along = (p0 * o0 + p1 * o1 + p2 * o2) / (rate * rate) * (1.0 - stretch)
        p0, p1, p2 = stretch * p0 + along * o0, stretch * p1 + along * o1, stretch * p2 + along * o2  # (4)
        size = sqrt(p0 * p0 + p1 * p1 + p2 * p2)
        theta = 2.0 * atan(half)
        angle = 0.5 * (h * rate - theta) * (p0 * o0 + p1 * o1 + p2 * o2) / (size * rate)  # half of (5)
        quarter, s, about = cos(0.25 * theta), sin(0.25 * theta) / rate, sin(angle) / size
        c0, c1, c2 = s * o0, s * o1, s * o2
        w, a, b, c = product(quat[i, 0], quat[i, 1], quat[i, 2], quat[i, 3], quarter, c0, c1, c2)
        w, a, b, c = product(w, a, b, c, cos(angle), about * p0, about * p1, about * p2)
        w, a, b, c = product(w, a, b, c, quarter, c0, c1, c2)  # (3)
        length = 1.0 / sqrt(w * w + a * a + b * b + c * c)
        out_quat[i, 0], out_quat[i, 1], out_quat[i, 2], out_quat[i, 3] = w * length, a * length, b * length, c * length
