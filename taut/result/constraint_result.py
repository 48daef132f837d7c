"""What one constraint did in a run, by the names and units of its data.

    F, τ    force [N] and torque [N m] about the constraint's place, on its first body, in its axes x, y, z       (1)

The place is its first point. Axes are those of a joint (fixed to its second body), else the world's.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..constraints import KINDS
from ..errors import TautError, no_attribute
from ..model.model import ConstraintInfo
from .places import body_of, points_at

if TYPE_CHECKING:
    import xarray

    from .run import Run


class ConstraintResult:
    """What a constraint did.

    force       what it does to each of its bodies [N], (time, body, xyz); places in the world: "world"
    torque      likewise, about each body's centre of mass, in the world's axes [N m]
    multiplier, error, rate   λ, Φ and dΦ/dt of its rows
    reaction    (time, component, axis): force and torque on its first body, about its first point, in the world's axes
    """

    def __init__(self, run: Run, info: ConstraintInfo) -> None:
        self._run, self._info = run, info

    @cached_property
    def _reactions(self) -> tuple[xarray.DataArray, xarray.DataArray]:
        import xarray

        from .dataset import XYZ
        from .reactions import forces_and_torques

        run = self._run
        bodies, force, torque = forces_and_torques(
            run.model, run.records, self._built(), run.info["dt"], run.info["record_every"]
        )
        names = {"time": run.data.time, "body": bodies, "xyz": XYZ}

        def labelled(name: str, values: np.ndarray, unit: str) -> xarray.DataArray:
            about = {"units": unit, "long_name": f"{name} of constraint '{self._info.name}' on each body",
                     "of": self._info.name}  # fmt: skip
            return xarray.DataArray(values, names, ("time", "body", "xyz"), name, about)

        return labelled("force", force, "N"), labelled("torque", torque, "N m")

    @property
    def force(self) -> xarray.DataArray:
        return self._reactions[0]

    @property
    def torque(self) -> xarray.DataArray:
        return self._reactions[1]

    @cached_property
    def reaction(self) -> xarray.DataArray:
        """(1), dims (time, component, axis)."""
        import xarray

        if KINDS[self._info.kind].joints:
            raise TautError(f"{self._info.kind} '{self._info.name}' acts on coordinates of joints and has no place; "
                            "its multiplier is the torque or force that it takes.")
        model, records = self._run.model, self._run.records
        points = self._frame()
        where, _ = points_at(model, records, points)
        axes = where[:, 2:] if len(points) == 5 else np.broadcast_to(np.eye(3), (len(where), 3, 3))
        held = [(k, body_of(model, point)) for k, point in enumerate(points if len(points) != 5 else points[:2])]
        k, name = next(found for found in held if found[1] is not None)
        force, torque = (each.sel(body=name).values for each in (self.force, self.torque))
        centre = records.x[:, next(body.slot for body in model.body_info if body.name == name)]
        about = torque - np.cross(where[:, k] - centre, force)
        sign = -1.0 if k == 1 else 1.0  # the first body may be the world, on which the opposite acts
        values = sign * np.stack([np.einsum("tac,tc->ta", axes, each) for each in (force, about)], axis=1)
        kind = "joint" if len(points) == 5 else self._info.kind
        return xarray.DataArray(values, {"time": self._run.data.time, "component": ["force", "torque"],
                                         "axis": ["x", "y", "z"]}, ("time", "component", "axis"), "reaction",
                                {"units": "N, N m", "long_name": f"reaction of {kind} '{self._info.name}'",
                                 "of": self._info.name})  # fmt: skip

    @property
    def coordinates(self) -> list[str]:
        """Names of the coordinates of a joint."""
        return []

    def _frame(self) -> tuple[int, ...]:
        """Its first two points (or its only one), and more where a body comes later; of a joint its axes, too."""
        points = self._info.points
        on_body = (k for k, point in enumerate(points) if body_of(self._run.model, point) is not None)
        return points[: max(2, next(on_body, 0) + 1)] if len(points) > 2 else points

    def __getattr__(self, name: str) -> xarray.DataArray:
        if name.startswith("_"):
            raise AttributeError(name)
        known = [*self.coordinates, "force", "torque", "reaction", "multiplier", "error", "rate"]
        raise no_attribute(f"{self._info.kind} '{self._info.name}'", name, known)

    def _built(self) -> ConstraintInfo:
        """As the model has it, with its parts, which are not stored with a run."""
        model = self._run.model
        return next(i for i in (*model.constraint_info, *model.inequality_info) if i.name == self._info.name)

    def _rows(self, variable: str) -> xarray.DataArray:
        names = self._info.row_names()
        return self._run.data[variable].sel(constraint=names if len(names) > 1 else names[0])

    @property
    def multiplier(self) -> xarray.DataArray:
        return self._rows("multiplier")

    @property
    def error(self) -> xarray.DataArray:
        return self._rows("constraint_error")

    @property
    def rate(self) -> xarray.DataArray:
        return self._rows("constraint_rate")
