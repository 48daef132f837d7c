"""The scale of a constraint, by which its errors are judged: one rule for each unit of Φ.

    m      the constraint's own length (a rod's, a sphere's radius), else the size of the scene
    rad    1 rad
    1      |J| times the size of the scene: by how much Φ changes when its points move that far; scalar coordinates
           and rotations count as 1 (rad or m)

The size of the scene is the diagonal of the box around all bodies, and places of the world and on bodies that
constraints and forces name, at the start; of a single place its distance from the origin, or else 1 m.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from .model import ConstraintInfo, Model

Array = np.ndarray
COINCIDENT = 1e-9  # of the size of the scene: points so close count as one
MANY = 64  # points of one constraint, of whose distances nothing is made
INSTANTS = 65  # at which a length that changes with time is looked at


def is_place(model: Model) -> Array:
    """(points,) whether the numbers of a point are a place [m]: not those of rotations and coordinates."""
    is_length = np.ones(len(model.x), bool)
    is_length[model.bodies.spin_slot] = False
    is_length[[body.slot for body in model.body_info if body.kind == "coordinate"]] = False
    is_length[model.directions] = False
    return is_length


def scene_size(model: Model, x: Array) -> float:
    """The size of the scene [m]. x: (..., points, 3), with the places on rigid bodies in it."""
    places = x[..., is_place(model)[: x.shape[-2]], :].reshape(-1, 3)
    if not len(places):
        return 1.0
    across = float(np.linalg.norm(np.ptp(places, axis=0)))
    return across or float(np.abs(places).max()) or 1.0


def move_scales(model: Model, x: Array) -> Array:
    """(slots,) moves that change the geometry about a slot, at x (points, 3): the shortest length of the constraints
    and forces that act on it [m], else the size of the scene; of a rotation the turn that moves its places that far, at
    most 1 rad; of a scalar coordinate 1."""
    size, place, slots = scene_size(model, x), is_place(model), model.bodies.slots
    nearest = np.full(len(x), np.inf)
    acting = [(info.points, own_scale(info, "m", np.inf)) for info in model.constraint_info]
    acting += [(force.points, np.inf) for force in model.force_info]
    for among, length in acting:
        points = [point for point in dict.fromkeys(among) if place[point]]
        lengths = pdist(x[points]) if 1 < len(points) <= MANY else np.zeros(0)
        found = [*lengths[lengths > COINCIDENT * size], length]
        nearest[points] = np.minimum(nearest[points], min(one for one in [*found, np.inf] if one > 0.0))
    on, at = model.places.point, model.places.slot
    arm = np.linalg.norm(model.places.arm, axis=1)
    turn = np.divide(nearest[on], arm, out=np.full(len(on), np.inf), where=arm > 0.0)
    carried = place[on]  # not directions
    np.minimum.at(nearest, at[carried], nearest[on][carried])
    scale = np.where(place, np.where(np.isfinite(nearest), nearest, size), 1.0)[:slots]
    np.minimum.at(scale, at[carried] + 1, turn[carried])
    return scale


def row_scales(model: Model, size: float, J: Array, until: float) -> Array:
    """(rows,) the scale of each equality, with J as evaluated at the start, for a run up to `until` [s]."""
    rows = model.rows
    row_of = np.concatenate([np.repeat(np.arange(model.row_count), np.diff(rows.ptr)), rows.spin_row])
    reach = np.where(is_place(model), size, 1.0)[rows.slot]
    change = np.sqrt(np.bincount(row_of, (J**2).sum(axis=1) * reach**2, minlength=model.row_count))
    scale = np.where(change > 0.0, change, 1.0)
    known = [(row, own_scale(info, unit, size, until))
             for info in model.constraint_info for row, unit in zip(info.rows, info.units) if unit != "1"]  # fmt: skip
    if known:
        rows_of, scales = zip(*known)
        scale[list(rows_of)] = scales
    return scale


def own_scale(info: ConstraintInfo, unit: str, size: float, until: float = 0.0) -> float:
    """The scale of a row of a constraint whose unit is m or rad."""
    if unit == "rad":
        return 1.0
    if info.length is None:
        return size
    if isinstance(info.length, float) or info.length.is_constant:
        return float(info.length if isinstance(info.length, float) else info.length.value)
    return max(abs(float(info.length.at(t)[0])) for t in np.linspace(0.0, until, INSTANTS if until > 0.0 else 1))
