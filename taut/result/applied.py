"""What one applied force does to its bodies, at each record: springs, motors, drag, your own.

    f_i          on point i, as the force's kind gives it                             (1)
    τ_i = (x_i - c_i) × f_i   about the centre of mass c_i of its body                (2)
    Q = f·g/g·g,   g = ∂q/∂x  of a force on a joint's coordinate q, since f = Q g      (3)
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..compiled import entry
from ..errors import TautError, with_hints
from ..forces import KINDS
from ..joints.coordinates import TYPES, gradient
from ..model.arrays import Batches
from ..model.dispatch import force_kind
from ..model.evaluate import batch_offsets, clear, copy, set_time, update_places
from ..model.model import ForceInfo, Model
from ..model.switched_rows import is_on
from .motion import XYZ
from .reactions import _by_body, _carriers

if TYPE_CHECKING:
    import xarray

    from .run import Run


@entry
def evaluate_force(system, now, points, base, type_, g, out_force, out_arm, out_energy, out_effort):
    """(1) of the only force of the system, the arms x_i - c_i, its potential energy and (3), if it acts on a joint."""
    work, batches = system.work, system.forces
    time, x, quat, v = now
    for k in range(time.shape[0]):
        copy(x[k], work.x1)
        copy(quat[k], work.quat1)
        copy(v[k], work.v1)
        set_time(system, time[k], work.x1, work.quat1, work.v1)
        update_places(system, work.x1, work.quat1, work.v1)
        clear(work.f)
        arguments = (
            batches.members[0], batch_offsets(batches, 0), batches.idx, batches.p, batches.p_t, batches.ints, work.x1,
            work.v1, time[k], work.scratch, work.f, work.power,
        )  # fmt: skip
        if is_on(system.switches, 0, work.x1):
            out_energy[k] = force_kind(batches.address[0], batches.code[0], arguments)
        for i in range(points.shape[0]):
            for c in range(3):
                out_force[k, i, c] = work.f[points[i], c]
                out_arm[k, i, c] = work.x1[points[i], c] - work.x1[base[i], c]
        if type_ >= 0:
            first = batch_offsets(batches, 0).idx
            gradient(type_, work.x1, batches.idx, first, 1.0, g, 0)
            along, square = 0.0, 0.0
            for i in range(3):
                for c in range(3):
                    along += g[i, c] * work.f[batches.idx[first + i], c]
                    square += g[i, c] * g[i, c]
            out_effort[k] = along / square  # (3)


def only(model: Model, info: ForceInfo) -> Batches:
    """The model's forces without all others."""
    forces = model.forces
    one = np.array([info.batch], np.int64)
    numbers = {name: np.array(getattr(forces, name)) for name in ("idx", "p", "p_t", "p_tt", "ints")}
    return Batches(
        forces.code[one], forces.address[one], forces.chart[one], forces.has_chart[one], np.ones(1, np.int64),
        np.array([[*info.at, 0, 0]], np.int64), **numbers,
    )  # fmt: skip


@with_hints("a force")
class ForceResult:
    """What an applied force did.

    force, torque   on each of its bodies [N, N m about the centre of mass], (time, body, xyz); in the world: "world"
    energy          its potential energy [J]; 0 of a force that has none
    effort          of a force on a joint: the torque or force on the joint's coordinate [N m or N]
    """

    def __init__(self, run: Run, info: ForceInfo) -> None:
        self._run, self._info = run, info

    @cached_property
    def _found(self) -> tuple[np.ndarray, ...]:
        model, records = self._run.model, self._run.records
        points = np.array(list(dict.fromkeys(self._info.points)), np.int64)
        centre, base = _carriers(model, points)
        force, arm = np.zeros((2, len(records.time), len(points), 3))
        energy, effort = np.zeros((2, len(records.time)))
        now = (records.time, records.x, records.quat, records.v)
        type_ = -1 if self._info.coordinate is None else TYPES[self._info.coordinate]
        system = model.system()
        own = system.switches.of_force[[self._info.batch]]
        system = system._replace(forces=only(model, self._info), switches=system.switches._replace(of_force=own))
        evaluate_force(system, now, points, base, type_, np.zeros((4, 3)), force, arm, energy, effort)
        return points, centre, force, arm, energy, effort

    @cached_property
    def _by_body(self) -> tuple[xarray.DataArray, xarray.DataArray]:
        import xarray

        model = self._run.model
        points, centre, force, arm, *_ = self._found
        if KINDS[self._info.kind].turning:
            bodies, _, torque = _by_body(model, centre - 1, force, arm, force)
            force = np.zeros_like(torque)
        else:
            torque = np.cross(arm, force)  # (2)
            force = np.where(np.isin(points, model.directions)[:, None], 0.0, force)
            bodies, force, torque = _by_body(model, centre, force, arm, torque)

        def labelled(name: str, values: np.ndarray, unit: str) -> xarray.DataArray:
            return xarray.DataArray(values, {"time": self._run.data.time, "body": bodies, "xyz": XYZ},
                                    ("time", "body", "xyz"), name, {
                                        "units": unit, "long_name": f"{name} of '{self._info.name}' on each body",
                                        "of": self._info.name,
                                    })  # fmt: skip

        return labelled("force", force, "N"), labelled("torque", torque, "N m")

    @property
    def force(self) -> xarray.DataArray:
        return self._by_body[0]

    @property
    def torque(self) -> xarray.DataArray:
        return self._by_body[1]

    @property
    def energy(self) -> xarray.DataArray:
        return self._over_time("energy", self._found[4], "J", "potential energy")

    @property
    def effort(self) -> xarray.DataArray:
        coordinate = self._info.coordinate
        if coordinate is None:
            raise TautError(f"{self._info.kind} '{self._info.name}' acts on no joint; ask for force and torque.")
        unit = "N" if coordinate == "displacement" else "N m"
        return self._over_time("effort", self._found[5], unit, "effort on the joint")

    def _over_time(self, name: str, values: np.ndarray, unit: str, meaning: str) -> xarray.DataArray:
        import xarray

        return xarray.DataArray(values, {"time": self._run.data.time}, ("time",), name,
                                {"units": unit, "long_name": f"{meaning} of {self._info.kind} '{self._info.name}'",
                                 "of": self._info.name})
