"""Accelerations at each record, and places on bodies over time.

    v̇ = W (f + f_c + Jᵀ λ),   J v̇ + γ = 0               f_c: forces of contacts, as recorded              (1)
    x_p = x + r,   v_p = v + ω × r                      r = R s, s the offset in the body's frame          (2)
    a_p = v̇ + α × r + ω × (ω × r)                       α = R ω̇, ω̇ in principal axes                      (3)

Accelerations follow from the equations of motion in the recorded state, whatever the method made of the step before:
for an exact motion they are its own.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled import entry
from ..errors import TautError, with_hints
from ..model.evaluate import accelerations_of_forces as by_forces
from ..model.evaluate import (
    apply_multipliers,
    copy,
    evaluate_constraints,
    evaluate_forces,
    jacobian_times,
    set_driven_accelerations,
    set_time,
    solve,
)
from ..model.frames import multiply, rotate
from ..model.model import BodyInfo, Model
from ..scene.checks import vector
from .records import Records

if TYPE_CHECKING:
    import xarray

    from .run import Run

XYZ = ["x", "y", "z"]


@entry
def follow(system, time, x, quat, v, contact, out):
    """(1) at each record into out (T, slots, 3); of rotations ω̇ in principal axes."""
    work = system.work
    for k in range(time.shape[0]):
        copy(x[k], work.x1)
        copy(quat[k], work.quat1)
        copy(v[k], work.v1)
        t = time[k]
        set_time(system, t, work.x1, work.quat1, work.v1)
        evaluate_constraints(system, t, work.x1, work.quat1, work.v1, True, work.J)
        evaluate_forces(system, t, work.x1, work.quat1, work.v1)
        for i in range(contact.shape[1]):
            for c in range(3):
                work.f[i, c] += contact[k, i, c]
        by_forces(system)
        set_driven_accelerations(system)
        jacobian_times(system, work.J, work.a, work.b)
        for r in range(work.b.shape[0]):
            work.b[r] = -(work.b[r] + work.gamma[r])
        solve(system, work.J, system.bodies.inverse_mass, work.b, work.mu)
        apply_multipliers(system, work.J, system.bodies.inverse_mass, work.mu, 1.0, work.a)
        for i in range(contact.shape[1]):  # where gravity is all, nothing else puts it back
            for c in range(3):
                work.f[i, c] -= contact[k, i, c]
        for i in range(out.shape[1]):
            for c in range(3):
                out[k, i, c] = work.a[i, c]


def accelerations(model: Model, records: Records) -> np.ndarray:
    """v̇ of all slots at each record, shape (T, slots, 3)."""
    if model.deformables:
        raise TautError("accelerations are not known of scenes with cloth or solids; take differences of velocity.")
    out = np.zeros_like(records.x)
    follow(model.system(), records.time, records.x, records.quat, records.v, records.contact_force, out)
    return out


def _of_rotation(run: Run, info: BodyInfo, name: str, own: np.ndarray, unit: str) -> xarray.DataArray:
    """A vector in principal axes over time, turned into the world's axes."""
    values = rotate(run.records.quat[:, info.quat], own)
    return labelled(run, info, name, values, unit, f"{name.replace('_', ' ')} of '{info.name}'")


def _check_rigid(info: BodyInfo, name: str) -> None:
    if info.kind != "rigid":
        raise TautError(f"'{info.name}' is a {info.kind} and has no {name}, which belongs to rigid bodies.")


def turning_acceleration(run: Run, info: BodyInfo) -> xarray.DataArray:
    _check_rigid(info, "angular_acceleration")
    return _of_rotation(run, info, "angular_acceleration", run.accelerations[:, info.slot + 1], "rad/s²")


def spin_of(run: Run, info: BodyInfo) -> xarray.DataArray:
    """R I ω."""
    _check_rigid(info, "angular_momentum")
    own = run.labels.inertia[info.quat] * run.records.v[:, info.slot + 1]
    return _of_rotation(run, info, "angular_momentum", own, "kg m²/s")


def labelled(
    run: Run, info: BodyInfo, name: str, values: np.ndarray, unit: str, meaning: str, **more: Any
) -> xarray.DataArray:
    import xarray

    return xarray.DataArray(values, {"time": run.data.time, "xyz": XYZ}, ("time", "xyz"), name,
                            {"units": unit, "long_name": meaning, "of": info.name, **more})  # fmt: skip


@with_hints("a place on a body")
class PlaceResult:
    """A place on a body over time, in the world's axes: position [m], velocity [m/s] and acceleration [m/s²]."""

    def __init__(self, run: Run, info: BodyInfo, offset: Any) -> None:
        self._run, self._info = run, info
        self.offset = np.array(vector(offset, f"the place on '{info.name}'"))
        if info.kind != "rigid" and self.offset.any():
            raise TautError(f"'{info.name}' is a {info.kind} and has no places on it; ask at (0, 0, 0).")

    @cached_property
    def _turning(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """r, ω and the quaternion of the principal axes, each over time."""
        records, info = self._run.records, self._info
        if info.kind != "rigid":
            still = np.zeros((len(records.time), 3))
            return still, still, np.tile([1.0, 0.0, 0.0, 0.0], (len(still), 1))
        principal = records.quat[:, info.quat]
        back = np.asarray(info.to_principal, float) * (1.0, -1.0, -1.0, -1.0)
        arm = np.broadcast_to(self.offset, (len(principal), 3))
        return rotate(multiply(principal, back), arm), rotate(principal, records.v[:, info.slot + 1]), principal

    def _labelled(self, name: str, values: np.ndarray, unit: str) -> xarray.DataArray:
        where = f" at {tuple(self.offset.tolist())}" if self.offset.any() else ""
        meaning = f"{name} of '{self._info.name}'{where}"
        return labelled(self._run, self._info, name, values, unit, meaning, offset=self.offset.tolist())

    @property
    def position(self) -> xarray.DataArray:
        return self._labelled("position", self._run.records.x[:, self._info.slot] + self._turning[0], "m")  # (2)

    @property
    def velocity(self) -> xarray.DataArray:
        r, omega, _ = self._turning
        return self._labelled("velocity", self._run.records.v[:, self._info.slot] + np.cross(omega, r), "m/s")

    @property
    def acceleration(self) -> xarray.DataArray:
        r, omega, principal = self._turning
        found, slot = self._run.accelerations, self._info.slot
        values = found[:, slot].copy()
        if self._info.kind == "rigid":
            alpha = rotate(principal, found[:, slot + 1])
            values += np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))  # (3)
        return self._labelled("acceleration", values, "m/s²")
