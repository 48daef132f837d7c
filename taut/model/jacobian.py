"""The algebra of J: J v, W Jᵀ λ, conditions on velocities, and the system J W Jᵀ λ = b."""

from __future__ import annotations

import numpy as np
from numba import types

from ..compiled import inline, on_demand
from ..linalg import (
    ACCURATE,
    AT_ONCE,
    DEPENDENT,
    DOUBT,
    DOUBTFUL,
    assemble,
    assemble_panels,
    close_kept,
    factor,
    factor_regular,
    look_at_rank,
    sweep_back,
    sweep_forwards,
    sweep_part,
)
from ..linalg import solve as solve_factored
from .arrays import DOUBTFUL_SYSTEMS, FAILED_SOLVES, LINEAR_SOLVES, SINGULAR_SYSTEMS
from .constraint_rows import carry_to_rotations, clear_rows
from .panels import fill_panels
from .switched_rows import close_diagonal


@inline
def jacobian_times(system, J, v, out):
    """out = J v."""
    if system.moving.slot.shape[0] > 0:
        times_moving(system.moving, system.rows.slot, J, v, out)
        return
    rows = system.rows
    ptr, slot = rows.ptr, rows.slot
    for r in range(out.shape[0]):
        total = 0.0
        for k in range(np.uint64(ptr[r]), np.uint64(ptr[r + 1])):
            s = slot[k]
            total += J[k, 0] * v[s, 0] + J[k, 1] * v[s, 1] + J[k, 2] * v[s, 2]
        out[r] = total


@on_demand(types.none)
def times_moving(moving, slot, J, v, out):
    """`jacobian_times`, where bodies turn."""
    for r in range(out.shape[0]):
        total = 0.0
        for k in range(moving.ptr[r], moving.ptr[r + 1]):
            block = moving.block[k]
            s = slot[block]
            total += J[block, 0] * v[s, 0] + J[block, 1] * v[s, 1] + J[block, 2] * v[s, 2]
        out[r] = total


@inline
def apply_multipliers(system, J, weight, lam, scale, v):
    """v += scale · weight Jᵀ λ."""
    if system.moving.slot.shape[0] > 0:
        apply_to_moving(system.moving, J, weight, lam, scale, v)
        return
    rows = system.rows
    ptr, slot = rows.ptr, rows.slot
    for r in range(lam.shape[0]):
        size = scale * lam[r]
        for k in range(np.uint64(ptr[r]), np.uint64(ptr[r + 1])):
            s = slot[k]
            v[s, 0] += size * weight[s, 0] * J[k, 0]
            v[s, 1] += size * weight[s, 1] * J[k, 1]
            v[s, 2] += size * weight[s, 2] * J[k, 2]


@on_demand(types.none)
def apply_to_moving(moving, J, weight, lam, scale, v):
    """`apply_multipliers`, where bodies turn: slot by slot, so that sums stay in registers."""
    for i in range(moving.slot.shape[0]):
        s = moving.slot[i]
        f0 = f1 = f2 = 0.0
        for k in range(moving.slot_ptr[i], moving.slot_ptr[i + 1]):
            block, size = moving.slot_block[k], lam[moving.slot_row[k]]
            f0 += size * J[block, 0]
            f1 += size * J[block, 1]
            f2 += size * J[block, 2]
        v[s, 0] += scale * weight[s, 0] * f0
        v[s, 1] += scale * weight[s, 1] * f1
        v[s, 2] += scale * weight[s, 2] * f2


@on_demand(types.none)
def add_slip(system, J, phi_t, v, scale):
    """Add scale (A v + b) of each condition on velocities to work.phi, which `evaluate_constraints` leaves at zero.

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


@on_demand(types.none)
def drop_slip(system, J):
    """Set the rows of J of conditions on velocities to zero: they do not say where a body may be."""
    clear_rows(system.rows, system.rows.at_velocity, 1, J)


@on_demand(types.none)
def fill_diagonal(system):
    """Rows that are left out get the mean of the other diagonals, so that J W Jᵀ stays regular and their λ is zero."""
    lin, enforced = system.linear, system.rows.enforced
    total = 0.0
    count = 0
    for r in range(enforced.shape[0]):
        if enforced[r] == 1:
            total += lin.val[lin.diag[r]]
            count += 1
    mean = total / count if total > 0.0 else 1.0
    for r in range(enforced.shape[0]):
        if enforced[r] == 0:
            lin.val[lin.diag[r]] = mean


@inline
def form(system, J, weight):
    """J W Jᵀ."""
    assemble(system.linear, J, weight)
    if system.selective == 1:
        fill_diagonal(system)
    close_diagonal(system.switches.equalities, system.linear)
    close_kept(system.linear)


@inline
def form_and_factor(system, J, weight):
    """Form and factor J W Jᵀ."""
    form(system, J, weight)
    count_singular(system, J, weight, factor(system.linear))


@inline
def count_singular(system, J, weight, dependent):
    """Count a system in which as many rows depend on others, if they do so for good."""
    is_uneven = system.bodies.even_weight.shape[0] > 0
    if dependent > 0 and not (is_uneven and factor_uneven(system, J, weight)):
        system.work.counts[SINGULAR_SYSTEMS] += 1
        system.work.counts[DOUBTFUL_SYSTEMS] += system.linear.state[DOUBTFUL]


@on_demand(types.boolean)
def factor_uneven(system, J, weight):
    """Factor J W Jᵀ as it is where only masses of different size make it look singular. Returns whether it did.

    The rank is J's: a light body between heavy ones makes eigenvalues of J W Jᵀ as small as its share of the mass,
    which J W₁ Jᵀ with even masses does not have. Small pivots of a regular system lose no digits that matter.
    """
    form(system, J, system.bodies.even_weight)
    is_regular = factor_regular(system.linear, DOUBT)
    form(system, J, weight)
    if is_regular and factor_regular(system.linear, ACCURATE):
        return True
    factor(system.linear)
    return False


@inline
def is_rank_in_doubt(system):
    """Whether J nearly loses rank where it was last factored."""
    state = system.linear.state
    return state[DEPENDENT] > 0 and state[DOUBTFUL] > 0


@inline
def solve_with_factor(system, b, lam):
    """Solve with the factor at hand."""
    system.work.counts[LINEAR_SOLVES] += 1
    if solve_factored(system.linear, b, lam) != 0:
        system.work.counts[FAILED_SOLVES] += 1


@inline
def solve(system, J, weight, b, lam):
    """J W Jᵀ λ = b."""
    form_and_factor(system, J, weight)
    solve_with_factor(system, b, lam)


@inline
def constrain(system, J, weight, divisor, v, scale, lam, keep):
    """v += scale · weight Jᵀ λ with (J W Jᵀ) λ = -(c + J v) / divisor; work.b holds c.

    keep: whether the factor is to be at hand afterwards.
    """
    if system.linear.groups.complete == 1 and system.selective == 0 and system.switches.equalities.row.shape[0] == 0:
        constrain_groups(system, J, weight, divisor, v, scale, lam, keep)
        return
    set_residual(system, J, divisor, v, system.work.b)
    solve(system, J, weight, system.work.b, lam)
    apply_multipliers(system, J, weight, lam, scale, v)


@inline
def set_residual(system, J, divisor, v, b):
    """b = -(b + J v) / divisor."""
    if system.moving.slot.shape[0] > 0:
        residual_of_moving(system, J, divisor, v, b)
        return
    rows = system.rows
    ptr, slot = rows.ptr, rows.slot
    for r in range(b.shape[0]):
        total = 0.0
        for k in range(np.uint64(ptr[r]), np.uint64(ptr[r + 1])):
            s = slot[k]
            total += J[k, 0] * v[s, 0] + J[k, 1] * v[s, 1] + J[k, 2] * v[s, 2]
        b[r] = -(b[r] + total) / divisor


@on_demand(types.none)
def residual_of_moving(system, J, divisor, v, b):
    """`set_residual`, where bodies turn."""
    moving, slot = system.moving, system.rows.slot
    for r in range(b.shape[0]):
        total = 0.0
        for k in range(moving.ptr[r], moving.ptr[r + 1]):
            block = moving.block[k]
            s = slot[block]
            total += J[block, 0] * v[s, 0] + J[block, 1] * v[s, 1] + J[block, 2] * v[s, 2]
        b[r] = -(b[r] + total) / divisor


@on_demand(types.none)
def constrain_groups(system, J, weight, divisor, v, scale, lam, keep):
    """`constrain`, where rows are eliminated by groups and nothing is done to A on the way (linalg/grouped.py)."""
    lin, work = system.linear, system.work
    dependent = sweep_forwards(lin, J, weight, v, divisor, work.b, DOUBT, keep)
    finish_groups(system, J, weight, divisor, v, scale, lam, dependent, keep)


@inline
def finish_groups(system, J, weight, divisor, v, scale, lam, dependent, keep):
    """λ, and what it does to v, after all groups were swept."""
    lin, work = system.linear, system.work
    if dependent == 0:
        lin.state[DEPENDENT] = 0
        work.counts[LINEAR_SOLVES] += 1
        sweep_back(lin, weight, scale, v, lam)
        return
    system.panels.primed[0] = 0  # the panels are taken from all of J
    set_residual(system, J, divisor, v, work.b)
    if keep:  # the factor is at hand, and so are the panels that it was made of
        assemble_panels(lin.groups, weight, lin.val)
        close_kept(lin)
        count_singular(system, J, weight, look_at_rank(lin, dependent))
        solve_with_factor(system, work.b, lam)
    else:
        solve(system, J, weight, work.b, lam)  # with a look at the rank
    apply_multipliers(system, J, weight, lam, scale, v)


@on_demand(types.none)
def constrain_by_panels(system, J, weight, divisor, v, scale, lam):
    """`constrain` after `evaluate_at_points`, where `takes_panels` holds. J and the factor are of no use afterwards."""
    lin, work = system.linear, system.work
    groups = lin.groups
    count, taken, dependent = groups.width.shape[0], 0, 0
    for begin in range(0, count, AT_ONCE):
        end = min(count, begin + AT_ONCE)
        needed = np.int64(groups.reach[end - 1])
        fill_panels(system, J, taken, needed)
        dependent += sweep_part(lin, weight, v, divisor, work.b, DOUBT, False, begin, end, taken)
        taken = needed
    system.panels.primed[0] = 1
    if dependent > 0:
        carry_to_rotations(system.rows, system.places, v, False, J, work.gamma)
    finish_groups(system, J, weight, divisor, v, scale, lam, dependent, False)
