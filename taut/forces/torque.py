"""A given torque on a rigid body, in the world's axes, constant or a function of time.

    τ = T(t)        (1)
"""

from __future__ import annotations

from ..arguments import example
from ..compiled import compiled
from ..constraints.base import Argument, Layout
from .base import ForceKind, always


def pack(positions, arguments):
    return Layout(tuple(arguments["value"]))


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    for i in range(n):
        a = idx[at.idx + i]
        for c in range(3):
            f[a, c] += p[at.p + 3 * i + c]  # (1)
    return 0.0


KIND = ForceKind(
    name="torque",
    doc="A constant or time-dependent torque on a rigid body, in the world's axes.",
    points=("a",),
    arguments=(Argument("value", "vector", "torque [N m]", required=True),),
    pack=pack, kernel=kernel, turning=True, works=always,
    synonyms=("moment", "applied_torque"),
    examples=(example("box", value=("t", 1, 2)),),
)  # fmt: skip
