"""Springs alone, integrated explicitly.

    v' = v + h W F(x, v),   x' = x + h v'                                   (1)  symplectic Euler
    v' = v + h W (3 F - F_before)/2,   x' = x + h v'                        (2)  Adams-Bashforth 2

F holds the springs and the external force. (2) is Hong-Welch-Choi's, with the factor 1/2 that is missing in
print; its first step is (1). Stable while h is below about 2/ω, ω = sqrt(4 k w) being the fastest spring's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled import entry, inline, structure
from ...forces.spring_law import add_forces

Array = np.ndarray
EULER, ADAMS_BASHFORTH = 0, 1


@structure
class Explicit(NamedTuple):
    """Workspace of a step, and what it remembers."""

    force: Array
    before: Array
    steps: Array  # (1,) steps done since `before` was last meaningless


def explicit(n: int) -> Explicit:
    return Explicit(np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(1, np.int64))


@inline
def advance(work, s, x, v, w, external, h, rule):
    """One step in place; returns the energy of the springs at its beginning."""
    force, before = work.force, work.before
    for i in range(x.shape[0]):
        for c in range(3):
            force[i, c] = external[i, c]
    energy = add_forces(s, x, v, force)
    two_steps = rule == ADAMS_BASHFORTH and work.steps[0] > 0
    for i in range(x.shape[0]):
        for c in range(3):
            f = force[i, c]
            if two_steps:
                f = 1.5 * force[i, c] - 0.5 * before[i, c]
            v[i, c] += h * (w[i] * f)  # (1), (2)
            x[i, c] += h * v[i, c]
            before[i, c] = force[i, c]
    work.steps[0] += 1
    return energy


@inline
def measure_velocity(x, x_start, h, v):
    """v = (x - x_start) / h, where positions were moved after a step."""
    for i in range(x.shape[0]):
        for c in range(3):
            v[i, c] = (x[i, c] - x_start[i, c]) / h


@entry
def step_explicit(work, s, x, v, w, external, h, rule, substeps):
    """Advance x and v by h, in equal substeps."""
    part_of_h = h / substeps
    for _ in range(substeps):
        advance(work, s, x, v, w, external, part_of_h, rule)
