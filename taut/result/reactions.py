"""What one constraint does to its bodies, at each record.

    F_i = Σ_r λ_r ∂Φ_r/∂x_i             on point i                                      (1)
    τ_i = (x_i - c_i) × F_i             about the centre of mass c_i of its body        (2)
"""

from __future__ import annotations

import numpy as np

from ..compiled import entry
from ..contact.algorithms import evaluation_context
from ..contact.collect import add_candidates, evaluate_inequalities
from ..contact.rows import NO, ZERO
from ..model.arrays import System
from ..model.evaluate import begin_step, copy, evaluate_constraints, set_time
from ..model.model import ConstraintInfo, Model
from .records import Records

WORLD = "world"
Before = tuple[np.ndarray, np.ndarray, np.ndarray]


@entry
def reactions(system, before, now, lam, rows, points, centre, out_force, out_arm):
    """(1), and the arms x_i - c_i, of the constraint with these rows and points."""
    work, ptr = system.work, system.rows.ptr
    time, x, quat, v = now
    time_before, x_before, quat_before = before
    for k in range(time.shape[0]):
        # λ belongs to the charts of the step that led to this record, chosen where that step began.
        copy(x_before[k], work.x1)
        copy(quat_before[k], work.quat1)
        begin_step(system, time_before[k], work.x1, work.quat1, work.v1)
        copy(x[k], work.x1)
        copy(quat[k], work.quat1)
        copy(v[k], work.v1)
        set_time(system, time[k], work.x1, work.quat1, work.v1)
        evaluate_constraints(system, time[k], work.x1, work.quat1, work.v1, False, work.J)
        for i in range(points.shape[0]):
            for c in range(3):
                total = 0.0
                for r in rows:
                    total += lam[k, r] * work.J[ptr[r] + i, c]
                out_force[k, i, c] = total
                out_arm[k, i, c] = work.x1[points[i], c] - work.x1[centre[i], c]


def forces_and_torques(
    model: Model, records: Records, info: ConstraintInfo, dt: float, every: int
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names of the constraint's bodies, forces [N] and torques [N m] on them, shape (T, bodies, 3).

    Places in the world count as one body, "world", about which nothing turns. Of a coordinate the first
    number is the generalised force.
    """
    before = one_step_before(records, dt, every)
    return _by_body(model, *at_points(model, model.system(), records, info, before))


def at_points(
    model: Model, system: System, records: Records, info: ConstraintInfo, before: Before
) -> tuple[np.ndarray, ...]:
    """Of each point of a constraint: the slot of its centre (or itself, in the world), (1), its arm x - c, and (2).

    system  of the model, to work with
    before  what `one_step_before` tells of these records
    """
    if info.sense != "==":
        return _of_inequality(model, system, records, info)
    now = (records.time, records.x, records.quat, records.v)
    parts = []
    for part in info.parts:
        points = np.array(part.points, np.int64)
        centre, base = _carriers(model, points)
        force, arm = np.zeros((2, len(records), len(points), 3))
        reactions(system, before, now, records.lam, np.array(part.rows, np.int64), points, base, force, arm)
        torque = np.cross(arm, force)  # (2)
        force[:, np.isin(points, model.directions)] = 0.0  # what acts on a direction only turns
        parts.append((centre, force, arm, torque))
    centres, forces, arms, torques = zip(*parts)
    return np.concatenate(centres), *(np.concatenate(each, axis=1) for each in (forces, arms, torques))


def _carriers(model: Model, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The slot of each point's body, and the slot that its arm begins at: of a direction, one at the origin."""
    centre, base = points.copy(), points.copy()
    for point, slot, from_ in zip(model.places.point, model.places.slot, model.places.base):
        centre[points == point], base[points == point] = slot, from_
    return centre, base


def _by_body(
    model: Model, centre: np.ndarray, force: np.ndarray, arm: np.ndarray, torque: np.ndarray
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Forces and torques on points, added up by the bodies that own them."""
    owner = {body.slot: body.name for body in model.body_info}
    names = [owner.get(int(slot), WORLD) for slot in centre]
    bodies = list(dict.fromkeys(names))
    total, turning = np.zeros((2, len(force), len(bodies), 3))
    for i, name in enumerate(names):
        total[:, bodies.index(name)] += force[:, i]
        turning[:, bodies.index(name)] += torque[:, i]
    return bodies, total, turning


def one_step_before(records: Records, dt: float, every: int) -> Before:
    """Time and configuration where the step that led to each record began.

    They are known where all steps are kept, else estimated. The first record has no step before it.
    """
    if every == 1:
        kept = (records.time, records.x, records.quat)
        time, x, quat = (np.concatenate([values[:1], values[:-1]]) for values in kept)
        return time, x, quat
    time, x = records.time - dt, records.x - dt * records.v
    time[:1], x[:1] = records.time[:1], records.x[:1]
    return time, x, records.quat


@entry
def contact_reactions(system, state, ctx, now, multipliers, rows, points, base, out):
    """(1) of an inequality, friction included; what touches a rigid ball acts on its surface."""
    time, x, quat, v = now
    lam, slide = multipliers
    out_force, out_arm = out
    cand, ineq = ctx.candidates, ctx.ineq
    count = rows.shape[0]
    for k in range(time.shape[0]):
        copy(x[k], state.x)
        copy(quat[k], state.quat)
        copy(v[k], state.v)
        set_time(system, time[k], state.x, state.quat, state.v)
        evaluate_inequalities(system, ctx, time[k], state.x, state.quat, state.v, NO)
        for i in range(count):
            ctx.ineq_work.selected[i] = rows[i]
        add_candidates(system, ctx, state.quat, ZERO, count)
        for i in range(count):
            first = ineq.rows.ptr[rows[i]]
            size = 0.0
            for p in range(base.shape[0]):
                at = cand.ptr[i] + p
                for c in range(3):
                    out_force[k, p, c] += lam[k, i] * cand.J[at, c]
                    if slide.shape[1] > 0:
                        out_force[k, p, c] += slide[k, i, 0] * cand.T1[at, c] + slide[k, i, 1] * cand.T2[at, c]
                size = (cand.J[at, 0] ** 2 + cand.J[at, 1] ** 2 + cand.J[at, 2] ** 2) ** 0.5
                for c in range(3):
                    out_arm[k, p, c] = state.x[points[p], c] - state.x[base[p], c]
                    if ineq.arm[first + p] > 0.0 and size > 0.0:
                        out_arm[k, p, c] -= ineq.arm[first + p] * cand.J[at, c] / size


def _of_inequality(
    model: Model, system: System, records: Records, info: ConstraintInfo
) -> tuple[np.ndarray, ...]:
    state = model.initial_state()
    ctx = evaluation_context(model, state)
    columns = np.array(info.rows) - model.row_count
    rows = model.inequalities.listed[columns]
    points = np.array(info.points, np.int64)
    centre, base = _carriers(model, points)
    force = np.zeros((len(records), len(points), 3))
    arm = np.zeros_like(force)
    lam = records.lam[:, list(info.rows)] * model.inequalities.sign[rows]
    slide = records.slide[:, columns] if records.slide.shape[1] else np.zeros((len(records), 0, 2))
    x = np.zeros((len(records), *model.x.shape))
    v = np.zeros_like(x)
    x[:, : records.x.shape[1]], v[:, : records.v.shape[1]] = records.x, records.v
    contact_reactions(
        system, state, ctx, (records.time, x, records.quat, v),
        (np.ascontiguousarray(lam), np.ascontiguousarray(slide)), rows, points, base, (force, arm),
    )  # fmt: skip
    torque = np.cross(arm, force)  # (2)
    force[:, np.isin(points, model.directions)] = 0.0  # what acts on a direction only turns
    return centre, force, arm, torque
