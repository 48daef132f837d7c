"""The yardstick: a first-order implicit step of a hanging chain, written by hand for nothing else.

Unit masses 1 … N on unit links, mass 0 held at its place, u_i the direction from mass i - 1 to mass i:

    v* = v + h g                                                            (1)
    A_ii = 2 (1 for the first link),   A_i,i-1 = -u_i · u_{i-1}             (2)
    b_i = -((|x_i - x_{i-1}| - 1)/h + u_i · (v*_i - v*_{i-1}))/h            (3)
    A λ = b by elimination along the chain                                  (4)
    v_i' = v*_i + h (λ_i u_i - λ_{i+1} u_{i+1}),    x' = x + h v'           (5)

It is what `implicit_first` computes, with no index, no kind and no choice of solver, so it shows what the
generic code path costs. The arithmetic of a C++ program compiled with -O3 takes as long.
"""

from __future__ import annotations

import time as clock
from math import sqrt

import numpy as np

from ...compiled import entry

GRAVITY = 9.81


@entry
def take_steps(x, v, u, below, diagonal, y, h, steps):
    """Advance x and v, shape (links + 1, 3); the other arrays are workspace, one row per link."""
    links = u.shape[0]
    for _ in range(steps):
        for i in range(1, links + 1):
            v[i, 1] -= h * GRAVITY  # (1)
        u0 = u1 = u2 = 0.0
        for i in range(links):
            d0, d1, d2 = x[i + 1, 0] - x[i, 0], x[i + 1, 1] - x[i, 1], x[i + 1, 2] - x[i, 2]
            length = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
            inverse = 1.0 / length
            d0, d1, d2 = d0 * inverse, d1 * inverse, d2 * inverse
            rate = d0 * (v[i + 1, 0] - v[i, 0]) + d1 * (v[i + 1, 1] - v[i, 1]) + d2 * (v[i + 1, 2] - v[i, 2])
            b = -((length - 1.0) / h + rate) / h  # (3)
            if i == 0:
                diagonal[0], y[0] = 1.0, b
            else:
                below[i] = -(d0 * u0 + d1 * u1 + d2 * u2)  # (2)
                factor = below[i] / diagonal[i - 1]
                diagonal[i] = 2.0 - factor * below[i]
                y[i] = b - factor * y[i - 1]
            u[i, 0], u[i, 1], u[i, 2] = d0, d1, d2
            u0, u1, u2 = d0, d1, d2
        y[links - 1] /= diagonal[links - 1]
        for i in range(links - 2, -1, -1):
            y[i] = (y[i] - below[i + 1] * y[i + 1]) / diagonal[i]  # (4)
        for i in range(links):
            push = h * y[i]
            for c in range(3):
                v[i + 1, c] += push * u[i, c]  # (5)
            if i > 0:
                for c in range(3):
                    v[i, c] -= push * u[i, c]
        for i in range(1, links + 1):
            for c in range(3):
                x[i, c] += h * v[i, c]


class Yardstick:
    """A chain of unit links that starts horizontal and at rest, as taut.gallery("chain", n=links)."""

    def __init__(self, links: int, dt: float) -> None:
        self.dt = dt
        self.x = np.zeros((links + 1, 3))
        self.v = np.zeros((links + 1, 3))
        self.workspace = (np.zeros((links, 3)), np.zeros(links), np.zeros(links), np.zeros(links))

    def restart(self) -> None:
        self.x[:] = 0.0
        self.x[:, 0] = np.arange(len(self.x))
        self.v[:] = 0.0

    def seconds(self, steps: int) -> float:
        """How long that many steps from the start take."""
        self.restart()
        began = clock.perf_counter()
        take_steps(self.x, self.v, *self.workspace, self.dt, steps)
        return clock.perf_counter() - began

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.x, self.v, *self.workspace))
