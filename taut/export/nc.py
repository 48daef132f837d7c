"""run.data as NetCDF, with names, units and attributes; xarray.open_dataset reads it back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .base import Format, Options

if TYPE_CHECKING:
    from ..result import Run


def write(run: Run, path: Path, options: Options) -> None:
    data = run.data.isel(time=slice(None, None, options.every or 1))
    # Variables without any entry (no constraints) have no place in a classic file.
    data = data.drop_dims([dim for dim, size in data.sizes.items() if size == 0])
    data.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")
    options.tick(1, 1)


FORMAT = Format("nc", (".nc",), "All records as NetCDF.", write)
