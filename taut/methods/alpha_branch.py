"""A step of generalized-α for which Newton's method fails, as where J nearly loses rank: on the branch that it came on.

With s the smallest singular value of J, the multiplier along it is as large as 1/s: kept from one guess to the next, it
would be another force as soon as J is another. And an error ε of Φ is one of ε/s in places, and of ε/s² in velocities.
So here each round of Newton's method for (1)-(5) of alpha_newton.py

    puts q' where Φ = 0 to its rounding error:  M δ = Jᵀ μ,   J δ + E μ = -Φ         (1)
    keeps the force F of constraints:  M δ = Jᵀ λ - F,   J δ + E λ = 0               (2)
    finds dv and dλ with the matrix of tangent.py, and then  F = Jᵀ (λ + dλ)         (3)

Nothing is left of s but its direction, and F, which is finite. E, of the diagonal of J W Jᵀ, decides the rank: where
s² is above it the velocity along s is held, and where it is below nothing is; the next step, which has passed, takes
back what h² of motion has made of that. With an E below 1e-11 rounding would move velocities by more than SETTLED. A
body without much mass, which other bodies lead by constraints that turn with it (a coordinate along a curve), finds its
place by (1) as well, where Newton's method swings about it.
"""

from __future__ import annotations

from ..compiled import compiled
from ..linalg.lu import factor_lu
from ..model.evaluate import apply_multipliers, clear, evaluate_constraints, largest, set_time
from .alpha_newton import ETA, FORCE, STALLED, WAY, change_by, factor_newton, first_guess, left_over, place_new
from .base import NOT_CONVERGED, OK, TOLERANCE
from .tangent import DEPENDENT_SHARE, fill_inertia_and_rows, solve_tangent

MOST_ROUNDS = 40
MOST_POLISHING = 8
ENOUGH = 1e-10  # a change of v' of this size, of v', ends the rounds,
SETTLED = 1e-4  # and one that no longer falls does so from here on: what rounding leaves of a velocity along s


@compiled
def place_on_constraints(system, state, t, h, weights, tangent):
    """(1); the matrix of (1) and (2) at q' is at hand."""
    work, rows = system.work, system.rows
    eta, move = work.stage_v[ETA], work.stage_v[WAY]
    last = 1e300
    for _ in range(MOST_POLISHING):
        place_new(system, state, t, h, weights)
        fill_inertia_and_rows(system, tangent, tangent.lu, 1.0)
        factor_lu(tangent.lu)
        error = largest(work.phi)
        if not error < 0.5 * last or error == 0.0:
            return
        last = error
        for r in range(work.b.shape[0]):
            work.b[r] = work.phi[r] if rows.at_velocity[r] == 0 else 0.0
        clear(work.a)
        solve_tangent(system, tangent, work.a, work.b, 1.0, move, work.mu)
        for i in range(eta.shape[0]):
            for c in range(3):
                eta[i, c] += move[i, c]  # (1)


@compiled
def keep_force(system, tangent, lam):
    """(2), after (1)."""
    work = system.work
    for i in range(work.a.shape[0]):
        for c in range(3):
            work.a[i, c] = -work.stage_v[FORCE][i, c]
    for r in range(work.b.shape[0]):
        work.b[r] = 0.0
    solve_tangent(system, tangent, work.a, work.b, 1.0, work.stage_v[WAY], lam)  # (2)


@compiled
def set_force(system, lam):
    clear(system.work.stage_v[FORCE])
    apply_multipliers(system, system.work.J, system.bodies.free, lam, 1.0, system.work.stage_v[FORCE])  # (3)


@compiled
def advance_on_branch(system, state, t, h, weights, alpha, share, in_doubt):
    """As `advance` of alpha_newton.py, from λ of the step before in alpha.before. Returns a status."""
    work, tangent = system.work, alpha.tangent
    set_time(system, t, state.x, state.quat, state.v)
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
    set_force(system, alpha.before)
    first_guess(system, state, h)
    tangent.share[0] = share
    last, status = 1e300, NOT_CONVERGED
    for _ in range(MOST_ROUNDS):
        place_on_constraints(system, state, t, h, weights, tangent)
        keep_force(system, tangent, state.lam)
        factor_newton(system, t, h, weights, tangent)
        left_over(system, state, t, h, weights)
        solve_tangent(system, tangent, work.a, work.b, h, work.stage_v[WAY], work.mu)
        change, size = change_by(system, state.lam, h, weights)
        set_force(system, state.lam)  # (3)
        if not change <= 1e300:
            break
        still = change > 0.5 * last and change <= (SETTLED if in_doubt else STALLED) * size
        settled = change <= ENOUGH * size or still
        if settled and largest(work.phi) <= alpha.options[TOLERANCE]:
            status = OK
            break
        last = change
    tangent.share[0] = DEPENDENT_SHARE
    return status
