"""Vectors over all slots, (slots, 3), and the configuration: q ⊞ h v, v + h a, copies and sizes."""

from __future__ import annotations

from numba import types

from ..compiled import compiled, inline, on_demand
from .rotation import turn


@inline
def move_points(bodies, x, v, h, out_x):
    """out = x + h v over the slots of points."""
    for i in range(bodies.may_move):
        for c in range(3):
            out_x[i, c] = x[i, c] + h * v[i, c]
    if out_x is not x:  # in place nothing is to be done for what has no velocity
        for i in range(bodies.may_move, bodies.slots):
            for c in range(3):
                out_x[i, c] = x[i, c] + h * v[i, c]


@inline
def advance_positions(system, x, quat, v, h, out_x, out_quat):
    """out = q ⊞ h v: positions advance by h v, orientations turn by h ω."""
    bodies = system.bodies
    move_points(bodies, x, v, h, out_x)
    if bodies.spin_slot.shape[0] > 0:
        turn_bodies(bodies.spin_slot, quat, v, h, out_quat)


@on_demand(types.none)
def turn_bodies(spin_slot, quat, v, h, out_quat):
    """Orientations of `advance_positions`."""
    for i in range(spin_slot.shape[0]):
        spin = spin_slot[i]
        turn(quat, i, h, v[spin, 0], v[spin, 1], v[spin, 2], out_quat)


@inline
def add_scaled(v, h, a, out):
    """out = v + h a."""
    for i in range(v.shape[0]):
        for c in range(3):
            out[i, c] = v[i, c] + h * a[i, c]


@inline
def mean(v, w, out):
    for i in range(v.shape[0]):
        for c in range(3):
            out[i, c] = 0.5 * (v[i, c] + w[i, c])


@inline
def copy(source, out):
    for i in range(source.shape[0]):
        for c in range(source.shape[1]):
            out[i, c] = source[i, c]


@inline
def copy_vector(source, out):
    for i in range(source.shape[0]):
        out[i] = source[i]


@compiled
def copy_state(source, out):
    """Copy the arrays that a step changes, between a State, the start of a step and the state of a method's own
    step."""
    copy(source.x, out.x)
    copy(source.quat, out.quat)
    copy(source.v, out.v)
    copy_vector(source.memory, out.memory)
    copy_vector(source.ledger, out.ledger)


@inline
def clear(v):
    for i in range(v.shape[0]):
        for c in range(3):
            v[i, c] = 0.0


@inline
def largest(values):
    """The largest absolute value, infinite if any is not finite."""
    worst = 0.0
    for i in range(values.shape[0]):
        size = abs(values[i])
        if not size <= 1e300:
            return 1e300
        if size > worst:
            worst = size
    return worst
