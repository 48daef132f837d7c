"""Dry friction of joints with sticking: Coulomb's law at the end of each step, wrapped around the step of any method.

    |Q_k| ≤ T_k;   q̇'_k = 0 where |Q_k| < T_k,   else Q_k = -T_k sign(q̇'_k)               (1)
    q̇' ≈ r + h S (Q' - Q),   h S = ∂q̇'/∂Q                                                  (2)
    S ← S + (Δr/h - S ΔQ) ΔQᵀ/|ΔQ|²                                                        (3)
    S ← σ S,   σ = ΔQᵀΔr / (h ΔQᵀ S ΔQ)                                                    (4)

Q is constant in a step and q̇' is the rate at its end (Moreau 1988, Jean 1999). A step is tried with the forces of the
step before. Where (1) does not hold, (1) is solved for the linear (2), a complementarity problem with bounds, and the
step is taken again. S is that of the constrained accelerations at the start of the step, and then follows the trials by
(3) [Broyden], after (4) with the first of them: only in this way does it contain the effect of contacts, for instance,
and of how a method weighs the forces of a step. A joint that slides, or rests under a constant load, costs no second
trial. Bounded forces do not resist the impulses of impacts, and T may be a function of time.

The step in which a joint stops is off by O(h²), once for each stop, whatever the order of the method is.
"""

from __future__ import annotations

import numpy as np

from ..compiled import compiled, entry, inline
from ..errors import note
from ..forces import KINDS
from ..joints.coordinates import TYPES, rate
from ..methods.base import OK, Method
from ..model.applied_forces import evaluate_forces
from ..model.arrays import State, System, dry_friction, no_friction, start_state
from ..model.constraint_rows import evaluate_constraints
from ..model.instant import update_places
from ..model.jacobian import apply_multipliers, form_and_factor, jacobian_times, solve_with_factor
from ..model.model import Model
from ..model.slot_vectors import clear, copy
from ..model.switching import keep_start, return_to_start
from .trial_steps import events_so_far, forget_events, step

MOST_TRIALS = 12
CONVERGED = 1e-14  # of T: the largest distance of the forces of a trial from law (1)
ACCEPTED = 1e-9  # of T: the same, where further trials do not reduce it,
AFTER_TRIALS, SOON_ACCEPTED = 3, 1e-7  # and after that many of them
NOISE = 1e-15  # of the largest speed: a rate below it is rounding error
LEAST_CHANGE = 1e-6  # of T: a smaller change of forces is not used to update S, since rounding errors would dominate
MOST_SWEEPS = 200
JUMP = 0.25  # of T: a force that changes more makes methods with a memory begin anew


@inline
def clamp(value, limit):
    return min(max(value, -limit), limit)


@compiled
def take_limits(system, state):
    """T of each joint, zero where it is switched off, and the forces of the step before within them."""
    friction = system.friction
    for k in range(friction.keeper.shape[0]):
        switch = friction.switch[k]
        on = switch < 0 or state.x[switch, 0] == 1.0
        friction.limit[k] = max(system.forces.p[friction.size[k]], 0.0) if on else 0.0  # below zero would drive
        friction.next_force[k] = clamp(state.x[friction.keeper[k], 0], friction.limit[k])


@compiled
def read_rates(system, state):
    """q̇' of all joints with friction; returns the largest speed of anything."""
    friction = system.friction
    update_places(system, state.x, state.quat, state.v)
    for k in range(friction.keeper.shape[0]):
        friction.rate[k] = rate(friction.type[k], state.x, state.v, friction.points[k], 0)
    fastest = 0.0
    for i in range(state.v.shape[0]):
        for c in range(3):
            fastest = max(fastest, abs(state.v[i, c]))
    return fastest


@inline
def projected(force, speed, response, limit):
    """The force of one joint that (1) and (2) want while the others stay; (1) alone where nothing responds."""
    if response <= 0.0:
        return force if speed == 0.0 else (-limit if speed > 0.0 else limit)
    return clamp(force - speed / response, limit)


@compiled
def distance_from_law(friction, h, noise):
    """How far the forces of the last trial are from (1), as a fraction of T."""
    worst = 0.0
    for k in range(friction.force.shape[0]):
        if friction.limit[k] > 0.0 and abs(friction.rate[k]) > noise:
            target = projected(friction.force[k], friction.rate[k], h * friction.scale[k], friction.limit[k])
            worst = max(worst, abs(target - friction.force[k]) / friction.limit[k])
    return worst


@compiled
def scale_response(friction):
    """(4), of the first ΔQ, in `next_force`, and of what (2) predicted for it."""
    n = friction.force.shape[0]
    found = expected = 0.0
    for i in range(n):
        change = friction.rate[i] - friction.rate_before[i]
        predicted = friction.predicted_rate[i] - friction.rate_before[i]
        found += friction.next_force[i] * change
        expected += friction.next_force[i] * predicted
    if not 0.0 < found < 1e300 or not expected > 0.0:
        return
    for i in range(n):
        friction.predicted_rate[i] = friction.rate_before[i] + found / expected * (
            friction.predicted_rate[i] - friction.rate_before[i])
        for k in range(n):
            friction.S[i, k] *= found / expected


@compiled
def update_response(friction, h):
    """(3), of the last trial against what (2) predicted for it; `next_force` holds ΔQ."""
    n = friction.force.shape[0]
    square, largest = 0.0, 0.0
    for k in range(n):
        square += friction.next_force[k] ** 2
        if friction.limit[k] > 0.0:
            largest = max(largest, abs(friction.next_force[k]) / friction.limit[k])
    if largest < LEAST_CHANGE:
        return
    for i in range(n):
        miss = (friction.rate[i] - friction.predicted_rate[i]) / (h * square)
        for k in range(n):
            friction.S[i, k] += miss * friction.next_force[k]


@compiled
def choose_forces(friction, h):
    """Solve (1) with (2) for `next_force` and `predicted_rate`: projected Gauss-Seidel, then elimination of the forces
    inside their bounds."""
    n = friction.force.shape[0]
    for k in range(n):
        friction.next_force[k], friction.predicted_rate[k] = friction.force[k], friction.rate[k]
    for _ in range(MOST_SWEEPS):
        change = 0.0
        for k in range(n):
            if friction.limit[k] > 0.0:
                force, response = friction.next_force[k], h * friction.S[k, k]
                force = projected(force, friction.predicted_rate[k], response, friction.limit[k])
                difference = force - friction.next_force[k]
                change = max(change, abs(difference) / friction.limit[k])
                friction.next_force[k] = force
                for i in range(n):
                    friction.predicted_rate[i] += h * friction.S[i, k] * difference
        if change <= 1e-16:
            return
    if eliminate(friction, h):
        for i in range(n):
            friction.predicted_rate[i] = friction.rate[i]
            for k in range(n):
                friction.predicted_rate[i] += h * friction.S[i, k] * (friction.next_force[k] - friction.force[k])


@compiled
def eliminate(friction, h):
    """Forces inside their bounds such that their rates are zero in (2), where they stay inside; whether they do."""
    n, A = friction.force.shape[0], friction.matrix
    largest = 0.0
    for i in range(n):
        free = friction.limit[i] > 0.0 and abs(friction.next_force[i]) < friction.limit[i]
        A[i, n] = -friction.predicted_rate[i] if free else 0.0
        for k in range(n):
            both = free and friction.limit[k] > 0.0 and abs(friction.next_force[k]) < friction.limit[k]
            A[i, k] = h * friction.S[i, k] if both else 0.0
        largest = max(largest, A[i, i])
    for p in range(n):  # S is nearly symmetric and positive: pivots stand on the diagonal
        if A[p, p] <= 1e-10 * largest:
            A[p, n] = 0.0  # bounded, or redundant: it stays
            for i in range(n):
                A[i, p] = A[p, i] = 0.0
            A[p, p] = 1.0
            continue
        for i in range(p + 1, n):
            factor = A[i, p] / A[p, p]
            for k in range(p, n + 1):
                A[i, k] -= factor * A[p, k]
    for p in range(n - 1, -1, -1):
        for k in range(p + 1, n):
            A[p, n] -= A[p, k] * A[k, n]
        A[p, n] /= A[p, p]
        if abs(friction.next_force[p] + A[p, n]) > friction.limit[p]:
            return False
    for p in range(n):
        friction.next_force[p] += A[p, n]
    return True


@inline
def begin_trial(system, state, t):
    """Back to the start of the step, with the forces in `next_force`."""
    friction = system.friction
    return_to_start(system, state, friction.start, t)
    for k in range(friction.keeper.shape[0]):
        friction.force[k] = friction.next_force[k]
        state.x[friction.keeper[k], 0] = friction.next_force[k]


@compiled
def begin_anew(friction):
    """Whether a force jumps; then methods that remember steps begin with this one."""
    for k in range(friction.keeper.shape[0]):
        if abs(friction.next_force[k] - friction.start.x[friction.keeper[k], 0]) > JUMP * friction.limit[k]:
            if friction.start.memory.shape[0] > 0:
                friction.start.memory[0] = 0.0
            return True
    return False


@compiled
def add_response(system, state, t, k, scale):
    """The accelerations that T of joint k causes into work.v2: of its bodies alone (`scale`), or of all."""
    friction, work, w = system.friction, system.work, system.bodies.inverse_mass
    force = state.x[friction.keeper[k], 0]
    evaluate_forces(system, t, state.x, state.quat, state.v)
    copy(work.f, work.v1)
    state.x[friction.keeper[k], 0] = force + friction.limit[k]
    evaluate_forces(system, t, state.x, state.quat, state.v)
    state.x[friction.keeper[k], 0] = force
    clear(work.v2)
    for i in range(system.bodies.slots):
        for c in range(3):
            work.v2[i, c] = w[i, c] * (work.f[i, c] - work.v1[i, c])
    if scale:
        return
    jacobian_times(system, work.J, work.v2, work.b)
    for r in range(work.b.shape[0]):
        work.b[r] = -work.b[r]
    solve_with_factor(system, work.b, work.mu)
    apply_multipliers(system, work.J, w, work.mu, 1.0, work.v2)


@compiled
def find_response(system, state, t):
    """S of (2) at the start of the step, from the constrained accelerations."""
    friction, work = system.friction, system.work
    n = friction.keeper.shape[0]
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
    form_and_factor(system, work.J, system.bodies.inverse_mass)
    for k in range(n):
        if friction.limit[k] > 0.0:
            add_response(system, state, t, k, False)
            update_places(system, state.x, state.quat, work.v2)
        for i in range(n):
            here = rate(friction.type[i], state.x, work.v2, friction.points[i], 0) if friction.limit[k] > 0.0 else 0.0
            friction.S[i, k] = here / friction.limit[k] if friction.limit[k] > 0.0 else 0.0
    for k in range(n):
        if friction.S[k, k] <= 1e-12 * friction.scale[k]:  # a driver, or other joints, decide how it moves
            for i in range(n):
                friction.S[i, k] = friction.S[k, i] = 0.0


def friction_step(system, state, t, h, context):
    """A step from t to t + h that ends with (1); returns a status of methods/base.py. `begin_step` has been called."""
    friction = system.friction
    so_far = events_so_far(context)
    keep_start(state, friction.start)
    take_limits(system, state)
    nearest, jumps = 1e300, False
    for trial in range(MOST_TRIALS):
        begin_trial(system, state, t)
        forget_events(context, so_far)
        status = step(system, state, t, h, context)
        if status != OK:
            return np.int64(status)
        noise = NOISE * read_rates(system, state)
        if trial > 0:
            for k in range(friction.force.shape[0]):
                friction.next_force[k] = friction.force[k] - friction.before[k]
            if trial == 1 and events_so_far(context)[0] == so_far[0]:  # smooth as far as this tells
                scale_response(friction)
            update_response(friction, h)
        distance = distance_from_law(friction, h, noise)
        if distance <= CONVERGED:
            break
        stalls = distance > 0.5 * nearest
        if distance < nearest:
            nearest = distance
            for k in range(friction.force.shape[0]):
                friction.best[k] = friction.force[k]
        enough = SOON_ACCEPTED if trial >= AFTER_TRIALS else ACCEPTED if stalls else 0.0
        if trial == MOST_TRIALS - 1 or nearest <= enough:
            if nearest > LEAST_CHANGE:
                friction.unconverged[0] += 1
            if distance > nearest:
                for k in range(friction.force.shape[0]):
                    friction.next_force[k] = friction.best[k]
                begin_trial(system, state, t)
                forget_events(context, so_far)
                status = step(system, state, t, h, context)
            break
        for k in range(friction.force.shape[0]):
            friction.before[k] = friction.force[k]
            friction.rate_before[k] = friction.rate[k]
        if trial == 0:
            return_to_start(system, state, friction.start, t)
            find_response(system, state, t)
        choose_forces(friction, h)
        jumps = begin_anew(friction) or jumps
    if jumps and state.memory.shape[0] > 0:
        state.memory[0] = 0.0
    return np.int64(status)


def with_friction(system: System, state: State, method: Method, model: Model) -> System:
    """The system and state with dry friction that holds joints, if the method can; else a note that it creeps."""
    table, names = [], []
    for info in model.force_info:
        if KINDS[info.kind].dry and info.coordinate is not None:
            names.append(info.name)
            table.append([info.points[4], model.switches.of_force[info.batch], info.at[1], TYPES[info.coordinate],
                          *info.points[:4]])  # fmt: skip
    if not table:
        return system
    if not method.sticks or len(model.inequalities.ball_slot):
        beside = "" if not method.sticks else " beside groups with a broad phase"
        note(f"dry friction of {', '.join(repr(name) for name in names[:4])} is smooth with method '{method.name}'"
             f"{beside}: below its limit a joint creeps; methods of fixed steps hold it (taut list methods)")
        return system
    system = system._replace(friction=dry_friction(table, start_state(state)))
    begin_friction(system, state)
    return system


@entry
def begin_friction(system, state):
    """Set the forces (1) of joints that slide at the start, for the first record, and the compliances `scale`."""
    friction = system.friction
    take_limits(system, state)
    read_rates(system, state)
    for k in range(friction.keeper.shape[0]):
        state.x[friction.keeper[k], 1] = 1.0
        limit, friction.limit[k] = friction.limit[k], 1.0
        add_response(system, state, 0.0, k, True)
        friction.limit[k] = limit
        update_places(system, state.x, state.quat, system.work.v2)
        friction.scale[k] = rate(friction.type[k], state.x, system.work.v2, friction.points[k], 0)
        limit = friction.limit[k]
        force = 0.0 if friction.rate[k] == 0.0 else (-limit if friction.rate[k] > 0.0 else limit)
        state.x[friction.keeper[k], 0] = force


def smooth_where_it_was(system: System, state: State) -> System:
    """Of a run that goes on: with the law of friction that its state says it began with (result/older.py)."""
    if not len(system.friction.keeper) or state.x[system.friction.keeper, 1].any():
        return system
    note("joint_friction stays smooth, as it was when this run began: below its limit a joint creeps, which a new run "
         "prevents")
    return system._replace(friction=no_friction())


def remarks(system: System) -> list[str]:
    """What is to be told when a run ends."""
    count = int(system.friction.unconverged[0])
    return [f"dry friction on joints did not converge in {count} steps; try a smaller dt"] if count else []
