"""The unconstrained part of the implicit family: which force a step takes for its whole length.

    euler        f(q, v, t)                          as ICRA (11), HWC (5) and Hong 2008 (8) print it    (1)
    ab2          (3 f - f₋)/2, f₋ of the step before  Adams-Bashforth 2, named in HWC 3                  (2)
    midpoint     f(q½, v½, t + h/2)                  at half-time variables                             (3)

HWC prints (2) without its factor ½. The first step takes (1). (3) is for methods that have half-time variables. What
rings from step to step (implicit_improved.py) rings twice as much in (2) as in (1), and hardly at all in (3).
"""

from __future__ import annotations

from ..compiled import inline
from .base import FIRST_OPTION, Option

EULER, AB2, MIDPOINT = range(3)
CHOICES = ("euler", "ab2", "midpoint")
INTEGRATOR = FIRST_OPTION  # of the methods of this family the integrator is the first option


def integrator_option(default: str, choices: tuple[str, ...] = CHOICES) -> Option:
    return Option("integrator", default, "force of the unconstrained part of a step", choices)


def memory(model) -> int:
    """Whether there was a step before, the power of its forces, and the forces."""
    return 2 + 3 * len(model.x)


@inline
def extrapolate(system, memory_):
    """(2): work.f after `evaluate_forces` becomes what the step takes. Gravity alone stays as it is."""
    f = system.work.f
    if system.forces.code.shape[0] == 0 and system.bodies.spin_slot.shape[0] == 0:
        return
    ahead = 0.5 if memory_[0] == 1.0 else 0.0
    power = system.work.power
    now = power[0]
    power[0] += ahead * (now - memory_[1])
    memory_[1] = now
    for i in range(f.shape[0]):
        for c in range(3):
            k = 2 + 3 * i + c
            now = f[i, c]
            f[i, c] += ahead * (now - memory_[k])  # (2)
            memory_[k] = now
    memory_[0] = 1.0
