"""Outside a box, which may move but not turn.

With y = Qᵀ (x - c(t)) in the box's axes and h its half sizes,

    q_j = |y_j| - h_j,    w_j = max(q_j, 0) sign(y_j)                               (1)
    Φ = f - r,    f = |w| outside,    f = max_j q_j inside                          (2)
    J = Q u,    u = w / f outside,    u = sign(y_j) e_j at the nearest face inside  (3)
    Φ_t = -J·c'                                                                     (4)
    γ = (|ẇ|² - (u·ẇ)²) / f - J·c'',    ẇ = the part of Qᵀ(v - c') where w ≠ 0      (5)

One w_j ≠ 0 is a face, two an edge and three a corner; on a face γ has no first term, and inside neither.
r is the ball's radius.
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled
from .base import BALL, Argument, Kind, Layout, ball_radius

# What both box kinds take.
ARGUMENTS = (
    Argument("center", "vector", "centre [m]", required=True),
    Argument("half", "constant_vector", "half of its sizes along its own axes [m]", required=True),
    Argument("orientation", "quaternion", "from the box's axes to the world's", default=(1.0, 0.0, 0.0, 0.0)),
    BALL,
)


def lay_out(positions, arguments):
    half = arguments["half"]
    if min(half) <= 0.0:
        raise ValueError(f"its half sizes are {half}; all must be positive")
    w, x, y, z = arguments["orientation"]
    axes = (
        1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),
        2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
        2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip
    return Layout((*arguments["center"], *half, *axes, ball_radius(arguments)))


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + i]
        m = at.par + 16 * i
        r = at.row + i
        k = at.blk + i
        deepest = -1.0
        face = 0
        sign = 1.0
        squares = rate = speeds = 0.0
        J[k, 0] = J[k, 1] = J[k, 2] = 0.0
        for j in range(3):
            e = m + 6 + 3 * j
            y = 0.0
            for c in range(3):
                y += p[e + c] * (x[a, c] - p[m + c])
            s = 1.0 if y >= 0.0 else -1.0
            q = s * y - p[m + 3 + j]  # (1)
            if j == 0 or q > deepest:
                deepest = q
                face = e
                sign = s
            if q > 0.0:
                slide = 0.0
                for c in range(3):
                    J[k, c] += q * s * p[e + c]  # becomes f J
                    slide += s * p[e + c] * (v[a, c] - p_t[m + c])
                squares += q * q
                rate += q * slide
                speeds += slide * slide
        if deepest > 0.0:
            f = sqrt(squares)
            for c in range(3):
                J[k, c] /= f  # (3)
            turning = (speeds - rate * rate / squares) / f
        else:
            f = deepest
            for c in range(3):
                J[k, c] = sign * p[face + c]
            turning = 0.0
        phi[r] = f - p[m + 15]  # (2)
        phi_t[r] = -(J[k, 0] * p_t[m] + J[k, 1] * p_t[m + 1] + J[k, 2] * p_t[m + 2])  # (4)
        if second:
            gamma[r] = turning - (J[k, 0] * p_tt[m] + J[k, 1] * p_tt[m + 1] + J[k, 2] * p_tt[m + 2])  # (5)


KIND = Kind(
    name="outside_box",
    doc="A ball stays outside a box, which may move.",
    points=("a",),
    rows=1,
    unit="m",
    arguments=ARGUMENTS,
    lay_out=lay_out,
    kernel=kernel,
    sense=">=",
    contact=True,
)
