"""Dry friction on a joint's coordinate: Coulomb's law, or a smooth law for methods that can not treat it.

    |Q| ≤ T;   q̇ = 0 while |Q| < T,   else Q = -T sign(q̇)        (1)
    Q = -T tanh(q̇/w)                                             (2)
    power = Q q̇                                                  (3)

Where T is a function of time that falls below zero, it counts as zero.

Methods with fixed steps hold (1) at the end of each step: simulation/dry_friction.py chooses Q, which is kept, as
(Q, 1), in a point of its own that belongs to the state. A joint under a load below T stays where it is.

Adaptive methods and those for deformables have (2), which goes over from T to -T in a width w of rates: a joint under a
load |L| < T creeps at w atanh(L/T), and below about w nothing is ever at rest. A small w is a stiff force.
"""

from __future__ import annotations

from math import tanh

from ..arguments import example, made
from ..compiled import compiled
from ..constraints.base import Argument, Layout
from ..joints.coordinates import act, rate
from .base import always
from .joint_forces import SIZES, acted_on, code, joint_force, not_negative

POINTS = 5  # of the coordinate, and where Q is kept


def pack(positions, arguments):
    coordinate, size = acted_on(arguments)
    if size is None:
        raise ValueError("it has no size; give torque [N m], or force [N] of a joint that slides")
    not_negative(arguments, "torque", "force")
    if not arguments["width"] > 0.0:
        raise ValueError(f"its width is {arguments['width']:g}; it must be positive")
    points = (*coordinate.points, arguments["memory"])
    return Layout((size, arguments["width"]), (code(coordinate),), points=points, acts_on=coordinate)


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    for i in range(n):
        kind, own, m = ints[at.ints + i], at.idx + POINTS * i, at.p + 2 * i
        speed = rate(kind, x, v, idx, own)
        keeper = idx[own + 4]
        size = x[keeper, 0]  # (1)
        if x[keeper, 1] == 0.0:
            size = -max(p[m], 0.0) * tanh(speed / p[m + 1])  # (2)
        act(kind, x, idx, own, size, f)
        power[0] += size * speed  # (3)
    return 0.0


KIND = joint_force(
    name="joint_friction",
    doc="Dry friction on a joint's coordinate; it sticks with methods of fixed steps (`taut list methods`).",
    arguments=(
        *SIZES,
        Argument("width", "constant", "rate within which it changes its sign, with methods that have it smooth "
                                      "[rad/s or m/s]", default=0.01),
    ),
    pack=pack, kernel=kernel, feels_velocity=always, works=always, dry=True,
    synonyms=("dry_friction", "coulomb_friction", "friction"),
    examples=(example(made("hinge", "box", (2, 1, 0), axis=(0, 0, 1)), torque=0.7, width=0.5),),
)  # fmt: skip
