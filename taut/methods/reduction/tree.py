"""Reduced coordinates of links: particles hung from anchors, or from each other, by distances.

    n = (x - x_above)/L,   ṅ = (v - v_above)/L without its part along n          (1)
    plane:   ξ = atan2(n·e₁, n·e₀),   ξ̇ = ṅ·(cos ξ e₁ - sin ξ e₀)                 (2)

Here the tree is found in a model and its start taken from the bodies; sweeps.py moves it. Where nothing can
leave a plane, a link has one angle; in space it keeps n and ṅ, and each step makes its own charts of them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from ...errors import TautError
from ...expressions import Signal, codegen
from ...model.arrays import Array, State, System
from ...model.dispatch import CONSTRAINT_CODES, FORCE_CODES
from ...model.model import ConstraintInfo, Model
from .jacobian import on_positions
from .sweeps import PLANAR, SPATIAL, Tree, allocate

AGREES = 1e-9


class _Link(NamedTuple):
    info: ConstraintInfo
    slot: int
    above: int
    parent: int


def _links(model: Model) -> list[_Link] | str:
    """Links from the anchors down, or the reason why the distances do not form a tree."""
    distances = on_positions(model)
    for info in distances:
        if info.kind != "distance":
            what = f"constraint '{info.name}' of kind {info.kind}"
            return f"{what} has no reduced coordinates in a scene with distances; give scene.reduced(...)"
    moving = set(model.signals.to_constraint[:, 1].tolist())
    if moving:
        length_at = _length_positions(model)
        for info in distances:
            if length_at[info.rows[0]] in moving:
                return f"the length of constraint '{info.name}' changes with time; give scene.reduced(...)"
    driven_slots = {body.slot for body in model.body_info if body.motion == "driven"}
    driven_places = {int(p) for p, slot in zip(model.places.point, model.places.slot) if slot in driven_slots}
    at_point: dict[int, list[ConstraintInfo]] = defaultdict(list)
    for info in distances:
        for point in info.points:
            at_point[point].append(info)
            if point in driven_places:
                return f"constraint '{info.name}' is on a driven rigid body's place; give scene.reduced(...)"
    free = model.bodies.inverse_mass[:, 0] > 0
    link_of: dict[int, int] = {}  # by lower end
    done: set[str] = set()
    links: list[_Link] = []
    queue = [point for point in sorted(at_point) if not free[point]]
    for above in queue:  # grows while it is read
        for info in at_point[above]:
            if info.name in done:
                continue
            below = info.points[1] if info.points[0] == above else info.points[0]
            if not free[below] or below in link_of:
                return f"constraint '{info.name}' closes a loop; give scene.reduced(...)"
            done.add(info.name)
            link_of[below] = len(links)
            links.append(_Link(info, below, above, link_of.get(above, -1)))
            queue.append(below)
    for body in model.body_info:
        if body.motion == "free" and body.slot not in link_of:
            return f"'{body.name}' hangs from no fixed or driven anchor; give scene.reduced(...)"
    return links


def _length_positions(model: Model) -> dict[int, int]:
    """Where the length of each row stands among the parameters."""
    batches = model.constraints
    return {
        int(at[3]) + i: int(at[1]) + i
        for code, count, at in zip(batches.code, batches.members, batches.at)
        if code == CONSTRAINT_CODES["distance"]
        for i in range(count)
    }


def refuses(model: Model) -> str | None:
    links = _links(model)
    return links if isinstance(links, str) else None


def _across(model: Model, v: Array) -> int | None:
    """The axis across a plane that nothing leaves, or None: then the motion is treated in space."""
    if len(model.quat) or set(model.forces.code) - {FORCE_CODES["spring"], FORCE_CODES["drag"]}:
        return None
    if model.inequality_names or model.rows.at_velocity.any():
        return None  # they may push out of the plane
    for axis in (2, 0, 1):
        inside = not np.ptp(model.x[:, axis]) and not v[:, axis].any() and model.gravity[axis] == 0.0
        if inside and all(
            model.signals.address[signal] == codegen.signal_address(Signal(float(model.x[slot, axis])))
            for signal, slot, component in model.signals.driven
            if component == axis
        ):
            return axis
    return None


def prepare(model: Model, system: System, state: State) -> tuple[Tree, Array]:
    """Tables, and the coordinates: angles in a plane; in space directions and their rates, from which each
    step makes its charts."""
    links = _links(model)
    if isinstance(links, str):  # `refuses` has said so before
        raise TautError(links)
    across = _across(model, state.v)
    at = _length_positions(model)
    tree = allocate(
        SPATIAL if across is None else PLANAR,
        [link.slot for link in links],
        [link.above for link in links],
        [link.parent for link in links],
        [float(model.constraints.p[at[link.info.rows[0]]]) for link in links],
    )
    d = state.x[tree.slot] - state.x[tree.above]
    lengths = np.linalg.norm(d, axis=1)
    off = np.abs(lengths / tree.length - 1.0)
    if off.max() > AGREES:
        k = int(np.argmax(off))
        raise TautError(
            f"constraint '{links[k].info.name}' has length {tree.length[k]:g} m, but its points start "
            f"{lengths[k]:.10g} m apart, and reduced coordinates can not; move them or change the length."
        )
    tree.n[:] = d / lengths[:, None]  # (1)
    rate = (state.v[tree.slot] - state.v[tree.above]) / tree.length[:, None]
    tree.n_t[:] = rate - np.sum(rate * tree.n, axis=1)[:, None] * tree.n
    for k in range(len(links)):  # what the coordinates say, so that the first record agrees with them
        state.x[tree.slot[k]] = state.x[tree.above[k]] + tree.length[k] * tree.n[k]
        state.v[tree.slot[k]] = state.v[tree.above[k]] + tree.length[k] * tree.n_t[k]
    if across is None:
        return tree, np.array([tree.n.ravel(), tree.n_t.ravel()])
    e0, e1 = np.eye(3)[(across + 1) % 3], np.eye(3)[(across + 2) % 3]
    tree.frame[:, 0], tree.frame[:, 1] = e0, e1
    angle = np.arctan2(tree.n @ e1, tree.n @ e0)
    across_link = np.cos(angle)[:, None] * e1 - np.sin(angle)[:, None] * e0
    return tree, np.array([angle, np.sum(tree.n_t * across_link, axis=1)])  # (2)
