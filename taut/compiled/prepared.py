"""Calls of compiled code from Python, of which nothing is looked at again at each call.

At a call numba finds the type of each argument anew, and a model has hundreds of arrays: 27 µs, the time of several
steps of a small scene. Here a structure that stays the same is laid out in memory once, its types are known from then
on, and compiled code is called by its address.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import types

from .function_pointers import address_of
from .kinds import kind_of
from .references import Reference, address, compiling, word_count, words

AS_C: dict[Any, Any] = {types.float64: ctypes.c_double, types.int64: ctypes.c_int64}


class Prepared:
    """function(fixed, *given), which returns that many whole numbers. `kinds`: types of what is given, numbers and
    structures."""

    def __init__(self, function: Any, results: int, fixed: Any, *kinds: Any) -> None:
        self.fixed, self._function = fixed, function  # its arrays stay alive as long as their addresses
        if not compiling:
            return
        kind = kind_of(fixed)
        where = address_of(function, types.UniTuple(types.int64, results), kind, *kinds)
        self._words, self._results = np.array(words(fixed), np.int64), np.zeros(results, np.int64)
        if len(self._words) != word_count(kind.tup):
            raise TypeError(f"{type(fixed).__name__} holds a tuple with structures in it that is none itself")
        self._failure = np.zeros(1, np.int64)  # where numba would tell of an exception: kernels raise none
        self._places = [array.ctypes.data for array in (self._results, self._failure, self._words)]
        self._structures = [isinstance(kind, Reference) for kind in kinds]
        given = [AS_C.get(kind, ctypes.c_void_p) for kind in kinds]
        # as numba does, with the interpreter's lock, which functions of users want
        self._call = ctypes.PYFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3, *given)(where)

    def __call__(self, *given: Any) -> tuple[int, ...]:
        if not compiling:
            return self._function(self.fixed, *given)
        numbers = [address(value) if structure else value for value, structure in zip(given, self._structures)]
        if self._call(*self._places, *numbers) != 0:
            raise RuntimeError(f"{self._function.__name__} raised an exception, which kernels may not")
        return tuple(self._results.tolist())
