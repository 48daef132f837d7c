"""Simultaneous frictionless impacts, in rounds.

γ = J v + Φ_t are the rates of the gaps, e the restitution of each row. A round looks at the rows V that
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

from taut.compiled import compiled
from taut.contact.face import MOVABLE
from taut.contact.rules import EXACT, choose
from taut.contact.work import INFEASIBLE

MOST_ROUNDS = 200
RESTING = 1e-12  # of the largest rate, rows measured by √S_rr: slower is no approach


@compiled
def compress(S, gamma, e, resting, n, work):
    """(1) for the rows work.subset[:n]; Λ into work.push. What approaches by less than `resting` gets e = 0."""
    for i in range(n):
        row = work.subset[i]
        work.free[i] = gamma[row]
        work.bounce[i] = e[row] if gamma[row] < -resting else 0.0
        work.subset_member[i] = 1
        for j in range(n):
            work.sub[i, j] = S[row, work.subset[j]]
    return choose(EXACT, work.sub, work.free, n, work.subset_member, work.push, work.slack, work, work.quiet, n)


@compiled
def expansion(n, work):
    """s of (3)."""
    largest = 0.0
    taken = 0.0
    given = 0.0
    for i in range(n):
        if work.push[i] == 0.0:
            continue
        e_i = work.bounce[i]
        largest = max(largest, e_i)
        for j in range(n):
            term = work.push[i] * work.sub[i, j] * work.push[j]
            taken += term
            given += e_i * work.bounce[j] * term
    if given <= largest * largest * taken:
        return 1.0
    return largest * math.sqrt(taken / given)


@compiled
def apply_impulses(S, gamma, m, n, s, impulse, work):
    """(2) for the rows work.subset[:n]."""
    for i in range(n):
        row = work.subset[i]
        p = (1.0 + s * work.bounce[i]) * work.push[i]
        if p > 0.0:
            impulse[row] += p
            for j in range(m):
                gamma[j] += S[j, row] * p


@compiled
def rounds(S, gamma, e, m, fastest, least, impulse, work, resting):
    """(1) and (2) until nothing approaches; rows with S_rr up to `least` can not be moved."""
    for turn in range(MOST_ROUNDS + 1):
        last = turn == MOST_ROUNDS
        n = np.int64(0)  # a literal would have every part compiled twice
        closing = 0.0
        for i in range(m):
            if S[i, i] <= least:
                continue
            rate = -gamma[i] / math.sqrt(S[i, i])
            closing = max(closing, rate)
            if rate > RESTING * fastest or last:
                work.subset[n] = i
                n += 1
        if closing <= RESTING * fastest:
            return turn
        if compress(S, gamma, e, resting, n, work) == INFEASIBLE:
            return -1
        s = 0.0 if last else expansion(n, work)
        apply_impulses(S, gamma, m, n, s, impulse, work)
    return MOST_ROUNDS + 1


@compiled
def solve_impacts(S, gamma, e, m, impulse, work, resting):
    """Impulses P ≥ 0 of simultaneous impacts, and γ after them in place. Returns the rounds.

    resting: a row that approaches by less does not bounce, so that bouncing ends in finite time.

    -1: the walls themselves close in on a body (no impulse helps); γ is left as the last round found it.
    """
    fastest = 0.0
    least = 0.0
    for i in range(m):
        least = max(least, MOVABLE * S[i, i])
    for i in range(m):
        impulse[i] = 0.0
        if S[i, i] > least:
            fastest = max(fastest, abs(gamma[i]) / math.sqrt(S[i, i]))
    work.size[0] = fastest  # rates that many rounds have made small carry the rounding of the first
    taken = rounds(S, gamma, e, m, fastest, least, impulse, work, resting)
    work.size[0] = 0.0
    return taken
