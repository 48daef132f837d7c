"""How one body moved in a run, by the names and units of its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import TautError, no_attribute
from ..model.model import BodyInfo

if TYPE_CHECKING:
    import xarray

    from .motion import PlaceResult
    from .run import Run


class BodyResult:
    """How a body moved; only the properties of its kind can be asked for."""

    def __init__(self, run: Run, info: BodyInfo) -> None:
        self._run, self._info = run, info

    def _own(self, variable: str, dimension: str, *kinds: str) -> xarray.DataArray:
        if self._info.kind not in kinds:
            raise TautError(
                f"'{self._info.name}' is a {self._info.kind} and has no {variable}, which belongs to "
                f"{' and '.join(kinds)} bodies."
            )
        return self._run.data[variable].sel({dimension: self._info.name})

    @property
    def position(self) -> xarray.DataArray:
        return self._own("position", "body", "particle", "rigid")

    @property
    def velocity(self) -> xarray.DataArray:
        return self._own("velocity", "body", "particle", "rigid")

    @property
    def orientation(self) -> xarray.DataArray:
        return self._own("orientation", "rigid", "rigid")

    @property
    def angular_velocity(self) -> xarray.DataArray:
        return self._own("angular_velocity", "rigid", "rigid")

    @property
    def angular_velocity_body(self) -> xarray.DataArray:
        """In the body's own axes."""
        return self._own("angular_velocity_body", "rigid", "rigid")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = [known for known, found in vars(BodyResult).items() if isinstance(found, property)]
        raise no_attribute(f"body '{self._info.name}'", name, [*known, "at(offset)"])

    def at(self, offset: Any = (0.0, 0.0, 0.0)) -> PlaceResult:
        """A place on the body, given in its frame [m]: position, velocity and acceleration over time."""
        from .motion import PlaceResult

        return PlaceResult(self._run, self._info, offset)

    @property
    def acceleration(self) -> xarray.DataArray:
        """Of its centre of mass [m/s²], from the equations of motion."""
        return self.at().acceleration

    @property
    def angular_acceleration(self) -> xarray.DataArray:
        """[rad/s²] in the world's axes, from the equations of motion."""
        from .motion import turning_acceleration

        return turning_acceleration(self._run, self._info)

    @property
    def angular_momentum(self) -> xarray.DataArray:
        """About its centre of mass, in the world's axes [kg m²/s]."""
        from .motion import spin_of

        return spin_of(self._run, self._info)

    @property
    def value(self) -> xarray.DataArray:
        return self._own("coordinate_value", "coordinate", "coordinate")

    @property
    def rate(self) -> xarray.DataArray:
        return self._own("coordinate_rate", "coordinate", "coordinate")
