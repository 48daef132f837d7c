"""Reduced coordinates from the formulas of scene.reduced.

    x = x(θ, t),   v = B θ̇ + x_t,   a = B θ̈ + c,   B = ∂x/∂θ            (1)
    p = p(θ, t),   ω = B θ̇ + ω_t,   dω/dt = B θ̈ + c                     (2)  turns of rigid bodies, in principal axes
    (Bᵀ M B + H) θ̈ = Bᵀ (f - M c) + g                                   (3)  Lagrange's equations; singular.py
    H = ∂²T/∂θ̇²,   g = ∂T/∂θ - D ∂T/∂θ̇                                  (4)  of a kinetic energy T given beside bodies'
    Bᵀ M B + H = L Lᵀ                                                   (5)  Cholesky

    P = Σ v·(M a - f) + dT/dt                                           (6)  power of what moves x or T in time

c is d²x/dt² at θ̈ = 0; D is the rate at θ̈ = 0. All are derived by sympy and compiled (expressions.codegen).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled import compiled, structure
from ...errors import TautError, present, warn
from ...expressions import call_map, codegen
from ...model.arrays import Array, State, System
from ...model.model import BodyInfo, Model
from . import checks
from .blocks import Blocks, factor_blocks, one_block, solve_all_blocks
from .singular import Nearness, begin, is_close, look, nearness, solve_orthogonal


@structure
class Formulas(NamedTuple):
    places: int  # address of (1)
    turns: int  # address of (2), 0 where nothing turns
    kinetic: int  # address of (4), 0 where no T is given
    slot: Array  # of each body, then of each rotation
    quat: Array  # which orientation each rotation is of
    x: Array  # (3 bodies,)
    p: Array  # (4 rotations,)
    B: Array  # (3 slots, n), as are c and x_t of (1) and (2)
    c: Array
    x_t: Array
    H: Array  # (n, n): the matrix of (3), then its factor
    g: Array  # (n,)
    T: Array  # (1,) [J]
    H_of_T: Array  # (n, n) of (4)
    g_of_T: Array
    T_rates: Array  # (n + 1,): ∂T/∂θ̇, then dT/dt at θ̈ = 0
    blocks: Blocks  # one: all coordinates may move all bodies
    near: Nearness  # to a singular position


def allocate(slots: tuple[int, ...] = (), rotations: tuple[tuple[int, int], ...] = (), n: int = 0) -> Formulas:
    """Tables without formulas. rotations: the slot and the number of the orientation of each."""
    all_slots = [*slots, *(slot for slot, _ in rotations)]
    size = 3 * len(all_slots)
    shapes = (3 * len(slots), 4 * len(rotations), (size, n), size, size, (n, n), n, 1, (n, n), n, n + 1)
    quat = np.array([number for _, number in rotations], np.uint32)
    fixed = (0, 0, 0, np.array(all_slots, np.uint32), quat)
    return Formulas._make([*fixed, *(np.zeros(shape) for shape in shapes), one_block(0, n), nearness(size, n)])


def refuses(model: Model) -> str | None:
    placed = present(model.reduced_map, "scene.reduced").positions
    missing = [info.name for info in model.body_info if info.motion == "free" and info.name not in placed]
    if missing:
        shown = ", ".join(f"'{name}'" for name in missing[:6]) + (" and others" if len(missing) > 6 else "")
        return f"scene.reduced gives no position for {shown}; add formulas for it"
    for info in model.body_info:
        if info.motion != "free" and info.name in placed:
            return f"scene.reduced gives a position for '{info.name}', which is {info.motion}; leave it out"
    return None


def prepare(model: Model, system: System, state: State) -> tuple[Formulas, Array]:
    """Tables, and (θ, θ̇) at t = 0, which scene.reduced gives. They must fit the bodies and constraints."""
    known = present(model.reduced_map, "scene.reduced")
    info_of = {info.name: info for info in model.body_info}
    names = [name for name, _, _ in known.coordinates]
    texts = [text for three in known.positions.values() for text in three]
    turned = [info_of[body] for body in known.turns]
    tables = allocate(
        tuple(info_of[body].slot for body in known.positions), tuple((info.slot + 1, info.quat) for info in turned),
        len(names),
    )._replace(
        places=codegen.map_address(texts, names),
        turns=codegen.turns_address([*known.turns.values()], [_to_principal(info) for info in turned], names)
        if turned else 0,
        kinetic=codegen.kinetic_address(known.kinetic, names) if known.kinetic else 0,
    )  # fmt: skip
    y = np.array([[value for _, value, _ in known.coordinates], [rate for _, _, rate in known.coordinates]])
    getattr(evaluate, "py_func", evaluate)(tables, 0.0, y)  # once, so that compiling a way in from Python does not pay
    placed = [*known.positions, *known.turns]
    if np.isfinite(tables.x).all():  # else it is told where that puts the body
        checks.check_finite(tables, placed, names)
        checks.make_rates_consistent(model, system, state, tables, y[1])
    _put(model, state, tables, y, placed)
    checks.check_turns(state, tables, [*known.turns])
    checks.check_independent(model, tables, names)
    checks.check_constraints(model, system, tables, names)
    if known.kinetic:
        checks.check_kinetic(model, tables, names, y[1])
    begin(tables.near, model.bodies.mass[tables.slot].ravel(), tables.B, tables.H_of_T)
    return tables, y


def _put(model: Model, state: State, tables: Formulas, y: Array, names: list[str]) -> None:
    """Bodies where (1) says, if that is where they stand; velocities of (1) and (2)."""
    scale = max(1.0, float(np.abs(state.x).max()))
    bodies = len(tables.x) // 3
    with np.errstate(invalid="ignore"):  # a map that is not finite puts the body elsewhere, which is told
        x, v = tables.x.reshape(-1, 3), (tables.B @ y[1] + tables.x_t).reshape(-1, 3)
    for k, (body, slot) in enumerate(zip(names, tables.slot.tolist())):
        counts = model.bodies.free[slot] > 0
        if k >= bodies:
            state.v[slot, counts] = v[k, counts]
            continue
        if not np.abs(x[k] - state.x[slot])[counts].max(initial=0.0) <= checks.AGREES * scale:
            raise TautError(
                f"scene.reduced puts '{body}' at {_shown(x[k])} at t = 0, but it stands at "
                f"{_shown(state.x[slot])}; change the coordinates' values or the formulas."
            )
        apart = np.abs(v[k] - state.v[slot])[counts].max(initial=0.0)
        # Bodies at rest take the rates of the coordinates without a word.
        if state.v[slot].any() and apart > checks.AGREES * max(1.0, float(np.abs(v).max())):
            warn(f"scene.reduced gives '{body}' the velocity {_shown(v[k])} at t = 0 and the scene gives it "
                 f"{_shown(state.v[slot])}; the first is used. Give rates as (value, rate)")
        state.x[slot, counts], state.v[slot, counts] = x[k, counts], v[k, counts]


def _to_principal(info: BodyInfo) -> tuple[float, ...]:
    return tuple(map(float, present(info.to_principal, "the frame of a rigid body")))


def _shown(vector: Array) -> str:
    return "(" + ", ".join(f"{float(value):.6g}" for value in vector) + ")"


@compiled
def evaluate(formulas, t, y):
    """(1), (2) and (4) at (t, y) into the tables."""
    bodies = formulas.x.shape[0]
    call_map(formulas.places, y[0], y[1], t, formulas.x, formulas.B, formulas.c, formulas.x_t)
    if formulas.turns != 0:
        call_map(
            formulas.turns, y[0], y[1], t, formulas.p, formulas.B[bodies:], formulas.c[bodies:], formulas.x_t[bodies:]
        )
    if formulas.kinetic != 0:
        call_map(
            formulas.kinetic, y[0], y[1], t, formulas.T, formulas.H_of_T, formulas.g_of_T, formulas.T_rates
        )


@compiled
def place(formulas, t, y, x, quat, v):
    evaluate(formulas, t, y)
    bodies = formulas.x.shape[0] // 3
    for i in range(formulas.slot.shape[0]):
        slot = formulas.slot[i]
        for c in range(3):
            row = 3 * i + c
            rate = formulas.x_t[row]
            for j in range(y.shape[1]):
                rate += formulas.B[row, j] * y[1, j]
            v[slot, c] = rate
            if i < bodies:
                x[slot, c] = formulas.x[row]
    for k in range(formulas.quat.shape[0]):
        for c in range(4):
            quat[formulas.quat[k], c] = formulas.p[4 * k + c]


@compiled
def accelerate(formulas, mass, f, out):
    """θ̈ into out, after `place`; returns 1 where the matrix of (3) is singular."""
    B, c, H, g, near = formulas.B, formulas.c, formulas.H, formulas.g, formulas.near
    n = g.shape[0]
    for j in range(n):
        g[j] = formulas.g_of_T[j]
        for k in range(j + 1):
            H[j, k] = formulas.H_of_T[j, k]
    for i in range(formulas.slot.shape[0]):
        slot = formulas.slot[i]
        for d in range(3):
            row = 3 * i + d
            m = mass[slot, d]
            load = f[slot, d] - m * c[row]
            for j in range(n):
                g[j] += B[row, j] * load  # (3)
                weighted = m * B[row, j]
                for k in range(j + 1):
                    H[j, k] += weighted * B[row, k]
    for j in range(n):
        near.p[j] = H[j, j]
    singular = factor_blocks(formulas.blocks, H)  # (5)
    if singular == 0:
        solve_all_blocks(formulas.blocks, H, g, out)
    if formulas.kinetic == 0 and (singular == 1 or is_close(near, H)):
        weigh(formulas, mass, f)
        solve_orthogonal(near, H, out)
        singular = 0
    return max(singular, look(near, H))


@compiled
def weigh(formulas, mass, f):
    """M^½ B and M^-½ (f - M c) for singular.py (4)."""
    Q, n = formulas.near.Q, formulas.g.shape[0]
    for i in range(formulas.slot.shape[0]):
        slot = formulas.slot[i]
        for d in range(3):
            row, root = 3 * i + d, mass[slot, d] ** 0.5
            for j in range(n):
                Q[row, j] = root * formulas.B[row, j]
            Q[row, n] = (f[slot, d] - mass[slot, d] * formulas.c[row]) / root if root > 0.0 else 0.0


@compiled
def power_of_time(formulas, mass, f, v, acceleration):
    """(6), which vanishes where neither x(θ) nor T names t and T is homogeneous; after `place`, with θ̈ at hand."""
    n = acceleration.shape[0]
    power = 0.0
    for i in range(formulas.slot.shape[0]):
        slot = formulas.slot[i]
        for d in range(3):
            row = 3 * i + d
            a = formulas.c[row]
            for j in range(n):
                a += formulas.B[row, j] * acceleration[j]
            power += v[slot, d] * (mass[slot, d] * a - f[slot, d])
    if formulas.kinetic != 0:
        power += formulas.T_rates[n]
        for j in range(n):
            power += formulas.T_rates[j] * acceleration[j]
    return power  # (6)
