"""Simultaneous frictionless impacts, in rounds.

γ = J v + Φ_t are the rates of the gaps, e the restitution of each row. A round takes the rows V that
approach:

    γ_V + S_VV Λ ≥ 0,   Λ ≥ 0,   complementary          (compression)           (1)
    P = (1 + s e) Λ,    γ ← γ + S P                     (with expansion)        (2)

and rounds go on until no row approaches. With one e for all rows (2) is Poisson's law, and s = 1. With
different e along rows that act on each other that law can gain energy. Compression leaves a kinetic
energy that is smaller by K/2, K = ΛᵀSΛ, and expansion adds s²/2 QᵀSQ, Q = eΛ; so

    s = min(1, max(e) √(K / QᵀSQ))                                              (3)

gives back no more than max(e)² of what compression took. All rounds together change the energy by
Pᵀ(γ⁻ + γ⁺)/2 ≤ 0. If they do not end (they need not, where balls press each other against a wall) one
compression (1) over all rows ends them.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled import compiled
from .face import MOVABLE
from .rules import EXACT, choose
from .work import INFEASIBLE


@compiled
def compress(S, gamma, e, resting, n, work):
    """(1) for the n rows part.rows, Λ into part.lam. A row that approaches by less than `resting` gets e = 0."""
    part = work.impact
    for i in range(n):
        row = part.rows[i]
        part.gamma[i] = gamma[row]
        part.restitution[i] = e[row] if gamma[row] < -resting else 0.0
        part.active[i] = 1
        for j in range(n):
            part.S[i, j] = S[row, part.rows[j]]
    return choose(EXACT, part.S, part.gamma, n, part.active, part.lam, part.w, work, work.no_log, n)


@compiled
def expansion(n, part):
    """s of (3)."""
    largest = 0.0
    taken = 0.0
    returned = 0.0
    for i in range(n):
        if part.lam[i] == 0.0:
            continue
        e_i = part.restitution[i]
        largest = max(largest, e_i)
        for j in range(n):
            term = part.lam[i] * part.S[i, j] * part.lam[j]
            taken += term
            returned += e_i * part.restitution[j] * term
    if returned <= largest * largest * taken:
        return 1.0
    return largest * math.sqrt(taken / returned)


@compiled
def apply_round(S, gamma, m, n, s, impulse, part):
    """(2) for the n rows part.rows: the impulses of a round, and the rates after it."""
    for i in range(n):
        row = part.rows[i]
        p = (1.0 + s * part.restitution[i]) * part.lam[i]
        if p > 0.0:
            impulse[row] += p
            for j in range(m):
                gamma[j] += S[j, row] * p


@compiled
def run_rounds(S, gamma, e, m, fastest, min_diagonal, impulse, work, resting):
    """(1) and (2) until nothing approaches; rows with S_rr up to `min_diagonal` can not be moved."""
    max_rounds, slow = work.settings.max_impact_rounds, work.settings.impact_rate * fastest  # rows measured by √S_rr
    for turn in range(max_rounds + 1):
        last = turn == max_rounds
        n = np.int64(0)  # a literal would have every part compiled twice
        closing = 0.0
        for i in range(m):
            if S[i, i] <= min_diagonal:
                continue
            rate = -gamma[i] / math.sqrt(S[i, i])
            closing = max(closing, rate)
            if rate > slow or last:
                work.impact.rows[n] = i
                n += 1
        if closing <= slow:
            return turn
        if compress(S, gamma, e, resting, n, work) == INFEASIBLE:
            return -1
        s = 0.0 if last else expansion(n, work.impact)
        apply_round(S, gamma, m, n, s, impulse, work.impact)
    return max_rounds + 1


@compiled
def solve_impacts(S, gamma, e, m, impulse, work, resting):
    """Impulses P ≥ 0 of simultaneous impacts, and γ after them in place. Returns the rounds.

    resting: a row that approaches by less has no restitution, so that bouncing ends in finite time.

    -1: the walls themselves close in on a body (no impulse helps); γ is left as the last round found it.
    """
    fastest = 0.0
    min_diagonal = 0.0
    for i in range(m):
        min_diagonal = max(min_diagonal, MOVABLE * S[i, i])
    for i in range(m):
        impulse[i] = 0.0
        if S[i, i] > min_diagonal:
            fastest = max(fastest, abs(gamma[i]) / math.sqrt(S[i, i]))
    work.scale[0] = fastest  # rates that many rounds have made small carry the rounding of the first
    taken = run_rounds(S, gamma, e, m, fastest, min_diagonal, impulse, work, resting)
    work.scale[0] = 0.0
    return taken
