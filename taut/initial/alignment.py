"""Axes that shall coincide: rows of joints hold where two axes point the same way, and where they oppose.

    Φ = u·w = 0 says z_a ⟂ x_b, but not whether z_a = z_b or z_a = -z_b                     (1)

The first is what the joint means. Where a search for Φ = 0 ends at the other, or starts beyond a right angle from the
first, bodies are turned before it, joint by joint, until all axes nearly coincide:

    R = the least turn that brings the axes of a's body to those of b's                     (2)

of which each body takes a share by its own inverse moment of inertia. Only orientations change; the search goes on from
there with all rows.
"""

from __future__ import annotations

import numpy as np

from ..model import Model
from ..model.arrays import State
from ..model.frames import multiply, rotate

Array = np.ndarray
COINCIDE = 0.5  # cosine of the angle beyond which two axes do not coincide, whatever Φ says
NEARLY = 0.99  # cosine with which turning ends
SWEEPS = 200


def misalignment(model: Model, state: State) -> Array:
    """(rows,) the angle between the axes of a row [rad] where it says that they do not coincide; 0 elsewhere."""
    found = np.zeros(model.row_count)
    if len(model.alignments):
        rows, first, second = model.alignments.T
        cosine = (_directions(model, state, first) * _directions(model, state, second)).sum(axis=1)
        angle = np.where(cosine < COINCIDE, np.arccos(np.clip(cosine, -1.0, 1.0)), 0.0)
        np.maximum.at(found, rows, angle)
        found[model.rows_off(state.x)] = 0.0
    return found


def align(model: Model, state: State) -> bool:
    """Turn bodies by (2) until axes nearly coincide; returns whether any did not."""
    joints = _joints(model, state)
    turned = False
    for _ in range(SWEEPS):
        worst = 1.0
        for pairs, bodies, in_plane in joints:
            u, w = (_directions(model, state, pairs[:, k]) for k in (0, 1))
            worst = min(worst, float((u * w).sum(axis=1).min()))
            turn = _turn_in_plane(u, w) if in_plane else _least_turn(u, w)
            for body, share in bodies:
                state.quat[body] = multiply(_quaternion(share * turn), state.quat[body])
                state.quat[body] /= np.linalg.norm(state.quat[body])
        if worst > NEARLY:
            break
        turned = True
    return turned


def _joints(model: Model, state: State) -> list[tuple[Array, list[tuple[int, float]], bool]]:
    """Of each joint with such rows: its pairs of directions (n, 2), its bodies with their shares of a turn, and
    whether one of them moves in a plane alone."""
    off = model.rows_off(state.x)
    free = [info for info in model.body_info if info.quat >= 0 and info.motion == "free"]
    inverse = {info.quat: model.bodies.inverse_mass[info.slot + 1] for info in free}
    mobility = {body: float(moments.mean()) for body, moments in inverse.items()}
    table = {row: (u, w) for row, u, w in model.alignments.tolist() if not off[row]}
    joints = []
    for info in model.constraint_info:
        pairs = np.array(list(dict.fromkeys(table[row] for row in info.rows if row in table)), np.int64).reshape(-1, 2)
        if not len(pairs):
            continue
        ends = [(_body(model, point), sign) for point, sign in zip(pairs[0].tolist(), (1.0, -1.0))]
        total = sum(mobility.get(body, 0.0) for body, _ in ends)
        if total > 0.0:
            shares = [(body, sign * mobility[body] / total) for body, sign in ends if body in mobility]
            joints.append((pairs, shares, any(not inverse[body].all() for body, _ in shares)))
    return joints


def _body(model: Model, point: int) -> int:
    """The number of the orientation that a direction turns with; -1: none, the world's."""
    k = point - len(model.x) + len(model.places.point)
    return int(model.places.body[k]) if k >= 0 else -1


def _directions(model: Model, state: State, points: Array) -> Array:
    """(n, 3) directions at the state's orientations."""
    places = model.places
    k = points - (len(model.x) - len(places.point))
    found = state.x[points]
    moving = k >= 0
    found[moving] = rotate(state.quat[places.body[k[moving]]], places.arm[k[moving]])
    return found


def _least_turn(u: Array, w: Array) -> Array:
    """The rotation vector of the least turn [rad] after which directions u (n, 3) are as near to w as they can be."""
    from scipy.spatial.transform import Rotation

    if len(u) > 1:
        return np.asarray(Rotation.align_vectors(w, u)[0].as_rotvec())  # (2)
    across, cosine = np.cross(u[0], w[0]), float(u[0] @ w[0])
    sine = float(np.linalg.norm(across))
    if sine < 1e-12:
        across = np.cross(u[0], np.eye(3)[int(np.argmin(np.abs(u[0])))])
        return np.pi * across / np.linalg.norm(across) if cosine < 0.0 else np.zeros(3)
    return np.arctan2(sine, cosine) * across / sine  # (2)


def _turn_in_plane(u: Array, w: Array) -> Array:
    """As _least_turn, about z."""
    sine, cosine = (u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]).sum(), (u[:, :2] * w[:, :2]).sum()
    return np.array([0.0, 0.0, np.arctan2(sine, cosine)])


def _quaternion(turn: Array) -> Array:
    angle = float(np.linalg.norm(turn))
    return np.array([np.cos(0.5 * angle), *(0.5 * np.sinc(0.5 * angle / np.pi) * turn)])
