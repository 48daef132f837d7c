"""What one constraint did in a run, by the names and units of its data."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..model.model import ConstraintInfo

if TYPE_CHECKING:
    import xarray

    from .run import Run


class ConstraintResult:
    """What a constraint did.

    force       what it does to each of its bodies [N], (time, body, xyz); places in the world: "world"
    torque      likewise, about each body's centre of mass, in the world's axes [N m]
    multiplier, error, rate   λ, Φ and dΦ/dt of its rows
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
