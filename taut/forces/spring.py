"""Spring with damping along its own direction.

    f_a = -(k (|d| - L) + c u·ḋ) u,   f_b = -f_a,    d = x_a - x_b, u = d/|d|       (1)
    V = k (|d| - L)² / 2                                                            (2)
    power = -c (u·ḋ)² + k_t (|d| - L)²/2 - k (|d| - L) L_t                          (3)
"""

from __future__ import annotations

from math import sqrt

from ..arguments import example
from ..compiled import compiled
from ..compiled.vectors import add_pair
from ..constraints.base import Argument, Layout
from .base import ForceKind, is_damped


def pack(positions, arguments):
    apart = float(sqrt(((positions[0] - positions[1]) ** 2).sum()))
    length = arguments["length"]
    stiffness, damping = arguments["stiffness"], arguments["damping"]
    for name, value in (("stiffness", stiffness), ("damping", damping), ("length", length)):
        if value is not None and value.is_constant and value.value < 0:
            raise ValueError(f"its {name} is {value.value:g}; it must not be negative")
    if apart == 0.0 and (length is None or length.at(0.0)[0] != 0.0):
        raise ValueError("its two points coincide, so the direction of the force is undefined; move one of them")
    return Layout((stiffness, apart if length is None else length, damping))


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    energy = 0.0
    for i in range(n):
        a = idx[at.idx + 2 * i]
        b = idx[at.idx + 2 * i + 1]
        stiffness = p[at.p + 3 * i]
        rest = p[at.p + 3 * i + 1]
        damping = p[at.p + 3 * i + 2]
        dx = x[a, 0] - x[b, 0]
        dy = x[a, 1] - x[b, 1]
        dz = x[a, 2] - x[b, 2]
        length = sqrt(dx * dx + dy * dy + dz * dz)
        inverse = 1.0 / length if length > 0.0 else 0.0
        wx = v[a, 0] - v[b, 0]
        wy = v[a, 1] - v[b, 1]
        wz = v[a, 2] - v[b, 2]
        rate = (dx * wx + dy * wy + dz * wz) * inverse
        pull = -(stiffness * (length - rest) + damping * rate) * inverse
        add_pair(f, a, b, pull, pull, dx, dy, dz)  # (1)
        longer = length - rest
        energy += 0.5 * stiffness * longer * longer  # (2)
        m = at.p + 3 * i
        power[0] += (0.5 * p_t[m] * longer - stiffness * p_t[m + 1]) * longer - damping * rate * rate  # (3)
    return energy


KIND = ForceKind(
    name="spring",
    doc="A linear spring with damping between two points.",
    points=("a", "b"),
    arguments=(
        Argument("stiffness", "number", "stiffness [N/m]", required=True),
        Argument("length", "number", "rest length [m]; default: as at the start"),
        Argument("damping", "number", "damping along the spring [N s/m]", default=0.0),
    ),
    pack=pack, kernel=kernel, feels_velocity=is_damped, works=is_damped,
    link="spring", is_spring=True,
    synonyms=("damper", "dashpot", "spring_damper", "tsda"),
    examples=(
        example("p", ("box", (0.1, 0.2, 0.1)), stiffness="20 + t", length="0.5 + 0.1*t", damping=0.7),
        example("q", (0, 0, 0), stiffness=3.0),
    ),
)  # fmt: skip
