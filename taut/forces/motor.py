"""Motor on a joint's coordinate: a given torque, control of position or of velocity, or a given torque and control.

    Q = T(t) + k (q_d(t) - q) + c (q̇_d(t) - q̇)              (1)  position: stiffness k and damping c
    Q = T(t) + g (w_d(t) - q̇)                               (2)  velocity: gain g
    |Q| ≤ limit                                             (3)
    power = Q q̇                                             (4)

A torque beside a target or a velocity is added to their control, as the feedforward of a servo. On a joint that slides
Q is a force. Control pulls like a spring and a damper: it leaves an error under load, which falls with its stiffness or
gain, and a stiff one needs small steps. `drive` leaves none.
"""

from __future__ import annotations

from math import inf

from ..arguments import example, made
from ..compiled import compiled
from ..constraints.base import Argument, Layout
from ..joints.coordinates import act, rate, value
from .base import always
from .joint_forces import SIZES, acted_on, code, joint_force, not_negative

TARGET, VELOCITY = 1, 2  # where the wanted rate is found: dq_d/dt, w_d


def pack(positions, arguments):
    coordinate, torque = acted_on(arguments)
    target, velocity, limit = arguments["target"], arguments["velocity"], arguments["limit"]
    not_negative(arguments, "stiffness", "damping", "gain", "limit")
    if torque is None and target is None and velocity is None:
        raise ValueError("it has nothing to do; give torque (or force), target or velocity")
    if target is not None and velocity is not None:
        raise ValueError("it has a target and a velocity; give one of them")
    for name, needs in (("stiffness", "target"), ("damping", "target"), ("gain", "velocity")):
        if arguments[name] is not None and arguments[needs] is None:
            raise ValueError(f"it has a {name} but no {needs}; give both or neither")
    if target is not None and arguments["stiffness"] is None:
        raise ValueError("it has a target but no stiffness; give stiffness [N m/rad or N/m]")
    if velocity is not None and arguments["gain"] is None:
        raise ValueError("it has a velocity but no gain; give gain, torque per rate [N m s/rad or N s/m]")
    per_rate = arguments["damping"] if velocity is None else arguments["gain"]
    numbers = (torque, target, arguments["stiffness"], velocity, per_rate, inf if limit is None else limit)
    mode = VELOCITY if velocity is not None else TARGET
    return Layout((*(0.0 if number is None else number for number in numbers), coordinate.offset),
                  (code(coordinate), mode), points=coordinate.points, acts_on=coordinate)


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    for i in range(n):
        kind, own, m = ints[at.ints + 2 * i], at.idx + 4 * i, at.p + 7 * i
        q = value(kind, x, idx, own) + p[m + 6]
        speed = rate(kind, x, v, idx, own)
        wanted = p_t[m + 1] if ints[at.ints + 2 * i + 1] == TARGET else p[m + 3]
        size = p[m] + p[m + 2] * (p[m + 1] - q) + p[m + 4] * (wanted - speed)  # (1), (2)
        size = min(max(size, -p[m + 5]), p[m + 5])  # (3)
        act(kind, x, idx, own, size, f)
        power[0] += size * speed  # (4)
    return 0.0


KIND = joint_force(
    name="motor",
    doc="A motor on a joint: a given torque or force, control of the joint's position or velocity, or their sum.",
    arguments=(
        *SIZES,
        Argument("target", "number", "position control: wanted value of the coordinate [rad or m]"),
        Argument("stiffness", "number", "position control: torque per angle [N m/rad] or force per length [N/m]"),
        Argument("damping", "number", "position control: torque or force per error of the rate"),
        Argument("velocity", "number", "velocity control: wanted rate [rad/s or m/s]"),
        Argument("gain", "number", "velocity control: torque or force per error of the rate"),
        Argument("limit", "constant", "largest torque or force [N m or N]; default: none"),
    ),
    pack=pack, kernel=kernel, may_be_infinite=True, feels_velocity=always, works=always,
    synonyms=("actuator", "servo", "motor_torque", "pd", "pid"),
    examples=(
        example(made("hinge", "box", (2, 1, 0), axis=(0, 0, 1)), torque="1 + t"),
        example(made("slider", "rod", (1, -1, 2), axis=(1, 0, 0)), target="0.3*t", stiffness=4.0, damping=0.5),
    ),
)  # fmt: skip
