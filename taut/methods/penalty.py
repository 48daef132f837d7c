"""Penalty forces: each constraint becomes a spring with damping.

    λ = -(α Φ + β Φ̇),    Φ̇ = J v + Φ_t                                 (1)  [COL865: penalty forces]
    v̇ = W (f + Jᵀ λ)                                                    (2)

No system is solved by the explicit integrators. Φ settles near -λ/α, and the step must follow the stiffness:
h < 2/√(α J W Jᵀ). As h falls the result goes to the motion of (1), (2) with the order of the integrator, and not to the
constrained one: of that distance, which falls as 1/α, the order in h is zero.

integrator="implicit" takes (1) at the end of the step, linearised as in implicit_first, which holds for any h and α:

    λ = -(α Φ + c (J v' + Φ_t)),    c = h α + β                          (3)
    v* = v + h W f,    v' = v* + u,    q' = q ⊞ h v'                     (4)
    (M + h c Jᵀ J) u = -h Jᵀ (α Φ + c (J v* + Φ_t))                      (5)  [COL865: implicit, but ill-conditioned]

The condition number of (5) grows as h² α/m: conjugate gradients need iterations as its square root, and λ, which (3)
finds as a small difference times c, loses as many digits. Eliminating v' instead of λ gives J W Jᵀ + 1/(h c), which
goes to the system of implicit_first as α → ∞: Lagrange's multipliers are the cure.
"""

from __future__ import annotations

from ..compiled import compiled, inline, specialise
from ..linalg.matrix_free_cg import matrix_free_cg
from ..model.applied_forces import evaluate_forces, free_accelerations, kick, set_driven_accelerations
from ..model.arrays import CORRECTIONS, LINEAR_SOLVES
from ..model.constraint_rows import evaluate_constraints
from ..model.driver_work import accumulate_work
from ..model.instant import set_time
from ..model.jacobian import apply_multipliers, jacobian_times
from ..model.slot_vectors import add_scaled, advance_positions, clear
from . import acceleration
from .base import ILL_CONDITIONED, OK, Hooks, Option, option_index
from .style import DASHDOT, Style

OPTIONS = (
    Option("integrator", "rk4", "base integrator; implicit: any step holds, but its system is ill-conditioned",
           (*acceleration.INTEGRATORS, "implicit")),
    Option("alpha", 1e4, "stiffness [N per unit of Φ]", minimum=0.0),
    Option("beta", 10.0, "damping [N s per unit of Φ]", minimum=0.0),
)  # fmt: skip
INTEGRATOR, ALPHA, BETA = (option_index(OPTIONS, option.name) for option in OPTIONS)
IMPLICIT = len(acceleration.INTEGRATORS)
TOLERANCE = 1e-13  # of conjugate gradients: the residual over that of u = 0, in the norm of the preconditioner
PER_UNKNOWN = 10  # iterations beyond which (5) counts as unsolved


@inline
def accelerate(system, t, x, quat, v, options, lam):
    work = system.work
    set_time(system, t, x, quat, v)
    evaluate_constraints(system, t, x, quat, v, False, work.J)
    free_accelerations(system, t, x, quat, v)
    set_driven_accelerations(system)
    jacobian_times(system, work.J, v, work.b)
    for r in range(lam.shape[0]):
        lam[r] = -(options[ALPHA] * work.phi[r] + options[BETA] * (work.b[r] + work.phi_t[r]))  # (1)
    apply_multipliers(system, work.J, system.bodies.inverse_mass, lam, 1.0, work.a)  # (2)


@compiled
def observe(system, state, t, options, lam):
    """λ of the instant; of an implicit step the λ that it found, since α Φ of a curved path is none."""
    if int(options[INTEGRATOR]) == IMPLICIT:
        for r in range(lam.shape[0]):
            lam[r] = state.lam[r]
    else:
        accelerate(system, t, state.x, state.quat, state.v, options, lam)


@compiled
def diagonal(system, stiffness, out):
    """The inverse of the diagonal of M + stiffness JᵀJ; 0 where nothing can move."""
    rows, work, w, free = system.rows, system.work, system.bodies.inverse_mass, system.bodies.free
    for i in range(out.shape[0]):
        for c in range(3):
            out[i, c] = 0.0 if w[i, c] == 0.0 else 1.0 / w[i, c]
    for k in range(rows.slot.shape[0]):
        s = rows.slot[k]
        for c in range(3):
            out[s, c] += stiffness * free[s, c] * work.J[k, c] * work.J[k, c]
    for i in range(out.shape[0]):
        for c in range(3):
            out[i, c] = 0.0 if w[i, c] == 0.0 else 1.0 / out[i, c]


@inline
def multiply(problem, p, out):
    """out = (M + stiffness JᵀJ) p, where things can move."""
    system, stiffness, _ = problem
    work, w = system.work, system.bodies.inverse_mass
    jacobian_times(system, work.J, p, work.mu)
    clear(out)
    apply_multipliers(system, work.J, system.bodies.free, work.mu, stiffness, out)
    for i in range(p.shape[0]):
        for c in range(3):
            if w[i, c] > 0.0:
                out[i, c] += p[i, c] / w[i, c]


@inline
def precondition(problem, r, z):
    """z = P r with the diagonal; returns r·z."""
    inverse, total = problem[2], 0.0
    for i in range(r.shape[0]):
        for c in range(3):
            z[i, c] = inverse[i, c] * r[i, c]
            total += r[i, c] * z[i, c]
    return total


_iterate = specialise(
    matrix_free_cg, "conjugate_gradients_of_penalty", compiled, multiply=multiply, precondition=precondition
)


@compiled
def solve_implicit(system, stiffness, r, u):
    """(5) with the right-hand side r, which is overwritten, and the preconditioner `diagonal`."""
    work = system.work
    inverse, z, p, product = work.stage_v[1], work.stage_v[2], work.stage_a[1], work.stage_a[2]
    diagonal(system, stiffness, inverse)
    clear(u)
    problem = system, stiffness, inverse
    goal = TOLERANCE * TOLERANCE * precondition(problem, r, z)
    taken = _iterate(problem, u, r, z, p, product, goal, 100 + PER_UNKNOWN * 3 * u.shape[0])
    work.counts[CORRECTIONS] += abs(taken)
    return OK if taken >= 0 else ILL_CONDITIONED


@compiled
def implicit_step(system, state, t, h, options):
    """(3), (4) and (5)."""
    work, v, lam = system.work, state.v, state.lam
    alpha, c = options[ALPHA], h * options[ALPHA] + options[BETA]
    right, u = work.stage_v[0], work.stage_a[0]
    evaluate_constraints(system, t, state.x, state.quat, v, False, work.J)
    evaluate_forces(system, t, state.x, state.quat, v)
    kick(system, v, h, v)  # (4)
    jacobian_times(system, work.J, v, work.b)
    for r in range(lam.shape[0]):
        lam[r] = -(alpha * work.phi[r] + c * (work.b[r] + work.phi_t[r]))
    clear(right)
    apply_multipliers(system, work.J, system.bodies.free, lam, h, right)
    status = solve_implicit(system, h * c, right, u)  # (5)
    jacobian_times(system, work.J, u, work.b)
    for r in range(lam.shape[0]):
        lam[r] -= c * work.b[r]  # (3)
    add_scaled(v, 1.0, u, v)
    work.counts[LINEAR_SOLVES] += 1
    if system.accumulates_work == 1:
        accumulate_work(system, state, work.J, v, lam, h)
    advance_positions(system, state.x, state.quat, v, h, state.x, state.quat)
    set_time(system, t + h, state.x, state.quat, v)
    return status


explicit_step = acceleration.step_of("penalty", accelerate)


@compiled
def step(system, state, t, h, options):
    if int(options[INTEGRATOR]) == IMPLICIT:
        return implicit_step(system, state, t, h, options)
    return explicit_step(system, state, t, h, options)


METHOD = acceleration.at_acceleration_level(
    "penalty", OPTIONS, source="COL865: penalty forces", style=Style("#CC79A7", DASHDOT, "P"),
    doc="A stiff spring with damping in place of each constraint; no linear system, unless its step is implicit.",
    level="force", order=0, order_position=0, order_velocity=0, orders={}, levels=("position",),
    step=step, hooks=Hooks(observe=observe),
    solves="0; implicit: 1",
)  # fmt: skip
