"""A from J and W, and A times a vector, through the list of entries.

    A_ij = Σ_(k1, k2) Σ_c J[k1, c] w[slot, c] J[k2, c]          (1)

over the blocks k1 of row i and k2 of row j that share a slot.
"""

from __future__ import annotations

from taut.compiled import inline
from taut.linalg.grouped import assemble_groups
from taut.linalg.linear import ASYMMETRIC, PCG

ROUNDING = 1e-14  # of two entries: less apart, they are equal


@inline
def assemble(lin, J, w):
    """Write A = J W Jᵀ into lin.val."""
    if lin.groups.width.shape[0] > 0:
        assemble_groups(lin.groups, J, w, lin.val)
        return
    of, val = lin.products, lin.val
    first, left, right, pair_slot, pos = of.first, of.left, of.right, of.pair_slot, of.pos
    for e in range(pos.shape[0]):
        total = 0.0
        for q in range(first[e], first[e + 1]):  # (1)
            a = left[q]
            b = right[q]
            s = pair_slot[q]
            total += J[a, 0] * w[s, 0] * J[b, 0] + J[a, 1] * w[s, 1] * J[b, 1] + J[a, 2] * w[s, 2] * J[b, 2]
        val[pos[e]] = total
    if lin.kind >= PCG:
        lin.state[ASYMMETRIC] = 0
        for e in range(pos.shape[0]):
            val[of.mirror[e]] = val[pos[e]]


@inline
def assemble_pair(lin, Ja, Jb, w):
    """Write A = Ja W Jbᵀ into lin.val, for iterative solvers; where it is not symmetric, they switch to BiCGSTAB."""
    of = lin.products
    lin.state[ASYMMETRIC] = 0
    for e in range(of.pos.shape[0]):
        lower = 0.0
        upper = 0.0
        for q in range(of.first[e], of.first[e + 1]):
            a = of.left[q]
            b = of.right[q]
            s = of.pair_slot[q]
            for c in range(3):
                lower += Ja[a, c] * w[s, c] * Jb[b, c]
                upper += Ja[b, c] * w[s, c] * Jb[a, c]
        lin.val[of.pos[e]] = lower
        lin.val[of.mirror[e]] = upper
        if abs(lower - upper) > ROUNDING * (abs(lower) + abs(upper)):
            lin.state[ASYMMETRIC] = 1


@inline
def multiply(lin, y, out):
    """out = A y; the two must be different arrays."""
    of = lin.products
    for i in range(out.shape[0]):
        out[i] = 0.0
    for e in range(of.pos.shape[0]):
        i = of.entry_row[e]
        j = of.entry_col[e]
        out[i] += lin.val[of.pos[e]] * y[j]
        if i != j:
            out[j] += lin.val[of.mirror[e]] * y[i]
