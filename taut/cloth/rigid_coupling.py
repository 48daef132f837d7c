"""Free rigid bodies beside deformables: their rotation, and the effect of a force at a point fixed to them.

A rigid body has two unknowns among the balls: its centre, and the rotation vector θ, in body axes, from its orientation
without constraints:

    R* I ω* = R (I ω + h τ),    R* = R exp(h (ω + ω*)/2)                                         (1)
    R' = R* exp(θ),    ω' = ω* + θ/h                                                             (2)
    B δθ = R̄ (δθ × r),    torque of a force F at r, in the body's axes, Bᵀ F = r × R̄ᵀ F          (3)
    G = (f·r)/2 1 - (f rᵀ + r fᵀ)/4,    f = R̄ᵀ F                                                 (4)

So I θ/h² = Σ Bᵀ F stands beside M (x' - x*)/h² of all else. (1), instead of -ω × I ω at the start of the step, lets
tumbling bodies keep their angular momentum and hardly gain energy. R̄ is halfway between R and R': the work of F on the
body is then F times the chord from R r to R' r, as for nodes. With R' itself, a row of hard edges between two pins that
is stretched by 1e-6 would add energy to a rotating body. G is the geometric stiffness of F, as T/l is for taut edges.
Where it is indefinite it is shifted until it is positive.
"""

from __future__ import annotations

from math import acos, cos, pi, sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure
from ..model.model import Model
from ..model.rotation import to_body, to_world, turn

NONE = -1


@structure
class Rotations(NamedTuple):
    """Rotations of rigid bodies that move freely."""

    slot: np.ndarray  # (k,)
    unknown: np.ndarray  # (k,)
    body: np.ndarray  # (k,) orientation
    quat_start: np.ndarray  # (rigid, 4) R,
    quat_pred: np.ndarray  # (rigid, 4) R*,
    middle: np.ndarray  # (rigid, 4) and R̄
    geometric: np.ndarray  # (k, 6) Σ G: xx, xy, xz, yy, yz, zz
    index_of: np.ndarray  # (unknowns,) which of these an unknown is, -1: none


def rotations_of(model: Model, unknown: np.ndarray, count: int) -> Rotations:
    free = [(info.slot + 1, info.quat) for info in model.body_info if info.kind == "rigid" and info.motion == "free"]
    slot, body = np.array(free, np.int64).reshape(-1, 2).T
    of = np.full(count, NONE)
    of[unknown[slot]] = np.arange(len(slot))
    quat_start, quat_pred, middle = np.zeros((3, *model.quat.shape))
    orientations = quat_start, quat_pred, middle
    return Rotations(slot.copy(), unknown[slot], body.copy(), *orientations, np.zeros((len(slot), 6)), of)


@compiled
def predict_rotations(system, state, ctx, h):
    """ω* in ctx.work.v_pred and R* of (1), with the torques in work.f, which have -ω × I ω in them."""
    rotations, v, f, quat = ctx.rotations, ctx.work.v_pred, system.work.f, state.quat
    for k in range(rotations.slot.shape[0]):
        s, i = rotations.slot[k], rotations.body[k]
        o0, o1, o2 = state.v[s, 0], state.v[s, 1], state.v[s, 2]
        i0, i1, i2 = system.bodies.inertia[i, 0], system.bodies.inertia[i, 1], system.bodies.inertia[i, 2]
        l0, l1, l2 = to_world(
            quat, i,
            i0 * o0 + h * (f[s, 0] + (i2 - i1) * o1 * o2),
            i1 * o1 + h * (f[s, 1] + (i0 - i2) * o2 * o0),
            i2 * o2 + h * (f[s, 2] + (i1 - i0) * o0 * o1),
        )  # fmt: skip
        v[s, 0], v[s, 1], v[s, 2] = o0, o1, o2
        # Each iteration of (1) is nearer by h times how far axes differ and the body turns.
        for _ in range(ctx.settings.projection.rotation_iterations):
            turn(quat, i, 0.5 * h, o0 + v[s, 0], o1 + v[s, 1], o2 + v[s, 2], rotations.quat_pred)
            momentum = to_body(rotations.quat_pred, i, l0, l1, l2)
            v[s, 0], v[s, 1], v[s, 2] = momentum[0] / i0, momentum[1] / i1, momentum[2] / i2
        for c in range(4):
            rotations.quat_start[i, c] = quat[i, c]


@inline
def clear_rotations(rotations, x):
    """θ = 0"""
    for k in range(rotations.slot.shape[0]):
        for c in range(3):
            x[rotations.slot[k], c] = 0.0


@inline
def set_orientations(rotations, x, quat):
    """R' of (2), and R̄"""
    for k in range(rotations.slot.shape[0]):
        s, i = rotations.slot[k], rotations.body[k]
        turn(rotations.quat_pred, i, 1.0, x[s, 0], x[s, 1], x[s, 2], quat)
        same = 0.0
        for c in range(4):
            same += rotations.quat_start[i, c] * quat[i, c]
        size = sqrt(2.0 + 2.0 * abs(same))
        for c in range(4):
            near = rotations.quat_start[i, c] if same >= 0.0 else -rotations.quat_start[i, c]
            rotations.middle[i, c] = (quat[i, c] + near) / size


@compiled
def finish_rotations(state, ctx, h):
    """R' and ω' of (2)."""
    rotations, v = ctx.rotations, ctx.work.v_pred
    set_orientations(rotations, state.x, state.quat)
    for k in range(rotations.slot.shape[0]):
        s = rotations.slot[k]
        for c in range(3):
            state.v[s, c] = v[s, c] + state.x[s, c] / h
            ctx.memory.velocity_offset[s, c] = 0.0
    clear_rotations(rotations, state.x)


@inline
def set_lever(lever, k, quat, body, arm, p, weight):
    """ω B of (3)"""
    r0, r1, r2 = weight * arm[p, 0], weight * arm[p, 1], weight * arm[p, 2]
    lever[k, 0, 0], lever[k, 1, 0], lever[k, 2, 0] = to_world(quat, body, 0.0, -r2, r1)
    lever[k, 0, 1], lever[k, 1, 1], lever[k, 2, 1] = to_world(quat, body, r2, 0.0, -r0)
    lever[k, 0, 2], lever[k, 1, 2], lever[k, 2, 2] = to_world(quat, body, -r1, r0, 0.0)


@inline
def torque_component(lever, k, f0, f1, f2, c):
    """Bᵀ F, of which the component c"""
    return lever[k, 0, c] * f0 + lever[k, 1, c] * f1 + lever[k, 2, c] * f2


@inline
def entry(c, d):
    """Where a symmetric matrix of six numbers, xx, xy, xz, yy, yz, zz, has its entry of row c and column d."""
    low, high = min(c, d), max(c, d)
    return low + high + (1 if low > 0 else 0)


@inline
def add_rotated_block(block, to, lever, k, xx, xy, xz, yy, yz, zz):
    """Bᵀ D B"""
    for c in range(3):
        a0, a1, a2 = lever[k, 0, c], lever[k, 1, c], lever[k, 2, c]
        b0, b1, b2 = xx * a0 + xy * a1 + xz * a2, xy * a0 + yy * a1 + yz * a2, xz * a0 + yz * a1 + zz * a2
        for d in range(3):
            block[to + c, to + d] += lever[k, 0, d] * b0 + lever[k, 1, d] * b1 + lever[k, 2, d] * b2


@inline
def add_geometric_stiffness(pulls, k, f, r):
    """(4)"""
    out = f[0] * r[0] + f[1] * r[1] + f[2] * r[2]
    for c in range(3):
        pulls[k, entry(c, c)] += 0.5 * out
        for d in range(c, 3):
            pulls[k, entry(c, d)] -= 0.25 * (f[c] * r[d] + f[d] * r[c])


@inline
def least_eigenvalue(m):
    """The least eigenvalue of a symmetric matrix of six numbers."""
    mean = (m[0] + m[3] + m[5]) / 3.0
    xx, yy, zz = m[0] - mean, m[3] - mean, m[5] - mean
    spread = sqrt((xx * xx + yy * yy + zz * zz + 2.0 * (m[1] * m[1] + m[2] * m[2] + m[4] * m[4])) / 6.0)
    if spread == 0.0:
        return mean
    det = xx * (yy * zz - m[4] * m[4]) - m[1] * (m[1] * zz - m[4] * m[2]) + m[2] * (m[1] * m[4] - yy * m[2])
    angle = acos(min(max(0.5 * det / spread**3, -1.0), 1.0)) / 3.0
    return mean + 2.0 * spread * cos(angle + 2.0 * pi / 3.0)
