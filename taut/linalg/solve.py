"""Factor and solve: what a method calls, whatever the solver.

Bands, where a call might cost as much as the work, are treated in the caller; all else is an `indirect_call`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from taut.compiled import compiled, inline
from taut.compiled.function_pointers import indirect_call
from taut.linalg.banded import factor_band, factor_tridiagonal, solve_band, solve_tridiagonal
from taut.linalg.bicgstab import bicgstab, cgls
from taut.linalg.direct import factor_direct
from taut.linalg.linear import ASYMMETRIC, BANDED, BICGSTAB, DEPENDENT, ITERATIONS, PCG, SPARSE
from taut.linalg.minres import minres
from taut.linalg.pcg import pcg
from taut.linalg.singular import factor_singular, leave_out_dependent, may_leave_out, solve_shifted, solve_singular
from taut.linalg.vectors import factor_preconditioner, most_iterations, norm, weigh

DOUBT = 1e-5  # of its original diagonal: a smaller pivot calls for a look at the rank (singular.py)
ACCURATE = 1e-10  # a regular system whose pivots are all above this has λ to six digits at least
PIVOT_TOLERANCE = 1e-10  # of a preconditioner; below, a row counts as dependent on those before it


@compiled
def factor_directly(lin):
    """LDLᵀ of A, or when A is singular, without its dependent rows or of the A + εE of singular.py.

    Bands were factored by the caller.
    """
    return look_at_rank(lin, lin.state[DEPENDENT] if lin.kind <= BANDED else factor_direct(lin, DOUBT))


@compiled
def look_at_rank(lin, dependent):
    """What `factor_directly` makes of A, whose factor is at hand and has that many small pivots."""
    if dependent > 0 and not (may_leave_out(lin, dependent) and leave_out_dependent(lin)) and not factor_singular(lin):
        dependent = 0
    lin.state[DEPENDENT] = dependent
    return dependent


@compiled
def factor_regular(lin, tolerance):
    """LDLᵀ of A without a look at its rank. Returns whether no pivot is below `tolerance` times its diagonal."""
    if lin.kind > SPARSE or factor_direct(lin, tolerance) > 0:
        return False
    lin.state[DEPENDENT] = 0
    return True


@compiled
def solve_directly(lin, b, out):
    """Always succeeds: status 0."""
    if lin.state[DEPENDENT] == 0:
        solve_shifted(lin, b, out)
        return np.int64(0)  # of the type that it is called for by address
    return solve_singular(lin, b, out)


@compiled
def factor_iteratively(lin):
    """The preconditioner, which meets zero and repeated rows but not every dependency."""
    dependent = factor_preconditioner(
        lin.ptr, lin.idx, lin.val, lin.diag, lin.fac, lin.inverse, lin.y, lin.preconditioner, PIVOT_TOLERANCE
    )  # fmt: skip
    lin.state[DEPENDENT] = dependent
    return dependent


@compiled
def solve_iteratively(lin, b, out):
    """The solver of lin.kind, and one that bears singular matrices as soon as A is singular.

    Conjugate gradients and MINRES are for symmetric matrices: others go to BiCGSTAB, whatever lin.kind says.
    """
    asymmetric = lin.kind == BICGSTAB or lin.state[ASYMMETRIC] == 1
    if not math.isfinite(norm(b)):  # no iteration ends on such numbers, and zero must not hide them
        for i in range(out.shape[0]):
            out[i] = math.nan
        return 1
    status = 1
    used = 0
    matrix, preconditioner = (lin.ptr, lin.idx, lin.val, lin.diag), (lin.fac, lin.inverse, lin.preconditioner)
    if lin.state[DEPENDENT] == 0:
        if asymmetric:
            status, used = bicgstab(matrix, preconditioner, lin.tolerance, lin.work, b, out)
        elif lin.kind == PCG:
            most = most_iterations(out.shape[0])
            status, used = pcg(matrix, preconditioner, lin.tolerance, most, lin.work, b, out)
    lin.state[ITERATIONS] = used
    if status == 0:
        return 0
    if asymmetric:
        status, used = cgls(
            lin.ptr, lin.idx, lin.val, lin.diag, lin.weight, lin.tolerance, lin.work, b, out
        )  # fmt: skip
        lin.state[ITERATIONS] += used
        return status
    weigh(lin.val, lin.diag, lin.weight)
    reached, used = minres((lin.ptr, lin.idx, lin.val, lin.weight), 0.0, lin.tolerance, lin.work, b, out)
    lin.state[ITERATIONS] += used
    if reached:
        return np.int64(0)
    lin.state[DEPENDENT] = max(lin.state[DEPENDENT], 1)
    return solve_singular(lin, b, out)


def kernels_of(kind: int) -> tuple[Any, Any]:
    """What lin.factor_address and lin.solve_address point to: only that is compiled which is needed."""
    if kind > SPARSE:
        return factor_iteratively, solve_iteratively
    return factor_directly, solve_directly


_call_factor = indirect_call(types.int64, lambda kind: kernels_of(kind)[0])
_call_solve = indirect_call(types.int64, lambda kind: kernels_of(kind)[1])


@inline
def factor(lin):
    """Factor the assembled A. Returns the number of dependent rows met; 0: A is regular."""
    if lin.kind <= BANDED:
        if lin.bandwidth == 1:
            dependent = factor_tridiagonal(lin.val, lin.fac, lin.inverse, DOUBT)
        else:
            dependent = factor_band(lin.val, lin.fac, lin.inverse, lin.bandwidth, DOUBT)
        lin.state[DEPENDENT] = dependent
        if dependent == 0:
            return 0
    return _call_factor(lin.factor_address, lin.kind, (lin,))


@inline
def solve(lin, b, out):
    """Solve A out = b with the factor. Returns 0, or 1 when an iterative solver did not converge.

    pcg and bicgstab start from what `out` holds. `out` may be `b` for direct solvers only.
    """
    if lin.kind <= BANDED and lin.state[DEPENDENT] == 0:
        if lin.bandwidth == 1:
            solve_tridiagonal(lin.fac, lin.inverse, lin.perm, b, out)
        else:
            solve_band(lin.fac, lin.inverse, lin.perm, lin.bandwidth, lin.y, b, out)
        return 0
    return _call_solve(lin.solve_address, lin.kind, (lin, b, out))
