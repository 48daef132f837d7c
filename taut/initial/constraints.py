"""Before the first step: look at the constraints at t = 0, name what is redundant or in conflict, and
make the initial position (equalities.py) and velocity consistent; which rows depend on each other: dependence.py.

    v' = v + W Jᵀ ν,    J v' + Φ_t = 0              (1)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.linalg import norm

from ..compiled import entry
from ..contact.broad_phase import deepest_overlap, update_pairs
from ..contact.collect import evaluate_inequalities
from ..contact.problem import ContactContext
from ..contact.rows import NO
from ..contact.time_stepping import correct_positions
from ..errors import TautError, listed, note, warn
from ..model import Model
from ..model.arrays import State, System
from ..model.evaluate import set_time
from ..model.scales import row_scales, scene_size
from .dependence import evaluate_start, explain, project_velocity
from .equalities import AS_GIVEN, REPAIR, meet_equalities
from .rates import meet_rates


@dataclass(frozen=True)
class Start:
    """What was found at t = 0."""

    conflicting: bool  # rows contradict each other: a residual is acceptable
    size: float  # of the scene [m]
    scale: np.ndarray  # (rows,) by which an error of each equality is judged (model/scales.py)


def prepare_start(model: Model, system: System, state: State, mode: str, until: float = 0.0) -> Start:
    """Check the equalities at t = 0 and, unless `mode` is "as_given", make positions and velocities meet them.

    until  the duration of the run [s], over which lengths that change are looked at for their scale
    """
    if model.row_count == 0:
        return Start(False, scene_size(model, state.x), np.zeros(0))
    dependent = evaluate_start(system, state)
    work = system.work
    phi, rate = work.phi.copy(), work.b.copy()
    for name, values in (("Φ", phi), ("dΦ/dt", rate)):
        if not np.isfinite(values).all():
            row = model.row_names[int(np.flatnonzero(~np.isfinite(values))[0])]
            raise TautError(f"constraint '{row}': {name} is not a number at t = 0; look at its formula, "
                            "or move its points apart.")
    _refuse_idle_rows(model, phi, rate)
    size = scene_size(model, state.x)
    start = Start(False, size, row_scales(model, size, work.J, until))
    if dependent and model.row_count == sum(len(deformable.hard_edges) for deformable in model.deformables):
        # In any flat sheet; and edges that are all at their length (deformables.py) do not contradict each other.
        note("hard edges of deformables depend on each other in the initial position")
    elif dependent:
        start = replace(start, conflicting=explain(model, system, state, start.scale, size, mode, until))
        evaluate_start(system, state)
    if meet_equalities(model, system, state, phi, start.scale, size, mode, start.conflicting):
        evaluate_start(system, state)
        rate = work.b.copy()
    if mode != AS_GIVEN and meet_rates(model, state, partial(project_velocity, system, state)):
        evaluate_start(system, state)
        rate = work.b.copy()
    speed = 1.0 + float(norm(state.v, axis=1).max(initial=0.0))
    if np.abs(rate).max() > 1e-12 * speed:
        worst = int(np.argmax(np.abs(rate)))
        broken = (f"the initial velocity breaks constraint '{model.row_names[worst]}' at a rate of {rate[worst]:.3g} "
                  f"{model.rate_unit(worst)}")
        if mode == AS_GIVEN:
            note(f"{broken}; it was left so (start='as_given')")
        else:
            before = state.v.copy()
            project_velocity(system, state)  # (1)
            whose = _most(model, before, state.v)
            warn(f"{broken}; it was made consistent (start='as_given' keeps it){whose}")
            evaluate_start(system, state)
    system.work.counts[:] = 0
    return start


def _most(model: Model, before: np.ndarray, after: np.ndarray) -> str:
    """Whose velocity was changed most, by kinetic energy of the change; for bodies that moved before."""
    energy = (model.bodies.mass * (after - before) ** 2).sum(axis=1)
    bodies = [(body, slot, unit) for body in model.body_info if body.motion == "free" for slot, unit in
              ((body.slot, "m/s"), (body.slot + 1, "rad/s"))[: 2 if body.kind == "rigid" else 1]]  # fmt: skip
    body, slot, unit = max(bodies, key=lambda found: energy[found[1]])
    if not before.any():
        return ""
    return (f"; most for '{body.name}', from {norm(before[slot]):.4g} to {norm(after[slot]):.4g} {unit} "
            "(joints take a rate= to start with)")


def _refuse_idle_rows(model: Model, phi: np.ndarray, rate: np.ndarray) -> None:
    """A broken row between bodies that are fixed or driven can not be enforced by any force."""
    rows = model.rows
    row_of = np.concatenate([np.repeat(np.arange(model.row_count), np.diff(rows.ptr)), rows.spin_row])
    free = np.asarray(model.bodies.inverse_mass.any(axis=1))
    able = np.bincount(row_of, weights=free[rows.slot], minlength=model.row_count) > 0
    scale = max(1.0, float(np.abs(model.x).max(initial=0.0)))
    for r in np.flatnonzero(~able & ((np.abs(phi) > 1e-9 * scale) | (np.abs(rate) > 1e-9 * scale))):
        raise TautError(f"constraint '{model.row_names[r]}' is broken (Φ = {phi[r]:.3g}, changing by {rate[r]:.3g} "
                        f"{model.rate_unit(int(r))}) and acts only on fixed or driven bodies, which no force can move; "
                        "free one of them or correct its value.")


@entry
def inequalities_at_start(system, state, ctx):
    """Φ of all inequalities at t = 0; returns the deepest overlap of pairs of balls."""
    set_time(system, 0.0, state.x, state.quat, state.v)
    evaluate_inequalities(system, ctx, 0.0, state.x, state.quat, state.v, NO)
    update_pairs(state, ctx, 0.0, 1.0)
    return deepest_overlap(state, ctx)


@entry
def project_apart(system, state, ctx, tolerance):
    """Move bodies, each by its inverse mass, until no inequality is violated; velocities are left to the caller."""
    return correct_positions(system, state, ctx, 0.0, 1.0, tolerance, NO)


def check_inequalities(model: Model, system: System, state: State, ctx: ContactContext, mode: str) -> None:
    """Refuse a start that breaks inequalities, or with the mode "repair" move the bodies out of each other."""
    depth, unit, names = _broken(model, system, state, ctx)
    tolerance = 1e-9 * max(1.0, float(np.abs(model.x).max(initial=0.0)))
    if depth <= tolerance:
        return
    before = State(*(array.copy() for array in state))
    project_apart(system, state, ctx, 0.1 * tolerance)
    left, unit_left, stubborn = _broken(model, system, state, ctx)
    moved_x, moved_quat = state.x.copy(), state.quat.copy()
    for array, saved in zip(state, before):
        array[...] = saved
    ctx.events.filled[0] = 0
    if not left <= tolerance:
        raise TautError(f"inequalities {listed(stubborn)} contradict each other or other constraints: however the "
                        f"bodies are moved, {left:.3g}{unit_left} remains. Remove one or change its value.")
    if mode != REPAIR:
        raise TautError(f"the start breaks {listed(names)}, at worst by {depth:.3g}{unit}; place the bodies so that "
                        "they hold, or let taut move them with start='repair' (--repair).")
    state.x[:], state.quat[:] = moved_x, moved_quat
    far = float(np.abs(moved_x - before.x).max())
    warn(f"the start broke {listed(names)}, at worst by {depth:.3g}{unit}; bodies were moved by up to {far:.3g} m")


def _broken(model: Model, system: System, state: State, ctx: ContactContext) -> tuple[float, str, list[str]]:
    """The largest violation with its unit, and the names of what is broken, worst first."""
    overlap = inequalities_at_start(system, state, ctx)
    phi = ctx.ineq.phi
    if not np.isfinite(phi).all():
        name = model.inequality_names[int(np.flatnonzero(~np.isfinite(phi))[0])]
        raise TautError(f"inequality '{name}': Φ is not a number at t = 0; look at its formula, or move its points.")
    violations = [(-float(phi[r]), model.inequality_names[r]) for r in np.argsort(phi) if phi[r] < -1e-12]
    if overlap > 0.0:
        slots = {info.slot: info.name for info in model.body_info}
        pair = state.pairs[int(ctx.pairs.output[0])]
        a, b = (slots[int(model.inequalities.ball_slot[int(k)])] for k in pair)
        violations.append((overlap, f"{a}|{b}"))
    violations.sort(key=lambda entry: -entry[0])
    if not violations:
        return 0.0, "", []
    units = {name: unit for info in model.inequality_info for name, unit in zip(info.row_names(), info.units)}
    unit = units.get(violations[0][1], "m")  # of groups with a broad phase, which are not recorded, it is a distance
    return violations[0][0], "" if unit == "1" else f" {unit}", [name for _, name in violations]
