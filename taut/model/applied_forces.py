"""Applied forces f, their potential V, and the accelerations a = W f."""

from __future__ import annotations

from numba import types

from ..compiled import inline, on_demand
from .dispatch import force_kind
from .instant import batch_offsets, update_places
from .rotation import to_body, to_world
from .switched_rows import is_on


@inline
def free_accelerations(system, t, x, quat, v):
    """Fill work.f with the applied forces and work.a with the accelerations they cause; return V."""
    energy = evaluate_forces(system, t, x, quat, v)
    accelerations_of_forces(system)
    return energy


@inline
def accelerations_of_forces(system):
    """work.a = W f after `evaluate_forces`."""
    bodies, work = system.bodies, system.work
    for i in range(bodies.slots):
        for c in range(3):
            work.a[i, c] = bodies.inverse_mass[i, c] * work.f[i, c]


@inline
def kick(system, v, h, out):
    """out = v + h W f after `evaluate_forces`. Long chains are bound by memory and feel a detour over work.a."""
    w, f = system.bodies.inverse_mass, system.work.f
    for i in range(system.bodies.may_move):
        for c in range(3):
            out[i, c] = v[i, c] + h * (w[i, c] * f[i, c])
    if out is not v:  # in place nothing is to be done for what never moves
        for i in range(system.bodies.may_move, system.bodies.slots):
            for c in range(3):
                out[i, c] = v[i, c]


@inline
def evaluate_forces(system, t, x, quat, v):
    """Fill work.f with the applied forces and work.power with the power of their non-conservative part; return V.

    If gravity is the only force, work.f holds it from the start.
    """
    if system.forces.code.shape[0] == 0 and system.bodies.spin_slot.shape[0] == 0:
        return 0.0
    return evaluate_all_forces(system, t, x, quat, v)


@on_demand(types.float64)
def evaluate_all_forces(system, t, x, quat, v):
    """`evaluate_forces`, where there is more than gravity."""
    bodies, batches, places, work = system.bodies, system.forces, system.places, system.work
    f = work.f
    energy = 0.0
    for i in range(f.shape[0] if batches.code.shape[0] > 0 else bodies.may_move):
        for c in range(3):
            f[i, c] = bodies.constant[i, c]
    work.power[0] = 0.0
    if batches.code.shape[0] > 0:
        update_places(system, x, quat, v)
        for b in range(batches.code.shape[0]):
            if not is_on(system.switches, b, x):
                continue
            arguments = (
                batches.members[b], batch_offsets(batches, b), batches.idx, batches.p, batches.p_t, batches.ints, x, v,
                t, work.scratch, f, work.power,
            )  # fmt: skip
            energy += force_kind(batches.address[b], batches.code[b], arguments)
        for i in range(bodies.spin_slot.shape[0]):  # so far torques alone, which have no potential
            spin = bodies.spin_slot[i]
            tau = to_body(quat, i, f[spin, 0], f[spin, 1], f[spin, 2])
            work.power[0] += tau[0] * v[spin, 0] + tau[1] * v[spin, 1] + tau[2] * v[spin, 2]
        for k in range(places.point.shape[0]):  # a force on a place turns its body
            point, base = places.point[k], places.base[k]
            f0, f1, f2 = f[point, 0], f[point, 1], f[point, 2]
            if f0 == 0.0 and f1 == 0.0 and f2 == 0.0:  # most places are those of joints, where no force acts
                continue
            spin = places.slot[k] + 1
            r0, r1, r2 = to_world(quat, places.body[k], places.arm[k, 0], places.arm[k, 1], places.arm[k, 2])
            for c in range(3):
                f[base, c] += f[point, c]
            f[spin, 0] += r1 * f2 - r2 * f1
            f[spin, 1] += r2 * f0 - r0 * f2
            f[spin, 2] += r0 * f1 - r1 * f0
    for i in range(bodies.spin_slot.shape[0]):  # torques into body axes, with the gyroscopic term -ω × I ω
        spin = bodies.spin_slot[i]
        tau = (0.0, 0.0, 0.0)  # gravity turns no body about its centre of mass
        if f[spin, 0] != 0.0 or f[spin, 1] != 0.0 or f[spin, 2] != 0.0:
            tau = to_body(quat, i, f[spin, 0], f[spin, 1], f[spin, 2])
        o0, o1, o2 = v[spin, 0], v[spin, 1], v[spin, 2]
        i0, i1, i2 = bodies.inertia[i, 0], bodies.inertia[i, 1], bodies.inertia[i, 2]
        f[spin, 0] = tau[0] - (i2 - i1) * o1 * o2
        f[spin, 1] = tau[1] - (i0 - i2) * o2 * o0
        f[spin, 2] = tau[2] - (i1 - i0) * o0 * o1
    return energy


@inline
def set_driven_accelerations(system):
    """Put the given accelerations of driven bodies into work.a, for methods at acceleration level."""
    if system.signals.address.shape[0] + system.signals.carried.shape[0] > 0:
        set_all_driven_accelerations(system)


@on_demand(types.none)
def set_all_driven_accelerations(system):
    """`set_driven_accelerations`, where there are such bodies."""
    signals, work = system.signals, system.work
    for k in range(signals.driven.shape[0]):
        slot, c = signals.driven[k, 1], signals.driven[k, 2]
        work.a[slot, c] = work.driven[slot, c]
    for k in range(signals.turned.shape[0]):
        slot = signals.turned[k, 2]
        for c in range(3):
            work.a[slot, c] = work.driven[slot, c]
    for k in range(signals.carried.shape[0]):
        slot = signals.carried[k, 0]
        for c in range(3):
            work.a[slot, c] = work.driven[slot, c]
