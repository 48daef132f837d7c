"""How a labelled quantity of a run was found, so that it can be found in another run as well.

A DataArray tells by its name and its single coordinates what it is: run.data.position.sel(body="bob", xyz="y"), and by
the attributes `of` and `offset` the joint or body that it was asked of: run["pin"].angle, run["rod"].at(…).velocity.
What comes of arithmetic has lost them. A recipe counts only if it gives the very same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TautError

if TYPE_CHECKING:
    from .run import Run

Recipe = Callable[["Run"], Any]


def recipe_of(run: Run, quantity: Any) -> Recipe | None:
    """What finds the quantity in a run like this one; None where it is not known."""
    if callable(quantity):
        return quantity
    name, own = getattr(quantity, "name", None), getattr(quantity, "attrs", {})
    if name is None or not hasattr(quantity, "coords"):
        return None
    picks = {key: coord.item() for key, coord in quantity.coords.items() if coord.ndim == 0}

    def in_data(other: Run) -> Any:
        values = other.data[name]
        return values.sel({key: value for key, value in picks.items() if key in values.dims})

    def by_name(other: Run) -> Any:
        result = other[own["of"]]
        if "offset" in own:
            result = result.at(own["offset"])
        if "rate_of" in own:
            return result.rate_of(own["rate_of"])
        values = getattr(result, name)
        return values.sel({key: value for key, value in picks.items() if key in values.dims})

    recipe = by_name if "of" in own else in_data
    try:
        return recipe if np.array_equal(np.asarray(recipe(run)), np.asarray(quantity)) else None
    except (TautError, KeyError, AttributeError):
        return None
