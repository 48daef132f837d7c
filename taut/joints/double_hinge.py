"""Double hinge: a link without mass, with a hinge at each of its ends: hinge_1 on b's body, hinge_2 on a's.

    u·w, w·d, u·d and |d| constant,   w = hinge_1, u = hinge_2, d = x_a - x_b    (1)
    angle_1: the turn of u about w, as seen from b;  angle_2: that of a's body about u                      (2)

w, u and d, which are fixed to the link, must not lie in one plane: their products then tell where each of them is. A
link whose axes meet is a serial_joint.
"""

from __future__ import annotations

import numpy as np

from ..arguments import example
from ..constraints.base import Argument, Layout, Part
from .base import TWO_ANGLES, frame, joint, on_body, points_of, unit
from .serial_joint import turning

SHORTEST = 1e-6  # m
LEAST = 1e-3  # of the volume that u, w and d span, of that of three perpendicular ones


def pack(positions, arguments):
    hinges = [unit(arguments[name], name) for name in ("hinge_1", "hinge_2")]
    d = positions[0] - positions[1]
    length = float(np.linalg.norm(d))
    if abs(float(np.linalg.det([*hinges, d]))) <= LEAST * length:
        raise ValueError("its two axes and the line between its two places lie in one plane; of axes that meet make a "
                         "serial_joint, else a body of the link")
    if length < SHORTEST:
        raise ValueError(f"its two places are {length:.3g} m apart, too near for a direction between them; of axes "
                         "that meet make a serial_joint")
    first, second = arguments["frames"]
    a, b = points_of(arguments)
    w, u = second.direction(hinges[0]), first.direction(hinges[1])
    rotation, turns = turning(arguments, hinges)
    x = hinges[1] - float(hinges[0] @ hinges[1]) * hinges[0]
    return Layout(
        parts=(
            Part("distance", (a, b), (length,)), *rotation,
            Part("offset", (a, b, w), (float(hinges[0] @ d),)), Part("offset", (a, b, u), (float(hinges[1] @ d),)),
        ),  # (1)
        coordinates=turns,  # (2)
        frame=frame(arguments, on_body(second, unit(x.tolist(), "hinge_2"), hinges[0])),
    )  # fmt: skip


KIND = joint(
    "double_hinge", "A link without mass joins two bodies, with a hinge at each end whose axes do not meet.", pack,
    rows=4,
    arguments=(
        Argument("hinge_1", "constant_vector", "axis on b's body, in the world at the start", required=True),
        Argument("hinge_2", "constant_vector", "axis on a's body, in the world at the start", required=True),
        *TWO_ANGLES,
    ),
    synonyms=("hinge_pair", "two_hinges", "skew_hinges"),
    examples=(
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0)), hinge_1=(1, 0, 0), hinge_2=(0, 1, 0)),
    ),
)  # fmt: skip
