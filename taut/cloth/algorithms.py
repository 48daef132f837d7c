"""The algorithm that each method uses for scenes with cloth or solids, with its declaration.

A method that is not listed here treats nodes as particles with springs and equalities, as long as the scene has neither
limits nor contacts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..contact.algorithms import drain, with_pairs
from ..methods import METHODS, base
from ..methods.base import ClothContacts, Method
from ..model.model import Model
from ..scene.specs import HARD_EDGE, PIN
from . import active_context, active_limits, choice, records, step
from .attachments import pins_of
from .baselines import implicit_euler, provot, xpbd
from .codes import OPTIONS, RELEASE_RULES, UNCONSTRAINED_RULE
from .optional_solvers import with_solvers
from .problem import cloth_context, with_more_pairs
from .unknowns import memory_of

# No settings: a default of the option `tolerance`, what is refused, and a capacity that grows by itself.
TOLERANCE = 1e-6  # of the length of hard edges
MOST_BALLS = 100
PAIRS_PER_NODE = 4  # capacity to begin with for contacts between deformables that last


def refuses(model: Model) -> str | None:
    """Why the steps of step.py can not treat a model with deformables."""
    if not any((model.bodies.inverse_mass[deformable.slots, 0] > 0).any() for deformable in model.deformables):
        return "no node of its cloth can move; leave some unpinned"
    other = next((info.name for info in model.constraint_info if info.role not in (HARD_EDGE, PIN)), None)
    if other is not None:
        without = "take limits and contacts away (limit=None) and " if model.is_unilateral else ""
        return (
            f"it has the constraint '{other}', but its steps with cloth hold hard edges, pins, limits and contacts "
            f"only; leave it out, or {without}use a method for any constraint, such as rattle"
        )
    if model.inequalities.restitution.any():
        return "it has restitution, but contacts beside cloth are inelastic; set it to 0"
    free = int((model.bodies.inverse_mass[: model.bodies.slots, 0] > 0).sum())
    nodes = sum(int((model.bodies.inverse_mass[one.slots, 0] > 0).sum()) for one in model.deformables)
    if free - nodes > MOST_BALLS:
        return f"it has more than {MOST_BALLS} free particles beside its cloth (a rigid body counts as two)"
    two = model.inequalities.rows.ptr[1:] - model.inequalities.rows.ptr[:-1]
    if (two > 2).any():
        return "it has an inequality between more than two points beside its cloth"
    return _of_rigid(model) or _of_seams(model)


def _of_rigid(model: Model) -> str | None:
    """Contacts of rigid bodies that these steps do not know."""
    rigid = {info.slot: info.name for info in model.body_info if info.kind == "rigid" and info.motion == "free"}
    ineq, touching = model.inequalities, model.touching
    ptr = ineq.rows.ptr.astype(np.int64)
    friction = np.repeat(ineq.friction, ptr[1:] - ptr[:-1])  # of each block of a point
    rough = ineq.rows.slot[: len(friction)][(friction > 0) & (ineq.arm[: len(friction)] > 0)].tolist()
    rough += touching.ball_slot[touching.ball_friction > 0].tolist()
    ball = next((rigid[slot] for slot in rough if slot in rigid), None)
    if ball is not None:
        return f"the rigid ball '{ball}' has friction, which would turn it; make it a particle, or set friction to 0"
    row, places = np.unique(ineq.rows.spin_row, return_counts=True)
    if (places > 1).any():
        name = model.inequality_names[int(row[places > 1][0])]
        return f"the inequality '{name}' is between places on two rigid bodies; make one of them a particle"
    return None


def _of_seams(model: Model) -> str | None:
    """Refuse contacts between deformables that are sewn together: they would always touch along the seam."""
    deformable_of = {int(slot): k for k, deformable in enumerate(model.deformables) for slot in deformable.slots}
    pairs = {tuple(pair) for pair in model.touching.deformable_pairs.tolist()}
    for pin in pins_of(model):
        ends = tuple(sorted(deformable_of.get(point, -1) for point in pin.points))
        if ends in pairs:
            a, b = (model.deformables[k].name for k in ends)
            return f"'{a}' is sewn to '{b}' ('{pin.name}'), and they may touch; leave that contact out, or the pin"
    return None


def refuses_beyond_hard_edges(model: Model) -> str | None:
    if model.inequality_names or len(model.touching) or any(deformable.is_limited for deformable in model.deformables):
        return "it has limits or contacts, and a projection knows equalities only; use implicit_first"
    return refuses(model)


def refuses_beyond_active_limits(model: Model) -> str | None:
    """Why the papers' step (active_limits.py) can not treat a model."""
    other = next((deformable for deformable in model.deformables if deformable.system == "nodes"), None)
    if other is not None:
        return f"'{other.name}' has system 'nodes' and others 'active'; give all of them the same"
    rules = {deformable.limit_rule for deformable in model.deformables}
    if len(rules) > 1:
        return "its deformables have different limit rules, and system 'active' knows one for all; give all the same"
    if model.row_count:
        name = model.constraint_info[0].name
        return f"it has the constraint '{name}', but system 'active' holds limits and contacts alone; leave out either"
    touching = model.touching
    if len(touching.deformable_pairs):
        name = model.deformables[int(touching.deformable_pairs[0, 0])].name
        return (f"'{name}' may touch itself or other cloth, but system 'active' knows contacts with obstacles and "
                "balls alone; leave that contact out, or system")
    if model.inequalities.friction.any() or touching.ball_friction.any():
        return "it has friction, which system 'active' does not know; set friction to 0, or leave system out"
    if any(info.kind == "rigid" and info.motion == "free" for info in model.body_info):
        return "it has free rigid bodies, which system 'active' does not know; make them particles, or leave system out"
    return refuses(model)


def may_choose(model: Model) -> bool:
    """Whether system="auto" has a choice: the model asks for no system, and both can treat it."""
    return refuses_beyond_active_limits(model) is None and all(one.is_limited for one in model.deformables)


def enforced_by_multipliers(method: Method, projects: bool = False, **declared: Any) -> Method:
    """The algorithm of step.py under a method's name; `declared` are further fields of its declaration."""

    def prepare(model, system, state, values):
        if len(model.touching.deformable_pairs):
            state = with_pairs(state, PAIRS_PER_NODE * sum(len(deformable.slots) for deformable in model.deformables))
        context = cloth_context(model, state, float(values[base.TOLERANCE]), int(values[UNCONSTRAINED_RULE]), projects)
        return state, with_solvers(system, state, context)

    def grow(model, system, state, values, context, least):
        return with_pairs(state, max(least, 2 * len(state.pairs))), with_more_pairs(context)

    def solver(system, context):
        return f"sparse Cholesky, {3 * len(context.linear.nodes.order):,} rows (three for each node of deformables)"

    return replace(
        method, form="deformable", step=step.step, options=OPTIONS, memory=memory_of, shortest=0.5,
        hooks=replace(method.hooks, prepare=prepare, grow=grow, drain=drain, observe=records.observe,
                      measure=records.measure, solver=solver, functions=280),
        tolerance=TOLERANCE, takes_tolerance=True,
        refuses=refuses_beyond_hard_edges if projects else refuses, orders={}, level="position, to the tolerance",
        order=1, order_position=None, order_velocity=1, levels=("position",),
        cloth_contacts=ClothContacts(tuple(RELEASE_RULES), ("position", "velocity"), not projects), **declared,
    )  # fmt: skip


IMPLICIT_FIRST = enforced_by_multipliers(
    METHODS["implicit_first"],
    algorithm="implicit_multipliers",
    doc="One implicit Euler step in which multipliers hold hard edges, pins, limits and contacts, by Newton's method; "
    "where the active set does not converge, by an interior point or an augmented Lagrangian, in substeps if need be.",
    source="Hong ICRA 2005 (11)-(16), solved to the end; Mehrotra 1992; Li et al. 2020 (motion without crossings)",
    solves="2 to 5, up to 40 and more in impacts",
)
ACTIVE_LIMITS = replace(
    IMPLICIT_FIRST, form="active", step=active_limits.step, memory=active_context.memory_of,
    refuses=refuses_beyond_active_limits, tolerance=active_limits.TOLERANCE, algorithm="active_limits",
    hooks=replace(
        IMPLICIT_FIRST.hooks, prepare=active_context.prepare, grow=None, drain=lambda ctx: drain(ctx.contacts),
        observe=active_limits.observe, measure=active_limits.measure, functions=90,
        remedy="Try a smaller dt, or system='auto', which takes such steps with all nodes.",
        solver=lambda system, context: f"conjugate gradients for active limits, of {len(context.limits.i):,}",
    ),
    doc="Explicit springs in small steps; those beyond their limit, and contacts, are constraints in a linear system "
    "of their own (system='active').",
    source="Hong ICRA 2005 V; Hong, Welch, Choi 2005 section 4",
    solves="0 where no limit acts, about 1 in each small step where some do",
)  # fmt: skip
CHOICE = replace(
    IMPLICIT_FIRST, form="choice", step=choice.step_chosen, memory=choice.memory_of,
    tolerance=active_limits.TOLERANCE, algorithm="chosen_system", fits=may_choose, otherwise=IMPLICIT_FIRST,
    hooks=replace(
        IMPLICIT_FIRST.hooks, prepare=choice.prepare_with(IMPLICIT_FIRST.hooks.prepare, TOLERANCE), grow=None,
        drain=choice.drain, observe=choice.observe, measure=choice.measure, info=choice.info, functions=370,
        solver=lambda system, context: f"{IMPLICIT_FIRST.hooks.solver(system, context.nodes)}, or "
                                       f"{ACTIVE_LIMITS.hooks.solver(system, context.active)}",
    ),
    doc="Active limits or implicit multipliers, whichever takes less work as a run goes on, by counts of operations "
    "(system='auto').",
    source="Hong ICRA 2005 V, or (11)-(16) solved to the end",
    solves="as those",
)  # fmt: skip
FAST_PROJECTION = enforced_by_multipliers(
    METHODS["fast_projection"],
    projects=True,
    algorithm="length_projection",
    doc="One linear solve of the implicit Euler step, then hard edges brought to their lengths by conjugate gradients.",
    source="Goldenthal et al. 2007",
    solves="1, and more where edges are far off",
)
DEFORMABLE_METHODS: dict[str, Method] = {
    method.name: method
    for method in (IMPLICIT_FIRST, FAST_PROJECTION, xpbd.METHOD, provot.METHOD, implicit_euler.METHOD)
}
