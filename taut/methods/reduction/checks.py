"""What is asked of the formulas of scene.reduced at t = 0: that they fit the bodies and the constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import TautError, listed, warn
from ...linalg.dense import on_one_thread
from ...model.arrays import Array, State, System
from ...model.model import Model
from .jacobian import dense_jacobian

if TYPE_CHECKING:
    from .formulas import Formulas

AGREES = 1e-9  # relative, of positions and orientations at t = 0


def check_finite(tables: Formulas, bodies: list[str], names: list[str]) -> None:
    """Derivatives of the map at t = 0: a map such as sqrt(q) at q = 0 has none. bodies: of each three rows."""
    bad = np.argwhere(~np.isfinite(np.column_stack([tables.B, tables.c, tables.x_t])))
    if len(bad):
        row, column = bad[0]
        by = f"by '{names[column]}'" if column < len(names) else "of second order, or by time,"
        raise TautError(f"the map of scene.reduced is singular at t = 0: the derivative of '{bodies[row // 3]}' {by} "
                        "is not finite; start elsewhere, or choose another coordinate.")


def check_turns(state: State, tables: Formulas, names: list[str]) -> None:
    """Orientations as (2) says, if that is how they stand: p and -p are the same."""
    for body, number, p in zip(names, tables.quat.tolist(), tables.p.reshape(-1, 4)):
        if not abs(abs(float(p @ state.quat[number])) - 1.0) <= AGREES:
            raise TautError(f"the turns of scene.reduced do not give '{body}' the orientation that it has at t = 0; "
                            "change them, the coordinates' values, or the body's orientation=.")
        state.quat[number] = p


@on_one_thread
def check_kinetic(model: Model, tables: Formulas, names: list[str], rates: Array) -> None:
    """T must make (3) solvable, and must not be that of the bodies, which would count twice."""
    weighted = model.bodies.mass[tables.slot].ravel()[:, None] * tables.B
    bodies = tables.B.T @ weighted
    whole = bodies + tables.H_of_T
    sizes = np.linalg.eigvalsh(0.5 * (whole + whole.T))
    if not sizes[0] > 1e-12 * abs(sizes[-1]):
        raise TautError(f"kinetic of scene.reduced gives inertias that are not positive at t = 0 (the least is "
                        f"{sizes[0]:.3g}); every coordinate of {listed(names)} needs some.")  # fmt: skip
    at_rest = float(tables.T[0] - tables.T_rates[:-1] @ rates + 0.5 * rates @ tables.H_of_T @ rates)
    if at_rest < -1e-9 * (abs(float(tables.T[0])) + float(np.abs(tables.H_of_T).max())):
        raise TautError(f"kinetic of scene.reduced is {at_rest:.3g} J at t = 0 where nothing moves, but kinetic energy "
                        "is never negative. Leave potentials out of it, and give their forces: scene.custom_force, "
                        "scene.spring.")  # fmt: skip
    if bodies.any() and np.abs(bodies - tables.H_of_T).max() <= 1e-9 * np.abs(bodies).max():
        raise TautError("kinetic of scene.reduced is the kinetic energy of the bodies that it places, which is counted "
                        "by itself; leave kinetic out, or give what the bodies do not have.")


def make_rates_consistent(model: Model, system: System, state: State, tables: Formulas, rates: Array) -> None:
    """Rates that obey the conditions on velocities: the nearest, by the inertia of the coordinates."""
    rows = np.flatnonzero(model.rows.at_velocity)
    if not len(rows):
        return
    J = dense_jacobian(model, system.work.J)[rows]
    columns = (3 * tables.slot.astype(np.int64)[:, None] + np.arange(3)).ravel()
    v = state.v.copy()
    v[tables.slot] = (tables.B @ rates + tables.x_t).reshape(-1, 3)
    slip = J @ v.ravel() + system.work.phi_t[rows]
    worst = int(np.argmax(np.abs(slip)))
    if abs(slip[worst]) <= AGREES * max(1.0, float(np.abs(v).max())):
        return
    AB = J[:, columns] @ tables.B
    H = tables.B.T @ (model.bodies.mass[tables.slot].ravel()[:, None] * tables.B) + tables.H_of_T
    X = np.linalg.lstsq(H, AB.T, rcond=None)[0]
    rates -= X @ np.linalg.lstsq(AB @ X, slip, rcond=None)[0]
    warn(f"the rates of scene.reduced break constraint '{model.row_names[rows[worst]]}' at a rate of "
         f"{slip[worst]:.3g}; they were made consistent")


@on_one_thread
def check_independent(model: Model, tables: Formulas, names: list[str]) -> None:
    if tables.kinetic:
        return  # the least of all inertias is judged there
    weighted = np.sqrt(model.bodies.mass[tables.slot].ravel())[:, None] * tables.B
    sizes = np.linalg.svd(weighted, compute_uv=False)
    if len(sizes) < len(names) or sizes[-1] <= 1e-12 * sizes[0]:
        idle = names[int(np.argmax(np.abs(np.linalg.svd(weighted)[2][-1])))]
        raise TautError(
            f"the coordinates of scene.reduced are not independent at t = 0: '{idle}' moves nothing that the "
            "others do not; leave one out, or start elsewhere."
        )


def check_constraints(model: Model, system: System, tables: Formulas, names: list[str]) -> None:
    """J B = 0: no coordinate moves the bodies against a constraint on positions (of others: enforced.py)."""
    J = dense_jacobian(model, system.work.J) * (model.rows.at_velocity == 0)[:, None]
    columns = (3 * tables.slot.astype(np.int64)[:, None] + np.arange(3)).ravel()
    leaving = np.abs(J[:, columns] @ tables.B)
    size = np.abs(J).max(initial=0.0) * np.abs(tables.B).max(initial=0.0)
    if leaving.size and leaving.max() > 1e-8 * max(1.0, size):
        row, column = np.unravel_index(np.argmax(leaving), leaving.shape)
        raise TautError(
            f"coordinate '{names[column]}' of scene.reduced breaks constraint '{model.row_names[row]}' "
            f"at a rate of {leaving[row, column]:.3g}; change the formulas or remove the constraint."
        )
