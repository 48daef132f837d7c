"""The direct factorisations behind one name, for code that is not in a hurry.

Those with supernodes are long code, and every caller compiles this again, so they are called by address.
"""

from __future__ import annotations

from numba import types

from taut.compiled import inline
from taut.compiled.function_pointers import indirect_call
from taut.linalg.banded import factor_band, factor_tridiagonal, solve_band, solve_tridiagonal
from taut.linalg.grouped import factor_groups, solve_groups
from taut.linalg.linear import SPARSE
from taut.linalg.multifrontal import factor_supernodes, solve_supernodes
from taut.linalg.sparse import factor_sparse, solve_sparse

_call_factor_supernodes = indirect_call(types.int64, lambda kind: factor_supernodes)
_call_solve_supernodes = indirect_call(types.int64, lambda kind: solve_supernodes)


@inline
def factor_direct(lin, tolerance):
    """LDLᵀ of lin.val; returns how many pivots fell below `tolerance` times their diagonal."""
    if lin.kind == SPARSE:
        if lin.supernodes.row.shape[0] > 0:
            arguments = lin.supernodes, lin.ptr, lin.val, lin.fac, lin.inverse, tolerance
            return _call_factor_supernodes(lin.supernodal_factor_address, lin.kind, arguments)
        if lin.groups.width.shape[0] > 0:
            return factor_groups(lin.groups, lin.val, lin.fac, lin.inverse, tolerance)
        matrix, pattern = (lin.ptr, lin.idx, lin.val), (lin.col_ptr, lin.col_idx, lin.row_ptr, lin.row_idx)
        return factor_sparse(matrix, pattern, lin.filled, lin.fac, lin.inverse, lin.y, tolerance)
    if lin.bandwidth > 1:
        return factor_band(lin.val, lin.fac, lin.inverse, lin.bandwidth, tolerance)
    return factor_tridiagonal(lin.val, lin.fac, lin.inverse, tolerance)


@inline
def solve_direct(lin, b, out):
    """L D Lᵀ out = b; `out` may be `b`."""
    if lin.kind == SPARSE:
        if lin.supernodes.row.shape[0] > 0:
            arguments = lin.supernodes, lin.fac, lin.perm, lin.y, b, out
            _call_solve_supernodes(lin.supernodal_solve_address, lin.kind, arguments)
        elif lin.groups.width.shape[0] > 0:
            solve_groups(lin.groups, lin.fac, b, out)
        else:
            solve_sparse(lin.col_ptr, lin.col_idx, lin.fac, lin.inverse, lin.perm, lin.y, b, out)
    elif lin.bandwidth > 1:
        solve_band(lin.fac, lin.inverse, lin.perm, lin.bandwidth, lin.y, b, out)
    else:
        solve_tridiagonal(lin.fac, lin.inverse, lin.perm, b, out)
