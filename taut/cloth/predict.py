"""The unconstrained part of a step: where forces alone would bring everything.

    substeps          small steps of symplectic Euler, the other forces than springs as at the start
    symplectic        v* = v + h W f,  x* = x + h v*
    adams_bashforth   f of 3/2 now and -1/2 of the step before, then as symplectic

Springs that are part of the system are not here (implicit_springs.py): they are implicit.
"""

from __future__ import annotations

from math import ceil

from ..compiled import compiled, inline
from ..forces.spring_law import add_forces
from ..model.evaluate import apply, set_time
from .context import NOTHING, NUMBER, far, open_box
from .problem import ADAMS_BASHFORTH, LONGEST_SUBSTEP, SUBSTEPS
from .rigid_coupling import set_out_turning

SOOTHING = 0.1  # of a step: for how long springs remember their speed in small steps


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
    """Waves too fast for the step h would beat with it; damping for a part of h takes them away: c + time k."""
    for q in range(damping.shape[0]):
        springs.damping[q] = damping[q] + time * springs.k[q]


@inline
def forces_without_springs(system, t, x, quat, v, par):
    """Into work.f."""
    members = system.forces.members
    for k in range(par.batch.shape[0]):
        members[par.batch[k]] = 0
    apply(system, t, x, quat, v)
    for k in range(par.batch.shape[0]):
        members[par.batch[k]] = par.members[k]


@inline
def kick(v, w, dt, f):
    for i in range(w.shape[0]):
        for c in range(3):
            v[i, c] += dt * w[i] * f[i, c]


@inline
def drift(x, v, w, dt):
    for i in range(w.shape[0]):
        if w[i] > 0.0:
            for c in range(3):
                x[i, c] += dt * v[i, c]


@inline
def extrapolate(f, h, memory):
    """Adams-Bashforth 2 with unlike steps: (1 + r/2) f - r/2 f of the step before, r = h / h before. f becomes it."""
    ratio = 0.5 * h / memory[2] if memory[2] > 0.0 else 0.0
    k = 3
    for i in range(f.shape[0]):
        for c in range(3):
            now = f[i, c]
            f[i, c] = (1.0 + ratio) * now - ratio * memory[k]
            memory[k] = now
            k += 1
    memory[2] = h


@far(NOTHING, NUMBER, NUMBER)
@compiled
def wander(box, t, h):
    """x* in net.aim and v* in par.wander[1]. In small steps only springs are evaluated anew."""
    system, state, par = open_box(box)
    x, v, w, f = par.wander[0], par.wander[1], par.w, system.work.f
    copy3(state.x, x)
    copy3(state.v, v)
    steps = 1
    if par.rule == SUBSTEPS:
        steps = max(1, ceil(h * par.frequency / LONGEST_SUBSTEP))
    dt = h / steps
    forces_without_springs(system, t, x, state.quat, v, par)
    for i in range(w.shape[0]):
        for c in range(3):
            v[i, c] += par.lag[i, c]  # step.py (3); forces that depend on v have not felt it
    if steps == 1:
        add_forces(par.free, x, v, f)
        if par.rule == ADAMS_BASHFORTH:
            extrapolate(f, h, par.memory)
        kick(v, w, h, f)
        drift(x, v, w, h)
    else:
        slow = par.wander[2]
        copy3(f, slow)
        damp_springs(par.free, par.damping, min(SOOTHING * h, 2.0 / par.frequency))
        for k in range(steps):
            if k > 0:
                set_time(system, t + k * dt, x, state.quat, v)
            copy3(slow, f)
            add_forces(par.free, x, v, f)
            kick(v, w, dt, f)
            drift(x, v, w, dt)
    copy3(x, par.net.aim)
    set_out_turning((box, h))
