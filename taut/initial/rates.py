"""Rates of joints that the user gives at the start: the nearest velocities that have them and obey all constraints.

    least ½ (v' - v)ᵀ M (v' - v) with J v' + Φ_t = 0 and c_kᵀ v' = r_k,   c_k = ∂q_k/∂x of joint coordinate k    (1)

With P the projection of velocities onto the constraints, v₀ = P v and z_k = P(v₀ + W c_k) - v₀:

    v' = v₀ + Σ_k μ_k z_k,   Σ_l (c_kᵀ z_l) μ_l = r_k - c_kᵀ v₀                                                  (2)

A joint without a rate of its own takes over what this is to it, as after a blow: a double pendulum whose first hinge is
given a rate starts with its second one turning back. Where it could as well have stood still, a note says so: with
A = (c_kᵀ z_l) of the rates asked for and its own z, c,

    cᵀ z - (cᵀ z_l) A⁻¹ (c_kᵀ z) > 0                                                                             (3)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..constraints.base import Coordinate
from ..errors import TautError, note
from ..joints.coordinates import UPRIGHT
from ..linalg.dense import on_one_thread
from ..model import Model
from ..model.arrays import State
from ..model.frames import conjugate, rotate

Array = np.ndarray
MET = 1e-6  # of the rates asked for: what may be left of (1)
FREE = 1e-6  # of cᵀ W c, in (3)
SHOWN = 4  # joints that a note names


def meet_rates(model: Model, state: State, project: Callable[[], None]) -> bool:
    """Give state.v the rates that joints ask for; returns whether any does.

    project  projects state.v onto the constraints
    """
    asked = [(joint.name, coordinate, points) for joint in model.joints for coordinate, points in joint.coordinates
             if coordinate.rate is not None]  # fmt: skip
    if asked:
        _meet(model, state, project, asked)
    return bool(asked)


@on_one_thread
def _meet(model: Model, state: State, project: Callable[[], None], asked: list) -> None:
    """Solve for the shares of (2); `asked`: name, coordinate and points of each joint that asks for a rate."""
    project()
    start = state.v.copy()
    gradients = np.array([_gradient(model, state, coordinate, points) for _, coordinate, points in asked])
    rates = np.array([coordinate.rate for _, coordinate, _ in asked])
    missing = rates - np.einsum("ksc,sc->k", gradients, start)
    moves = []
    for gradient in gradients:
        state.v[:] = start + model.bodies.inverse_mass * gradient
        project()
        moves.append(state.v - start)
    matrix = np.einsum("ksc,lsc->kl", gradients, np.array(moves))
    scale = np.sqrt(np.maximum(np.einsum("ksc,sc,ksc->k", gradients, model.bodies.inverse_mass, gradients), 1e-300))
    shares = np.linalg.lstsq(matrix / np.outer(scale, scale), missing / scale, rcond=1e-12)[0] / scale  # (2)
    state.v[:] = start + np.einsum("l,lsc->sc", shares, np.array(moves))
    project()
    actual = np.einsum("ksc,sc->k", gradients, state.v)
    off = np.abs(actual - rates) / (MET * np.maximum(1.0, np.abs(rates)))
    if off.max() > 1.0:
        k = int(np.argmax(off))
        name, coordinate, _ = asked[k]
        raise TautError(f"joint '{name}' is to start with a rate of {rates[k]:.6g} {coordinate.unit}/s of its "
                        f"{coordinate.name}, but other constraints and rates leave it {actual[k]:.6g}; leave one out.")
    _tell_taken_over(model, state, project, start, (gradients, np.array(moves), matrix, scale))


def _tell_taken_over(model: Model, state: State, project: Callable[[], None], start: Array, asked: tuple) -> None:
    """Note which joints start to move though nobody asked for it, and could stand still: (3)."""
    gradients, moves, matrix, scale = asked
    met = state.v.copy()
    told: list[str] = []
    fastest = float(np.abs(met).max())
    for joint in model.joints:
        for coordinate, points in joint.coordinates:
            if coordinate.rate is not None or len(told) > SHOWN:
                continue
            own = _gradient(model, state, coordinate, points)
            size = float((own * model.bodies.inverse_mass * own).sum())
            rate = float((own * met).sum())
            if size == 0.0 or abs(rate - float((own * start).sum())) <= MET * fastest:
                continue
            state.v[:] = start + model.bodies.inverse_mass * own
            project()
            z = state.v - start
            across = np.einsum("ksc,sc->k", gradients, z) / scale
            along = np.einsum("sc,lsc->l", own, moves) / scale
            shares = np.linalg.lstsq(matrix / np.outer(scale, scale), across, rcond=1e-12)[0]
            if float((own * z).sum()) - float(along @ shares) > FREE * size:
                told.append(f"'{joint.name}' with {rate:.4g} {coordinate.unit}/s of its {coordinate.name}")
    state.v[:] = met
    if told:
        note("joints without a rate of their own at the start take one over from those that have it, as after a blow: "
             f"{', '.join(told[:SHOWN])}{' and others' if len(told) > SHOWN else ''}; give rate=0 to those that shall "
             "not")


def _gradient(model: Model, state: State, coordinate: Coordinate, points: tuple[int, ...]) -> Array:
    """c of (1), (slots, 3): the coordinate's rate is its product with v (joints/coordinates.py, (4) and (6))."""
    total = np.zeros_like(state.v)
    a, b, w = (_position(model, state, point) for point in points[:3])
    if coordinate.type == "angle":
        c, s = float(a @ b), float(a @ w)
        parts = np.array([c * w - s * b, -s * a, c * a]) / (c * c + s * s)
    elif coordinate.type == "elevation":
        parts = np.array([b, a, np.zeros(3)]) / np.sqrt(max(1.0 - float(a @ b) ** 2, UPRIGHT))
    else:
        parts = np.array([w, -w, a - b])
    for point, part in zip(points, parts):
        k = point - _first(model)
        if k < 0:
            total[point] += part
            continue
        places = model.places
        in_body = rotate(conjugate(state.quat[places.body[k]]), part)
        total[places.base[k]] += part
        total[places.slot[k] + 1] += np.cross(places.arm[k], in_body)
    return total


def _position(model: Model, state: State, point: int) -> Array:
    k = point - _first(model)
    if k < 0:
        return state.x[point]
    return state.x[model.places.base[k]] + rotate(state.quat[model.places.body[k]], model.places.arm[k])


def _first(model: Model) -> int:
    """The first point that is a place on a body."""
    return int(model.places.point[0]) if len(model.places.point) else len(model.x)
