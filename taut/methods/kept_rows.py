"""Redundant rows beside the motion: kept out of a step, and remembered as long as they depend on the others.

Rows that depend on others along a whole motion (the hinges of Bricard's loop) hold with them, and contradict them
beside it, where stages stand, and where a method that corrects no drift soon stands altogether. Which rows depend on
which is found from small pivots at the start of a step (linalg/singular.py); there they must be small to rounding. A
row that was left out then stays out of the steps that follow as long as

    a_rr - a_rᵀ A'⁻¹ a_r ≤ NEAR a_rr                                                        (1)
    |Σ z_i Φ_i| ≤ AGREE Σ |z_i Φ_i|                                                         (2)
    |Φ_r| ≤ ALIKE max |Φ_i|,    |Φ̇_r| ≤ ALIKE max |Φ̇_i|    at the end of the step           (3)

i being the rows that take part, A' their part of A, and a_r its column of row r: (1) is the square of the sine, in the
metric of W, of the angle between J_r and what they span. It is 0 along the motion and of the size of (Φ / length)²
beside it. With Σ z_i J_i = 0, the sum of (2) is then of the size of Φ² / length; rows that contradict each other share
their errors instead, and all take part. A row that was dependent at one configuration alone (of a linkage that lies
flat) soon fails (1) and at once (3): the step is taken again with all rows.
"""

from __future__ import annotations

from ..compiled import compiled, inline
from ..linalg import FIRST_KEPT, KEPT_OUT, MOST_NULL, NULLITY, OF_NULL, keep_out
from ..model.evaluate import apply_multipliers, clear, jacobian_times, largest, solve_with_factor

ALIKE = 100.0  # how much worse than others a row that was kept out may be
NEAR, AGREE = 1e-2, 0.1
REMEMBERED = 1 + MOST_NULL  # numbers in a method's memory: how many rows, and which


@inline
def recall_kept(lin, memory, at):
    """Keep out the rows that stand in a memory from `at` on."""
    lin.state[KEPT_OUT] = 0
    for k in range(int(memory[at])):
        if memory[at + 1 + k] < lin.diag.shape[0]:
            lin.state[FIRST_KEPT + lin.state[KEPT_OUT]] = int(memory[at + 1 + k])
            lin.state[KEPT_OUT] += 1


@inline
def remember_kept(lin, memory, at):
    """Write down which rows were kept out, and keep none out."""
    memory[at] = lin.state[KEPT_OUT]
    for k in range(lin.state[KEPT_OUT]):
        memory[at + 1 + k] = lin.state[FIRST_KEPT + k]
    lin.state[KEPT_OUT] = 0


@inline
def contradict(z, phi, rounding):
    """Whether (2) fails by more than rounding."""
    part = size = spread = 0.0
    for r in range(phi.shape[0]):
        part += z[r] * phi[r]
        size += abs(z[r] * phi[r])
        spread += abs(z[r])
    return not abs(part) <= AGREE * size + rounding * spread


@compiled
def still_depend(system, rounding):
    """(1) and (2), with Φ, J and the factor of A' at hand. Uses work.v2, work.b and work.mu."""
    work, lin, weight = system.work, system.linear, system.bodies.inverse_mass
    column, z = work.b, work.mu
    for k in range(lin.state[KEPT_OUT]):
        row = lin.state[FIRST_KEPT + k]
        for r in range(z.shape[0]):
            z[r] = 0.0
        z[row] = -1.0
        clear(work.v2)
        apply_multipliers(system, work.J, weight, z, -1.0, work.v2)
        jacobian_times(system, work.J, work.v2, column)
        solve_with_factor(system, column, z)  # without the rows that are kept out, whose part vanishes
        rest = column[row]
        for r in range(z.shape[0]):
            rest -= column[r] * z[r]
        z[row] -= 1.0
        if not rest <= NEAR * column[row] or contradict(z, work.phi, rounding):
            return False
    return True


@compiled
def keep_out_agreeing(system, rounding):
    """Keep out the rows that the last factor has left out, if (2) holds."""
    lin = system.linear
    before = lin.state[KEPT_OUT]
    keep_out(lin)
    if lin.state[KEPT_OUT] > before:
        for k in range(lin.state[NULLITY]):
            if contradict(lin.work[OF_NULL + k], system.work.phi, rounding):
                lin.state[KEPT_OUT] = before


@compiled
def are_rows_alike(system, v, rounding):
    """(3), where Φ, J and Φ_t are known. Φ of the rows that are kept out is set to zero."""
    work, lin = system.work, system.linear
    jacobian_times(system, work.J, v, work.b)
    place = rate = 0.0
    for r in range(work.b.shape[0]):
        work.b[r] += work.phi_t[r]
    for k in range(lin.state[KEPT_OUT]):
        r = lin.state[FIRST_KEPT + k]
        place, rate = max(place, abs(work.phi[r])), max(rate, abs(work.b[r]))
        work.phi[r] = work.b[r] = 0.0
    return place <= ALIKE * (largest(work.phi) + rounding) and rate <= ALIKE * (largest(work.b) + rounding)
