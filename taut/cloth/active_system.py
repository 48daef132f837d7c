"""The linear system of active springs alone, J W Jᵀ μ = φ [Hong ICRA 2005 V.B].

    A_ef = c_ef u_e·u_f,    c_ef = ± w of the node that the springs e and f share                (1)
    (A + ε D) μ = φ,    D the diagonal of A                                                      (2)

The pattern of all springs with a limit is made once (length_projection.length_system). `gather` takes the rows and
columns of active springs out of it, so that the work of a step is in proportion to their number. Where springs depend
on each other, as in a sheet that is taut along warp, weft and diagonals, ε shares the load out among them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, structure
from ..linalg.linear import IC0
from ..linalg.pcg import pcg
from ..linalg.vectors import factor_preconditioner
from .length_projection import DEPENDENT, length_system

CG_RESIDUAL = 0.05  # relative residual of (2): the next evaluation of φ is nearer than that
MAX_CG_ITERATIONS = 50


@structure
class ActiveSystem(NamedTuple):
    """All springs with a limit are e; m of them are active."""

    all_ptr: np.ndarray  # (e+1,) uint64: pattern of all of them,
    all_idx: np.ndarray  # (.,) uint32,
    all_share: np.ndarray  # (.,) and c of (1), with ε on the diagonal
    row: np.ndarray  # (e,) uint32: the first m are the active springs,
    number: np.ndarray  # (e,) int64: and their numbers among these, -1: not active
    ptr: np.ndarray  # (e+1,) uint64: the pattern of active springs,
    idx: np.ndarray  # (.,) uint32
    val: np.ndarray  # (.,) A + ε D
    diag: np.ndarray  # (e,) uint32: place of the diagonal in val
    fac: np.ndarray  # (.,) incomplete factor
    inverse: np.ndarray  # (e,)
    work: np.ndarray  # (4 e,) of conjugate gradients
    zeros: np.ndarray  # (e,) of the factor
    rhs: np.ndarray  # (e,) φ
    mu: np.ndarray  # (e,) μ


def active_system(edges: np.ndarray, w: np.ndarray) -> ActiveSystem:
    """edges (e, 2): slots; w (slots,): inverse masses."""
    whole, e = length_system(edges, w), len(edges)
    return ActiveSystem(
        whole.ptr, whole.idx, whole.share, np.zeros(e, np.uint32), np.full(e, -1), whole.ptr.copy(), whole.idx.copy(),
        whole.val, whole.diag, whole.fac, whole.inverse, np.zeros(4 * e), np.zeros(e), np.zeros(e), np.zeros(e),
    )  # fmt: skip


@compiled
def gather(of, active, u):
    """(1) of the springs that are active, and its incomplete factor. Returns m."""
    m = 0
    for e in range(active.shape[0]):
        of.number[e] = -1
        if active[e]:
            of.number[e] = m
            of.row[m] = e
            m += 1
    filled = 0
    of.ptr[0] = 0
    for k in range(m):
        e = of.row[k]
        for q in range(of.all_ptr[e], of.all_ptr[e + 1]):
            f = of.all_idx[q]
            if of.number[f] < 0:
                continue
            if f == e:
                of.diag[k] = filled
            of.idx[filled] = of.number[f]
            of.val[filled] = of.all_share[q] * (u[e, 0] * u[f, 0] + u[e, 1] * u[f, 1] + u[e, 2] * u[f, 2])
            filled += 1
        of.ptr[k + 1] = filled
    which, dependent = IC0, DEPENDENT
    ptr, diag, inverse = of.ptr[: m + 1], of.diag[:m], of.inverse[:m]
    factor_preconditioner(ptr, of.idx, of.val, diag, of.fac, inverse, of.zeros, which, dependent)
    return m


@compiled
def solve_active(of, m, phi):
    """(2) with φ of all springs; μ of the first m of `row`. Returns the iterations that it took."""
    for k in range(m):
        of.rhs[k] = phi[of.row[k]]
        of.mu[k] = 0.0
    which, exact, most = IC0, CG_RESIDUAL, MAX_CG_ITERATIONS
    work = of.work[: 4 * m].reshape((4, m))
    ptr, diag, inverse, rhs, mu = of.ptr[: m + 1], of.diag[:m], of.inverse[:m], of.rhs[:m], of.mu[:m]
    _, iterations = pcg((ptr, of.idx, of.val, diag), (of.fac, inverse, which), exact, most, work, rhs, mu)
    return iterations
