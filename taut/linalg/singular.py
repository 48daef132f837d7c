"""Redundant and conflicting rows: what λ is when A = J W Jᵀ is singular, how that is decided, and how λ is found.

Among all λ we want the one that leaves the least residual, and among those the smallest:

    minimise Σ_i (b - Aλ)_i² / e_i,  then  Σ_i e_i λ_i²                        (1)
    e_i = g, but at least a_ii / R and at most R a_ii                          (2)

g is the geometric mean of the diagonals and R = 100. As long as the diagonals lie within a factor R of
g all weights are equal, and (1) is the plain least-updates, minimum-norm λ; rows far out of that
scale (other units, other masses) are weighed by their own. Identical rows always share alike.

A small pivot of LDLᵀ says that A may be singular, not that it is, and which pivot is small is luck: a null vector
whose last entries are small spreads its zero over two pivots. So from pivots of DOUBT on the eigenvalues s of E⁻¹A
are looked at. With E = diag(e), S = (A + εE)⁻¹ and the operator

    G = ε S E                                                                   (3)

which keeps a vector z with A z = 0 and multiplies what belongs to s by ε / (s + ε), the quotient

    ρ(v) = vᵀA v / vᵀE v,    v = Gᵖ x for an arbitrary x                        (4)

comes near the smallest s. Above REGULAR nothing is dependent, and A is factored as it is. Else λ is

    λ ← λ + S (b - A λ),  p times from λ = 0;    λ ← λ - Gᵖ λ                   (5)

The first keeps of b's part for s what is not (ε / (s + ε))ᵖ of it, so that s far above ε lose nothing, s far
below ε count as zero, and between them λ changes smoothly with A. The second removes what roundoff, which S
magnifies by 1/ε, has put along null vectors. What A can not reach of b is removed in the same way where there is
any: from x = E⁻¹ b, E (x - Gᵖ x) remains.

Where the rank is not in doubt and few null vectors z_k are left, with z_kᵀ E z_l = δ_kl, they are found one after
the other: v = Gᵖ x of an x without those known, as long as anything is left of it. Then (5) is

    b ← b - Σ E z_k (z_kᵀ b),   λ ← λ + S (b - A λ) until it stands,   λ ← λ - Σ z_k (z_kᵀ E λ)       (6)

which takes three solves with the factor in place of some forty.

Most often the pivots tell the truth: LDLᵀ without the few rows p of small pivots is a factor of the other rows, A', and

    A' z' = -a_p,   z_p = 1,    zᵀ A z = a_pᵀ z                                   (7)

gives for each p a vector whose only residual is that at p. Where it vanishes for all of them, and z_p is not small
beside z', they are the basis of (6), in which A' takes the place of A + εE: λ stands after one solve. Else the
eigenvalues are looked at as above. No memory enters: what is left out follows from A alone.

Where rows depend on others along a whole motion (the hinges of Bricard's loop), they contradict them beside it. A
method that looks beside it decides on it first, and keeps these rows out until it is back: `keep_out`, `close_kept`.

Solvers without a factor find S b by MINRES on E^-½ (A + εE) E^-½, where null vectors, magnified, do no harm.
An s between the two leaves the rank in doubt: then ρ(G x) is above CLEAN, since G x still holds some of it.
"""

from __future__ import annotations

import math

from numba import types

from taut.compiled import entry, inline, on_demand
from taut.linalg.assemble import multiply
from taut.linalg.direct import factor_direct, solve_direct
from taut.linalg.linear import (
    CLOSED,
    DEPENDENT,
    DOUBTFUL,
    FAILED,
    FIRST_KEPT,
    KEPT_OUT,
    LEFT_OUT,
    MOST_NULL,
    NULLITY,
    OF_NULL,
    OF_SINGULAR,
    SPARSE,
)
from taut.linalg.minres import minres
from taut.linalg.vectors import weigh

EPSILON = 1e-9
POWER = 4  # p
REGULAR = 1e-6  # where (ε / s)ᵖ is 1e-12: λ is the same on both sides
CLEAN = 1e-11
MOST_SWEEPS = 3
SWEPT = 1e-9  # a null part of this size leaves nothing behind when it is removed
NOTHING = 1e-5  # of x: what G² leaves of a vector that has no null part, and less than is left of any other
STANDS = 1e-12  # of λ: the last correction of (6)
LONGEST = 1e6  # of z_p² in (7): the square of the length of z
UNREACHED = 1e-3  # with a larger null part of λ, b was not within reach of A


@entry
def solve_shifted(lin, b, out):
    """out = S b, from the factor of A + εE or by iteration. Not inlined: it is called from many places."""
    if lin.kind <= SPARSE:
        solve_direct(lin, b, out)
    else:
        matrix = lin.ptr, lin.idx, lin.val, lin.weight
        reached, _ = minres(matrix, EPSILON, lin.tolerance, lin.work, b, out)
        if not reached:
            lin.state[FAILED] = 1


@entry
def filter_null(lin, times, x):
    """x ← Gⁿ x (3), n = times."""
    for _ in range(times):
        for i in range(x.shape[0]):
            x[i] *= EPSILON * lin.weight[i]
        solve_shifted(lin, x, x)


@entry
def quotient(lin, v, product):
    """ρ (4)"""
    multiply(lin, v, product)
    above = below = 0.0
    for i in range(v.shape[0]):
        above += v[i] * product[i]
        below += v[i] * lin.weight[i] * v[i]
    return above / below


@on_demand(types.boolean)
def factor_singular(lin):
    """Factor A + εE, or A where it turns out to be regular. Returns whether A is singular."""
    m = lin.weight.shape[0]
    v, product = lin.work[OF_SINGULAR], lin.work[OF_SINGULAR + 1]
    weigh(lin.val, lin.diag, lin.weight)
    for i in range(m):
        v[i] = lin.val[lin.diag[i]]
        lin.val[lin.diag[i]] += EPSILON * lin.weight[i]
    factor_direct(lin, 0.0)
    for i in range(m):
        lin.val[lin.diag[i]] = v[i]
    lin.state[NULLITY] = lin.state[LEFT_OUT] = 0
    arbitrary(lin, 0, v)
    filter_null(lin, 1, v)
    lin.state[DOUBTFUL] = 1 if abs(quotient(lin, v, product)) > CLEAN else 0
    filter_null(lin, POWER - 1, v)
    if quotient(lin, v, product) <= REGULAR:
        if lin.state[DOUBTFUL] == 0 and lin.work.shape[0] > OF_NULL:
            find_null_vectors(lin, v, product)
        return True
    factor_direct(lin, 0.0)
    return False


@inline
def may_leave_out(lin, count):
    """Whether (7) may be tried with this many rows of small pivots."""
    return count <= MOST_NULL and lin.work.shape[0] > OF_NULL and lin.supernodes.row.shape[0] == 0


@on_demand(types.boolean)
def leave_out_dependent(lin):
    """(7) with the factor of A at hand, whose small pivots have the inverse 0. Returns whether these rows depend."""
    m, count, of = lin.weight.shape[0], 0, lin.products
    column = lin.work[OF_SINGULAR]
    weigh(lin.val, lin.diag, lin.weight)
    for place in range(m):
        if lin.inverse[place] != 0.0:
            continue
        p, z = lin.perm[place], lin.work[OF_NULL + count]
        for i in range(m):
            column[i] = 0.0
        for e in range(of.pos.shape[0]):
            if of.entry_row[e] == p:
                column[of.entry_col[e]] = lin.val[of.pos[e]]
            elif of.entry_col[e] == p:
                column[of.entry_row[e]] = lin.val[of.pos[e]]
        for i in range(m):
            z[i] = -column[i]
        solve_direct(lin, z, z)
        z[p] = 1.0
        energy = length = 0.0
        for i in range(m):
            energy += column[i] * z[i]
            length += z[i] * lin.weight[i] * z[i]
        if not (abs(energy) <= CLEAN * length and length <= LONGEST * lin.weight[p]):
            return False
        count += 1
    for k in range(count):
        z = lin.work[OF_NULL + k]
        length = remove_known(lin, k, z)
        for i in range(m):
            z[i] /= length
    lin.state[DOUBTFUL], lin.state[NULLITY], lin.state[LEFT_OUT] = 0, count, 1
    return True


@inline
def keep_out(lin):
    """Keep the rows that the last factor has left out, if any, out of those to come, until lin.state[KEPT_OUT] is 0."""
    few = lin.state[KEPT_OUT] + lin.state[NULLITY] <= MOST_NULL
    if lin.state[DEPENDENT] > 0 and lin.state[LEFT_OUT] == 1 and few:
        for place in range(lin.inverse.shape[0]):
            if lin.inverse[place] == 0.0:
                lin.state[FIRST_KEPT + lin.state[KEPT_OUT]] = lin.perm[place]
                lin.state[KEPT_OUT] += 1


@inline
def close_kept(lin):
    """Give rows that are kept out a diagonal beside which all else in A vanishes: their λ is zero."""
    for k in range(lin.state[KEPT_OUT]):
        lin.val[lin.diag[lin.state[FIRST_KEPT + k]]] = CLOSED


@inline
def arbitrary(lin, which, x):
    """An x without any pattern, each `which` its own, by a linear congruential generator; sizes ½ to 1."""
    number = 20_011 + 7_919 * which
    for i in range(x.shape[0]):
        number = (number * 1_103_515_245 + 12_345) % 2_147_483_648
        size = 0.5 + 0.5 * (number % 65_536) / 65_536.0
        x[i] = (size if number & 1_048_576 else -size) / math.sqrt(lin.weight[i])


@entry
def remove_known(lin, count, x):
    """x -= Σ z_k (z_kᵀ E x). Returns the length of what is left in the norm of E."""
    m = x.shape[0]
    for k in range(count):
        z = lin.work[OF_NULL + k]
        part = 0.0
        for i in range(m):
            part += z[i] * lin.weight[i] * x[i]
        for i in range(m):
            x[i] -= part * z[i]
    total = 0.0
    for i in range(m):
        total += x[i] * lin.weight[i] * x[i]
    return math.sqrt(total)


@entry
def find_null_vectors(lin, v, product):
    """The basis of (6) into lin.work, from v = Gᵖ x; lin.state[NULLITY] stays 0 where they are too many."""
    m = v.shape[0]
    for k in range(MOST_NULL):
        length = remove_known(lin, k, v)
        z = lin.work[OF_NULL + k]
        for i in range(m):
            z[i] = v[i] / length
        if abs(quotient(lin, z, product)) > CLEAN:
            lin.state[DOUBTFUL] = 1
            return
        arbitrary(lin, k + 1, v)
        before = remove_known(lin, k + 1, v)
        filter_null(lin, 2, v)
        if remove_known(lin, k + 1, v) <= NOTHING * before:
            lin.state[NULLITY] = k + 1
            return
        filter_null(lin, POWER - 2, v)


@entry
def solve_known(lin, b, out, rhs, residual, z):
    """(6)"""
    m, count = out.shape[0], lin.state[NULLITY]
    for i in range(m):
        rhs[i] = b[i]
    for k in range(count):
        null = lin.work[OF_NULL + k]
        part = 0.0
        for i in range(m):
            part += null[i] * rhs[i]
        for i in range(m):
            rhs[i] -= part * lin.weight[i] * null[i]
    solve_shifted(lin, rhs, out)
    remove_known(lin, count, out)
    for _ in range(0 if lin.state[LEFT_OUT] == 1 else POWER):
        multiply(lin, out, residual)
        for i in range(m):
            residual[i] = rhs[i] - residual[i]
        solve_shifted(lin, residual, z)
        remove_known(lin, count, z)
        change = size = 0.0
        for i in range(m):
            out[i] += z[i]
            change = max(change, abs(lin.weight[i] * z[i]))
            size = max(size, abs(lin.weight[i] * out[i]))
        if not change > STANDS * size:
            break
    remove_known(lin, count, out)


@entry
def remove_null_part(lin, x, z):
    """x -= Gᵖ x (5) until nothing is left of it. Returns its first size, in parts of x."""
    m = x.shape[0]
    share = 0.0
    for sweep in range(MOST_SWEEPS):
        for i in range(m):
            z[i] = x[i]
        filter_null(lin, POWER, z)
        removed = left = 0.0
        for i in range(m):
            x[i] -= z[i]
            removed = max(removed, abs(lin.weight[i] * z[i]))
            left = max(left, abs(lin.weight[i] * x[i]))
        if sweep == 0:
            share = removed / left if left > 0.0 else 0.0
        if removed <= SWEPT * left:
            break
    return share


@entry
def solve_reachable(lin, b, out, residual, z):
    """(5) for a b within reach of A. Returns the part of λ along null vectors that was removed."""
    m = out.shape[0]
    solve_shifted(lin, b, out)
    for _ in range(POWER - 1):
        multiply(lin, out, residual)
        for i in range(m):
            residual[i] = b[i] - residual[i]
        solve_shifted(lin, residual, z)
        for i in range(m):
            out[i] += z[i]
    return remove_null_part(lin, out, z)


@on_demand(types.int64)
def solve_singular(lin, b, out):
    """λ of (1), where `weigh` has been called. Returns 1 if an iteration for S did not converge, else 0."""
    m = out.shape[0]
    rhs, residual, z = lin.work[OF_SINGULAR], lin.work[OF_SINGULAR + 1], lin.work[OF_SINGULAR + 2]
    lin.state[FAILED] = 0
    if lin.state[NULLITY] > 0 and lin.kind <= SPARSE:
        solve_known(lin, b, out, rhs, residual, z)
        return lin.state[FAILED]
    for i in range(m):
        rhs[i] = b[i]
    if solve_reachable(lin, rhs, out, residual, z) > UNREACHED:
        lin.state[FAILED] = 0
        for i in range(m):
            rhs[i] /= lin.weight[i]
        remove_null_part(lin, rhs, z)
        for i in range(m):
            rhs[i] *= lin.weight[i]
        solve_reachable(lin, rhs, out, residual, z)
    return lin.state[FAILED]
