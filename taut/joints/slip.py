"""The rows of skates and wheels: one that touches a plane, and ones that do not slip. Joints are made of them.

A wheel has its hub at x_a and its axle along e_1, one of three orthonormal directions e_i of its body. Its rim is a
circle of radius r about the hub whose cross-section is a circle of radius c: r = 0 is a ball, c = 0 a thin disc. The
plane goes through x_b, and n, t, f_3 are orthonormal directions of its body, n the normal. The lowest place of the
wheel is at

    ρ = r u - c n,   u = -(n - κ e_1)/s,   κ = n·e_1,   s = √(1 - κ²)                                (1)

from the hub, and moves over wheel and plane. With d = x_a - x_b, and taking |n| = |e_1| = 1 for granted,

    touch    Φ = n·d - r s - c                                                                       (2)
             J_a = n,   J_b = -n,   J_e1 = r κ n/s,   J_n = d + r κ e_1/s                            (3)
             γ = 2 ṅ·ḋ - r s̈,   s̈ = -(κ̇² + 2 κ ṅ·ė_1 + ṡ²)/s,   ṡ = -κ κ̇/s                        (4)

The two materials that meet there, of the wheel at ρ from x_a and of the plane at p = d + ρ from x_b, have velocities
that differ along t by

    slip     t·(v_a + ω_a × ρ) - t·(v_b + ω_b × p) = t·ḋ + w_a·ω_a - w_b·ω_b                         (5)
             w_a = ρ × t,   w_b = p × t

Angular velocities come from directions, ω = ½ Σ e_i × ė_i, so that w·ω = ½ Σ (w × e_i)·ė_i:

             A_a = t,   A_b = -t,   A_ei = ½ w_a × e_i,   A_fi = -½ w_b × f_i                        (6)
             γ = ṫ·ḋ + ẇ_a·ω_a - ẇ_b·ω_b,   ẇ_a = ρ̇ × t + ρ × ṫ,   ẇ_b = (ḋ + ρ̇) × t + p × ṫ        (7)
             ρ̇ = r u̇ - c ṅ,   u̇ = -(ṅ - κ̇ e_1 - κ ė_1 + ṡ u)/s                                     (8)

             (the terms with ė_i × ė_i vanish)

    across   w·v_a = 0, of a direction w of a body:   A_a = w,   A_w = 0,   γ = ẇ·v_a                (9)
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..compiled.vectors import cross3, dot3
from ..constraints.base import Kind


def pack(positions, arguments):
    raise AssertionError("rows of skates and wheels are made by them")


@inline
def vector(x, a):
    return x[a, 0], x[a, 1], x[a, 2]


@inline
def sum_of(a, s, b):
    """a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@inline
def store(J, k, scale, a):
    J[k, 0], J[k, 1], J[k, 2] = scale * a[0], scale * a[1], scale * a[2]


@inline
def lowest(n, e, r, c):
    """(1): ρ."""
    if r == 0.0:
        return -c * n[0], -c * n[1], -c * n[2]
    kappa = dot3(n, e)
    s = sqrt(1.0 - kappa * kappa)
    return sum_of(sum_of((0.0, 0.0, 0.0), -r / s - c, n), r * kappa / s, e)


@inline
def lowest_rate(n, e, dn, de, r, c):
    """(8): ρ̇."""
    if r == 0.0:
        return -c * dn[0], -c * dn[1], -c * dn[2]
    kappa, rate = dot3(n, e), dot3(dn, e) + dot3(n, de)
    s = sqrt(1.0 - kappa * kappa)
    u = sum_of((-n[0] / s, -n[1] / s, -n[2] / s), kappa / s, e)
    turned = sum_of(sum_of(dn, -rate, e), -kappa, de)
    turned = sum_of(turned, -kappa * rate / s, u)
    return sum_of(sum_of((0.0, 0.0, 0.0), -r / s, turned), -c, dn)


@inline
def angular_velocity(x, v, a, b, c):
    """½ Σ e_i × ė_i of three orthonormal directions of a body."""
    first = cross3(vector(x, a), vector(v, a))
    both = sum_of(first, 1.0, cross3(vector(x, b), vector(v, b)))
    found = sum_of(both, 1.0, cross3(vector(x, c), vector(v, c)))
    return 0.5 * found[0], 0.5 * found[1], 0.5 * found[2]


@compiled
def touch_kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        m, k, row = at.idx + 4 * i, at.blk + 4 * i, at.row + i
        r, c = p[at.p + 2 * i], p[at.p + 2 * i + 1]
        a, b = idx[m], idx[m + 1]
        e, up = vector(x, idx[m + 2]), vector(x, idx[m + 3])
        d = sum_of(vector(x, a), -1.0, vector(x, b))
        kappa = dot3(up, e)
        s = sqrt(1.0 - kappa * kappa) if r > 0.0 else 1.0
        phi[row] = dot3(up, d) - r * s - c  # (2)
        store(J, k, 1.0, up)  # (3)
        store(J, k + 1, -1.0, up)
        store(J, k + 2, r * kappa / s, up)
        store(J, k + 3, 1.0, sum_of(d, r * kappa / s, e))
        phi_t[row] = 0.0
        if second:
            de, dup = vector(v, idx[m + 2]), vector(v, idx[m + 3])
            dd = sum_of(vector(v, a), -1.0, vector(v, b))
            rate = dot3(dup, e) + dot3(up, de)
            ds = -kappa * rate / s
            gamma[row] = 2.0 * dot3(dup, dd) + r * (rate * rate + 2.0 * kappa * dot3(dup, de) + ds * ds) / s  # (4)


@compiled
def slip_kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        m, k, row = at.idx + 8 * i, at.blk + 8 * i, at.row + i
        r, c = p[at.p + 2 * i], p[at.p + 2 * i + 1]
        a, b, first, up_, along_ = idx[m], idx[m + 1], idx[m + 2], idx[m + 5], idx[m + 6]
        e, up, along = vector(x, first), vector(x, up_), vector(x, along_)
        d = sum_of(vector(x, a), -1.0, vector(x, b))
        rho = lowest(up, e, r, c)
        on_plane = sum_of(d, 1.0, rho)
        w_a, w_b = cross3(rho, along), cross3(on_plane, along)  # (5)
        phi[row] = phi_t[row] = 0.0
        store(J, k, 1.0, along)  # (6)
        store(J, k + 1, -1.0, along)
        for j in range(3):
            store(J, k + 2 + j, 0.5, cross3(w_a, vector(x, idx[m + 2 + j])))
            store(J, k + 5 + j, -0.5, cross3(w_b, vector(x, idx[m + 5 + j])))
        if second:
            de, dup, dalong = vector(v, first), vector(v, up_), vector(v, along_)
            dd = sum_of(vector(v, a), -1.0, vector(v, b))
            drho = lowest_rate(up, e, dup, de, r, c)
            dw_a = sum_of(cross3(drho, along), 1.0, cross3(rho, dalong))
            dw_b = sum_of(cross3(sum_of(dd, 1.0, drho), along), 1.0, cross3(on_plane, dalong))
            omega_a = angular_velocity(x, v, idx[m + 2], idx[m + 3], idx[m + 4])
            omega_b = angular_velocity(x, v, idx[m + 5], idx[m + 6], idx[m + 7])
            gamma[row] = dot3(dalong, dd) + dot3(dw_a, omega_a) - dot3(dw_b, omega_b)  # (7)


@compiled
def across_kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a, w = idx[at.idx + 2 * i], idx[at.idx + 2 * i + 1]
        phi[at.row + i] = phi_t[at.row + i] = 0.0
        store(J, at.blk + 2 * i, 1.0, vector(x, w))  # (9)
        store(J, at.blk + 2 * i + 1, 0.0, vector(x, w))
        if second:
            gamma[at.row + i] = dot3(vector(v, w), vector(v, a))


def _row(name: str, doc: str, points: tuple[str, ...], kernel, level: str = "velocity") -> Kind:
    return Kind(name=name, doc=doc, points=points, rows=1, unit="m", pack=pack, kernel=kernel, level=level)


SLIP = (
    _row("touch", "A wheel or ball touches a plane.", ("a", "b", "e1", "n"), touch_kernel, "position"),
    _row("slip", "A wheel or ball does not slip along t.", ("a", "b", "e1", "e2", "e3", "n", "t", "f3"), slip_kernel),
    _row("across", "A point does not move along a direction of a body.", ("a", "w"), across_kernel),
)
