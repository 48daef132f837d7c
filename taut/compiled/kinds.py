"""Types of structures, found again quickly: numba.typeof makes some forty Python calls for each of their arrays."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numba
import numpy as np

_of_array = attrgetter("dtype", "ndim", "flags.num")
_kinds: dict[Any, Any] = {}


def form(value: Any) -> Any:
    """What the type of a value depends on, as a key: of arrays the type of entries, dimensions and layout."""
    if value.__class__ is np.ndarray:
        return _of_array(value)
    if not isinstance(value, tuple):
        return value.__class__
    found: list[Any] = [value.__class__]
    for entry in value:  # a comprehension would be a call more
        found += (_of_array(entry) if entry.__class__ is np.ndarray else form(entry),)
    return tuple(found)


def kind_of(value: Any) -> Any:
    """The type of a value in compiled code, as numba.typeof finds it."""
    key = form(value)
    found = _kinds.get(key)
    if found is None:
        found = _kinds[key] = numba.typeof(value)
    return found
