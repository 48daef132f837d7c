"""What a joint did: its coordinates and their rates, and its reaction in its own frame."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..constraints.base import Coordinate
from ..errors import TautError, present
from ..joints.coordinates import UPRIGHT
from ..model.model import JointInfo, Model
from .constraint_result import ConstraintResult
from .places import points_at
from .records import Records

if TYPE_CHECKING:
    import xarray


def coordinate_at(
    model: Model, records: Records, coordinate: Coordinate, points: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """A joint's coordinate and its rate at each record (joints/coordinates.py), (T,)."""
    (a, b, w), (da, db, dw) = (np.moveaxis(found, 1, 0) for found in points_at(model, records, points[:3]))

    def dot(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return np.einsum("tc,tc->t", p, q)

    if coordinate.type == "displacement":
        return dot(w, a - b) + coordinate.offset, dot(dw, a - b) + dot(w, da - db)
    if coordinate.type == "elevation":
        sine = np.clip(dot(a, b), -1.0, 1.0)
        cosine = np.sqrt(np.maximum(1.0 - sine**2, UPRIGHT))
        return np.arcsin(sine) + coordinate.offset, (dot(da, b) + dot(a, db)) / cosine
    c, s = dot(a, b), dot(a, w)
    counted = records.x[:, points[3], 0]
    angle = np.arctan2(s, c)
    angle -= 2.0 * np.pi * np.floor((angle - counted) / (2.0 * np.pi) + 0.5)
    rate = (c * (dot(da, w) + dot(a, dw)) - s * (dot(da, b) + dot(a, db))) / (c * c + s * s)
    return angle + coordinate.offset, rate


class JointResult(ConstraintResult):
    """What a joint did.

    angle, displacement, angle_1, ...   its coordinates [rad or m] over time, angles over any number of turns
    rate                                of its first coordinate; rate_of(name) of any
    reaction                            (time, component, axis): force and torque on the first body, about the joint's
                                        place, in the joint's frame, which is fixed to the second body: z is its axis
    force, torque, multiplier, error    as of any constraint
    """

    @cached_property
    def _joint(self) -> JointInfo | None:
        return next((joint for joint in self._run.model.joints if joint.name == self._info.name), None)

    def _frame(self) -> tuple[int, ...]:
        """Its place on each body, and its axes."""
        return super()._frame() if self._joint is None or not self._joint.frame else self._joint.frame

    @property
    def coordinates(self) -> list[str]:
        """Names of the joint's coordinates."""
        return [] if self._joint is None else [coordinate.name for coordinate, _ in self._joint.coordinates]

    def _of(self, name: str, which: int) -> xarray.DataArray:
        import xarray

        coordinates = present(self._joint, "the joint of a result").coordinates
        coordinate, points = next(pair for pair in coordinates if pair[0].name == name)
        values = coordinate_at(self._run.model, self._run.records, coordinate, points)[which]
        unit = coordinate.unit + ("/s" if which else "")
        label = f"{'rate of ' if which else ''}{name} of joint '{self._info.name}'"
        return xarray.DataArray(values, {"time": self._run.data.time}, ("time",), f"{name}_rate" if which else name,
                                {"units": unit, "long_name": label, "of": self._info.name,
                                 **({"rate_of": name} if which else {})})

    def __getattr__(self, name: str) -> xarray.DataArray:
        if not name.startswith("_") and name in self.coordinates:
            return self._of(name, 0)
        return super().__getattr__(name)

    def rate_of(self, name: str) -> xarray.DataArray:
        """The rate of the coordinate of that name."""
        if name not in self.coordinates:
            raise TautError(f"{self._info.kind} '{self._info.name}' has no coordinate '{name}'; it has "
                            f"{', '.join(self.coordinates) or 'none'}.")
        return self._of(name, 1)

    @property
    def rate(self) -> xarray.DataArray:
        """The rate of its first coordinate; of a joint without any, dΦ/dt."""
        return self._of(self.coordinates[0], 1) if self.coordinates else super().rate
