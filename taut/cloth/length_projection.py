"""Fast projection of hard edges: nodes move along edges by the least displacement that restores the lengths.

    (J W Jᵀ + ε D) μ = φ,    x ← x - W Jᵀ μ                                                      (1)
    (J W Jᵀ)_ef = c_ef u_e·u_f,    c_ef = ± w of the node that e and f share                     (2)

D is the diagonal of J W Jᵀ. Where edges depend on each other, as in a straight row between two pins, ε keeps
displacements bounded for errors that no motion along edges can correct. Forces play no part: this corrects the small
error that one solution of the linear system leaves (`project_lengths`). A few iterations of conjugate gradients suffice
for cloth of any size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, structure
from ..linalg.linear import IC0
from ..linalg.pattern import products
from ..linalg.pcg import pcg
from ..linalg.vectors import factor_preconditioner
from ..methods.base import NOT_CONVERGED, OK
from .codes import CORRECTIONS
from .constraint_errors import evaluate_edges, largest_edge_error
from .linear_solve import apply_move, largest_move, update_edge_multipliers
from .newton_direction import newton_direction
from .tolerances import set_initial_penalties, update_multiplier_estimates


@structure
class LengthSystem(NamedTuple):
    """J W Jᵀ of hard edges, all entries by rows."""

    ptr: np.ndarray  # (e+1,) uint64
    idx: np.ndarray  # (.,) uint32
    coupling: np.ndarray  # (.,) c of (2), with ε on the diagonal
    val: np.ndarray  # (.,)
    diag: np.ndarray  # (e,) uint32: place of the diagonal in val
    fac: np.ndarray  # (.,) incomplete factor
    inverse: np.ndarray  # (e,)
    work: np.ndarray  # (5, e)
    mu: np.ndarray  # (e,) μ


def length_system(edges: np.ndarray, w: np.ndarray, soft: float) -> LengthSystem:
    """edges (e, 2): slots; w (slots,): inverse masses; soft: ε."""
    count = len(edges)
    pairs = products(np.arange(0, 2 * count + 1, 2), edges.ravel(), w > 0.0)
    diagonal = np.arange(count) * (count + 1)  # also of edges whose ends are both held
    key, entry = np.unique(np.concatenate([pairs.left_row * count + pairs.right_row, diagonal]), return_inverse=True)
    sign = np.where(pairs.left % 2 == pairs.right % 2, 1.0, -1.0)
    coefficient = np.concatenate([sign * w[edges.ravel()[pairs.left]], np.zeros(count)])
    coupling = np.bincount(entry, coefficient, minlength=count).astype(float)
    diag = np.searchsorted(key, diagonal)
    coupling[diag] *= 1.0 + soft
    return LengthSystem(
        np.searchsorted(key, count * np.arange(count + 1)).astype(np.uint64), (key % max(count, 1)).astype(np.uint32),
        coupling, np.zeros(len(key)), diag.astype(np.uint32), np.zeros(len(key)), np.zeros(count), np.zeros((5, count)),
        np.zeros(count),
    )  # fmt: skip


@compiled
def project_lengths_once(state, ctx):
    """Apply (1) once, with φ and u as last evaluated."""
    edges, of = ctx.edges, ctx.lengths
    settings = ctx.settings.projection
    ptr, idx, val, u, phi = of.ptr, of.idx, of.val, edges.u, edges.phi
    for e in range(of.mu.shape[0]):
        of.mu[e] = 0.0
        for q in range(ptr[e], ptr[e + 1]):
            f = idx[q]
            val[q] = of.coupling[q] * (u[e, 0] * u[f, 0] + u[e, 1] * u[f, 1] + u[e, 2] * u[f, 2])  # (2)
    # The next evaluation of φ is nearer than the residual that is left.
    which, exact, max_iterations = IC0, settings.length_residual, settings.max_length_gradients
    factor_preconditioner(ptr, idx, val, of.diag, of.fac, of.inverse, of.work[4], which, settings.length_pivot)
    pcg((ptr, idx, val, of.diag), (of.fac, of.inverse, which), exact, max_iterations, of.work, phi, of.mu)
    x, w = state.x, ctx.problem.w
    for e in range(of.mu.shape[0]):
        i, j = edges.i[e], edges.j[e]
        for c in range(3):
            x[i, c] -= w[i] * u[e, c] * of.mu[e]
            x[j, c] += w[j] * u[e, c] * of.mu[e]


@compiled
def project_lengths(system, state, ctx, t, h):
    """Fast projection: (2) of step.py linearised once, then lengths alone; hard edges only.

    If that does not reduce the errors, or they were too large for it, (2) is linearised again.
    """
    x = state.x
    edges, settings = ctx.edges, ctx.settings.projection
    inertial_stiffness = ctx.problem.node_mass / (h * h)
    set_initial_penalties(ctx, inertial_stiffness, ctx.settings.tolerances.hard_penalty * inertial_stiffness)
    evaluate_edges(edges, x)
    for _ in range(settings.max_linearisations):
        update_multiplier_estimates(ctx)
        newton_direction(state, ctx, h, 0.0)
        alpha = min(1.0, ctx.settings.newton.max_move / max(largest_move(ctx), 1e-300))
        update_edge_multipliers(ctx, alpha)
        apply_move(ctx, x, alpha)
        ctx.work.counts[CORRECTIONS] += 1
        last = settings.far_error / ctx.problem.tolerance  # with a larger error forces are wrong, too
        for _ in range(settings.max_length_projections):
            evaluate_edges(edges, x)
            off = largest_edge_error(edges, 1.0)
            if off <= 1.0:
                return OK
            if not off < last:
                break
            last = settings.length_reduction * off
            project_lengths_once(state, ctx)
    return NOT_CONVERGED
