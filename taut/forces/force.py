"""A given force on a point, constant or a function of time.

    f = F(t)                                    (1)
    V = -F·x for a constant force, else 0       (2)
    power = 0 for a constant force, else F·v    (3)
"""

from __future__ import annotations

from ..arguments import example
from ..compiled import compiled
from ..constraints.base import Argument, Layout
from .base import ForceKind


def pack(positions, arguments):
    value = arguments["value"]
    return Layout(tuple(value), ints=(int(all(s.is_constant for s in value)),))


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    energy = 0.0
    for i in range(n):
        a = idx[at.idx + i]
        m = at.p + 3 * i
        for c in range(3):
            f[a, c] += p[m + c]  # (1)
            if ints[at.ints + i]:
                energy -= p[m + c] * x[a, c]  # (2)
            else:
                power[0] += p[m + c] * v[a, c]  # (3)
    return energy


KIND = ForceKind(
    name="force",
    doc="A constant or time-dependent force on a point (on a coordinate: its first component).",
    points=("a",),
    arguments=(Argument("value", "vector", "force [N]", required=True),),
    pack=pack, kernel=kernel,
    synonyms=("load", "applied_force", "point_force"),
    examples=(example("p", value=(1, 2, 3)), example(("box", (0.1, 0.2, 0.1)), value=("sin(t)", 0, 1))),
)  # fmt: skip
