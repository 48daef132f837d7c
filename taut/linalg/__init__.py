"""Solve A λ = b with A = J W Jᵀ, many times with one pattern, inside compiled steps.

J is a list of 3-vector blocks, one per (row, slot); W is diagonal, w[slot, 0:3]. Once per topology
`plan` makes a `Linear`; in each step a method calls

    assemble(lin, J, w)      A into lin.val                                    assemble.py
    factor(lin)              L D Lᵀ = P A Pᵀ, or a preconditioner              solve.py
    factor_regular(lin, ε)   the same where pivots alone tell that A is regular
    solve(lin, b, out)       λ; as often as wanted per factor                  solve.py
    multiply(lin, y, out)    A y                                               assemble.py

Pattern and pairs of blocks behind each entry: pattern.py. Solver and order P: choose.py; of sheets and
solids: dissection.py, separator.py. The arrays: linear.py. LDLᵀ in a band (dense: the widest band): banded.py;
sparse: sparse.py; where rows come in groups, as those of joints do: groups.py, group_plan.py, grouped.py and
group_kernels.py; where L is nearly dense in places: supernodes.py, multifrontal.py and simd_kernels.py; any:
direct.py. Iterative: pcg.py, minres.py, bicgstab.py on the functions of vectors.py. What λ means for redundant or
conflicting rows, and how the direct solvers find it: singular.py. Names of dependent rows, not for steps:
rank.py. Why steps compile fast although all this is behind them: taut/compiled/function_pointers.py.

Matrices of nodes, given by 3 × 3 blocks instead of J, in an order from the nodes' places: nodes.py, bisection.py.
Long and narrow ones, whose pattern changes at every turn: envelope.py.
"""

from taut.linalg.assemble import assemble, assemble_pair, multiply
from taut.linalg.linear import DEPENDENT, DOUBTFUL, FIRST_KEPT, KEPT_OUT, PRECONDITIONERS, SOLVERS, Linear
from taut.linalg.plan import describe, plan
from taut.linalg.rank import dependent_rows
from taut.linalg.singular import close_kept, keep_out
from taut.linalg.solve import ACCURATE, DOUBT, factor, factor_regular, solve

__all__ = [
    "ACCURATE",
    "DEPENDENT",
    "DOUBT",
    "DOUBTFUL",
    "FIRST_KEPT",
    "KEPT_OUT",
    "PRECONDITIONERS",
    "SOLVERS",
    "Linear",
    "assemble",
    "assemble_pair",
    "close_kept",
    "dependent_rows",
    "describe",
    "factor",
    "factor_regular",
    "keep_out",
    "multiply",
    "plan",
    "solve",
]
