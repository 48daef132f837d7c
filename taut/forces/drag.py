"""Viscous drag.

    f = -c v,   power = f·v        (1)
"""

from __future__ import annotations

from ..arguments import example
from ..compiled import compiled
from ..constraints.base import Argument, Layout
from .base import ForceKind, always, none_coupled


def pack(positions, arguments):
    coefficient = arguments["coefficient"]
    if coefficient.is_constant and coefficient.value < 0:
        raise ValueError(f"its coefficient is {coefficient.value:g}; it must not be negative")
    return Layout((coefficient,), ints=(len(positions),))


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    for i in range(n):
        count = ints[at.ints + i]
        coefficient = p[at.p + i]
        for q in range(count):
            a = idx[at.idx + count * i + q]
            for c in range(3):
                f[a, c] -= coefficient * v[a, c]  # (1)
                power[0] -= coefficient * v[a, c] * v[a, c]
    return 0.0


KIND = ForceKind(
    name="drag",
    doc="Viscous drag on the listed bodies, or on all free bodies when none is listed.",
    points=None,
    arguments=(Argument("coefficient", "number", "force per speed [N s/m]", required=True),),
    pack=pack, kernel=kernel, feels_velocity=always, works=always, on_all=True, coupled=none_coupled,
    synonyms=("viscous", "air_resistance", "damping"),
    examples=(example("p", coefficient="0.4 + t"),),
)  # fmt: skip
