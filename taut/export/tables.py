"""Records as one table: a row per record, a column per number, such as position.ball.x or multiplier.upper."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from .base import Options

if TYPE_CHECKING:
    import pandas

    from ..result import Run

ROWS = 20_000  # turned into text or packed at once


def columns(run: Run) -> dict[str, tuple[str, tuple[Any, ...], str]]:
    """Column -> variable of run.data, where in it, and unit; time comes first."""
    found: dict[str, tuple[str, tuple[Any, ...], str]] = {"time": ("time", (), "s")}
    for name, values in run.data.data_vars.items():
        others = [[str(label) for label in values[dim].values] for dim in values.dims[1:]]
        for index in product(*(range(len(labels)) for labels in others)):
            words = [str(name), *(labels[i] for labels, i in zip(others, index))]
            unit = str(values.attrs.get("units", ""))
            if "unit" in values.coords and values.dims[1:] == ("constraint",):
                unit = unit.replace("see coordinate unit", str(values.coords["unit"].values[index[0]]))
            found[".".join(words)] = (str(name), index, unit)
    return found


def tables(run: Run, options: Options) -> Iterator[pandas.DataFrame]:
    """The rows, some at a time."""
    import pandas

    every = options.every or 1
    listed, total = columns(run), -(-len(run.records) // every)
    for start in range(0, total, ROWS):
        rows = slice(start * every, min(start + ROWS, total) * every, every)
        arrays = {name: run.data[name].values[rows] for name, _, _ in listed.values()}
        yield pandas.DataFrame({
            column: arrays[name][(slice(None), *index)] for column, (name, index, _) in listed.items()
        })
        options.tick(min(start + ROWS, total), total)
