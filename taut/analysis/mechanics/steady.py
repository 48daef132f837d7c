"""In which axes a motion is steady: none that turn, or axes that turn at a constant rate.

A coin that goes round in a circle, a top that precesses, a governor at speed: seen from axes that turn with Ω nothing
changes. With G the matrix of Ω × on every vector that is told in the world's axes,

    A(t) = exp(G t) A exp(-G t),   so that Ȧ = G A - A G                                                     (1)
    y = exp(G t) y':   ẏ' = (A - G) y'                                                                       (2)
    v̇_i = Ω × v_i of all velocities and angular velocities                                                   (3)

Ω is looked for among 0, the solution of (3), which leaves what is along all v_i open, and that of (1); the one that
leaves the least of (1) and (3) is taken. Ȧ is found by central differences along the motion. What is left of (3) is
judged by the accelerations that forces, constraints and turning axes make, so that a start at rest that is no
equilibrium is not steady either. Where there is gravity, axes can turn about the vertical only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ...model.frames import rotate
from ...model.scales import scene_size
from .perturbation import Array, Perturbed

STEADY = 1e-2
PART = 1e-3  # of the time of the fastest mode, over which differences are taken


class Axes(NamedTuple):
    """Axes in which a motion is looked at."""

    rate: Array  # (3,) Ω [rad/s]
    matrix: Array  # G of (2)
    steadiness: float  # what is left of (1) in the time of the fastest mode, relative to A, or of (3)


def steady_axes(near: Perturbed, A: Array, coefficients: Callable[[Perturbed], Array]) -> Axes:
    """The axes in which A changes least; `coefficients` gives A of a motion nearby."""
    size = float(np.abs(np.linalg.eigvals(A)).max(initial=0.0)) + float(np.abs(near.v).max(initial=0.0))
    if size == 0.0:
        return Axes(np.zeros(3), np.zeros_like(A), _unsteady(near, np.zeros(3), size))
    tau = PART / size
    change = (coefficients(_along(near, tau)) - coefficients(_along(near, -tau))) / (2.0 * tau)
    turns = [np.kron(np.eye(2), generator(near, e)) for e in np.eye(3)]
    candidates = []
    for rate in _candidates(near, A, change, turns):
        G = np.einsum("k,kij->ij", rate, np.array(turns))
        left = float(np.linalg.norm(change - G @ A + A @ G)) / (size * max(float(np.linalg.norm(A)), 1e-300))
        left = max(left, _unsteady(near, rate, size))
        candidates.append(Axes(rate, G, left))
        if left < 1e-3 * STEADY:  # (1) up to the differences: nothing better can be found
            break
    return min(candidates, key=lambda axes: axes.steadiness)


def _along(near: Perturbed, tau: float) -> Perturbed:
    """The motion a time tau later: of first order, which central differences make second."""
    near.evaluate()
    v = near.v + tau * near.system.work.a
    x, quat, _ = near.moved(tau * near.world(near.v, near.quat), np.zeros(near.n))
    later = Perturbed(near.model, x, quat, v, near.t + tau, near.scene)
    later.spins = near.spins
    if not near.dry:
        later.leave_friction_out()
    return later


def _candidates(near: Perturbed, A: Array, change: Array, turns: list[Array]) -> Iterator[Array]:
    yield np.zeros(3)
    basis = _possible(near)
    if not basis.shape[1]:
        return
    near.evaluate()
    velocities, accelerations = _vectors(near, near.v), _vectors(near, near.system.work.a)
    if len(velocities):
        rows = np.concatenate([-generator_of(v) for v in velocities]) @ basis
        components, _, rank, _ = np.linalg.lstsq(rows, accelerations.ravel(), rcond=1e-9)  # (3): -v × Ω = v̇
        yield basis @ components
        if rank < basis.shape[1]:  # all v_i are along one line, about which axes may turn, too
            line = velocities[np.argmax(np.linalg.norm(velocities, axis=1))]
            line = line / max(float(np.linalg.norm(line)), 1e-300)
            for speed in sorted({float(round(v @ line, 12)) for v in velocities}):
                yield basis @ (components + speed * (basis.T @ line))
    columns = np.stack([(G @ A - A @ G).ravel() for G in turns], axis=1) @ basis
    yield basis @ np.linalg.lstsq(columns, change.ravel(), rcond=1e-9)[0]  # (1)


def _possible(near: Perturbed) -> Array:
    """Directions about which axes may turn, as columns: constant forces such as weights must look the same in them."""
    spins = set(near.model.bodies.spin_slot.tolist())
    slots = sorted({slot for slot, _ in near.unknowns} - spins)
    forces = near.model.bodies.constant[slots].reshape(-1, 3)
    _, sizes, axes = np.linalg.svd(np.concatenate([forces, np.zeros((3, 3))]), full_matrices=False)
    rank = int((sizes > 1e-9 * max(float(sizes.max()), 1e-300)).sum())
    return np.eye(3) if rank == 0 else axes[:1].T if rank == 1 else np.zeros((3, 0))


def _unsteady(near: Perturbed, rate: Array, size: float) -> float:
    """What is left of (3), of the accelerations there are; turns count by the size of the scene."""
    spins, work = set(near.model.bodies.spin_slot.tolist()), near.system.work
    near.evaluate()
    turns = np.array([slot in spins for slot in sorted({slot for slot, _ in near.unknowns})])
    arrays = near.v, work.a, near.model.bodies.inverse_mass * work.f
    velocities, found, free = (_vectors(near, array) for array in arrays)
    carried = np.cross(rate, velocities)
    lever = np.where(turns, scene_size(near.model, near.x), 1.0)
    left, *parts, fastest = (
        float((lever * np.linalg.norm(each, axis=1)).max(initial=0.0))
        for each in (found - carried, found, carried, free, velocities)
    )
    return left / max(sum(parts) + 1e-6 * size * fastest, 1e-300)


def _vectors(near: Perturbed, array: Array) -> Array:
    """Those of free bodies in the world's axes, (vectors, 3)."""
    spins = {int(s): i for i, s in enumerate(near.model.bodies.spin_slot)}
    slots = sorted({slot for slot, _ in near.unknowns})
    return np.array([rotate(near.quat[spins[s]], array[s]) if s in spins else array[s] for s in slots]).reshape(-1, 3)


def generator_of(w: Array) -> Array:
    """The matrix of w ×."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def generator(near: Perturbed, w: Array) -> Array:
    """w × on all unknowns (n, n) that are told in the world's axes."""
    found, cross = np.zeros((near.n, near.n)), generator_of(w)
    own = set(near.model.bodies.spin_slot.tolist()) - set(near.spins)
    column = {unknown: k for k, unknown in enumerate(near.unknowns)}
    for (slot, c), k in column.items():
        if slot not in own:
            for d in range(3):
                if (slot, d) in column:
                    found[k, column[slot, d]] = cross[c, d]
    return found
