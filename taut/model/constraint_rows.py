"""Φ, J, Φ_t and γ of constraints and inequalities, including the blocks of J of rotations."""

from __future__ import annotations

from numba import types

from ..compiled import inline, on_demand
from .carry_kernel import carry_block
from .dispatch import evaluate_kind
from .instant import batch_offsets, set_places, update_places
from .switched_rows import switch_rows, take_over


@inline
def evaluate_constraints(system, t, x, quat, v, second, J):
    evaluate_at_points(system, t, x, quat, v, second, J)
    carry_all(system, v, second, J)


@inline
def evaluate_at_points(system, t, x, quat, v, second, J):
    """`evaluate_constraints` but for the blocks of J of rotations, to which `carry_all` adds them."""
    second_order = bool(second)  # a variable: kernels are compiled for booleans, not for the constant True
    if system.places.constrained > 0:
        set_places(system.places, x, quat, v, system.places.constrained, second_order or system.nonholonomic == 1)
    batches, work = system.constraints, system.work
    for b in range(batches.code.shape[0]):
        arguments = (
            batches.members[b], batch_offsets(batches, b), batches.idx, batches.p, batches.p_t, batches.p_tt,
            batches.ints, x, v, t, second_order, work.scratch, work.phi, J, work.phi_t, work.gamma,
        )  # fmt: skip
        evaluate_kind(batches.address[b], batches.code[b], arguments)
    switched = system.switches.equalities
    if switched.row.shape[0] > 0:
        switch_rows(switched, system.rows.ptr, t, x, work.phi, work.phi_t, work.gamma, J)


@inline
def carry_all(system, v, second, J):
    """What is left to do after `evaluate_at_points`."""
    if system.rows.spin_block.shape[0] > 0:
        carry_to_rotations(system.rows, system.places, v, second, J, system.work.gamma)
    if system.selective == 1:
        leave_out(system, J)


@on_demand(types.none)
def leave_out(system, J):
    """Set Φ, J, Φ_t and γ of the rows that are not enforced to zero."""
    rows, work = system.rows, system.work
    for r in range(rows.enforced.shape[0]):
        if rows.enforced[r] == 0:
            work.phi[r] = work.phi_t[r] = work.gamma[r] = 0.0
    clear_rows(rows, rows.enforced, 0, J)


@inline
def clear_rows(rows, flags, flag, J):
    """Set the rows of J with that flag to zero, the blocks of rotations included."""
    for r in range(flags.shape[0]):
        if flags[r] == flag:
            for k in range(rows.ptr[r], rows.ptr[r + 1]):
                J[k, 0] = J[k, 1] = J[k, 2] = 0.0
    for k in range(rows.spin_block.shape[0]):
        if flags[rows.spin_row[k]] == flag:
            block = rows.spin_block[k]
            J[block, 0] = J[block, 1] = J[block, 2] = 0.0


@on_demand(types.none)
def carry_to_rotations(rows, places, v, second, J, gamma):
    """What acts on a place R r of a body also turns it: J_ω = r × Rᵀ J, and γ gains J · R (ω × (ω × r)). Places, and
    with them R, have been set."""
    for k in range(rows.spin_block.shape[0]):
        block, source, place = rows.spin_block[k], rows.spin_from[k], rows.spin_place[k]
        body = places.body[place]
        carry_block(J, source, block, places.frame, body, places.arm, place)
        if second:
            a, b, c = row_of(J, source, 0)
            x, y, z = row_of(places.frame, body, 0), row_of(places.frame, body, 3), row_of(places.frame, body, 6)
            j0, j1, j2 = x[0] * a + y[0] * b + z[0] * c, x[1] * a + y[1] * b + z[1] * c, x[2] * a + y[2] * b + z[2] * c
            r0, r1, r2 = row_of(places.arm, place, 0)
            spin = rows.slot[block]
            o0, o1, o2 = v[spin, 0], v[spin, 1], v[spin, 2]
            along = o0 * r0 + o1 * r1 + o2 * r2
            square = o0 * o0 + o1 * o1 + o2 * o2
            gamma[rows.spin_row[k]] += (
                j0 * (o0 * along - r0 * square) + j1 * (o1 * along - r1 * square) + j2 * (o2 * along - r2 * square)
            )


@inline
def row_of(table, i, first):
    return table[i, first], table[i, first + 1], table[i, first + 2]


@inline
def inequalities_at(system, ineq, t, x, quat, v, second):
    """Φ, J, Φ_t and, if asked, γ of all inequalities, as the user wrote them; the time is set."""
    batches, values = ineq.batches, system.signals.values
    for k in range(ineq.to_parameter.shape[0]):
        s, position = ineq.to_parameter[k, 0], ineq.to_parameter[k, 1]
        batches.p[position] = values[s, 0]
        batches.p_t[position] = values[s, 1]
        batches.p_tt[position] = values[s, 2]
    update_places(system, x, quat, v)
    for b in range(batches.code.shape[0]):
        arguments = (
            batches.members[b], batch_offsets(batches, b), batches.idx, batches.p, batches.p_t, batches.p_tt,
            batches.ints, x, v, t, second, system.work.scratch, ineq.phi, ineq.J, ineq.phi_t, ineq.gamma,
        )  # fmt: skip
        evaluate_kind(batches.address[b], batches.code[b], arguments)
    switched = system.switches.inequalities
    if switched.row.shape[0] > 0:
        switch_rows(switched, ineq.rows.ptr, t, x, ineq.phi, ineq.phi_t, ineq.gamma, ineq.J)
    if ineq.rows.spin_block.shape[0] > 0:
        carry_to_rotations(ineq.rows, system.places, v, second, ineq.J, ineq.gamma)
    if switched.row.shape[0] > 0:
        take_over(switched, ineq.rows, t, x, v, ineq.phi, ineq.phi_t, ineq.J)
