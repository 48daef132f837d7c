"""Dry friction on a joint's coordinate, made smooth.

    Q = -T tanh(q̇/w)                 (1)
    power = Q q̇                      (2)

Coulomb's law is a jump from -T to T; (1) goes over in a width w of rates. A joint under a load |L| < T, which dry
friction would hold, creeps at w atanh(L/T), and below about w nothing is ever at rest. A small w is a stiff force: with
explicit methods the step must stay below 2 w I/T, I being the inertia that the joint feels.
"""

from __future__ import annotations

from math import tanh

from ..arguments import example, made
from ..compiled import compiled
from ..constraints.base import Argument, Layout
from ..joints.coordinates import act, rate
from .base import always
from .joint_forces import SIZES, acted_on, code, joint_force, not_negative


def pack(positions, arguments):
    coordinate, size = acted_on(arguments)
    if size is None:
        raise ValueError("it has no size; give torque [N m], or force [N] of a joint that slides")
    not_negative(arguments, "torque", "force")
    if not arguments["width"] > 0.0:
        raise ValueError(f"its width is {arguments['width']:g}; it must be positive")
    return Layout((size, arguments["width"]), (code(coordinate),), points=coordinate.points, acts_on=coordinate)


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    for i in range(n):
        kind, own, m = ints[at.ints + i], at.idx + 4 * i, at.p + 2 * i
        speed = rate(kind, x, v, idx, own)
        size = -p[m] * tanh(speed / p[m + 1])  # (1)
        act(kind, x, idx, own, size, f)
        power[0] += size * speed  # (2)
    return 0.0


KIND = joint_force(
    name="joint_friction",
    doc="Dry friction on a joint's coordinate, smooth within a width of rates: where it should hold it creeps.",
    arguments=(
        *SIZES,
        Argument("width", "constant", "rate within which friction changes its sign [rad/s or m/s]", default=0.01),
    ),
    pack=pack, kernel=kernel, feels_velocity=always, works=always,
    examples=(example(made("hinge", "box", (2, 1, 0), axis=(0, 0, 1)), torque=0.7, width=0.5),),
)  # fmt: skip
