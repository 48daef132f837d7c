"""Distance: two points stay a length apart.

    Φ = |d| - L(t),    d = x_a - x_b                    (1)
    J = (u, -u),       u = d / |d|                      (2)
    Φ_t = -L'                                           (3)
    γ = (|ḋ|² - (u·ḋ)²) / |d| - L''                     (4)
"""

from __future__ import annotations

from math import sqrt

from ..arguments import example
from ..compiled import compiled
from .base import Argument, Kind, Layout


def pack(positions, arguments):
    apart = float(sqrt(((positions[0] - positions[1]) ** 2).sum()))
    if apart == 0.0:
        raise ValueError("its two points coincide, so the direction of the force is undefined; move one of them")
    length = arguments["length"]
    if length is None:
        return Layout((apart,), length=apart)
    if length.at(0.0)[0] <= 0:
        raise ValueError(f"its length is {length.at(0.0)[0]:g} m; a length must be positive "
                         "(to hold two points together use ball)")
    return Layout((length,), length=length)


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + 2 * i]
        b = idx[at.idx + 2 * i + 1]
        dx = x[a, 0] - x[b, 0]
        dy = x[a, 1] - x[b, 1]
        dz = x[a, 2] - x[b, 2]
        length = sqrt(dx * dx + dy * dy + dz * dz)
        inverse = 1.0 / length
        ux, uy, uz = dx * inverse, dy * inverse, dz * inverse
        phi[at.row + i] = length - p[at.p + i]  # (1)
        k = at.blk + 2 * i
        J[k, 0], J[k, 1], J[k, 2] = ux, uy, uz  # (2)
        J[k + 1, 0], J[k + 1, 1], J[k + 1, 2] = -ux, -uy, -uz
        phi_t[at.row + i] = -p_t[at.p + i]  # (3)
        if second:
            wx = v[a, 0] - v[b, 0]
            wy = v[a, 1] - v[b, 1]
            wz = v[a, 2] - v[b, 2]
            rate = ux * wx + uy * wy + uz * wz
            turning = (wx * wx + wy * wy + wz * wz - rate * rate) * inverse
            gamma[at.row + i] = turning - p_tt[at.p + i]  # (4)


def separation(arguments):
    length = arguments["length"]
    return None if length is None or not length.is_constant else length.value


KIND = Kind(
    name="distance",
    doc="Two points stay a given length apart (by default the length they start with).",
    points=("a", "b"),
    arguments=(Argument("length", "number", "length [m]; default: as at the start"),),
    pack=pack, kernel=kernel, contact=True, link="rod", separation=separation,
    synonyms=("rod", "bar", "massless_rod", "rigid_link", "link"),
    examples=(
        example("p", "q", length="1 + 0.2*sin(3*t)"),
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0))),
        example(("box", (0.1, -0.2, 0.3)), (0, 0, 0)),
    ),
)  # fmt: skip
