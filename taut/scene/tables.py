"""Bulk data of a scene file: many particles, or many constraints of one kind, as rows of arrays."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from .. import limits
from ..constraints import KINDS as CONSTRAINTS
from ..constraints import Kind
from ..errors import TautError, shown, unknown
from ..forces import KINDS as FORCES
from ..forces import ForceKind
from . import format, verbs
from .bulk import uncollected
from .scene import Scene


def open_arrays(path: Path) -> Mapping[str, np.ndarray]:
    """All arrays of an .npz file; never anything that would run code."""
    limits.check("array_bytes", limits.regular_size(path, "array file"), f"array file '{path}'")
    try:
        with zipfile.ZipFile(path) as file:
            # What is packed well may be a thousand times as large unpacked, and a header may promise anything.
            limits.check("array_bytes", sum(entry.file_size for entry in file.infolist()), f"array file '{path}'")
            for entry in file.infolist():
                with file.open(entry) as array:
                    _check_header(array, entry.filename, entry.file_size)
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except TautError:
        raise
    except Exception as problem:  # a damaged archive raises whatever its damage leads to
        raise TautError(f"'{path}' is not an array file (.npz): {str(problem) or type(problem).__name__}.") from None


def _check_header(file: IO[bytes], name: str, size: int) -> None:
    """Refuse an array whose header promises more than its file holds."""
    if np.lib.format.read_magic(file) == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    promised = prod(shape) * dtype.itemsize
    if dtype.hasobject or min(shape, default=0) < 0 or promised > size:
        raise ValueError(f"{name} says that it has the shape {shown(shape)} of {dtype}, but holds {size:,} bytes")


def add(scene: Scene, kind: str, table: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Add the rows of a `many` entry to the scene."""
    table = dict(table)
    names, prefix = table.pop("names", None), table.pop("prefix", None)
    is_body = kind == "particle"
    shapes = format.PARTICLE_ROWS if is_body else format.arguments_in_arrays(kind)
    if is_body and table.get("position") is None:
        raise TautError("many particles have no position; name an array.")
    lead = "position" if is_body else "points"
    if not _is_reference(table[lead]):
        raise TautError(f"many {kind}: {lead} is {shown(table[lead])}; name an array with one row for each.")
    count = len(named_array(lead, table[lead], arrays))
    named: list[str | None]
    if names is not None:
        named = [str(name) for name in _rows("names", names, arrays, count, ())]
    else:
        named = [f"{prefix}_{i}" if prefix else None for i in range(count)]
    points = [] if is_body else _points(scene, kind, table.pop("points"), arrays, count)
    shared = {key: value for key, value in table.items() if not _is_reference(value)}
    columns = {key: _rows(key, value, arrays, count, shapes[key]) for key, value in table.items()
               if _is_reference(value)}
    _add_rows(scene, kind, named, points, shared, columns)


def _add_rows(
    scene: Scene,
    kind: str,
    names: list[str | None],
    points: list[list[str]],
    shared: dict[str, Any],
    columns: dict[str, list[Any]],
) -> None:
    kinds: dict[str, Kind | ForceKind] = {**CONSTRAINTS, **FORCES}
    declared = kinds.get(kind)
    with uncollected():
        for i, name in enumerate(names):
            row = shared | {key: rows[i] for key, rows in columns.items() if rows[i] is not None}
            if declared is None:
                scene.particle(**row, name=name)
            else:
                verbs.add(scene, declared, points[i], row, name)


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(format.ARRAY)


def named_array(key: str, reference: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    name = reference.removeprefix(format.ARRAY)
    if name not in arrays:
        raise TautError(f"{key}: {unknown('array', name, arrays)}")
    if arrays[name].ndim == 0:
        raise TautError(f"{key}: array '{name}' is a single value; it needs one row for each.")
    return arrays[name]


def _rows(
    key: str, reference: str, arrays: Mapping[str, np.ndarray], count: int, row: tuple[int, ...]
) -> list[Any]:
    array = named_array(key, reference, arrays)
    if array.shape != (count, *row):
        raise TautError(f"{key}: its array has the shape {array.shape}; it must be {(count, *row)}.")
    rows = array.tolist()
    if array.dtype.kind == "f" and key not in format.PARTICLE_ROWS:
        left = np.isnan(array) if not row else np.isnan(array).all(axis=1)
        for i in np.flatnonzero(left):
            rows[i] = None
    return rows


def _points(
    scene: Scene, kind: str, reference: str, arrays: Mapping[str, np.ndarray], count: int
) -> list[list[str]]:
    bodies = list(scene.bodies)
    array = named_array("points", reference, arrays)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise TautError(f"points: its array is {array.dtype} of shape {array.shape}; give whole numbers, "
                        f"one row for each {kind}.")
    if array.size and not (0 <= array.min() and array.max() < len(bodies)):
        wrong = array[(array < 0) | (array >= len(bodies))][0]
        raise TautError(f"points: its array names body {wrong}; it must be from 0 to {len(bodies) - 1}.")
    return [[bodies[i] for i in row] for row in array.tolist()]
