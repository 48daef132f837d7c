"""The linear system of active rows alone, J W Jᵀ μ = φ [Hong ICRA 2005 V.B].

    A_ef = c_ef u_e·u_f,    c_ef = ± w of the node that the springs e and f share                (1)
    (A + ε D) μ = φ,    D the diagonal of A                                                      (2)
    A + Σ_b w_b U_b U_bᵀ      U_b (m, 3): ± u of the rows that a ball is a member of             (3)

Rows of contact have the same form (active_contacts.py). A ball may touch every node, so it is kept out of the sparse
matrix (1): its part (3) has rank three and is applied matrix-free; the preconditioner contains its diagonal only. The
pattern of all rows is made once (length_projection.length_system). `gather` extracts the rows and columns of active
rows, so that the work of a step is proportional to their number. Where springs depend on each other, as in a sheet that
is taut along warp, weft and diagonals, ε distributes the load among them. With a small ε an error that no motion can
correct would cause large multipliers of both signs, and releasing those that resist shrinkage would displace nodes
violently. (2) is repeated, so ε costs iterations, not accuracy: an error that only a motion of a heavy ball can correct
falls by the factor w_b/(w_b + ε D) in each. So ε is small once λ ≥ 0 is a bound of the solve, which rules out
multipliers of both signs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure
from ..linalg.linear import IC0
from ..linalg.pcg import pcg
from ..linalg.vectors import dot, factor_preconditioner, norm_by_row, precondition, times
from .length_projection import length_system
from .settings import ActiveSettings, current


@structure
class ActiveSystem(NamedTuple):
    """All springs with a limit and all rows of contact are e; m of them are active."""

    all_ptr: np.ndarray  # (e+1,) uint64: pattern of all of them,
    all_idx: np.ndarray  # (.,) uint32,
    all_share: np.ndarray  # (.,) and c of (1)
    row: np.ndarray  # (e,) uint32: the first m are the active springs,
    number: np.ndarray  # (e,) int64: and their numbers among these, -1: not active
    ptr: np.ndarray  # (e+1,) uint64: the pattern of active springs,
    idx: np.ndarray  # (.,) uint32
    val: np.ndarray  # (.,) A + ε D
    diag: np.ndarray  # (e,) uint32: place of the diagonal in val
    fac: np.ndarray  # (.,) incomplete factor
    inverse: np.ndarray  # (e,)
    work: np.ndarray  # (7 e,) of conjugate gradients
    zeros: np.ndarray  # (e,) of the factor
    rhs: np.ndarray  # (e,) φ
    mu: np.ndarray  # (e,) μ
    ball: np.ndarray  # (e, 2) number of the ball that is the first, the second member, -1: none
    ball_w: np.ndarray  # (balls,) inverse masses
    ball_sum: np.ndarray  # (balls, 3)
    soft: np.ndarray  # (1,) ε
    settings: ActiveSettings


def active_system(edges: np.ndarray, w: np.ndarray, balls: np.ndarray) -> ActiveSystem:
    """edges (e, 2): slots of the members, -1: none; w (slots,): inverse masses; balls (b,): slots that are no nodes."""
    number = np.full(len(w) + 1, -1)
    number[balls] = np.arange(len(balls))
    nodes = np.append(w, 0.0)  # the last one is where rows without a second member go
    nodes[balls] = 0.0
    settings = current().active
    whole, e = length_system(np.where(edges >= 0, edges, len(w)), nodes, 0.0), len(edges)
    return ActiveSystem(
        whole.ptr, whole.idx, whole.coupling, np.zeros(e, np.uint32), np.full(e, -1), whole.ptr.copy(),
        whole.idx.copy(), whole.val, whole.diag, whole.fac, whole.inverse, np.zeros(7 * e), np.zeros(e), np.zeros(e),
        np.zeros(e), number[edges], w[balls], np.zeros((len(balls), 3)), np.array([settings.softness]), settings,
    )  # fmt: skip


@compiled
def gather(system, active, u, soft):
    """(2) of the springs that are active, with ε = `soft`, and its incomplete factor. Returns m."""
    system.soft[0] = soft
    m = 0
    for e in range(active.shape[0]):
        system.number[e] = -1
        if active[e]:
            system.number[e] = m
            system.row[m] = e
            m += 1
    filled = 0
    system.ptr[0] = 0
    for k in range(m):
        e = system.row[k]
        for q in range(system.all_ptr[e], system.all_ptr[e + 1]):
            f = system.all_idx[q]
            if system.number[f] < 0:
                continue
            if f == e:
                system.diag[k] = filled
            system.idx[filled] = system.number[f]
            system.val[filled] = system.all_share[q] * (u[e, 0] * u[f, 0] + u[e, 1] * u[f, 1] + u[e, 2] * u[f, 2])
            if f == e:
                system.val[filled] *= 1.0 + soft
            filled += 1
        system.ptr[k + 1] = filled
    which, dependent = IC0, system.settings.active_pivot
    ptr, diag, inverse = system.ptr[: m + 1], system.diag[:m], system.inverse[:m]
    add_ball_diagonal(system, m, u, 1.0)
    factor_preconditioner(ptr, system.idx, system.val, diag, system.fac, inverse, system.zeros, which, dependent)
    for k in range(m):
        diagonal = system.val[diag[k]]
        if inverse[k] == 0.0 and diagonal > 0.0:
            inverse[k] = 1.0 / diagonal  # of a row that depends on others: the factor stays positive definite
    add_ball_diagonal(system, m, u, -1.0)
    return m


@inline
def add_ball_diagonal(system, m, u, sign):
    """The diagonal of (3)."""
    if system.ball_w.shape[0] == 0:
        return
    for k in range(m):
        e = system.row[k]
        for c in range(2):
            b = system.ball[e, c]
            if b >= 0:
                size = u[e, 0] * u[e, 0] + u[e, 1] * u[e, 1] + u[e, 2] * u[e, 2]
                system.val[system.diag[k]] += sign * (1.0 + system.soft[0]) * system.ball_w[b] * size


@inline
def add_balls(system, m, u, p, out):
    """out += (3) p"""
    for b in range(system.ball_w.shape[0]):
        for c in range(3):
            system.ball_sum[b, c] = 0.0
    for k in range(m):
        e = system.row[k]
        for c in range(3):
            if system.ball[e, 0] >= 0:
                system.ball_sum[system.ball[e, 0], c] += u[e, c] * p[k]
            if system.ball[e, 1] >= 0:
                system.ball_sum[system.ball[e, 1], c] -= u[e, c] * p[k]
    for k in range(m):
        e = system.row[k]
        for c in range(3):
            if system.ball[e, 0] >= 0:
                b = system.ball[e, 0]
                out[k] += system.ball_w[b] * u[e, c] * (system.ball_sum[b, c] + system.soft[0] * u[e, c] * p[k])
            if system.ball[e, 1] >= 0:
                b = system.ball[e, 1]
                out[k] -= system.ball_w[b] * u[e, c] * (system.ball_sum[b, c] - system.soft[0] * u[e, c] * p[k])


@compiled
def pcg_with_balls(system, m, u, exact, max_iterations):
    """linalg.pcg with (3), from μ = 0. Returns the iterations that it took."""
    which = IC0
    work = system.work[: 4 * m].reshape((4, m))
    r, z, p, Ap = work[0], work[1], work[2], work[3]
    ptr, diag, inverse, mu = system.ptr[: m + 1], system.diag[:m], system.inverse[:m], system.mu[:m]
    for k in range(m):
        r[k] = system.rhs[k]
        p[k] = 0.0
    goal = exact * norm_by_row(inverse, r)
    rz_old = 1.0
    for iteration in range(max_iterations):
        if norm_by_row(inverse, r) <= goal:
            return iteration
        precondition(ptr, system.idx, diag, system.fac, inverse, which, r, z)
        rz = dot(r, z)
        for k in range(m):
            p[k] = z[k] + rz / rz_old * p[k]
        rz_old = rz
        times(ptr, system.idx, system.val, p, Ap)
        add_balls(system, m, u, p, Ap)
        curvature = dot(p, Ap)
        if not curvature > 0.0:
            return iteration
        alpha = rz / curvature
        for k in range(m):
            mu[k] += alpha * p[k]
            r[k] -= alpha * Ap[k]
    return max_iterations


@compiled
def solve_active(system, m, phi, u):
    """(2) with φ and u of all rows; μ of the first m of `row`. Returns the iterations that it took."""
    for k in range(m):
        system.rhs[k] = phi[system.row[k]]
        system.mu[k] = 0.0
    # The next evaluation of φ is nearer than the residual that is left.
    which, exact, max_iterations = IC0, system.settings.active_residual, system.settings.max_active_gradients
    if system.ball_w.shape[0] > 0:
        return pcg_with_balls(system, m, u, exact, max_iterations)
    work = system.work[: 4 * m].reshape((4, m))
    matrix = system.ptr[: m + 1], system.idx, system.val, system.diag[:m]
    preconditioner = system.fac, system.inverse[:m], which
    _, iterations = pcg(matrix, preconditioner, exact, max_iterations, work, system.rhs[:m], system.mu[:m])
    return iterations
