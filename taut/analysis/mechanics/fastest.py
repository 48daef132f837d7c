"""The fastest motion about a state: what a step must resolve.

    up to MOST_LINEARISED unknowns: the largest |eigenvalue| of small motions (linearise.py)               (1)
    beyond: that of   (ξ, η) -> (P η, P ∂a/∂ξ P ξ + P ∂a/∂η P η)   by Arnoldi's method                       (2)
    P = I - Jᵀ (J Jᵀ + ε I)⁻¹ J                                                                            (3)
    besides: |v| / size, |ω|, and √(|a| / length), by the size of the scene and by lengths near a body; |α|^½     (4)

ξ are moves, η changes of velocity, a the accelerations with constraints. (2) needs directional derivatives and a sparse
factor alone. It takes the constraints for those of a system at rest, and converges to a few percent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...model.scales import is_place, scene_size
from .linearise import linearised
from .perturbation import Array, Perturbed

MOST_LINEARISED = 300
BASIS = 20  # vectors of Arnoldi's method
MOST_RESTARTS = 10
CONVERGED = 1e-2  # relative
ROUNDING = 1e-5  # of the rates that loads and motion make: a slower small motion is that of rounding
STIFF = 100.0  # times faster than the rest: forces that a step need not follow
SLOWEST = 1e-7  # rad/s: eigenvalues that are zero twice come out as the root of rounding
REGULAR = 1e-10  # ε, with rows of J of length one


class Fastest(NamedTuple):
    """Of small motions, of how bodies turn and move, of how fast they soon will by their accelerations, and of how fast
    they would by applied forces alone [rad/s]."""

    small: float
    turning: float
    moving: float
    starting: float
    loaded: float

    @property
    def rate(self) -> float:
        return max(self[:4])

    @property
    def slow(self) -> float:
        """Of the motion beside small ones that stiff forces make."""
        return max(self[1:])

    @property
    def is_oscillation(self) -> bool:
        """Whether it is one that has a period."""
        return self.small == self.rate

    def is_stiff(self, dt: float | None) -> bool:
        """Whether forces are too fast for a step, or, where none is known, far faster than the motion."""
        if dt is None:
            return self.small > STIFF * self.slow > 0.0
        return self.small * dt > 1.0 and self.turning * dt <= 1.0


def fastest(near: Perturbed) -> Fastest | None:
    """The fastest motion near a state; None where there is none to look at."""
    if not near.n:
        return None
    turning = float(np.abs(near.v[near.model.bodies.spin_slot]).max(initial=0.0))
    _, quat, v = near.evaluate()
    place = is_place(near.model)[near.at[0]]
    moving = float(np.abs(v[near.at] / np.where(place, scene_size(near.model, near.x), 1.0)).max())  # (4)
    starting, loaded = (float(np.abs(near.world(a, quat) / np.where(place, near.scales, 1.0)).max()) ** 0.5  # (4)
                        for a in (near.system.work.a, near.model.bodies.inverse_mass * near.system.work.f))
    try:
        small = _largest(near) if near.n > MOST_LINEARISED else float(
            np.abs(linearised(near).eigenvalues).max(initial=0.0))  # (1)
    except np.linalg.LinAlgError:
        return None
    floor = ROUNDING * max(turning, moving, starting, loaded)
    rates = small if small > SLOWEST else 0.0, turning, moving, starting, loaded
    return Fastest(*(rate if rate > floor else 0.0 for rate in rates))


def _largest(near: Perturbed) -> float:
    """(2) [1/s]."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

    n, none, P = near.n, np.zeros(near.n), _projection(near)

    def accelerations(xi: Array, eta: Array) -> Array:
        _, quat, _ = near.evaluate(xi, eta)
        return near.world(near.system.work.a, quat)

    def apply(vector: Array) -> Array:
        xi, eta = P(vector[:n]), P(vector[n:])
        by_move = near.by_move(lambda move: accelerations(move, none), xi[:, None])[:, 0]
        by_rate = near.by_rate(lambda change: accelerations(none, change), eta[:, None])[:, 0]
        return np.concatenate([eta, P(by_move + by_rate)])

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
