"""The functions that steps of methods are written with: each evaluates one term of the equations of motion.

    begin_step             functions of time, angles of joints, charts        (start of a step)
    sample_forces          forces that hold a sample may take one             (start of a step)
    set_time               functions of time and driven bodies at t
    update_places          x and v of places on rigid bodies
    evaluate_constraints   Φ, J, Φ_t and, if asked, γ at (q, v, t)
    evaluate_forces        f, and V
    kick                   v + h W f after that, without a
    free_accelerations     f, V and a = W f
    set_driven_accelerations   the given accelerations of driven bodies into a
    jacobian_times         J v
    apply_multipliers      v += s W Jᵀ λ
    add_slip               A v + b of conditions on velocities, where a method looks for Φ
    drop_slip              J without these conditions
    advance_positions      q ⊞ h v
    form_and_factor        A = J W Jᵀ and its factor
    solve_with_factor      A λ = b with the factor at hand
    solve                  both
    constrain              J v + c, the system, λ and its effect on v, in one
    accumulate_work             the work of drivers and of forces without potential

Driven bodies stand in x and v like all others but have W = 0, so Φ̇ = J v + Φ_t and (after `set_driven_accelerations`)
Φ̈ = J a + γ hold with their motion included, and no method treats them apart.

The functions stand in instant.py, constraint_rows.py, applied_forces.py, jacobian.py, driver_work.py and
slot_vectors.py; import them from there or, all at once, from here.
"""

from __future__ import annotations

from .applied_forces import accelerations_of_forces, evaluate_forces, free_accelerations, kick, set_driven_accelerations
from .constraint_rows import carry_to_rotations, evaluate_constraints, inequalities_at
from .driver_work import accumulate_work, find_drift, impulse_power, power_against_forces, power_at
from .instant import batch_offsets, begin_step, carry, sample_forces, set_time, unwrap_angles, update_places
from .jacobian import (
    add_slip,
    apply_multipliers,
    constrain,
    drop_slip,
    fill_diagonal,
    form_and_factor,
    is_rank_in_doubt,
    jacobian_times,
    solve,
    solve_with_factor,
)
from .slot_vectors import add_scaled, advance_positions, clear, copy, copy_state, copy_vector, largest, mean

__all__ = [
    "accelerations_of_forces",
    "add_scaled",
    "add_slip",
    "advance_positions",
    "apply_multipliers",
    "begin_step",
    "carry",
    "carry_to_rotations",
    "clear",
    "constrain",
    "copy",
    "copy_state",
    "copy_vector",
    "unwrap_angles",
    "accumulate_work",
    "drop_slip",
    "evaluate_constraints",
    "evaluate_forces",
    "fill_diagonal",
    "find_drift",
    "form_and_factor",
    "free_accelerations",
    "impulse_power",
    "inequalities_at",
    "is_rank_in_doubt",
    "jacobian_times",
    "kick",
    "largest",
    "mean",
    "power_against_forces",
    "power_at",
    "sample_forces",
    "set_driven_accelerations",
    "set_time",
    "solve",
    "solve_with_factor",
    "batch_offsets",
    "update_places",
]
