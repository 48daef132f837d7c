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

The words stand in instant.py, constraint_rows.py, applied_forces.py, jacobian.py, driver_work.py and
slot_vectors.py; a method imports them from here.
"""

from __future__ import annotations

from .applied_forces import accelerations, apply, drive, forces, kick
from .constraint_rows import carry_to_rotations, constraints, inequalities_at
from .driver_work import count_work, find_drift, impulse_power, power_against_forces, power_at
from .instant import begin, carry, count_turns, place, sample, set_time, start_of
from .jacobian import add_slip, drop_slip, fill_diagonal, is_rank_in_doubt, prepare, push, resolve, solve, times
from .slot_vectors import add_scaled, clear, copy, largest, mean, move

__all__ = [
    "accelerations",
    "add_scaled",
    "add_slip",
    "apply",
    "begin",
    "carry",
    "carry_to_rotations",
    "clear",
    "constraints",
    "copy",
    "count_turns",
    "count_work",
    "drive",
    "drop_slip",
    "fill_diagonal",
    "find_drift",
    "forces",
    "impulse_power",
    "inequalities_at",
    "is_rank_in_doubt",
    "kick",
    "largest",
    "mean",
    "move",
    "place",
    "power_against_forces",
    "power_at",
    "prepare",
    "push",
    "resolve",
    "sample",
    "set_time",
    "solve",
    "start_of",
    "times",
]
