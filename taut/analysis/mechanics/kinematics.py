"""Kinematics of a fully driven mechanism: positions, velocities and accelerations follow from Φ(q, t) = 0 alone.

    Φ(q, t) = 0,   J v = -Φ_t,   J v̇ = -γ                                               (1)
    M v̇ = f + Jᵀ λ:   λ of a driver is the force or torque that the motion takes         (2)

Positions are followed along the branch of the start: a step of second order, then Newton's method. Between two times
asked for there are as many steps as keep each short, and a step whose correction is not small beside it is halved.

    det(Uᵀ J) changes its sign, U the left singular vectors of J one step before         (3)

where a singular position was passed: there drivers do not determine velocities, and more than one branch goes on.
"""

from __future__ import annotations

import time as clock
import warnings
from itertools import count
from typing import Any

import numpy as np

from ...arguments import checked
from ...compiled import entry
from ...errors import TautError, TautWarning, collecting_notes, listed, notes_so_far, shown, warn
from ...expressions.compiled import raise_mistake
from ...initial import start_mode
from ...limits import check as check_limit
from ...linalg.dense import on_one_thread
from ...methods.acceleration import constrained
from ...methods.base import OK
from ...methods.lagrange import METHOD as LAGRANGE
from ...methods.post_stabilization import correct, correct_velocity
from ...model import Model, build
from ...model.evaluate import add_scaled, advance_positions, begin_step, sample_forces
from ...model.scales import is_place, scene_size
from ...result.records import Records
from ...result.run import Run
from ...scene.scene import Scene
from ...simulation.formulas import formula_at_fault
from ...simulation.loop import calls_for, record
from ...simulation.session import Session
from .perturbation import Array, null_space, place_names

MOST_UNKNOWNS = 600  # of a look at the rank at each step: it costs their third power
SINGULAR = 1e-6  # of the largest singular value of J with rows of length one
WEAK = 5e-4  # of the smallest one where it was largest: so near Newton's method comes to a singular position
LONGEST = 0.3  # step, of the size of the scene, and turn [rad]
NEAR = 0.02  # from where Newton's method finds the same branch: of the size of the scene, and rad
MOST_STEPS = 20_000  # between two times asked for
FINEST = 2.0**-30  # of the time between two times asked for

NO_MATTER = "the initial velocity", "the sampling period"  # notes: velocities follow from drivers, and nothing steps


@entry
def solve_position(system, state, t, tolerance, lam):
    """(1) at t from a state nearby: q and v of `state`, v̇ in work.a, λ. Returns whether Φ came to zero."""
    begin_step(system, t, state.x, state.quat, state.v)
    if correct(system, state, t, system.bodies.inverse_mass, tolerance, True) != OK:
        return False
    begin_step(system, t, state.x, state.quat, state.v)
    for _ in range(2):  # once more, for the last digits
        correct(system, state, t, system.bodies.inverse_mass, 0.0, True)
        correct_velocity(system, state, t, False)
    sample_forces(system, t, state.x, state.quat, state.v)
    constrained(system, t, state.x, state.quat, state.v, 0.0, 0.0, lam)
    return True


@entry
def predict(system, state, a, h):
    """q ⊞ h (v + h a/2), v + h a."""
    add_scaled(state.v, 0.5 * h, a, system.work.v1)
    advance_positions(system, state.x, state.quat, system.work.v1, h, state.x, state.quat)
    add_scaled(state.v, h, a, state.v)


@entry
def keep(calls, system, state, t, context, records, row):
    record(calls, system, state, t, context, records, row)


class _Mechanism:
    """A mechanism on its way: the state at `t`, its accelerations, and how much J leaves free."""

    def __init__(self, scene: Scene, model: Model, start: str | None) -> None:
        start_mode(start, False, True)
        plan = {"method": "lagrange", "dt": 1.0, "steps": 1, "record_every": 1, "solver": "auto", "tolerance": None,
                "project_initial": start != "as_given", "repair": start == "repair", "options": {}}  # fmt: skip
        with warnings.catch_warnings():
            for text in NO_MATTER:
                warnings.filterwarnings("ignore", text, TautWarning)
            self.session = Session(scene, model, plan)
        self.scene, self.model, self.system, self.state = scene, model, self.session.system, self.session.state
        self._samples = list(model.samples.values())
        self.size, self.t = scene_size(model, model.x), 0.0
        free = model.bodies.inverse_mass[: model.bodies.slots] > 0.0
        self.unknowns = [(int(s), int(c)) for s, c in zip(*np.nonzero(free))]
        self._column = np.full((len(model.x), 3), -1)
        self._column[: len(free)][free] = np.arange(len(self.unknowns))
        rows = model.rows
        self._row = np.concatenate([np.repeat(np.arange(model.row_count), np.diff(rows.ptr)), rows.spin_row])
        if not self._solve(0.0):
            raise self._stuck(0.0)
        self.a = self.system.work.a.copy()
        free_moves = null_space(self.jacobian(), SINGULAR)
        if free_moves.shape[1]:
            left = free_moves.shape[1]
            raise TautError(
                f"scene '{model.name}' is not fully driven: {left} degree{'s' if left > 1 else ''} of freedom "
                f"{'are' if left > 1 else 'is'} left, which move{'' if left > 1 else 's'} "
                f"{place_names(model, self.unknowns, free_moves)}. {self._remedy(free_moves)}, or simulate.")
        self._strongest = 0.0
        self._left = self._basis()

    def jacobian(self) -> Array:
        """J (rows, unknowns) as last evaluated, rows of length one."""
        J, column = self.system.work.J, self._column[self.model.rows.slot]
        dense = np.zeros((self.model.row_count, len(self.unknowns) + 1))
        np.add.at(dense, (self._row[:, None], column), J)
        dense = dense[:, :-1]
        lengths = np.linalg.norm(dense, axis=1, keepdims=True)
        return np.divide(dense, lengths, out=np.zeros_like(dense), where=lengths > 0.0)

    def _remedy(self, free_moves: Array) -> str:
        """What to do about degrees of freedom that are left: bodies may spin about the line through their joints."""
        rigid = [body for body in self.model.body_info if body.kind == "rigid"]
        idle = [body.name for body in rigid if self._spins_alone(body.slot, free_moves)]
        if not idle:
            return "Give drivers for them (scene.drive)"
        return (f"{listed(idle)} can spin about the line through its joints, as between two balls: put a universal in "
                "place of one ball, or hold the spin (scene.drive, scene.couple); give drivers for all others")

    def _spins_alone(self, slot: int, free_moves: Array) -> bool:
        """Whether some free move turns one body alone, about a line through all of its places."""
        own = [k for k, (at, _) in enumerate(self.unknowns) if at in (slot, slot + 1)]
        _, sizes, right = np.linalg.svd(np.delete(free_moves, own, axis=0))
        alone = free_moves @ right[int((sizes > SINGULAR).sum()) :].T
        places = self.model.places
        arms = places.arm[(places.slot == slot) & is_place(self.model)[places.point]]
        if alone.shape[1] != 1 or len(arms) < 2:
            return False
        spin = np.array([alone[self._column[slot + 1, c], 0] for c in range(3)])
        across = np.cross(spin, arms - arms[0])
        return bool(np.abs(across).max() <= 1e-6 * np.abs(spin).max() * np.abs(arms - arms[0]).max() > 0.0)

    def _basis(self) -> Array | None:
        """U of (3), with the sign of the determinant in its first column; None where it would cost too much."""
        if len(self.unknowns) > MOST_UNKNOWNS:
            return None
        J = self.jacobian()
        U, values, _ = np.linalg.svd(J, full_matrices=False)
        self._strongest = max(self._strongest, values[-1])
        U[:, 0] *= np.linalg.slogdet(U.T @ J)[0]
        return U

    def reach(self, t: float) -> None:
        """Follow the motion from where it is to t."""
        least = FINEST * abs(t - self.t)
        step = t - self.t
        for taken in count():
            if self.t == t:
                return
            if taken == MOST_STEPS:
                raise TautError(f"scene '{self.model.name}' moves too fast: {taken:,} steps lead to t = {self.t:.9g} s "
                                f"only, on the way to {t:.9g} s. Ask for more times, or look whether a driver grows "
                                "without bounds.")
            fastest = self._largest(self.state.v) + 1e-300
            step = float(np.sign(t - self.t)) * min(abs(step), LONGEST / fastest, abs(t - self.t))
            later = t if abs(t - self.t - step) <= least else self.t + step
            if self._step(later):
                step *= 2.0
            elif abs(step) <= least:
                raise self._stuck(later)
            else:
                step *= 0.5

    def _largest(self, v: Array) -> float:
        """Of velocities: turns [rad/s], and moves in units of the size of the scene."""
        scaled = v[: self.model.bodies.slots] / self.size
        spin = self.model.bodies.spin_slot
        scaled[spin] *= self.size
        return float(np.abs(scaled).max(initial=0.0))

    def _step(self, t: float) -> bool:
        """To t at once; False, and back to where it was, where that is too far."""
        state, before = self.state, [array.copy() for array in self.state]
        predict(self.system, state, self.a, t - self.t)
        guess_x, guess_quat = state.x.copy(), state.quat.copy()
        moved = self._apart(before[0], before[1], guess_x, guess_quat)
        if (
            self._solve(t)
            and np.isfinite(state.v).all()
            and self._apart(guess_x, guess_quat, state.x, state.quat) <= 0.5 * moved + NEAR
        ):
            self._look_for_singular(t)
            self.a, self.t = self.system.work.a.copy(), t
            return True
        for array, old in zip(state, before):
            array[...] = old
        return False

    def _solve(self, t: float) -> bool:
        """(1) and (2) near the state; controllers count as continuous, so that they sample anew."""
        self.state.x[self._samples, 1] = -np.inf
        found = solve_position(self.system, self.state, t, 1e-10 * self.size, self.state.lam)
        raise_mistake()
        return found

    def _apart(self, x: Array, quat: Array, other_x: Array, other_quat: Array) -> float:
        """How far two configurations are from each other: of the size of the scene, and rad."""
        no_places = np.concatenate([self.model.bodies.spin_slot, self.model.directions])
        slots = np.setdiff1d(np.arange(self.model.bodies.slots), no_places)
        far = float(np.abs(x[slots] - other_x[slots]).max(initial=0.0)) / self.size
        chord = np.minimum(np.linalg.norm(quat - other_quat, axis=1), np.linalg.norm(quat + other_quat, axis=1))
        return max(far, 2.0 * float(chord.max(initial=0.0)))

    def _look_for_singular(self, t: float) -> None:
        """(3)"""
        if self._left is None:
            return
        if np.linalg.slogdet(self._left.T @ self.jacobian())[0] < 0.0:
            warn(f"between t = {self.t:.6g} and {t:.6g} s scene '{self.model.name}' passes a singular position, where "
                 f"its drivers do not determine how {self._weakest()} move: it may go on in more than one way")
        self._left = self._basis()

    def check_rank(self) -> None:
        """Refuse a singular position, whose velocities are not known."""
        if self._left is None:
            return
        values = np.linalg.svd(self.jacobian(), compute_uv=False)
        if values[-1] <= max(SINGULAR * values[0], WEAK * self._strongest):
            raise TautError(f"scene '{self.model.name}' is in a singular position at t = {self.t:.6g} s: its drivers "
                            f"do not determine how {self._weakest()} move. Leave that time out.")

    def _weakest(self) -> str:
        """Names of what moves most easily against the constraints."""
        return place_names(self.model, self.unknowns, np.linalg.svd(self.jacobian())[2][-1:].T)

    def _stuck(self, t: float) -> TautError:
        fault = formula_at_fault(self.scene, self.model, self.system, self.state, t, t)
        if fault:
            return TautError(f"scene '{self.model.name}' can not be moved beyond t = {self.t:.9g} s: {fault}. "
                             "Mend it there, or leave out the times from there on.")
        names, phi = self.model.row_names, np.abs(self.system.work.phi)
        worst = int(np.nan_to_num(phi, nan=np.inf).argmax())
        return TautError(f"scene '{self.model.name}' can not be moved beyond t = {self.t:.9g} s: constraint "
                         f"'{names[worst]}' would be off by {phi[worst]:.3g} at t = {t:.9g} s. Its drivers ask for "
                         "more than its joints allow, or it stands in a singular position.")


@checked
@on_one_thread
def kinematics(scene: Scene, times: Any, start: str | None = None) -> Run:
    """Where a fully driven mechanism is at the given times, without simulating it, and what its drivers must do.

    times  [s], ascending
    start  as of `simulate`: "repair" assembles a rough pose

    The run has what any run has: `run["pin"].angle`, `run["rod"].at(offset).acceleration`, `run.animate`;
    `multiplier` of a driver is its torque or force (inverse dynamics), `reaction` of a joint what it carries. Energy
    that drivers bring in is what the balance of energies leaves. A mechanism with degrees of freedom left,
    inequalities or conditions on velocities is refused.
    """
    asked = _times(times)
    model = build(scene)
    if model.deformables or model.is_unilateral or (model.rows.at_velocity != 0).any():
        what = ("cloth or solids" if model.deformables else "inequalities" if model.is_unilateral else
                "conditions on velocities")
        raise TautError(f"scene '{model.name}' has {what}, which do not follow from drivers; simulate it.")
    if not model.row_count:
        raise TautError(f"scene '{model.name}' has no constraints that could drive it; simulate it.")
    with collecting_notes():
        began = clock.perf_counter()
        moving = _Mechanism(scene, model, start)
        session = moving.session
        calls = calls_for(LAGRANGE, session.system, session.state, session.context)
        buffers = session.buffers(len(asked))
        for k, t in enumerate(asked):
            moving.reach(float(t))
            moving.check_rank()
            keep(calls, session.system, session.state, float(t), session.context, buffers, k)
        records = Records(**buffers._asdict())
        records.energy[:, 2] = records.energy[:, :2].sum(axis=1) - records.energy[0, :2].sum()
        info = {
            "method": "kinematics", "dt": float((asked[-1] - asked[0]) / max(len(asked) - 1, 1)), "record_every": 1,
            "steps": len(asked) - 1, "steps_done": len(asked) - 1, "wall_time": clock.perf_counter() - began,
            "options": {}, "notes": [text for text in notes_so_far() if not text.startswith(NO_MATTER)],
        }  # fmt: skip
        return Run(scene, model, records, "finished", "", info)


def _times(times: Any) -> Array:
    try:
        found = np.atleast_1d(np.asarray(times, float))
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if found.ndim != 1 or not found.size or not np.isfinite(found).all() or (np.diff(found) <= 0.0).any():
        raise TautError(f"times is {shown(times)}; give ascending times [s], such as numpy.linspace(0, 1, 101).")
    check_limit("steps", found.size, f"an analysis at {found.size:,} times")
    return found
