"""The vocabulary of the methods: everything a step says, in compiled words.

    begin        choose charts; set the time                (start of a step)
    sample       forces that hold a sample may take one     (start of a step)
    set_time     functions of time and driven bodies at t
    constraints  Φ, J, Φ_t and, if asked, γ at (q, v, t)
    forces       a = W f
    apply, kick  f, and v + h W f without a
    drive        the given accelerations of driven bodies into a
    times        J v
    add_slip     A v + b of conditions on velocities, where a method looks for Φ
    drop_slip    J without these conditions
    push         v += s W Jᵀ λ
    move         q ⊞ h v
    solve        J W Jᵀ λ = b
    count_work   of what moves on its own, and of forces without potential

Driven bodies stand in x and v like all others but have W = 0, so Φ̇ = J v + Φ_t and (after `drive`)
Φ̈ = J a + γ hold with their motion included, and no method treats them apart.
"""

from __future__ import annotations

from math import atan2, cos, sin

import numpy as np

from ..compiled import compiled, inline
from ..constraints.base import At
from ..expressions import call_signal
from ..joints.coordinates import nearest
from ..linalg import DEPENDENT, DOUBTFUL, assemble, factor
from ..linalg import solve as solve_factored
from .arrays import DOUBTFUL_SYSTEMS, FAILED_SOLVES, LINEAR_SOLVES, SINGULAR_SYSTEMS
from .dispatch import evaluate_kind, force_kind, rechart_kind, sample_kind
from .rotation import product, to_body, to_world, turn


@inline
def start_of(batches, b):
    at = batches.at
    return At(at[b, 0], at[b, 1], at[b, 2], at[b, 3], at[b, 4])


@inline
def begin(system, t, x, quat, v):
    set_time(system, t, x, quat, v)
    if system.turns.shape[0] > 0:
        count_turns(system, x, quat, v)
    batches = system.constraints
    for b in range(batches.code.shape[0]):
        if batches.has_chart[b]:
            place(system, x, quat, v)
            given = (batches.members[b], start_of(batches, b), batches.idx, batches.ints, x)
            rechart_kind(batches.chart[b], batches.code[b], given)


@compiled
def sample(system, t, x, quat, v):
    """Let forces that hold a sample take a new one where it is time; `begin` has been called."""
    batches = system.forces
    for b in range(batches.code.shape[0]):
        if batches.has_chart[b]:
            place(system, x, quat, v)
            given = (batches.members[b], start_of(batches, b), batches.idx, batches.p, batches.ints, x, v, t)
            sample_kind(batches.chart[b], batches.code[b], given)


@compiled
def count_turns(system, x, quat, v):
    """Keep each joint angle, on the branch nearest to where it was, in its counter: x[counter, 0]."""
    place(system, x, quat, v)
    turns = system.turns
    for k in range(turns.shape[0]):
        u, first, second, counter = turns[k, 0], turns[k, 1], turns[k, 2], turns[k, 3]
        c = x[u, 0] * x[first, 0] + x[u, 1] * x[first, 1] + x[u, 2] * x[first, 2]
        s = x[u, 0] * x[second, 0] + x[u, 1] * x[second, 1] + x[u, 2] * x[second, 2]
        x[counter, 0] = nearest(atan2(s, c), x[counter, 0])


@inline
def set_time(system, t, x, quat, v):
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


@compiled
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
def place(system, x, quat, v):
    """Positions and velocities of places on rigid bodies, x + R r and v + R (ω × r), and of directions, R r."""
    places = system.places
    for k in range(places.point.shape[0]):
        point, base, body = places.point[k], places.base[k], places.body[k]
        spin = places.slot[k] + 1
        r0, r1, r2 = places.arm[k, 0], places.arm[k, 1], places.arm[k, 2]
        o0, o1, o2 = v[spin, 0], v[spin, 1], v[spin, 2]
        arm = to_world(quat, body, r0, r1, r2)
        swing = to_world(quat, body, o1 * r2 - o2 * r1, o2 * r0 - o0 * r2, o0 * r1 - o1 * r0)
        for c in range(3):
            x[point, c] = x[base, c] + arm[c]
            v[point, c] = v[base, c] + swing[c]


@inline
def constraints(system, t, x, quat, v, second, J):
    place(system, x, quat, v)
    batches, work = system.constraints, system.work
    wanted = bool(second)  # a variable: kernels are compiled for booleans, not for the constant True
    for b in range(batches.code.shape[0]):
        given = (
            batches.members[b], start_of(batches, b), batches.idx, batches.p, batches.p_t, batches.p_tt,
            batches.ints, x, v, t, wanted, work.scratch, work.phi, J, work.phi_t, work.gamma,
        )  # fmt: skip
        evaluate_kind(batches.address[b], batches.code[b], given)
    carry_to_rotations(system.rows, system.places, quat, v, second, J, work.gamma)


@inline
def carry_to_rotations(rows, places, quat, v, second, J, gamma):
    """What acts on a place R r of a body also turns it: J_ω = r × Rᵀ J, and γ gains J · R (ω × (ω × r))."""
    for k in range(rows.spin_block.shape[0]):
        k_place, block, source = rows.spin_place[k], rows.spin_block[k], rows.spin_from[k]
        body = places.body[k_place]
        r0, r1, r2 = places.arm[k_place, 0], places.arm[k_place, 1], places.arm[k_place, 2]
        j0, j1, j2 = to_body(quat, body, J[source, 0], J[source, 1], J[source, 2])
        J[block, 0] = r1 * j2 - r2 * j1
        J[block, 1] = r2 * j0 - r0 * j2
        J[block, 2] = r0 * j1 - r1 * j0
        if second:
            spin = rows.slot[block]
            o0, o1, o2 = v[spin, 0], v[spin, 1], v[spin, 2]
            along = o0 * r0 + o1 * r1 + o2 * r2
            square = o0 * o0 + o1 * o1 + o2 * o2
            gamma[rows.spin_row[k]] += (
                j0 * (o0 * along - r0 * square) + j1 * (o1 * along - r1 * square) + j2 * (o2 * along - r2 * square)
            )


@inline
def inequalities_at(system, ineq, t, x, quat, v, second):
    """Φ, J, Φ_t and, if asked, γ of all inequalities, as the user wrote them; the time is set."""
    batches, values = ineq.batches, system.signals.values
    for k in range(ineq.to_parameter.shape[0]):
        s, position = ineq.to_parameter[k, 0], ineq.to_parameter[k, 1]
        batches.p[position] = values[s, 0]
        batches.p_t[position] = values[s, 1]
        batches.p_tt[position] = values[s, 2]
    place(system, x, quat, v)
    for b in range(batches.code.shape[0]):
        given = (
            batches.members[b], start_of(batches, b), batches.idx, batches.p, batches.p_t, batches.p_tt,
            batches.ints, x, v, t, second, system.work.scratch, ineq.phi, ineq.J, ineq.phi_t, ineq.gamma,
        )  # fmt: skip
        evaluate_kind(batches.address[b], batches.code[b], given)
    carry_to_rotations(ineq.rows, system.places, quat, v, second, ineq.J, ineq.gamma)


@inline
def forces(system, t, x, quat, v):
    """Fill work.f with the applied forces and work.a with the accelerations they cause; return V."""
    energy = apply(system, t, x, quat, v)
    accelerations(system)
    return energy


@inline
def accelerations(system):
    """work.a = W f after `apply`."""
    bodies, work = system.bodies, system.work
    for i in range(bodies.slots):
        for c in range(3):
            work.a[i, c] = bodies.w[i, c] * work.f[i, c]


@inline
def kick(system, v, h, out):
    """out = v + h W f after `apply`. Long chains are bound by memory and feel a detour over work.a."""
    w, f = system.bodies.w, system.work.f
    for i in range(v.shape[0]):
        for c in range(3):
            out[i, c] = v[i, c] + h * (w[i, c] * f[i, c])


@inline
def apply(system, t, x, quat, v):
    """Fill work.f with the applied forces and work.power with what they do beside their potential; return V.

    Where gravity is all, work.f holds it from the start.
    """
    bodies, batches, places, work = system.bodies, system.forces, system.places, system.work
    f = work.f
    energy = 0.0
    if batches.code.shape[0] == 0 and bodies.spin_slot.shape[0] == 0:
        return energy
    for i in range(f.shape[0]):
        for c in range(3):
            f[i, c] = bodies.constant[i, c]
    work.power[0] = 0.0
    if batches.code.shape[0] > 0:
        place(system, x, quat, v)
        for b in range(batches.code.shape[0]):
            given = (
                batches.members[b], start_of(batches, b), batches.idx, batches.p, batches.p_t, batches.ints, x, v, t,
                work.scratch, f, work.power,
            )  # fmt: skip
            energy += force_kind(batches.address[b], batches.code[b], given)
        for i in range(bodies.spin_slot.shape[0]):  # so far torques alone, which have no potential
            spin = bodies.spin_slot[i]
            tau = to_body(quat, i, f[spin, 0], f[spin, 1], f[spin, 2])
            work.power[0] += tau[0] * v[spin, 0] + tau[1] * v[spin, 1] + tau[2] * v[spin, 2]
        for k in range(places.point.shape[0]):  # a force on a place turns its body
            point, base = places.point[k], places.base[k]
            spin = places.slot[k] + 1
            r0, r1, r2 = to_world(quat, places.body[k], places.arm[k, 0], places.arm[k, 1], places.arm[k, 2])
            f0, f1, f2 = f[point, 0], f[point, 1], f[point, 2]
            for c in range(3):
                f[base, c] += f[point, c]
            f[spin, 0] += r1 * f2 - r2 * f1
            f[spin, 1] += r2 * f0 - r0 * f2
            f[spin, 2] += r0 * f1 - r1 * f0
    for i in range(bodies.spin_slot.shape[0]):  # torques into body axes, with the gyroscopic term -ω × I ω
        spin = bodies.spin_slot[i]
        tau = to_body(quat, i, f[spin, 0], f[spin, 1], f[spin, 2])
        o0, o1, o2 = v[spin, 0], v[spin, 1], v[spin, 2]
        i0, i1, i2 = bodies.inertia[i, 0], bodies.inertia[i, 1], bodies.inertia[i, 2]
        f[spin, 0] = tau[0] - (i2 - i1) * o1 * o2
        f[spin, 1] = tau[1] - (i0 - i2) * o2 * o0
        f[spin, 2] = tau[2] - (i1 - i0) * o0 * o1
    return energy


@inline
def drive(system):
    """Put the given accelerations of driven bodies into work.a, for methods at acceleration level."""
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


@inline
def times(system, J, v, out):
    """out = J v."""
    rows = system.rows
    ptr, slot = rows.ptr, rows.slot
    for r in range(out.shape[0]):
        total = 0.0
        for k in range(np.uint64(ptr[r]), np.uint64(ptr[r + 1])):
            s = slot[k]
            total += J[k, 0] * v[s, 0] + J[k, 1] * v[s, 1] + J[k, 2] * v[s, 2]
        out[r] = total
    for k in range(rows.spin_block.shape[0]):
        block = rows.spin_block[k]
        s = slot[block]
        out[rows.spin_row[k]] += J[block, 0] * v[s, 0] + J[block, 1] * v[s, 1] + J[block, 2] * v[s, 2]


@compiled
def add_slip(system, J, phi_t, v, scale):
    """Add scale (A v + b) of each condition on velocities to work.phi, which `constraints` leaves at zero there.

    With a time for `scale`, Newton's method finds in it what it looks for in Φ: scale J dv is its change.
    """
    rows, phi = system.rows, system.work.phi
    for r in range(phi.shape[0]):
        if rows.at_velocity[r] == 1:
            phi[r] += scale * phi_t[r]
            for k in range(rows.ptr[r], rows.ptr[r + 1]):
                s = rows.slot[k]
                phi[r] += scale * (J[k, 0] * v[s, 0] + J[k, 1] * v[s, 1] + J[k, 2] * v[s, 2])
    for k in range(rows.spin_block.shape[0]):
        r, block = rows.spin_row[k], rows.spin_block[k]
        if rows.at_velocity[r] == 1:
            s = rows.slot[block]
            phi[r] += scale * (J[block, 0] * v[s, 0] + J[block, 1] * v[s, 1] + J[block, 2] * v[s, 2])


@compiled
def drop_slip(system, J):
    """Set the rows of J of conditions on velocities to zero: they do not say where a body may be."""
    rows = system.rows
    for r in range(rows.at_velocity.shape[0]):
        if rows.at_velocity[r] == 1:
            for k in range(rows.ptr[r], rows.ptr[r + 1]):
                J[k, 0] = J[k, 1] = J[k, 2] = 0.0
    for k in range(rows.spin_block.shape[0]):
        if rows.at_velocity[rows.spin_row[k]] == 1:
            block = rows.spin_block[k]
            J[block, 0] = J[block, 1] = J[block, 2] = 0.0


@compiled
def count_work(system, state, J, v, lam, h):
    """Add to state.ledger what drivers and forces without potential do in a time h.

    v holds the velocities of driven bodies; J, Φ_t and work.f belong to one instant.
    """
    find_drift(system, J, v)
    state.ledger[0] += h * (impulse_power(system, lam) + power_against_forces(system, v))
    state.ledger[1] += h * system.work.power[0]


@compiled
def power_at(system, J, v, lam, out):
    """The same as power [W], for methods with stages: of drivers, and of forces without potential."""
    find_drift(system, J, v)
    out[0] = impulse_power(system, lam) + power_against_forces(system, v)
    out[1] = system.work.power[0]


@compiled
def find_drift(system, J, v):
    """s = J v_d + Φ_t into work.drift: dΦ/dt while free bodies stand still, v_d being v of driven ones."""
    rows, drift, free = system.rows, system.work.drift, system.bodies.free
    for r in range(drift.shape[0]):
        drift[r] = system.work.phi_t[r]
        for k in range(rows.ptr[r], rows.ptr[r + 1]):
            s = rows.slot[k]
            for c in range(3):
                drift[r] += (1.0 - free[s, c]) * J[k, c] * v[s, c]
    for k in range(rows.spin_block.shape[0]):
        block = rows.spin_block[k]
        s = rows.slot[block]
        for c in range(3):
            drift[rows.spin_row[k]] += (1.0 - free[s, c]) * J[block, c] * v[s, c]


@inline
def impulse_power(system, lam):
    """-λ·s after `find_drift`; of impulses the work."""
    power = 0.0
    for r in range(lam.shape[0]):
        power -= lam[r] * system.work.drift[r]
    return power


@inline
def power_against_forces(system, v):
    """What driven bodies do against the forces on them [W]."""
    free, f = system.bodies.free, system.work.f
    power = 0.0
    for i in range(system.bodies.slots):
        for c in range(3):
            power -= (1.0 - free[i, c]) * f[i, c] * v[i, c]
    return power


@inline
def push(system, J, weight, lam, scale, v):
    """v += scale · weight Jᵀ λ."""
    rows = system.rows
    ptr, slot = rows.ptr, rows.slot
    for r in range(lam.shape[0]):
        size = scale * lam[r]
        for k in range(np.uint64(ptr[r]), np.uint64(ptr[r + 1])):
            s = slot[k]
            v[s, 0] += size * weight[s, 0] * J[k, 0]
            v[s, 1] += size * weight[s, 1] * J[k, 1]
            v[s, 2] += size * weight[s, 2] * J[k, 2]
    for k in range(rows.spin_block.shape[0]):
        block = rows.spin_block[k]
        s = slot[block]
        size = scale * lam[rows.spin_row[k]]
        for c in range(3):
            v[s, c] += size * weight[s, c] * J[block, c]


@inline
def move(system, x, quat, v, h, out_x, out_quat):
    """out = q ⊞ h v: positions advance by h v, orientations turn by h ω."""
    bodies = system.bodies
    for i in range(bodies.slots):
        for c in range(3):
            out_x[i, c] = x[i, c] + h * v[i, c]
    for i in range(bodies.spin_slot.shape[0]):
        spin = bodies.spin_slot[i]
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


@inline
def prepare(system, J, weight):
    """Form and factor J W Jᵀ."""
    assemble(system.linear, J, weight)
    if factor(system.linear) > 0:
        system.work.counts[SINGULAR_SYSTEMS] += 1
        system.work.counts[DOUBTFUL_SYSTEMS] += system.linear.state[DOUBTFUL]


@inline
def is_rank_in_doubt(system):
    """Whether J nearly loses rank where it was last factored."""
    state = system.linear.state
    return state[DEPENDENT] > 0 and state[DOUBTFUL] > 0


@inline
def resolve(system, b, lam):
    """Solve with the factor at hand."""
    system.work.counts[LINEAR_SOLVES] += 1
    if solve_factored(system.linear, b, lam) != 0:
        system.work.counts[FAILED_SOLVES] += 1


@inline
def solve(system, J, weight, b, lam):
    """J W Jᵀ λ = b."""
    prepare(system, J, weight)
    resolve(system, b, lam)
