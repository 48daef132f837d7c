"""Unconstrained prediction x*, v*: positions and velocities under forces alone.

    substeps          small steps of symplectic Euler, the other forces than springs as at the start
    symplectic        v* = v + h W f,  x* = x + h v*
    adams_bashforth   f of 3/2 now and -1/2 of the step before, then as symplectic

Springs of the implicit system are left out (implicit_springs.py).
"""

from __future__ import annotations

from math import ceil

from ..compiled import compiled, inline
from ..forces.spring_law import add_forces
from ..model.evaluate import evaluate_forces, set_time
from .codes import ADAMS_BASHFORTH, FORCE_BEFORE, H_BEFORE, SUBSTEPS
from .rigid_coupling import predict_rotations


@inline
def copy3(source, out):
    for i in range(out.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = source[i, 0], source[i, 1], source[i, 2]


@inline
def copy1(source, out):
    for i in range(out.shape[0]):
        out[i] = source[i]


@inline
def copy4(source, out):
    for i in range(out.shape[0]):
        for c in range(4):
            out[i, c] = source[i, c]


@inline
def damp_springs(springs, damping, time):
    """Waves faster than the step h would cause aliasing; stiffness-proportional damping c + time k removes them."""
    for q in range(damping.shape[0]):
        springs.damping[q] = damping[q] + time * springs.k[q]


@inline
def forces_without_springs(system, t, x, quat, v, ctx):
    """All forces but those of springs, into work.f."""
    members = system.forces.members
    for k in range(ctx.problem.spring_batch.shape[0]):
        members[ctx.problem.spring_batch[k]] = 0
    evaluate_forces(system, t, x, quat, v)
    for k in range(ctx.problem.spring_batch.shape[0]):
        members[ctx.problem.spring_batch[k]] = ctx.problem.spring_members[k]


@inline
def kick_nodes(v, w, dt, f):
    """v += dt W f"""
    for i in range(w.shape[0]):
        for c in range(3):
            v[i, c] += dt * w[i] * f[i, c]


@inline
def drift_nodes(x, v, w, dt):
    """x += dt v of what moves freely"""
    for i in range(w.shape[0]):
        if w[i] > 0.0:
            for c in range(3):
                x[i, c] += dt * v[i, c]


@inline
def extrapolate_forces(f, h, history):
    """Adams-Bashforth 2 with unlike steps: (1 + r/2) f - r/2 f of the step before, r = h / h before. f becomes it."""
    ratio = 0.5 * h / history[H_BEFORE] if history[H_BEFORE] > 0.0 else 0.0
    k = FORCE_BEFORE
    for i in range(f.shape[0]):
        for c in range(3):
            now = f[i, c]
            f[i, c] = (1.0 + ratio) * now - ratio * history[k]
            history[k] = now
            k += 1
    history[H_BEFORE] = h


@compiled
def predict(system, state, ctx, t, h):
    """x* in ctx.work.x_pred and v* in ctx.work.v_pred. In small steps only springs are evaluated anew."""
    x, v, w, f = ctx.work.x_trial, ctx.work.v_pred, ctx.problem.w, system.work.f
    copy3(state.x, x)
    copy3(state.v, v)
    steps = 1
    if ctx.problem.prediction == SUBSTEPS:
        steps = max(1, ceil(h * ctx.problem.frequency / ctx.settings.projection.prediction_phase))
    dt = h / steps
    forces_without_springs(system, t, x, state.quat, v, ctx)
    for i in range(w.shape[0]):
        for c in range(3):
            v[i, c] += ctx.memory.velocity_offset[i, c]  # step.py (3); forces that depend on v have not felt it
    if steps == 1:
        add_forces(ctx.work.explicit_springs, x, v, f)
        if ctx.problem.prediction == ADAMS_BASHFORTH:
            extrapolate_forces(f, h, ctx.memory.history)
        kick_nodes(v, w, h, f)
        drift_nodes(x, v, w, h)
    else:
        slow = ctx.work.slow_force
        copy3(f, slow)
        memory = min(ctx.settings.projection.prediction_damping * h, 2.0 / ctx.problem.frequency)
        damp_springs(ctx.work.explicit_springs, ctx.problem.damping, memory)
        for k in range(steps):
            if k > 0:
                set_time(system, t + k * dt, x, state.quat, v)
            copy3(slow, f)
            add_forces(ctx.work.explicit_springs, x, v, f)
            kick_nodes(v, w, dt, f)
            drift_nodes(x, v, w, dt)
    copy3(x, ctx.work.x_pred)
    predict_rotations(system, state, ctx, h)
