"""Wind and air drag on triangles.

    u = w(t) - (v_i + v_j + v_k) / 3                        the air as the triangle feels it    (1)
    a = (x_j - x_i) × (x_k - x_i) = 2 A n                                                       (2)
    f = ρ c A |u| (u·n) n / 2 = ρ c |u| (u·a) a / (4 |a|),  a third of it on each corner        (3)

The force is along the normal n and the same for both sides: still air takes energy from any motion. Its power is
that on the three corners.
"""

from __future__ import annotations

from math import sqrt

from ..arguments import example
from ..compiled import compiled
from ..constraints.base import Argument, Layout
from .base import ForceKind, always, coupled_by
from .springs import numbered_points


def pack(positions, arguments):
    triangles = numbered_points(arguments["triangles"], 3, "triangles", len(positions))
    coefficient, density = arguments["coefficient"], arguments["density"]
    if coefficient.is_constant and coefficient.value < 0:
        raise ValueError(f"its coefficient is {coefficient.value:g}; it must not be negative")
    if density < 0:
        raise ValueError(f"its density is {density:g} kg/m³; it must not be negative")
    numbers = (len(positions), len(triangles), *triangles.ravel().tolist())
    return Layout((density, coefficient, *arguments["velocity"]), numbers)


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    nodes, corner, m = at.idx, at.ints, at.p
    for _ in range(n):
        points, count = ints[corner], ints[corner + 1]
        factor = p[m] * p[m + 1] / 12.0
        w0, w1, w2 = p[m + 2], p[m + 3], p[m + 4]
        corner += 2
        m += 5
        for _ in range(count):
            i = idx[nodes + ints[corner]]
            j = idx[nodes + ints[corner + 1]]
            k = idx[nodes + ints[corner + 2]]
            corner += 3
            u0 = w0 - (v[i, 0] + v[j, 0] + v[k, 0]) / 3.0  # (1)
            u1 = w1 - (v[i, 1] + v[j, 1] + v[k, 1]) / 3.0
            u2 = w2 - (v[i, 2] + v[j, 2] + v[k, 2]) / 3.0
            b0, b1, b2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            c0, c1, c2 = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
            a0, a1, a2 = b1 * c2 - b2 * c1, b2 * c0 - b0 * c2, b0 * c1 - b1 * c0  # (2)
            doubled = sqrt(a0 * a0 + a1 * a1 + a2 * a2)
            if doubled > 0.0:
                speed = sqrt(u0 * u0 + u1 * u1 + u2 * u2)
                share = factor * speed * (u0 * a0 + u1 * a1 + u2 * a2) / doubled  # (3)
                for corner_node in (i, j, k):
                    power[0] += share * (a0 * v[corner_node, 0] + a1 * v[corner_node, 1] + a2 * v[corner_node, 2])
                    f[corner_node, 0] += share * a0
                    f[corner_node, 1] += share * a1
                    f[corner_node, 2] += share * a2
        nodes += points
    return 0.0


KIND = ForceKind(
    name="wind",
    doc="Wind and air drag on triangles of the listed points; without a velocity the air is still.",
    points=None,
    arguments=(
        Argument("triangles", "numbers", "three point numbers per triangle, counted from 0", required=True),
        Argument("velocity", "vector", "of the air [m/s]", default=(0.0, 0.0, 0.0)),
        Argument("coefficient", "number", "drag coefficient of a plate across the wind", default=1.0),
        Argument("density", "constant", "of the air [kg/m³]", default=1.2),
    ),
    pack=pack, kernel=kernel, feels_velocity=always, works=always, coupled=coupled_by(3),
    examples=(example("p", "q", "r", triangles=[(0, 1, 2)], velocity=("1 + t", 0, 2)),),
)  # fmt: skip
