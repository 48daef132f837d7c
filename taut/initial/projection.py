"""From a start that breaks equalities to the nearest one that does not.

    least ½ (q' - q)ᵀ M (q' - q) with Φ(q', 0) = 0:    q' = q ⊞ W J(q')ᵀ μ                  (1)

solved for d = q' ⊟ q by

    (J W Jᵀ) μ = J d - Φ,    d' = W Jᵀ μ                                                    (2)

with Φ and J at q ⊞ d. Where (2) does not converge, as may happen far from Φ = 0, Newton's projection is used, which
finds a place with Φ = 0 but not always the nearest:

    (J W Jᵀ) μ = -Φ,    q' = q ⊞ W Jᵀ μ                                                     (3)

Where both end with axes that should coincide opposed, or do not converge, bodies are turned first (alignment.py).
"""

from __future__ import annotations

from math import atan2, sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import entry
from ..methods.post_stabilization import correct
from ..model import Model
from ..model.arrays import State, System
from ..model.evaluate import (
    advance_positions,
    apply_multipliers,
    begin_step,
    drop_slip,
    evaluate_constraints,
    jacobian_times,
    solve,
)
from ..model.rotation import product
from .alignment import align, misalignment

Array = np.ndarray
ROUNDS = 200
POLISH = 5  # rounds of (3) after (2)
LONGEST_MOVE, LARGEST_TURN = 0.25, 0.25  # in one round, of the scene's size, and rad
CONVERGED = 1e-9  # what may be left of Φ, in units of its scale


class Moved(NamedTuple):
    """What a projection did."""

    left: Array  # (rows,) |Φ| that remains, in units of each row's scale
    far: float  # farthest move of a body [m]; of a scalar coordinate in its own unit
    turned: float  # largest turn of a body [rad]
    is_least: bool  # (1) holds


@entry
def approach(system, state, start_x, start_quat, max_move, nearest):
    """Rounds of (2), or of (3) where `nearest` is False; returns how far the last one moved or turned anything."""
    work, bodies = system.work, system.bodies
    last = 0.0
    for _ in range(ROUNDS):
        begin_step(system, 0.0, state.x, state.quat, state.v)
        evaluate_constraints(system, 0.0, state.x, state.quat, state.v, False, work.J)
        if system.nonholonomic == 1:
            drop_slip(system, work.J)
        for i in range(work.v1.shape[0]):
            for c in range(3):
                work.v1[i, c] = 0.0
                if nearest and i < bodies.slots:
                    work.v1[i, c] = start_x[i, c] - state.x[i, c]
        for i in range(state.quat.shape[0] if nearest else 0):
            p, q = start_quat[i], state.quat[i]
            w, x, y, z = product(q[0], -q[1], -q[2], -q[3], p[0], p[1], p[2], p[3])
            if w < 0.0:
                w, x, y, z = -w, -x, -y, -z
            sine = sqrt(x * x + y * y + z * z)
            factor = 2.0 * atan2(sine, w) / sine if sine > 1e-9 else 2.0
            slot = bodies.spin_slot[i]
            work.v1[slot, 0], work.v1[slot, 1], work.v1[slot, 2] = factor * x, factor * y, factor * z
        jacobian_times(system, work.J, work.v1, work.b)  # -J d
        for r in range(work.b.shape[0]):
            work.b[r] = -work.b[r] - work.phi[r]
        solve(system, work.J, bodies.inverse_mass, work.b, work.mu)
        apply_multipliers(system, work.J, bodies.inverse_mass, work.mu, 1.0, work.v1)  # (2), (3): d' - d
        last, alpha = 0.0, 1.0
        for i in range(bodies.slots):
            for c in range(3):
                last = max(last, abs(work.v1[i, c]))
                if abs(work.v1[i, c]) * alpha > max_move[i]:
                    alpha = max_move[i] / abs(work.v1[i, c])
        advance_positions(system, state.x, state.quat, work.v1, alpha, state.x, state.quat)
        if not last > 1e-14 * max_move[0]:
            break
    return last


@entry
def polish(system, state, t):
    """A few rounds of (3) at a time t [s]; Φ of what they lead to stands in work.phi."""
    for _ in range(POLISH):
        correct(system, state, t, system.bodies.inverse_mass, 0.0, True)
    begin_step(system, t, state.x, state.quat, state.v)
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, system.work.J)


def project(model: Model, system: System, state: State, scale: Array, size: float) -> Moved:
    """Move state.x and state.quat to the nearest place with Φ = 0, or as near to it as was found."""
    before = State(*(array.copy() for array in state))
    max_move = np.full(len(state.x), LONGEST_MOVE * size)
    max_move[model.bodies.spin_slot] = LARGEST_TURN
    tries = []
    for aligned, nearest in ((False, True), (False, False), (True, True), (True, False)):
        state.x[:], state.quat[:] = before.x, before.quat
        if aligned and not align(model, state):
            break
        with np.errstate(all="ignore"):
            last = approach(system, state, before.x, before.quat, max_move, nearest)
            polish(system, state, 0.0)
            left = np.nan_to_num(np.abs(system.work.phi) / scale, nan=np.inf)
        left = np.maximum(left, misalignment(model, state))
        tries.append((left, state.x.copy(), state.quat.copy(), nearest and bool(last <= CONVERGED * size)))
        if left.max() <= CONVERGED:
            break
    left, x, quat, is_least = min(tries, key=lambda one: one[0].max())
    state.x[:], state.quat[:] = x, quat
    return Moved(left, *_how_far(model, before, state), is_least)


def _how_far(model: Model, before: State, after: State) -> tuple[float, float]:
    slots = np.arange(model.bodies.slots)
    slots = slots[~np.isin(slots, model.bodies.spin_slot)]
    far = np.linalg.norm(after.x[slots] - before.x[slots], axis=1).max(initial=0.0)
    p, q = before.quat, after.quat
    chord = np.minimum(np.linalg.norm(p - q, axis=1), np.linalg.norm(p + q, axis=1))
    return float(far), float((4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))).max(initial=0.0))
