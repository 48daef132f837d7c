"""Reduced coordinates from the formulas of scene.reduced.

    x = x(θ, t),   v = B θ̇ + x_t,   a = B θ̈ + c,   B = ∂x/∂θ            (1)
    (Bᵀ M B) θ̈ = Bᵀ (f - M c)                                           (2)  Lagrange's equations
    Bᵀ M B = L Lᵀ                                                       (3)  Cholesky

c is d²x/dt² at θ̈ = 0. B, c and x_t are derived by sympy and compiled (expressions.codegen.map_address).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...compiled import compiled, structure
from ...errors import TautError, tell
from ...expressions import call_map, codegen
from ...model.arrays import Array, State, System
from ...model.model import Model
from .jacobian import dense_jacobian

AGREES = 1e-9  # relative, of positions at t = 0


@structure
class Formulas(NamedTuple):
    address: int
    slot: Array  # of each body
    x: Array  # (3 bodies,)
    B: Array  # (3 bodies, n)
    c: Array
    x_t: Array
    H: Array  # (n, n): Bᵀ M B, then its factor
    g: Array  # (n,)


def room(address: int = 0, slots: tuple[int, ...] = (), n: int = 0) -> Formulas:
    size = 3 * len(slots)
    shapes = (size, (size, n), size, size, (n, n), n)
    return Formulas(address, np.array(slots, np.uint32), *(np.zeros(shape) for shape in shapes))


def refuses(model: Model) -> str | None:
    assert model.reduced_map is not None
    given = model.reduced_map.positions
    missing = [info.name for info in model.body_info if info.motion == "free" and info.name not in given]
    if missing:
        shown = ", ".join(f"'{name}'" for name in missing[:6]) + (" and others" if len(missing) > 6 else "")
        return f"scene.reduced gives no position for {shown}; add formulas for it"
    for info in model.body_info:
        if info.motion != "free" and info.name in given:
            return f"scene.reduced gives a position for '{info.name}', which is {info.motion}; leave it out"
    return None


def start(model: Model, system: System, state: State) -> tuple[Formulas, Array]:
    """Tables, and (θ, θ̇) at t = 0, which scene.reduced gives. They must fit the bodies and constraints."""
    known = model.reduced_map
    assert known is not None
    slot_of = {info.name: info.slot for info in model.body_info}
    names = [name for name, _, _ in known.coordinates]
    texts = [text for three in known.positions.values() for text in three]
    tables = room(
        codegen.map_address(texts, names), tuple(slot_of[body] for body in known.positions), len(names)
    )
    y = np.array([[value for _, value, _ in known.coordinates], [rate for _, _, rate in known.coordinates]])
    call_map(tables.address, y[0], y[1], 0.0, tables.x, tables.B, tables.c, tables.x_t)
    scale = max(1.0, float(np.abs(state.x).max()))
    x, v = tables.x.reshape(-1, 3), (tables.B @ y[1] + tables.x_t).reshape(-1, 3)  # (1)
    for k, body in enumerate(known.positions):
        slot = slot_of[body]
        counts = model.bodies.free[slot] > 0
        if not np.abs(x[k] - state.x[slot])[counts].max() <= AGREES * scale:
            raise TautError(
                f"scene.reduced puts '{body}' at {_shown(x[k])} at t = 0, but it stands at "
                f"{_shown(state.x[slot])}; change the coordinates' values or the formulas."
            )
        if np.abs(v[k] - state.v[slot])[counts].max() > AGREES * max(1.0, float(np.abs(v).max())):
            tell(f"scene.reduced gives '{body}' the velocity {_shown(v[k])} at t = 0 and the scene gives it "
                 f"{_shown(state.v[slot])}; the first is used. Give rates as (value, rate)")
        state.x[slot, counts], state.v[slot, counts] = x[k, counts], v[k, counts]
    _check_independent(model, tables, names)
    _check_constraints(model, system, tables, names)
    return tables, y


def _check_independent(model: Model, tables: Formulas, names: list[str]) -> None:
    weighted = np.sqrt(model.bodies.mass[tables.slot].ravel())[:, None] * tables.B
    sizes = np.linalg.svd(weighted, compute_uv=False)
    if len(sizes) < len(names) or sizes[-1] <= 1e-12 * sizes[0]:
        idle = names[int(np.argmax(np.abs(np.linalg.svd(weighted)[2][-1])))]
        raise TautError(
            f"the coordinates of scene.reduced are not independent at t = 0: '{idle}' moves nothing that the "
            "others do not; leave one out, or start elsewhere."
        )


def _check_constraints(model: Model, system: System, tables: Formulas, names: list[str]) -> None:
    """J B = 0: no coordinate moves the bodies against a constraint."""
    J = dense_jacobian(model, system.work.J)
    columns = (3 * tables.slot.astype(np.int64)[:, None] + np.arange(3)).ravel()
    leaving = np.abs(J[:, columns] @ tables.B)
    size = np.abs(J).max(initial=0.0) * np.abs(tables.B).max(initial=0.0)
    if leaving.size and leaving.max() > 1e-8 * max(1.0, size):
        row, column = np.unravel_index(np.argmax(leaving), leaving.shape)
        raise TautError(
            f"coordinate '{names[column]}' of scene.reduced breaks constraint '{model.row_names[row]}' "
            f"at a rate of {leaving[row, column]:.3g}; change the formulas or remove the constraint."
        )


def _shown(vector: Array) -> str:
    return "(" + ", ".join(f"{float(value):.6g}" for value in vector) + ")"


@compiled
def place(formulas, t, y, x, v):
    call_map(formulas.address, y[0], y[1], t, formulas.x, formulas.B, formulas.c, formulas.x_t)
    for i in range(formulas.slot.shape[0]):
        slot = formulas.slot[i]
        for c in range(3):
            row = 3 * i + c
            rate = formulas.x_t[row]
            for j in range(y.shape[1]):
                rate += formulas.B[row, j] * y[1, j]
            x[slot, c] = formulas.x[row]  # (1)
            v[slot, c] = rate


@compiled
def accelerate(formulas, mass, f, out):
    """θ̈ into out; returns 1 where Bᵀ M B is singular."""
    B, c, H, g = formulas.B, formulas.c, formulas.H, formulas.g
    n = g.shape[0]
    for j in range(n):
        g[j] = 0.0
        for k in range(j + 1):
            H[j, k] = 0.0
    for i in range(formulas.slot.shape[0]):
        slot = formulas.slot[i]
        for d in range(3):
            row = 3 * i + d
            m = mass[slot, d]
            load = f[slot, d] - m * c[row]
            for j in range(n):
                g[j] += B[row, j] * load  # (2)
                weighted = m * B[row, j]
                for k in range(j + 1):
                    H[j, k] += weighted * B[row, k]
    return solve_positive(H, g, out)


@compiled
def solve_positive(H, g, out):
    """H out = g for a symmetric positive definite H, whose lower half becomes the factor L of (3)."""
    n = g.shape[0]
    for j in range(n):
        for k in range(j + 1):
            total = H[j, k]
            for i in range(k):
                total -= H[j, i] * H[k, i]
            if k < j:
                H[j, k] = total / H[k, k]
            elif total > 0.0:
                H[j, j] = sqrt(total)
            else:
                return 1
    for j in range(n):
        total = g[j]
        for k in range(j):
            total -= H[j, k] * out[k]
        out[j] = total / H[j, j]
    for i in range(n):
        j = n - 1 - i
        total = out[j]
        for k in range(j + 1, n):
            total -= H[k, j] * out[k]
        out[j] = total / H[j, j]
    return 0
