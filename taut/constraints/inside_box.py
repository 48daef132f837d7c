"""Inside a box, which may move but not turn: six walls.

    Φ = h_j ∓ e_j·(x - c(t)) - r ≥ 0        (1)
    J = ∓ e_j                               (2)
    Φ_t = ± e_j·c',    γ = ± e_j·c''        (3)

e_j are the box's axes, h_j its half sizes; the upper sign is the wall at +e_j, which comes first. r is the
ball's radius.
"""

from __future__ import annotations

from ..compiled import compiled
from . import outside_box
from .base import Kind, ball_radius


def lay_out(positions, arguments):
    layout = outside_box.lay_out(positions, arguments)
    smallest, ball = min(arguments["half"]), ball_radius(arguments)
    if smallest < ball:  # (1) could not hold for both of two walls
        raise ValueError(f"half of its smallest size is {smallest:g} m, too small for a ball of radius {ball:g} m; "
                         "make it larger")
    return layout


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + i]
        m = at.par + 16 * i
        for j in range(3):
            e = m + 6 + 3 * j
            y = rate = curve = 0.0
            for c in range(3):
                y += p[e + c] * (x[a, c] - p[m + c])
                rate += p[e + c] * p_t[m + c]
                curve += p[e + c] * p_tt[m + c]
            for wall in range(2):
                sign = 1.0 - 2.0 * wall
                r = at.row + 6 * i + 2 * j + wall
                k = at.blk + 6 * i + 2 * j + wall
                phi[r] = p[m + 3 + j] - sign * y - p[m + 15]  # (1)
                for c in range(3):
                    J[k, c] = -sign * p[e + c]  # (2)
                phi_t[r] = sign * rate  # (3)
                if second:
                    gamma[r] = sign * curve


KIND = Kind(
    name="inside_box",
    doc="A ball stays inside a box, which may move: six walls.",
    points=("a",),
    rows=6,
    unit="m",
    arguments=outside_box.ARGUMENTS,
    lay_out=lay_out,
    kernel=kernel,
    sense=">=",
    contact=True,
)
