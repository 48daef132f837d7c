"""The fastest motion about a state: what a step must resolve.

    up to MOST_LINEARISED unknowns: the largest |eigenvalue| of small motions (linearise.py)               (1)
    beyond: that of   (ξ, η) -> (P η, P ∂a/∂ξ P ξ + P ∂a/∂η P η)   by Arnoldi's method                       (2)
    P = I - Jᵀ (J Jᵀ + ε I)⁻¹ J                                                                            (3)

ξ are moves, η changes of velocity, a the accelerations with constraints. (2) needs directional derivatives and a sparse
factor alone. It takes the constraints for those of a system at rest, and converges to a few percent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .linearise import linearised
from .perturbation import Array, Perturbed

MOST_LINEARISED = 300
SIZE = 1e-4  # of the largest move [m or rad], or change of velocity [m/s or rad/s], in (2)
BASIS = 20  # vectors of Arnoldi's method
MOST_RESTARTS = 10
CONVERGED = 1e-2  # relative
REGULAR = 1e-10  # ε, with rows of J of length one


class Fastest(NamedTuple):
    """Of small motions, and of how bodies turn [rad/s]."""

    small: float
    turning: float

    @property
    def rate(self) -> float:
        return max(self)

    def is_stiff(self, dt: float | None) -> bool:
        """Whether forces are too fast for a step, and not the motion itself."""
        return dt is not None and self.small * dt > 1.0 and self.turning * dt <= 1.0


def fastest(near: Perturbed) -> Fastest | None:
    """The fastest motion near a state; None where there is none to look at."""
    if not near.n:
        return None
    turning = float(np.abs(near.v[near.model.bodies.spin_slot]).max(initial=0.0))
    if near.n > MOST_LINEARISED:
        return Fastest(_largest(near), turning)
    try:
        values = np.abs(linearised(near).eigenvalues)  # (1)
    except np.linalg.LinAlgError:
        return None
    return Fastest(float(values.max(initial=0.0)), turning)


def _largest(near: Perturbed) -> float:
    """(2) [1/s]."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

    n, none, P = near.n, np.zeros(near.n), _projection(near)

    def accelerations(xi: Array, eta: Array) -> Array:
        _, quat, _ = near.evaluate(xi, eta)
        return near.world(near.system.work.a, quat)

    def along(function: Callable[[Array], Array], vector: Array) -> Array:
        size = np.abs(vector).max()
        return near.derivative(function, vector[:, None] / size, SIZE)[:, 0] * size if size > 0.0 else none

    def apply(vector: Array) -> Array:
        xi, eta = P(vector[:n]), P(vector[n:])
        by_move = along(lambda move: accelerations(move, none), xi)
        return np.concatenate([eta, P(by_move + along(lambda change: accelerations(none, change), eta))])

    operator = LinearOperator((2 * n, 2 * n), apply, dtype=float)
    start = np.random.default_rng(0).standard_normal(2 * n)
    try:
        values = eigs(operator, 1, v0=start, ncv=min(BASIS, 2 * n), maxiter=MOST_RESTARTS, tol=CONVERGED,
                      return_eigenvectors=False)  # fmt: skip
    except ArpackNoConvergence as stopped:
        values = stopped.eigenvalues
    return float(np.abs(values).max(initial=0.0))


def _projection(near: Perturbed) -> Callable[[Array], Array]:
    """(3)."""
    from scipy.sparse import csr_array, diags_array, eye_array
    from scipy.sparse.linalg import splu

    _, quat, _ = near.evaluate()
    rows, columns, values = near.jacobian_entries(quat)
    J = csr_array((values, (rows, columns)), shape=(near.model.row_count, near.n))
    lengths = np.sqrt(np.asarray((J * J).sum(axis=1)).ravel())
    J = csr_array(diags_array(1.0 / np.where(lengths > 0.0, lengths, 1.0)) @ J)
    factor = splu((J @ J.T + REGULAR * eye_array(J.shape[0])).tocsc()) if J.shape[0] else None
    return lambda vector: vector - J.T @ factor.solve(J @ vector) if factor else vector.copy()
