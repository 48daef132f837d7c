"""Forces that jump between two steps of generalized-α: samples of controllers, and what `Simulation.apply` applies.

a and v̇ belong to the forces before the jump, and with them the next step would be off by h times the jump. With
f⁺ - f⁻, at the same positions and velocities,

    [M - h ∂f/∂v - h² ∂f/∂q  -Jᵀ] [Δ ]   [f⁺ - f⁻]
    [J                        E ] [Δλ] = [0      ]                                     (1)
    a ← a + Δ,   v̇ ← v̇ + Δ,   λ ← λ + Δλ                                              (2)

Δ is the jump of accelerations, up to h² of it; the matrix, of tangent.py, keeps what the step does not resolve at rest.
Where something is switched, constraints may come and go, and the motion begins anew (model/switching.py).
"""

from __future__ import annotations

import numpy as np

from ..compiled import compiled
from ..model.arrays import Array
from ..model.evaluate import copy, evaluate_constraints, evaluate_forces, form_and_factor, power_at, set_time
from ..model.model import Model
from .alpha_newton import RATE, WAY, A
from .tangent import factor_tangent, solve_tangent


def sampled(model: Model) -> Array:
    """Points that keep a sample."""
    return np.array(sorted(model.samples.values()), np.int64)


def kept(model: Model) -> int:
    """How many numbers `remember` keeps."""
    return len(model.samples) + model.bodies.constant.size


@compiled
def remember(system, state, sampled, first):
    """Keep what may jump in state.memory, from this place on."""
    constant, k = system.bodies.constant, first
    for i in range(sampled.shape[0]):
        state.memory[k] = state.x[sampled[i], 0]
        k += 1
    for i in range(constant.shape[0]):
        for c in range(3):
            state.memory[k] = constant[i, c]
            k += 1


@compiled
def differs(system, state, sampled, first):
    """Whether a sample or an applied force has changed since `remember`."""
    constant, k = system.bodies.constant, first
    for i in range(sampled.shape[0]):
        if state.x[sampled[i], 0] != state.memory[k]:
            return True
        k += 1
    for i in range(constant.shape[0]):
        for c in range(3):
            if constant[i, c] != state.memory[k]:
                return True
            k += 1
    return False


@compiled
def exchange(system, state, sampled, first):
    """Exchange samples and applied forces with those that are remembered."""
    constant, k = system.bodies.constant, first
    for i in range(sampled.shape[0]):
        held = state.x[sampled[i], 0]
        state.x[sampled[i], 0], state.memory[k] = state.memory[k], held
        k += 1
    for i in range(constant.shape[0]):
        for c in range(3):
            held = constant[i, c]
            constant[i, c], state.memory[k] = state.memory[k], held
            k += 1


@compiled
def forces_now(system, state, t, out):
    evaluate_forces(system, t, state.x, state.quat, state.v)
    is_constant = system.forces.code.shape[0] == 0 and system.bodies.spin_slot.shape[0] == 0
    copy(system.bodies.constant if is_constant else system.work.f, out)


@compiled
def jump(system, state, t, h, alpha, first):
    """(1) and (2), of samples and applied forces that differ from those remembered, and the power after it."""
    work, tangent = system.work, alpha.tangent
    set_time(system, t, state.x, state.quat, state.v)
    exchange(system, state, alpha.sampled, first)
    forces_now(system, state, t, work.stage_v[WAY])
    exchange(system, state, alpha.sampled, first)
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
    form_and_factor(system, work.J, system.bodies.inverse_mass)
    factor_tangent(system, tangent, t, state.x, state.quat, state.v, 1.0, h, h)
    forces_now(system, state, t, work.a)
    if system.accumulates_work == 1:
        power_at(system, work.J, state.v, state.lam, work.stage_power[0])
        state.memory[1], state.memory[2] = work.stage_power[0, 0], work.stage_power[0, 1]
    for i in range(work.a.shape[0]):
        for c in range(3):
            work.a[i, c] -= work.stage_v[WAY][i, c]
    for r in range(work.b.shape[0]):
        work.b[r] = 0.0
    solve_tangent(system, tangent, work.a, work.b, h, work.stage_v[WAY], work.mu)  # (1)
    for i in range(work.a.shape[0]):
        for c in range(3):
            change = work.stage_v[WAY][i, c] / h
            work.stage_a[A][i, c] += change  # (2)
            work.stage_a[RATE][i, c] += change
    for r in range(state.lam.shape[0]):
        state.lam[r] += work.mu[r]
