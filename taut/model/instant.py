"""An instant (q, v, t): charts and samples at the start of a step, functions of time, places on bodies."""

from __future__ import annotations

from math import atan2, cos, sin

from numba import types

from ..compiled import inline, on_demand
from ..compiled.vectors import dot3
from ..constraints.base import At
from ..expressions import call_signal
from ..joints.coordinates import nearest
from .dispatch import rechart_kind, sample_kind
from .rotation import product, set_frame, to_body, to_world, turned_by


@inline
def batch_offsets(batches, b):
    """Where the points, parameters, whole numbers, rows and blocks of batch b begin."""
    at = batches.at
    return At(at[b, 0], at[b, 1], at[b, 2], at[b, 3], at[b, 4])


@inline
def begin_step(system, t, x, quat, v):
    set_time(system, t, x, quat, v)
    if system.turns.shape[0] > 0:
        unwrap_angles(system, x, quat, v)
    batches = system.constraints
    for b in range(batches.code.shape[0]):
        if batches.has_chart[b]:
            update_places(system, x, quat, v)
            arguments = (batches.members[b], batch_offsets(batches, b), batches.idx, batches.ints, x)
            rechart_kind(batches.chart[b], batches.code[b], arguments)


@inline
def sample_forces(system, t, x, quat, v):
    """Let forces that hold a sample take a new one where it is time; `begin_step` has been called."""
    if system.forces.code.shape[0] > 0:
        sample_all_forces(system, t, x, quat, v)


@on_demand(types.none)
def sample_all_forces(system, t, x, quat, v):
    """`sample_forces`, where there is more than gravity."""
    batches = system.forces
    for b in range(batches.code.shape[0]):
        if batches.has_chart[b]:
            update_places(system, x, quat, v)
            arguments = (batches.members[b], batch_offsets(batches, b), batches.idx, batches.p, batches.ints, x, v, t)
            sample_kind(batches.chart[b], batches.code[b], arguments)


@on_demand(types.none)
def unwrap_angles(system, x, quat, v):
    """Keep each joint angle, on the branch nearest to where it was, in its counter: x[counter, 0], and its cosine and
    sine next to it. While it is within 45° of what is kept, which tells the branch as well, nothing is to be done."""
    turns, places = system.turns, system.places
    for k in range(turns.shape[0]):
        counter = turns[k, 3]
        u = direction(places, turns[k, 0], x, quat)
        c, s = along(places, turns[k, 1], turns[k, 2], u, x, quat)
        near = c * x[counter, 1] + s * x[counter, 2]
        if not (near > 0.0 and 2.0 * near * near > (c * c + s * s) * (x[counter, 1] ** 2 + x[counter, 2] ** 2)):
            x[counter, 0], x[counter, 1], x[counter, 2] = nearest(atan2(s, c), x[counter, 0]), c, s


@inline
def direction(places, point, x, quat):
    """A direction in the world, fixed there or to a body."""
    if places.point.shape[0] == 0 or point < places.point[0]:
        return x[point, 0], x[point, 1], x[point, 2]
    k = point - places.point[0]
    return to_world(quat, places.body[k], places.arm[k, 0], places.arm[k, 1], places.arm[k, 2])


@inline
def along(places, one, two, u, x, quat):
    """u along two directions that belong together: both in the world, or on one body, into whose axes u is turned."""
    if places.point.shape[0] == 0 or one < places.point[0]:
        return dot3(u, (x[one, 0], x[one, 1], x[one, 2])), dot3(u, (x[two, 0], x[two, 1], x[two, 2]))
    j, k = one - places.point[0], two - places.point[0]
    u0, u1, u2 = to_body(quat, places.body[j], u[0], u[1], u[2])
    a, b = places.arm[j], places.arm[k]
    return u0 * a[0] + u1 * a[1] + u2 * a[2], u0 * b[0] + u1 * b[1] + u2 * b[2]


@inline
def set_time(system, t, x, quat, v):
    if system.signals.address.shape[0] + system.signals.carried.shape[0] > 0:
        set_signals(system, t, x, quat, v)


@on_demand(types.none)
def set_signals(system, t, x, quat, v):
    """Evaluate functions of time, and set the parameters and driven bodies that depend on them."""
    signals = system.signals
    for s in range(signals.address.shape[0]):
        call_signal(signals.address[s], t, signals.values, 3 * s)
    constraints_, forces_, driven = system.constraints, system.forces, system.work.driven
    for k in range(signals.to_constraint.shape[0]):
        s, position = signals.to_constraint[k, 0], signals.to_constraint[k, 1]
        constraints_.p[position] = signals.values[s, 0]
        constraints_.p_t[position] = signals.values[s, 1]
        constraints_.p_tt[position] = signals.values[s, 2]
    for k in range(signals.to_force.shape[0]):
        s, position = signals.to_force[k, 0], signals.to_force[k, 1]
        forces_.p[position] = signals.values[s, 0]
        forces_.p_t[position] = signals.values[s, 1]
    for k in range(signals.driven.shape[0]):
        s, slot, c = signals.driven[k, 0], signals.driven[k, 1], signals.driven[k, 2]
        x[slot, c] = signals.values[s, 0]
        v[slot, c] = signals.values[s, 1]
        driven[slot, c] = signals.values[s, 2]
    for k in range(signals.turned.shape[0]):
        s, body, slot = signals.turned[k, 0], signals.turned[k, 1], signals.turned[k, 2]
        half = 0.5 * signals.values[s, 0]
        axis, rest = signals.turned_axis[k], signals.turned_from[k]
        sine = sin(half)
        turned = product(
            cos(half), sine * axis[0], sine * axis[1], sine * axis[2], rest[0], rest[1], rest[2], rest[3]
        )
        for c in range(4):
            quat[body, c] = turned[c]
        own = to_body(quat, body, axis[0], axis[1], axis[2])
        for c in range(3):
            v[slot, c] = signals.values[s, 1] * own[c]
            driven[slot, c] = signals.values[s, 2] * own[c]
    if signals.carried.shape[0] > 0:
        carry(signals.carried, signals.carried_arm, x, quat, v, driven)


@on_demand(types.none)
def carry(carried, arms, x, quat, v, a):
    """Nodes pinned to driven bodies: x + r, v + ω × r and v̇ + α × r + ω × (ω × r), with r = R arm."""
    for k in range(carried.shape[0]):
        slot, centre, body = carried[k, 0], carried[k, 1], carried[k, 2]
        for c in range(3):
            x[slot, c] = x[centre, c]
            v[slot, c] = v[centre, c]
            a[slot, c] = a[centre, c]
        if body >= 0:
            spin = centre + 1
            r0, r1, r2 = to_world(quat, body, arms[k, 0], arms[k, 1], arms[k, 2])
            o0, o1, o2 = to_world(quat, body, v[spin, 0], v[spin, 1], v[spin, 2])
            g0, g1, g2 = to_world(quat, body, a[spin, 0], a[spin, 1], a[spin, 2])
            s0, s1, s2 = o1 * r2 - o2 * r1, o2 * r0 - o0 * r2, o0 * r1 - o1 * r0
            x[slot, 0] += r0
            x[slot, 1] += r1
            x[slot, 2] += r2
            v[slot, 0] += s0
            v[slot, 1] += s1
            v[slot, 2] += s2
            a[slot, 0] += g1 * r2 - g2 * r1 + o1 * s2 - o2 * s1
            a[slot, 1] += g2 * r0 - g0 * r2 + o2 * s0 - o0 * s2
            a[slot, 2] += g0 * r1 - g1 * r0 + o0 * s1 - o1 * s0


@inline
def update_places(system, x, quat, v):
    """Positions and velocities of places on rigid bodies, x + R r and v + R (ω × r), and of directions, R r."""
    count = system.places.point.shape[0]
    if count > 0:
        set_places(system.places, x, quat, v, count, True)


@on_demand(types.none)
def set_places(places, x, quat, v, count, moving):
    """`update_places` of the first `count`, and of their velocities where they are asked for."""
    frame = places.frame
    for i in range(frame.shape[0]):
        set_frame(quat, i, frame)
    for k in range(count):
        point, base, body = places.point[k], places.base[k], places.body[k]
        r0, r1, r2 = places.arm[k, 0], places.arm[k, 1], places.arm[k, 2]
        a0, a1, a2 = turned_by(frame, body, r0, r1, r2)
        c0, c1, c2 = x[base, 0] + a0, x[base, 1] + a1, x[base, 2] + a2
        x[point, 0], x[point, 1], x[point, 2] = c0, c1, c2
    for k in range(count if moving else 0):
        point, base, body = places.point[k], places.base[k], places.body[k]
        spin = places.slot[k] + 1
        r0, r1, r2 = places.arm[k, 0], places.arm[k, 1], places.arm[k, 2]
        o0, o1, o2 = v[spin, 0], v[spin, 1], v[spin, 2]
        s0, s1, s2 = o1 * r2 - o2 * r1, o2 * r0 - o0 * r2, o0 * r1 - o1 * r0
        b0, b1, b2 = turned_by(frame, body, s0, s1, s2)
        d0, d1, d2 = v[base, 0] + b0, v[base, 1] + b1, v[base, 2] + b2
        v[point, 0], v[point, 1], v[point, 2] = d0, d1, d2
