"""Spring and damper on a joint's coordinate.

    Q = -k (q - q₀) - c q̇                                   (1)
    V = k (q - q₀)²/2                                       (2)
    power = -c q̇² + k_t (q - q₀)²/2 - k (q - q₀) q₀_t       (3)
"""

from __future__ import annotations

from ..arguments import example, made
from ..compiled import compiled
from ..constraints.base import Argument, Layout
from ..joints.coordinates import act, rate, value
from .base import is_damped
from .joint_forces import acted_on, code, joint_force, not_negative


def pack(positions, arguments):
    coordinate, _ = acted_on(arguments)
    not_negative(arguments, "stiffness", "damping")
    if not any(arguments[name].value if arguments[name].is_constant else 1.0 for name in ("stiffness", "damping")):
        raise ValueError("it has neither stiffness nor damping, so that it does nothing; give one of them")
    numbers = (arguments["stiffness"], arguments["rest"], arguments["damping"], coordinate.offset)
    return Layout(numbers, (code(coordinate),), points=coordinate.points, acts_on=coordinate)


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    energy = 0.0
    for i in range(n):
        kind, own, m = ints[at.ints + i], at.idx + 4 * i, at.p + 4 * i
        k, c = p[m], p[m + 2]
        over = value(kind, x, idx, own) + p[m + 3] - p[m + 1]
        speed = rate(kind, x, v, idx, own)
        act(kind, x, idx, own, -k * over - c * speed, f)  # (1)
        energy += 0.5 * k * over * over  # (2)
        power[0] += -c * speed * speed + (0.5 * p_t[m] * over - k * p_t[m + 1]) * over  # (3)
    return energy


KIND = joint_force(
    name="spring_on",
    doc="A linear spring with damping on a joint's coordinate.",
    arguments=(
        Argument("stiffness", "number", "torque per angle [N m/rad] or force per displacement [N/m]", default=0.0),
        Argument("damping", "number", "torque per rate [N m s/rad] or force per speed [N s/m]", default=0.0),
        Argument("rest", "number", "value of the coordinate at which the spring is slack [rad or m]", default=0.0),
    ),
    pack=pack, kernel=kernel, feels_velocity=is_damped, works=is_damped,
    synonyms=("torsion_spring", "torsional_spring", "rotational_spring", "rsda"),
    examples=(
        example(made("hinge", "box", (2, 1, 0), axis=(0, 0, 1)), stiffness="2 + t", damping=0.3, rest="0.1*t"),
        example(
            made("serial_joint", "box", (2, 1, 0), hinge_1=(0, 0, 1), hinge_2=(0, 1, 0), hinge_3=(9, 0, 1)),
            stiffness="2 + t", damping=0.3, coordinate="angle_2",
        ),
    ),
)  # fmt: skip
