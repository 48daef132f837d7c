"""RATTLE: a symmetric step with Φ = 0 and Φ̇ = 0 at its end.

    v½ = v + h/2 W (f(q, v) + J(q)ᵀ λ)                          (1)
    q' = q ⊞ h v½,   Φ(q', t + h) = 0                           (2)
    (J W Jᵀ) δλ = -2Φ(q')/h²                                    (3)  Newton for (2), J at q
    v' = v½ + h/2 W (f(q', v') + J(q')ᵀ μ)                      (4)
    J(q') v' + Φ_t = 0                                          (5)
    J' W J'ᵀ ν = -Φ(q'),   J W Jᵀ δλ = 2/h² J W J'ᵀ ν           (6)  J' = J(q'), when (3) does not
    J ← J(q'),   when (6) does not halve |Φ|                    (7)  see implicit_first.py
    (J W Jᵀ) μ = -Φ(q'),   q' ← q' ⊞ W Jᵀ μ                     (8)  where J(q') nearly loses rank
    h/2 [A(q) v½ + b(t) + A(q') v½ + b(t + h)] in place of Φ    (9)  of conditions on velocities, in (2), (3), (6)
    (J(q') W Jᵀ) δλ = -2Φ(q')/h²                                (10) before (3), with newton="full"; see full_newton.py

(4) is repeated where forces depend on velocity (drag), which keeps the step symmetric: its second half undoes what its
first half would do backwards in time. Andersen 1983. Gyroscopic terms are taken at v½ in both halves, and rigid bodies
turn such that free ones keep their energy and angular momentum to rounding: spinning.py.

(9) reads the same from either end of the step, so that conditions on velocities leave it symmetric; they hold at its
ends by (5).

Drivers work against each half's impulse at its own end, which keeps the step symmetric with their work in it.

A position where J loses rank (a four-bar lying flat) is passed in between two steps. With s the smallest singular
value of J at q and s' at q', of opposite signs, (3) multiplies an error by 1 - s'/s. (6) takes the shortest way back to
Φ = 0 at q' and keeps what forces at q can do of it, which is nearly all whatever s and s' are; it solves the same
equation, so the step remains symmetric. With (7) it does not. An error ε of Φ is one of ε/s² in a velocity that
obeys (5): there (8) brings Φ from the tolerance down to its rounding error. Where many loops lie flat at once, even
that may lead to another branch of the motion: velocities then jump in one half of the step,

    |v½ - v| and |v' - v½| differ by more than a factor of 5, and the larger is 2 % of |v'|     (11) in the norm of M

and the step fails.
"""

from __future__ import annotations

from ..compiled import compiled
from ..model.applied_forces import evaluate_forces, free_accelerations
from ..model.arrays import CORRECTIONS, DOUBTFUL_SYSTEMS, DRIVER_WORK
from ..model.constraint_rows import evaluate_constraints
from ..model.driver_work import accumulate_work, impulse_power
from ..model.instant import set_time
from ..model.jacobian import (
    add_slip,
    apply_multipliers,
    form_and_factor,
    is_rank_in_doubt,
    jacobian_times,
    solve_with_factor,
)
from ..model.slot_vectors import add_scaled, advance_positions, clear, copy, largest
from .acceleration import observe_lagrange
from .base import (
    BOTH,
    LEFT_BRANCH,
    MOST_CORRECTIONS,
    NOT_CONVERGED,
    OK,
    RESIDUAL_ACCEPTED,
    TOLERANCE,
    Hooks,
    Method,
    option_index,
)
from .full_newton import FULL, solve_pair, solver_with, take_back
from .full_newton import OPTION as NEWTON_OPTION
from .implicit_first import refactor
from .spinning import exchange_gyroscopic, halfway, move_halfway
from .style import SOLID, Style

OPTIONS = (NEWTON_OPTION,)
NEWTON = option_index(OPTIONS, "newton")
MOST_VELOCITY_ROUNDS = 50
MOST_POLISHING = 5
JUMP, LARGE = 5.0, 0.02  # (11)
EXACT, FROZEN, PROJECTED, RENEWED = range(4)  # how positions are corrected: (10), (3), (6), (7)


@compiled
def project_correction(system):
    """(6): turn the right-hand side for J' in work.b into the one for J, which is factored in the end."""
    work, w = system.work, system.bodies.inverse_mass
    form_and_factor(system, work.J, w)
    solve_with_factor(system, work.b, work.mu)
    clear(work.v2)
    apply_multipliers(system, work.J, w, work.mu, 1.0, work.v2)
    jacobian_times(system, work.J2, work.v2, work.b)
    form_and_factor(system, work.J2, w)


@compiled
def first_half(system, state, t, h):
    """(1) with λ from the linearised constraints: v½ into state.v and work.v1, and where the step began into work."""
    work, w = system.work, system.bodies.inverse_mass
    x, quat, v, lam = state.x, state.quat, state.v, state.lam
    evaluate_constraints(system, t, x, quat, v, False, work.J)
    copy(work.J, work.J2)
    free_accelerations(system, t, x, quat, v)
    if system.bodies.spin_slot.shape[0] > 0:
        exchange_gyroscopic(system, v, v, 0.0)
    add_scaled(v, 0.5 * h, work.a, v)
    jacobian_times(system, work.J, v, work.b)
    for r in range(lam.shape[0]):
        work.b[r] = -2.0 * (work.phi[r] / h + work.phi_t[r] + work.b[r]) / h
        work.phi_t_old[r] = work.phi_t[r]
    form_and_factor(system, work.J, w)
    solve_with_factor(system, work.b, lam)
    if system.accumulates_work == 1:
        accumulate_work(system, state, work.J2, v, lam, 0.5 * h)
    apply_multipliers(system, work.J2, w, lam, 0.5 * h, v)  # (1)
    copy(x, work.x1)
    copy(quat, work.quat1)
    copy(v, work.v1)


@compiled
def position_half(system, state, t, h, options, attempt):
    """(1)-(3), (6), (7) and (10), beginning with `attempt`, and leaving v½ in state.v and q' in the state."""
    work, w = system.work, system.bodies.inverse_mass
    x, quat, v, lam = state.x, state.quat, state.v, state.lam
    rigid = system.bodies.spin_slot.shape[0] > 0
    half = work.v2 if rigid else v  # v½; where there are rotations, v keeps β until the end
    first_half(system, state, t, h)
    last = 1e300
    for _ in range(MOST_CORRECTIONS):
        if rigid:
            halfway(system, v, h, half)
            move_halfway(system, work.x1, work.quat1, half, h, x, quat)  # (2)
        else:
            advance_positions(system, work.x1, work.quat1, v, h, x, quat)
        if system.nonholonomic == 1:
            copy(half, work.v1)
        set_time(system, t + h, x, quat, work.v1)
        evaluate_constraints(system, t + h, x, quat, work.v1, False, work.J)
        if system.nonholonomic == 1:
            add_slip(system, work.J2, work.phi_t_old, half, 0.5 * h)
            add_slip(system, work.J, work.phi_t, work.v1, 0.5 * h)  # (9)
        error = largest(work.phi)
        if error <= options[TOLERANCE]:
            if rigid:
                copy(half, v)
            return OK
        if error >= 1e300:
            break
        worse = attempt == EXACT and error > last
        if worse:
            take_back(system, work.J2, work.mu)
        if error > 0.5 * last:
            attempt = min(attempt + 1, RENEWED)
            if attempt == RENEWED:
                refactor(system)  # (7)
        last = 1e300 if worse else error
        for r in range(lam.shape[0]):
            work.b[r] = -2.0 * work.phi[r] / (h * h)
        if attempt == PROJECTED:
            project_correction(system)  # (6)
        if attempt == EXACT:
            solve_pair(system, work.J, work.J2, work.b, work.mu)  # (10)
        elif not worse:
            solve_with_factor(system, work.b, work.mu)
        for r in range(lam.shape[0]):
            lam[r] += work.mu[r]
        apply_multipliers(system, work.J2, w, work.mu, 0.5 * h, v)  # (3)
        if system.accumulates_work == 1:
            state.ledger[DRIVER_WORK] += 0.5 * h * impulse_power(system, work.mu)
        work.counts[CORRECTIONS] += 1
    if rigid:
        halfway(system, v, h, half)
        copy(half, v)
    return OK if options[RESIDUAL_ACCEPTED] == 1.0 else NOT_CONVERGED


@compiled
def polish(system, state, t):
    """(8), as long as it halves |Φ|; Φ, J and its factor at q' are at hand, and are so again in the end."""
    work, w = system.work, system.bodies.inverse_mass
    for _ in range(MOST_POLISHING):
        error = largest(work.phi)
        for r in range(work.b.shape[0]):
            work.b[r] = -work.phi[r]
        solve_with_factor(system, work.b, work.mu)
        clear(work.v1)
        apply_multipliers(system, work.J, w, work.mu, 1.0, work.v1)
        advance_positions(system, state.x, state.quat, work.v1, 1.0, state.x, state.quat)  # (8)
        evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
        form_and_factor(system, work.J, w)
        if not largest(work.phi) < 0.5 * error:
            return


@compiled
def velocity_half(system, state, t, h, options):
    """(4) and (5)."""
    work, w, v = system.work, system.bodies.inverse_mass, state.v
    set_time(system, t, state.x, state.quat, v)
    evaluate_constraints(system, t, state.x, state.quat, v, False, work.J)
    form_and_factor(system, work.J, w)
    if is_rank_in_doubt(system):
        polish(system, state, t)
    copy(v, work.v1)
    copy(v, work.v2)
    for _ in range(MOST_VELOCITY_ROUNDS):
        free_accelerations(system, t, state.x, state.quat, v)
        if system.bodies.spin_slot.shape[0] > 0:
            exchange_gyroscopic(system, v, work.v1, 1.0)
        add_scaled(work.v1, 0.5 * h, work.a, v)
        jacobian_times(system, work.J, v, work.b)
        for r in range(work.b.shape[0]):
            work.b[r] = -(work.b[r] + work.phi_t[r]) * 2.0 / h
        solve_with_factor(system, work.b, work.mu)
        apply_multipliers(system, work.J, w, work.mu, 0.5 * h, v)  # (4), (5)
        if system.bodies.velocity_forces == 0:
            break
        change = 0.0
        size = 0.0
        for i in range(v.shape[0]):
            for c in range(3):
                change = max(change, abs(v[i, c] - work.v2[i, c]))
                size = max(size, abs(v[i, c]))
        if change <= 1e-15 * size:
            break
        copy(v, work.v2)
    if system.accumulates_work == 1:
        evaluate_forces(system, t, state.x, state.quat, v)  # the power of forces feels v'
        accumulate_work(system, state, work.J, v, work.mu, 0.5 * h)


@compiled
def leaves_branch(system, v, half, v_new):
    """(11)."""
    mass = system.bodies.mass
    first = second = size = 0.0
    for i in range(v.shape[0]):
        for c in range(3):
            first += mass[i, c] * (half[i, c] - v[i, c]) ** 2
            second += mass[i, c] * (v_new[i, c] - half[i, c]) ** 2
            size += mass[i, c] * v_new[i, c] ** 2
    larger, smaller = max(first, second) ** 0.5, min(first, second) ** 0.5
    return larger > JUMP * smaller and larger > LARGE * size**0.5


@compiled
def step(system, state, t, h, options):
    work = system.work
    doubtful = work.counts[DOUBTFUL_SYSTEMS]
    copy(state.v, work.x2)
    status = position_half(system, state, t, h, options, EXACT if options[NEWTON] == FULL else FROZEN)
    velocity_half(system, state, t + h, h, options)
    if work.counts[DOUBTFUL_SYSTEMS] > doubtful and leaves_branch(system, work.x2, work.v1, state.v):
        return LEFT_BRANCH
    return status


METHOD = Method(
    name="rattle", source="Andersen 1983", style=Style("#009E73", SOLID, "h"),
    doc="A symmetric step that ends on Φ = 0 and Φ̇ = 0 and keeps the energy bounded.",
    level="position and velocity", order=2, levels=BOTH, contacts=("events",),
    tolerance=1e-12, options=OPTIONS, step=step, hooks=Hooks(observe=observe_lagrange, solver=solver_with(NEWTON)),
    suits={"smooth": "Φ = 0 and Φ̇ = 0 at each step, energy bounded"}, solves="4 to 8",
)  # fmt: skip
