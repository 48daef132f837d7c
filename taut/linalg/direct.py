"""The direct factorisations behind one name, for code that is not in a hurry."""

from __future__ import annotations

from taut.jit import word
from taut.linalg.banded import factor_band, factor_tridiagonal, solve_band, solve_tridiagonal
from taut.linalg.linear import SPARSE
from taut.linalg.sparse import factor_sparse, solve_sparse


@word
def factor_direct(lin, tolerance):
    """LDLᵀ of lin.val; returns how many pivots fell below `tolerance` times their diagonal."""
    if lin.kind == SPARSE:
        return factor_sparse(
            lin.ptr,
            lin.idx,
            lin.val,
            lin.col_ptr,
            lin.col_idx,
            lin.row_ptr,
            lin.row_idx,
            lin.filled,
            lin.fac,
            lin.inverse,
            lin.y,
            tolerance,
        )
    if lin.bandwidth > 1:
        return factor_band(lin.val, lin.fac, lin.inverse, lin.bandwidth, tolerance)
    return factor_tridiagonal(lin.val, lin.fac, lin.inverse, tolerance)


@word
def solve_direct(lin, b, out):
    """L D Lᵀ out = b; `out` may be `b`."""
    if lin.kind == SPARSE:
        solve_sparse(lin.col_ptr, lin.col_idx, lin.fac, lin.inverse, lin.perm, lin.y, b, out)
    elif lin.bandwidth > 1:
        solve_band(lin.fac, lin.inverse, lin.perm, lin.bandwidth, lin.y, b, out)
    else:
        solve_tridiagonal(lin.fac, lin.inverse, lin.perm, b, out)
