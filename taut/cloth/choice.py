"""Choice of the linear system for each step of cloth when the scene does not prescribe one: system "auto".

    active   springs explicitly, and a linear system of the rows that act alone (active_limits.py)
    nodes    Newton's method on the places of all nodes (step.py)

Both satisfy the same limits to the same tolerance, and both are of first order. Which of them is cheaper depends on how
many springs are at their limit, and that changes during a run. It is decided by counts of operations, never by a clock,
so that runs repeat bit for bit; the costs in settings.ChoiceSettings are nanoseconds per operation, measured once:

    active   a · (substeps × size, iterations × rows, entries gathered, entries multiplied)          (1)
    nodes    b₀ size + b₁ F,   b₁ by the length of the factor and the work that makes it         (2)

with F factorisations in a step. While one system is in use its own cost is the mean of steps before, and that of the
other is predicted from the m springs at their limit:

    nodes    (2) with F = ρ min(6, 3 + 0.4 √m),   ρ: how often it was that many when last in use (3)
    active   what it was at the last step with it × (m / m then)^(3/2), at least its substeps    (4)

The system is changed when the one in use costs 1.2 or 1.6 times as much as the other (with a larger margin for leaving
nodes, since impacts soon pass). It must have been in use for 8 steps, and for 16, 32 and 64 after repeated changes; 4
suffice if it costs 2.5 times as much. By the paper's rule nodes take some four times as many factorisations as by the
exact one (ρ at the start). A step that the system of active rows can not take, in which its rows give energy, or which
costs it far more than nodes need for an impact (a heavy ball that light nodes stop), is taken with nodes from its
start. λ is carried over; the history of the integrator is discarded. Both use the same state.memory.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ..compiled import compiled, inline, on_demand, structure
from ..contact.algorithms import drain as drain_events
from ..contact.dissipation import kinetic_energy
from ..contact.event_log import record_event
from ..contact.problem import SYSTEM_CHOSEN
from ..methods.base import NOT_CONVERGED, OK
from ..methods.base import TOLERANCE as BOUND
from ..model.arrays import IMPACT_LOSS, LINEAR_SOLVES
from .active_context import ActiveContext, context_of
from .active_limits import longest_substep
from .active_limits import measure as measure_active
from .active_limits import observe as observe_active
from .active_limits import step as active_step
from .codes import FORCE_BEFORE, STEP_START, SYSTEMS, UNCONSTRAINED_RULE
from .context import ClothContext
from .evaluate import set_driven_bodies
from .records import measure as measure_nodes
from .records import observe as observe_nodes
from .settings import ChoiceSettings, current
from .step import restore_state, save_state
from .step import step as nodes_step
from .unknowns import memory_of as memory_of_nodes

ACTIVE, NODES = range(2)  # of codes.SYSTEMS
# state.memory: the system in use (0: none yet, else 1 + its number) and that of the last step; steps of this stay, and
# how many it lasts at least; mean cost; ρ; cost and m of (4); steps with each, and changes
NOW, TAKEN, STAYED, STAY, COST, RATIO, COST_THEN, LIMITS_THEN, STEPS_ACTIVE, STEPS_NODES, CHANGES, NUMBERS = range(12)


@structure
class Choice(NamedTuple):
    numbers: np.ndarray  # (NUMBERS,) NOW, TAKEN, ...: a view of state.memory
    size: float  # springs, rows and nodes
    rows: float
    factor: float  # cost of a factorisation [ns]
    before: np.ndarray  # (4,) ActiveLimits.counts before a step
    settings: ChoiceSettings


@structure
class ChoiceContext(NamedTuple):
    active: ActiveContext
    nodes: ClothContext
    choice: Choice


def memory_of(model) -> int:
    return memory_of_nodes(model) + NUMBERS


def prepare_with(prepare_nodes, tolerance):
    """`prepare` of the choice, from that of nodes and the tolerance that these have by default.

    Nodes let a limit miss its length by their tolerance, however hard it pulls; active rows only where it does not.
    """

    def prepare(model, system, state, options):
        node_options = options.copy()
        node_options[BOUND] = min(node_options[BOUND], tolerance)
        state, nodes = prepare_nodes(model, system, state, node_options)
        active = context_of(model, system, state, options, nodes.memory.history)
        active = active._replace(contacts=active.contacts._replace(events=nodes.events, impulses=nodes.impulses))
        rows, external = len(active.limits.i), len(active.contacts.rows.phi)
        end = len(state.memory) - external
        table, fac = nodes.linear.nodes.supernodes.table, nodes.linear.nodes.fac
        settings = current().choice
        choice = Choice(
            state.memory[end - NUMBERS : end], float(rows + len(active.springs.i) + len(model.x)), float(rows),
            settings.cost_of_entry * len(fac) + settings.cost_of_factoring * multiplications(table), np.zeros(4),
            settings,
        )  # fmt: skip
        return state, ChoiceContext(active, nodes, choice)

    return prepare


def multiplications(table: np.ndarray) -> float:
    """Σ rows² over the columns of the factor (linalg/supernodes.py)."""
    columns, rows = np.diff(table[0].astype(float)), np.diff(table[1].astype(float))
    least = rows - columns
    return float(((rows * (rows + 1) * (2 * rows + 1) - least * (least + 1) * (2 * least + 1)) / 6).sum())


@inline
def count_loaded_limits(of):
    """m"""
    count = 0
    for e in range(of.length.shape[0]):
        count += 1 if of.tension[e] > 0.0 else 0
    return count


@inline
def cost_of_nodes(choice, factors):
    """(2)"""
    return choice.settings.cost_of_step * choice.size + choice.factor * factors


@inline
def predicted_factors(settings, limits):
    """(3) with ρ = 1"""
    return min(settings.most_factors, settings.fewest_factors + settings.factors_per_root * sqrt(limits))


@inline
def least_of_active(state, ctx, h):
    """(1) of the substeps that springs need, with one iteration each."""
    active, choice = ctx.active, ctx.choice
    rule = int(active.options[UNCONSTRAINED_RULE])
    max_dt = longest_substep(active.limits, active.contacts, active.w, state.v, rule)
    settings = choice.settings
    return ceil(h / max_dt) * (settings.cost_of_substep * choice.size + settings.cost_of_iteration * choice.rows)


@inline
def change(ctx, which):
    """Change the system and discard the integrator's history, which differs between systems."""
    n, memory, settings = ctx.choice.numbers, ctx.nodes.memory, ctx.choice.settings
    n[STAY] = min(2.0 * n[STAY], settings.longest_stay) if n[NOW] > 0.0 else settings.shortest_stay
    n[CHANGES] += 1.0 if n[NOW] > 0.0 else 0.0
    n[NOW] = 1.0 + which
    n[STAYED] = 0.0
    n[COST] = 0.0
    for i in range(FORCE_BEFORE):
        memory.history[i] = 0.0
    for i in range(memory.velocity_offset.shape[0]):
        for c in range(3):
            memory.velocity_offset[i, c] = 0.0


@inline
def first_ratio(ctx):
    """ρ at the start."""
    settings = ctx.choice.settings
    return settings.first_ratio_exact if ctx.active.limits.exact == 1 else settings.first_ratio_paper


@inline
def begin_choice(state, ctx, h):
    """The system of the first step."""
    n = ctx.choice.numbers
    n[RATIO] = first_ratio(ctx)
    dear = least_of_active(state, ctx, h) > cost_of_nodes(ctx.choice, ctx.choice.settings.first_factors)
    change(ctx, NODES if dear else ACTIVE)


@inline
def update_mean_cost(choice, which, cost):
    """Mean cost of this stay."""
    n = choice.numbers
    n[STEPS_ACTIVE + which] += 1.0
    n[STAYED] += 1.0
    n[COST] += (cost - n[COST]) / min(n[STAYED], choice.settings.averaged_steps)


@inline
def is_to_leave(choice, which, other):
    """Whether the system in use costs enough more than the other to be left."""
    n, settings = choice.numbers, choice.settings
    margin = settings.margin_of_active if which == ACTIVE else settings.margin_of_nodes
    dearer = n[STAYED] >= n[STAY] and n[COST] > margin * other
    return dearer or (n[STAYED] >= settings.earliest_change and n[COST] > settings.clear_margin * other)


@inline
def cost_of_active(ctx):
    """(1) of the step just taken with the system of active rows."""
    choice, counts = ctx.choice, ctx.active.limits.counts
    settings = choice.settings
    each = (settings.cost_of_substep, settings.cost_of_iteration, settings.cost_of_gathering, settings.cost_of_product)
    scale = (choice.size, choice.rows, 1.0, 1.0)
    cost = 0.0
    for k in range(4):
        cost += each[k] * scale[k] * (counts[k] - choice.before[k])
    return cost


@inline
def judge_active(ctx):
    """After a step with the system of active rows."""
    choice, n, settings = ctx.choice, ctx.choice.numbers, ctx.choice.settings
    update_mean_cost(choice, ACTIVE, cost_of_active(ctx))
    limits = count_loaded_limits(ctx.active.limits)
    n[COST_THEN] = n[COST]
    n[LIMITS_THEN] = limits
    n[RATIO] += (first_ratio(ctx) - n[RATIO]) / settings.forgotten_steps
    if is_to_leave(choice, ACTIVE, cost_of_nodes(choice, n[RATIO] * predicted_factors(settings, limits))):
        change(ctx, NODES)


@inline
def judge_nodes(state, ctx, h, factors):
    """After a step with the system of nodes."""
    n, settings = ctx.choice.numbers, ctx.choice.settings
    update_mean_cost(ctx.choice, NODES, cost_of_nodes(ctx.choice, factors))
    limits = count_loaded_limits(ctx.active.limits)
    ratio = min(factors / predicted_factors(settings, limits), settings.most_ratio)
    n[RATIO] += (ratio - n[RATIO]) / settings.averaged_steps
    least = least_of_active(state, ctx, h)
    growth = (max(limits, 1.0) / max(n[LIMITS_THEN], 1.0)) ** settings.growth_power
    predicted = max(least, n[COST_THEN] * growth)  # (4)
    if is_to_leave(ctx.choice, NODES, predicted):
        change(ctx, ACTIVE)


@on_demand(types.int64)
def step_active(system, state, t, h, ctx):
    settings = ctx.choice.settings
    for k in range(4):
        ctx.choice.before[k] = ctx.active.limits.counts[k]
    save_state(state, ctx.nodes, STEP_START)
    lost, before = state.ledger[IMPACT_LOSS], kinetic_energy(system, state.v)
    status = active_step(system, state, t, h, ctx.active)
    gain = lost - state.ledger[IMPACT_LOSS]  # limits and contacts only take energy: else it is no step
    if status == OK and gain > settings.max_gain_of_step * max(before, kinetic_energy(system, state.v)):
        status = NOT_CONVERGED
    dear = settings.clear_margin * cost_of_nodes(ctx.choice, settings.impact_factors)
    if status == OK and cost_of_active(ctx) > dear:
        status = NOT_CONVERGED  # an impact that nodes take in one step: in the middle of it they would throw it back
    if status == OK:
        judge_active(ctx)
    elif status == NOT_CONVERGED:
        restore_state(state, ctx.nodes, STEP_START)
        set_driven_bodies(system, state, t, state.x)
    return status


@on_demand(types.int64)
def step_nodes(system, state, t, h, ctx):
    before = system.work.counts[LINEAR_SOLVES]
    status = nodes_step(system, state, t, h, ctx.nodes)
    if status == OK:
        judge_nodes(state, ctx, h, float(system.work.counts[LINEAR_SOLVES] - before))
    return status


@compiled
def step_chosen(system, state, t, h, ctx):
    n = ctx.choice.numbers
    if n[NOW] == 0.0:
        begin_choice(state, ctx, h)
    which = int(n[NOW]) - 1
    status = OK
    if which == ACTIVE:
        status = step_active(system, state, t, h, ctx)
        if status == NOT_CONVERGED:
            n[COST_THEN], n[LIMITS_THEN] = 1e300, count_loaded_limits(ctx.active.limits)
            change(ctx, NODES)
            which = NODES
    if which == NODES and (status == OK or status == NOT_CONVERGED):
        status = step_nodes(system, state, t, h, ctx)
    if status == OK:
        if n[TAKEN] != 1.0 + which:
            record_event(ctx.nodes.events, SYSTEM_CHOSEN, which, -1, t, 0.0)
        n[TAKEN] = 1.0 + which
    return status


@compiled
def observe(system, state, t, ctx, lam):
    if ctx.choice.numbers[TAKEN] == 1.0 + NODES:
        observe_nodes(system, state, t, ctx.nodes, lam)
    else:
        observe_active(system, state, t, ctx.active, lam)


@compiled
def measure(system, state, t, ctx, phi, rate, slide, force, totals, energy):
    if ctx.choice.numbers[TAKEN] == 1.0 + NODES:
        measure_nodes(system, state, t, ctx.nodes, phi, rate, slide, force, totals, energy)
    else:
        measure_active(system, state, t, ctx.active, phi, rate, slide, force, totals, energy)


def drain(ctx: Any) -> tuple[np.ndarray, np.ndarray]:
    return drain_events(ctx.nodes)


def info(ctx: ChoiceContext) -> dict[str, dict[str, int]]:
    """For run.info: how many steps each system took, and how often it was changed."""
    n = ctx.choice.numbers
    steps = {name: int(n[STEPS_ACTIVE + k]) for k, name in enumerate(SYSTEMS)}
    return {"system_steps": {**steps, "changes": int(n[CHANGES])}}
