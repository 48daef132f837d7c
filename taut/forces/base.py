"""How to write a kind of force.

1.  One file, one `KIND = ForceKind(...)`, one line in `forces/__init__.py`.
2.  Points are as for constraints: a particle, a scalar coordinate, a place in the world or on a rigid
    body. With `turning=True` the single point is a rigid body and the kernel writes a torque.
3.  `kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power)` adds the forces of a batch of n to f[point, 0:3]
    [N] (or world torques [N m]) and returns the batch's potential energy V [J] (0 where there is none). To power[0] it
    adds f·v + dV/dt [W], what the force does beside its potential: drag takes, a rest length that changes gives. With
    `turning=True` it leaves that to its caller. p_t holds time derivatives of the parameters p.
4.  `pack` is as for constraints.
5.  `feels_velocity` and `works` say, from the arguments, whether the force depends on velocities and whether it has no
    potential: methods iterate where forces feel velocities, and count the work of those that have no potential.
6.  A kind that acts on a coordinate of a joint has `joints` and takes its points from there (joint_forces.py).
7.  `sample(n, at, idx, p, ints, x, v, t)`, where given, is called before each step: a force may keep there, in the
    first numbers of a counter point, what it holds until it looks again. Such points are part of the state. The counter
    is the force's last point; with -inf as its second number the force looks again at once. It returns how many of
    its samples are no numbers: then no step is taken.
8.  `coupled(count, ints)`, of its number of points and its whole numbers, tells which of its points feel each other, as
    rows of numbers of points: what is not told to be apart stands in one matrix with methods implicit in forces.
9.  `examples` are written as for constraints; together they show every term of the equations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import Example
from ..constraints.base import Argument, Layout


def never(arguments: dict[str, Any]) -> bool:
    return False


def always(arguments: dict[str, Any]) -> bool:
    return True


def is_damped(arguments: dict[str, Any]) -> bool:
    """Whether its damping is not zero."""
    damping = arguments["damping"]
    return not (damping.is_constant and damping.value == 0.0)


def all_coupled(count: int, ints: np.ndarray) -> np.ndarray:
    return np.arange(count).reshape(1, -1)


def none_coupled(count: int, ints: np.ndarray) -> np.ndarray:
    return np.arange(count).reshape(-1, 1)


def coupled_by(width: int) -> Callable[[int, np.ndarray], np.ndarray]:
    """Of kinds whose whole numbers are: how many points, how many groups of `width`, and the groups."""
    return lambda count, ints: ints[2 : 2 + width * int(ints[1])].reshape(-1, width)


@dataclass(frozen=True)
class ForceKind:
    """A kind of force: what the user writes, what the machine holds, and the kernel between."""

    name: str
    doc: str
    points: tuple[str, ...] | None  # None: any number
    pack: Callable[[np.ndarray, dict[str, Any]], Layout]
    kernel: Callable
    arguments: tuple[Argument, ...] = ()
    turning: bool = False
    frames: bool = False  # pack derives points from the bodies' frames, as for constraints
    joints: tuple[str, ...] = ()  # arguments that name joints
    may_be_infinite: bool = False  # some of its parameters may be infinite, which means: never
    feels_velocity: Callable[[dict[str, Any]], bool] = never  # of its arguments: depends on velocities
    works: Callable[[dict[str, Any]], bool] = never  # of its arguments: has no potential
    sample: Callable | None = None  # called before each step
    on_all: bool = False  # without points it acts on all free bodies
    link: str = ""  # as what its two points are joined in pictures: "spring"; "": nothing is drawn
    is_spring: bool = False  # cloth treats it implicitly, so it can not be switched beside cloth
    dry: bool = False  # dry friction on a joint: its fifth point keeps its force (simulation/dry_friction.py)
    coupled: Callable[[int, np.ndarray], np.ndarray] = all_coupled  # which of its points feel each other
    synonyms: tuple[str, ...] = ()  # other words of the field, as of constraints
    examples: tuple[Example, ...] = ()  # from which every test of kinds runs: see 9

    @property
    def asks(self) -> bool:
        """Whether pack wants to know more of its points than where they are."""
        return self.points is None or self.frames
