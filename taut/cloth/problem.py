"""How the context of a run (context.py) is made of a model."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..contact.problem import event_buffers
from ..forces.spring_law import Springs
from ..geometry.ccd_filter import filter_work as motion_work
from ..geometry.proximity import proximity_rows as near_work
from ..geometry.proximity import surface
from ..model.arrays import State
from ..model.dispatch import FORCE_CODES
from ..model.model import Model
from .codes import FORCE_BEFORE, SUBSTEPS
from .contact_events import impulses
from .contact_rows import contact_rows
from .contact_schur import contact_schur
from .context import ClothContext, ClothProblem, LinearWork, SelfContact, Solvers, StepMemory, StepWork
from .length_projection import length_system
from .release import release_rules
from .rigid_coupling import NONE, rotations_of
from .settings import current
from .unknowns import Unknowns, unknowns_of


def cloth_context(model: Model, state: State, tolerance: float, prediction: int, projects: bool) -> ClothContext:
    """The context of a run, with no solver's address in it."""
    reaching = prediction == SUBSTEPS and not model.is_unilateral
    of = unknowns_of(model, state.memory, reaching, lean=reaching and projects)
    first = len(of.edges.i) + len(of.external.phi) + 3 * len(of.attachments.row)
    settings = current()
    problem = _problem(model, of, tolerance, prediction, projects)
    hard = np.stack([of.edges.i, of.edges.j], axis=1)[: len(of.edges.i) * projects]
    context = ClothContext(
        problem, _memory(state, first), of.edges, of.external, _self_contact(model), of.attachments,
        rotations_of(model, of.unknown, len(of.slot)), _linear(of), contact_schur(0, False, 0, 0),
        length_system(hard, problem.w, settings.projection.length_softness), _work(model, of, first),
        model.inequalities, Solvers(0, 0, 0, 0),
        release_rules(model, of.external.slot[:, :2]), event_buffers(keep_log=False),
        impulses(state, len(of.external.phi)), settings,
    )  # fmt: skip
    return _with_capacity(context)


def _with_capacity(context: ClothContext) -> ClothContext:
    """Rows between deformables for as many pairs as the search can find."""
    contact = context.self_contact
    capacity = len(contact.near.distance) if context.problem.has_self_contact else 0
    entries, nodes = context.settings.contacts.envelope_entries, len(context.linear.nodes.order)
    schur = contact_schur(capacity, bool(contact.friction.any()), nodes, entries)
    contact = contact._replace(rows=contact_rows(capacity), gap_target=np.zeros(capacity))
    return context._replace(self_contact=contact, schur=schur)


def with_more_pairs(context: ClothContext) -> ClothContext:
    """The context with a larger capacity for near pairs, after a search that exceeded it."""
    contact = context.self_contact
    near, motion = near_work(contact.surface, contact.near), motion_work(contact.surface, contact.motion)
    return _with_capacity(context._replace(self_contact=contact._replace(near=near, motion=motion)))


def _problem(model: Model, of: Unknowns, tolerance: float, prediction: int, projects: bool) -> ClothProblem:
    w = model.bodies.inverse_mass[:, 0].copy()
    w[model.bodies.spin_slot] = 0.0
    w_unpinned = w.copy()
    w_unpinned[[*of.attachments.node[:, 1], *of.attachments.to[:, 1]]] = 0.0
    mass = _masses(model, of.slot)
    batch = np.flatnonzero(model.forces.code == FORCE_CODES["springs"])
    return ClothProblem(
        tolerance=tolerance, has_limits=int(of.edges.one_sided.any()),
        paper_rule=int(any(deformable.limit_rule == "paper" for deformable in model.deformables)),
        has_self_contact=int(len(model.touching.deformable_pairs) > 0), projects=int(projects), prediction=prediction,
        frequency=frequency(w, of.explicit),
        mean_edge=float(np.concatenate([deformable.lengths for deformable in model.deformables]).mean()),
        extent=float(min(np.ptp(model.x[deformable.slots], axis=0).max() for deformable in model.deformables)),
        node_mass=float(mass[: len(of.nodes.order), 0].mean()),
        smallest_ball=float(model.touching.ball_radius.min(initial=np.inf)),
        unknown=of.unknown, slot=of.slot, mass=mass,
        length_scale=_length_scales(model, of.slot), floating=_floating(model, of), w=w, w_unpinned=w_unpinned,
        hard_row=of.hard_row, springs=of.springs, spring_node_pair=of.spring_node_pair,
        damping=of.explicit.damping.copy(),
        spring_batch=batch, spring_members=model.forces.members[batch].copy(), contact_radius=of.contact_radius,
    )  # fmt: skip


def _memory(state: State, multipliers: int) -> StepMemory:
    slots = len(state.x)
    first, second = multipliers, multipliers + 3 * slots
    history = state.memory[second : second + FORCE_BEFORE + 3 * slots]
    return StepMemory(state.memory[:first], state.memory[first:second].reshape(slots, 3), history)


def _linear(of: Unknowns) -> LinearWork:
    every, nodes = len(of.slot), len(of.nodes.order)
    b = 3 * (every - nodes)
    return LinearWork(
        of.nodes, np.zeros((b, b)), np.zeros((b, nodes, 3)), np.zeros((b, nodes, 3)), np.zeros((every, 3)),
        np.zeros((every, 3)), np.zeros((2, every, 3)),
    )  # fmt: skip


def _work(model: Model, of: Unknowns, multipliers: int) -> StepWork:
    slots = len(model.x)
    return StepWork(
        x_pred=np.zeros((slots, 3)), x_start=np.zeros((slots, 3)),
        x_trial=np.zeros((slots, 3)), v_pred=np.zeros((slots, 3)), slow_force=np.zeros((slots, 3)),
        v_mean=np.zeros((slots, 3)), explicit_springs=of.explicit, saved=np.zeros((2, 3, slots, 3)),
        saved_quat=np.zeros((2, *model.quat.shape)),
        saved_ledger=np.zeros((2, 4)), saved_multipliers=np.zeros((2, multipliers)),
        saved_history=np.zeros((2, FORCE_BEFORE + 3 * slots)),
        newton_x=np.zeros((slots, 3)), newton_multipliers=np.zeros(multipliers),
        centre=np.zeros((len(model.deformables), 4)), dt=np.ones(1), substeps=np.ones(1, np.int64),
        friction_frozen=np.zeros(1, np.int64), counts=np.zeros(3, np.int64),
    )  # fmt: skip


def _masses(model: Model, slot: np.ndarray) -> np.ndarray:
    """A scalar coordinate uses the first of three numbers; the others have its mass and no forces."""
    mass = model.bodies.mass[slot]
    return np.where(mass > 0.0, mass, mass[:, :1])


def _length_scales(model: Model, slot: np.ndarray) -> np.ndarray:
    scales, mass = np.ones(len(slot)), model.bodies.mass
    turns = np.isin(slot, model.bodies.spin_slot)
    scales[turns] = np.sqrt(mass[slot[turns]].max(axis=1) / mass[slot[turns] - 1, 0])
    return scales


def _floating(model: Model, of: Unknowns) -> np.ndarray:
    """Deformables, and what is pinned to them, are one group, called by the number of its first deformable."""
    count = len(model.deformables)
    group = np.full(len(model.x), count)
    for k, deformable in enumerate(model.deformables):
        group[deformable.slots] = k
    for a, b in zip(of.attachments.node[:, 1], of.attachments.to[:, 1]):
        first, second = sorted((group[a], group[b]))
        group[group == second if second < count else b] = first
    for deformable in model.deformables:
        if (of.unknown[deformable.slots] < 0).any():
            group[group == group[deformable.slots[0]]] = count
    return np.where(group < count, group, NONE)[of.slot]


def _self_contact(model: Model) -> SelfContact:
    deformables, touching, slots = model.deformables, model.touching, len(model.x)
    count = len(deformables)
    allowed, friction = np.zeros((count, count), bool), np.zeros((count, count))
    for (i, j), coefficient in zip(touching.deformable_pairs, touching.pair_friction):
        allowed[i, j] = allowed[j, i] = True
        friction[i, j] = friction[j, i] = coefficient
    deformable_of = np.zeros(slots, np.int64)
    for k, deformable in enumerate(deformables):
        deformable_of[deformable.slots] = k
    thickness = np.array([deformable.thickness for deformable in deformables])
    of = surface(np.concatenate([deformable.triangles for deformable in deformables]), deformable_of, allowed)
    return SelfContact(
        contact_rows(0), np.zeros(1, np.int64), np.zeros(0), of, near_work(of), motion_work(of), np.ones(slots),
        np.zeros((slots, 3)), 0.5 * (thickness[:, None] + thickness), friction,
    )  # fmt: skip


def frequency(w: np.ndarray, springs: Springs) -> float:
    """An upper bound [1/s] of the frequencies of springs and dampers: ω² ≤ max 2 w Σ k, and 2 w Σ c."""
    stiff, damped = np.zeros(len(w)), np.zeros(len(w))
    for end in (springs.i, springs.j):
        np.add.at(stiff, end, np.maximum(springs.k, springs.k2))
        np.add.at(damped, end, springs.damping)
    return max(sqrt(2.0 * float((w * stiff).max())), 2.0 * float((w * damped).max()))
