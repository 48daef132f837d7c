"""Andrews' squeezing mechanism, a test of multibody codes with published solutions.

Schiehlen 1990 (Multibody Systems Handbook); Hairer and Wanner 1996, VII.7; the test set for initial value problems.
Seven bodies move in a plane without gravity, driven by a constant torque. Angles as published:

    β of body 1,   β + Θ of 2,   γ of 3,   Φ + δ of 4,   δ of 5,   Ω + ε of 6,   ε of 7
"""

from __future__ import annotations

from math import cos, sin
from typing import Any, NamedTuple

from ..scene import Scene
from .common import real

BETA, THETA, GAMMA = -0.0617138900142764496358948458001, 0.0, 0.455279819163070380255912382449
PHI, DELTA = 0.222668390165885884674473185609, 0.487364979543842550225598953530
OMEGA, EPSILON = -0.222668390165885884674473185609, 1.23054744454982119249735015568
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)  # fixed pivots, and where the spring is held
D, DA, E, EA, RR, RA, SS, SA, SB = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.035, 0.01874, 0.01043
SC, SD, ZF, ZT, FA, TA, TB, U, UA, UB = 0.018, 0.02, 0.02, 0.04, 0.01421, 0.02308, 0.00916, 0.04, 0.01228, 0.00449
STIFFNESS, LENGTH, TORQUE = 4530.0, 0.07785, 0.033


class Link(NamedTuple):
    """A body, its angle at the start, and the place of the world and the offset on it that position it."""

    mass: float
    inertia: float
    angle: float
    at: tuple[float, float]
    offset: tuple[float, float]


def _polar(start: tuple[float, float], length: float, angle: float) -> tuple[float, float]:
    return start[0] + length * cos(angle), start[1] + length * sin(angle)


CRANK_END = _polar((0.0, 0.0), RR, BETA)
G = _polar(A, ZT, DELTA)
H = (A[0] + U * sin(EPSILON), A[1] - U * cos(EPSILON))
LINKS = (
    Link(0.04325, 2.194e-6, BETA, (0.0, 0.0), (-RA, 0.0)),
    Link(0.00365, 4.410e-7, BETA + THETA, CRANK_END, (DA, 0.0)),
    Link(0.02373, 5.255e-6, GAMMA, B, (-SB, SA)),
    Link(0.00706, 5.667e-7, PHI + DELTA, G, (0.0, E - EA)),
    Link(0.07050, 1.169e-5, DELTA, A, (-TA, -TB)),
    Link(0.00706, 5.667e-7, OMEGA + EPSILON, H, (FA - ZF, 0.0)),
    Link(0.05498, 1.912e-5, EPSILON, A, (UB, UA)),
)


def andrews_squeezer(torque: float = TORQUE) -> Scene:
    """Andrews' squeezing mechanism: seven bodies, ten hinges, a stiff spring and a motor; fast and published.

    torque  of the motor on the first body [N m]
    """
    torque = real("torque", torque)
    scene = Scene(gravity=(0, 0, 0), name="andrews_squeezer")
    bodies: list[Any] = []
    for i, link in enumerate(LINKS, 1):
        c, s = cos(link.angle), sin(link.angle)
        x, y = link.offset
        place = link.at[0] - c * x + s * y, link.at[1] - s * x - c * y
        bodies.append(scene.rigid((*place, 0.0), mass=link.mass, inertia=link.inertia, orientation=("z", link.angle),
                                  planar=True, name=f"K{i}"))
    one, two, three, four, five, six, seven = bodies

    def pin(name: str, a: Any, b: Any, angle: float) -> Any:
        return scene.hinge(a, b, axis=(0, 0, 1), angle=angle, name=name)

    tip = two.at((DA - D, 0, 0))  # where four bodies meet
    beta = pin("beta", one.at((-RA, 0, 0)), (0, 0, 0), BETA)
    pin("theta", two.at((DA, 0, 0)), one.at((RR - RA, 0, 0)), THETA)
    pin("gamma", three.at((-SB, SA, 0)), (*B, 0), GAMMA)
    pin("phi", four.at((0, E - EA, 0)), five.at((ZT - TA, -TB, 0)), PHI)
    pin("delta", five.at((-TA, -TB, 0)), (*A, 0), DELTA)
    pin("omega", six.at((FA - ZF, 0, 0)), seven.at((UB, UA - U, 0)), OMEGA)
    pin("epsilon", seven.at((UB, UA, 0)), (*A, 0), EPSILON)
    pin("tip_3", three.at((-SB, SA - SS, 0)), tip, 0.0)
    pin("tip_4", four.at((0, -EA, 0)), tip, 0.0)
    pin("tip_6", six.at((FA, 0, 0)), tip, 0.0)
    scene.spring(three.at((SD - SB, SA - SC, 0)), (*C, 0), stiffness=STIFFNESS, length=LENGTH, name="spring")
    scene.motor(beta, torque=torque, name="motor")
    scene.suggest(dt=1e-4, duration=0.03, method="reference")
    return scene
