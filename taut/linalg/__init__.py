"""Solve A λ = b with A = J W Jᵀ, many times with one pattern, inside compiled steps.

J is a list of 3-vector blocks, one per (row, slot); W is diagonal, w[slot, 0:3]. Once per topology
`plan` makes a `Linear`; in each step a method calls

    assemble(lin, J, w)      A into lin.val                                    assemble.py
    factor(lin)              L D Lᵀ = P A Pᵀ, or a preconditioner              solve.py
    factor_regular(lin, ε)   the same where pivots alone tell that A is regular
    solve(lin, b, out)       λ; as often as wanted per factor                  solve.py
    sweep_forwards (in parts: sweep_part), sweep_back   all of it at once, with J v and W Jᵀ λ        grouped.py
    multiply(lin, y, out)    A y                                               assemble.py

    A, L, P                  lin.val, lin.fac, lin.perm                        linear.py has all arrays
    pattern of A             lin.ptr, lin.idx, lin.diag; pairs of blocks behind each entry: pattern.py
    solver and order P       choose.py; of sheets and solids: dissection.py, separator.py

Direct, called through direct.py: banded.py (dense: the widest band); sparse.py; groups.py, group_plan.py, grouped.py
and group_kernels.py, where rows come in groups as those of joints do; supernodes.py, multifrontal.py and
simd_kernels.py, where L is nearly dense in places. Iterative, on the functions of vectors.py: pcg.py, minres.py
(A singular), bicgstab.py (A = Ja W Jbᵀ, not symmetric). Redundant or conflicting rows: singular.py says what λ means
and how the direct solvers find it; rank.py names dependent rows, outside of steps.

Other matrices: nodes.py and bisection.py (3 × 3 blocks between nodes, in an order from their places), envelope.py (long
and narrow, with a pattern that changes), lu.py, matrix_free_cg.py (conjugate gradients where A is a function).
"""

from taut.linalg.assemble import assemble, assemble_pair, multiply
from taut.linalg.grouped import assemble_panels, sweep_back, sweep_forwards, sweep_part
from taut.linalg.groups import AT_ONCE
from taut.linalg.linear import (
    DEPENDENT,
    DOUBTFUL,
    FIRST_KEPT,
    KEPT_OUT,
    MOST_NULL,
    NULLITY,
    OF_NULL,
    PRECONDITIONERS,
    SOLVERS,
    Linear,
)
from taut.linalg.plan import describe, plan
from taut.linalg.rank import dependences, dependent_rows
from taut.linalg.singular import close_kept, keep_out
from taut.linalg.solve import ACCURATE, DOUBT, factor, factor_regular, look_at_rank, solve

__all__ = [
    "ACCURATE",
    "AT_ONCE",
    "DEPENDENT",
    "DOUBT",
    "DOUBTFUL",
    "FIRST_KEPT",
    "KEPT_OUT",
    "MOST_NULL",
    "NULLITY",
    "OF_NULL",
    "PRECONDITIONERS",
    "SOLVERS",
    "Linear",
    "assemble",
    "assemble_pair",
    "assemble_panels",
    "close_kept",
    "dependences",
    "dependent_rows",
    "describe",
    "factor",
    "factor_regular",
    "keep_out",
    "look_at_rank",
    "multiply",
    "plan",
    "solve",
    "sweep_back",
    "sweep_forwards",
    "sweep_part",
]
