"""Redundant and conflicting rows: what λ is when A = J W Jᵀ is singular, and how it is found.

Among all λ we want the one that leaves the least residual, and among those the smallest:

    minimise Σ_i (b - Aλ)_i² / e_i,  then  Σ_i e_i λ_i²                        (1)
    e_i = g, but at least a_ii / R and at most R a_ii                          (2)

g is the geometric mean of the diagonals and R = 100. As long as the diagonals lie within a factor R of
g all weights are equal, and (1) is the plain least-squares, minimum-norm λ; rows far out of that
scale (other units, other masses) are weighed by their own. Identical rows always share alike.

With E = diag(e) and S = (A + εE)⁻¹, the operator

    N = (ε S E)²                                                                (3)

keeps a vector z with A z = 0 and multiplies what belongs to an eigenvalue s of E⁻¹A by (ε / (s + ε))².
So λ - N λ has no part that does nothing, and E (x - N x) with x = E⁻¹ b is what A can reach of b.
Roundoff along null vectors grows by 1/ε in S, so both are done `SWEEPS` times; between them

    λ ← λ + S (b - A λ)                                                         (4)

removes the error that ε brings in.
"""

from __future__ import annotations

import math

from taut.jit import kernel, word
from taut.linalg.assemble import multiply
from taut.linalg.direct import factor_direct, solve_direct

EPSILON = 1e-8
SCALES_ALIKE = 100.0  # R
SWEEPS = 2
MOST_ROUNDS = 8


@word
def weigh(val, diag, weight):
    """Weights (2); a row without a diagonal, which nothing can move, gets g."""
    logs = 0.0
    count = 0
    for i in range(diag.shape[0]):
        if val[diag[i]] > 0.0:
            logs += math.log(val[diag[i]])
            count += 1
    g = math.exp(logs / count) if count > 0 else 1.0
    for i in range(diag.shape[0]):
        a = val[diag[i]]
        weight[i] = min(max(g, a / SCALES_ALIKE), a * SCALES_ALIKE) if a > 0.0 else g


@kernel
def solve_shifted(lin, b, out):
    """out = S b. Not inlined: it is called from many places that may wait for a call."""
    solve_direct(lin, b, out)


@kernel
def factor_singular(lin):
    """Factor A + εE."""
    weigh(lin.val, lin.diag, lin.weight)
    kept = lin.work[0]
    for i in range(kept.shape[0]):
        kept[i] = lin.val[lin.diag[i]]
        lin.val[lin.diag[i]] += EPSILON * lin.weight[i]
    factor_direct(lin, 0.0)
    for i in range(kept.shape[0]):
        lin.val[lin.diag[i]] = kept[i]


@kernel
def remove_null_part(lin, x, z):
    """x -= N x (3)"""
    m = x.shape[0]
    for _ in range(SWEEPS):
        for i in range(m):
            z[i] = x[i]
        for _ in range(2):
            for i in range(m):
                z[i] *= EPSILON * lin.weight[i]
            solve_shifted(lin, z, z)
        for i in range(m):
            x[i] -= z[i]


@kernel
def solve_singular(lin, b, out):
    """λ of (1) from the factor of A + εE."""
    m = out.shape[0]
    reachable, residual, z = lin.work[0], lin.work[1], lin.work[2]
    for i in range(m):
        reachable[i] = b[i] / lin.weight[i]
    remove_null_part(lin, reachable, z)
    for i in range(m):
        out[i] = 0.0
        reachable[i] *= lin.weight[i]
        residual[i] = reachable[i]
    before = math.inf
    for _ in range(MOST_ROUNDS):
        solve_shifted(lin, residual, z)  # (4)
        change = 0.0
        size = 0.0
        for i in range(m):
            out[i] += z[i]
            change = max(change, abs(lin.weight[i] * z[i]))
            size = max(size, abs(lin.weight[i] * out[i]))
        if change <= 1e-15 * size or not change < 0.5 * before:
            break
        before = change
        multiply(lin, out, residual)
        for i in range(m):
            residual[i] = reachable[i] - residual[i]
    remove_null_part(lin, out, z)
