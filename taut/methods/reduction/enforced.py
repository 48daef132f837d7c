"""Rows enforced in reduced coordinates by multipliers of their own: conditions on velocities, active inequalities.

    A v + b = (A B) θ̇ + A x_t + b = 0                                                   (1)
    H θ̈ = g + (A B)ᵀ μ,   (A B) θ̈ + A c + γ = 0                                          (2)  after basis.py (3)
    S μ = -(A B) H⁻¹ g - A c - γ,   S = (A B) H⁻¹ (A B)ᵀ                                  (3)
    θ̇ ← θ̇ - H⁻¹ (A B)ᵀ S⁻¹ (A v + b)                                                     (4)  at the end of each step
    θ ← θ - H⁻¹ (A B)ᵀ S⁻¹ Φ                                                             (5)  until Φ is rounding error

The coordinates solve the equalities on positions. Of what else holds, A is J and b is Φ_t; (4) and (5) keep (1) and
Φ = 0, of which (2) is only the derivative. Rows that depend on others have no pivot in S, and no μ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from ...compiled import compiled, inline, on_demand, structure
from ...model.arrays import Array
from ...model.constraint_rows import evaluate_constraints
from .formulas import solve_factored

DEPENDENT = 1e-11  # of S_rr: a pivot below that belongs to a row that depends on others
MOST_PROJECTIONS = 6


@structure
class Enforced(NamedTuple):
    """At most k rows at once, n coordinates."""

    rows: Array  # rows of the system that may be enforced
    number: Array  # (1,) how many were enforced when last evaluated, and
    row: Array  # (k,) which
    AB: Array  # (k, n)
    X: Array  # (k, n): (A B) H⁻¹
    S: Array  # (k, k), then its factor
    phi: Array  # (k,) Φ; 0 of conditions on velocities
    slip: Array  # (k,) A v + b
    rest: Array  # (k,) A c + γ
    mu: Array  # (k,) of which λ is the negative


def enforced_rows(rows: np.ndarray, most: int, n: int) -> Enforced:
    k = min(len(rows), most)
    shapes = ((k, n), (k, n), (k, k), k, k, k, k)
    work = (np.zeros(shape) for shape in shapes)
    return Enforced(rows.astype(np.int64), np.zeros(1, np.int64), np.zeros(k, np.int64), *work)


@inline
def is_enforced(system, row):
    """Rows behind those of the system belong to another one, which has the inequalities, too (contact)."""
    known = row < system.rows.at_velocity.shape[0]
    return known and (system.selective == 0 or system.rows.enforced[row] == 1)


@compiled
def enforces_any(system, enforced):
    for i in range(enforced.rows.shape[0]):
        if is_enforced(system, enforced.rows[i]):
            return True
    return False


@compiled
def add_block(system, basis, enforced, r, block):
    """What a block of A has in (1) and (2)."""
    work = system.work
    s = int(system.rows.slot[block])
    for d in range(3):
        j = work.J[block, d]
        enforced.slip[r] += j * work.v1[s, d]
        enforced.rest[r] += j * basis.c[3 * s + d]
        for q in range(enforced.AB.shape[1]):
            enforced.AB[r, q] += j * basis.B[3 * s + d, q]


@on_demand(types.none)
def evaluate_enforced(system, reduced, t):
    """(1) to (3) of all that is enforced at the spare configuration, for which the basis is filled; S is factored."""
    work, rows, basis, enforced = system.work, system.rows, reduced.basis, reduced.enforced
    evaluate_constraints(system, t, work.x1, work.quat1, work.v1, True, work.J)
    count = 0
    for i in range(enforced.rows.shape[0]):
        m = enforced.rows[i]
        if not is_enforced(system, m):
            continue
        enforced.row[count] = m
        enforced.slip[count], enforced.rest[count] = work.phi_t[m], work.gamma[m]
        enforced.phi[count] = work.phi[m] if rows.at_velocity[m] == 0 else 0.0
        for q in range(enforced.AB.shape[1]):
            enforced.AB[count, q] = 0.0
        for block in range(rows.ptr[m], rows.ptr[m + 1]):
            add_block(system, basis, enforced, count, block)
        for k in range(rows.spin_block.shape[0]):
            if rows.spin_row[k] == m:
                add_block(system, basis, enforced, count, rows.spin_block[k])
        count += 1
    enforced.number[0] = count
    for r in range(count):
        solve_factored(basis.H, enforced.AB[r], enforced.X[r])
        for k in range(r + 1):
            enforced.S[r, k] = 0.0
            for q in range(enforced.AB.shape[1]):
                enforced.S[r, k] += enforced.X[r, q] * enforced.AB[k, q]
    factor_semidefinite(enforced.S, count)


@compiled
def factor_semidefinite(S, n):
    """The Cholesky factor of the first n rows into their lower half; rows without a pivot are zero."""
    for j in range(n):
        size = S[j, j]
        for k in range(j + 1):
            total = S[j, k]
            for i in range(k):
                total -= S[j, i] * S[k, i]
            if k < j:
                S[j, k] = total / S[k, k] if S[k, k] > 0.0 else 0.0
            else:
                S[j, j] = total**0.5 if total > DEPENDENT * size else 0.0


@compiled
def solve_semidefinite(S, n, b, out):
    for j in range(n):
        total = b[j]
        for k in range(j):
            total -= S[j, k] * out[k]
        out[j] = total / S[j, j] if S[j, j] > 0.0 else 0.0
    for i in range(n):
        j = n - 1 - i
        total = out[j]
        for k in range(j + 1, n):
            if S[k, k] > 0.0:
                total -= S[k, j] * out[k]
        out[j] = total / S[j, j] if S[j, j] > 0.0 else 0.0


@compiled
def subtract(enforced, b, out):
    """out -= H⁻¹ (A B)ᵀ S⁻¹ b; μ = S⁻¹ b."""
    count = enforced.number[0]
    solve_semidefinite(enforced.S, count, b, enforced.mu)
    for r in range(count):
        for q in range(out.shape[0]):
            out[q] -= enforced.X[r, q] * enforced.mu[r]


@compiled
def project_out(enforced, out):
    """Keep of a change of rates (or accelerations) what all that is enforced allows."""
    for r in range(enforced.number[0]):
        enforced.rest[r] = 0.0
        for q in range(out.shape[0]):
            enforced.rest[r] += enforced.AB[r, q] * out[q]
    subtract(enforced, enforced.rest, out)


@compiled
def constrain_accelerations(system, reduced, t, out):
    """(2), (3): θ̈ with what is enforced, from that without it in `out`."""
    enforced = reduced.enforced
    evaluate_enforced(system, reduced, t)
    for r in range(enforced.number[0]):
        for q in range(out.shape[0]):
            enforced.rest[r] += enforced.AB[r, q] * out[q]
    subtract(enforced, enforced.rest, out)


@compiled
def worst_phi(enforced):
    worst = 0.0
    for r in range(enforced.number[0]):
        worst = max(worst, abs(enforced.phi[r]))
    return worst
