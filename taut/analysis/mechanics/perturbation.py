"""A model near one configuration: what forces and accelerations become after a small move.

    x' = x + δx,   R' = exp([δθ]) R,   ω' = ω + δω,   δθ and ω in the world's axes        (1)
                   R' = R exp([δθ]),   ω' = ω + δω,   δθ and ω in the body's axes         (2)

Coefficients are constant about a steady motion in the right axes only: (1) for a wheel that spins about its axis of
symmetry and for what goes round with axes that turn (steady.py), (2) for a body without such symmetry that spins about
one of its principal axes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...compiled import entry
from ...errors import TautError, listed
from ...initial.projection import polish
from ...methods.acceleration import constrained
from ...model import Model
from ...model.evaluate import begin_step
from ...model.frames import conjugate, multiply, rotate

Array = np.ndarray
STENCIL = ((1, 8.0 / 12.0), (2, -1.0 / 12.0))  # a first derivative of fourth order


@entry
def evaluate(system, t, x, quat, v, lam):
    """Accelerations with constraints into work.a, applied forces into work.f, Φ, J and Φ_t at (q, v, t), and λ."""
    begin_step(system, t, x, quat, v)
    constrained(system, t, x, quat, v, 0.0, 0.0, lam)


class Perturbed:
    """A model at (x, quat, v, t), and near it."""

    def __init__(self, model: Model, x: Array, quat: Array, v: Array, t: float) -> None:
        if model.deformables:
            raise TautError(f"scene '{model.name}' has cloth or solids, which this analysis does not treat; simulate "
                            "it with damping until it rests.")
        self.model, self.t = model, t
        self.x, self.quat, self.v = x.copy(), quat.copy(), v.copy()
        self.system = model.system()
        self.lam = np.zeros(model.row_count)
        free = model.bodies.inverse_mass[: model.bodies.slots] > 0.0
        self.spins = [int(s) for i, s in enumerate(model.bodies.spin_slot)
                      if free[s].all() and is_symmetric(v[s], model.bodies.inertia[i])]  # treated as (1)
        self._quat_of = {int(s): i for i, s in enumerate(model.bodies.spin_slot)}
        self.unknowns = [(int(s), int(c)) for s, c in zip(*np.nonzero(free))]
        self._column = {unknown: k for k, unknown in enumerate(self.unknowns)}
        self.n = len(self.unknowns)
        self.position_rows = np.flatnonzero(model.rows.at_velocity == 0).tolist()

    def use_world_axes(self) -> bool:
        """Treat all rigid bodies as (1), whatever their symmetry; returns whether that changes anything."""
        rigid = [int(s) for s in self.model.bodies.spin_slot if (self.model.bodies.inverse_mass[s] > 0.0).all()]
        changes, self.spins = rigid != self.spins, rigid
        return changes

    def world(self, array: Array, quat: Array) -> Array:
        """The free unknowns of an array (points, 3), rotations in the world's axes, (n,)."""
        turned = array.copy()
        for s in self.spins:
            turned[s] = rotate(quat[self._quat_of[s]], array[s])
        return np.array([turned[s, c] for s, c in self.unknowns])

    def spread(self, vector: Array) -> Array:
        """The opposite of picking unknowns: (points, 3), rotations still in the world's axes."""
        found = np.zeros_like(self.x)
        for (s, c), value in zip(self.unknowns, vector):
            found[s, c] = value
        return found

    def moved(self, xi: Array, eta: Array) -> tuple[Array, Array, Array]:
        """(1)."""
        move, push = self.spread(xi), self.spread(eta)
        x, quat, v = self.x.copy(), self.quat.copy(), self.v + push
        for s, i in self._quat_of.items():
            if s not in self.spins:
                quat[i] = multiply(self.quat[i], exponential(move[s]))  # (2)
                continue
            omega = rotate(self.quat[i], self.v[s]) + push[s]
            quat[i] = multiply(exponential(move[s]), self.quat[i])
            v[s] = rotate(conjugate(quat[i]), omega)
            move[s] = 0.0
        move[list(self._quat_of)] = 0.0
        return x + move, quat, v

    def projected(self, x: Array, quat: Array) -> tuple[Array, Array]:
        """The nearest configuration with Φ = 0."""
        state = self.model.initial_state()
        state.x[:], state.quat[:] = x, quat
        state.v[:] = 0.0
        polish(self.system, state, self.t)
        return state.x.copy(), state.quat.copy()

    def evaluate(self, xi: Array | None = None, eta: Array | None = None) -> tuple[Array, Array, Array]:
        """Evaluate there; x, quat, v of the place. The system's work arrays hold what was found."""
        none = np.zeros(self.n)
        place = self.moved(none if xi is None else xi, none if eta is None else eta)
        evaluate(self.system, self.t, *place, self.lam)
        return place

    def jacobian(self, quat: Array) -> Array:
        """J (rows, n) as last evaluated, rotations in the axes of `spins`."""
        rows, J = self.model.rows, self.system.work.J
        dense = np.zeros((self.model.row_count, self.n))
        row_of = np.concatenate([np.repeat(np.arange(self.model.row_count), np.diff(rows.ptr)), rows.spin_row])
        for block, (row, slot) in enumerate(zip(row_of.tolist(), rows.slot.tolist())):
            values = rotate(quat[self._quat_of[slot]], J[block]) if slot in self.spins else J[block]
            for c in range(3):
                column = self._column.get((slot, c))
                if column is not None:
                    dense[row, column] += values[c]
        return dense

    def masses(self, quat: Array) -> Array:
        """M (n, n), rotations in the world's axes."""
        found = np.diag([self.model.bodies.mass[s, c] for s, c in self.unknowns])
        for s in self.spins:
            k = self._column[s, 0]
            axes = np.array([rotate(quat[self._quat_of[s]], e) for e in np.eye(3)])  # rows: principal axes
            found[k : k + 3, k : k + 3] = axes.T @ np.diag(self.model.bodies.mass[s]) @ axes
        return found

    def derivative(self, function: Callable[[Array], Array], columns: Array, size: float) -> Array:
        """∂function(ξ or η)/∂(columns), of fourth order: (values, columns)."""
        found = []
        for column in columns.T:
            total = np.zeros(())
            for k, weight in STENCIL:
                total = total + weight * (function(k * size * column) - function(-k * size * column))
            found.append(total / size)
        return np.array(found).T if found else np.zeros((len(function(np.zeros(len(columns)))), 0))


def is_symmetric(omega: Array, inertia: Array) -> bool:
    """Whether a body's principal moments are the same in all directions across its angular velocity."""
    size = float(np.abs(omega).max())
    across = np.abs(omega) <= 1e-9 * size
    if size == 0.0 or np.ptp(inertia) <= 1e-9 * inertia.max():
        return True
    return int(across.sum()) == 2 and bool(np.ptp(inertia[across]) <= 1e-9 * inertia.max())


def exponential(angle: Array) -> Array:
    """The quaternion of a turn by a rotation vector [rad]."""
    half = 0.5 * float(np.linalg.norm(angle))
    return np.concatenate([[np.cos(half)], 0.5 * np.sinc(half / np.pi) * angle])


def null_space(matrix: Array, tolerance: float = 1e-9) -> Array:
    """An orthonormal basis of the vectors that the matrix takes to zero, as columns; rows are scaled first."""
    if not matrix.size:
        return np.eye(matrix.shape[1])
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0.0)
    _, values, right = np.linalg.svd(scaled)
    rank = int((values > tolerance * max(1.0, values.max(initial=0.0))).sum())
    return right[rank:].T


def place_names(model: Model, unknowns: list[tuple[int, int]], moves: Array) -> str:
    """Names of the bodies that take part in moves, (unknowns, moves)."""
    part = np.abs(moves).max(axis=1)
    slots = {slot for (slot, _), size in zip(unknowns, part) if size > 1e-3 * part.max()}
    bodies = [body.name for body in model.body_info if slots & {body.slot, body.slot + (body.kind == "rigid")}]
    return listed(bodies)
