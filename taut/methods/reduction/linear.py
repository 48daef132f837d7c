"""Reduced coordinates of linear constraints.

    J x + K s(t) + k = 0  ⇔  x = B θ + r(t),   J B = 0,   Bᵀ M B = m̄ 1           (1)
    r = r₀ + R s(t),   R = -W Jᵀ (J W Jᵀ)⁺ K                                     (2)
    θ̈ = Bᵀ f / m̄,   θ = Bᵀ M x / m̄                                               (3)

s are the scene's functions of time: moving places and driven bodies. J is constant, so B and R come once
from the singular values of J W^½. (2) makes r orthogonal to B in the metric of M, and that is why r'' does
not appear in (3). m̄, the mean mass, keeps θ in metres.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...compiled import compiled, structure
from ...constraints import ALL
from ...constraints.base import Affine
from ...errors import TautError
from ...linalg.dense import on_one_thread
from ...model.arrays import Array, State, System
from ...model.dispatch import CONSTRAINT_CODES
from ...model.model import ConstraintInfo, Model
from .jacobian import dense_jacobian, on_positions

AGREES = 1e-9


@structure
class Linear(NamedTuple):
    mass: float  # m̄
    slot: Array  # of each free number,
    part: Array  # and its place (0, 1, 2) there
    B: Array  # (free numbers, n)
    R: Array  # (free numbers, signals)
    r: Array  # (free numbers,): r₀
    ptr: Array  # entries of row i of B stand in the columns column[ptr[i] : ptr[i + 1]]
    column: Array


def allocate(mass: float = 1.0, slot=(), part=(), B=((),), R=((),), r=()) -> Linear:
    B, R, r = (np.ascontiguousarray(values, float) for values in (B, R, r))
    ptr = np.concatenate([[0], np.cumsum((B != 0.0).sum(axis=1))]).astype(np.int64)
    return Linear(mass, np.array(slot, np.uint32), np.array(part, np.uint32), B, R, r, ptr,
                  np.nonzero(B)[1].astype(np.int64))


def refuses(model: Model) -> str | None:
    turning = _turning(model)
    for info in on_positions(model):
        if ALL[info.kind].affine is None:
            what = f"constraint '{info.name}' of kind {info.kind}"
            return f"{what} has no reduced coordinates; give scene.reduced(...)"
        if info.name in turning:
            return f"the direction of constraint '{info.name}' turns with time; give scene.reduced(...)"
        if max(info.points) >= model.bodies.slots:
            return f"constraint '{info.name}' acts on a place on a rigid body; give scene.reduced(...)"
    return None


class _Member(NamedTuple):
    """A constraint whose Φ is linear."""

    affine: Affine
    parameters: range  # where its own stand among those of all
    rows: slice
    point: int  # its first


def _members(model: Model) -> Iterator[_Member]:
    kinds = {CONSTRAINT_CODES[name]: kind for name, kind in ALL.items() if name in CONSTRAINT_CODES}
    batches = model.constraints
    for code, count, at in zip(batches.code, batches.members, batches.at):
        affine, rows = kinds[code].affine, kinds[code].rows
        if affine is None:
            continue  # a condition on velocities
        width = (min([*(other[1] for other in batches.at if other[1] > at[1]), len(batches.p)]) - at[1]) // count
        points = (min([*(other[0] for other in batches.at if other[0] > at[0]), len(batches.idx)]) - at[0]) // count
        for i in range(count):
            own = range(at[1] + i * width, at[1] + (i + 1) * width)
            of_rows = slice(at[3] + i * rows, at[3] + (i + 1) * rows)
            yield _Member(affine, own, of_rows, int(batches.idx[at[0] + i * points]))


def _turning(model: Model) -> set[str]:
    """Constraints in which more depends on time than what may: the normal of a plane."""
    by_row: dict[int, ConstraintInfo] = {info.rows[0]: info for info in model.constraint_info}
    moving = set(model.signals.to_constraint[:, 1].tolist())
    return {by_row[member.rows.start].name for member in _members(model)
            if moving & set(member.parameters[member.affine.parameters :])}  # fmt: skip


def prepare(model: Model, system: System, state: State) -> tuple[Linear, Array]:
    """Tables, and (θ, θ̇) from the bodies; Φ and J at t = 0 stand in system.work."""
    phi = np.abs(system.work.phi)
    if phi.max(initial=0.0) > AGREES * max(1.0, float(np.abs(state.x).max(initial=0.0))):
        raise TautError(
            f"constraint '{model.row_names[int(np.argmax(phi))]}' is off by {phi.max():.3g} at t = 0, and "
            "reduced coordinates can not be; move its bodies, or leave its value to taut."
        )
    J = dense_jacobian(model, system.work.J) * (model.rows.at_velocity == 0)[:, None]
    slot, part = np.nonzero(model.bodies.free[: model.bodies.slots])
    root = np.sqrt(model.bodies.inverse_mass[slot, part])
    mass = float(np.mean(root**-2)) if len(root) else 1.0
    allowed, inverse = _split(J[:, 3 * slot + part] * root)
    B = np.sqrt(mass) * root[:, None] * allowed  # (1)
    P = root[:, None] * inverse
    R = -P @ _by_signals(model, J)  # (2)
    x, v, signals = state.x[slot, part], state.v[slot, part], system.signals.values
    y = np.array([B.T @ (root**-2 * x), B.T @ (root**-2 * v)]) / mass  # (3)
    state.v[slot, part] = B @ y[1] + R @ signals[:, 1]
    return allocate(mass, slot, part, B, R, x - B @ y[0] - R @ signals[:, 0]), y


@on_one_thread
def _split(A: Array) -> tuple[Array, Array]:
    """An orthonormal basis of what A takes to zero, and the pseudo-inverse of A.

    Numbers that no chain of constraints joins are split apart, so that the basis has no more entries than it must.
    """
    from scipy.sparse import bmat, csr_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = A.shape
    pattern = csr_array(A != 0.0).astype(float)
    count, label = connected_components(bmat([[None, pattern], [pattern.T, None]]), directed=False) if A.size else (
        columns, np.arange(columns))
    largest = np.abs(np.linalg.svd(A, compute_uv=False)).max(initial=0.0) if A.size else 0.0
    of_row, of_column = (label[:rows], label[rows:]) if A.size else (np.zeros(0, int), label)
    bases, inverse = [], np.zeros((columns, rows))
    for k in range(count):
        own, numbers = np.flatnonzero(of_row == k), np.flatnonzero(of_column == k)
        U, sizes, V = np.linalg.svd(A[np.ix_(own, numbers)])
        rank = int((sizes > 1e-12 * largest).sum())
        basis = np.zeros((columns, len(numbers) - rank))
        basis[numbers] = V[rank:].T
        bases.append(basis)
        inverse[np.ix_(numbers, own)] = (V[:rank].T / sizes[:rank]) @ U[:, :rank].T
    return np.hstack(bases) if bases else np.zeros((columns, 0)), inverse


def _by_signals(model: Model, J: Array) -> Array:
    """∂Φ/∂s: driven bodies enter as in J, moving places as the point they hold but with the other sign."""
    out = np.zeros((len(J), len(model.signals.address)))
    for signal, slot, component in model.signals.driven:
        out[:, signal] += J[:, 3 * slot + component]
    signal_at = {position: signal for signal, position in model.signals.to_constraint}
    for affine, parameters, own, point in _members(model):
        for component in range(affine.parameters):
            signal = signal_at.get(parameters[component])
            if signal is not None:
                out[own, signal] += -J[own, 3 * point + component] if affine.is_place else 1.0
    return out


@compiled
def place(linear, signals, y, x, v):
    for i in range(linear.slot.shape[0]):
        value, rate = linear.r[i], 0.0
        for s in range(linear.R.shape[1]):
            value += linear.R[i, s] * signals[s, 0]  # (2)
            rate += linear.R[i, s] * signals[s, 1]
        for j in linear.column[linear.ptr[i] : linear.ptr[i + 1]]:
            value += linear.B[i, j] * y[0, j]
            rate += linear.B[i, j] * y[1, j]
        x[linear.slot[i], linear.part[i]] = value  # (1)
        v[linear.slot[i], linear.part[i]] = rate


@compiled
def accelerate(linear, f, out):
    for j in range(out.shape[0]):
        out[j] = 0.0
    for i in range(linear.slot.shape[0]):
        load = f[linear.slot[i], linear.part[i]] / linear.mass
        for j in linear.column[linear.ptr[i] : linear.ptr[i + 1]]:
            out[j] += linear.B[i, j] * load  # (3)
