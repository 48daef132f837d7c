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
from ...expressions.compiled import raise_mistake
from ...initial.projection import polish
from ...methods.acceleration import constrained
from ...model import Model
from ...model.evaluate import begin_step, sample_forces
from ...model.frames import conjugate, multiply, rotate
from ...model.scales import move_scales
from ...scene.scene import Scene
from ...simulation.formulas import formula_at_fault

Array = np.ndarray
SIZE = 1e-4  # of a difference: of the scale of each unknown, 1 m/s or 1 rad/s
STENCIL = ((1, 8.0 / 12.0), (2, -1.0 / 12.0))  # a first derivative of fourth order


@entry
def evaluate(system, t, x, quat, v, lam):
    """Accelerations with constraints into work.a, applied forces into work.f, Φ, J and Φ_t at (q, v, t), and λ."""
    begin_step(system, t, x, quat, v)
    sample_forces(system, t, x, quat, v)
    constrained(system, t, x, quat, v, 0.0, 0.0, lam)


class Perturbed:
    """A model at (x, quat, v, t), and near it."""

    def __init__(
        self, model: Model, x: Array, quat: Array, v: Array, t: float, scene: Scene | None = None
    ) -> None:
        """scene: of the model, so that messages can name what the user wrote."""
        if model.deformables:
            raise TautError(f"scene '{model.name}' has cloth or solids, which this analysis does not treat; simulate "
                            "it with damping until it rests.")
        self.model, self.t, self.scene = model, t, scene
        self.x, self.quat, self.v = x.copy(), quat.copy(), v.copy()
        self.x[list(model.samples.values()), 1] = -np.inf  # controllers sample at each evaluation: continuous functions
        self.system = model.system()
        self.dry = True  # dry friction acts, by its smooth law
        if not v.any():
            self.leave_friction_out()
        self.lam = np.zeros(model.row_count)
        free = model.bodies.inverse_mass[: model.bodies.slots] > 0.0
        slots = model.bodies.spin_slot
        self.spins = [int(s) for i, s in enumerate(slots)
                      if free[s].all() and is_symmetric(v[s], model.bodies.inertia[i])]  # treated as (1)
        self._body = np.full(len(model.x), -1)  # the rigid body that turns with a slot
        self._body[slots] = np.arange(len(slots))
        self.at = np.nonzero(free)  # slots and components of the unknowns
        self.unknowns = [(int(s), int(c)) for s, c in zip(*self.at)]
        self._column = np.full((len(model.x), 3), -1)
        self._column[self.at] = np.arange(len(self.unknowns))
        rows = model.rows
        self.row_of = np.concatenate([np.repeat(np.arange(model.row_count), np.diff(rows.ptr)), rows.spin_row])
        self.n = len(self.unknowns)
        self.scales = move_scales(model, self.x)[self.at[0]]  # of moves: differences are small beside them
        self.position_rows = np.flatnonzero(model.rows.at_velocity == 0).tolist()

    def leave_friction_out(self) -> None:
        """At rest dry friction holds whatever it can, or nothing: motions are those without it."""
        self.dry = False
        for info in self.model.force_info:
            if info.name in self.model.dry_names:
                self.system.forces.members[info.batch] = 0

    def use_world_axes(self) -> bool:
        """Treat all rigid bodies as (1), whatever their symmetry; returns whether that changes anything."""
        rigid = [int(s) for s in self.model.bodies.spin_slot if (self.model.bodies.inverse_mass[s] > 0.0).all()]
        changes, self.spins = rigid != self.spins, rigid
        return changes

    def world(self, array: Array, quat: Array) -> Array:
        """The free unknowns of an array (points, 3), rotations in the world's axes, (n,)."""
        turned = array.copy()
        turned[self.spins] = rotate(quat[self._body[self.spins]], array[self.spins])
        return turned[self.at]

    def spread(self, vector: Array) -> Array:
        """The opposite of picking unknowns: (points, 3), rotations still in the world's axes."""
        found = np.zeros_like(self.x)
        found[self.at] = vector
        return found

    def moved(self, xi: Array, eta: Array) -> tuple[Array, Array, Array]:
        """(1)."""
        move, push = self.spread(xi), self.spread(eta)
        x, quat, v = self.x.copy(), self.quat.copy(), self.v + push
        slots = self.model.bodies.spin_slot
        own = slots[~np.isin(slots, self.spins)]
        quat[self._body[own]] = multiply(self.quat[self._body[own]], exponential(move[own]))  # (2)
        world, body = self.spins, self._body[self.spins]
        omega = rotate(self.quat[body], self.v[world]) + push[world]
        quat[body] = multiply(exponential(move[world]), self.quat[body])
        v[world] = rotate(conjugate(quat[body]), omega)
        move[slots] = 0.0
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
        raise_mistake()
        if not all(np.isfinite(array[self.at]).all() for array in (self.system.work.f, self.system.work.a)):
            raise self._not_a_number(*place)
        return place

    def _not_a_number(self, x: Array, quat: Array, v: Array) -> TautError:
        state, why = self.model.initial_state(), ""
        state.x[:], state.quat[:], state.v[:] = x, quat, v
        if self.scene is not None:
            why = formula_at_fault(self.scene, self.model, self.system, state, self.t, self.t)
        why = why or f"forces or accelerations are no numbers at t = {self.t:g} s"
        return TautError(f"scene '{self.model.name}': {why}; mend it there, or look at another time.")

    def is_at_rest(self) -> bool:
        """Whether nothing moves, and accelerations are rounding beside those of applied forces alone."""
        _, quat, v = self.evaluate()
        a = self.world(self.system.work.a, quat)
        free = self.world(self.model.bodies.inverse_mass * self.system.work.f, quat)
        return not v[self.at].any() and bool(np.abs(a).max(initial=0.0) <= 1e-6 * np.abs(free).max(initial=0.0))

    def jacobian(self, quat: Array) -> Array:
        """J (rows, n) as last evaluated, rotations in the axes of `spins`."""
        dense = np.zeros((self.model.row_count, self.n))
        rows, columns, values = self.jacobian_entries(quat)
        np.add.at(dense, (rows, columns), values)
        return dense

    def jacobian_entries(self, quat: Array) -> tuple[Array, Array, Array]:
        """Rows, columns and values of J; entries of one place add up."""
        slot, J = self.model.rows.slot, self.system.work.J.copy()
        turned = np.isin(slot, self.spins)
        J[turned] = rotate(quat[self._body[slot[turned]]], J[turned])
        column = self._column[slot]
        used = column >= 0
        return np.repeat(self.row_of, 3).reshape(column.shape)[used], column[used], J[used]

    def masses(self, quat: Array) -> Array:
        """M (n, n), rotations in the world's axes."""
        found = np.diag([self.model.bodies.mass[s, c] for s, c in self.unknowns])
        for s in self.spins:
            k = self._column[s, 0]
            axes = rotate(quat[self._body[s]], np.eye(3))  # rows: principal axes
            found[k : k + 3, k : k + 3] = axes.T @ np.diag(self.model.bodies.mass[s]) @ axes
        return found

    def by_move(self, function: Callable[[Array], Array], columns: Array) -> Array:
        """∂function(ξ)/∂ξ along the columns: (values, columns)."""
        return derivative(function, columns, self.scales)

    def by_rate(self, function: Callable[[Array], Array], columns: Array) -> Array:
        """∂function(η)/∂η along the columns: (values, columns)."""
        return derivative(function, columns, np.ones(self.n))


def derivative(function: Callable[[Array], Array], columns: Array, scales: Array) -> Array:
    """Along columns, of fourth order; no component changes by more than 2 SIZE of its scale."""
    found = []
    for column in columns.T:
        most, total = float(np.abs(column / scales).max()), np.zeros(())
        step = SIZE / most if most > 0.0 else 1.0
        for k, weight in STENCIL:
            total = total + weight * (function(k * step * column) - function(-k * step * column))
        found.append(total / step)
    return np.array(found).T if found else np.zeros((len(function(np.zeros(len(columns)))), 0))


def is_symmetric(omega: Array, inertia: Array) -> bool:
    """Whether a body's principal moments are the same in all directions across its angular velocity."""
    size = float(np.abs(omega).max())
    across = np.abs(omega) <= 1e-9 * size
    if size == 0.0 or np.ptp(inertia) <= 1e-9 * inertia.max():
        return True
    return int(across.sum()) == 2 and bool(np.ptp(inertia[across]) <= 1e-9 * inertia.max())


def exponential(angle: Array) -> Array:
    """Quaternions (..., 4) of turns by rotation vectors (..., 3) [rad]."""
    half = 0.5 * np.linalg.norm(angle, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * angle], axis=-1)


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
