"""The exact Newton matrix of an implicit step: the force keeps the direction J(q)ᵀ, Φ is that of q'.

    q' = q* ⊞ h² W J(q)ᵀ λ,    Φ(q') = 0                                                        (1)
    (J(q') W J(q)ᵀ) δλ = -Φ(q')/h²                                                              (2)  Newton on (1)

The methods' usual form puts J(q) W J(q)ᵀ in place of the matrix of (2): symmetric, and factored once a step, it
converges linearly with a factor of |J(q') - J(q)|, and not at all where that is large: long steps, and positions where
J nearly loses rank. (2) converges quadratically. Its matrix is not symmetric, so conjugate gradients switch to BiCGSTAB
[ICRA III], and the factor of a direct solver becomes the preconditioner of BiCGSTAB on the product

    y = J(q') (W (J(q)ᵀ λ)),    which needs no matrix                                           (3)

A correction that makes |Φ| larger is taken back, and the usual form goes on from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from ..compiled import compiled, inline, on_demand
from ..linalg import assemble_pair, describe, factor
from ..linalg.linear import OF_PAIRS, PCG
from ..linalg.vectors import dot, norm
from ..model.evaluate import apply_multipliers, clear, fill_diagonal, form_and_factor, jacobian_times, solve_with_factor
from ..model.switched_rows import close_diagonal
from .base import Option

SYMMETRIC, FULL = range(2)
FULL_TOLERANCE = 1e-9  # of |Φ|, for methods that have no tolerance of their own
ENOUGH = 1e-12  # of the right-hand side: where BiCGSTAB ends
MOST = 50  # iterations of it
OPTION = Option(
    "newton", "symmetric",
    "matrix of the corrections: symmetric (J of one place) or full (J(q') W J(q)ᵀ, for long steps)",
    ("symmetric", "full"),
)  # fmt: skip


def solver_with(newton: int) -> Callable[[Any, Any], str]:
    """The hook `solver` of a method whose options have OPTION at the place `newton`."""

    def solver(system: Any, context: Any) -> str:
        is_full = isinstance(context, np.ndarray) and context[newton] == FULL  # other contexts are those of contacts
        return describe(system.linear) + ("; corrections with the full matrix by BiCGSTAB" if is_full else "")

    return solver


@inline
def multiply_pair(system, Ja, Jb, y, out):
    """(3), by way of work.v2."""
    clear(system.work.v2)
    apply_multipliers(system, Jb, system.bodies.inverse_mass, y, 1.0, system.work.v2)
    jacobian_times(system, Ja, system.work.v2, out)


@on_demand(types.none)
def take_back(system, Jb, mu):
    """The last correction made Φ worse: turn it round, and factor Jb W Jbᵀ for what follows."""
    for r in range(mu.shape[0]):
        mu[r] = -mu[r]
    form_and_factor(system, Jb, system.bodies.inverse_mass)


@on_demand(types.none)
def solve_pair(system, Ja, Jb, b, lam):
    """Ja W Jbᵀ λ = b, with the factor of Jb W Jbᵀ at hand; where BiCGSTAB fails, λ is that of this factor alone."""
    lin = system.linear
    if lin.kind >= PCG:
        assemble_pair(lin, Ja, Jb, system.bodies.inverse_mass)
        if system.selective == 1:
            fill_diagonal(system)
        close_diagonal(system.switches.equalities, lin)
        factor(lin)
        solve_with_factor(system, b, lam)
    elif not bicgstab_pair(system, Ja, Jb, b, lam):
        solve_with_factor(system, b, lam)


@compiled
def bicgstab_pair(system, Ja, Jb, b, lam):
    """BiCGSTAB as in linalg/bicgstab.py, on (3); returns whether it converged."""
    m = lam.shape[0]
    vectors = system.linear.work[OF_PAIRS : OF_PAIRS + 6]
    r, shadow, p, v, t, z = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5]
    goal = ENOUGH * norm(b)
    for i in range(m):
        lam[i], r[i], shadow[i], p[i], v[i] = 0.0, b[i], b[i], 0.0, 0.0
    rho_old, alpha, omega = 1.0, 1.0, 1.0
    for _ in range(MOST):
        rho = dot(shadow, r)
        if rho == 0.0 or omega == 0.0:
            return norm(r) <= goal
        beta = rho / rho_old * alpha / omega
        rho_old = rho
        for i in range(m):
            p[i] = r[i] + beta * (p[i] - omega * v[i])
        solve_with_factor(system, p, z)
        multiply_pair(system, Ja, Jb, z, v)
        along = dot(shadow, v)
        if along == 0.0:
            return False
        alpha = rho / along
        for i in range(m):
            r[i] -= alpha * v[i]
            lam[i] += alpha * z[i]
        size = norm(r)
        if not math.isfinite(size):
            return False
        if size <= goal:
            return True
        solve_with_factor(system, r, z)
        multiply_pair(system, Ja, Jb, z, t)
        square = dot(t, t)
        if square == 0.0:
            return False
        omega = dot(t, r) / square
        for i in range(m):
            lam[i] += omega * z[i]
            r[i] -= omega * t[i]
        size = norm(r)
        if not math.isfinite(size):
            return False
        if size <= goal:
            return True
    return False
