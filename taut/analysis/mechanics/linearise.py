"""Small motions about a state of equilibrium or a steady motion.

    ξ̇ = η + ω₀ × ξ_θ,   η̇ = A_ξ ξ + A_η η,   ξ_θ the rotations in ξ                    (1)
    J_p ξ = 0,   J η + (∂(J v + Φ_t)/∂q) ξ = 0                                          (2)

A_ξ and A_η are the derivatives of the constrained accelerations, by differences of fourth order. With T an orthonormal
basis of (2), small motions are y = T z, ż = Tᵀ A T z. Velocity conditions have rows in J but not in J_p, so that
nonholonomic systems have more ξ than η. A motion may be steady in axes that turn (steady.py), in which small motions
are then told; about one that is not, A changes with time: `steadiness` tells by how much. The
sign of ω₀ × ξ_θ is that of the axes in which a body's turns are told (perturbation.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arguments import checked
from ...errors import TautError, listed, shown, warn, with_hints
from ...initial import prepare_start, start_mode
from ...linalg.dense import on_one_thread
from ...model import build
from ...model.arrays import DOUBTFUL_SYSTEMS
from ...model.frames import rotate
from ...result.run import Run
from ...scene.scene import Scene
from .modes import mode_run
from .perturbation import Array, Perturbed, derivative, null_space
from .steady import STEADY, Axes, generator_of, steady_axes
from .zeros import eigen

if TYPE_CHECKING:
    import xarray

COMPONENTS = ["x", "y", "z", "turn_x", "turn_y", "turn_z"]


@with_hints("a linearisation")
@dataclass(frozen=True)
class Linearisation:
    """Small motions about one state.

    eigenvalues   (modes,) complex [1/s], by falling real part, then by frequency
    modes         (modes, bodies, 6) complex: how each body moves [m] and turns [rad, world axes]
    bodies        names
    matrix        (2n, 2n) real: ż = matrix z on the states that the constraints allow
    turning       (3,) angular velocity of the axes in which the motion is steady and modes are told [rad/s]
    steadiness    how much the coefficients change in the time of the fastest mode: 0 for a steady motion
    """

    eigenvalues: Array
    modes: Array
    bodies: list[str]
    matrix: Array
    turning: Array
    steadiness: float
    time: float
    scene: Scene | None = field(repr=False, compare=False)
    near: Perturbed = field(repr=False, compare=False)

    @property
    def is_stable(self) -> bool:
        """No mode grows (up to rounding, which a double eigenvalue feels as its square root)."""
        return bool((self.eigenvalues.real < 1e-5 * max(1.0, np.abs(self.eigenvalues).max(initial=0.0))).all())

    @property
    def frequencies(self) -> Array:
        """Of the modes that oscillate, each once [Hz], ascending."""
        found = self.eigenvalues.imag
        return np.sort(found[found > 1e-6 * max(1.0, np.abs(found).max(initial=0.0))]) / (2.0 * np.pi)

    @property
    def damping_ratios(self) -> Array:
        """-Re/|.| of each eigenvalue; 0 where it is zero."""
        size = np.abs(self.eigenvalues)
        return np.divide(-self.eigenvalues.real, size, out=np.zeros_like(size), where=size > 0.0)

    @property
    def data(self) -> xarray.Dataset:
        """Eigenvalues, frequencies, damping ratios and modes with names and units."""
        import xarray

        parts = {"part": ["real", "imaginary"], "mode": np.arange(len(self.eigenvalues)), "body": self.bodies,
                 "component": COMPONENTS}  # fmt: skip
        values = np.stack([self.eigenvalues.real, self.eigenvalues.imag], axis=1)
        shapes = np.stack([self.modes.real, self.modes.imag], axis=1)
        return xarray.Dataset(
            {
                "eigenvalue": (("mode", "part"), values, {"units": "1/s"}),
                "frequency": (("mode",), np.abs(self.eigenvalues.imag) / (2.0 * np.pi), {"units": "Hz"}),
                "damping_ratio": (("mode",), self.damping_ratios, {"units": "1"}),
                "shape": (("mode", "part", "body", "component"), shapes, {"units": "m, rad"}),
            },
            parts,
            {"time": self.time, "steadiness": self.steadiness, "turning": self.turning},
        )

    @checked
    def run(self, mode: int = 0, amplitude: float = 0.2, cycle: float = 2.0, cycles: int = 2) -> Run:
        """A mode as a run that plays: `.view()`, `.animate(path)`, `.export(path)` (modes.py).

        mode       its number in `eigenvalues`
        amplitude  largest move, of the size of the scene, or turn [rad], whichever is larger
        cycle      time that a cycle is shown in [s], whatever its period
        """
        return mode_run(self, mode, amplitude, cycle, cycles)

    @checked
    def animate(self, path: str | Path, mode: int = 0, **options: Any) -> Path:
        """Write a film (.mp4 or .gif) of a mode; options as for `run.animate`."""
        return self.run(mode).animate(path, **options)

    def __repr__(self) -> str:
        shown = ", ".join(f"{value:.6g}" for value in self.eigenvalues[:8])
        more = " …" if len(self.eigenvalues) > 8 else ""
        axes = f", in axes that turn with {shown_vector(self.turning)} rad/s" if self.turning.any() else ""
        change = f"; not steady ({self.steadiness:.2g})" if self.steadiness > STEADY else ""
        return f"Linearisation at t = {self.time:g} s{axes}{change}: eigenvalues [1/s] {shown}{more}"


def shown_vector(vector: Array) -> str:
    return f"({', '.join(f'{c:.6g}' for c in vector + 0.0)})"


@checked
def linearise(what: Any) -> Linearisation:
    """Eigenvalues, frequencies and modes of small motions.

    what  a scene (its start), `run.at(t)` (the record nearest to t), or what `equilibrium` returned
    """
    result = linearised(what)
    model = result.near.model
    if model.dry_names:
        counts = "counts as its smooth law, a strong damper where a joint stands still"
        if not result.near.dry:
            counts = "is left out: about a state at rest it would hold what it can"
        warn(f"the dry friction of the scene ({listed(model.dry_names)}) {counts}")
    if model.is_unilateral:
        names = f" ({listed(list(model.inequality_names))})" if model.inequality_names else ""
        warn(f"limits and contacts of the scene{names} are left out: the eigenvalues are those of motions that meet "
             "none")
    if model.samples:
        warn(f"the controllers of the scene ({listed(list(model.samples))}) count as continuous: what sampling "
             "and holding do to stability is not in the eigenvalues")
    if result.near.system.work.counts[DOUBTFUL_SYSTEMS] > 0:
        warn("constraints come close to depending on each other, as where a linkage lies flat or a body's inertia is "
             "tiny beside its mass and arms: eigenvalues may be inaccurate")
    if result.steadiness > STEADY:
        state = f"the motion at t = {result.time:g} s is not steady"
        if not result.near.v.any():
            state = (f"the state at t = {result.time:g} s is at rest, but forces do not balance in it "
                     "(taut.equilibrium finds where they do)")
            if result.near.is_at_rest():
                state = f"forces balance in the state at t = {result.time:g} s, but they or drivers change with time"
        warn(f"{state}: the linearised equations change with time (by {result.steadiness:.2g} in the time of the "
             "fastest mode), so that the eigenvalues are those of this instant only")
    return result


@on_one_thread
def linearised(what: Any) -> Linearisation:
    """As `linearise`, without a word where the motion is not steady."""
    near, scene = _near(what), what if isinstance(what, Scene) else getattr(what, "scene", None)
    A, T = _coefficients(near)
    axes = _axes(near, A)
    if axes.steadiness > STEADY and near.use_world_axes():
        A, T = _coefficients(near)
        axes = _axes(near, A)
    matrix = T.T @ (_rates_along(near, T) - axes.matrix @ T)
    values, vectors = eigen(matrix)
    order = np.lexsort((values.imag, np.abs(values.imag), -np.round(values.real, 9)))
    shapes = (T @ vectors[:, order]).T[:, : near.n]
    names, modes = _by_body(near, shapes)
    return Linearisation(values[order], modes, names, matrix, axes.rate, axes.steadiness, near.t, scene, near)


def _axes(near: Perturbed, A: Array) -> Axes:
    return steady_axes(near, A, lambda later: _coefficients(later)[0])


def _coefficients(near: Perturbed) -> tuple[Array, Array]:
    """A of (1), and a basis T of (2)."""
    n, held = near.n, near.position_rows
    J = near.jacobian(near.evaluate()[1])

    def found(xi: Array, eta: Array) -> Array:
        _, quat, v = near.evaluate(xi, eta)
        work = near.system.work
        rates = near.jacobian(quat) @ near.world(v, quat) + _driven(near, v) + work.phi_t
        return np.concatenate([near.world(work.a, quat), rates])

    none, each = np.zeros(n), np.eye(n)
    by_move = near.by_move(lambda xi: found(xi, none), each)
    by_rate = near.by_rate(lambda eta: found(none, eta), each)
    A = np.block([[_frames(near), each], [by_move[:n], by_rate[:n]]])
    return A, null_space(np.block([[J[held], np.zeros((len(held), n))], [by_move[n:], J]]), 1e-7)


def _rates_along(near: Perturbed, T: Array) -> Array:
    """A T: differences along what the constraints allow. Columns of A alone are as large as a force over the smallest
    inertia, and would leave their rounding."""
    n = near.n

    def acceleration(z: Array) -> Array:
        _, quat, _ = near.evaluate(z[:n], z[n:])
        return near.world(near.system.work.a, quat)

    found = derivative(acceleration, T, np.concatenate([near.scales, np.ones(n)]))
    return np.concatenate([_frames(near) @ T[:n] + T[n:], found])


def _frames(near: Perturbed) -> Array:
    """ω₀ × ξ_θ in the world's axes, -ω₀ × ξ_θ in a body's own."""
    found = np.zeros((near.n, near.n))
    column = {unknown: k for k, unknown in enumerate(near.unknowns)}
    for i, spin in enumerate(near.model.bodies.spin_slot.tolist()):
        own = near.v[spin]
        w = rotate(near.quat[i], own) if spin in near.spins else -own
        cross = generator_of(w)
        for c in range(3):
            for d in range(3):
                if (spin, c) in column and (spin, d) in column:
                    found[column[spin, c], column[spin, d]] = cross[c, d]
    return found


def _driven(near: Perturbed, v: Array) -> Array:
    """J v of bodies that follow a given path, (rows,)."""
    rows, J = near.model.rows, near.system.work.J
    weight = 1.0 - near.model.bodies.free[rows.slot]
    return np.bincount(near.row_of, (weight * J * v[rows.slot]).sum(axis=1), minlength=near.model.row_count)


def _by_body(near: Perturbed, shapes: Array) -> tuple[list[str], Array]:
    """Shapes (modes, n) by body, (modes, bodies, 6), scaled so that the largest entry of each is one."""
    bodies = [body for body in near.model.body_info if body.motion == "free"]
    velocities = np.zeros((len(shapes), len(bodies), 6), complex)
    column = {unknown: k for k, unknown in enumerate(near.unknowns)}
    for b, body in enumerate(bodies):
        for c in range(6 if body.kind == "rigid" else 3):
            k = column.get((body.slot + c // 3, c % 3))
            if k is not None:
                velocities[:, b, c] = shapes[:, k]
        if body.kind == "rigid" and body.slot + 1 not in near.spins:
            turns = velocities[:, b, 3:]
            quat = near.quat[body.quat]
            velocities[:, b, 3:] = rotate(quat, turns.real) + 1j * rotate(quat, turns.imag)
    flat = velocities.reshape(len(shapes), 6 * len(bodies))
    if flat.size:
        largest = flat[np.arange(len(flat)), np.abs(flat).argmax(axis=1)]
        velocities /= np.where(np.abs(largest) > 0.0, largest, 1.0)[:, None, None]
    return [body.name for body in bodies], velocities


def _near(what: Any) -> Perturbed:
    if isinstance(what, Perturbed):
        return what
    if isinstance(what, Scene):
        model = build(what)
        if not model.deformables:  # which Perturbed refuses
            state = model.initial_state()
            prepare_start(model, model.system(), state, start_mode(what.suggested.get("start")))
            return Perturbed(model, state.x, state.quat, state.v, 0.0, what)
        return Perturbed(model, model.x, model.quat, model.v, 0.0, what)
    configuration = getattr(what, "configuration", None)
    if configuration is None:
        hint = " A run has many instants: choose one by run.at(t)." if isinstance(what, Run) else ""
        raise TautError(f"linearise: what is {shown(what)}; give a scene, run.at(t) or an equilibrium.{hint}")
    model, x, quat, v, time = configuration()
    return Perturbed(model, x, quat, v, time, getattr(what, "scene", None))
