"""The motion of a tree of links: from its coordinates to positions, and from forces to accelerations.

    x = x_above + L n                                                            (1)
    plane:   n(ξ) = cos ξ e₀ + sin ξ e₁                                          (2)
    space:   n(ξ) = C e₀ + S (ξ₁ e₁ + ξ₂ e₂),  C = cos|ξ|,  S = sin|ξ|/|ξ|        (3)
    a = a_above + Σ D_a ξ̈_a + c,   D_a = L ∂n/∂ξ_a,   c = L n̈ at ξ̈ = 0           (4)

(3) is a chart of the sphere around e₀; e₀ is the link's own direction at the start of each step, so that no
position is singular. The accelerations follow in two sweeps over the tree, without a mass matrix (the
articulated bodies of Featherstone 1983, here points): the part below link k answers its upper end with

    force = I a_above + P,   I = m 1 + Σ I_child,   P = -f + Σ P_child + I c     (5)  ξ̈ held at zero
    U_a = I D_a,   g_a = D_a·U_a,   I -= U_a U_aᵀ/g_a,   P -= U_a D_a·P/g_a       (6)  ξ̈_a set free
    ξ̈_a = -(U_a·a_above + D_a·P)/g_a                                             (7)  from the anchors down
"""

from __future__ import annotations

from math import cos, factorial, sin, sqrt
from typing import NamedTuple

import numpy as np

from ...compiled import compiled, inline, structure
from ...model.arrays import Array

PLANAR, SPATIAL = 1, 2  # coordinates per link
TERMS = 8
SERIES = np.array(  # of sin r / r in powers of r², and of its first and second derivative
    [
        [(-1.0) ** j / factorial(2 * j + 1) for j in range(TERMS)],
        [(-1.0) ** j * j / factorial(2 * j + 1) for j in range(1, TERMS + 1)],
        [(-1.0) ** j * j * (j - 1) / factorial(2 * j + 1) for j in range(2, TERMS + 2)],
    ]
)


@structure
class Tree(NamedTuple):
    width: int  # PLANAR or SPATIAL
    slot: Array  # of the particle at the link's lower end
    above: Array  # point at its upper end
    parent: Array  # link that moves its upper end, or -1: an anchor
    length: Array
    frame: Array  # (links, 3, 3): e₀, e₁, e₂
    n: Array  # (links, 3) direction
    n_t: Array  # its rate
    D: Array  # (links, 2, 3)
    c: Array  # (links, 3)
    inertia: Array  # (links, 3, 3): I
    P: Array  # (links, 3); after (6) the acceleration of the particle
    U: Array  # (links, 2, 3): U_a/g_a
    s: Array  # (links, 2): D_a·P/g_a


def allocate(width: int = PLANAR, slot=(), above=(), parent=(), length=()) -> Tree:
    k = len(slot)
    shapes = ((k, 3, 3), (k, 3), (k, 3), (k, 2, 3), (k, 3), (k, 3, 3), (k, 3), (k, 2, 3), (k, 2))
    return Tree(
        width, np.array(slot, np.uint32), np.array(above, np.uint32), np.array(parent, np.int64),
        np.array(length, float), *(np.zeros(shape) for shape in shapes),
    )  # fmt: skip


@compiled
def choose_charts(tree, kept, y):
    """Charts (3) around the directions kept from the last step; (ξ, ξ̇) there into y."""
    for k in range(tree.slot.shape[0]):
        e = tree.frame[k]
        n0, n1, n2 = kept[0, 3 * k], kept[0, 3 * k + 1], kept[0, 3 * k + 2]
        if abs(n0) <= abs(n1) and abs(n0) <= abs(n2):  # e₁ = n × the axis it is farthest from
            a0, a1, a2 = 0.0, n2, -n1
        elif abs(n1) <= abs(n2):
            a0, a1, a2 = -n2, 0.0, n0
        else:
            a0, a1, a2 = n1, -n0, 0.0
        size = 1.0 / sqrt(a0 * a0 + a1 * a1 + a2 * a2)
        a0, a1, a2 = a0 * size, a1 * size, a2 * size
        e[0, 0], e[0, 1], e[0, 2] = n0, n1, n2
        e[1, 0], e[1, 1], e[1, 2] = a0, a1, a2
        e[2, 0], e[2, 1], e[2, 2] = n1 * a2 - n2 * a1, n2 * a0 - n0 * a2, n0 * a1 - n1 * a0
        for a in range(2):
            rate = 0.0
            for c in range(3):
                rate += e[a + 1, c] * kept[1, 3 * k + c]
            y[0, 2 * k + a] = 0.0
            y[1, 2 * k + a] = rate


@compiled
def keep_directions(tree, y, kept):
    """n and ṅ at y into kept, with what rounding takes from |n| = 1 and n·ṅ = 0 restored."""
    for k in range(tree.slot.shape[0]):
        turn_in_space(tree, k, y)
        n, n_t = tree.n[k], tree.n_t[k]
        size = 1.0 / sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
        along = (n[0] * n_t[0] + n[1] * n_t[1] + n[2] * n_t[2]) * size * size
        for c in range(3):
            kept[0, 3 * k + c] = n[c] * size
            kept[1, 3 * k + c] = n_t[c] - along * n[c]


@inline
def turn_in_plane(tree, k, y):
    length, e = tree.length[k], tree.frame[k]
    angle, rate = y[0, k], y[1, k]
    C, S = cos(angle), sin(angle)
    for c in range(3):
        n, across = C * e[0, c] + S * e[1, c], C * e[1, c] - S * e[0, c]
        tree.n[k, c] = n  # (2)
        tree.n_t[k, c] = rate * across
        tree.D[k, 0, c] = length * across  # (4)
        tree.c[k, c] = -length * rate * rate * n


@inline
def sine_ratios(r2):
    """S = sin r / r, T = dS/d(r²) and Q = dT/d(r²) as functions of r²: by series where quotients cancel."""
    if r2 < 0.25:
        S = T = Q = 0.0
        for i in range(TERMS):
            j = TERMS - 1 - i
            S = S * r2 + SERIES[0, j]
            T = T * r2 + SERIES[1, j]
            Q = Q * r2 + SERIES[2, j]
        return S, T, Q
    r = sqrt(r2)
    S = sin(r) / r
    T = (cos(r) - S) / (2.0 * r2)
    return S, T, -(0.5 * S + 3.0 * T) / (2.0 * r2)


@inline
def turn_in_space(tree, k, y):
    length, e = tree.length[k], tree.frame[k]
    p, q, p_t, q_t = y[0, 2 * k], y[0, 2 * k + 1], y[1, 2 * k], y[1, 2 * k + 1]
    r2 = p * p + q * q
    rate = 2.0 * (p * p_t + q * q_t)  # of r2, and its own rate
    bend = 2.0 * (p_t * p_t + q_t * q_t)
    C = cos(sqrt(r2))
    S, T, Q = sine_ratios(r2)
    u0 = -0.5 * T * rate * rate - 0.5 * S * bend  # dC/d(r²) = -S/2
    u = Q * rate * rate + T * bend
    for c in range(3):
        tangent, tangent_t = p * e[1, c] + q * e[2, c], p_t * e[1, c] + q_t * e[2, c]
        steep = T * tangent - 0.5 * S * e[0, c]  # ∂n/∂(r²)
        tree.n[k, c] = C * e[0, c] + S * tangent  # (3)
        tree.n_t[k, c] = S * tangent_t + rate * steep
        tree.D[k, 0, c] = length * (S * e[1, c] + 2.0 * p * steep)  # (4)
        tree.D[k, 1, c] = length * (S * e[2, c] + 2.0 * q * steep)
        tree.c[k, c] = length * (u0 * e[0, c] + u * tangent + 2.0 * T * rate * tangent_t)


@compiled
def place(tree, y, x, v):
    for k in range(tree.slot.shape[0]):
        if tree.width == PLANAR:
            turn_in_plane(tree, k, y)
        else:
            turn_in_space(tree, k, y)
        slot, above = tree.slot[k], tree.above[k]
        for c in range(3):
            x[slot, c] = x[above, c] + tree.length[k] * tree.n[k, c]  # (1)
            v[slot, c] = v[above, c] + tree.length[k] * tree.n_t[k, c]


@compiled
def accelerate(tree, mass, f, driven, out):
    """ξ̈ into out, at the place last given to `place`; `driven` holds the accelerations of anchors."""
    links, width = tree.slot.shape[0], tree.width
    for k in range(links):
        slot = tree.slot[k]
        for c in range(3):
            tree.P[k, c] = -f[slot, c]
            for b in range(3):
                tree.inertia[k, c, b] = mass[slot, 0] if c == b else 0.0
    for i in range(links):
        k = links - 1 - i
        I, P, c = tree.inertia[k], tree.P[k], tree.c[k]
        for b in range(3):
            P[b] += I[b, 0] * c[0] + I[b, 1] * c[1] + I[b, 2] * c[2]  # (5)
        for j in range(width):
            set_free(tree, k, width - 1 - j)
        parent = tree.parent[k]
        if parent >= 0:
            for b in range(3):
                tree.P[parent, b] += P[b]
                for d in range(3):
                    tree.inertia[parent, b, d] += I[b, d]
    for k in range(links):
        a = tree.P[k]
        if tree.parent[k] >= 0:
            above = tree.P[tree.parent[k]]
        else:
            above = driven[tree.above[k]]
        for b in range(3):
            a[b] = above[b]
        for j in range(width):
            U, D = tree.U[k, j], tree.D[k, j]
            value = -(U[0] * a[0] + U[1] * a[1] + U[2] * a[2] + tree.s[k, j])  # (7)
            out[width * k + j] = value
            for b in range(3):
                a[b] += D[b] * value
        for b in range(3):
            a[b] += tree.c[k, b]  # (4)


@inline
def set_free(tree, k, j):
    I, P, D, U = tree.inertia[k], tree.P[k], tree.D[k, j], tree.U[k, j]
    for b in range(3):
        U[b] = I[b, 0] * D[0] + I[b, 1] * D[1] + I[b, 2] * D[2]
    g = D[0] * U[0] + D[1] * U[1] + D[2] * U[2]
    s = (D[0] * P[0] + D[1] * P[1] + D[2] * P[2]) / g
    for b in range(3):  # (6)
        P[b] -= U[b] * s
        for d in range(3):
            I[b, d] -= U[b] * U[d] / g
    for b in range(3):
        U[b] /= g
    tree.s[k, j] = s
