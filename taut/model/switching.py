"""Switching constraints and forces on and off between steps, and splitting steps at switching times.

    on = from <= t < until  and  active(q, v, t)  and  (when(q, v, t) was true at some time)            (1)
    V of a force appears or disappears when it is switched: it counts as work of forces                 (2)
    J W Jᵀ μ = -(J v + Φ_t),   v ← v + W Jᵀ μ,   with the constraints that were on                      (3)

(3) is for methods that enforce positions only: the oscillation of their velocities about the constraint averages out
while the constraint is on, but a released body would keep it.

x[keeper] = (1: on, since when [s], ACTIVE + LATCHED). Of constraints, switched_rows.py says what being off means and
how they are taken over.
"""

from __future__ import annotations

from ..compiled import compiled, inline
from ..expressions import call_force
from ..joints.coordinates import rate, value
from .applied_forces import evaluate_forces
from .arrays import FORCE_WORK
from .constraint_rows import evaluate_constraints
from .instant import set_time, update_places
from .jacobian import apply_multipliers, jacobian_times, solve
from .slot_vectors import copy_state
from .switched_rows import take_over

ON, OFF = 0, 1  # events
ACTIVE, LATCHED = 1.0, 2.0  # parts of x[keeper, 2]: `active` holds, `when` has held


@compiled
def read_joint(switches, j, x, v, place, rate_out):
    """The coordinates of joint j and their rates; of one that is alone the rate stands twice (scene/switches.py)."""
    first, last = switches.joint_first[j], switches.joint_first[j + 1]
    for k in range(first, last):
        kind, points = switches.joint_type[k], switches.joint_points[k]
        place[k - first] = value(kind, x, points, 0) + switches.joint_offset[k]
        rate_out[k - first] = rate(kind, x, v, points, 0)
    if last == first + 1:
        rate_out[1] = rate_out[0]


@inline
def holds(switches, k, which, t, x, v):
    """Whether condition `which` of switch k holds; one that was not given does."""
    address = switches.address[k, which]
    if address == 0:
        return True
    packed = switches.packed
    first = switches.first[k, which]
    for q in range(switches.first[k, which + 1] - first):
        point = switches.idx[first + q]
        if point < 0:
            read_joint(switches, -1 - point, x, v, packed[0, 3 * q : 3 * q + 3], packed[1, 3 * q : 3 * q + 3])
            continue
        for c in range(3):
            packed[0, 3 * q + c] = x[point, c]
            packed[1, 3 * q + c] = v[point, c]
    call_force(address, packed[0], packed[1], t, packed[2])
    return packed[2, 0] == 1.0


@inline
def remembered(switches, k, t, x, v):
    """What x[keeper, 2] of switch k becomes at t."""
    bits = ACTIVE if holds(switches, k, 0, t, x, v) else 0.0
    if x[switches.keeper[k], 2] >= LATCHED or holds(switches, k, 1, t, x, v):
        bits += LATCHED
    return bits


@inline
def should_be_on(switches, k, t, near, known):
    """(1), where times within `near` are the same."""
    return switches.span[k, 0] <= t + near and t + near < switches.span[k, 1] and known == ACTIVE + LATCHED


@compiled
def conditions_change(system, state, t):
    """Whether a condition has another value at t than when switches were last looked at."""
    switches = system.switches
    if switches.joint_type.shape[0] > 0:
        update_places(system, state.x, state.quat, state.v)
    for k in range(switches.keeper.shape[0]):
        if remembered(switches, k, t, state.x, state.v) != state.x[switches.keeper[k], 2]:
            return True
    return False


@compiled
def next_switch(system, t, end, near):
    """The first time of a switch between t and `end`, not within `near` of either, or `end`."""
    span = system.switches.span
    first = end
    for k in range(span.shape[0]):
        for c in range(2):
            if t + near < span[k, c] < min(first, end - near):
                first = span[k, c]
    return first


@compiled
def switch(system, state, t, near):
    """Look at all switches at t and turn those that change; returns whether any did. `set_time` has been called."""
    switches, x = system.switches, state.x
    changes, pushes = False, False
    if switches.joint_type.shape[0] > 0:
        update_places(system, x, state.quat, state.v)
    for k in range(switches.keeper.shape[0]):
        keeper = switches.keeper[k]
        x[keeper, 2] = remembered(switches, k, t, x, state.v)
        if should_be_on(switches, k, t, near, x[keeper, 2]) != (x[keeper, 0] == 1.0):
            changes = True
            pushes = pushes or switches.is_force[k] == 1
    if not changes:
        return False
    if switches.projects == 1:
        project_velocity(system, state, t)  # (3)
    if pushes:
        state.ledger[FORCE_WORK] -= evaluate_forces(system, t, x, state.quat, state.v)  # (2)
    for k in range(switches.keeper.shape[0]):
        keeper = switches.keeper[k]
        on = should_be_on(switches, k, t, near, x[keeper, 2])
        if on != (x[keeper, 0] == 1.0):
            x[keeper, 0] = 1.0 if on else 0.0
            x[keeper, 1] = t
            forget(switches.equalities, keeper, x)
            forget(switches.inequalities, keeper, x)
            log(switches, t, ON if on else OFF, k)
    if pushes:
        state.ledger[FORCE_WORK] += evaluate_forces(system, t, x, state.quat, state.v)
    for k in range(switches.equalities.row.shape[0]):
        if x[switches.equalities.keeper[k], 0] == 0.0:
            state.lam[switches.equalities.row[k]] = 0.0
    if switches.equalities.row.shape[0] > 0:
        evaluate_constraints(system, t, x, state.quat, state.v, False, system.work.J)
        take_over(switches.equalities, system.rows, t, x, state.v, system.work.phi, system.work.phi_t, system.work.J)
    for k in range(switches.inequalities.row.shape[0]):
        if x[switches.inequalities.keeper[k], 0] == 0.0:
            for c in range(3):
                state.contact[switches.inequalities.row[k], c] = 0.0
    if state.memory.shape[0] > 0:
        state.memory[0] = 0.0  # multistep methods and step sizes start again
    return True


@compiled
def project_velocity(system, state, t):
    """(3)."""
    work = system.work
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
    jacobian_times(system, work.J, state.v, work.b)
    for r in range(work.b.shape[0]):
        work.b[r] = -(work.b[r] + work.phi_t[r])
    solve(system, work.J, system.bodies.inverse_mass, work.b, work.mu)
    apply_multipliers(system, work.J, system.bodies.inverse_mass, work.mu, 1.0, state.v)


@inline
def forget(switched, keeper, x):
    """What was taken over at an earlier time."""
    for k in range(switched.row.shape[0]):
        if switched.keeper[k] == keeper:
            offset = switched.offset[k]
            x[offset, 0] = x[offset, 1] = x[offset, 2] = 0.0


@inline
def log(switches, t, event, k):
    n = switches.logged[0]
    if n < switches.log.shape[0]:
        switches.log[n, 0], switches.log[n, 1], switches.log[n, 2] = t, event, k
        switches.logged[0] = n + 1


@inline
def keep_start(state, start):
    """Where a step begins, with the active set."""
    copy_state(state, start)
    copy_contact(state, start)


@inline
def copy_contact(source, out):
    for i in range(source.contact.shape[0]):
        for c in range(4):
            out.contact[i, c] = source.contact[i, c]


@inline
def return_to_start(system, state, start, t):
    """Back to where a step began, at t."""
    copy_state(start, state)
    copy_contact(start, state)
    set_time(system, t, state.x, state.quat, state.v)
