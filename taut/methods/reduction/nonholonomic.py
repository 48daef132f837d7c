"""Conditions on velocities in reduced coordinates, by multipliers of their own.

    A v + b = (A B) θ̇ + A x_t + b = 0                                                   (1)
    H θ̈ = g + (A B)ᵀ μ,   (A B) θ̈ + A c + γ = 0                                          (2)  after formulas.py (3)
    S μ = -(A B) H⁻¹ g - A c - γ,   S = (A B) H⁻¹ (A B)ᵀ                                  (3)
    θ̇ ← θ̇ - H⁻¹ (A B)ᵀ S⁻¹ (A v + b)                                                     (4)  at the end of each step

There are as many coordinates as the positions have freedoms, and fewer rates that are free. (4) keeps (1), of which
(2) is only the derivative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled import compiled, structure
from ...model.arrays import Array
from ...model.evaluate import evaluate_constraints
from ...model.model import Model
from .formulas import Formulas, solve_factored, solve_positive


@structure
class Conditions(NamedTuple):
    """Rows of velocity level, and room for (3); k of them, n coordinates."""

    row: Array  # (rows of the model,) number among these, or -1
    body: Array  # (slots,) number in Formulas.slot, or -1
    AB: Array  # (k, n)
    X: Array  # (k, n): (A B) H⁻¹
    S: Array  # (k, k), then its factor
    slip: Array  # (k,) A v + b
    rest: Array  # (k,) A c + γ
    mu: Array  # (k,)


def conditions(model: Model, formulas: Formulas) -> Conditions:
    found = np.flatnonzero(model.rows.at_velocity)
    row = np.full(model.row_count, -1, np.int64)
    row[found] = np.arange(len(found))
    body = np.full(model.bodies.slots, -1, np.int64)
    body[formulas.slot.astype(np.int64)] = np.arange(len(formulas.slot))
    k, n = len(found), len(formulas.g)
    return Conditions(
        row, body, np.zeros((k, n)), np.zeros((k, n)), np.zeros((k, k)), np.zeros(k), np.zeros(k), np.zeros(k)
    )


@compiled
def add_block(system, formulas, held, r, block):
    """What a block of A has in (1) and (2)."""
    work = system.work
    s = system.rows.slot[block]
    i = held.body[s]
    for c in range(3):
        j = work.J[block, c]
        held.slip[r] += j * work.v1[s, c]
        held.rest[r] += j * (formulas.c[3 * i + c] if i >= 0 else work.driven[s, c])
        if i >= 0:
            for q in range(held.AB.shape[1]):
                held.AB[r, q] += j * formulas.B[3 * i + c, q]


@compiled
def hold_accelerations(system, formulas, held, t, out):
    """(2), (3): θ̈ with the conditions, from that without them in `out`; H has been factored. Returns 1 if singular."""
    work, rows = system.work, system.rows
    evaluate_constraints(system, t, work.x1, work.quat1, work.v1, True, work.J)
    for m in range(held.row.shape[0]):
        r = held.row[m]
        if r >= 0:
            held.slip[r], held.rest[r] = work.phi_t[m], work.gamma[m]
            for q in range(held.AB.shape[1]):
                held.AB[r, q] = 0.0
            for block in range(rows.ptr[m], rows.ptr[m + 1]):
                add_block(system, formulas, held, r, block)
    for k in range(rows.spin_block.shape[0]):
        r = held.row[rows.spin_row[k]]
        if r >= 0:
            add_block(system, formulas, held, r, rows.spin_block[k])
    count, n = held.AB.shape
    for r in range(count):
        solve_factored(formulas.H, held.AB[r], held.X[r])
        for q in range(n):
            held.rest[r] += held.AB[r, q] * out[q]
        for k in range(r + 1):
            held.S[r, k] = 0.0
            for q in range(n):
                held.S[r, k] += held.X[r, q] * held.AB[k, q]
    status = solve_positive(held.S, held.rest, held.mu)
    for r in range(count):
        for q in range(n):
            out[q] -= held.X[r, q] * held.mu[r]
    return status


@compiled
def hold_rates(held, rates):
    """(4), where `hold_accelerations` has been called."""
    solve_factored(held.S, held.slip, held.mu)
    for r in range(held.mu.shape[0]):
        for q in range(rates.shape[0]):
            rates[q] -= held.X[r, q] * held.mu[r]
