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
from .blocks import solve_block

DEPENDENT = 1e-11  # of S_rr: a pivot below that belongs to a row that depends on others
MOST_PROJECTIONS = 6
FEW = 8  # blocks of coordinates (blocks.py) that a row may act on before all are taken for its own


@structure
class Enforced(NamedTuple):
    """At most k rows at once, n coordinates."""

    rows: Array  # rows of the system that may be enforced
    number: Array  # (1,) how many were enforced when last evaluated, and
    row: Array  # (k,) which
    acts_on: Array  # (k,) on how many blocks of coordinates each acts, and
    block: Array  # (k, FEW) which; of more than FEW blocks all are taken
    AB: Array  # (k, n)
    X: Array  # (k, n): (A B) H⁻¹
    S: Array  # (k, k), then its factor
    phi: Array  # (k,) Φ; 0 of conditions on velocities
    slip: Array  # (k,) A v + b
    rest: Array  # (k,) A c + γ
    mu: Array  # (k,) of which λ is the negative
    lead: Array  # (k,) first column of S with an entry in each row


def enforced_rows(rows: np.ndarray, most: int, n: int) -> Enforced:
    k = min(len(rows), most)
    shapes = ((k, n), (k, n), (k, k), k, k, k, k, k)
    work = (np.zeros(shape) for shape in shapes)
    whole = (np.zeros(shape, np.int64) for shape in (1, k, k, (k, FEW)))
    return Enforced(rows.astype(np.int64), *whole, *work)


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
        begin, end = basis.blocks.begin[3 * s + d], basis.blocks.end[3 * s + d]
        if end > begin:
            add_own(enforced, r, basis.blocks.of[basis.blocks.member[begin]])
        for q in basis.blocks.member[begin:end]:
            enforced.AB[r, q] += j * basis.B[3 * s + d, q]


@inline
def add_own(enforced, r, block):
    """Row r acts on this block of coordinates, too."""
    count = enforced.acts_on[r]
    known = count > FEW
    for i in range(min(count, FEW)):
        known = known or enforced.block[r, i] == block
    if not known:
        if count < FEW:
            enforced.block[r, count] = block
        enforced.acts_on[r] = count + 1


@inline
def blocks_on(blocks, enforced, r):
    """How many blocks row r acts on; `block_on` tells which."""
    return blocks.ptr.shape[0] - 1 if enforced.acts_on[r] > FEW else enforced.acts_on[r]


@inline
def block_on(enforced, r, i):
    return i if enforced.acts_on[r] > FEW else enforced.block[r, i]


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
        forget_row(basis.blocks, enforced, count)
        for block in range(rows.ptr[m], rows.ptr[m + 1]):
            add_block(system, basis, enforced, count, block)
        for k in range(rows.spin_block.shape[0]):
            if rows.spin_row[k] == m:
                add_block(system, basis, enforced, count, rows.spin_block[k])
        count += 1
    enforced.number[0] = count
    for r in range(count):
        for i in range(blocks_on(basis.blocks, enforced, r)):
            solve_block(basis.blocks, block_on(enforced, r, i), basis.H, enforced.AB[r], enforced.X[r])
    fill_schur(basis.blocks, enforced, count)
    factor_semidefinite(enforced.S, enforced.lead, count)


@compiled
def forget_row(blocks, enforced, r):
    """Zeros for what stood in row r."""
    for i in range(blocks_on(blocks, enforced, r)):
        block = block_on(enforced, r, i)
        for q in blocks.member[blocks.ptr[block] : blocks.ptr[block + 1]]:
            enforced.AB[r, q] = 0.0
            enforced.X[r, q] = 0.0
    enforced.acts_on[r] = 0


@compiled
def along_row(blocks, enforced, r, rates):
    """(A B) rates of row r."""
    total = 0.0
    for i in range(blocks_on(blocks, enforced, r)):
        block = block_on(enforced, r, i)
        for q in blocks.member[blocks.ptr[block] : blocks.ptr[block + 1]]:
            total += enforced.AB[r, q] * rates[q]
    return total


@compiled
def fill_schur(blocks, enforced, count):
    """S of (3), and where its rows begin."""
    for r in range(count):
        enforced.lead[r] = r
        for k in range(r + 1):
            total = along_row(blocks, enforced, k, enforced.X[r])
            enforced.S[r, k] = total
            if total != 0.0 and k < enforced.lead[r]:
                enforced.lead[r] = k


@compiled
def factor_semidefinite(S, lead, n):
    """The Cholesky factor of the first n rows into their lower half; rows without a pivot are zero.

    Row j begins in column lead[j], before which the factor has no entries either.
    """
    for j in range(n):
        size = S[j, j]
        for k in range(int(lead[j]), j + 1):
            total = S[j, k]
            for i in range(int(max(lead[j], lead[k])), k):
                total -= S[j, i] * S[k, i]
            if k < j:
                S[j, k] = total / S[k, k] if S[k, k] > 0.0 else 0.0
            else:
                S[j, j] = total**0.5 if total > DEPENDENT * size else 0.0


@compiled
def solve_semidefinite(S, lead, n, b, out):
    for j in range(n):
        total = b[j]
        for k in range(int(lead[j]), j):
            total -= S[j, k] * out[k]
        out[j] = total / S[j, j] if S[j, j] > 0.0 else 0.0
    for i in range(n):
        j = n - 1 - i
        total = out[j]
        for k in range(j + 1, n):
            if S[k, k] > 0.0 and lead[k] <= j:
                total -= S[k, j] * out[k]
        out[j] = total / S[j, j] if S[j, j] > 0.0 else 0.0


@compiled
def subtract(blocks, enforced, b, out):
    """out -= H⁻¹ (A B)ᵀ S⁻¹ b; μ = S⁻¹ b."""
    count = enforced.number[0]
    solve_semidefinite(enforced.S, enforced.lead, count, b, enforced.mu)
    for r in range(count):
        for i in range(blocks_on(blocks, enforced, r)):
            block = block_on(enforced, r, i)
            for q in blocks.member[blocks.ptr[block] : blocks.ptr[block + 1]]:
                out[q] -= enforced.X[r, q] * enforced.mu[r]


@compiled
def project_out(blocks, enforced, out):
    """Keep of a change of rates (or accelerations) what all that is enforced allows."""
    for r in range(enforced.number[0]):
        enforced.rest[r] = along_row(blocks, enforced, r, out)
    subtract(blocks, enforced, enforced.rest, out)


@compiled
def constrain_accelerations(system, reduced, t, out):
    """(2), (3): θ̈ with what is enforced, from that without it in `out`."""
    enforced, blocks = reduced.enforced, reduced.basis.blocks
    evaluate_enforced(system, reduced, t)
    for r in range(enforced.number[0]):
        enforced.rest[r] += along_row(blocks, enforced, r, out)
    subtract(blocks, enforced, enforced.rest, out)


@compiled
def worst_phi(enforced):
    worst = 0.0
    for r in range(enforced.number[0]):
        worst = max(worst, abs(enforced.phi[r]))
    return worst
